"""What the hidden units add to the logit of an answer when they are summed out."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def tilt(P: Any, E: Any, unit: Any, wanted: Any, out: Any) -> None:
    """out = the sum over k of log(1 + P_k (e^w_k - 1)) of each level and person; 0 where it is not wanted.

    P is (people, hidden) and E = e^w - 1, (levels, hidden), of one precision: the factors are multiplied, and one
    logarithm taken. Where the product leaves the range of numbers, it is taken in parts.
    """
    K = P.shape[1]
    one = P.dtype.type(1.0)
    for level in range(E.shape[0]):
        row, q = E[level], unit[level]
        for b in range(P.shape[0]):
            out[level, b] = 0.0
            if not wanted[q, b]:
                continue
            p = P[b]
            product = one
            for k in range(K):
                product *= one + p[k] * row[k]
            if 1e-30 < product < 1e30:
                out[level, b] = math.log(product)
                continue
            total = 0.0
            for k in range(K):
                total += math.log(1.0 + np.float64(p[k]) * np.float64(row[k]))
            out[level, b] = total


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def add_posteriors(P: Any, E: Any, share: Any, levels: Any, people: Any) -> None:
    """Add share * P(h_k = 1 | others and this level) to levels (levels, hidden) and people (people, hidden).

    P and E are those of `tilt`, and share (levels, people).
    """
    one = P.dtype.type(1.0)
    for level in range(E.shape[0]):
        row, total = E[level], levels[level]
        for b in range(P.shape[0]):
            p, own, s = P[b], people[b], share[level, b]
            for k in range(P.shape[1]):
                q = s * (p[k] * (one + row[k]) / (one + p[k] * row[k]))
                total[k] += q
                own[k] += q


def exp_minus_one(W: Any) -> Any:
    """e^w - 1, for `tilt`; a weight beyond 80 counts as 80, so that it stays a number in float32."""
    return np.expm1(np.minimum(W, W.dtype.type(80.0)))
