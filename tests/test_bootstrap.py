"""Draws by machines refitted on bootstraps: that they differ by what could not be known, and that nothing else does."""

import numpy as np
import pandas as pd
import pytest

from mvrbm import MVRBM, Binary, Continuous, Schema, encoding, load
from mvrbm.rbm import RBM
from mvrbm.tables import Table
from mvrbm.training import bootstrapped, trainer

SCHEMA = Schema([Continuous("x"), Continuous("y"), Binary("b", values=[0, 1])], weight="w")


def table(n=300, seed=0):
    """Half of y is blank, and x says something about it."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    y, b = x + rng.standard_normal(n), x + rng.standard_normal(n) > 0
    frame = pd.DataFrame({"x": x, "y": y, "b": b.astype(float), "w": 1.0})
    frame.loc[rng.random(n) < 0.5, "y"] = np.nan
    return frame


@pytest.fixture(scope="module")
def fitted():
    frame = table()
    return MVRBM(5, schema=SCHEMA, max_epochs=20, n_models=2, random_state=0).fit(frame), frame


def test_the_model_stays_as_it_is_and_a_seed_tells_the_draws(fitted, tmp_path):
    model, frame = fitted
    before = model.rbm_.parameters.vector.copy(), len(model.rbm_.others), model.complete(frame, draws=2)
    drawn, again, other = (model.complete(frame, draws=3, bootstrap=True, random_state=seed) for seed in (1, 1, 2))
    for one, two, three in zip(drawn, again, other, strict=True):
        pd.testing.assert_frame_equal(one, two)
        assert not one.equals(three)
        assert one.notna().all(axis=None)
        pd.testing.assert_frame_equal(one[frame.notna()], frame)
    np.testing.assert_array_equal(model.rbm_.parameters.vector, before[0])
    assert len(model.rbm_.others) == before[1]
    for one, two in zip(model.complete(frame, draws=2), before[2], strict=True):
        pd.testing.assert_frame_equal(one, two)
    model.save(tmp_path / "m.mvrbm")
    for one, two in zip(
        load(tmp_path / "m.mvrbm").complete(frame, draws=3, bootstrap=True, random_state=1), drawn, strict=True
    ):
        pd.testing.assert_frame_equal(one, two)


def test_each_draw_is_by_a_machine_of_its_own_and_machines_take_turns(fitted, monkeypatch):
    model, frame = fitted
    seen = []
    copy = RBM.copy
    monkeypatch.setattr(RBM, "copy", lambda rbm: seen.append((rbm, copy(rbm))) or seen[-1][1])
    model.complete(frame, draws=4, bootstrap=True, random_state=0)
    first, second = model.rbm_, model.rbm_.others[0]
    assert [of is first for of, _ in seen] == [True, False, True, False]
    assert [of is second for of, _ in seen] == [False, True, False, True]
    vectors = [own.parameters.vector for _, own in seen]
    assert all((vectors[i] != vectors[j]).any() for i in range(4) for j in range(i))


def test_rows_count_as_often_as_they_were_drawn(fitted, monkeypatch):
    model, frame = fitted
    answers = encoding.encode(Table(frame), model.schema_)
    found = []
    run = trainer._go_on
    monkeypatch.setattr(trainer, "_go_on", lambda *given: found.append(given[3]) or run(*given))
    settings = model._settings()
    bootstrapped(model.rbm_, answers, settings, None)
    bootstrapped(model.rbm_, answers, settings, np.full(len(frame), 2.0))
    plain, heavy = found
    assert plain.sum() == len(frame)
    np.testing.assert_array_equal(plain, np.rint(plain))
    assert 0.3 < (plain == 0).mean() < 0.44  # 1/e of the rows are left out
    np.testing.assert_array_equal(heavy, 2 * plain)


def test_weights_count_from_a_column_and_from_the_call():
    """Of two kinds of people one has no weight, and says the opposite; with few who count, every bootstrap has some."""
    frame = table(200)
    frame["w"] = 0.0
    frame.loc[:7, "w"] = 3.0
    frame.loc[8:, "y"] += 50
    by_column = MVRBM(3, schema=SCHEMA, max_epochs=5, n_models=1, random_state=0).fit(frame)
    plain = Schema(list(SCHEMA))
    by_call = MVRBM(3, schema=plain, max_epochs=5, n_models=1, random_state=0).fit(frame, sample_weight=frame["w"])
    one = by_column.complete(frame, draws=6, bootstrap=True)
    two = by_call.complete(frame, draws=6, bootstrap=True, sample_weight=frame["w"])
    for each, other in zip(one, two, strict=True):
        pd.testing.assert_frame_equal(each, other)
        assert abs(each.loc[frame["y"].isna(), "y"].mean()) < 10


def test_draws_differ_by_what_could_not_be_known():
    """Between draws the mean of a half-blank y has about twice the variance with bootstraps.

    y given the rest has variance 1 or a little more: of the mean of 150 people, 75 of them blank, noise alone has
    (1/2)^2 / 75, and what 75 answers leave unknown about the regression is as much again.
    """
    plain, honest = [], []
    for seed in range(6):
        frame = table(150, seed)
        model = MVRBM(5, schema=SCHEMA, n_models=1, random_state=seed).fit(frame)
        for into, bootstrap in ((plain, False), (honest, True)):
            means = [each["y"].mean() for each in model.complete(frame, draws=20, bootstrap=bootstrap)]
            into.append(np.var(means, ddof=1))
    assert 1 < np.mean(plain) / (0.25 / 75) < 2
    assert 1.4 < np.mean(honest) / np.mean(plain) < 2.6


def test_what_cannot_be_refitted_says_so(fitted):
    model, frame = fitted
    with pytest.raises(ValueError, match=r"say how many \(draws=10\)"):
        model.complete(frame, bootstrap=True)
    for settings in ({"objective": "cd"}, {"refit_epochs": 0}, {"n_hidden": 0}):
        other = MVRBM(**{"n_hidden": 3} | settings, schema=SCHEMA, max_epochs=2, random_state=0).fit(frame)
        with pytest.raises(ValueError, match="refit_epochs above 0"):
            other.complete(frame, draws=2, bootstrap=True)


def test_ctrl_c_ends_it(fitted, monkeypatch):
    model, frame = fitted

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(trainer._Run, "_epoch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.complete(frame, draws=2, bootstrap=True)
