"""Units with a few levels each: a softmax over consecutive rows of logits.

`start[q]` and `size[q]` say where unit q's levels lie. Its code is the level, counted from 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mvrbm.kernels.compile import exp, kernel


@kernel
def _largest(logits: Any, s: int, m: int, top: Any) -> None:
    for b in range(len(top)):
        top[b] = logits[s, b]
    for level in range(s + 1, s + m):
        for b in range(len(top)):
            top[b] = max(top[b], logits[level, b])


@kernel
def sample(logits: Any, start: Any, size: Any, u: Any, codes: Any) -> None:
    """code = the first level at which the running sum of probabilities passes u."""
    n = logits.shape[1]
    top, total = np.empty(n, logits.dtype), np.empty(n, logits.dtype)
    running = np.empty((size.max() if len(size) else 0, n), logits.dtype)
    for q in range(len(start)):
        s, m = start[q], size[q]
        _largest(logits, s, m, top)
        total[:] = 0
        for level in range(m):
            for b in range(n):
                total[b] += exp(logits[s + level, b] - top[b])
                running[level, b] = total[b]
        for b in range(n):
            total[b] *= u[q, b]
            codes[q, b] = 0
        for level in range(m - 1):
            for b in range(n):
                codes[q, b] += np.int16(1) if running[level, b] <= total[b] else np.int16(0)


@kernel
def _exponentials(logits: Any, s: int, m: int, top: Any, e: Any, total: Any) -> None:
    """e = e^(logit - the largest one) of a unit's levels, and their sum: nothing overflows."""
    _largest(logits, s, m, top)
    total[:] = 0
    for level in range(m):
        for b in range(len(top)):
            e[level, b] = exp(logits[s + level, b] - top[b])
            total[b] += e[level, b]


@kernel
def median(logits: Any, start: Any, size: Any, codes: Any) -> None:
    """code = the first level at which the running sum of probabilities reaches a half."""
    n = logits.shape[1]
    top, total = np.empty(n, logits.dtype), np.empty(n, logits.dtype)
    e = np.empty((size.max() if len(size) else 0, n), logits.dtype)
    for q in range(len(start)):
        s, m = start[q], size[q]
        _exponentials(logits, s, m, top, e, total)
        for b in range(n):
            codes[q, b] = 0
            top[b] = 0
        for level in range(m - 1):
            for b in range(n):
                top[b] += e[level, b]
                codes[q, b] += np.int16(1) if top[b] < total[b] / 2 else np.int16(0)


@kernel
def mode(logits: Any, start: Any, size: Any, codes: Any) -> None:
    """code = the level with the largest logit, the first of equals."""
    n = logits.shape[1]
    top = np.empty(n, logits.dtype)
    for q in range(len(start)):
        s = start[q]
        for b in range(n):
            top[b] = logits[s, b]
            codes[q, b] = 0
        for level in range(1, size[q]):
            for b in range(n):
                codes[q, b] = np.int16(level) if logits[s + level, b] > top[b] else codes[q, b]
                top[b] = max(top[b], logits[s + level, b])


@kernel
def probabilities(logits: Any, start: Any, size: Any, p: Any) -> None:
    """p = softmax of each unit's logits."""
    n = logits.shape[1]
    top, total = np.empty(n, logits.dtype), np.empty(n, logits.dtype)
    for q in range(len(start)):
        own = p[start[q] : start[q] + size[q]]
        _exponentials(logits, start[q], size[q], top, own, total)
        for level in range(size[q]):
            for b in range(n):
                own[level, b] /= total[b]


@kernel
def log_partition(logits: Any, start: Any, size: Any, codes: Any, owner: Any, out: Any) -> None:
    """out[owner of q] += log sum_m e^logit where q is answered."""
    n = logits.shape[1]
    top, total = np.empty(n, logits.dtype), np.empty(n, logits.dtype)
    e = np.empty((size.max() if len(size) else 0, n), logits.dtype)
    for q in range(len(start)):
        _exponentials(logits, start[q], size[q], top, e, total)
        for b in range(n):
            if codes[q, b] >= 0:
                out[owner[q], b] += top[b] + math.log(total[b])


@kernel
def one_hot(codes: Any, start: Any, size: Any, x: Any) -> None:
    """x[start + m] = 1 where the code is m, else 0; blanks give 0 everywhere."""
    one, zero = x.dtype.type(1), x.dtype.type(0)
    for q in range(len(start)):
        for level in range(size[q]):
            row = x[start[q] + level]
            for b in range(codes.shape[1]):
                row[b] = one if codes[q, b] == level else zero


@kernel
def mask(codes: Any, start: Any, size: Any, p: Any) -> None:
    """p = 0 where the unit is blank."""
    zero = p.dtype.type(0)
    for q in range(len(start)):
        for level in range(start[q], start[q] + size[q]):
            for b in range(codes.shape[1]):
                p[level, b] = p[level, b] if codes[q, b] >= 0 else zero


@kernel
def apply(indptr: Any, indices: Any, values: Any, y: Any, out: Any) -> None:
    """out += A y for a sparse matrix A in compressed rows, y and out with people in columns."""
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            value, row = values[e], y[indices[e]]
            for b in range(out.shape[1]):
                out[i, b] += value * row[b]


@kernel
def add_weights(codes: Any, start: Any, W: Any, a: Any) -> None:
    """a[:, b] += the sum over units of row start + code of W: what one-hot features would give, without the zeros.

    Eight rows at a time, so that a sum is loaded and stored once for eight, and for sixteen people at a time, so that
    whole cache lines of `a` are written. (A helper for the choice of a row would count references, and take
    longer than the sums.)
    """
    n_units, n_people = codes.shape
    n, eights = a.shape[0], n_units // 8 * 8
    nothing = np.zeros(W.shape[1], W.dtype)
    sums = np.empty((16, n), W.dtype)
    for first in range(0, n_people, 16):
        few = min(16, n_people - first)
        sums[:] = 0
        for i in range(few):
            b, total = first + i, sums[i]
            for q in range(0, eights, 8):
                r0 = W[start[q] + codes[q, b]] if codes[q, b] >= 0 else nothing
                r1 = W[start[q + 1] + codes[q + 1, b]] if codes[q + 1, b] >= 0 else nothing
                r2 = W[start[q + 2] + codes[q + 2, b]] if codes[q + 2, b] >= 0 else nothing
                r3 = W[start[q + 3] + codes[q + 3, b]] if codes[q + 3, b] >= 0 else nothing
                r4 = W[start[q + 4] + codes[q + 4, b]] if codes[q + 4, b] >= 0 else nothing
                r5 = W[start[q + 5] + codes[q + 5, b]] if codes[q + 5, b] >= 0 else nothing
                r6 = W[start[q + 6] + codes[q + 6, b]] if codes[q + 6, b] >= 0 else nothing
                r7 = W[start[q + 7] + codes[q + 7, b]] if codes[q + 7, b] >= 0 else nothing
                for k in range(n):
                    total[k] += ((r0[k] + r1[k]) + (r2[k] + r3[k])) + ((r4[k] + r5[k]) + (r6[k] + r7[k]))
            for q in range(eights, n_units):
                if codes[q, b] >= 0:
                    row = W[start[q] + codes[q, b]]
                    for k in range(n):
                        total[k] += row[k]
        for k in range(n):
            for i in range(few):
                a[k, first + i] += sums[i, k]
