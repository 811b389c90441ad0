"""The density of a number when the hidden units are summed out, on a grid of each person's own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mvrbm.kernels.compile import exp, kernel, log, reordered

ENDS = np.array([95 / 288, 317 / 240, 23 / 30, 793 / 720, 157 / 160, 1.0])
"""The weights of the first points and of the last ones in Gregory's rule: a cut end has a corner."""
HEAD = 6
"""A grid starts with its lowest point, its step, its number of points, the mean and standard deviation on it, and the
log of the share of the answers that are there and not in other pieces."""
_COARSE, _FINE, _LEAST, _MOST = 24, 48, 12, 600
"""Intervals of the first look and the fewest of a number in one piece, the fewest of a piece, and the most."""
_NOTHING = 20.0
"""How far below its peak the log of a density is as good as minus infinity."""
_STEEPEST = 0.45
"""How much the log of a density may change in a step at an end as high as its peak, for Gregory's rule to hold."""
_LONGEST = 0.2
"""How long such a step may be, in sigma."""


@reordered
def _products(p: Any, rest: Any, e: Any, ratio: Any, out: Any) -> None:
    """out[j] = the product over k of rest_k + p_k e_k ratio_k^j; two points at a time, to read each number once."""
    for j in range(0, len(out) - 1, 2):
        first = second = 1.0
        for k in range(len(e)):
            here = e[k]
            there = here * ratio[k]
            first *= rest[k] + p[k] * here
            second *= rest[k] + p[k] * there
            e[k] = there * ratio[k]
        out[j], out[j + 1] = first, second


@kernel
def _exponentials(w: Any, x: float, out: Any) -> None:
    for k in range(len(w)):
        out[k] = exp(w[k] * x)


@reordered
def _sizes(w: Any) -> tuple[float, float]:
    """The sums of the positive and of the negative weights."""
    up = down = 0.0
    for k in range(len(w)):
        up += max(w[k], 0.0)
        down += max(-w[k], 0.0)
    return up, down


@kernel
def _log_density(
    P: Any, w: Any, share: float, U: float, precision: float, low: float, step: float, work: Any, out: Any
) -> None:
    """out[j] = the log of the density at low + j step, up to its integral; `out` has an even number of points."""
    rest, e, ratio = work
    far = max(abs(low), abs(low + (len(out) - 1) * step))
    if max(*_sizes(w)) * far < 600.0:  # no product leaves the range of numbers
        _exponentials(w, low, e)
        _exponentials(w, step, ratio)
        for k in range(len(w)):
            rest[k] = 1.0 - P[k]
        _products(P, rest, e, ratio, out)
        for j in range(len(out)):
            out[j] = share * log(out[j])
    else:
        for j in range(len(out)):
            x, out[j] = low + j * step, 0.0
            for k in range(len(w)):  # log(1 - P + P e^(w x)), by whichever exponential is below 1
                rise = w[k] * x
                off, on = exp(min(-rise, 0.0)), exp(min(rise, 0.0))
                out[j] += share * (max(rise, 0.0) + log((1.0 - P[k]) * off + P[k] * on))
    for j in range(len(out)):
        x = low + j * step
        out[j] += (U - 0.5 * precision * x) * x


@reordered
def _tilted(P: Any, w: Any, e: Any) -> tuple[float, float]:
    """The mean and the variance of w h, for hidden units whose odds are raised by the factors e."""
    mean = variance = 0.0
    for k in range(len(w)):
        tilted = P[k] * e[k] / (1.0 - P[k] + P[k] * e[k])
        mean += w[k] * tilted
        variance += w[k] * w[k] * tilted * (1.0 - tilted)
    return mean, variance


@kernel
def _slope(P: Any, w: Any, share: float, U: float, precision: float, x: float, e: Any) -> float:
    """The derivative of the log of the density."""
    _exponentials(w, x, e)
    return U - precision * x + share * _tilted(P, w, e)[0]


@kernel
def _place(P: Any, w: Any, share: float, U: float, variance: float, e: Any) -> tuple[float, float]:
    """Roughly where the mixture lies and how wide it is: hidden units tilted by the answer they expect."""
    mean = spread = 0.0
    for _ in range(4):  # an answer raises the units that raise it
        _exponentials(w, min(max(mean, -30.0), 30.0), e)
        total, spread = _tilted(P, w, e)
        mean = variance * (U + share * total)
    # units that hang together widen it more than if each stood for itself
    size = share * sum(_sizes(w))
    return mean, math.sqrt(variance + variance * variance * share * spread) + 0.25 * variance * size


@kernel
def _intervals(width: float, longest: float, least: int) -> int:
    """How many steps of at most `longest` a grid has."""
    n = math.ceil(width / longest)
    return int(min(n, _MOST)) if n > least else least


@kernel
def _grid(
    P: Any,
    w: Any,
    share: float,
    U: float,
    sd: float,
    low: float,
    high: float,
    n_pieces: int,
    work: Any,
    line: Any,
    head: Any,
) -> None:
    """Find the part of (low, high) in which the density is not as good as 0, and a step that is small enough."""
    coarse, fine = max(_COARSE // n_pieces, _LEAST), max(_FINE // n_pieces, _LEAST)
    mean, spread = _place(P, w, share, U, sd * sd, work[1])
    # from the bound to what is beyond the mean, or, if the mean is beyond the bound, as far into the question
    first = max(min(mean, high) - 8.0 * spread, low)
    last = min(max(mean, low) + 8.0 * spread, high)
    left, right, n, top = 0, 0, coarse, 0.0
    for _ in range(5):  # what a bound leaves may be a thin tail: each turn can shrink it by a factor of 12 or 24
        n = _intervals(last - first, 2.0 * sd, coarse)
        step = (last - first) / n
        _log_density(P, w, share, U, 1.0 / (sd * sd), first, step, work, line[: n + 1 + (n + 1) % 2])
        top = line[: n + 1].max()
        left, right = 0, n
        while left < n and line[left] <= top - _NOTHING:
            left += 1
        while right > 0 and line[right] <= top - _NOTHING:
            right -= 1
        left, right = max(left - 1, 0), min(right + 1, n)
        first, last = first + left * step, first + right * step
        if right - left > n // 4:
            break
    longest = 0.5 * sd
    for x, below in ((first, top - line[left]), (last, top - line[right])):
        steep = abs(_slope(P, w, share, U, 1.0 / (sd * sd), x, work[1]))
        longest = min(longest, math.exp(below / 5.0) * min(_STEEPEST / max(steep, 1e-9), _LONGEST * sd))
    n = _intervals(last - first, longest, fine)
    head[0], head[1], head[2] = first, (last - first) / n, n + 1


@kernel
def _fill(P: Any, w: Any, share: float, U: float, precision: float, work: Any, line: Any, grid: Any) -> float:
    """Write the probability of each point of a grid, and their moments; return the log of the density's integral."""
    n = int(grid[2])
    line = line[: n + n % 2]
    _log_density(P, w, share, U, precision, grid[0], grid[1], work, line)
    top, total = line[:n].max(), 0.0
    for j in range(n):
        line[j] = exp(line[j] - top)
    for j in range(len(ENDS)):
        line[j] *= ENDS[j]
        line[n - 1 - j] *= ENDS[j]
    for j in range(n):
        total += line[j]
    mean = square = 0.0
    for j in range(n):
        p = line[j] / total
        grid[HEAD + j] = p
        mean += j * p
        square += j * j * p
    grid[3], grid[4] = grid[0] + grid[1] * mean, grid[1] * math.sqrt(max(square - mean * mean, 0.0))
    return float(top + math.log(total * grid[1]))


@kernel
def _rises(w: Any) -> Any:
    """What the steps add to the inputs of the hidden units in each piece, (pieces, hidden); w has a row for x too."""
    out = np.zeros(w.shape)
    for i in range(len(w)):
        for j in range(1, len(w)):
            out[i] += 0.5 * w[j] if j <= i else -0.5 * w[j]
    return out


@kernel
def _tilt(P: Any, rise: Any, share: float, U: Any, piece: int, odds: Any) -> float:
    """Write P(h = 1) with what the steps say of a piece, by e^rise, and return the log of what they weigh it by.

    Then log(1 - P + P e^(rise + w_0 x)) is log(1 - P + P e^rise) and log(1 - odds + odds e^(w_0 x)).
    """
    weight = 0.0
    for j in range(1, len(U)):
        weight += 0.5 * U[j] if j <= piece else -0.5 * U[j]
    for k in range(len(P)):
        off, on = (1.0 - P[k]) * exp(min(-rise[k], 0.0)), P[k] * exp(min(rise[k], 0.0))
        odds[k] = on / (off + on)
        weight += share * (max(rise[k], 0.0) + log(off + on))
    return weight


@kernel
def densities(P: Any, W: Any, share: float, bias: Any, theta: Any, starts: Any, edges: Any, wanted: Any) -> Any:
    """The grids of each wanted number, (numbers, people, pieces, HEAD + points); NaN and nothing where it is not.

    In each piece a density is a mixture of as many Gaussians as there are states of the hidden layer, each of the width
    sigma. Its grid ends where the density does, in steps of at most half of sigma, and shorter ones if it is steep at
    an end. P is (hidden, people), W (features, hidden) and the bias (features, people), all in float64, where a number
    has a feature for itself and one for each step, those of number q from `starts[q]` up to `starts[q + 1]`; the edges
    are (numbers, pieces + 1), and pieces that a number does not have are without width. `share` is what each hidden
    unit counts, below 1 in the mean of several machines.
    """
    n_hidden, n_people = P.shape
    n_pieces = edges.shape[1] - 1
    padded = -(-n_hidden // 8) * 8
    people, w = np.zeros((n_people, padded)), np.zeros((len(W), padded))
    w[:, :n_hidden] = W
    people[:, :n_hidden] = P.T
    work = np.ones(padded), np.empty(padded), np.empty(padded)
    odds, line = np.empty(padded), np.empty(_MOST + 2)
    head, most = np.full((len(edges), n_people, n_pieces, HEAD), np.nan), 0
    for q in range(len(edges)):
        sd, own = math.sqrt(-0.5 / theta[q]), slice(starts[q], starts[q + 1])
        rises = _rises(w[own])
        for b in range(n_people):
            for i in range(n_pieces if wanted[q, b] else 0):
                head[q, b, i, 0], head[q, b, i, 1], head[q, b, i, 2] = 0.0, 1.0, 2 * len(ENDS)
                head[q, b, i, 3] = head[q, b, i, 4] = head[q, b, i, 5] = 0.0
                low, high = edges[q, i], edges[q, i + 1]
                if low < high:
                    head[q, b, i, 5] = _tilt(people[b], rises[i], share, bias[own, b], i, odds)
                    U = bias[starts[q], b]
                    _grid(odds, w[own][0], share, U, sd, low, high, len(rises), work, line, head[q, b, i])
                most = max(most, int(head[q, b, i, 2]))
    out = np.zeros((len(edges), n_people, n_pieces, HEAD + most))
    out[..., :HEAD] = head
    weight = np.empty(n_pieces)
    for q in range(len(edges)):
        own = slice(starts[q], starts[q + 1])
        rises = _rises(w[own])
        for b in range(n_people):
            if wanted[q, b]:
                for i in range(n_pieces):
                    weight[i] = -np.inf
                    if edges[q, i] < edges[q, i + 1]:
                        _tilt(people[b], rises[i], share, bias[own, b], i, odds)
                        mass = _fill(
                            odds, w[own][0], share, bias[starts[q], b], -2.0 * theta[q], work, line, out[q, b, i]
                        )
                        weight[i] = head[q, b, i, 5] + mass
                top, total = weight.max(), 0.0
                for i in range(n_pieces):
                    total += math.exp(weight[i] - top)
                for i in range(n_pieces):
                    out[q, b, i, 5] = weight[i] - top - math.log(total)
    return out
