"""What the hidden units add to the logit of an answer when they are summed out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mvrbm.kernels.compile import exp, kernel, log, reordered


@reordered
def _products(P: Any, who: Any, row: Any, out: Any) -> None:
    """out[i] = the product over k of 1 + P_k row_k, for each person of `who`."""
    one = P.dtype.type(1.0)
    for i in range(len(who)):
        p, product = P[who[i]], one
        for k in range(P.shape[1]):
            product *= one + p[k] * row[k]
        out[i] = product


@kernel
def _one_by_one(p: Any, w: Any) -> float:
    total = 0.0
    for k in range(len(w)):
        total += math.log(1.0 + np.float64(p[k]) * math.expm1(min(np.float64(w[k]), 80.0)))
    return total


@kernel
def _tilt_level(P: Any, w: Any, share: Any, who: Any, bias: Any, row: Any, work: Any, out: Any) -> None:
    product, product_log = work[0, : len(who)], work[1, : len(who)]  # apart, for LLVM to vectorise
    most = w.dtype.type(80.0)  # so that e^w stays a number in float32
    for k in range(len(w)):
        row[k] = exp(min(w[k], most)) - w.dtype.type(1.0)
    _products(P, who, row, product)
    for i in range(len(who)):
        product_log[i] = log(product[i])
    for i in range(len(who)):
        out[who[i]] = bias + share * product_log[i]
        if not 1e-30 < product[i] < 1e30:
            out[who[i]] = bias + share * _one_by_one(P[who[i]], w)


@kernel
def tilt(P: Any, W: Any, share: Any, bias: Any, start: Any, size: Any, wanted: Any, out: Any) -> None:
    """out = bias + share times the sum over k of log(1 + P_k (e^w_k - 1)) of each level, where its unit is wanted.

    Else it is the bias. P is (hidden, people) and W (levels, hidden), of one precision: the factors are multiplied, and
    one logarithm taken. Where the product leaves the range of numbers, it is taken in parts. Hidden units are padded to
    a multiple of eight with factors of 1, for whole registers.
    """
    n_hidden, n_people = P.shape
    padded = -(-n_hidden // 8) * 8
    people, row = np.zeros((n_people, padded), P.dtype), np.zeros(padded, P.dtype)
    for k in range(n_hidden):
        for b in range(n_people):
            people[b, k] = P[k, b]
    who, work = np.empty(n_people + 1, np.int64), np.empty((2, n_people), P.dtype)
    for q in range(len(start)):
        n = 0
        for b in range(n_people):
            who[n] = b
            n += wanted[q, b]
        for level in range(start[q], start[q] + size[q]):
            out[level] = bias[level]
            if n:
                _tilt_level(people, W[level], share, who[:n], bias[level], row, work, out[level])


@reordered
def add_posteriors(P: Any, E: Any, share: Any, levels: Any, people: Any) -> None:
    """Add share * P(h_k = 1 | others and this level) to levels (levels, hidden) and people (people, hidden).

    P is (people, hidden), E = e^w - 1 of each level, and share (levels, people).
    """
    one, least = P.dtype.type(1.0), P.dtype.type(1e-30)
    for level in range(E.shape[0]):
        row, total = E[level], levels[level]
        for b in range(P.shape[0]):
            p, own, s = P[b], people[b], share[level, b]
            for k in range(P.shape[1]):
                # where P is 1 and e^w nothing beside it, rounding leaves 0 / 0
                q = s * (p[k] * (one + row[k]) / max(one + p[k] * row[k], least))
                total[k] += q
                own[k] += q


def tilted(P: Any, W: Any, share: float, bias: Any, start: Any, size: Any, wanted: Any) -> Any:
    """The bias, of each level and person or in one column of all, and what `tilt` adds where it is wanted."""
    if not len(P):
        return np.array(np.broadcast_to(bias, (len(W), P.shape[1])))
    out = np.empty((len(W), P.shape[1]), P.dtype)
    of_all = np.ascontiguousarray(bias[:, 0]) if bias.shape[1] == 1 else np.zeros(len(W), P.dtype)
    tilt(P, np.ascontiguousarray(W), P.dtype.type(share), of_all, start, size, wanted, out)
    return out if bias.shape[1] == 1 else out + bias
