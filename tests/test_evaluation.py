"""Hidden answers, found again by this model, the baseline and scikit-learn's ways."""

import numpy as np
import pandas as pd
import pytest

from mvrbm import MVRBM, Binary, Categorical, Continuous, Multicategorical, Ordinal, Ranking, Schema, encoding, evaluate
from mvrbm.datasets import make_survey
from mvrbm.evaluation import _as_table, table_of_errors
from mvrbm.metrics import errors_by_kind
from mvrbm.training.stopping import hide
from mvrbm.units import KINDS

EVERY = [kind.kind for kind in KINDS]


def test_the_model_beats_the_baseline_on_every_type():
    counts = {
        "binary": 12,
        "categorical": 6,
        "multicategorical": 3,
        "continuous": 3,
        "ordinal": 24,
        "ranking": 2,
        "count": 2,
    }
    frame, schema = make_survey(4000, **counts, missing=0.2, random_state=0)
    errors = evaluate(frame, schema, n_hidden=50)
    assert list(errors.index) == EVERY
    assert (errors["mvrbm"] < errors["baseline"] - 0.01).all()


def test_it_scores_what_complete_says_of_the_hidden_answers_alone():
    """The same by hand: hide, fit, complete, score."""
    frame, schema = make_survey(300, random_state=2)
    errors = evaluate(frame, schema, share=0.3, n_hidden=4, max_epochs=3, random_state=5)
    answers = encoding.encode(frame, schema)
    visible = MVRBM(0, schema=schema).fit(frame).rbm_.visible
    hidden = hide(answers, visible, 0.3, 5)
    kept = pd.DataFrame(encoding.decode(hidden.given, schema))
    model = MVRBM(4, schema=schema, max_epochs=3, random_state=5).fit(kept)
    baseline = MVRBM(0, schema=schema).fit(kept)
    guess = encoding.encode(model.complete(kept), schema)
    expected = errors_by_kind(baseline.rbm_.visible, guess, hidden.hidden)
    assert errors["mvrbm"].to_dict() == pytest.approx(expected)
    assert errors["hidden"].sum() == visible.answered(visible.load(hidden.hidden, np.arange(300))).sum()


@pytest.mark.filterwarnings("ignore:question 'debts'. every answer is 0")
def test_a_number_of_which_hiding_leaves_one_value():
    glad = np.random.default_rng(0).integers(0, 2, (3, 60))
    frame = pd.DataFrame({"a": glad[0], "b": glad[1], "c": glad[2], "debts": np.where(np.arange(60) == 7, 300.0, 0.0)})
    schema = Schema([Binary("a"), Binary("b"), Binary("c"), Continuous("debts")])
    for seed in range(30):  # until the one answer that differs is hidden
        errors = evaluate(frame, schema, by_question=True, compare=True, n_hidden=2, max_epochs=1, random_state=seed)
        assert np.isfinite(errors.drop(columns="kind").to_numpy(float)).all()
        if errors.loc["debts", "baseline"] > 1:
            return
    raise AssertionError("it was never hidden")


def test_by_question_with_weights_and_scikit_learns_ways():
    frame, schema = make_survey(200, binary=2, categorical=1, ordinal=2, count=1, missing=0.1, largest_categorical=4)
    frame["w"] = np.random.default_rng(0).random(200)
    schema = Schema(list(schema), weight="w")
    errors = evaluate(frame, schema, compare=True, by_question=True, n_hidden=3, max_epochs=2)
    assert list(errors.index) == schema.names
    assert list(errors["kind"]) == [question.kind for question in schema]
    ways = ["baseline", "mvrbm", "KNNImputer", "IterativeImputer", "HistGradientBoosting"]
    assert list(errors.columns) == ["kind", "hidden", *ways]
    assert list(errors.attrs["seconds"]) == ways
    assert np.isfinite(errors[ways].to_numpy()).all()
    lines = table_of_errors(errors).splitlines()
    assert len(lines) == len(schema) + 2
    assert lines[1].endswith("of the answers are wrong")


def test_a_tool_that_can_see_the_answer_in_another_column_finds_it():
    """What scikit-learn's ways are given and how their numbers become answers: a copy of a question tells all of it."""
    random = np.random.default_rng(0)
    n = 400
    names, levels, twos, sizes = random.integers(0, [4, 4, 2, 4], (n, 4)).T
    ticks, ranks = random.integers(0, 2, (n, 3)), np.argsort(random.random((n, 3)), axis=1) + 1.0
    frame = pd.DataFrame({f"c{i}": names for i in range(3)} | {f"o{i}": levels for i in range(3)})
    for i in range(3):
        frame[f"b{i}"] = twos
        frame[f"x{i}"] = sizes.astype(float)
        for j in range(3):
            frame[f"r{i}{j}"] = ranks[:, j]
            frame[f"m{i}{j}"] = ticks[:, j]
    questions = []
    for i in range(3):
        questions += [Categorical(f"c{i}"), Ordinal(f"o{i}"), Binary(f"b{i}"), Continuous(f"x{i}", low=0, high=3)]
        questions.append(Ranking(f"r{i}", ranks=[f"r{i}{j}" for j in range(3)]))
        questions.append(Multicategorical(f"m{i}", columns=[f"m{i}{j}" for j in range(3)]))
    errors = evaluate(frame, Schema(questions), compare=True, n_hidden=0)
    assert (errors["HistGradientBoosting"] < 0.12).all(), errors
    assert (errors["IterativeImputer"] < 0.25).all(), errors
    assert (errors["KNNImputer"] < 0.8 * errors["baseline"]).all(), errors  # the mean of thirty neighbours
    assert (errors["baseline"] > 0.3).all(), errors


@pytest.mark.parametrize("question", list(make_survey(5, count=2)[1]), ids=lambda q: q.name)
def test_numbers_of_a_question_say_the_same_answers(question):
    frame, _ = make_survey(300, count=2, random_state=7)
    block = question.encode({name: frame[name].to_numpy() for name in question.columns})
    there = ~encoding.blank_cells(block).any(axis=1)
    numbers = question.to_numbers(block)
    assert np.isnan(numbers[encoding.blank_cells(block).all(axis=1)]).all()
    again = question.from_numbers(numbers[there])
    if question.kind == "ranking":  # a tie of two numbers is a tie
        np.testing.assert_array_equal(again, block[there])
    np.testing.assert_allclose(again, block[there])
    assert not encoding.blank_cells(question.from_numbers(numbers[there] + 0.2)).any()


def test_a_hidden_answer_is_told_from_an_empty_set():
    frame = pd.DataFrame({"a": ["x"] * 30 + [None] * 30, "b": [None, "y"] * 30, "c": [1, 2, 3] * 20})
    question = Multicategorical("m", columns={"x": "a", "y": "b"}, ticked={"x": "x", "y": "y"}, empty="none")
    schema = Schema([question, Ordinal("c", values=[1, 2, 3])]).learn(frame)
    answers = encoding.encode(frame, schema)
    answers.codes[:10, :2] = answers.blank
    table, told = _as_table(answers, schema)
    np.testing.assert_array_equal(encoding.encode(table, told).codes, answers.codes)


@pytest.mark.parametrize("share", [0, 1, 1.5, "some", True])
def test_a_share_that_makes_no_sense(share):
    with pytest.raises(ValueError, match="share must lie between 0 and 1"):
        evaluate(*make_survey(20), share=share)
