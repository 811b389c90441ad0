"""The errors of each type and the worth of probabilities, worked by hand."""

import numpy as np
import pandas as pd
import pytest

import mvrbm
from mvrbm.answers import Answers
from mvrbm.datasets import make_survey
from mvrbm.encoding import encode
from mvrbm.metrics import (
    binary_error,
    calibration_error,
    categorical_error,
    continuous_error,
    error_of,
    errors_by_kind,
    log_loss,
    multicategorical_error,
    ordinal_error,
    quantile_calibration,
    ranking_error,
)
from mvrbm.summary import Summary, summarise
from mvrbm.units import KINDS
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
    frame, schema = make_survey(60, count=2, random_state=3)
    other, _ = make_survey(60, count=2, missing=0, random_state=4)
    truth, guess = encode(frame, schema), encode(other, schema)
    visible = Visible(list(schema), summarise(truth, list(schema)))
    weights = np.arange(60) % 3.0
    rows = np.repeat(np.arange(60), weights.astype(int))
    twice = errors_by_kind(visible, guess.take(rows), truth.take(rows))
    assert errors_by_kind(visible, guess, truth, weights) == pytest.approx(twice)
    assert len(twice) == len(KINDS)


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
    # counts 0 to 4 as often each: the median 2 is 6/5 off; a blank guess counts as 4 off
    assert one(mvrbm.Count("q", high=4), [1, 3, 0], [1, B, 2]) == {"count": pytest.approx((0 + 4 + 2) / 3 / (6 / 5))}


# The same errors of plain answers.

NAN = np.nan


def of_columns(question, true, predicted, weights):
    """The error of one question from the columns of two tables."""
    a, b = true[question.columns], predicted[question.columns]
    match question.kind:
        case "multicategorical":
            return multicategorical_error(a, b, weights)
        case "ranking":
            return ranking_error(a, b, weights)
        case "ordinal":
            return ordinal_error(a[question.name], b[question.name], values=question.values, weights=weights)
        case "continuous":
            return continuous_error(a[question.name], b[question.name], weights)
        case "count":
            return far_from_the_median(a[question.name], b[question.name], weights)
        case "binary":
            return binary_error(a[question.name], b[question.name], weights)
    return categorical_error(a[question.name], b[question.name], weights)


def far_from_the_median(true, predicted, weights):
    """The distance of guesses from counts by that of the median, which has the least: tried out one by one."""
    w = (np.ones(len(true)) if weights is None else weights)[true.notna()]
    v, guess = true.dropna().to_numpy(), predicted[true.notna()].to_numpy()
    return w @ abs(v - guess) / min(w @ abs(v - middle) for middle in range(int(v.max()) + 1))


@pytest.mark.parametrize("weighted", [False, True])
def test_errors_of_columns_are_those_of_a_model(weighted):
    true, schema = make_survey(300, count=2, random_state=1)
    predicted, _ = make_survey(300, count=2, missing=0, random_state=2)
    weights = np.random.default_rng(0).uniform(0, 3, 300) if weighted else None
    for question in schema:
        alone = mvrbm.Schema([question])
        truth, guess = encode(true, alone), encode(predicted, alone)
        visible = Visible([question], summarise(truth, [question], weights))
        of_model = errors_by_kind(visible, guess, truth, weights)
        assert of_model == {question.kind: pytest.approx(of_columns(question, true, predicted, weights), rel=1e-5)}
        assert of_model == {question.kind: pytest.approx(error_of(question, true, predicted, weights), rel=1e-5)}
    assert len({question.kind for question in schema}) == len(KINDS)


def test_errors_by_kind_pools_what_the_functions_score_one_by_one():
    """Questions of a kind one after the other are one long column."""
    true, schema = make_survey(200, random_state=1)
    predicted, _ = make_survey(200, missing=0, random_state=2)
    truth, guess = encode(true, schema), encode(predicted, schema)
    visible = Visible(list(schema), summarise(truth, list(schema)))
    for kind, error in {"binary": binary_error, "categorical": categorical_error}.items():
        names = [question.name for question in schema if question.kind == kind]
        found = error(*(np.concatenate([frame[name] for name in names]) for frame in (true, predicted)))
        assert errors_by_kind(visible, guess, truth)[kind] == pytest.approx(found)


def test_wrong_answers_are_counted_whatever_they_are_called():
    assert binary_error([0, 1, 1, NAN], [0, 0, 1, 1]) == pytest.approx(1 / 3)
    assert binary_error(["a", "b", None], ["a", None, "b"]) == pytest.approx(1 / 2)
    assert categorical_error(pd.Series(["x", "y", pd.NA, "z"]), np.array(["x", "z", "x", "w"])) == pytest.approx(2 / 3)
    assert categorical_error(pd.Categorical(["x", "y", None]), ["x", "y", "z"]) == 0
    assert categorical_error([1, 2, 3, 4], ["1", "2", 3.0, 5]) == pytest.approx(1 / 4)
    assert binary_error(np.array([True, False]), pd.array([1, 1], "Int8")) == pytest.approx(1 / 2)


def test_ordinal_error_of_codes_and_of_values():
    assert ordinal_error([0, 4, 2, NAN], [2, 3, 2, 0], 5) == pytest.approx((2 / 4 + 1 / 4 + 0) / 3)
    words = ["no", "rather not", "rather", "yes"]
    assert ordinal_error(["no", "yes", None], ["rather", "rather", "no"], values=words) == pytest.approx(
        (2 / 3 + 1 / 3) / 2
    )


@pytest.mark.parametrize("level", range(5))
def test_a_blank_ordinal_guess_is_wrong_by_the_whole_scale(level):
    assert ordinal_error([level, level], [level, None], 5) == pytest.approx(1 / 2)


def test_continuous_error_in_standard_deviations_or_in_another_unit():
    """True answers 1 and 5: standard deviation 2."""
    assert continuous_error([1.0, 5.0, NAN], [3.0, 1.0, 7.0]) == pytest.approx(np.sqrt((1 + 4) / 2))
    assert continuous_error([1.0, 5.0, NAN], [3.0, 1.0, 7.0], scale=1) == pytest.approx(np.sqrt((4 + 16) / 2))
    assert continuous_error([2.0, 2.0], [3.0, 3.0], scale=4) == pytest.approx(1 / 4)
    assert continuous_error([1.0, 2.0, 6.0], [3.0] * 3) == pytest.approx(1)  # the mean


def test_multicategorical_error_leaves_blank_options_out():
    truth = [[1, 0, 1], [1, 0, 0], [0, 1, -1], [None, NAN, 0]]
    guess = [[1, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 0]]
    assert multicategorical_error(truth, guess) == pytest.approx(1 - 2 * 2 / (2 * 2 + 1 + 2))
    assert multicategorical_error(pd.DataFrame(truth), np.array(guess)) == multicategorical_error(truth, guess)
    assert multicategorical_error([[0, 0]], [[0, 0]]) == 0
    assert multicategorical_error([[1, 0, 1]], [[1, NAN, -1]]) == pytest.approx(1 - 2 / 3)  # a blank chooses nothing


def test_ranking_error_by_hand():
    """Pairs (0,1), (0,2), (1,2). First row: the last pair opposed. Second: one pair compared, tied in the guess."""
    truth, guess = [[1, 2, 3], [1, 2, NAN]], [[1, 3, 2], [1, 1, 2]]
    assert ranking_error(truth, guess) == pytest.approx(1 / 4)
    assert ranking_error([[1, 1, 2]], [[1, 2, 3]]) == 0  # a tie in truth is not opposed to anything
    assert ranking_error([[1, 2, 3]], [[2, 4, 9]]) == 0  # only the order counts
    assert ranking_error([[1, 2, 3]], [[1, 2, None]]) == pytest.approx(2 / 3)
    assert ranking_error([[1, 2, 3]], [[3, 2, 1]]) == 1


def test_log_loss_by_hand():
    p = [[0.5, 0.25, 0.25], [0.1, 0.8, 0.1], [NAN, NAN, NAN]]
    assert log_loss([0, 2, None], p) == pytest.approx(-(np.log(0.5) + np.log(0.1)) / 2)
    assert log_loss([1, 0], [0.8, 0.4]) == pytest.approx(-(np.log(0.8) + np.log(0.6)) / 2)
    assert log_loss([1, 0], [0.8, 0.4]) == pytest.approx(log_loss([1, 0], [[0.2, 0.8], [0.6, 0.4]]))
    assert log_loss([[1, 0], [-1, 1]], [[0.8, 0.4], [0.3, 0.5]]) == pytest.approx(-np.log([0.8, 0.6, 0.5]).mean())
    assert log_loss([1], [0.0]) == pytest.approx(-np.log(1e-12))
    assert log_loss([1], [1.0]) == 0


def test_calibration_error_by_hand():
    """P(1) in (0, 0.5]: 0.2, 0.5, one of two is 1; in (0.5, 1]: 0.6, 1, 1, two of three are 1."""
    true, p = [0, 1, 0, 1, 1], [0.2, 0.5, 0.6, 1.0, 1.0]
    assert calibration_error(true, p, bins=2) == pytest.approx((abs(1 - 0.7) + abs(2 - 2.6)) / 5)
    assert calibration_error(true, p, bins=1) == pytest.approx(abs(3 - 3.3) / 5)
    assert calibration_error(true, np.column_stack([1 - np.array(p), p]), bins=2) == calibration_error(true, p, bins=2)
    assert calibration_error([[0, 1], [0, NAN], [1, 1]], [[0.2, 0.5], [0.6, 0.0], [1, 1]], 2) == pytest.approx(0.9 / 5)
    assert calibration_error([0, 1], [0.0, 1.0]) == 0


def test_calibration_of_several_levels_is_that_of_the_most_probable():
    """Confidences 0.5 (right), 0.4 (wrong), 0.9 (right): (0, 0.5] has 1 of 2 right, (0.5, 1] has 1 of 1."""
    p = [[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.0, 0.1, 0.9], [1, 0, 0]]
    assert calibration_error([0, 2, 2, None], p, bins=2) == pytest.approx((abs(1 - 0.9) + abs(1 - 0.9)) / 3)


def test_quantile_calibration_by_hand():
    """At or below 0.25, 0.5, 0.75 lie 1/2, 3/4, 3/4 of the values; an edge counts as at or below itself."""
    u = [0.1, 0.25, 0.5, 0.8, 0.3]
    assert quantile_calibration([1, 2, 3, 4, NAN], u, bins=4) == pytest.approx((1 / 4 + 1 / 4 + 0) / 3)
    n = 1000
    assert quantile_calibration(np.zeros(n), (np.arange(n) + 0.5) / n) == pytest.approx(0)
    assert quantile_calibration(np.zeros(n), np.ones(n)) == pytest.approx(0.5)  # every answer at the upper end


random = np.random.default_rng(5)
N = 40
CODES, GUESSES = random.integers(0, 3, (2, N)).astype(float)
CODES[::7] = NAN
NUMBERS = random.normal(size=(2, N))
TICKS = random.integers(0, 2, (2, N, 4))
RANKS = random.integers(1, 4, (2, N, 4))
SHARES = random.dirichlet(np.ones(3), N)
FUNCTIONS = {
    "binary": (binary_error, CODES > 1, GUESSES > 1),
    "categorical": (categorical_error, CODES, GUESSES),
    "ordinal": (lambda t, p, weights=None: ordinal_error(t, p, 3, weights), CODES, GUESSES),
    "continuous": (continuous_error, *NUMBERS),
    "multicategorical": (multicategorical_error, *TICKS),
    "ranking": (ranking_error, *RANKS),
    "log_loss": (log_loss, CODES, SHARES),
    "log_loss of options": (log_loss, TICKS[0], random.random((N, 4))),
    "calibration": (calibration_error, CODES, SHARES),
    "calibration of options": (calibration_error, TICKS[0], random.random((N, 4))),
    "quantiles": (quantile_calibration, NUMBERS[0], random.random(N)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_weight_two_is_the_row_twice(name):
    error, true, given = FUNCTIONS[name]
    weights = np.arange(N) % 3
    rows = np.repeat(np.arange(N), weights)
    twice = error(true[rows], given[rows])
    assert error(true, given, weights=weights) == pytest.approx(twice)
    assert error(true, given, weights=pd.Series(weights * 0.5)) == pytest.approx(twice)
    assert error(true, given) != pytest.approx(twice)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_to_score_and_bad_weights_are_refused(name):
    error, true, given = FUNCTIONS[name]
    blank = np.full(true.shape, NAN)
    for nothing in ((blank, given, None), (true, given, np.zeros(N)), (true[:0], given[:0], None)):
        with pytest.raises(
            ValueError, match="there is nothing to score: every answer of true is blank or has weight 0"
        ):
            error(*nothing[:2], weights=nothing[2])
    for bad in (-1.0, NAN):
        with pytest.raises(ValueError, match=rf"weights: value {bad:g} \(row 3\) is no weight"):
            error(true, given, weights=[1, 1, 1, bad] + [1] * (N - 4))
    with pytest.raises(ValueError, match=r"weights must be one number a row, of the shape \(40,\), not \(39,\)"):
        error(true, given, weights=np.ones(N - 1))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_shapes_that_differ_are_refused(name):
    error, true, given = FUNCTIONS[name]
    with pytest.raises(ValueError, match=r"(same shape|shape of true), not \((39|40)"):
        error(true, given[:-1])
    with pytest.raises(ValueError, match=r"shape|probabilities must be"):
        error(true, given[None])
    with pytest.raises(ValueError, match="rows of the same length"):
        error([[1, 0], [1]], given)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: binary_error([0, 1, 2], [0, 1, 1]), r"true: value 2 \(row 2\) is one more answer than 0, 1; use cat"),
        (lambda: binary_error([0, 1], [0, "x"]), r"predicted: value 'x' \(row 1\) is one more answer than 0, 1"),
        (lambda: ordinal_error([0, 5], [0, 1], 5), r"true: value 5 \(row 1\) is no code from 0 to 4; "),
        (lambda: ordinal_error([0, 1], [0, -1], 5), r"predicted: value -1 \(row 1\) is no code from 0 to 4; "),
        (lambda: ordinal_error([0, 1], [0, 0.5], 5), r"predicted: value 0.5 \(row 1\) is no code"),
        (lambda: ordinal_error(["a"], ["c"], values="ab"), r"predicted: value 'c' \(row 0\) is not among values="),
        (lambda: ordinal_error([0], [0]), "give one of n_levels .* and values"),
        (lambda: ordinal_error([0], [0], 2, values=[0, 1]), "give one of n_levels .* and values"),
        (lambda: ordinal_error([0], [0], 1), "n_levels must be a whole number, 2 or more, not 1"),
        (lambda: ordinal_error([0], [0], values=[1, 1]), "values must be two or more different levels"),
        (lambda: continuous_error([1, 2], [1, None]), r"predicted: value nan \(row 1\) is blank"),
        (lambda: continuous_error([1, "x"], [1, 2]), r"true: value 'x' \(row 1\) is no number"),
        (lambda: continuous_error([1, np.inf], [1, 2]), r"true: value inf \(row 1\) is infinite"),
        (lambda: continuous_error([2, 2], [1, 2]), "every true answer is 2, so they have no standard deviation"),
        (lambda: continuous_error([1, 2], [1, 2], scale=0), "scale must be a number above 0, not 0"),
        (lambda: multicategorical_error([[1, 0]], [[1, 2]]), r"predicted, column 1: value 2 \(row 0\) is no code"),
        (lambda: multicategorical_error([[1, "x"]], [[1, 0]]), r"true, column 1: value 'x' \(row 0\) is no number"),
        (lambda: multicategorical_error([1, 0], [1, 0]), r"true must be a table, .* not \(2,\)"),
        (lambda: ranking_error([[1, 0]], [[1, 2]]), r"true, column 1: value 0 \(row 0\) is no rank"),
        (lambda: ranking_error([[1]], [[1]]), "a ranking has two or more items, not 1"),
        (lambda: log_loss([0, 2], [[0.5, 0.5]] * 2), r"true: value 2 \(row 1\) is no code from 0 to 1"),
        (lambda: log_loss([0, 2], [0.5, 0.5]), r"true: value 2 \(row 1\) is no code from 0 to 1"),
        (lambda: log_loss([0, 1], [0.5, 1.2]), r"probabilities: value 1.2 \(row 1\) is no probability"),
        (lambda: log_loss([0, 1], [0.5, NAN]), r"probabilities: value nan \(row 1\) is no probability"),
        (lambda: log_loss([0], [[1.2, -0.2]]), r"probabilities, column 0: value 1.2 \(row 0\) is no probability"),
        (lambda: log_loss([0, 0], [[0.5, 0.5], [0.5, 0.4]]), "probabilities: row 1 sums to 0.9, not 1"),
        (lambda: log_loss([0, 1], [[1.0], [1.0]]), "probabilities must be .* or P.1. in the shape of true"),
        (lambda: calibration_error([0], [0.5], bins=0), "bins must be a whole number, 1 or more, not 0"),
        (lambda: quantile_calibration([0], [0.5], bins=1), "bins must be a whole number, 2 or more, not 1"),
        (lambda: quantile_calibration([0], [-0.5]), r"cdf_values: value -0.5 \(row 0\) is no probability"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_a_sum_within_rounding_of_one_is_one():
    assert log_loss([0], [[0.50005, 0.5]]) == pytest.approx(-np.log(0.50005))
    with pytest.raises(ValueError, match=r"sums to 1.0002"):
        log_loss([0], [[0.5002, 0.5]])


def test_columns_in_another_order_are_refused():
    true, predicted = pd.DataFrame({"x": [1], "y": [2]}), pd.DataFrame({"y": [2], "x": [1]})
    with pytest.raises(ValueError, match="same columns in another order"):
        ranking_error(true, predicted)
    assert ranking_error(true, predicted[["x", "y"]]) == 0


def test_a_row_of_weight_none_may_have_a_blank_guess():
    assert continuous_error([1, 5, 9], [3, 1, None], weights=[1, 1, 0]) == pytest.approx(np.sqrt((1 + 4) / 2))
