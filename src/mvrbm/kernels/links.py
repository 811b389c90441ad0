"""Sparse links between the rows of two arrays that have people in columns."""

from __future__ import annotations

from typing import Any

import numba


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def products(indptr: Any, indices: Any, left: Any, right: Any, out: Any) -> None:
    """out[e] = the sum over people of left[i] right[j], for each entry e of a sparse matrix at row i and column j."""
    for i in range(len(indptr) - 1):
        row = left[i]
        for e in range(indptr[i], indptr[i + 1]):
            other = right[indices[e]]
            total = out.dtype.type(0)
            for b in range(len(row)):
                total += row[b] * other[b]
            out[e] = total
