"""Energy, posterior, conditional and free energy of every type, against every answer and hidden state listed."""

import numpy as np
import pytest

import mvrbm
from mvrbm.kernels.random import Stream
from mvrbm.likelihood import ais, exact_log_z, log_likelihood
from mvrbm.rbm import RBM, with_ones
from mvrbm.summary import Summary
from mvrbm.visible import Chunk, Visible
from oracle import CASES, Oracle, machine, questions_of, random_answers


def listed(rbm, oracle):
    answers = oracle.answers()
    return rbm.visible.load(answers, np.arange(answers.n_rows), rbm.dtype)


def some_subset(rbm):
    """Every second question."""
    return list(range(0, rbm.visible.n_questions, 2))


def hidden_states(rbm, oracle):
    H = with_ones(rbm.n_hidden, len(oracle.states), rbm.dtype)
    H[:-1] = oracle.states.T
    return H


def one_row(chunk):
    return Chunk(chunk.codes[:, :1].copy(), chunk.numbers[:, :1].copy())


# answers are float32, so numbers carry a rounding of 1e-7 of their size into the energies
TOLERANCE = {"rtol": 1e-5, "atol": 3e-5}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("part", ["all", "some"])
@pytest.mark.parametrize("linked", [False, True])
def test_energy_and_free_energy(case, part, linked):
    rbm = machine(case, linked=linked)
    oracle = Oracle(rbm, None if part == "all" else some_subset(rbm))
    chunk = listed(rbm, oracle)
    joint = oracle.log_joint() - oracle.log_measure[:, None]
    for n, state in enumerate(oracle.states):
        H = with_ones(rbm.n_hidden, chunk.n_rows, rbm.dtype)
        H[:-1] = state[:, None]
        np.testing.assert_allclose(-rbm.energy(chunk, H), joint[:, n], **TOLERANCE)
    np.testing.assert_allclose(-rbm.free_energy(chunk), np.logaddexp.reduce(joint, axis=1), **TOLERANCE)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("part", ["all", "some"])
@pytest.mark.parametrize("linked", [False, True])
def test_posterior(case, part, linked):
    rbm = machine(case, linked=linked)
    oracle = Oracle(rbm, None if part == "all" else some_subset(rbm))
    joint = oracle.log_joint()
    p = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    H = rbm.posterior(listed(rbm, oracle))
    np.testing.assert_allclose(H[:-1], (p @ oracle.states).T, **TOLERANCE)
    assert (H[-1] == 1).all()


@pytest.mark.parametrize("case", CASES)
def test_conditional_of_answers_given_hidden_units(case):
    """log P(v_i | h), its partition function and the means of x and t, of each question by itself."""
    rbm = machine(case)
    z = rbm.visible_inputs(hidden_states(rbm, Oracle(rbm, [0])), np.empty(0))
    for i in range(rbm.visible.n_questions):
        oracle = Oracle(rbm, [i])
        chunk = listed(rbm, oracle)
        logits = (oracle.log_measure + oracle.G)[:, None] + oracle.H @ oracle.states.T
        log_z = np.logaddexp.reduce(logits, axis=0)
        probability = np.exp(logits - log_z)
        x = rbm.visible.features(chunk)
        t = rbm.visible.base_statistics(chunk, x)
        for n in range(len(oracle.states)):
            zn = np.repeat(z[:, n : n + 1], chunk.n_rows, axis=1)
            log_prob = rbm.visible.log_prob(chunk, zn, rbm.theta).sum(axis=0)
            np.testing.assert_allclose(log_prob + oracle.log_measure, logits[:, n] - log_z[n], **TOLERANCE)
            first = one_row(chunk)
            log_partition = rbm.visible.log_partition(zn[:, :1], rbm.theta, first)
            np.testing.assert_allclose(log_partition.sum(), log_z[n], **TOLERANCE)
            mean_x, mean_t = rbm.visible.mean(zn[:, :1], rbm.theta, first)
            np.testing.assert_allclose(mean_x[:, 0], x @ probability[:, n], **TOLERANCE)
            np.testing.assert_allclose(mean_t[:, 0], t @ probability[:, n], **TOLERANCE)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("linked", [False, True])
def test_conditional_free_energy_gives_the_predictive_distribution(case, linked):
    """P(v_i | others) in proportion to exp(-F(v_i | others)), in the machine of the questions asked and answered."""
    rbm = machine(case, linked=linked)
    last = rbm.visible.n_questions - 1
    others = some_subset(rbm)
    others = [i for i in others if i != last]
    oracle = Oracle(rbm, [*others, last], told=others)
    at = oracle.index[:, :-1]
    fixed = at[len(at) // 3]
    rows = np.flatnonzero((at == fixed).all(axis=1))
    weight = oracle.probabilities()[rows]
    whole = listed(rbm, oracle)
    chunk = Chunk(whole.codes[:, rows], whole.numbers[:, rows])
    asked = np.ones((rbm.visible.n_questions, 1), bool)
    asked[list(rbm.visible.question_order).index(last)] = False
    given = rbm.visible.keep_only(chunk, asked)
    p = np.exp(-rbm.free_energy(chunk, given) + oracle.log_measure[rows])
    np.testing.assert_allclose(p / p.sum(), weight / weight.sum(), **TOLERANCE)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("part", ["all", "some"])
@pytest.mark.parametrize("told", [False, True])
def test_exact_log_z_and_likelihood(case, part, told):
    rbm = machine(case, told=told)
    oracle = Oracle(rbm, None if part == "all" else some_subset(rbm))
    chunk = listed(rbm, oracle)
    log_z = exact_log_z(rbm, one_row(chunk))
    np.testing.assert_allclose(log_z, oracle.log_z(), rtol=1e-7, atol=1e-7)
    log_p = log_likelihood(rbm, chunk, log_z) + oracle.log_measure
    np.testing.assert_allclose(np.exp(log_p).sum(), 1, rtol=1e-5)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("linked", [False, True])
def test_ais_agrees_with_the_exact_sum(case, linked):
    rbm = machine(case, size=0.5, linked=linked)
    oracle = Oracle(rbm, some_subset(rbm) if case == "mixture" else None)
    pattern = one_row(listed(rbm, oracle))
    found = ais(rbm, pattern, n_chains=200, n_steps=200, seed=1)
    assert 0 < found.error < 0.2
    assert abs(found.value - oracle.log_z()) < 4 * found.error


def test_with_links_an_exact_sum_is_refused():
    rbm = machine("mixture", linked=True)
    with pytest.raises(ValueError, match="use ais"):
        exact_log_z(rbm, one_row(listed(rbm, Oracle(rbm, [0]))))


def test_leaving_a_blank_out_is_not_summing_over_it():
    """The machine restricted to what is answered differs from the full machine with blanks summed out."""
    rbm = machine("binary")
    rbm.parameters.joint[:-1, :-1], rbm.parameters.U[:], rbm.parameters.w[:] = 2.5, 0, -1
    both, one = Oracle(rbm), Oracle(rbm, [0])
    summed = both.probabilities().reshape(2, 2).sum(axis=1)
    assert abs(summed - one.probabilities()).max() > 0.01
    chunk = listed(rbm, one)
    p = np.exp(log_likelihood(rbm, chunk, exact_log_z(rbm, one_row(chunk))))
    np.testing.assert_allclose(p, one.probabilities(), rtol=1e-9)


def test_float32_agrees_with_float64():
    for case in CASES:
        exact, fast = machine(case), machine(case, dtype=np.float32)
        answers = random_answers(exact.visible.questions, 50, 3, missing=0.3)
        rows = np.arange(50)
        a, b = exact.visible.load(answers, rows, np.float64), fast.visible.load(answers, rows)
        H = fast.posterior(b)
        np.testing.assert_allclose(H, exact.posterior(a), atol=3e-6)
        np.testing.assert_allclose(fast.free_energy(b), exact.free_energy(a), rtol=1e-5, atol=2e-5)
        H = H.astype(np.float64)
        np.testing.assert_allclose(
            fast.log_prob_given(b, H.astype(np.float32), fast.features(b)),
            exact.log_prob_given(a, H, exact.features(a)),
            rtol=1e-4,
            atol=1e-4,
        )


@pytest.mark.parametrize("blank", range(len(questions_of("mixture"))))
def test_a_question_that_nobody_answers_changes_nothing(blank):
    """Whatever its parameters: posterior, free energy, log-probabilities and log Z are of the questions answered."""
    rbm = machine("mixture")
    chunk = rbm.visible.load(random_answers(rbm.visible.questions, 20, 5, missing=0.2), np.arange(20), np.float64)
    keep = np.ones((rbm.visible.n_questions, 1), bool)
    keep[blank] = False
    chunk = rbm.visible.keep_only(chunk, keep)

    def seen():
        H = rbm.posterior(chunk)
        log_z = np.array([exact_log_z(rbm, Chunk(chunk.codes[:, [b]], chunk.numbers[:, [b]])) for b in range(20)])
        return H, rbm.free_energy(chunk), rbm.log_prob_given(chunk, H, rbm.features(chunk)), log_z

    before = seen()
    starts = [*rbm.visible.feature_start, rbm.visible.n_features]
    rbm.parameters.joint[starts[blank] : starts[blank + 1]] = 3.21
    rbm.parameters.base[rbm.visible.base_question == blank] = 1.23
    rbm.refresh()
    for old, new in zip(before, seen(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_store_is_the_inverse_of_load():
    rbm = machine("mixture")
    answers = random_answers(rbm.visible.questions, 30, 1, missing=0.4)
    rows = np.arange(30)[::-1].copy()
    chunk = rbm.visible.load(answers, rows)
    other = random_answers(rbm.visible.questions, 30, 2)
    rbm.visible.store(chunk, other, rows)
    np.testing.assert_array_equal(other.codes, answers.codes)
    np.testing.assert_array_equal(other.numbers, answers.numbers)


def decided(rbm, z):
    return rbm.visible.decide(z, rbm.theta)


def expected_loss(part, q, answer, answers, p):
    """The mean of question q's error if one answer is given to people whose own are `answers`, with probabilities p."""
    codes, numbers = (
        np.repeat(answer[0][part.codes], len(p), axis=1),
        np.repeat(answer[1][part.numbers], len(p), axis=1),
    )
    given = (codes, numbers, answers[0][part.codes], answers[1][part.numbers])
    if part.block.questions[0].kind == "multicategorical":  # F1 is no mean over people: count wrong options instead
        return p @ ((codes != given[2]) & (given[2] >= 0)).sum(axis=0)
    each = [part.block.errors(*(array[:, [n]] for array in given), np.ones(1)) for n in range(len(p))]
    return p @ np.array(each)[:, q, 0]


def may_be_decided(question, codes):
    """Rankings are decided without ties, and are orders: of three items, a over b and b over c but not c over a."""
    if question.kind != "ranking":
        return np.ones(codes.shape[1], bool)
    circles = [[[0], [2], [0]], [[2], [0], [2]]] if question.n_values == 3 else []
    circular = [(codes == np.array(circle)).all(axis=0) for circle in circles]
    return (codes != 1).all(axis=0) & ~np.any(circular, axis=0)


@pytest.mark.parametrize("case", [c for c in CASES if c not in ("mixture", "paper", "non-empty")])
def test_decisions_lose_least(case):
    """No other answer has a smaller expected error under P(v | z), with every answer and its probability listed."""
    rbm = machine(case)
    z = 1.5 * np.random.default_rng(3).standard_normal((rbm.visible.n_features, 12))
    chosen = decided(rbm, z)
    (part,) = rbm.visible.parts
    for i, question in enumerate(rbm.visible.questions):
        oracle = Oracle(rbm, [i])
        chunk = listed(rbm, oracle)
        answers = (chunk.codes, chunk.numbers)
        own = chunk.codes[rbm.visible.cell_question[: len(chunk.codes)] == i]
        legal = np.flatnonzero(may_be_decided(question, own))
        for b in range(z.shape[1]):
            log_p = rbm.visible.log_prob(chunk, np.repeat(z[:, [b]], chunk.n_rows, axis=1), rbm.theta).sum(axis=0)
            p = np.exp(log_p + oracle.log_measure)
            ours = expected_loss(part, i, (chosen.codes[:, [b]], chosen.numbers[:, [b]]), answers, p)
            others = legal[:: max(1, len(legal) // 8)]  # numbers are many; of the rest all
            best = min(expected_loss(part, i, (chunk.codes[:, [n]], chunk.numbers[:, [n]]), answers, p) for n in others)
            assert ours <= best + 1e-4


def test_a_choice_that_may_not_be_empty_is_not():
    rbm = machine("non-empty")
    z = np.random.default_rng(0).standard_normal((rbm.visible.n_features, 50)) - 2
    codes = decided(rbm, z).codes
    for own in (slice(0, 2), slice(2, 5)):
        assert codes[own].any(axis=0).all()
        np.testing.assert_array_equal(
            codes[own].argmax(axis=0)[(z[own] < 0).all(axis=0)], z[own].argmax(axis=0)[(z[own] < 0).all(axis=0)]
        )


def test_the_paper_decides_by_the_mode():
    rbm = machine("paper")
    part = next(p for p in rbm.visible.parts if p.block.questions[0].kind == "ordinal")
    z = np.zeros((rbm.visible.n_features, 1))
    z[part.features, 0] = [3.0, 0.0, 0.0]  # Phi z rises with the level
    assert decided(rbm, z).codes[part.codes][0, 0] == 2
    z[part.features, 0] = [0.1, 0.0, 0.0]  # nearly even: the mode is an end, the median the middle
    assert decided(rbm, z).codes[part.codes][0, 0] == 2


def test_numbers_are_rounded_and_kept_within_bounds():
    question = mvrbm.Continuous("n", low=0, high=10, integer=True)
    summary = Summary(np.zeros((0, 3)), np.array([[9.0, 5.0, 2.0]]))
    for paper in (True, False):
        rbm = RBM.start(Visible([question], summary, paper=paper), 0, 0)
        numbers = decided(rbm, np.linspace(-50, 50, 41, dtype=np.float32)[None]).numbers
        assert ((numbers >= 0) & (numbers <= 10)).all()
        np.testing.assert_array_equal(numbers, np.rint(numbers))
        assert numbers.min() < 1
        assert numbers.max() > 9


def bounded(base, low=-1.0, high=2.0, dtype=np.float32, **more):
    """A machine without hidden units over one bounded number of mean 0 and standard deviation 1."""
    summary = Summary(np.zeros((0, 3)), np.array([[9.0, 0.0, 1.0]]))
    rbm = RBM.start(Visible([mvrbm.Continuous("n", low=low, high=high, **more)], summary), 0, 0, dtype=dtype)
    rbm.parameters.base[:] = base
    rbm.refresh()
    return rbm


@pytest.mark.parametrize("base", [-30.0, -6.0, 0.0, 3.0, 14.0])
@pytest.mark.parametrize("z", [-300.0, -3.0, 0.0, 2.0, 300.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_bounded_number_far_from_its_mean(base, z, dtype):
    """Density, mean and draws agree with a sum over a fine grid, however flat or far out the Gaussian."""
    rbm = bounded(base, dtype=dtype)
    edges = np.linspace(-1, 2, 200_001)
    v = (edges[1:] + edges[:-1]) / 2
    log_p = float(rbm.theta[0]) * v**2 + z * v
    p = np.exp(log_p - log_p.max())
    log_z = np.log(p.sum() * (v[1] - v[0])) + log_p.max()
    p /= p.sum()
    chunk = Chunk(np.zeros((0, 5), np.int16), np.linspace(-1, 2, 5, dtype=dtype)[None])
    zs = np.full((1, 5), z, dtype)
    expected = float(rbm.theta[0]) * chunk.numbers[0].astype(float) ** 2 + z * chunk.numbers[0] - log_z
    np.testing.assert_allclose(rbm.visible.log_prob(chunk, zs, rbm.theta)[0], expected, rtol=1e-3, atol=2e-3)
    mean, _ = rbm.visible.mean(zs, rbm.theta, chunk)
    np.testing.assert_allclose(mean[0], p @ v, atol=2e-3)
    n = 4000
    drawn = rbm.visible.sample(np.full((1, n), z, dtype), rbm.theta, Stream(3, 1, np.arange(n))).numbers[0]
    assert ((drawn >= -1) & (drawn <= 2)).all()
    share = np.searchsorted(np.sort(drawn), edges[1:]) / n
    assert abs(share - np.cumsum(p)).max() < 2 / np.sqrt(n) + 1e-3  # Kolmogorov and Smirnov


@pytest.mark.parametrize("paper", [False, True])
def test_a_sigma_that_is_given_stays(paper):
    for sigma in (1e-4, 0.01, 5.0, 50.0):
        summary = Summary(np.zeros((0, 3)), np.array([[9.0, 3.0, 2.0], [9.0, 0.0, 1.0]]))
        questions = [mvrbm.Continuous("n", sigma=sigma, low=0), mvrbm.Continuous("m", low=-3, high=3)]
        rbm = RBM.start(Visible(questions, summary, paper=paper), 0, 0, dtype=np.float64)
        assert np.sqrt(-0.5 / rbm.theta[0]) == pytest.approx(sigma)


def test_the_paper_has_sigma_1_gamma_1_and_no_bounds():
    summary = Summary(np.ones((3, 4)), np.array([[9.0, 0.0, 1.0]]))
    questions = [mvrbm.Continuous("n", low=-1, high=1), mvrbm.Ranking("r", ranks={"x": "x", "y": "y", "z": "z"})]
    rbm = RBM.start(Visible(questions, summary, paper=True), 2, 0)
    np.testing.assert_allclose(rbm.theta, [-0.5, 0.0])
    np.testing.assert_array_equal(rbm.theta_slope, [0, 0])
    drawn = rbm.visible.sample(np.zeros((4, 500), np.float32), rbm.theta, Stream(0, 0, np.arange(500)))
    assert abs(drawn.numbers).max() > 2


@pytest.mark.parametrize("z", [[-100.0, -101.0], [-800.0, -799.0], [3.0, 40.0]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_choice_that_may_not_be_empty_however_unlikely(z, dtype):
    """Against the three answers that are left, in logarithms."""
    question = mvrbm.Multicategorical("m", columns={"x": "x", "y": "y"}, allow_empty=False)
    rbm = RBM.start(Visible([question], Summary(np.ones((2, 3)), np.zeros((0, 3)))), 0, 0, dtype=dtype)
    logs = np.array([z[0], z[1], z[0] + z[1]])
    log_z = np.logaddexp.reduce(logs)
    p = np.exp(logs - log_z)
    inputs, like = np.repeat(np.array(z, dtype)[:, None], 2000, axis=1), rbm.visible.blank(2000, dtype)
    like.codes[:] = 1
    np.testing.assert_allclose(rbm.visible.log_partition(inputs, rbm.theta, like)[0], log_z, rtol=1e-5)
    mean, _ = rbm.visible.mean(inputs, rbm.theta, like)
    np.testing.assert_allclose(mean[:, 0], [p[0] + p[2], p[1] + p[2]], rtol=1e-4)
    drawn = rbm.visible.sample(inputs, rbm.theta, Stream(0, 0, np.arange(2000))).codes
    assert drawn.any(axis=0).all()
    np.testing.assert_allclose(drawn.mean(axis=1), [p[0] + p[2], p[1] + p[2]], atol=0.05)


def test_a_pattern_is_one_row():
    rbm = machine("binary")
    two = rbm.visible.load(random_answers(rbm.visible.questions, 2, 0), np.arange(2), np.float64)
    for function in (exact_log_z, ais):
        with pytest.raises(ValueError, match="one row, not 2"):
            function(rbm, two)
    with pytest.raises(ValueError, match="at least 2 chains"):
        ais(rbm, one_row(two), n_chains=1)
