"""Random numbers as a pure function of (seed, step, row, draw): Philox4x32-10 (Salmon et al., 2011).

A draw never depends on which thread, process or machine asks for it, nor on what was drawn before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvrbm.kernels.compile import inlined, kernel

_MULTIPLIER_0, _MULTIPLIER_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL_0, _WEYL_1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


@inlined
def _round(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any, r: Any) -> Any:
    """Round r of Philox; the round's key is the same for every row, so the compiler takes it out of the loop."""
    p0 = _MULTIPLIER_0 * c0
    p1 = _MULTIPLIER_1 * c2
    key_0 = (k0 + np.uint64(r) * _WEYL_0) & _LOW
    key_1 = (k1 + np.uint64(r) * _WEYL_1) & _LOW
    return (p1 >> _HALF) ^ c1 ^ key_0, p1 & _LOW, (p0 >> _HALF) ^ c3 ^ key_1, p0 & _LOW


@inlined
def _unit(word: Any) -> Any:
    """The upper 23 bits as the centre of one of 2^23 equal parts of (0, 1): exact in float32, never 0 or 1."""
    return (np.float32(np.int32(word >> np.uint64(9))) + np.float32(0.5)) * np.float32(2.0**-23)


@kernel
def uniforms(seed: Any, step: Any, low: Any, high: Any, first: Any, out: Any) -> None:
    """Fill out[4g + i, b] with word i of Philox at counter (first + g, low[b], high[b], step), keyed by the seed.

    `out` has a multiple of four rows. The rounds are written out and a row's number comes as two uint32: LLVM
    vectorises neither a loop of rounds nor 64-bit row numbers, and the vector form is eight times faster.
    """
    k0, k1 = np.uint64(seed) & _LOW, np.uint64(seed) >> _HALF
    word = np.uint64(step) & _LOW
    for g in range(out.shape[0] // 4):
        counter = np.uint64(first + g) & _LOW
        o0, o1, o2, o3 = out[4 * g], out[4 * g + 1], out[4 * g + 2], out[4 * g + 3]
        for b in range(out.shape[1]):
            c0, c1, c2, c3 = _round(counter, np.uint64(low[b]), np.uint64(high[b]), word, k0, k1, 0)
            c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0, k1, 1)
            c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0, k1, 2)
            c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0, k1, 3)
            c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0, k1, 4)
            c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0, k1, 5)
            c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0, k1, 6)
            c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0, k1, 7)
            c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0, k1, 8)
            c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0, k1, 9)
            o0[b] = _unit(c0)
            o1[b] = _unit(c1)
            o2[b] = _unit(c2)
            o3[b] = _unit(c3)


class Stream:
    """The random numbers of one step for a set of rows: each call takes the next draws of every row."""

    def __init__(self, seed: int, step: int, rows: NDArray[np.int64]) -> None:
        self._seed, self._step, self._next = np.uint64(seed), step, 0
        self._low, self._high = rows.astype(np.uint32), (rows >> 32).astype(np.uint32)

    def uniform(self, n: int, scratch: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Numbers in (0, 1), shape (n, rows)."""
        groups = -(-n // 4)
        out = np.empty((4 * groups, len(self._low)), np.float32) if scratch is None else scratch[: 4 * groups]
        uniforms(self._seed, self._step, self._low, self._high, self._next, out)
        self._next += groups
        return out[:n]
