"""Learning to predict: the conditional likelihood against the predictive distribution, its gradient by differences."""

import numpy as np
import pytest

from mvrbm import inference
from mvrbm.training.conditional import Blend, ClampedCD, Conditional, Readout, hide_targets, log_conditional, mark
from mvrbm.training.engine import Workers
from mvrbm.training.objectives import CD, Batch
from oracle import CASES, Oracle, machine, random_answers
from test_gradients import assert_within_noise, differences, gradient, load, repeated, statistics

pytestmark = pytest.mark.usefixtures("small_chunks")

CHECKED = [case for case in CASES if case != "non-empty"]  # its predictive distribution is that of free options


def without(rbm, chunk, targets):
    return rbm.visible.keep_only(chunk, ~mark(rbm.visible, targets))


def log_predicted(rbm, chunk, targets):
    """The sum over the targets' codes and numbers of log P given all that are no targets, by the tested inference."""
    visible = rbm.visible
    inputs = without(rbm, chunk, targets)
    total = np.zeros(chunk.n_rows)
    for question, outlook in inference.each_question(rbm, inputs, targets):
        codes, numbers = visible.cells_of(question)
        only = np.where(codes, chunk.codes, -1), np.where(numbers, chunk.numbers, np.nan)
        for part, own in zip(visible.parts, outlook, strict=True):
            scale = np.log(part.block.scale) if part.block.n_numbers else 0.0  # a density in standard deviations
            log_p = part.block.log_prob(own, only[0][part.codes], only[1][part.numbers])
            total += np.where(log_p != 0, log_p + scale, 0.0).sum(axis=0)
    return total


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("case", CHECKED)
def test_the_value_is_that_of_the_predictive_distribution(case, linked):
    rbm = machine(case, linked=linked)
    chunk = load(rbm, random_answers(rbm.visible.questions, 40, 3, missing=0.3))
    exact = case != "paper"  # there a number's predictive distribution is the mean-field one
    for targets in ([0], [rbm.visible.n_questions - 1], [0, rbm.visible.n_questions - 1]):
        if exact or 0 not in targets:
            found = log_conditional(rbm, chunk, mark(rbm.visible, targets))
            np.testing.assert_allclose(found, log_predicted(rbm, chunk, targets), rtol=2e-3, atol=2e-3)
            assert (found < 0).any()


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_the_gradient_of_the_conditional_likelihood(case, linked):
    rbm = machine(case, linked=linked)
    answers = random_answers(rbm.visible.questions, 30, 3, missing=0.3)
    chunk = load(rbm, answers)
    weights = np.linspace(0.1, 2, 30)
    for targets in ([0], [0, rbm.visible.n_questions - 1]):
        marked = mark(rbm.visible, targets)
        expected = differences(rbm, lambda marked=marked: float(weights @ log_conditional(rbm, chunk, marked)))
        found = gradient(rbm, Conditional(0, targets), Batch(answers, np.arange(30), weights, 0))
        out = rbm.parameters.like(found)
        np.testing.assert_allclose(out.joint[-1, -1], weights @ log_conditional(rbm, chunk, marked), rtol=1e-9)
        out.joint[-1, -1] = 0
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
        assert np.abs(out.W).max() > 0.01


@pytest.mark.parametrize("case", CASES)
def test_the_gradient_of_the_likelihood_given_posteriors(case):
    """The posteriors of the inputs are data: only the parameters of the targets move."""
    rbm = machine(case)
    answers = random_answers(rbm.visible.questions, 30, 3, missing=0.3)
    targets = [rbm.visible.n_questions - 1]
    marked = mark(rbm.visible, targets)
    chunk = load(rbm, answers)
    weights = np.linspace(0.1, 2, 30)
    inputs = without(rbm, chunk, targets)
    X, H = rbm.features(inputs), rbm.posterior(inputs)
    wanted = rbm.visible.keep_only(chunk, marked)
    expected = differences(rbm, lambda: float(weights @ rbm.log_prob_given(wanted, H, X).sum(axis=0)))
    found = gradient(rbm, Readout(0, targets), Batch(answers, np.arange(30), weights, 0))
    out = rbm.parameters.like(found)
    np.testing.assert_allclose(out.joint[-1, -1], weights @ rbm.log_prob_given(wanted, H, X).sum(axis=0), rtol=1e-9)
    out.joint[-1, -1] = 0
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert not out.w.any()


@pytest.mark.parametrize("case", ["multicategorical", "ranking", "continuous", "mixture"])
def test_clamped_contrastive_divergence_on_average(case):
    """The chain keeps the inputs: its expected end is that of the enumerated chain over the target alone."""
    rbm = machine(case)
    target = 0 if case != "mixture" else 2
    other = 1 if case != "mixture" else 0
    oracle = Oracle(rbm, [target, other])
    whole = load(rbm, oracle.answers())
    start = whole.n_rows // 3
    same = oracle.index[:, 1] == oracle.index[start, 1]
    joint = oracle.log_joint()
    h_given_v = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    v_given_h = np.where(same[:, None], np.exp(joint - np.logaddexp.reduce(joint[same], axis=0)), 0.0)
    end = v_given_h @ h_given_v[start]
    expected = statistics(rbm, whole.__class__(whole.codes[:, [start]], whole.numbers[:, [start]]), [1.0])
    expected -= statistics(rbm, whole, end)
    found, error = repeated(rbm, ClampedCD(11, [target]), oracle.answers().take(np.array([start])))
    assert_within_noise(found, error, expected)
    assert error.max() < 0.1


def test_hidden_targets():
    rbm = machine("mixture")
    answers = random_answers(rbm.visible.questions, 300, 5, missing=0.2)
    targets = [1, 3]
    hidden = hide_targets(answers, rbm.visible, targets, 0.3, 0, 4000)
    marked = mark(rbm.visible, targets)
    full, kept = load(rbm, answers), load(rbm, hidden.kept)
    labelled = (rbm.visible.answered(full) & marked).any(axis=0)
    assert len(hidden.rows) == int(0.3 * labelled.sum())
    assert labelled[hidden.rows].all()
    touched = np.isin(np.arange(300), hidden.rows)
    np.testing.assert_array_equal(rbm.visible.answered(kept), rbm.visible.answered(full) & ~(marked & touched[None, :]))
    weights = np.random.default_rng(0).random(300)
    with Workers(1) as workers:
        found = hidden.loss(rbm, workers, weights)
    log_p = log_conditional(rbm, full, marked)[hidden.rows]
    np.testing.assert_allclose(found, -np.average(log_p, weights=weights[hidden.rows]), rtol=1e-9)


def test_a_blend_is_the_sum_of_its_parts():
    rbm = machine("mixture")
    answers = random_answers(rbm.visible.questions, 60, 5, missing=0.2)
    inputs = hide_targets(answers, rbm.visible, [1], 1.0, 0, 4000).kept
    batch = Batch(answers, np.arange(60), np.full(60, 1 / 60), 0)
    blend = Blend([(0.3, CD(7), inputs), (0.7, Conditional(7, [1]), None)])
    alone = 0.3 * gradient(rbm, CD(7), Batch(inputs, batch.rows, batch.weights, 0))
    alone += 0.7 * gradient(rbm, Conditional(7, [1]), batch)
    np.testing.assert_allclose(gradient(rbm, blend, batch), alone, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("objective", [Conditional, Readout])
def test_weight_2_is_the_row_twice(objective):
    rbm = machine("mixture")
    answers = random_answers(rbm.visible.questions, 40, 5, missing=0.2)
    weights = np.random.default_rng(0).integers(0, 3, 40)
    rows = np.repeat(np.arange(40), weights)
    weighted = gradient(rbm, objective(0, [0, 3]), Batch(answers, np.arange(40), weights.astype(float), 0))
    repeated_ = gradient(rbm, objective(0, [0, 3]), Batch(answers, rows, np.ones(len(rows)), 0))
    np.testing.assert_allclose(weighted, repeated_, rtol=1e-9, atol=1e-9)
