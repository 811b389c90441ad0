"""The density of a number when the hidden units are summed out, on a grid of each person's own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mvrbm.kernels.compile import exp, kernel, log, reordered

ENDS = np.array([95 / 288, 317 / 240, 23 / 30, 793 / 720, 157 / 160, 1.0])
"""The weights of the first points and of the last ones in Gregory's rule: a cut end has a corner."""
HEAD = 5
"""A grid starts with its lowest point, its step, its number of points, and the mean and standard deviation on it."""
_COARSE, _FINE, _MOST = 24, 48, 600
"""Intervals of the first look, the fewest and the most of a grid."""
_NOTHING = 20.0
"""How far below its peak the log of a density is as good as minus infinity."""
_STEEPEST = 0.45
"""How much the log of a density may change in a step at an end as high as its peak, for Gregory's rule to hold."""


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
    P: Any, w: Any, share: float, U: float, sd: float, low: float, high: float, work: Any, line: Any, head: Any
) -> None:
    """Find the part of (low, high) in which the density is not as good as 0, and a step that is small enough."""
    mean, spread = _place(P, w, share, U, sd * sd, work[1])
    # from the bound to what is beyond the mean, or, if the mean is beyond the bound, as far into the question
    first = max(min(mean, high) - 8.0 * spread, low)
    last = min(max(mean, low) + 8.0 * spread, high)
    left, right, n, top = 0, 0, _COARSE, 0.0
    for _ in range(5):  # what a bound leaves may be a thin tail: each turn can shrink it by a factor of 24
        n = _intervals(last - first, 2.0 * sd, _COARSE)
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
        longest = min(longest, _STEEPEST * math.exp(below / 5.0) / max(steep, 1e-9))
    n = _intervals(last - first, longest, _FINE)
    head[0], head[1], head[2] = first, (last - first) / n, n + 1


@kernel
def _fill(P: Any, w: Any, share: float, U: float, precision: float, work: Any, line: Any, grid: Any) -> None:
    """Write the probability of each point of a grid, and their moments."""
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


@kernel
def densities(P: Any, W: Any, share: float, bias: Any, theta: Any, low: Any, high: Any, wanted: Any) -> Any:
    """The grid of each wanted number, (numbers, people, HEAD + points); NaN and no probability where it is not wanted.

    A density is a mixture of as many Gaussians as there are states of the hidden layer, each of the width sigma. Its
    grid ends where the density does, in steps of at most half of sigma, and shorter ones if it is steep at a bound. P
    is (hidden, people), W (numbers, hidden) and the bias (numbers, people), all in float64; `share` is what each hidden
    unit counts, below 1 in the mean of several machines.
    """
    n_hidden, n_people = P.shape
    padded = -(-n_hidden // 8) * 8
    people, w = np.zeros((n_people, padded)), np.zeros((len(W), padded))
    w[:, :n_hidden] = W
    people[:, :n_hidden] = P.T
    work = np.ones(padded), np.empty(padded), np.empty(padded)
    line = np.empty(_MOST + 2)
    head, most = np.full((len(W), n_people, HEAD), np.nan), 0
    for q in range(len(W)):
        sd = math.sqrt(-0.5 / theta[q])
        for b in range(n_people):
            if wanted[q, b]:
                _grid(people[b], w[q], share, bias[q, b], sd, low[q], high[q], work, line, head[q, b])
                most = max(most, int(head[q, b, 2]))
    out = np.zeros((len(W), n_people, HEAD + most))
    for q in range(len(W)):
        for b in range(n_people):
            out[q, b, :HEAD] = head[q, b]
            if wanted[q, b]:
                _fill(people[b], w[q], share, bias[q, b], -2.0 * theta[q], work, line, out[q, b])
    return out
