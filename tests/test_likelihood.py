"""The log-probability of whole rows, against every answer listed."""

import numpy as np
import pytest

from mvrbm import MVRBM, likelihood
from mvrbm.datasets import make_survey
from mvrbm.likelihood import row_log_probabilities
from oracle import CASES, Oracle, location_and_scale, machine, random_answers


@pytest.mark.parametrize("case", [case for case in CASES if case != "paper"])
def test_rows_with_blanks_have_the_probability_of_their_own_machine(case):
    rbm = machine(case)
    for only in ([0], [0, 1], [rbm.visible.n_questions - 1]):
        oracle = Oracle(rbm, only)
        pick = np.arange(0, len(oracle.index), max(1, len(oracle.index) // 7))
        found, error = row_log_probabilities(rbm, oracle.answers().take(pick))
        unit = sum(np.log(location_and_scale(rbm, q)[1]) for q in only if rbm.visible.questions[q].kind == "continuous")
        density = np.log(oracle.probabilities()[pick]) - oracle.log_measure[pick] - unit
        np.testing.assert_allclose(found, density, rtol=1e-4, atol=1e-4)
        assert not error.any()


def test_many_hidden_units_are_sampled_within_the_error_that_is_told(monkeypatch):
    rbm = machine("mixture", n_hidden=8, size=0.4)
    answers = random_answers(rbm.visible.questions, 12, 3, missing=0.4)
    exact, _ = row_log_probabilities(rbm, answers)
    monkeypatch.setattr(likelihood, "_ALWAYS_EXACT", 5)
    found, error = row_log_probabilities(rbm, answers)
    assert (error > 0).all()
    assert (np.abs(found - exact) < 6 * error + 1e-6).all()
    again, _ = row_log_probabilities(rbm, answers, n_threads=1)
    np.testing.assert_array_equal(found, again)


def test_score_samples_of_whole_rows():
    frame, schema = make_survey(60, random_state=0, missing=0.0)
    model = MVRBM(4, schema=schema, max_epochs=2, objective="cd", random_state=0).fit(frame)
    found = model.score_samples(frame, kind="ais")
    assert found.shape == (60,)
    assert (found < 0).all()
    assert not model.log_z_error_.any()  # few hidden units: exact
    linked = MVRBM(4, schema=schema, max_epochs=2, random_state=0).fit(frame)
    assert np.isfinite(linked.score_samples(frame, kind="ais")).all()
    assert (linked.log_z_error_ > 0).all()
    with pytest.raises(ValueError, match="kind must be 'answers' or 'ais', not 'all'"):
        model.score_samples(frame, kind="all")
