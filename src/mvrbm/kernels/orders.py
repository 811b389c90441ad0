"""Orders of items in which ties are allowed, drawn whole, so that no answer prefers a to b, b to c and c to a.

An order is coded as one code for each pair of items, in the order of `itertools.combinations`: 0 the first is
preferred, 1 they tie, 2 the second is. Pair p has its three logits in rows 3p, 3p + 1 and 3p + 2, and the probability
of an order is proportional to e^(the sum of the logits of its codes). Most combinations of codes are no order at all:
what drawing each pair by itself gives is not this distribution.

Few items: every order is listed and one is drawn exactly. More: each item in turn is taken out and put back, with its
exact probability given the order of the others; so there is no proposal to reject and no ratio to get wrong.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvrbm.kernels.compile import exp, kernel

EXACT_UP_TO = 5  # items: they have 541 orders, six have 4683
SWEEPS = 30  # in which each item is put back once
_LANES = 16  # people at a time: a cache line of float32, and the same arithmetic wherever a chunk ends
_WORTH_MOVING = 1e-5  # of a pair, so that rounding moves nothing
_FREE, _TIED, _BEFORE = np.int8(0), np.int8(1), np.int8(2)


def n_draws(n_items: int, exact_up_to: int = EXACT_UP_TO) -> int:
    """How many random numbers the order of one person takes."""
    return 1 if n_items <= exact_up_to else SWEEPS * n_items


def draw_orders(
    logits: NDArray[np.floating],
    given: NDArray[np.int16],
    u: NDArray[np.floating],
    out: NDArray[np.int16],
    exact_up_to: int = EXACT_UP_TO,
) -> None:
    """Draw an order of the items for each person that agrees with the pairs already given.

    `logits` (3 * pairs, people) are finite; `given` (pairs, people) is -1 where a pair is free; `u` are numbers in
    (0, 1), `n_draws` rows of them, and more rows are more sweeps; `out` may be `given` itself. A person's draw
    depends on nothing but their own columns. Where given pairs contradict each other, they count in the order of the
    pairs, and one that contradicts those before it is left out.
    """
    n_pairs, n_items = len(given), n_items_of(len(given))
    least = 1 if n_items <= exact_up_to else n_items  # one sweep, without which there is no order at all
    if logits.shape != (3 * n_pairs, given.shape[1]) or out.shape != given.shape:
        raise ValueError(f"logits {logits.shape} and out {out.shape} do not fit the given pairs {given.shape}")
    if len(u) < least or u.shape[1] != given.shape[1]:
        raise ValueError(f"u {u.shape} must have at least {least} rows and as many people as given {given.shape}")
    if n_items <= exact_up_to:
        from_list(logits, given, u, code_rows(n_items), out)
    else:
        place = np.full((n_items, given.shape[1]), -1, np.int16)
        by_turns(logits, given, u, place, out)


def n_items_of(n_pairs: int) -> int:
    """The number of items that have so many pairs."""
    n_items = (1 + math.isqrt(1 + 8 * n_pairs)) // 2
    if n_pairs < 1 or n_items * (n_items - 1) // 2 != n_pairs:
        raise ValueError(f"{n_pairs} is not the number of pairs of any number of items")
    return n_items


@cache
def list_orders(n_items: int) -> NDArray[np.int16]:
    """The place of each item in every order, (orders, items); places count from 0 without gaps."""
    orders: list[list[int]] = [[]]
    for _ in range(n_items):
        orders = [new for order in orders for new in _with_one_more(order)]
    table = np.array(orders, np.int16)
    table.flags.writeable = False  # all callers share it
    return table


def _with_one_more(order: list[int]) -> list[list[int]]:
    places = max(order, default=-1) + 1
    joined = [[*order, p] for p in range(places)]
    between = [[*(q + (q >= p) for q in order), p] for p in range(places + 1)]
    return joined + between


def code_pairs(place: NDArray[np.int16]) -> NDArray[np.int16]:
    """The code of each pair, (pairs, people), from the place of each item, (items, people)."""
    first, second = np.triu_indices(len(place), 1)
    codes: NDArray[np.int16] = (1 + np.sign(place[first] - place[second])).astype(np.int16)
    return codes


@cache
def code_rows(n_items: int) -> NDArray[np.int64]:
    """The row of the logits that each order takes from each pair, (orders, pairs)."""
    codes = code_pairs(list_orders(n_items).T)
    rows = np.ascontiguousarray((3 * np.arange(len(codes))[:, None] + codes).T, np.int64)
    rows.flags.writeable = False
    return rows


@kernel
def _link(relation: Any, a: int, b: int, kind: Any) -> None:
    """Put a before b, or level with it, and all that follows from it."""
    for x in range(len(relation)):
        if relation[x, a] != _FREE:
            for y in range(len(relation)):
                if relation[b, y] != _FREE:
                    relation[x, y] = max(max(relation[x, y], relation[x, a]), max(relation[b, y], kind))


@kernel
def _relate(given: Any, relation: Any) -> int:
    """relation[a, b] = before, tied or free, as one person's given pairs say or imply; count the pairs left free."""
    n_items, pair, free = len(relation), -1, 0
    relation[:] = _FREE
    for a in range(n_items):
        relation[a, a] = _TIED
    for a in range(n_items):
        for b in range(a + 1, n_items):
            pair += 1
            if relation[a, b] != _FREE or relation[b, a] != _FREE:
                continue  # it says what is known already, or contradicts it
            if given[pair] == 0:
                _link(relation, a, b, _BEFORE)
            elif given[pair] == 2:
                _link(relation, b, a, _BEFORE)
            elif given[pair] == 1:
                _link(relation, a, b, _TIED)
                _link(relation, b, a, _TIED)
    for a in range(n_items):
        for b in range(a + 1, n_items):
            free += relation[a, b] == _FREE and relation[b, a] == _FREE
    return free


@kernel
def _rule_out(relation: Any, logits: Any, lane: int) -> None:
    """Make the logit of each code that contradicts what is known minus infinity."""
    pair = -1
    for a in range(len(relation)):
        for b in range(a + 1, len(relation)):
            pair += 1
            before, after = relation[a, b], relation[b, a]
            if before == _FREE and after == _FREE:
                continue
            if before != _BEFORE:
                logits[3 * pair, lane] = -np.inf
            if before != _TIED:
                logits[3 * pair + 1, lane] = -np.inf
            if after != _BEFORE:
                logits[3 * pair + 2, lane] = -np.inf


@kernel
def _weigh(logits: Any, rows: Any, weight: Any, top: Any) -> None:
    """weight[r] = e^(the sum of order r's logits - the largest sum), or 0 for an order that is ruled out."""
    zero = weight.dtype.type(0)
    top[:] = -np.inf
    for r in range(len(rows)):
        line = weight[r]
        line[:] = zero
        for p in range(rows.shape[1]):
            own = logits[rows[r, p]]
            for i in range(_LANES):
                line[i] += own[i]
        for i in range(_LANES):
            top[i] = max(top[i], line[i])
    for r in range(len(rows)):
        line = weight[r]
        for i in range(_LANES):
            line[i] = exp(line[i] - top[i]) if line[i] > -np.inf else zero


@kernel
def _choose(weight: Any, u: Any, running: Any, chosen: Any) -> None:
    """The order at which the running sum of weights passes u times their sum; never one without weight."""
    goal = np.zeros(_LANES)
    for r in range(len(weight)):
        for i in range(_LANES):
            goal[i] += weight[r, i]
    for i in range(_LANES):
        goal[i] *= u[i]
    running[:] = 0
    chosen[:] = 0
    for r in range(len(weight)):
        for i in range(_LANES):
            chosen[i] = r if weight[r, i] > 0 and running[i] <= goal[i] else chosen[i]
            running[i] += weight[r, i]


@kernel
def from_list(logits: Any, given: Any, u: Any, rows: Any, out: Any) -> None:
    """Draw each person's order from the list of all of them."""
    n_pairs, n_people = given.shape
    n_items = (1 + int(math.sqrt(1 + 8 * n_pairs))) // 2
    relation = np.empty((n_items, n_items), np.int8)
    own, weight = np.zeros((3 * n_pairs, _LANES), logits.dtype), np.empty((len(rows), _LANES), logits.dtype)
    top, goal = np.empty(_LANES, logits.dtype), np.full(_LANES, 0.5)
    running, chosen = np.empty(_LANES), np.empty(_LANES, np.int64)
    for first in range(0, n_people, _LANES):
        few = min(_LANES, n_people - first)
        for k in range(3 * n_pairs):
            for i in range(few):
                own[k, i] = logits[k, first + i]
        for i in range(few):
            goal[i] = u[0, first + i]
            if _relate(given[:, first + i], relation) < n_pairs:
                _rule_out(relation, own, i)
        _weigh(own, rows, weight, top)
        _choose(weight, goal, running, chosen)
        for p in range(n_pairs):
            for i in range(few):
                out[p, first + i] = rows[chosen[i], p] - 3 * p


@kernel
def _load(logits: Any, b: int, wins: Any, ties: Any) -> None:
    """wins[i, j] = person b's logit of i before j, ties[i, j] that of a tie."""
    row = 0
    for i in range(len(wins)):
        for j in range(i + 1, len(wins)):
            wins[i, j], wins[j, i] = logits[row, b], logits[row + 2, b]
            ties[i, j] = ties[j, i] = logits[row + 1, b]
            row += 3


@kernel
def _take_out(item: int, relation: Any, place: Any) -> None:
    """Take an item out of the order with all that must tie with it, and close the place if it is left empty."""
    at, empty = place[item], True
    if at < 0:
        return
    for j in range(len(place)):
        if relation[item, j] == _TIED:
            place[j] = -1
        elif place[j] == at:
            empty = False
    if empty:
        for j in range(len(place)):
            place[j] -= place[j] > at


@kernel
def _steps(item: int, wins: Any, ties: Any, relation: Any, place: Any, join: Any, leap: Any) -> tuple[int, int]:
    """What it adds to the sum of logits to join place p (join), or stand behind it (leap), rather than before it.

    Return the first and the last gap in which the item may stand; gap p is before place p.
    """
    n_items, low, high = len(place), 0, 0
    for j in range(n_items):
        join[j] = leap[j] = 0
        high = max(high, place[j] + 1)
    for i in range(n_items):
        if relation[item, i] != _TIED:
            continue
        for j in range(n_items):
            if place[j] >= 0:
                join[place[j]] += ties[i, j] - wins[i, j]
                leap[place[j]] += wins[j, i] - wins[i, j]
    for j in range(n_items):
        if place[j] >= 0 and relation[j, item] == _BEFORE:
            low = max(low, place[j] + 1)
        if place[j] >= 0 and relation[item, j] == _BEFORE:
            high = min(high, place[j])
    return low, high


@kernel
def _pick(join: Any, leap: Any, low: int, high: int, u: Any, weight: Any) -> int:
    """Draw where to stand: 2p for gap p, 2p + 1 for place p."""
    last = 2 * (high - low)
    score = top = total = weight.dtype.type(0)
    weight[0] = score
    for p in range(high - low):
        weight[2 * p + 1] = score + join[low + p]
        score += leap[low + p]
        weight[2 * p + 2] = score
        top = max(top, max(weight[2 * p + 1], score))
    for k in range(last + 1):
        weight[k] = exp(weight[k] - top)
        total += weight[k]
    goal, running, chosen = u * total, weight[0], 0
    while running <= goal and chosen < last:
        chosen += 1
        running += weight[chosen]
    return 2 * low + chosen


@kernel
def _put_back(item: int, where: int, relation: Any, place: Any) -> None:
    """Put an item, and all that must tie with it, into a place, or into a gap that becomes a place."""
    at = where // 2
    for j in range(len(place)):
        if where % 2 == 0 and place[j] >= at:
            place[j] += 1
    for j in range(len(place)):
        if relation[item, j] == _TIED:
            place[j] = at


@kernel
def by_turns(logits: Any, given: Any, u: Any, place: Any, out: Any) -> None:
    """Take out and put back each item in turn, as often as u has rows.

    `place` (items, people) is where to start, and where it ends; -1 is an item not yet placed, so that the first
    sweep builds an order. Items that must tie move together: apart, neither could move at all. What is known
    leaves each of them somewhere to stand, since it includes all that it implies.
    """
    n_items, n_people = place.shape
    wins, ties = np.zeros((n_items, n_items), logits.dtype), np.zeros((n_items, n_items), logits.dtype)
    join, leap = np.empty(n_items, logits.dtype), np.empty(n_items, logits.dtype)
    weight = np.empty(2 * n_items + 1, logits.dtype)
    relation, own = np.empty((n_items, n_items), np.int8), np.empty(n_items, np.int64)
    for b in range(n_people):
        _load(logits, b, wins, ties)
        free = _relate(given[:, b], relation)
        own[:] = place[:, b]
        for turn in range(u.shape[0] if free else n_items):
            item = turn % n_items
            _take_out(item, relation, own)
            low, high = _steps(item, wins, ties, relation, own, join, leap)
            _put_back(item, _pick(join, leap, low, high, u[turn, b], weight), relation, own)
        pair = 0
        for i in range(n_items):
            place[i, b] = own[i]
            for j in range(i + 1, n_items):
                out[pair, b] = 1 + np.sign(own[i] - own[j])
                pair += 1


@kernel
def by_scores(p: Any, pairs: Any, score: Any, codes: Any) -> None:
    """Put each person's items in the order of their scores: the sums of what they win and half of what they tie.

    p is (3 pairs, people); pairs that `codes` knows count as they are. The first of two equals is put first.
    """
    score[:] = 0.0
    for pair in range(len(pairs)):
        left, right = score[pairs[pair, 0]], score[pairs[pair, 1]]
        won, tied, lost = p[3 * pair], p[3 * pair + 1], p[3 * pair + 2]
        for b in range(codes.shape[1]):
            code = codes[pair, b]
            half = (0.5 if code == 1 else 0.0) if code >= 0 else tied[b] * 0.5
            left[b] += half + ((1.0 if code == 0 else 0.0) if code >= 0 else won[b])
            right[b] += half + ((1.0 if code == 2 else 0.0) if code >= 0 else lost[b])
    for pair in range(len(pairs)):
        left, right = score[pairs[pair, 0]], score[pairs[pair, 1]]
        for b in range(codes.shape[1]):
            codes[pair, b] = np.int16(0) if left[b] >= right[b] else np.int16(2)


@kernel
def mend(p: Any, given: Any, score: Any, codes: Any) -> None:
    """Move items, one at a time, to where most pairs are expected to be right, from the order of the scores on.

    For pairs that follow from what items are worth, that order is the best there is, and nothing moves. A pair that
    `given` knows outweighs all others of an item. A person's order depends on nothing but their own columns.
    """
    n_items, n_people = score.shape
    ahead, order = np.zeros((n_items, n_items)), np.empty(n_items, np.int64)
    for b in range(n_people):
        pair = 0
        for i in range(n_items):
            for j in range(i + 1, n_items):
                code = given[pair, b]
                open_ = np.float64(p[3 * pair, b]) - np.float64(p[3 * pair + 2, b])
                ahead[i, j] = n_items * (1.0 - code) if code >= 0 else open_
                ahead[j, i] = -ahead[i, j]
                pair += 1
        for i in range(n_items):  # by insertion, so that the first of equals stays first
            at = i
            while at > 0 and score[order[at - 1], b] < score[i, b]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = i
        for _ in range(n_items):
            moved = False
            for item in range(n_items):
                moved = _move(item, ahead, order) or moved
            if not moved:
                break
        for at in range(n_items):
            score[order[at], b] = n_items - at
        pair = 0
        for i in range(n_items):
            for j in range(i + 1, n_items):
                codes[pair, b] = np.int16(0) if score[i, b] > score[j, b] else np.int16(2)
                pair += 1


@kernel
def _move(item: int, ahead: Any, order: Any) -> bool:
    """Put one item where it is expected to be the right way round with the most others; False if it stays."""
    n_items, now = len(order), 0
    while order[now] != item:
        now += 1
    best, to, gain = _WORTH_MOVING, now, 0.0
    for at in range(now - 1, -1, -1):
        gain += ahead[item, order[at]]
        if gain > best:
            best, to = gain, at
    gain = 0.0
    for at in range(now + 1, n_items):
        gain += ahead[order[at], item]
        if gain > best:
            best, to = gain, at
    step = 1 if to > now else -1
    for at in range(now, to, step):
        order[at] = order[at + step]
    order[to] = item
    return to != now
