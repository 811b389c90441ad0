"""Predictive distributions, completion and scores, against every answer and hidden state listed."""

import numpy as np
import pytest
from scipy import optimize, special
from scipy.interpolate import CubicSpline

from mvrbm import Continuous, Multicategorical, inference
from mvrbm.answers import Answers
from mvrbm.rbm import RBM
from mvrbm.summary import Summary
from mvrbm.units.continuous import QUANTILES
from mvrbm.units.multicategorical import MulticategoricalBlock
from mvrbm.visible import Visible
from oracle import CASES, Oracle, location_and_scale, machine, random_answers, steps_of


def people(rbm, n=6, seed=4):
    return random_answers(rbm.visible.questions, n, seed, missing=0.35)


def cell_slices(questions):
    """Where each question's codes or numbers stand in the answers."""
    code, number, found = 0, 0, []
    for q in questions:
        found.append((slice(code, code + q.n_codes), slice(number, number + q.n_numbers)))
        code, number = code + q.n_codes, number + q.n_numbers
    return found


def weights_given(rbm, answers, row, question):
    """log of the unnormalised probability of every listed answer to a question, given the row's other answers.

    The machine is that of the answers that the row gives, and this question; its partial answers go, too.
    """
    lines, a = listed_and_inputs(rbm, answers, row, question)
    states = Oracle(rbm, [question]).states
    joint = (lines.G + lines.log_measure)[:, None] + states @ a + lines.H @ states.T
    return lines, np.logaddexp.reduce(joint, axis=1)


def listed_and_inputs(rbm, answers, row, question):
    """Every answer to a question, and the hidden units' inputs from the row's other answers."""
    own = cell_slices(rbm.visible.questions)
    given = [
        i
        for i in range(len(own))
        if i != question
        and ((answers.codes[row, own[i][0]] != 255).any() or (~np.isnan(answers.numbers[row, own[i][1]])).any())
    ]
    oracle = Oracle(rbm, [question])
    a = oracle.w.copy()
    for i in given:
        listed = Oracle(rbm, [i]).listed[i]
        a += features_times_weights(rbm, listed, i, answers, row, own[i])
    return oracle.listed[question], a


def features_times_weights(rbm, listed, question, answers, row, own):
    """H_k(v) of one given answer, some of whose options or pairs may be blank."""
    if rbm.visible.questions[question].n_numbers:  # between two steps it is a line
        number = answers.numbers[row, own[1]][0]
        first, *_, last = np.flatnonzero(listed.piece == piece_of(rbm, question, number))
        share = (number - listed.numbers[first, 0]) / (listed.numbers[last, 0] - listed.numbers[first, 0])
        return (1 - share) * listed.H[first] + share * listed.H[last]
    codes = answers.codes[row, own[0]]
    there = codes != 255
    # answers that differ only in one cell tell what that cell adds
    total = np.zeros(listed.H.shape[1])
    kind = rbm.visible.questions[question].kind
    base = listed.codes[0]
    for cell in np.flatnonzero(there):
        if kind == "multicategorical":
            one = next(n for n, c in enumerate(listed.codes) if c[cell] == 1 and c.sum() == 1)
            total += listed.H[one] * codes[cell]
        elif kind == "ranking":
            like = base.copy()
            like[cell] = codes[cell]
            match = next(n for n, c in enumerate(listed.codes) if (c == like).all())
            total += listed.H[match] - listed.H[0] + pair_alone(rbm, question, cell)
        else:
            total += listed.H[next(n for n, c in enumerate(listed.codes) if c[0] == codes[0])]
    return total


def piece_of(rbm, question, number):
    return sum(number > step for step in steps_of(rbm, question))


def pair_alone(rbm, question, cell):
    """What the first item's winning one pair adds: the item's weights, by the paper over M, else the pair's too."""
    visible = rbm.visible
    place = list(visible.question_order).index(question)
    start = visible.feature_start[place]
    q = visible.questions[question]
    W = rbm.parameters.W[start:].astype(float)
    first = W[q.pairs[cell][0]]
    return first / q.n_values if visible.paper else first + W[q.n_values + cell] / 4


CHECKED = [case for case in CASES if case != "non-empty"]


@pytest.mark.parametrize("case", CHECKED)
def test_chances_against_enumeration(case):
    rbm = machine(case)
    answers = people(rbm)
    for question, q in enumerate(rbm.visible.questions):
        names, p = inference.chances(rbm, answers, question)
        for row in range(answers.n_rows):
            listed, log_w = weights_given(rbm, answers, row, question)
            exact = np.exp(log_w - np.logaddexp.reduce(log_w))
            if len(names) == q.n_values and q.kind in ("binary", "categorical", "ordinal", "count"):
                np.testing.assert_allclose(p[row], exact, atol=1e-5)
                assert names == q.values
            elif q.kind == "continuous":
                v = listed.numbers[:, 0]
                mean = exact @ v
                if not rbm.visible.paper:
                    np.testing.assert_allclose(p[row, 0], mean, atol=2e-3)
                    np.testing.assert_allclose(p[row, 1], np.sqrt(exact @ (v - mean) ** 2), atol=3e-3)
                    below = np.interp(p[row, 2:], v, np.cumsum(exact) - exact / 2)
                    np.testing.assert_allclose(below, QUANTILES, atol=0.01)
            elif q.kind == "count":
                v = listed.codes[:, 0]
                mean = exact @ v
                np.testing.assert_allclose(p[row, :2], [mean, np.sqrt(exact @ (v - mean) ** 2)], atol=1e-4)
                assert p[row, 2:].tolist() == [np.searchsorted(np.cumsum(exact), share) for share in QUANTILES]
            else:
                # given the other questions alone, an option or a pair is summed over the rest of its own question
                # only where that leaves it as it is: here each is asked about by itself
                single = one_by_one(rbm, answers, row, question)
                np.testing.assert_allclose(p[row], single, atol=1e-5)


def log_p(rbm, chunk, question, value):
    """log P of one value of each code or number of a question, given the other questions, (cells, people)."""
    codes, numbers = rbm.visible.cells_of(question)
    part = rbm.visible.parts[inference._part_of(rbm.visible, question)[0]]
    ((_, outlook),) = inference.each_question(rbm, chunk, [question])
    asked = np.where(codes, value, -1).astype(np.int16), np.where(numbers, value, np.nan)
    each = [np.broadcast_to(cells, (len(cells), chunk.n_rows)) for cells in asked]
    own = outlook[rbm.visible.parts.index(part)]
    found = part.block.log_prob(own, each[0][part.codes], each[1][part.numbers])
    return found[codes[part.codes, 0] if part.block.n_codes else numbers[part.numbers, 0]]


@pytest.mark.parametrize("case", CHECKED)
@pytest.mark.parametrize("linked", [False, True])
def test_several_machines_say_the_mean_of_their_logarithms(case, linked):
    """Each machine by itself is one of the test above; of numbers, whose mean is spread anew, by their differences."""
    rbm, *others = machines = [machine(case, told=linked, linked=linked) for _ in range(3)]
    for other, seed in zip(others, (5, 6), strict=True):
        other.parameters.vector[:] = machine(case, seed=seed, told=linked, linked=linked).parameters.vector
        other.refresh()
    chunk = rbm.visible.load(people(rbm), np.arange(6), np.float64)
    levels = {"binary": 2, "multicategorical": 2, "ranking": 3}
    for question, q in enumerate(rbm.visible.questions):
        values = np.linspace(1.2, 2.8, 5) if q.n_numbers else range(levels.get(q.kind) or q.n_values)
        rbm.others = []
        expected = np.array([[log_p(one, chunk, question, value) for one in machines] for value in values]).mean(axis=1)
        rbm.others = others
        found = np.array([log_p(rbm, chunk, question, value) for value in values])
        if q.n_numbers:
            np.testing.assert_allclose(found - found[0], expected - expected[0], atol=2e-3)
        else:
            np.testing.assert_allclose(found, expected - np.logaddexp.reduce(expected, axis=0), atol=1e-6)


def one_by_one(rbm, answers, row, question):
    """P of each option, or of each order of each pair, in the machine of the other questions and this one cell."""
    q = rbm.visible.questions[question]
    oracle = Oracle(rbm, [question])
    own = cell_slices(rbm.visible.questions)
    a = oracle.w.copy()
    for i in range(len(own)):
        there = (answers.codes[row, own[i][0]] != 255).any() or (~np.isnan(answers.numbers[row, own[i][1]])).any()
        if i != question and there:
            a += features_times_weights(rbm, Oracle(rbm, [i]).listed[i], i, answers, row, own[i])
    visible, found = rbm.visible, []
    place = list(visible.question_order).index(question)
    start = int(visible.feature_start[place])
    U, W = rbm.parameters.U.astype(float)[start:], rbm.parameters.W.astype(float)[start:]

    def log_weight(g, h):
        return g + np.logaddexp.reduce(oracle.states @ (a + h))

    if q.kind == "multicategorical":
        for m in range(q.n_values):
            yes, no = log_weight(U[m], W[m]), log_weight(0.0, 0 * W[m])
            found.append(1 / (1 + np.exp(no - yes)))
        return found
    base = float(rbm.theta[visible.base_question == place][0])
    M = q.n_values if rbm.visible.paper else 1
    for n, (left, right) in enumerate(q.pairs, start=q.n_values):
        apart = (0.0, 0 * W[0]) if rbm.visible.paper else (U[n] / 4, W[n] / 4)
        w = [
            log_weight(U[left] / M + apart[0], W[left] / M + apart[1]),
            log_weight(base + (U[left] + U[right]) / (2 * M), (W[left] + W[right]) / (2 * M)),
            log_weight(U[right] / M - apart[0], W[right] / M - apart[1]),
        ]
        p = np.exp(w - np.logaddexp.reduce(w))
        found += [p[0], p[2]]
    return found


@pytest.mark.parametrize("case", CHECKED)
def test_completion_is_the_decision_on_the_chances(case):
    """What is filled is what the chances of each blank say; what was given stays to the bit."""
    rbm = machine(case)
    answers = people(rbm, 12)
    filled, sure = inference.complete(rbm, answers)
    given = answers.codes != 255
    np.testing.assert_array_equal(filled.codes[given], answers.codes[given])
    np.testing.assert_array_equal(
        filled.numbers[~np.isnan(answers.numbers)], answers.numbers[~np.isnan(answers.numbers)]
    )
    assert (filled.codes != 255).all()
    assert np.isfinite(filled.numbers).all()
    assert np.isnan(sure[:, : answers.codes.shape[1]][given]).all()
    assert (sure[:, : answers.codes.shape[1]][~given] > 0).all()
    own = cell_slices(rbm.visible.questions)
    for question, q in enumerate(rbm.visible.questions):
        blank = (answers.codes[:, own[question][0]] == 255).all(axis=1) & np.isnan(
            answers.numbers[:, own[question][1]]
        ).all(axis=1)
        if q.kind not in ("binary", "categorical", "ordinal", "count") or not blank.any():
            continue
        names, p = inference.chances(rbm, answers, question)
        code = filled.codes[:, own[question][0]][:, 0]
        if len(names) != q.n_values:
            expected = p[:, names.index("50%")]
        elif q.kind == "count" or (q.kind == "ordinal" and not rbm.visible.paper):
            expected = (np.cumsum(p, axis=1)[:, :-1] < 0.5).sum(axis=1)
        else:
            expected = p.argmax(axis=1)
        np.testing.assert_array_equal(code[blank], expected[blank])


def test_the_answer_asked_about_does_not_matter():
    """Changing a question's own answer changes no prediction of it."""
    rbm = machine("mixture")
    answers = people(rbm)
    for question, (codes, numbers) in enumerate(cell_slices(rbm.visible.questions)):
        other = Answers(answers.codes.copy(), answers.numbers.copy())
        other.codes[:, codes] = 255
        other.numbers[:, numbers] = np.nan
        np.testing.assert_allclose(
            inference.chances(rbm, answers, question)[1], inference.chances(rbm, other, question)[1], atol=1e-6
        )
        predicted, again = (inference.predict(rbm, a, [question]) for a in (answers, other))
        np.testing.assert_array_equal(predicted.codes[:, codes], again.codes[:, codes])


@pytest.mark.parametrize("case", ["binary", "categorical", "ordinal", "continuous", "continuous bounded"])
def test_scores_against_enumeration(case):
    rbm = machine(case)
    answers = people(rbm)
    scores = inference.log_scores(rbm, answers)
    own = cell_slices(rbm.visible.questions)
    for row in range(answers.n_rows):
        each = []
        for question, q in enumerate(rbm.visible.questions):
            listed, log_w = weights_given(rbm, answers, row, question)
            log_p = log_w - np.logaddexp.reduce(log_w)
            if q.n_codes and answers.codes[row, own[question][0]][0] != 255:
                each.append(log_p[answers.codes[row, own[question][0]][0]])
            elif q.n_numbers and not np.isnan(answers.numbers[row, own[question][1]][0]):
                scale = location_and_scale(rbm, question)[1]
                number = answers.numbers[row, own[question][1]][0]
                near = listed.piece == piece_of(rbm, question, number)
                density = (log_p - listed.log_measure - np.log(scale))[near]
                each.append(CubicSpline(listed.numbers[near, 0], density)(number))
        expected = np.mean(each) if each else np.nan
        np.testing.assert_allclose(scores[row], expected, atol=5e-3)


@pytest.mark.parametrize("case", ["continuous", "continuous bounded", "mixture"])
def test_a_row_is_completed_alone_as_in_company(case):
    rbm = machine(case)
    answers = people(rbm, 12)
    together, sure = inference.complete(rbm, answers)
    for row in range(12):
        alone, own = inference.complete(rbm, answers.take(slice(row, row + 1)))
        np.testing.assert_array_equal(alone.codes[0], together.codes[row])
        np.testing.assert_allclose(alone.numbers[0], together.numbers[row], rtol=1e-6)
        np.testing.assert_allclose(own[0], sure[row], rtol=1e-5)


def test_a_row_with_no_answer_gets_what_the_empty_machine_says():
    rbm = machine("mixture")
    answers = people(rbm, 3)
    blank = Answers(np.full_like(answers.codes, 255), np.full_like(answers.numbers, np.nan))
    filled, _ = inference.complete(rbm, blank)
    assert (filled.codes == filled.codes[0]).all()
    assert np.isnan(inference.log_scores(rbm, blank)).all()


def _options(n, slope=1.0, height=0.0, seed=0):
    """Questions of two, of ten and again of two options (the last with a threshold), and what n people chose of them.

    The options' true log-odds are slope * z + height.
    """
    rng = np.random.default_rng(seed)
    names = {"often": "ab", "rare": "cdefghijkl", "set": "mn"}
    questions = [
        Multicategorical(name, columns={o: o for o in options}, threshold=0.8 if name == "set" else None)
        for name, options in names.items()
    ]
    block = MulticategoricalBlock(questions, Summary(np.ones((14, 3)), np.zeros((0, 3))), paper=False)
    sizes = np.repeat([2, 10, 2], [2, 10, 2])
    log_odds = rng.normal(np.where(sizes == 10, -2.0, 1.0)[:, None], 1.5, (14, n))
    codes = (rng.random(log_odds.shape) < special.expit(log_odds)).astype(np.int16)
    codes[rng.random(codes.shape) < 0.3] = -1
    return block, sizes, (log_odds - height) / slope, codes, rng.integers(1, 4, n).astype(float)


def _f1(at, options, sizes, z, codes, weights):
    hit = total = 0.0
    for o in options:
        there, chosen = codes[o] >= 0, codes[o] == 1
        guessed = there & (z[o] >= at)
        hit += weights @ (chosen & guessed) / sizes[o]
        total += weights @ (chosen.astype(int) + guessed) / sizes[o]
    return 2 * hit / total


@pytest.mark.parametrize(("slope", "height"), [(1.0, 0.0), (0.4, 0.0), (1.0, 1.5), (0.6, -1.0)])
def test_the_threshold_of_choose_any_questions_makes_the_f1_of_all_together_largest(slope, height):
    """Of many people, however wrong the log-odds are in slope and height; each question weighs 1/M."""
    block, *known = _options(20_000, slope, height)
    block.tune(*known[1:])
    (found,) = np.unique(block.threshold[:12])
    grid = np.linspace(-4, 4, 81)
    assert _f1(found, range(12), *known) > max(_f1(at, range(12), *known) for at in grid) - 0.001
    alone = [grid[np.argmax([_f1(at, options, *known) for at in grid])] for options in (range(2), range(2, 12))]
    assert alone[0] > found + 0.1  # one for each would choose more of what is hit less
    assert alone[1] < found - 0.1
    np.testing.assert_allclose(block.threshold[12:], np.log(0.8 / 0.2))  # what is given stays


def test_the_threshold_of_a_few_people_follows_their_probabilities():
    """By brute force: the line of the largest penalised likelihood, and the F1 that its probabilities expect."""
    block, sizes, z, codes, weights = _options(40, 0.7, 0.5, seed=1)
    block.tune(z, codes, 5 * weights)  # how large weights are, all together, says nothing
    there = codes[:12] >= 0
    y, own = (codes[:12] == 1)[there], z[:12][there]
    weight = np.multiply.outer(1 / sizes[:12], weights)[there]

    def loss(line):
        p = special.expit(line[0] * own + line[1])
        off = (line[0] - 1) ** 2 + line[1] ** 2
        return -(weight / weight.mean()) @ np.log(np.where(y, p, 1 - p)) + off / (2 * 0.1**2)

    slope, height = optimize.minimize(loss, (1, 0), method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9}).x
    assert 0.7 < slope < 0.95  # between what is true and what is told
    assert 0.05 < height < 0.5
    p = special.expit(slope * own + height)
    f1 = max(2 * weight @ (p * (p >= cut)) / (weight @ (p + (p >= cut))) for cut in p)
    np.testing.assert_allclose(slope * block.threshold[:12] + height, special.logit(f1 / 2), atol=1e-3)


def test_the_threshold_stays_where_few_options_were_chosen():
    block, _, z, codes, weights = _options(40)
    few = codes.copy()
    few[:12][codes[:12] == 1] = np.where(np.arange((codes[:12] == 1).sum()) < 19, 1, 0)
    block.tune(z, few, weights)
    np.testing.assert_array_equal(block.threshold[:12], 0)
    block.tune(z, codes, weights)
    assert (block.threshold[:12] != 0).all()


@pytest.mark.parametrize("case", ["binary", "ordinal", "multicategorical", "mixture"])
@pytest.mark.parametrize("linked", [False, True])
def test_draws_match_the_enumerated_conditional(case, linked):
    """Draws of the blanks given a person's answers, from the full machine: each question's share of each answer."""
    rbm = machine(case, size=0.5, linked=linked)
    n = 4000
    one = random_answers(rbm.visible.questions, 1, 8, missing=0.5)
    answers = one.take(np.zeros(n, int))
    (drawn,) = inference.draw(rbm, answers, 1, seed=3, burn_in=60)
    given = one.codes[0] != 255
    assert (drawn.codes[:, given] == one.codes[0, given]).all()
    own = cell_slices(rbm.visible.questions)
    told = [
        i for i, (codes, numbers) in enumerate(own) if given[codes].any() or not np.isnan(one.numbers[0, numbers]).all()
    ]
    oracle = Oracle(rbm, told=told)
    listed, p = oracle.answers(), oracle.probabilities()
    for column in np.flatnonzero(given):
        p = p * (listed.codes[:, column] == one.codes[0, column])
    for column in np.flatnonzero(~np.isnan(one.numbers[0])):
        nearest = np.abs(listed.numbers[:, column] - one.numbers[0, column])
        p = p * (nearest == nearest.min())
    p = p / p.sum()
    checked = 0
    for codes, _ in own:
        for column in range(codes.start, codes.stop):
            if not given[column]:
                exact = np.bincount(listed.codes[:, column], p, minlength=8)
                found = np.bincount(drawn.codes[:, column], minlength=8) / n
                floor = np.sqrt(exact * (1 - exact) / n)
                assert (np.abs(found - exact) <= 5 * floor + 0.01).all(), (column, found, exact)
                checked += 1
    assert checked


@pytest.mark.parametrize("bias", [-40.0, -12.0, -3.0, -0.5, 0.0, 0.7, 4.0, 15.0, 60.0])
@pytest.mark.parametrize("bounds", [(0.5, 6.5), (0.5, None), (None, 6.5), (None, None)])
def test_a_number_that_piles_up_at_a_bound(bias, bounds):
    """Without hidden units the grid's mean and spread are those of the cut-off Gaussian, however far out its peak."""
    question = Continuous("n", low=bounds[0], high=bounds[1])
    visible = Visible([question], Summary(np.zeros((0, 3)), np.array([[100.0, 2.0, 1.5]])))
    rbm = RBM.start(visible, 0, 0, dtype=np.float64)
    rbm.parameters.U[:] = bias
    rbm.parameters.base[:] = -0.8
    rbm.refresh()
    blank = Answers(np.zeros((1, 0), np.uint8), np.full((1, 1), np.nan, np.float32))
    _, p = inference.chances(rbm, blank, 0)
    x, t = np.empty((1, 1)), np.empty((1, 1))
    block = visible.parts[0].block
    block.mean(np.array([[bias]]), rbm.theta, np.zeros((0, 1), np.int16), np.zeros((1, 1)), x, t)
    mean, sd = 1.5 * x[0, 0] + 2.0, 1.5 * np.sqrt(max(t[0, 0] - x[0, 0] ** 2, 0.0))
    np.testing.assert_allclose(p[0, 0], mean, atol=0.02 * sd + 1e-6)
    np.testing.assert_allclose(p[0, 1], sd, rtol=0.03)


@pytest.mark.parametrize(("base", "size"), [(0.0, 1.0), (-3.0, 1.0), (0.0, 25.0)])
def test_a_cut_mixture_far_beyond_its_bound(base, size):
    """Hidden units that push a bounded number far out, against a grid as wide and fine as it takes.

    With the largest weights the product over the hidden units leaves the range of numbers.
    """
    question = Continuous("n", low=0.0)
    visible = Visible([question], Summary(np.zeros((0, 3)), np.array([[100.0, 2.0, 1.5]])))
    rbm = RBM.start(visible, 12, 0, dtype=np.float64)
    rng = np.random.default_rng(0)
    rbm.parameters.U[:] = -2.3
    rbm.parameters.W[:] = size * rng.standard_normal((1, 12))
    rbm.parameters.w[:] = rng.standard_normal(12)
    rbm.parameters.base[:] = base
    rbm.refresh()
    blank = Answers(np.zeros((1, 0), np.uint8), np.full((1, 1), np.nan, np.float32))
    _, p = inference.chances(rbm, blank, 0)
    x = np.linspace(-2.0 / 1.5, 200.0, 400_001)
    log_p = rbm.theta[0] * x**2 - 2.3 * x
    log_p += np.logaddexp(0, rbm.parameters.w[:, None] + rbm.parameters.W[0][:, None] * x).sum(axis=0)
    weight = np.exp(log_p - log_p.max())
    weight /= weight.sum()
    mean = weight @ x
    np.testing.assert_allclose(p[0, 0], 1.5 * mean + 2.0, rtol=2e-3)
    np.testing.assert_allclose(p[0, 1], 1.5 * np.sqrt(weight @ (x - mean) ** 2), rtol=5e-3)


@pytest.mark.parametrize("case", CHECKED)
def test_the_mean_field_of_the_appendix_satisfies_its_equations(case):
    """Q(v) given Q(h), and Q(h) given Q(v) and the other answers, listed; "mean-field" is the first round."""
    rbm = machine(case, size=0.4)
    answers = people(rbm, 4)
    for question, q in enumerate(rbm.visible.questions):
        for how in ("mean-field", "iterated"):
            names, p = inference.chances(rbm, answers, question, how=how)
            for row in range(answers.n_rows):
                listed, a = listed_and_inputs(rbm, answers, row, question)
                hidden = 1 / (1 + np.exp(-a))
                for _ in range(500 if how == "iterated" else 0):
                    log_q = listed.G + listed.log_measure + listed.H @ hidden
                    v = np.exp(log_q - np.logaddexp.reduce(log_q))
                    hidden = 1 / (1 + np.exp(-a - v @ listed.H))
                log_q = listed.G + listed.log_measure + listed.H @ hidden
                v = np.exp(log_q - np.logaddexp.reduce(log_q))
                if q.kind == "continuous":
                    np.testing.assert_allclose(p[row, 0], v @ listed.numbers[:, 0], atol=2e-3)
                elif names[0] == "mean":
                    np.testing.assert_allclose(p[row, 0], v @ listed.codes[:, 0], atol=1e-4)
                elif q.kind == "multicategorical":
                    np.testing.assert_allclose(p[row], v @ listed.codes, atol=1e-5)
                elif q.kind == "ranking":
                    won = [v @ (listed.codes[:, pair] == code) for pair in range(q.n_codes) for code in (0, 2)]
                    np.testing.assert_allclose(p[row], won, atol=1e-5)
                else:
                    np.testing.assert_allclose(p[row], v, atol=1e-5)
                    assert names == q.values


def test_how_is_one_of_three():
    rbm = machine("binary")
    with pytest.raises(ValueError, match="how must be one of 'exact', 'mean-field', 'iterated', not 'magic'"):
        inference.chances(rbm, people(rbm), 0, how="magic")


@pytest.mark.parametrize("case", [case for case in CASES if case not in ("non-empty", "paper")])
@pytest.mark.parametrize("linked", [False, True])
def test_a_mean_field_outlook_is_the_conditional_given_the_posterior(case, linked):
    """What is asked about, one code or number a question, has log P(v | h) with h at the posterior of the others."""
    rbm = machine(case, linked=linked)
    rbm.mean_field = True
    answers = people(rbm)
    chunk = rbm.visible.load(answers, np.arange(answers.n_rows), rbm.dtype)
    for question, outlook in inference.each_question(rbm, chunk, range(rbm.visible.n_questions)):
        mine = rbm.visible.question_order == question
        rest = rbm.visible.keep_only(chunk, ~mine[:, None])
        own = rbm.visible.keep_only(chunk, mine[:, None])
        expected = rbm.log_prob_given(own, rbm.posterior(rest), rbm.features(rest))[mine][0]
        found = 0.0
        for part, its in zip(rbm.visible.parts, outlook, strict=True):
            log_p = part.block.log_prob(its, own.codes[part.codes], own.numbers[part.numbers])
            scale = part.block.scale if part.block.n_numbers else 1.0  # a density in the person's own units
            found = found + np.where(log_p != 0, log_p + np.log(scale), 0.0).sum(axis=0)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=2e-4)
