"""The made-up survey: all kinds, the counts asked for, blanks, and answers that depend on each other."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from mvrbm.datasets import make_survey
from mvrbm.encoding import encode
from mvrbm.units import Multicategorical, Ranking


def test_has_the_questions_asked_for() -> None:
    counts = {
        "binary": 4,
        "categorical": 8,
        "multicategorical": 3,
        "continuous": 3,
        "ordinal": 25,
        "ranking": 2,
        "count": 2,
    }
    frame, schema = make_survey(50, **counts)
    assert Counter(question.kind for question in schema) == counts
    assert list(frame.columns) == schema.columns
    assert len(frame) == 50
    sizes = {kind: [question.n_values for question in schema if question.kind == kind] for kind in counts}
    assert sizes["categorical"] == [44, 3, 4, 5, 6, 7, 8, 3]
    assert set(sizes["ordinal"]) == set(range(3, 12))
    assert np.isin(sizes["ordinal"], [4, 5]).mean() > 0.5
    assert set(sizes["multicategorical"]) <= set(range(8, 12))
    assert sizes["ranking"] == [5, 5]


def test_has_both_forms_of_ranking_and_labelled_values() -> None:
    frame, schema = make_survey(200, ranking=2)
    first, second = schema["ranking_1"], schema["ranking_2"]
    assert isinstance(first, Ranking)
    assert isinstance(second, Ranking)
    assert first.ranks is not None
    assert second.choices is not None
    assert len(second.choices) == 2
    assert set(frame["binary_1"].dropna()) == {"no", "yes"}
    assert isinstance(schema["multicategorical_1"], Multicategorical)
    pairs = encode(frame, schema).codes[:, -20:]
    assert (pairs[:, :10] == 1).any()
    assert (pairs[:, 10:] == 1).any()


@pytest.mark.parametrize("missing", [0.0, 0.2, 1.0])
def test_blanks_come_at_the_rate_asked_for(missing: float) -> None:
    frame, schema = make_survey(2000, missing=missing)
    answers = encode(frame, schema)
    blank = np.concatenate([(answers.codes == answers.blank).ravel(), np.isnan(answers.numbers).ravel()])
    assert abs(blank.mean() - missing) < 0.02


def test_the_same_seed_makes_the_same_people() -> None:
    first, schema = make_survey(100, random_state=3)
    assert first.equals(make_survey(100, random_state=3)[0])
    assert make_survey(100, random_state=3)[1] == schema
    assert not first.equals(make_survey(100, random_state=4)[0])


def test_questions_depend_on_each_other() -> None:
    frame, schema = make_survey(
        3000, binary=0, categorical=0, multicategorical=0, continuous=0, ordinal=12, ranking=0, missing=0
    )
    correlation = np.abs(np.corrcoef(encode(frame, schema).codes.T.astype(float)))[np.triu_indices(12, 1)]
    assert correlation.max() > 0.2
    assert len(frame.columns) == 12


def test_bad_settings_are_refused() -> None:
    for bad in ({"n_rows": 0}, {"missing": 1.5}, {"n_traits": 0}):
        with pytest.raises(ValueError, match="must be at least 1"):
            make_survey(**bad)  # type: ignore[arg-type]
