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

from mvrbm.kernels.compile import exp, kernel

_ROOT_HALF = math.sqrt(0.5)
_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
_FAR = 25.0
_LEAST, _WIDE = 1e-100, 400.0  # of the largest mass, and between logs of factors, where no logarithms are needed


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


@kernel
def _tail(x: float) -> float:
    """The probability of a standard normal number beyond x, on the side where x is."""
    return 0.5 * math.erfc(abs(x) * _ROOT_HALF)


@kernel
def _masses(mean: float, sd: float, edges: Any, mass: Any) -> float:
    """Write the Gaussian's mass in each piece, and return the largest; far out it may be 0."""
    after = (edges[0] - mean) / sd
    beyond = _tail(after)
    most = 0.0
    for i in range(len(mass)):
        before, behind = after, beyond
        after = (edges[i + 1] - mean) / sd
        beyond = _tail(after)
        if not before < after:
            mass[i] = 0.0
        elif after <= 0.0:
            mass[i] = beyond - behind
        elif before >= 0.0:
            mass[i] = behind - beyond
        else:
            mass[i] = 1.0 - behind - beyond
        most = max(most, mass[i])
    return most


@kernel
def _density(a: float, log_mass: float) -> float:
    """The density at an end of a piece, of what lies in the piece."""
    return 0.0 if math.isinf(a) else math.exp(-0.5 * a * a - _LOG_ROOT_2PI - log_mass)


@kernel
def _share_out(z: Any, mean: float, sd: float, edges: Any, ends: Any, share: Any) -> float:
    """Write each piece's share, and the Gaussian's density at either of its ends over its mass, (2, pieces).

    Returns the log of the total of all pieces. z is by `_inputs`. What only logarithms tell, since all that the bounds
    leave lies far out, or the pieces' factors are far from each other, is computed by them.
    """
    n = len(share)
    low, high = ends[0], ends[1]
    first = 0.0
    for j in range(1, n):
        first -= 0.5 * z[j]
    factor = top = least = first
    for j in range(1, n):
        factor += z[j]
        top, least = max(top, factor), min(least, factor)
    factor, total = first, 0.0
    if _masses(mean, sd, edges, share) > _LEAST and top - least < _WIDE:
        after = _density((edges[0] - mean) / sd, 0.0)
        for i in range(n):
            before, mass = after, share[i]
            after = _density((edges[i + 1] - mean) / sd, 0.0)
            low[i], high[i] = (before / mass, after / mass) if mass > 0.0 else (0.0, 0.0)
            share[i] = mass * exp(factor - top)
            total += share[i]
            if i + 1 < n:
                factor += z[i + 1]
    else:
        top = -np.inf
        for i in range(n):
            left, right = (edges[i] - mean) / sd, (edges[i + 1] - mean) / sd
            log_mass = _log_between(left, right)
            low[i] = _density(left, log_mass) if log_mass > -np.inf else 0.0
            high[i] = _density(right, log_mass) if log_mass > -np.inf else 0.0
            share[i] = factor + log_mass
            top = max(top, share[i])
            if i + 1 < n:
                factor += z[i + 1]
        for i in range(n):
            share[i] = math.exp(share[i] - top)
            total += share[i]
    for i in range(n):
        share[i] /= total
    return top + math.log(total)


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

    The edges of the pieces, (numbers, pieces + 1), are the bounds and the places of the steps.
    """
    for q in range(len(edges)):
        at, end = starts[q], starts[q + 1]
        n = end - at
        own, ends, share = np.empty(n), np.empty((2, n)), np.empty(n)
        variance = -0.5 / theta[q]
        sd = math.sqrt(variance)
        for b in range(z.shape[1]):
            if not there[q, b]:
                x[at:end, b] = 0.0
                t[q, b] = 0.0
                continue
            _inputs(z[at:end, b], heights[q], own)
            mean = variance * own[0]
            _share_out(own, mean, sd, edges[q], ends, share)
            first = second = 0.0
            above = 1.0
            for i in range(n):
                above -= share[i]
                if i + 1 < n:
                    x[at + i + 1, b] = heights[q, i] * (above - 0.5)
                if share[i] > 0.0:
                    low, high = edges[q, i], edges[q, i + 1]
                    at_low, at_high = ends[0, i], ends[1, i]
                    inside = min(max(mean + sd * (at_low - at_high), low), high)
                    first += share[i] * inside
                    edge = (low * at_low if at_low > 0.0 else 0.0) - (high * at_high if at_high > 0.0 else 0.0)
                    second += share[i] * max(variance + mean * inside + sd * edge, 0.0)
            x[at, b] = first
            t[q, b] = second


@kernel
def log_partition(z: Any, theta: Any, starts: Any, edges: Any, heights: Any, there: Any, out: Any) -> None:
    """Write the log of the integral over each number that is there."""
    for q in range(len(edges)):
        at, end = starts[q], starts[q + 1]
        own, ends, share = np.empty(end - at), np.empty((2, end - at)), np.empty(end - at)
        sd = math.sqrt(-0.5 / theta[q])
        for b in range(z.shape[1]):
            out[q, b] = 0.0
            if there[q, b]:
                _inputs(z[at:end, b], heights[q], own)
                mean = sd * sd * own[0]
                total = _share_out(own, mean, sd, edges[q], ends, share)
                # the terms can be huge and opposite: only their sum may be rounded to the precision of out
                out[q, b] = total + 0.5 * (mean / sd) ** 2 + math.log(sd) + _LOG_ROOT_2PI


@kernel
def choose(z: Any, theta: Any, starts: Any, edges: Any, heights: Any, u: Any, low: Any, high: Any, left: Any) -> None:
    """Write the ends, in standard deviations from the Gaussian's mean, of a piece drawn by u, and what is left of u."""
    for q in range(len(edges)):
        n = starts[q + 1] - starts[q]
        own, ends, share = np.empty(n), np.empty((2, n)), np.empty(n)
        sd = math.sqrt(-0.5 / theta[q])
        for b in range(z.shape[1]):
            _inputs(z[starts[q] : starts[q + 1], b], heights[q], own)
            mean = sd * sd * own[0]
            _share_out(own, mean, sd, edges[q], ends, share)
            rest, at = float(u[q, b]), 0
            while at < n - 1 and (share[at] == 0.0 or rest > share[at]):
                rest -= share[at]
                at += 1
            while share[at] == 0.0:  # rounding left something of u after the last piece that can be
                at, rest = at - 1, 1.0
            low[q, b], high[q, b] = (edges[q, at] - mean) / sd, (edges[q, at + 1] - mean) / sd
            left[q, b] = min(max(rest / share[at], 1e-300), 1.0 - 1e-16)  # inside: an end may be infinite
