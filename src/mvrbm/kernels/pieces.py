"""A Gaussian in pieces: the density of a number x with inputs z is exp(-x^2 / 2 s^2 + z_0 x + sum of z_j step_j(x)).

A step is half of its height above its place and minus that below it, so on the piece between two places the density is
the same Gaussian times a factor of the piece's own. Everything is in float64, and by logarithms where what bounds leave
lies far out in a tail.

The features of number q are those from `starts[q]` up to `starts[q + 1]`: x and one for each of its steps. Arrays of
all steps and edges have as many columns as the number with the most of them needs; a number reads its own, the first.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mvrbm.kernels.compile import exp, inlined, kernel

_ROOT_HALF = math.sqrt(0.5)
_ONE_OVER_ROOT_2PI = 1 / math.sqrt(2 * math.pi)
_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
_FAR = 25.0
_LEAST, _WIDE = 1e-100, 400.0  # of the largest mass, and between logs of factors, where no logarithms are needed
_TINY = 1e-290  # a mass above which has a reciprocal
_NOWHERE = 37.5  # standard deviations from the mean, from which on what is left, some 1e-308, counts as nothing
_BEND = 3.75 * math.sqrt(2.0)


@kernel
def _log_below(x: float) -> float:
    """The log of the probability of a standard normal number below x, which is at most 0."""
    if x > -_FAR:
        return math.log(0.5 * math.erfc(-x * _ROOT_HALF))
    if x == -np.inf:
        return -np.inf
    r = 1.0 / (x * x)
    return -0.5 * x * x - math.log(-x) - _LOG_ROOT_2PI + math.log1p(r * (-1.0 + r * (3.0 - 15.0 * r)))


@kernel
def _log_between(a: float, b: float) -> float:
    """The log of the probability of a standard normal number between a and b."""
    if not a < b:
        return -np.inf
    if a > 0.0:  # mirrored, so that the digits are in the lower tail
        a, b = -b, -a
    if b > -5.0:
        lower = 0.0 if a == -np.inf else 0.5 * math.erfc(-a * _ROOT_HALF)
        upper = 0.5 * math.erfc(-b * _ROOT_HALF)
        if upper > lower:
            return math.log(upper - lower)
    high = _log_below(min(b, 0.0))
    less = _log_below(a) - high
    return high + math.log1p(-math.exp(less)) if less < 0.0 else -np.inf


@inlined
def _beyond(x: Any) -> Any:
    """e^(x^2/2) times the probability that a standard normal number lies above x, which is 0 or more, within 4e-15.

    Times 1 + sqrt(2) x it is smooth up to infinity in y, and this the polynomial through 21 of Chebyshev's points.
    """
    y = (x - _BEND) / (x + _BEND)
    p = 8.656104541559467e-09
    p = p * y + 4.256279725880666e-09
    p = p * y - 1.0660680204932301e-07
    p = p * y - 1.3842831924850472e-08
    p = p * y + 8.469627239138088e-07
    p = p * y - 5.042356862773116e-07
    p = p * y - 5.698812643960827e-06
    p = p * y + 1.1205078879888505e-05
    p = p * y + 2.581239600471389e-05
    p = p * y - 0.00014508319568071946
    p = p * y + 0.0001468609170959632
    p = p * y + 0.0008778147743817156
    p = p * y - 0.004873290631247228
    p = p * y + 0.01418113837391324
    p = p * y - 0.029346699191987704
    p = p * y + 0.046152160613855776
    p = p * y - 0.05440196507716531
    p = p * y + 0.041138369243520226
    p = p * y + 0.0017927077428813928
    p = p * y - 0.07012029929275287
    p = p * y + 0.6187563154189132
    return p / (1.0 + 2.0 * _ROOT_HALF * x)


@kernel
def _look(mean: float, sd: float, edges: Any, at: Any, density: Any, tail: Any) -> None:
    """Write where each edge is, in standard deviations, the density there, and the probability of lying further out.

    The loop has no call and no branch, so that LLVM vectorises it.
    """
    for i in range(len(edges)):
        at[i] = (edges[i] - mean) / sd
        x = min(abs(at[i]), _NOWHERE)
        e = exp(-0.5 * x * x)
        e = e if x < _NOWHERE else 0.0
        density[i] = e * _ONE_OVER_ROOT_2PI
        tail[i] = e * _beyond(x)


@kernel
def _masses(at: Any, tail: Any, mass: Any) -> float:
    """Write the Gaussian's mass in each piece, and return the largest; far out it may be 0."""
    most = 0.0
    for i in range(len(mass)):
        across = 1.0 - tail[i] - tail[i + 1]
        aside = tail[i + 1] - tail[i] if at[i + 1] <= 0.0 else tail[i] - tail[i + 1]
        # a piece may be so narrow that rounding makes it less than nothing
        mass[i] = max(across if at[i] < 0.0 < at[i + 1] else aside, 0.0)
        most = max(most, mass[i])
    return most


@kernel
def _density(a: float, log_mass: float) -> float:
    """The density at an end of a piece, of what lies in the piece."""
    return 0.0 if math.isinf(a) else math.exp(-0.5 * a * a - _LOG_ROOT_2PI - log_mass)


@kernel
def _share_out(z: Any, mean: float, sd: float, edges: Any, work: Any, ends: Any, share: Any) -> float:
    """Write each piece's share, and the Gaussian's density at either of its ends over its mass, (2, pieces).

    Returns the log of the total of all pieces. z is by `_inputs`; `work`, (4, edges), is to work in. What only
    logarithms tell, since all that the bounds leave lies far out, or the pieces' factors are far from each other, is
    computed by them.
    """
    n = len(share)
    low, high = ends[0], ends[1]
    at, density, tail, factor = work[0], work[1], work[2], work[3]
    factor[0] = 0.0
    for j in range(1, n):
        factor[0] -= 0.5 * z[j]
    top = least = factor[0]
    for j in range(1, n):
        factor[j] = factor[j - 1] + z[j]
        top, least = max(top, factor[j]), min(least, factor[j])
    _look(mean, sd, edges[: n + 1], at, density, tail)
    if _masses(at, tail, share) > _LEAST and top - least < _WIDE:
        for i in range(n):
            over = 1.0 / share[i] if share[i] > _TINY else 0.0
            low[i], high[i] = density[i] * over, density[i + 1] * over
            share[i] *= exp(factor[i] - top)
    else:
        top = -np.inf
        for i in range(n):
            log_mass = _log_between(at[i], at[i + 1])
            low[i] = _density(at[i], log_mass) if log_mass > -np.inf else 0.0
            high[i] = _density(at[i + 1], log_mass) if log_mass > -np.inf else 0.0
            share[i] = factor[i] + log_mass
            top = max(top, share[i])
        for i in range(n):
            share[i] = math.exp(share[i] - top)
    total: float = share.sum()
    share /= total
    return float(top + math.log(total))


@kernel
def _inputs(z: Any, heights: Any, out: Any) -> None:
    """Write what a number's inputs add from each side of a step to the other; the first is that of x."""
    out[0] = z[0]
    for j in range(1, len(out)):
        out[j] = heights[j - 1] * z[j]


@kernel
def features(
    numbers: Any, location: Any, scale: Any, far: float, starts: Any, steps: Any, heights: Any, x: Any
) -> None:
    """Write each number in standard deviations from its mean, at most `far`, and its steps; 0 where there is none."""
    v = np.empty(numbers.shape[1])
    for q in range(len(numbers)):
        for b in range(len(v)):
            v[b] = (numbers[q, b] - location[q, 0]) / scale[q, 0]
            there = not math.isnan(v[b])
            v[b] = min(max(v[b], -far), far) if there else v[b]
            x[starts[q], b] = v[b] if there else 0.0
        for j in range(starts[q + 1] - starts[q] - 1):
            row, step, half = x[starts[q] + 1 + j], steps[q, j], 0.5 * heights[q, j]
            for b in range(len(v)):  # people in the inner loop, whose features are side by side
                row[b] = 0.0 if math.isnan(v[b]) else half if v[b] > step else -half


@kernel
def moments(z: Any, theta: Any, starts: Any, edges: Any, heights: Any, there: Any, x: Any, t: Any) -> None:
    """Write the means of x and its steps, and of x^2, of what is there; z, x are (features, people), t (numbers, ...).

    The edges of the pieces, (numbers, pieces + 1), are the bounds and the places of the steps; they do not fall.
    """
    for q in range(len(edges)):
        at, end = starts[q], starts[q + 1]
        n = end - at
        own, ends, share, work, spread = np.empty(n), np.empty((2, n)), np.empty(n), np.empty((4, n + 1)), np.empty(n)
        variance = -0.5 / theta[q]
        sd = math.sqrt(variance)
        for b in range(z.shape[1]):
            if not there[q, b]:
                x[at:end, b] = 0.0
                t[q, b] = 0.0
                continue
            _inputs(z[at:end, b], heights[q], own)
            mean = variance * own[0]
            _share_out(own, mean, sd, edges[q], work, ends, share)
            above = 1.0
            for i in range(n - 1):
                above -= share[i]
                x[at + i + 1, b] = heights[q, i] * (above - 0.5)
            for i in range(n):  # own is spent, and holds the mean in each piece, times its share
                low, high, at_low, at_high = edges[q, i], edges[q, i + 1], ends[0, i], ends[1, i]
                inside = min(max(mean + sd * (at_low - at_high), low), high)
                edge = (low * at_low if at_low > 0.0 else 0.0) - (high * at_high if at_high > 0.0 else 0.0)
                square = max(variance + mean * inside + sd * edge, 0.0)
                own[i] = share[i] * inside if share[i] > 0.0 else 0.0
                spread[i] = share[i] * square if share[i] > 0.0 else 0.0
            x[at, b] = own.sum()
            t[q, b] = spread.sum()


@kernel
def log_partition(z: Any, theta: Any, starts: Any, edges: Any, heights: Any, there: Any, out: Any) -> None:
    """Write the log of the integral over each number that is there."""
    for q in range(len(edges)):
        at, end = starts[q], starts[q + 1]
        n = end - at
        own, ends, share, work = np.empty(n), np.empty((2, n)), np.empty(n), np.empty((4, n + 1))
        sd = math.sqrt(-0.5 / theta[q])
        for b in range(z.shape[1]):
            out[q, b] = 0.0
            if there[q, b]:
                _inputs(z[at:end, b], heights[q], own)
                mean = sd * sd * own[0]
                total = _share_out(own, mean, sd, edges[q], work, ends, share)
                # the terms can be huge and opposite: only their sum may be rounded to the precision of out
                out[q, b] = total + 0.5 * (mean / sd) ** 2 + math.log(sd) + _LOG_ROOT_2PI


@kernel
def choose(z: Any, theta: Any, starts: Any, edges: Any, heights: Any, u: Any, low: Any, high: Any, left: Any) -> None:
    """Write the ends, in standard deviations from the Gaussian's mean, of a piece drawn by u, and what is left of u."""
    for q in range(len(edges)):
        n = starts[q + 1] - starts[q]
        own, ends, share, work = np.empty(n), np.empty((2, n)), np.empty(n), np.empty((4, n + 1))
        sd = math.sqrt(-0.5 / theta[q])
        for b in range(z.shape[1]):
            _inputs(z[starts[q] : starts[q + 1], b], heights[q], own)
            mean = sd * sd * own[0]
            _share_out(own, mean, sd, edges[q], work, ends, share)
            rest, at = float(u[q, b]), 0
            while at < n - 1 and (share[at] == 0.0 or rest > share[at]):
                rest -= share[at]
                at += 1
            while share[at] == 0.0:  # rounding left something of u after the last piece that can be
                at, rest = at - 1, 1.0
            low[q, b], high[q, b] = (edges[q, at] - mean) / sd, (edges[q, at + 1] - mean) / sd
            left[q, b] = min(max(rest / share[at], 1e-300), 1.0 - 1e-16)  # inside: an end may be infinite
