"""Sparse links between the rows of two arrays that have people in columns.

An entry e of the matrix, in compressed rows, is at column `indices[e]`, and has `gain[e]` times the weight `number[e]`.
"""

from __future__ import annotations

from typing import Any

from mvrbm.kernels.compile import kernel, reordered


@kernel
def add(indptr: Any, indices: Any, number: Any, gain: Any, weights: Any, y: Any, out: Any) -> None:
    """out += A y; four entries at a time, so that sums are stored less."""
    for i in range(len(indptr) - 1):
        own, first, stop = out[i], indptr[i], indptr[i + 1]
        fours = first + (stop - first) // 4 * 4
        for e in range(first, fours, 4):
            v0, v1 = gain[e] * weights[number[e]], gain[e + 1] * weights[number[e + 1]]
            v2, v3 = gain[e + 2] * weights[number[e + 2]], gain[e + 3] * weights[number[e + 3]]
            y0, y1, y2, y3 = y[indices[e]], y[indices[e + 1]], y[indices[e + 2]], y[indices[e + 3]]
            for b in range(len(own)):
                own[b] += (v0 * y0[b] + v1 * y1[b]) + (v2 * y2[b] + v3 * y3[b])
        for e in range(fours, stop):
            value, row = gain[e] * weights[number[e]], y[indices[e]]
            for b in range(len(own)):
                own[b] += value * row[b]


@reordered
def add_products(indptr: Any, indices: Any, number: Any, gain: Any, left: Any, right: Any, out: Any) -> None:
    """out[number of e] += gain times the sum over people of left[i] right[j], for each entry e at row i, column j."""
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
            out[number[e]] += gain[e] * total_a
            out[number[e + 1]] += gain[e + 1] * total_b
        for e in range(twos, stop):
            a, total_a = right[indices[e]], zero
            for n in range(len(row)):
                total_a += row[n] * a[n]
            out[number[e]] += gain[e] * total_a
