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
                codes[q, b] += np.int32(1) if running[level, b] <= total[b] else np.int32(0)


@kernel
def probabilities(logits: Any, start: Any, size: Any, p: Any) -> None:
    """p = softmax of each unit's logits; p may be logits."""
    n = logits.shape[1]
    top, total = np.empty(n, logits.dtype), np.empty(n, logits.dtype)
    for q in range(len(start)):
        s, m = start[q], size[q]
        _largest(logits, s, m, top)
        total[:] = 0
        for level in range(s, s + m):
            for b in range(n):
                p[level, b] = exp(logits[level, b] - top[b])
                total[b] += p[level, b]
        for level in range(s, s + m):
            for b in range(n):
                p[level, b] /= total[b]


@kernel
def log_partition(logits: Any, start: Any, size: Any, codes: Any, owner: Any, out: Any) -> None:
    """out[owner of q] += log sum_m e^logit where q is answered."""
    n = logits.shape[1]
    top, total = np.empty(n, logits.dtype), np.empty(n, logits.dtype)
    for q in range(len(start)):
        s, m = start[q], size[q]
        _largest(logits, s, m, top)
        total[:] = 0
        for level in range(s, s + m):
            for b in range(n):
                total[b] += exp(logits[level, b] - top[b])
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
