"""The standard normal distribution between two bounds, without loss of digits in the tails."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

Float = NDArray[np.floating]


def _lower_tail(a: Float, b: Float) -> tuple[Float, Float, NDArray[np.bool_]]:
    """(a, b), mirrored where both lie above 0, so that the digits are in the lower tail."""
    above = a > 0
    return np.where(above, -b, a), np.where(above, -a, b), above


def log_between(a: Float, b: Float) -> Float:
    """Log of the probability of (a, b)."""
    a, b, _ = _lower_tail(np.asarray(a, np.float64), np.asarray(b, np.float64))
    low, high = special.log_ndtr(a), special.log_ndtr(b)
    result: Float = high + np.log1p(-np.exp(low - high))
    return result


def draw_between(a: Float, b: Float, u: Float) -> Float:
    """The u-th quantile between a and b."""
    low, high = special.ndtr(a), special.ndtr(b)
    x: Float = special.ndtri(low + u * (high - low))
    far = high - low < 1e-6  # few digits are left there; logarithms keep them all, but take ten times as long
    if far.any():
        x[far] = _draw_far(a[far], b[far], u[far])
    return np.clip(x, a, b)


def _draw_far(a: Float, b: Float, u: Float) -> Float:
    a, b, above = _lower_tail(a, b)
    u = np.where(above, 1.0 - u, u)
    log_p = np.logaddexp(special.log_ndtr(a), np.log(u) + log_between(a, b))
    x = special.ndtri_exp(np.minimum(log_p, 0.0))
    result: Float = np.where(above, -x, x)
    return result
