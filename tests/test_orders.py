"""Orders drawn whole: legal, in agreement with what is given, and as often as the formula says.

The formula is written out here by trying every combination of places, apart from the kernels' own list.
"""

from itertools import combinations, permutations, product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mvrbm import Ranking, Schema
from mvrbm.encoding import encode
from mvrbm.kernels import orders
from mvrbm.kernels.orders import draw_orders, n_draws
from mvrbm.kernels.random import Stream
from mvrbm.summary import summarise
from mvrbm.units.ranking import draw_top, top_orders
from mvrbm.visible import Visible

N = 100_000
HELD = {  # pairs that are given, by name: what they say and what follows from it
    "nothing": {},
    "one pair": {(1, 2): 0},
    "a chain": {(0, 2): 2, (0, 1): 0},  # 2 > 0 > 1, so 2 > 1
    "a tie": {(1, 3): 1},
    "a tie and a pair": {(0, 3): 1, (1, 3): 2},  # 0 = 3 > 1
    "two ties": {(0, 2): 1, (1, 3): 1},
}


def n_pairs(n_items):
    return n_items * (n_items - 1) // 2


def code(places):
    """The codes of the pairs, from a place for each item."""
    return [1 + (places[a] > places[b]) - (places[a] < places[b]) for a, b in combinations(range(len(places)), 2)]


def all_orders(n_items):
    """Every legal combination of codes, (orders, pairs)."""
    return np.array(sorted({tuple(code(places)) for places in product(range(n_items), repeat=n_items)}))


def legal(codes):
    """Whether each person's codes are an order: the number of items that beat one puts them in the same order."""
    n_items = orders.n_items_of(len(codes))
    beaten = np.zeros((n_items, codes.shape[1]), int)
    for (a, b), row in zip(combinations(range(n_items), 2), codes, strict=True):
        beaten[a] += row == 2
        beaten[b] += row == 0
    first, second = np.triu_indices(n_items, 1)
    return (codes == 1 + np.sign(beaten[first] - beaten[second])).all(axis=0)


def probabilities(table, logits, given):
    """P of each order for one column of logits, straight from the formula."""
    sums = logits[3 * np.arange(table.shape[1]) + table].sum(axis=1)
    weight = np.exp(sums) * ((table == given) | (given < 0)).all(axis=1)
    return weight / weight.sum()


def spread(n_items, rng, scale=1.0):
    return rng.normal(0, scale, 3 * n_pairs(n_items))


def hold(n_items, held):
    given = np.full(n_pairs(n_items), -1, np.int16)
    for pair, value in held.items():
        given[list(combinations(range(n_items), 2)).index(pair)] = value
    return given


def repeat(column, n, dtype):
    return np.repeat(np.asarray(column, dtype)[:, None], n, axis=1)


def draw(logits, given, seed=1, exact_up_to=orders.EXACT_UP_TO, rows=None):
    rows = np.arange(given.shape[1]) if rows is None else rows
    u = Stream(seed, 0, rows).uniform(n_draws(orders.n_items_of(len(given)), exact_up_to))
    out = np.empty_like(given)
    draw_orders(logits, given, u, out, exact_up_to)
    return out


def excess(codes, table, p):
    """How many standard deviations the chi-square of the drawn orders against p lies above its mean."""
    weights = 3 ** np.arange(len(codes))
    where = np.searchsorted(np.sort(table @ weights), weights @ codes)
    n, p = np.bincount(where, minlength=len(table)), p[np.argsort(table @ weights)]
    assert n[p == 0].sum() == 0
    expected = p * codes.shape[1]
    rare = expected < 10  # pooled, so that the chi-square is one
    n, expected = np.append(n[~rare], n[rare].sum()), np.append(expected[~rare], expected[rare].sum())
    used = expected > 0
    freedom = max(used.sum() - 1, 1)
    return (((n - expected)[used] ** 2 / expected[used]).sum() - freedom) / np.sqrt(2 * freedom)


def test_what_legal_means():
    codes = np.array([[0, 0, 0, 1, 1], [0, 2, 1, 1, 1], [0, 0, 0, 1, 0]], np.int16)
    # a > b > c; a > b, c > a, b > c goes round; a > b, a = c, b > c goes round; all tie; a = b, a = c, b > c is none
    np.testing.assert_array_equal(legal(codes), [True, False, False, True, False])
    assert [len(all_orders(m)) for m in (2, 3, 4, 5)] == [3, 13, 75, 541]
    every = np.array(list(product(range(3), repeat=6)), np.int16).T
    assert {tuple(c) for c in every.T[legal(every)]} == {tuple(c) for c in all_orders(4)}


@pytest.mark.parametrize("n_items", [2, 3, 4, 5, 6])
def test_the_list_of_orders(n_items):
    found = orders.code_pairs(orders.list_orders(n_items).T)
    np.testing.assert_array_equal(sorted(map(tuple, found.T)), all_orders(n_items))


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exact_draws(held, dtype):
    logits, given, table = spread(4, np.random.default_rng(2)), hold(4, HELD[held]), all_orders(4)
    codes = draw(repeat(logits, N, dtype), repeat(given, N, np.int16))
    assert excess(codes, table, probabilities(table, logits, given)) < 4


@pytest.mark.parametrize("n_items", [2, 3, 5])
def test_exact_draws_of_other_numbers_of_items(n_items):
    logits, given, table = spread(n_items, np.random.default_rng(3)), hold(n_items, {}), all_orders(n_items)
    codes = draw(repeat(logits, N, np.float32), repeat(given, N, np.int16))
    assert excess(codes, table, probabilities(table, logits, given)) < 4


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("turns", [1, 2, 3, 4, 9])
def test_turns_leave_the_distribution_as_it_is(held, turns):
    """People who start exactly at P are still there after any number of turns, however slowly these mix."""
    logits, given, table = spread(4, np.random.default_rng(4)), hold(4, HELD[held]), all_orders(4)
    p = probabilities(table, logits, given)
    places = {tuple(code(q)): np.unique(q, return_inverse=True)[1] for q in product(range(4), repeat=4)}
    start = np.random.default_rng(5).choice(len(table), N, p=p)
    place = np.array([places[tuple(c)] for c in table.tolist()], np.int16)[start].T.copy()
    before, after = table[start].T, np.empty((6, N), np.int16)
    assert excess(before, table, p) < 4  # the test itself
    u = Stream(6, 0, np.arange(N)).uniform(turns)
    orders.by_turns(repeat(logits, N, np.float64), repeat(given, N, np.int16), u, place, after)
    assert excess(after, table, p) < 4
    np.testing.assert_array_equal(orders.code_pairs(place), after)
    if turns > 2:
        assert (after != before).any()


@pytest.mark.parametrize("held", HELD)
def test_turns_from_nothing_reach_the_distribution(held):
    """So every order can be reached, also where items must tie."""
    logits, given, table = spread(4, np.random.default_rng(7)), hold(4, HELD[held]), all_orders(4)
    codes = draw(repeat(logits, N, np.float32), repeat(given, N, np.int16), exact_up_to=3)
    assert excess(codes, table, probabilities(table, logits, given)) < 4


def test_six_items_by_turns_as_by_list():
    """By their pairs, since 4683 orders are too many to count."""
    n, logits = 20_000, spread(6, np.random.default_rng(8))
    given = hold(6, {(0, 4): 1, (2, 3): 2})
    table = all_orders(6)
    p = probabilities(table, logits, given)
    codes = draw(repeat(logits, n, np.float32), repeat(given, n, np.int16))
    for pair in range(15):
        expected = np.bincount(table[:, pair], p, minlength=3)
        noise = np.sqrt(expected * (1 - expected) / n)
        assert (abs(np.bincount(codes[pair], minlength=3) / n - expected) <= 4.5 * noise + 1e-12).all()


def some_given(n_items, n, rng):
    """Random orders with most pairs blanked, as many as the person has luck."""
    codes = orders.code_pairs(rng.integers(0, n_items, (n_items, n)).astype(np.int16))
    return np.where(rng.random(codes.shape) < rng.random(n), codes, np.int16(-1))


@pytest.mark.parametrize("n_items", range(2, 13))
@pytest.mark.parametrize("scale", [0.3, 30.0])
def test_draws_are_legal_and_keep_what_is_given(n_items, scale):
    rng, n = np.random.default_rng(n_items), 500
    logits = rng.normal(0, scale, (3 * n_pairs(n_items), n)).astype(np.float32)
    given = some_given(n_items, n, rng)
    codes = draw(logits, given)
    assert legal(codes).all()
    np.testing.assert_array_equal(codes[given >= 0], given[given >= 0])


def test_draws_may_replace_what_is_given():
    rng = np.random.default_rng(9)
    for n_items in (4, 7):
        logits, given = rng.normal(size=(3 * n_pairs(n_items), 100)), some_given(n_items, 100, rng)
        u = rng.random((n_draws(n_items), 100))
        out = np.empty_like(given)
        draw_orders(logits, given, u, out)
        draw_orders(logits, given, u, given)
        np.testing.assert_array_equal(out, given)


@pytest.mark.parametrize("n_items", [3, 5, 6, 9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_draw_depends_on_its_own_column_alone(n_items, dtype):
    rng, n = np.random.default_rng(10), 203
    logits = rng.normal(0, 2, (3 * n_pairs(n_items), n)).astype(dtype)
    given = some_given(n_items, n, rng)
    whole = draw(logits, given)
    for cuts in ([1, 2, 40], [16, 32], [7, 100, 202]):
        chunks = np.split(np.arange(n), cuts)
        parts = [draw(logits[:, rows].copy(), given[:, rows].copy(), rows=rows) for rows in chunks]
        np.testing.assert_array_equal(np.concatenate(parts, axis=1), whole)
    back = np.arange(n)[::-1]
    np.testing.assert_array_equal(draw(logits[:, back], given[:, back], rows=back), whole[:, back])


@pytest.mark.parametrize("exact_up_to", [3, 5])
def test_given_pairs_that_contradict_each_other(exact_up_to):
    """The first ones count: 0 > 1 > 2 leaves no room for 2 > 0, whatever else is free."""
    pairs = list(combinations(range(4), 2))
    logits = np.zeros((18, 400))
    for held, kept in [
        ({(0, 1): 0, (0, 2): 2, (1, 2): 0}, {(0, 1): 0, (0, 2): 2, (1, 2): 2}),
        ({(0, 1): 1, (0, 2): 1, (1, 2): 0}, {(0, 1): 1, (0, 2): 1, (1, 2): 1}),
        ({(0, 1): 1, (0, 3): 0, (1, 3): 2}, {(0, 1): 1, (0, 3): 0, (1, 3): 0}),
    ]:
        codes = draw(logits, repeat(hold(4, held), 400, np.int16), exact_up_to=exact_up_to)
        assert legal(codes).all()
        for pair, value in kept.items():
            assert (codes[pairs.index(pair)] == value).all()
        assert len(np.unique(codes[pairs.index((2, 3))])) == 3  # nothing says how these two compare


@pytest.mark.parametrize("n_items", [3, 5, 6, 12])
def test_any_given_codes_give_an_order(n_items):
    rng = np.random.default_rng(11)
    given = rng.integers(-1, 3, (n_pairs(n_items), 300)).astype(np.int16)
    codes = draw(rng.normal(size=(3 * len(given), 300)), given)
    assert legal(codes).all()
    agreed = legal(np.where(given >= 0, given, codes))
    np.testing.assert_array_equal(codes[:, agreed][given[:, agreed] >= 0], given[:, agreed][given[:, agreed] >= 0])
    assert (codes[0] == given[0])[given[0] >= 0].all()


def test_random_numbers_at_the_ends():
    """The first and the last order that is allowed, never one that is not; rounding can make a number 0 or 1."""
    given = repeat(hold(4, {(0, 1): 2, (2, 3): 0}), 4, np.int16)
    for dtype in (np.float32, np.float64):
        ends = np.array([0, np.finfo(dtype).tiny, 1 - np.finfo(dtype).epsneg, 1], dtype)
        for exact_up_to in (3, 5):
            out = np.empty_like(given)
            u = np.repeat(ends[None], n_draws(4, exact_up_to), axis=0)
            draw_orders(np.zeros((18, 4), dtype), given, u, out, exact_up_to)
            assert legal(out).all()
            np.testing.assert_array_equal(out[given >= 0], given[given >= 0])


def test_shapes_that_do_not_fit():
    given = np.full((6, 5), -1, np.int16)
    with pytest.raises(ValueError, match="do not fit the given pairs"):
        draw_orders(np.zeros((12, 5)), given, np.zeros((1, 5)), given)
    with pytest.raises(ValueError, match="at least 4 rows"):
        draw_orders(np.zeros((18, 5)), given, np.zeros((1, 5)), given, exact_up_to=3)
    with pytest.raises(ValueError, match="4 is not the number of pairs"):
        draw_orders(np.zeros((12, 5)), given[:4], np.zeros((1, 5)), given[:4])


def test_nobody():
    for n_items in (4, 8):
        given = np.empty((n_pairs(n_items), 0), np.int16)
        assert draw(np.empty((3 * len(given), 0), np.float32), given).shape == given.shape


def test_the_chi_square_notices():
    """A distribution a little off is told apart, and pairs drawn one by one are mostly no order at all."""
    rng, table = np.random.default_rng(12), all_orders(4)
    logits, given = spread(4, rng), hold(4, {})
    codes = draw(repeat(logits, N, np.float64), repeat(given, N, np.int16))
    assert excess(codes, table, probabilities(table, logits + 0.03 * rng.normal(size=18), given)) > 5
    assert stats.binomtest(int(legal(rng.integers(0, 3, (6, 10_000))).sum()), 10_000, 75 / 729).pvalue > 1e-3


def test_choices_drawn_whole_match_their_probabilities():
    """First and second choice of four items: every pair of them listed, with and without a pair that is known."""
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((18, 1))
    table = top_orders(4, 2)
    assert len(table) == 12
    n = 6000
    for known in (None, 3):
        codes = np.full((6, n), -1, np.int16)
        if known is not None:
            codes[known] = 2
        draw_top(np.repeat(logits, n, axis=1), codes, rng.random(n), 4, 2)
        weight = np.exp(logits[3 * np.arange(6) + table, 0].sum(axis=1))
        weight *= 1 if known is None else table[:, known] == 2
        exact = weight / weight.sum()
        found = np.array([(order == codes.T).all(axis=1).mean() for order in table])
        assert found.sum() == pytest.approx(1)
        assert (np.abs(found - exact) < 5 * np.sqrt(exact * (1 - exact) / n) + 1e-9).all()


def settled(p, n_items, given=None):
    """The orders by the scores, and after they were mended."""
    n_people = p.shape[1]
    codes = np.full((n_pairs(n_items), n_people), -1, np.int16) if given is None else given.copy()
    given, score = codes.copy(), np.empty((n_items, n_people))
    orders.by_scores(p, np.array(list(combinations(range(n_items), 2))), score, codes)
    before = codes.copy()
    orders.mend(p, given, score, codes)
    return before, codes


def pair_chances(n_items, n_people, apart, rng):
    """Won, tied and lost of each pair, by what the items are worth and what sets each two apart."""
    worth, own = rng.standard_normal((n_items, n_people)), apart * rng.standard_normal((n_pairs(n_items), n_people)) / 2
    left, right = np.array(list(combinations(range(n_items), 2))).T
    logits = np.stack([worth[left] + own, (worth[left] + worth[right]) / 2 - 1, worth[right] - own], axis=1)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return np.ascontiguousarray(p).reshape(-1, n_people)


@pytest.mark.parametrize(("n_items", "best"), [(2, 1.0), (3, 1.0), (4, 0.99), (6, 0.98)])
def test_mended_orders_are_the_best_there_are(n_items, best):
    """Against every order, where pairs may go round in circles; one item at a time does not always find it."""
    p = pair_chances(n_items, 300, 1.0, np.random.default_rng(n_items))
    before, after = settled(p, n_items)
    codes = orders.code_pairs(np.array(list(permutations(range(n_items))), np.int16).T)
    missed = p[0::3].T @ (codes == 2) + p[2::3].T @ (codes == 0)  # (people, orders)

    def loss(own):
        return np.where(own == 2, p[0::3], p[2::3]).sum(axis=0)

    for own in (before, after):
        assert [c.tolist() for c in own.T if c.tolist() not in codes.T.tolist()] == []  # they are orders
    assert (loss(after) <= loss(before) + 1e-9).all()
    assert (loss(after) <= missed.min(axis=1) + 1e-9).mean() >= best
    if n_items > 2:
        assert (loss(before) <= missed.min(axis=1) + 1e-9).mean() < best, "by their scores they are not"


@pytest.mark.parametrize("paper", [False, True])
def test_a_ranking_is_mended_unless_it_is_the_papers(paper):
    """A circle: a over b by 90%, b over c by 95%, c over a by 87.5%, which is where it should break."""
    question = Ranking("r", ranks={i: i for i in "abc"}, ties=1e-6)
    summary = summarise(encode(pd.DataFrame({"a": [1.0], "b": [2.0], "c": [3.0]}), Schema([question])), [question])
    layer = Visible([question], summary, paper=paper)
    first = np.array([[0.9], [0.125], [0.95]])  # a over b, a over c, b over c
    outlook = np.log(np.stack([first, np.full_like(first, 1e-9), 1 - first], axis=1)).reshape(9, 1)
    codes = np.full((3, 1), -1, np.int16)
    layer.parts[0].block.settle(outlook, codes, np.zeros((0, 1)))
    assert codes[:, 0].tolist() == ([2, 0, 0] if paper else [0, 0, 0])  # b, a, c by the sums


def test_nothing_is_mended_where_items_have_a_worth():
    """Then the order of the scores is the best; and what is known of a person's pairs stays."""
    rng = np.random.default_rng(5)
    p = pair_chances(5, 200, 0.0, rng)
    before, after = settled(p, 5)
    np.testing.assert_array_equal(before, after)
    given = orders.code_pairs(rng.permuted(np.tile(np.arange(5, dtype=np.int16)[:, None], 200), axis=0))
    np.testing.assert_array_equal(settled(p, 5, given)[1], given)
    some = np.where(rng.random(given.shape) < 0.3, given, np.int16(-1))
    contradicted = [(codes != some)[some >= 0].mean() for codes in settled(p, 5, some)]
    assert contradicted[0] > 0.02
    assert contradicted[1] < 0.002
