"""Gradients: of likelihoods by finite differences, of contrastive divergence by the enumerated chain."""

import numpy as np
import pytest

from mvrbm.answers import Answers
from mvrbm.likelihood import exact_log_z
from mvrbm.training.conditional import Blend
from mvrbm.training.engine import TreeSum, Workers
from mvrbm.training.objectives import CD, PCD, Batch, Masked, add_statistics
from mvrbm.visible import Chunk
from oracle import CASES, Oracle, machine, random_answers

pytestmark = pytest.mark.usefixtures("small_chunks")


def load(rbm, answers):
    return rbm.visible.load(answers, np.arange(answers.n_rows), rbm.dtype)


def statistics(rbm, chunk, scale):
    """The package's sum over people of x h^T, x, h and t, by parameter."""
    out = rbm.parameters.like(np.zeros_like(rbm.parameters.vector))
    X = rbm.features(chunk)
    add_statistics(rbm, chunk, X, rbm.posterior(chunk), np.asarray(scale, rbm.dtype), out, None)
    out.joint[-1, -1] = 0
    return out.vector.copy()


def differences(rbm, value, step=1e-5):
    """The derivative of a function of the machine by each of its parameters."""
    vector = rbm.parameters.vector
    out = np.zeros_like(vector)
    free = rbm.parameters.like(np.ones_like(vector))
    free.joint[rbm.visible.n_features :, -1] = 0
    free.base[:] = rbm.visible.natural_slope(rbm.parameters.base) != 0
    for i in np.flatnonzero(free.vector):
        kept = vector[i]
        for sign in (1, -1):
            vector[i] = kept + sign * step
            rbm.refresh()
            out[i] += sign * value() / (2 * step)
        vector[i] = kept
    rbm.refresh()
    return out


@pytest.mark.parametrize("case", CASES)
def test_the_data_term(case):
    """The derivative of the weighted sum of -F(v), with blanks."""
    rbm = machine(case)
    chunk = load(rbm, random_answers(rbm.visible.questions, 8, 2, missing=0.3))
    weights = np.linspace(0.2, 2, 8)
    expected = differences(rbm, lambda: -(weights @ rbm.free_energy(chunk)))
    np.testing.assert_allclose(statistics(rbm, chunk, weights), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_the_log_likelihood(case):
    """Data term minus model term, the latter from every answer listed, is the derivative of log P(v)."""
    rbm = machine(case)
    only = [0, rbm.visible.n_questions - 1]
    oracle = Oracle(rbm, only)
    whole = load(rbm, oracle.answers())
    at = whole.n_rows // 3
    row = Chunk(whole.codes[:, [at]], whole.numbers[:, [at]])
    expected = differences(rbm, lambda: float(-rbm.free_energy(row)[0] - exact_log_z(rbm, row)))
    model = statistics(rbm, whole, oracle.probabilities())
    np.testing.assert_allclose(statistics(rbm, row, [1.0]) - model, expected, rtol=2e-5, atol=2e-5)


def gradient(rbm, objective, batch):
    with Workers(1) as workers:
        total = TreeSum(rbm.parameters.vector)
        for vector in workers.map(lambda job: job(total.buffer()), objective.jobs(rbm, batch)):
            total.add(vector)
    return total.result().copy()


def repeated(rbm, objective, answers, n_rows=2000, n_steps=25):
    """The mean gradient of one row over many draws, and its standard error."""
    many = answers.take(np.zeros(n_rows, np.int64))
    weights = np.full(n_rows, 1 / n_rows)
    found = np.array(
        [gradient(rbm, objective, Batch(many, np.arange(n_rows), weights, step)) for step in range(n_steps)]
    )
    return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(n_steps)


def after_sweeps(oracle, start, n_sweeps):
    """The distribution over the listed answers after some sweeps from one of them."""
    joint = oracle.log_joint()
    h_given_v = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    v_given_h = np.exp(joint - np.logaddexp.reduce(joint, axis=0, keepdims=True))
    p = np.zeros(len(joint))
    p[start] = 1
    for _ in range(n_sweeps):
        p = v_given_h @ (p @ h_given_v)
    return p


def assert_within_noise(found, error, expected):
    """Within six standard errors, and a little for the rounding of float32 numbers."""
    np.testing.assert_array_less(np.abs(found - expected), 6 * error + 2e-5)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sweeps", [1, 3])
def test_contrastive_divergence_on_average(case, sweeps):
    """The expected update is x h^T at the data minus x h^T after the chain, both of the answered questions."""
    rbm = machine(case)
    oracle = Oracle(rbm, None if sweeps == 1 else range(0, rbm.visible.n_questions, 2))
    whole, answers = load(rbm, oracle.answers()), oracle.answers()
    start = whole.n_rows // 3
    end = after_sweeps(oracle, start, sweeps)
    row = Chunk(whole.codes[:, [start]], whole.numbers[:, [start]])
    expected = statistics(rbm, row, [1.0]) - statistics(rbm, whole, end)
    found, error = repeated(rbm, CD(11, sweeps), answers.take(np.array([start])))
    assert_within_noise(found, error, expected)
    assert error.max() < 0.1


def test_blanks_as_hidden():
    """The positive phase fills blanks by sweeps with the answers held; the negative is of the full machine."""
    rbm = machine("mixture")
    oracle = Oracle(rbm)
    whole = load(rbm, oracle.answers())
    joint = oracle.log_joint()
    v_given_h = np.exp(joint - np.logaddexp.reduce(joint, axis=0, keepdims=True))
    h_given_v = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    start, held = len(joint) // 3, [0, 1, 6]
    row = np.flatnonzero((oracle.index[:, held] == oracle.index[start, held]).all(axis=1))
    # the first sweep starts from the machine of the answers alone
    alone = Oracle(rbm, held)
    same = (alone.index == oracle.index[start, held]).all(axis=1)
    p_h = np.exp(alone.log_joint()[same][0])
    p_h /= p_h.sum()
    n_fill = 2
    for _ in range(n_fill):
        p_v = np.zeros(len(joint))
        per_state = v_given_h[row] / v_given_h[row].sum(axis=0)
        p_v[row] = per_state @ p_h
        p_h = p_v @ h_given_v
    expected = statistics(rbm, whole, p_v) - statistics(rbm, whole, v_given_h @ p_h)
    answers = alone.answers().take(np.flatnonzero(same))
    found, error = repeated(rbm, CD(5, 1, "hidden", n_fill), answers, n_rows=4000)
    assert_within_noise(found, error, expected)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("linked", [False, True])
def test_the_masked_objective(case, linked):
    """The derivative of the log-probability of the hidden answers given the posterior of those kept."""
    rbm = machine(case, linked=linked)
    batch = Batch(random_answers(rbm.visible.questions, 8, 2, missing=0.2), np.arange(8), np.linspace(0.1, 1, 8), 3)
    objective = Masked(7, (0.2, 0.8))
    pieces = batch.pieces(4)

    def value():
        total = 0.0
        for piece in pieces:
            kept, hidden = objective.split(rbm, piece)
            X = rbm.features(kept)
            total += piece.weights @ rbm.log_prob_given(hidden, rbm.posterior(kept, X), X).sum(axis=0)
        return total

    found = rbm.parameters.like(gradient(rbm, objective, batch))
    np.testing.assert_allclose(found.vector, differences(rbm, value), rtol=1e-6, atol=1e-6)


def test_masks_follow_from_seed_step_and_row():
    """Whoever else is in the piece; each answer is kept or hidden, and another step hides others."""
    rbm = machine("mixture")
    answers = random_answers(rbm.visible.questions, 400, 2, missing=0.3)
    every = np.arange(400)
    objective = Masked(7, (0.25, 0.25))
    kept, hidden = objective.split(rbm, Batch(answers, every, np.ones(400), 5))
    _, alone = objective.split(rbm, Batch(answers, every[[17, 300]], np.ones(2), 5))
    np.testing.assert_array_equal(alone.codes, hidden.codes[:, [17, 300]])
    whole, parts = (rbm.visible.answered(chunk) for chunk in (load(rbm, answers), hidden))
    np.testing.assert_array_equal(rbm.visible.answered(kept) ^ parts, whole)
    assert parts.sum() / whole.sum() == pytest.approx(0.25, abs=0.04)
    _, later = objective.split(rbm, Batch(answers, every, np.ones(400), 6))
    assert (rbm.visible.answered(later) != parts).any()


@pytest.mark.parametrize(("rate", "share"), [(1.0, 0.3), (0.5, 0.2), (0.0, 0.1)])
def test_less_is_hidden_as_the_rate_falls(rate, share):
    """From the mean of both shares down to the least."""
    rbm = machine("mixture")
    answers = random_answers(rbm.visible.questions, 3000, 2)
    alone, in_a_blend, steady = Masked(7), Masked(7), Masked(7, steady=True)
    alone.begin(rate)
    steady.begin(rate)
    Blend([(1.0, in_a_blend, None)]).begin(rate)
    for objective in (alone, in_a_blend, steady):
        _, hidden = objective.split(rbm, Batch(answers, np.arange(3000), np.ones(3000), 5))
        expected = 0.3 if objective is steady else share
        assert rbm.visible.answered(hidden).mean() == pytest.approx(expected, abs=0.015)


def test_persistent_chains_on_average():
    """With chains that start at the machine's own distribution, the update is the gradient of the likelihood."""
    rbm = machine("mixture")
    oracle = Oracle(rbm)
    whole, answers = load(rbm, oracle.answers()), oracle.answers()
    start = whole.n_rows // 3
    row = Chunk(whole.codes[:, [start]], whole.numbers[:, [start]])
    expected = statistics(rbm, row, [1.0]) - statistics(rbm, whole, oracle.probabilities())
    found = []
    for trial in range(20):
        objective = PCD(trial, 2, 2000)
        objective.start(rbm)
        exact = load(rbm, oracle.draw(2000, np.random.default_rng(trial)))
        pieces = np.split(np.arange(2000), np.cumsum([c.n_rows for c in objective.chains])[:-1])
        objective.chains = [Chunk(exact.codes[:, own].copy(), exact.numbers[:, own].copy()) for own in pieces]
        batch = Batch(answers.take(np.array([start])), np.array([0]), np.array([1.0]), 0)
        found.append(gradient(rbm, objective, batch))
    error = np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
    assert_within_noise(np.mean(found, axis=0), error, expected)
    assert error.max() < 0.1


def test_both_phases_of_persistent_chains_weigh_the_same():
    """The entry between the two rows of ones counts what each phase adds up to."""
    rbm = machine("mixture")
    answers = random_answers(rbm.visible.questions, 6, 1)
    for weights in (np.full(6, 1 / 6), np.linspace(0.1, 0.9, 6)):
        found = rbm.parameters.like(gradient(rbm, PCD(0, 1, 10), Batch(answers, np.arange(6), weights, 0)))
        assert found.joint[-1, -1] == pytest.approx(0, abs=1e-12)


def test_chains_go_on_from_step_to_step():
    rbm = machine("mixture")
    answers = random_answers(rbm.visible.questions, 4, 1)
    objective = PCD(0, 1, 10)
    batch = Batch(answers, np.arange(4), np.full(4, 0.25), 0)
    gradient(rbm, objective, batch)
    first = [c.codes.copy() for c in objective.chains]
    gradient(rbm, objective, batch)
    assert any((a != c.codes).any() for a, c in zip(first, objective.chains, strict=True))
    np.testing.assert_array_equal([c.n_rows for c in objective.chains], [5, 5])


@pytest.mark.parametrize("case", CASES)
def test_weight_two_is_the_row_twice(case):
    rbm = machine(case)
    answers = random_answers(rbm.visible.questions, 5, 2, missing=0.3)
    twice = Answers(np.repeat(answers.codes, 2, axis=0), np.repeat(answers.numbers, 2, axis=0))
    np.testing.assert_allclose(
        statistics(rbm, load(rbm, answers), np.full(5, 2.0)), statistics(rbm, load(rbm, twice), np.ones(10)), rtol=1e-12
    )


def test_all_weight_on_some_rows_leaves_out_the_others():
    """Exactly: a row draws by its own number, whoever else is in the batch."""
    rbm = machine("mixture")
    answers = random_answers(rbm.visible.questions, 6, 2, missing=0.3)
    weights = np.array([0, 0.5, 0, 0, 0, 0.5])  # neither has the same place in its chunk when the others are left out
    some = gradient(rbm, CD(3), Batch(answers, np.array([1, 5]), np.array([0.5, 0.5]), 4))
    np.testing.assert_allclose(gradient(rbm, CD(3), Batch(answers, np.arange(6), weights, 4)), some, atol=1e-12)
