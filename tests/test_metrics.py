"""The six errors, worked by hand."""

import numpy as np
import pytest

import mvrbm
from mvrbm.answers import Answers
from mvrbm.datasets import make_survey
from mvrbm.encoding import encode
from mvrbm.metrics import errors_by_kind
from mvrbm.summary import Summary, summarise
from mvrbm.visible import Visible

B = 255  # blank


def one(question, truth, guess, sd=1.0):
    """The error of one question; rows of codes, or of numbers for a continuous one."""
    n_codes = question.n_codes
    summary = Summary(np.ones((n_codes, 8)), np.array([[9.0, 0.0, sd]]) if not n_codes else np.zeros((0, 3)))
    visible = Visible([question], summary)

    def answers(rows):
        n = len(rows)
        if n_codes:
            return Answers(np.array(rows, np.uint8).reshape(n, n_codes), np.zeros((n, 0), np.float32))
        return Answers(np.zeros((n, 0), np.uint8), np.array(rows, np.float32).reshape(n, 1))

    return errors_by_kind(visible, answers(guess), answers(truth))


def test_binary_and_categorical_count_wrong_answers():
    assert one(mvrbm.Binary("q", values=[0, 1]), [0, 1, 1, B], [0, 0, 1, 1]) == {"binary": pytest.approx(1 / 3)}
    assert one(mvrbm.Categorical("q", values=[0, 1, 2]), [2, B, 1, 0], [2, 1, 2, 1]) == {
        "categorical": pytest.approx(2 / 3)
    }


def test_ordinal_counts_steps_of_the_scale():
    found = one(mvrbm.Ordinal("q", values=[1, 2, 3, 4, 5]), [0, 4, 2, B], [2, 3, 2, 0])
    assert found == {"ordinal": pytest.approx((2 / 4 + 1 / 4 + 0) / 3)}


def test_continuous_is_a_root_mean_square_in_standard_deviations():
    found = one(mvrbm.Continuous("q"), [1.0, 5.0, np.nan], [3.0, 1.0, 7.0], sd=2.0)
    assert found == {"continuous": pytest.approx(np.sqrt((1 + 4) / 2))}


def test_multicategorical_is_one_minus_f1_by_true_positives():
    """Two hits, one extra, two missed: agreeing zeros and blank options count for nothing."""
    question = mvrbm.Multicategorical("q", columns={"x": "x", "y": "y", "z": "z"})
    truth = [[1, 0, 1], [1, 0, 0], [0, 1, B]]
    guess = [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    assert one(question, truth, guess) == {"multicategorical": pytest.approx(1 - 2 * 2 / (2 * 2 + 1 + 2))}


def test_ranking_counts_pairs_in_the_opposite_order():
    """Three items: pairs (0,1), (0,2), (1,2). A tie opposes nothing, and a pair nobody compared does not count."""
    question = mvrbm.Ranking("q", ranks={"x": "x", "y": "y", "z": "z"})
    truth = [[0, 0, 0], [0, 1, B], [2, 2, 2]]
    guess = [[0, 2, 2], [2, 0, 0], [2, 2, 1]]
    assert one(question, truth, guess) == {"ranking": pytest.approx((2 + 1 + 0) / (3 + 2 + 3))}


def test_errors_of_a_kind_are_pooled_over_its_questions():
    questions = [mvrbm.Binary("a", values=[0, 1]), mvrbm.Binary("b", values=[0, 1])]
    visible = Visible(questions, Summary(np.ones((2, 3)), np.zeros((0, 3))))
    truth = Answers(np.array([[0, B], [1, 1], [1, B]], np.uint8), np.zeros((3, 0), np.float32))
    guess = Answers(np.array([[1, 0], [1, 0], [1, 0]], np.uint8), np.zeros((3, 0), np.float32))
    assert errors_by_kind(visible, guess, truth) == {"binary": pytest.approx(2 / 4)}


def test_weight_two_is_the_row_twice_and_weight_none_is_no_row():
    frame, schema = make_survey(60, random_state=3)
    other, _ = make_survey(60, missing=0, random_state=4)
    truth, guess = encode(frame, schema), encode(other, schema)
    visible = Visible(list(schema), summarise(truth, list(schema)))
    weights = np.arange(60) % 3.0
    rows = np.repeat(np.arange(60), weights.astype(int))
    twice = errors_by_kind(visible, guess.take(rows), truth.take(rows))
    assert errors_by_kind(visible, guess, truth, weights) == pytest.approx(twice)
    assert len(twice) == 6


def test_a_kind_without_answers_has_no_error():
    assert one(mvrbm.Binary("q", values=[0, 1]), [B, B], [0, 1]) == {}


def test_blocks_of_one_kind_are_pooled():
    """Choose-any questions with and without a rule against the empty choice are one kind."""
    questions = [
        mvrbm.Multicategorical("a", columns={"x": "ax", "y": "ay"}),
        mvrbm.Multicategorical("b", columns={"x": "bx", "y": "by"}, allow_empty=False),
    ]
    visible = Visible(questions, Summary(np.ones((4, 3)), np.zeros((0, 3))))
    truth = Answers(np.array([[1, 0, 1, 0]], np.uint8), np.zeros((1, 0), np.float32))
    guess = Answers(np.array([[0, 1, 1, 0]], np.uint8), np.zeros((1, 0), np.float32))
    assert errors_by_kind(visible, guess, truth) == {"multicategorical": pytest.approx(1 - 2 / (2 + 1 + 1))}


def test_nothing_chosen_and_nothing_guessed_is_right():
    question = mvrbm.Multicategorical("q", columns={"x": "x", "y": "y"})
    assert one(question, [[0, 0]], [[0, 0]]) == {"multicategorical": 0.0}


def test_a_blank_guess_is_wrong():
    question = mvrbm.Ranking("q", ranks={"x": "x", "y": "y"})
    assert one(question, [[0], [2], [1]], [[B], [B], [B]]) == {"ranking": pytest.approx(2 / 3)}
    assert np.isnan(one(mvrbm.Continuous("q"), [1.0], [np.nan])["continuous"])
