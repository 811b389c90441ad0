"""Sparse links between the rows of two arrays that have people in columns."""

from __future__ import annotations

from typing import Any

import numba


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def add(indptr: Any, indices: Any, values: Any, y: Any, out: Any) -> None:
    """out += A y for a sparse matrix A in compressed rows; four entries at a time, so that sums are stored less."""
    for i in range(len(indptr) - 1):
        own, first, stop = out[i], indptr[i], indptr[i + 1]
        fours = first + (stop - first) // 4 * 4
        for e in range(first, fours, 4):
            v0, v1, v2, v3 = values[e], values[e + 1], values[e + 2], values[e + 3]
            y0, y1, y2, y3 = y[indices[e]], y[indices[e + 1]], y[indices[e + 2]], y[indices[e + 3]]
            for b in range(len(own)):
                own[b] += (v0 * y0[b] + v1 * y1[b]) + (v2 * y2[b] + v3 * y3[b])
        for e in range(fours, stop):
            value, row = values[e], y[indices[e]]
            for b in range(len(own)):
                own[b] += value * row[b]


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def products(indptr: Any, indices: Any, left: Any, right: Any, out: Any) -> None:
    """out[e] = the sum over people of left[i] right[j], for each entry e of a sparse matrix at row i and column j."""
    zero = out.dtype.type(0)
    for i in range(len(indptr) - 1):
        row, first, stop = left[i], indptr[i], indptr[i + 1]
        twos = first + (stop - first) // 2 * 2
        for e in range(first, twos, 2):
            a, b = right[indices[e]], right[indices[e + 1]]
            total_a, total_b = zero, zero
            for n in range(len(row)):
                total_a += row[n] * a[n]
                total_b += row[n] * b[n]
            out[e], out[e + 1] = total_a, total_b
        for e in range(twos, stop):
            a, total_a = right[indices[e]], zero
            for n in range(len(row)):
                total_a += row[n] * a[n]
            out[e] = total_a
