"""How kernels are compiled, and the exponential that they share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.extending import overload

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a loop nest: no GIL, cached on disk, fused multiply-add allowed, no other change of arithmetic."""
    return cast(F, numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})(function))


def inlined(function: F) -> F:
    """Compile a scalar helper into each kernel that calls it."""
    return cast(F, numba.njit(inline="always", error_model="numpy")(function))


def exp(x: Any) -> Any:
    """e^x in the precision of x; kernels get the versions below, Python callers NumPy's."""
    return np.exp(x)


@inlined
def exp32(x: Any) -> Any:
    """e^x in float32 by range reduction and a polynomial, within 2e-7: unlike a library call, LLVM vectorises it."""
    x = min(max(x, np.float32(-87.3)), np.float32(88.0))
    # adding and subtracting 1.5 * 2^23 rounds to the nearest integer in float32
    n = (x * np.float32(1.4426950408889634) + np.float32(12582912.0)) - np.float32(12582912.0)
    # log 2 in two parts, the first exact in float32, so that r keeps its low bits
    r = x - n * np.float32(0.693359375)
    r = r - n * np.float32(-2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    y = p * (r * r) + r + np.float32(1.0)
    exponent = np.int32((np.int32(n) + np.int32(127)) << np.int32(23))
    return y * exponent.view(np.float32)


@overload(exp, inline="always")
def _exp(x):  # type: ignore[no-untyped-def]  # numba compares its signature with that of the lambdas
    if x == numba.float32:
        return lambda x: exp32(x)
    return lambda x: math.exp(x)
