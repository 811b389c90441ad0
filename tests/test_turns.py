"""Draws of one question after another: against the slow sum over what may be drawn, and what they keep."""

import copy

import numpy as np
import pandas as pd
import pytest
from scipy import special

from mvrbm import MVRBM, Ranking, inference
from mvrbm.answers import Answers
from mvrbm.datasets import make_survey
from mvrbm.encoding import encode
from mvrbm.evaluation import Trial
from mvrbm.kernels.random import Stream
from mvrbm.summary import summarise
from mvrbm.training.stopping import hide
from mvrbm.turns import Turns, draw_blanks, draw_people
from mvrbm.units.ranking import RankingBlock
from mvrbm.visible import Visible
from oracle import machine, questions_of, random_answers

N = 40_000


def dense(rbm):
    """The links as a matrix from what is told to the machine to its features."""
    n = rbm.visible.n_features
    found = np.zeros((n, len(rbm.parameters.joint)))
    for weight, row, column in zip(rbm.parameters.links, rbm.links.rows, rbm.links.columns, strict=True):
        found[row, column] += weight * (1.0 if column < n else 3.0)
        if column < n:
            found[column, row] += weight
    return found


def probabilities(rbm, X, at):
    """The probability of each value of a question of one code, from the definition."""
    p, own = rbm.parameters, rbm.visible.feature_question == at
    H = special.expit(p.joint[:, :-1].T @ X)
    z = p.U + p.W @ H + dense(rbm) @ X
    question = rbm.visible.questions[rbm.visible.question_order[at]]
    basis = np.array([[0.0], [1.0]]) if question.kind == "binary" else np.eye(question.n_values)
    return special.softmax(basis @ z[own]), basis, np.flatnonzero(own)


def slow(rbm, X, order, as_answers):
    """Every outcome of drawing some questions in turn, and its probability."""
    if not len(order):
        return {(): 1.0}
    p, basis, own = probabilities(rbm, X, order[0])
    found = {}
    for value, x in enumerate(basis):
        then = X.copy()
        then[own] = x if as_answers else x - p @ basis
        if as_answers:
            then[rbm.visible.n_features + order[0]] = 1
        for rest, q in slow(rbm, then, order[1:], as_answers).items():
            found[(value, *rest)] = p[value] * q
    return found


@pytest.mark.parametrize("as_answers", [False, True])
@pytest.mark.parametrize("case", ["binary", "categorical", "ordinal"])
def test_draws_have_the_enumerated_probabilities(case, as_answers):
    rbm = machine(case, told=True, linked=True, size=1.0)
    visible = rbm.visible
    blank = visible.load(random_answers(visible.questions, 1, seed=0, missing=1.0), np.zeros(N, np.int64), rbm.dtype)
    order = np.array([1, 0])
    alone = [visible.alone(at) for at in range(visible.n_questions)]
    turns = Turns(rbm, alone, blank, np.arange(N), seed=3)
    drawn = draw_people(turns, order, np.ones((2, N), bool), 1) if as_answers else draw_blanks(turns, order)
    X = rbm.features(visible.load(random_answers(visible.questions, 1, seed=0, missing=1.0), np.array([0]), rbm.dtype))
    expected = slow(rbm, X[:, 0], list(order), as_answers)
    for outcome, p in expected.items():
        share = (drawn.codes[order] == np.array(outcome)[:, None]).all(axis=0).mean()
        assert abs(share - p) < 5 * np.sqrt(p * (1 - p) / N) + 1e-4, (outcome, share, p)


def test_in_the_mean_the_others_stay_as_they_were():
    """Whatever blanks are drawn before a question, its answers come about as often as given the answers alone."""
    frame, schema = make_survey(600, random_state=0)
    trial = Trial(frame, schema, 0.3, 0)
    model = MVRBM(20, schema=trial.schema, random_state=0, n_models=1).fit(trial.kept)
    answers = trial.hidden.given
    drawn = inference.draw(model.rbm_, answers, 20, 1)
    place = schema.names.index("ordinal_1")
    names, expected = inference.chances(model.rbm_, answers, place)
    column = sum(question.n_codes for question in list(trial.schema)[:place])
    blank = answers.codes[:, column] == answers.blank
    values = np.stack([each.codes[blank, column] for each in drawn])
    for value in range(len(names)):
        assert abs((values == value).mean() - expected[blank, value].mean()) < 0.03


@pytest.fixture(scope="module")
def fitted():
    frame, schema = make_survey(300, random_state=0)
    return MVRBM(8, schema=schema, max_epochs=10, random_state=0).fit(frame), frame


def test_answers_stay_and_every_blank_is_filled(fitted):
    model, frame = fitted
    for filled in model.complete(frame, draws=4, random_state=0):
        assert filled.notna().all().all()
        there = frame.notna()
        assert (filled.where(there) == frame.where(there)).where(there, True).all().all()


def test_draws_are_the_same_on_any_number_of_threads_and_differ_from_each_other(fitted):
    model, frame = fitted
    one, two = (model.set_params(n_threads=n).complete(frame, draws=2, random_state=0) for n in (1, 2))
    assert one[0].equals(two[0])
    assert one[1].equals(two[1])
    assert not one[0].equals(one[1])


def test_draws_do_not_depend_on_who_is_drawn_with_them(fitted):
    model, frame = fitted
    whole = model.complete(frame, draws=2, random_state=0)[1].iloc[:100]
    part = model.complete(frame.iloc[:100], draws=2, random_state=0)[1]
    # products of other widths round otherwise, and a number may show it
    pd.testing.assert_frame_equal(part, whole, check_exact=False, rtol=1e-6, atol=0)


def test_each_machine_draws_in_its_turn(fitted):
    model, frame = fitted
    by_three = model.complete(frame, draws=2, random_state=0)
    others = model.rbm_.others[:]
    model.rbm_.others.clear()
    alone = model.complete(frame, draws=2, random_state=0)
    model.rbm_.others.extend(others)
    assert by_three[0].equals(alone[0])
    assert not by_three[1].equals(alone[1])


def test_made_up_people_are_like_those_learnt_from():
    """In their means, which Gibbs sampling of such a machine gets wrong, and in their correlations."""
    none = {"binary": 0, "categorical": 0, "multicategorical": 0, "ranking": 0}
    frame, schema = make_survey(1000, continuous=8, ordinal=2, **none, missing=0.1, random_state=1)
    model = MVRBM(20, schema=schema, random_state=0, n_models=1).fit(frame)
    numbers = [name for name in frame if name.startswith("continuous")]
    real = frame[numbers].astype(float)
    off = {}
    for mean_field in (True, False):
        model.rbm_.mean_field = mean_field
        like = model.sample(1000, random_state=0)[numbers].astype(float)
        far = ((real.mean() - like.mean()) / real.std()).abs().max()
        off[mean_field] = far, (real.corr() - like.corr()).abs().to_numpy().mean()
    assert off[True][0] < 0.2 < off[False][0]
    assert off[True][1] < 0.05


@pytest.mark.parametrize(("n_people", "low", "high"), [(300, 0.6, 0.95), (30_000, 0.46, 0.56)])
@pytest.mark.parametrize("uneven", [False, True])
def test_the_temper_is_found(n_people, low, high, uneven):
    """Answers drawn from half the logits that are told; the more there are, the less it is held near 1.

    By the slow way: of many tempers the most probable, where its logarithm has a standard deviation of 0.05, and people
    count as so many as they would be if they weighed alike and told as much.
    """
    questions = questions_of("ordinal")
    answers = random_answers(questions, n_people, seed=0)
    block = Visible(questions, summarise(answers, questions)).parts[0].block
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((block.n_levels, n_people)) * 2
    p = block.softmax(0.5 * logits)
    codes = np.stack([
        (rng.random(n_people) > np.cumsum(p[start : start + size], axis=0)).sum(axis=0)
        for start, size in zip(block.level_start, block.size, strict=True)
    ]).astype(np.int16)  # fmt: skip
    codes[:, ::3] = -1  # who answers nothing has no say, whatever they weigh
    weights = np.where(np.arange(n_people) % 3, rng.exponential(size=n_people) if uneven else 1.0, 1e9)
    block.cool(logits, codes, 1000 * weights)

    who = codes[0] >= 0
    own = weights[who] * weights[who].sum() / (weights[who] ** 2).sum()
    tempers = np.exp(np.linspace(np.log(0.3), np.log(1.5), 800))
    log_p = [block.log_prob(t * logits[:, who], codes[:, who], np.zeros((0, who.sum()))).sum(axis=0) for t in tempers]
    best = tempers[np.argmax(np.array(log_p) @ own - (np.log(tempers) / 0.05) ** 2 / 2)]
    assert block.temper[0] == pytest.approx(best, rel=0.005)
    assert low < block.temper[0] < high


def test_a_temper_that_is_learnt_again_is_not_that_of_what_was_tempered(fitted):
    """As by every `partial_fit`."""
    model, frame = fitted
    again = copy.deepcopy(model.rbm_)
    answers = encode(frame, model.schema_)
    hidden = hide(answers, again.visible, 0.3, 0)
    found = []
    for _ in range(2):
        inference.tune(again, hidden)
        found.append([part.block.temper[0] for part in again.visible.parts])
    assert found[0] == found[1]
    assert np.abs(np.array(found[0]) - 1).max() > 0.02, "there is something to be learnt twice"


@pytest.mark.parametrize(
    ("n_people", "weight"), [(0, 1.0), (20, 1.0), (20, 1000.0), (20, 1e300), (20, 1e-300), (20, [1e9] + [1.0] * 19)]
)
def test_a_few_answers_hardly_move_the_temper(n_people, weight):
    """Whatever they weigh: without its hold it would be 0.3."""
    questions = questions_of("ordinal")
    answers = random_answers(questions, 20, seed=0)
    block = Visible(questions, summarise(answers, questions)).parts[0].block
    logits = np.random.default_rng(0).standard_normal((block.n_levels, 20))
    codes = np.where(np.arange(20) < n_people, 0, -1).astype(np.int16)[None].repeat(2, axis=0)
    block.cool(logits, codes, np.ones(20) * weight)
    assert 0.9 < block.temper[0] < 1.1
    assert (block.temper[0] == 1) == (n_people == 0)


def test_pairs_of_drawn_orders_come_as_often_as_they_say():
    questions = [
        Ranking("five", ranks={i: f"five {i}" for i in "abcde"}, ties=0.1),
        Ranking("two", ranks={i: f"two {i}" for i in "ab"}, ties=0.1),
    ]
    answers = random_answers(questions, 10, seed=0)
    layer = Visible(questions, summarise(answers, questions))
    block = layer.parts[0].block
    assert isinstance(block, RankingBlock)
    items = np.concatenate([np.arange(5), 15 + np.arange(2)])  # orders can't be as pairs that go round in circles
    z = np.zeros((block.n_features, N))
    z[items] = np.random.default_rng(1).standard_normal((7, 1))
    theta = layer.natural(layer.start()[1])
    logits = block._logits(z, theta)
    block.cool(logits, np.full((block.n_codes, N), -1, np.int16), np.ones(N))
    assert block.heat[0] < 0.8
    assert block.heat[1] == pytest.approx(1, abs=0.05), "a single pair is an order"
    drawn = np.full((block.n_codes, N), -1, np.int16)
    block.sample_alone(z, theta, Stream(1, 1, np.arange(N)), drawn, np.zeros((0, N)))
    p = block.softmax(logits)[:, 0]
    shares = np.concatenate([[(codes == value).mean() for value in range(3)] for codes in drawn])
    assert np.abs(shares - p).max() < 0.06
    block.heat = np.ones(2)
    block.sample_alone(z, theta, Stream(1, 1, np.arange(N)), drawn := np.full_like(drawn, -1), np.zeros((0, N)))
    sharper = np.concatenate([[(codes == value).mean() for value in range(3)] for codes in drawn])
    assert np.abs(sharper - p).max() > 0.1, "without the heat they do not"


def test_the_temper_is_in_the_file(fitted, tmp_path):
    import mvrbm

    model, frame = fitted
    assert any(part.block.temper[0] != 1 for part in model.rbm_.visible.parts)
    model.save(tmp_path / "m.mvrbm")
    again = mvrbm.load(tmp_path / "m.mvrbm")
    assert again.complete(frame, draws=1, random_state=0)[0].equals(model.complete(frame, draws=1, random_state=0)[0])
    assert again.predict_proba(frame, "ordinal_1").equals(model.predict_proba(frame, "ordinal_1"))


def test_every_blank_of_a_partly_answered_question_is_drawn():
    rbm = machine("multicategorical", told=True)
    rbm.mean_field = True
    answers = random_answers(rbm.visible.questions, 50, seed=0)
    partly = Answers(answers.codes.copy(), answers.numbers)
    partly.codes[:, 0] = partly.blank
    (drawn,) = inference.draw(rbm, partly, 1, 0)
    np.testing.assert_array_equal(drawn.codes[:, 1:], answers.codes[:, 1:])
    assert set(np.unique(drawn.codes[:, 0])) == {0, 1}
