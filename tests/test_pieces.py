"""Numbers in pieces: where the steps are, and what a Gaussian in pieces comes to, against sums over fine grids."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mvrbm import MVRBM, Binary, Continuous, Schema
from mvrbm.answers import Answers
from mvrbm.encoding import encode
from mvrbm.kernels import pieces
from mvrbm.summary import NEVER, Summary, summarise
from mvrbm.tables import Table
from mvrbm.training.stopping import hide
from mvrbm.units.truncated import draw_between
from mvrbm.visible import Visible

NODE, WEIGHT = np.polynomial.legendre.leggauss(250)


def steps_of(column, weights=None):
    numbers = np.asarray(column, np.float32)[:, None]
    answers = Answers(np.zeros((len(numbers), 0), np.uint8), numbers)
    return summarise(answers, [Continuous("n")], weights).steps[0]


def test_steps_part_the_answers_into_eighths_halfway_between_two_that_were_given():
    places, above, heights = steps_of([*range(1, 101), np.nan])
    np.testing.assert_array_equal(places, [13.5, 25.5, 38.5, 50.5, 63.5, 75.5, 88.5])
    np.testing.assert_allclose(above, [0.87, 0.75, 0.62, 0.5, 0.37, 0.25, 0.12])
    assert (heights == 1).all()


@pytest.mark.parametrize(("n", "pieces"), [(80, 8), (159, 8), (160, 16), (320, 32), (5000, 32)])
def test_more_answers_have_more_steps_and_those_within_eighths_are_low(n, pieces):
    places, above, heights = steps_of(np.arange(n))
    assert len(places) == pieces - 1
    np.testing.assert_allclose(above, np.arange(pieces - 1, 0, -1) / pieces, atol=1 / n)
    high = np.arange(1, pieces) % (pieces // 8) == 0
    np.testing.assert_array_equal(heights, np.where(high, 1.0, 0.3))


def test_steps_count_by_weight():
    n = np.arange(1, 101)
    places, *_ = steps_of(n, np.where(n <= 50, 3.0, 1.0))
    assert places[3] == 34.5  # half of the weight of 200 is 100, and 33 * 3 is just below it


def test_a_number_given_by_many_parts_them_once():
    places, above, _ = steps_of([0.0] * 60 + list(np.arange(1, 41) / 10))
    assert places[0] == pytest.approx(0.05)
    assert above[0] == pytest.approx(0.4)
    assert len(places) == 4
    assert (np.diff(places) > 0).all()


@pytest.mark.parametrize("column", [list(range(79)), [5.0] * 200, [np.nan] * 200], ids=["few", "constant", "blank"])
def test_no_steps(column):
    assert steps_of(column).shape == (3, 0)


def by_quadrature(z, theta, edges, heights):
    """Log of the integral, and the means of x, of its steps and of x^2."""
    mean, sd = -0.5 / theta * z[0], np.sqrt(-0.5 / theta)
    low = max(edges[0], min(mean, edges[-1]) - 15 * sd)
    high = min(edges[-1], max(mean, edges[0]) + 15 * sd)
    ends = np.unique(np.clip(edges, low, high))
    parts = []
    for left, right in itertools.pairwise(ends):
        v = left + (right - left) * (NODE + 1) / 2
        step = heights[:, None] * np.where(v > edges[1:-1, None], 0.5, -0.5)
        log_f = theta * v**2 + z[0] * v + z[1:] @ step + np.log(WEIGHT * (right - left) / 2)
        parts.append((log_f, np.concatenate([v[None], step, v[None] ** 2])))
    log_f, x = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts], axis=1)
    total = np.logaddexp.reduce(log_f)
    return total, x @ np.exp(log_f - total)


@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (-2.0, np.inf), (-np.inf, 2.5), (-2.0, 2.5)])
@pytest.mark.parametrize("n_steps", [0, 1, 4])
@pytest.mark.parametrize("size", [1.0, 8.0])
def test_pieces_against_quadrature(bounds, n_steps, size):
    rng = np.random.default_rng(n_steps)
    n, people = 1 + n_steps, 40
    fewer = int(n_steps > 1)
    edges = np.array([[bounds[0], *np.sort(rng.uniform(-1.8, 2.3, n_steps)), bounds[1]] for _ in range(2)])
    edges[0, n - fewer :] = bounds[1]  # the first has a step fewer
    heights = rng.choice([0.0, 0.3, 1.0], (2, n_steps))
    starts = np.array([0, n - fewer, 2 * n - fewer])
    z, theta = size * rng.standard_normal((starts[-1], people)), -np.exp(0.5 * rng.standard_normal(2)) / 2
    there = rng.random((2, people)) < 0.8
    x, t, log_z = np.full(z.shape, np.nan), np.full((2, people), np.nan), np.full((2, people), np.nan)
    pieces.moments(z, theta, starts, edges, heights, there, x, t)
    pieces.log_partition(z, theta, starts, edges, heights, there, log_z)
    for q, b in np.ndindex(2, people):
        own = slice(starts[q], starts[q + 1])
        m = own.stop - own.start
        if not there[q, b]:
            assert not np.any([*x[own, b], t[q, b], log_z[q, b]])
            continue
        total, expected = by_quadrature(z[own, b], theta[q], edges[q, : m + 1], heights[q, : m - 1])
        np.testing.assert_allclose(log_z[q, b], total, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose([*x[own, b], t[q, b]], expected, rtol=1e-7, atol=1e-7)


def test_what_lies_beyond_an_edge():
    edges = np.concatenate([[-np.inf], np.linspace(-49, 49, 100_001), [np.inf]])
    at, density, tail = np.empty((3, len(edges)))
    pieces._look(0.3, 1.25, edges, at, density, tail)
    np.testing.assert_array_equal(at, (edges - 0.3) / 1.25)
    near = np.abs(at) < 37.5
    np.testing.assert_allclose(tail[near], stats.norm.sf(np.abs(at[near])), rtol=1e-12)
    np.testing.assert_allclose(density[near], stats.norm.pdf(at[near]), rtol=1e-12)
    assert near.sum() > 90_000
    assert not density[~near].any()
    assert not tail[~near].any()


@pytest.mark.parametrize("far", [30.0, 300.0])
def test_what_bounds_leave_may_lie_far_out(far):
    """There the density falls as exp(-far y), and its mean is 1 / far from the bound."""
    edges, z, theta = np.array([[far, far + 1, np.inf]]), np.zeros((2, 1)), np.array([-0.5])
    x, t, log_z = np.empty((2, 1)), np.empty((1, 1)), np.empty((1, 1))
    own = z, theta, np.array([0, 2]), edges, np.ones((1, 1)), np.ones((1, 1), bool)
    pieces.moments(*own, x, t)
    pieces.log_partition(*own, log_z)
    assert x[0, 0] - far == pytest.approx(1 / far, rel=3e-3)
    assert x[1, 0] == pytest.approx(-0.5)
    assert log_z[0, 0] == pytest.approx(-(far**2) / 2 - np.log(far), abs=2e-3)


@pytest.mark.parametrize(
    ("theta", "bounds", "place", "z"),
    [
        (-0.5, (-np.inf, np.inf), 40.0, [0.0, 900.0]),
        (-0.5, (-np.inf, np.inf), 37.4, [0.0, 720.0]),
        (-0.5 * np.exp(14), (-np.inf, np.inf), 0.1, [0.0, 8000.0]),
        (-0.5, (0.0, np.inf), 25.0, [-60.0, 2500.0]),
        (-0.5, (-np.inf, np.inf), 20.0, [0.0, 204.0]),  # as much about the middle as about the step
    ],
)
def test_factors_of_pieces_may_be_far_from_each_other(theta, bounds, place, z):
    """Where most of the answers are in a piece that the Gaussian alone hardly reaches."""
    edges, heights = np.array([bounds[0], place, bounds[1]]), np.ones(1)
    x, t, log_z = np.empty((2, 1)), np.empty((1, 1)), np.empty((1, 1))
    starts, there = np.array([0, 2]), np.ones((1, 1), bool)
    own = np.array(z)[:, None], np.array([theta]), starts, edges[None], heights[None], there
    pieces.moments(*own, x, t)
    pieces.log_partition(*own, log_z)
    mean, sd = -0.5 / theta * z[0], np.sqrt(-0.5 / theta)
    ends = np.clip([mean - 12 * sd, mean, mean + 12 * sd, place - 3 * sd, place, place + 3 * sd], *bounds)
    parts = []
    for left, right in itertools.pairwise(np.unique(ends)):
        v = left + (right - left) * (NODE + 1) / 2
        step = np.where(v > place, 0.5, -0.5)
        parts.append([theta * v**2 + z[0] * v + z[1] * step + np.log(WEIGHT * (right - left) / 2), v, step, v**2])
    log_f, *features = np.concatenate(parts, axis=1)
    total = np.logaddexp.reduce(log_f)
    np.testing.assert_allclose(log_z[0, 0], total, rtol=1e-9)
    np.testing.assert_allclose([*x[:, 0], t[0, 0]], np.array(features) @ np.exp(log_f - total), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("place", [30.0, 36.0, 37.3, 37.45, 37.6, 50.0])
def test_pieces_that_hold_next_to_nothing_do_no_harm(place):
    """A mass near the least number that there is, or 0, leaves the means of the others as they are."""
    edges = np.array([[-np.inf, *np.nextafter(place, [-np.inf, np.inf]), place + 0.01, np.inf]])
    x, t, log_z = np.empty((4, 1)), np.empty((1, 1)), np.empty((1, 1))
    own = np.zeros((4, 1)), np.array([-0.5]), np.array([0, 4]), edges, np.ones((1, 3)), np.ones((1, 1), bool)
    pieces.moments(*own, x, t)
    pieces.log_partition(*own, log_z)
    np.testing.assert_allclose(x[:, 0], [0, -0.5, -0.5, -0.5], atol=1e-15)
    assert t[0, 0] == pytest.approx(1)
    assert log_z[0, 0] == pytest.approx(0.5 * np.log(2 * np.pi))


def test_a_piece_as_narrow_as_rounding_has_no_negative_mass():
    """However likely its factor makes it: log Z would be that of a negative number."""
    rng = np.random.default_rng(0)
    first = rng.uniform(-1, 1, 2000)
    for edge in first:
        edges = np.array([[-np.inf, edge, np.nextafter(edge, 2), np.inf]])
        x, t, log_z = np.empty((3, 1)), np.empty((1, 1)), np.empty((1, 1))
        own = np.array([[0.0], [80.0], [-80.0]]), np.array([-0.5]), np.array([0, 3]), edges, np.ones((1, 2))
        pieces.moments(*own, np.ones((1, 1), bool), x, t)
        pieces.log_partition(*own, np.ones((1, 1), bool), log_z)
        assert np.isfinite([*x[:, 0], t[0, 0], log_z[0, 0]]).all()


def test_draws_come_from_the_pieces():
    rng = np.random.default_rng(0)
    edges, theta = np.array([[-1.0, -0.4, 0.3, np.inf]]), np.array([-0.7])
    z, u = np.repeat([[0.5], [1.5], [-2.0]], 200_000, axis=1), rng.random((1, 200_000)).astype(np.float32)
    low, high, left = np.empty((3, *u.shape))
    heights = np.array([[1.0, 0.3]])
    pieces.choose(z, theta, np.array([0, 3]), edges, heights, u, low, high, left)
    x = -0.5 / theta[0] * z[:1] + np.sqrt(-0.5 / theta[0]) * draw_between(low, high, left)
    _, expected = by_quadrature(z[:, 0], theta[0], edges[0], heights[0])
    steps = heights[0] * ((x[0] > edges[0, 1:-1, None]).mean(axis=1) - 0.5)
    found = [x.mean(), *steps, (x**2).mean()]
    np.testing.assert_allclose(found, expected, atol=0.01)
    assert x.min() >= -1.0


def test_the_start_fits_where_the_answers_lie():
    """A machine without hidden units has the mean, the spread and the shares of a skewed number."""
    data = np.random.default_rng(0).gamma(2, size=(4000, 1)).astype(np.float32)
    answers = Answers(np.zeros((4000, 0), np.uint8), data)
    question = Continuous("n", low=0)
    visible = Visible([question], summarise(answers, [question]))
    U, base = visible.start()
    like = visible.load(answers, np.arange(1))
    x, t = visible.mean(U[:, None], visible.natural(base), like)
    expected = visible.features(visible.load(answers, np.arange(4000), np.float64))
    np.testing.assert_allclose(x[:, 0], expected.mean(axis=1), atol=2e-3)
    np.testing.assert_allclose(t[0, 0], (expected[0] ** 2).mean(), atol=1e-2)


def test_a_period_in_the_table_is_no_period_in_the_steps(monkeypatch):
    """Of long tables some rows tell where the steps are: at random, or couples would be told apart."""
    monkeypatch.setattr("mvrbm.summary._ENOUGH_ROWS", 5_000)
    rng = np.random.default_rng(0)
    first = np.arange(10_000) % 2 == 0
    _, above, _ = steps_of(np.where(first, 178.0, 160.0) + 7 * rng.standard_normal(10_000))
    np.testing.assert_allclose(above, np.arange(31, 0, -1) / 32, atol=1e-3)
    places, *_ = steps_of(np.where(first, rng.standard_normal(10_000), np.nan))
    assert len(places) == 31


def test_steps_that_an_outlier_moves_together_are_none():
    numbers = np.exp(np.random.default_rng(0).standard_normal(500))
    numbers[3] = 1e30
    assert steps_of(numbers).shape == (3, 0)
    frame = pd.DataFrame({"income": numbers, "said": ["yes", "no"] * 250})
    model = MVRBM(3, schema=Schema([Continuous("income", low=0), Binary("said")]), max_epochs=3, random_state=0)
    assert np.isfinite(model.fit(frame).score_samples(frame)).all()


def test_one_mistake_among_numbers_does_not_drown_the_rest():
    """An age of 999999 that is hidden to stop by: all else is learnt as without it."""
    rng = np.random.default_rng(0)
    said = rng.choice(["yes", "no"], 600)
    frame = pd.DataFrame({"said": said, "again": said, "age": rng.normal(50, 10, 600)})
    schema = Schema([Binary("said", values=["no", "yes"]), Binary("again", values=["no", "yes"]), Continuous("age")])
    answers = encode(Table(frame), schema)
    model = MVRBM(3, schema=schema, n_models=1, random_state=0)
    hidden = hide(answers, Visible(list(schema), summarise(answers, list(schema))), 0.1, model._settings().seed).hidden
    frame.loc[np.flatnonzero(~np.isnan(hidden.numbers[:, 0]))[0], "age"] = 999_999
    model.fit(frame)
    assert model.rbm_.visible.summary.moments[0, 2] < 20  # it is hidden
    assert model.history_.start_loss < 10  # where the mistake counts as it is, it is all that is heard of
    assert model.history_.best_epoch > 0
    assert (model.complete(frame.assign(again=None))["again"] == said).all()
    paper = MVRBM(3, schema=schema, recipe="paper", max_epochs=0, random_state=0).fit(frame).rbm_.visible
    assert paper.features(paper.load(encode(Table(frame), schema), np.arange(600)))[-1].max() > 20  # to the letter


def test_the_density_of_what_can_hardly_be():
    """Far from every hidden state the two ways to compute the same density still agree."""
    frame = pd.DataFrame({"a": np.random.default_rng(0).standard_normal(500)})
    model = MVRBM(0, schema=Schema([Continuous("a", sigma=0.02)]), random_state=0).fit(frame)
    far = pd.DataFrame({"a": [1.0, 1.5, 2.0, -2.0, 3.0]})
    np.testing.assert_allclose(model.score_samples(far), model.score_samples(far, kind="ais"), rtol=1e-3)


def test_the_density_beyond_what_counts_as_far():
    """A number 30 standard deviations off is one of 15 to hidden units, in the machine's density and in the grid's."""
    frame = pd.DataFrame({"a": np.random.default_rng(0).standard_normal(500)})
    model = MVRBM(0, schema=Schema([Continuous("a")]), random_state=0).fit(frame)
    sd, mean = frame["a"].std(ddof=0), frame["a"].mean()
    far = pd.DataFrame({"a": mean + sd * np.array([14.0, 15.1, 30.0, -30.0])})
    score = model.score_samples(far)
    np.testing.assert_allclose(score, model.score_samples(far, kind="ais"), rtol=1e-3)
    assert score[0] > score[1] == pytest.approx(score[2])


def test_the_effect_of_a_number_is_with_its_steps():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.standard_normal(4000)})
    model = MVRBM(3, schema=Schema([Continuous("a")]), max_epochs=0, random_state=0).fit(frame)
    model.rbm_.parameters.W[:] = rng.standard_normal(model.rbm_.parameters.W.shape)
    visible = model.rbm_.visible
    answers = Answers(np.zeros((4000, 0), np.uint8), frame.to_numpy(np.float32))
    inputs = model.rbm_.parameters.W.T @ visible.features(visible.load(answers, np.arange(4000)))
    slopes = np.polyfit(visible.features(visible.load(answers, np.arange(4000)))[0], inputs.T, 1)[0]
    told = model.feature_answers().set_index("feature")["weight"]
    np.testing.assert_allclose(told.loc[["mvrbm0", "mvrbm1", "mvrbm2"]], slopes, atol=0.05)


def test_what_comes_with_a_number_need_not_rise_with_it():
    """Yes in the middle of a number's range, no at its ends: without steps a machine as small finds little of it."""
    rng = np.random.default_rng(0)
    number = rng.standard_normal(1500)
    said = np.where(np.abs(number) < 0.7, "yes", "no")
    frame = pd.DataFrame({"number": number, "said": said})
    train, test = frame.iloc[:1200], frame.iloc[1200:]
    model = MVRBM(4, random_state=0).fit(train)
    guessed = model.complete(test.assign(said=None))["said"]
    assert (guessed != test["said"]).mean() < 0.12


def test_numbers_with_fewer_steps_are_drawn_beside_those_with_more():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"whole": rng.integers(0, 4, 300) * 1.0, "fine": rng.standard_normal(300)})
    few = frame.mask(rng.random(frame.shape) < 0.3)
    schema = Schema([Continuous("whole"), Continuous("fine")])
    model = MVRBM(3, schema=schema, max_epochs=5, n_models=1, random_state=0).fit(few)
    places, above, heights = model.rbm_.visible.summary.steps.transpose(1, 0, 2)
    assert (places < NEVER).sum(axis=1).tolist() == [3, 15]
    assert not above[places == NEVER].any()
    assert not heights[places == NEVER].any()
    (drawn,) = model.complete(few, draws=1)
    known = few.notna().to_numpy()
    np.testing.assert_allclose(drawn.to_numpy()[known], few.to_numpy()[known], rtol=1e-6)
    assert np.isfinite(model.sample(50).to_numpy(float)).all()
    assert np.isfinite(drawn.to_numpy()).all()


def numbers_of_few_and_many_steps():
    """Answers to a number of four values, to one of many, to one that 40 people answer and to one with a bound."""
    rng = np.random.default_rng(0)
    few, fine, rare, bounded = rng.integers(0, 4, 400), *rng.standard_normal((2, 400)), rng.gamma(2, size=400)
    rare[40:] = bounded[200:] = np.nan
    numbers = np.stack([few, fine, rare, bounded], axis=1).astype(np.float32)
    questions = [Continuous("few"), Continuous("fine"), Continuous("rare"), Continuous("bounded", low=0)]
    return questions, Answers(np.zeros((400, 0), np.uint8), numbers)


def test_a_number_has_a_feature_for_itself_and_for_each_of_its_own_steps():
    questions, answers = numbers_of_few_and_many_steps()
    visible = Visible(questions, summarise(answers, questions))
    own_steps = (visible.summary.steps[:, 0] < NEVER).sum(axis=1)
    assert own_steps.tolist() == [3, 31, 0, 15]
    assert np.diff([*visible.feature_start, visible.n_features]).tolist() == (1 + own_steps).tolist()
    assert visible.n_features == 4 + own_steps.sum()
    assert (~visible.for_hidden_units).nonzero()[0].tolist() == visible.feature_start.tolist()
    x = visible.features(visible.load(answers, np.arange(400), np.float64))
    assert (x.std(axis=1) > 0.02).all()  # none is dead
    for q, (start, n) in enumerate(zip(visible.feature_start, own_steps, strict=True)):
        number, there = answers.numbers[:, q], ~np.isnan(answers.numbers[:, q])
        _, mean, sd = visible.summary.moments[q]
        place, _, height = visible.summary.steps[q, :, :n, None]
        expected = [[(number - mean) / sd], height * np.where(number > place, 0.5, -0.5)]
        np.testing.assert_allclose(x[start : start + 1 + n], np.where(there, np.concatenate(expected), 0.0), rtol=1e-6)
    U, base = visible.start()
    like = visible.load(answers, np.arange(1), np.float64)
    like.numbers[:] = 0
    found, _ = visible.mean(U[:, None], visible.natural(base), like)
    answered = np.repeat(~np.isnan(answers.numbers).T, 1 + own_steps, axis=0)
    np.testing.assert_allclose(found[:, 0], x.sum(axis=1) / answered.sum(axis=1), atol=5e-3)


@pytest.mark.parametrize("q", range(4))
def test_a_number_is_the_same_beside_numbers_with_more_steps(q):
    questions, answers = numbers_of_few_and_many_steps()
    summary = summarise(answers, questions)
    column, steps = Answers(answers.codes, answers.numbers[:, [q]]), summary.steps[[q]]
    own = Summary(summary.counts, summary.moments[[q]], steps[:, :, steps[0, 0] < NEVER])
    both, alone = Visible(questions, summary), Visible([questions[q]], own)
    (here,), (there,) = both.parts, alone.parts
    rng, people = np.random.default_rng(1), 60
    start = both.feature_start[q]
    own = slice(start, start + alone.n_features)
    z, U = rng.standard_normal((2, both.n_features, people))
    W, P, theta = rng.standard_normal((both.n_features, 5)), rng.random((5, people)), -rng.uniform(0.3, 2, 4)
    chunks = both.load(answers, np.arange(people), np.float64), alone.load(column, np.arange(people), np.float64)

    np.testing.assert_array_equal(both.features(chunks[0])[own], alone.features(chunks[1]))
    statistics = [v.base_statistics(c, v.features(c)) for v, c in zip((both, alone), chunks, strict=True)]
    np.testing.assert_array_equal(statistics[0][[q]], statistics[1])
    x, t = both.mean(z, theta, chunks[0])
    own_x, own_t = alone.mean(z[own], theta[[q]], chunks[1])
    np.testing.assert_array_equal(x[own], own_x)
    np.testing.assert_array_equal(t[[q]], own_t)
    log_z = both.log_partition(z, theta, chunks[0]), alone.log_partition(z[own], theta[[q]], chunks[1])
    np.testing.assert_array_equal(log_z[0][[q]], log_z[1])
    np.testing.assert_array_equal(both.decide(z, theta).numbers[[q]], alone.decide(z[own], theta[[q]]).numbers)
    np.testing.assert_allclose(both.effects(W)[[q]], alone.effects(W[own]), rtol=1e-12)

    u, drawn, own_drawn = rng.random((4, people)), np.empty((4, people)), np.empty((1, people))
    none = np.zeros((0, people), np.int16)
    here.block.sample(z, theta, u, none, drawn)
    there.block.sample(z[own], theta[[q]], u[[q]], none, own_drawn)
    np.testing.assert_array_equal(drawn[[q]], own_drawn)

    outlook = here.block.outlook(P, U, W, theta, np.ones((4, people), bool))
    own_outlook = there.block.outlook(P, U[own], W[own], theta[[q]], np.ones((1, people), bool))
    names, told = here.block.chances(q, outlook)
    assert (names, told.shape) == (["mean", "sd", "5%", "25%", "50%", "75%", "95%"], (7, people))
    np.testing.assert_allclose(told, there.block.chances(0, own_outlook)[1], rtol=1e-12)
    log_p = here.block.log_prob(outlook, none, chunks[0].numbers)[[q]]
    np.testing.assert_allclose(log_p, there.block.log_prob(own_outlook, none, chunks[1].numbers), rtol=1e-12)

    listed, own_listed = (
        here.block.listed(np.array([3, q] if q < 3 else [q]), U, W, theta),
        there.block.listed(np.array([0]), U[own], W[own], theta[[q]]),
    )
    of_it = listed.unit == len(listed.sizes) - 1
    np.testing.assert_array_equal(listed.features[-alone.n_features :], np.arange(own.start, own.stop))
    np.testing.assert_array_equal(listed.X[-alone.n_features :, of_it], own_listed.X)
    np.testing.assert_array_equal(listed.T[-1:, of_it], own_listed.T)
    np.testing.assert_array_equal(listed.log_measure[of_it], own_listed.log_measure)
    assert not listed.X[: -alone.n_features, of_it].any()
    assert not listed.X[-alone.n_features :, ~of_it].any()
