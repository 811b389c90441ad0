"""How kernels are compiled, and the exponential that they share."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np


@contextmanager
def _uncollected() -> Iterator[None]:
    """For what makes objects that stay: to look through all of them for garbage, again and again, takes as long."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


with _uncollected():
    import numba
    from numba.extending import overload

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a loop nest: no GIL, cached on disk, fused multiply-add allowed, no other change of arithmetic."""
    return cast(F, numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})(function))


def reordered(function: F) -> F:
    """Compile a loop whose sum or product may be taken in any order: in the lanes of a register.

    What `inlined` helpers do would be reordered too, and `exp` must not be: call neither.
    """
    return cast(F, numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})(function))


def inlined(function: F) -> F:
    """Compile a scalar helper into each kernel that calls it."""
    return cast(F, numba.njit(inline="always", error_model="numpy")(function))


@kernel
def _first(x: Any) -> Any:
    return x


@cache
def warm() -> None:
    """Have the compiler set itself up, which it does at the first call of any kernel, and makes most of its objects."""
    with _uncollected():
        _first(0)


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


@inlined
def exp64(x: Any) -> Any:
    """e^x in float64, in the same way, within 4e-16 of e^x itself."""
    x = min(max(x, -708.0), 709.0)
    shifted = x * 1.4426950408889634 + 6755399441055744.0  # 1.5 * 2^52: the integer stands in the lowest bits
    n = shifted - 6755399441055744.0
    r = x - n * 0.693147180369123816490
    r = r - n * 1.90821492927058770002e-10
    p = 1.0 / 6227020800.0  # Taylor's series: |r| is at most log(2) / 2
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    y = p * (r * r) + r + 1.0
    exponent = np.int64((np.float64(shifted).view(np.int64) + np.int64(1023)) << np.int64(52))
    return y * exponent.view(np.float64)


@overload(exp, inline="always")
def _exp(x):  # type: ignore[no-untyped-def]  # numba compares its signature with that of the lambdas
    return (lambda x: exp32(x)) if x == numba.float32 else (lambda x: exp64(x))


def log(x: Any) -> Any:
    """The logarithm of x, a positive normal number, in the precision of x; kernels get the versions below."""
    return np.log(x)


@inlined
def log32(x: Any) -> Any:
    """The logarithm in float32 by its exponent and a polynomial, within 2e-7, which LLVM vectorises."""
    bits = np.float32(x).view(np.int32)
    # the mantissa between sqrt(1/2) and sqrt(2): count the exponent from sqrt(1/2)
    n = np.int32((bits - np.int32(0x3F3504F3)) >> np.int32(23))
    f = np.int32(bits - (n << np.int32(23))).view(np.float32) - np.float32(1.0)
    p = np.float32(7.0376836292e-2)
    p = p * f + np.float32(-1.1514610310e-1)
    p = p * f + np.float32(1.1676998740e-1)
    p = p * f + np.float32(-1.2420140846e-1)
    p = p * f + np.float32(1.4249322787e-1)
    p = p * f + np.float32(-1.6668057665e-1)
    p = p * f + np.float32(2.0000714765e-1)
    p = p * f + np.float32(-2.4999993993e-1)
    p = p * f + np.float32(3.3333331174e-1)
    square = f * f
    y = p * f * square + np.float32(n) * np.float32(-2.12194440e-4) - np.float32(0.5) * square
    return f + y + np.float32(n) * np.float32(0.693359375)


@inlined
def log64(x: Any) -> Any:
    """The logarithm in float64, in the same way: the series of log((1 + s) / (1 - s)), where |s| is at most 0.172."""
    bits = np.float64(x).view(np.int64)
    # no instruction of AVX2 turns int64 into float64: add 2^52 + 2^51 as bits, take it off as a number
    n = np.int64((bits - np.int64(0x3FE6A09E667F3BCD)) >> np.int64(52))
    m = np.int64(bits - (n << np.int64(52))).view(np.float64)
    whole = np.int64(n + np.int64(0x4338000000000000)).view(np.float64) - 6755399441055744.0
    s = (m - 1.0) / (m + 1.0)
    square = s * s
    p = 2.0 / 21.0
    p = p * square + 2.0 / 19.0
    p = p * square + 2.0 / 17.0
    p = p * square + 2.0 / 15.0
    p = p * square + 2.0 / 13.0
    p = p * square + 2.0 / 11.0
    p = p * square + 2.0 / 9.0
    p = p * square + 2.0 / 7.0
    p = p * square + 2.0 / 5.0
    p = p * square + 2.0 / 3.0
    y = p * square * s + whole * 1.90821492927058770002e-10
    return 2.0 * s + y + whole * 0.693147180369123816490


@overload(log, inline="always")
def _log(x):  # type: ignore[no-untyped-def]  # numba compares its signature with that of the lambdas
    return (lambda x: log32(x)) if x == numba.float32 else (lambda x: log64(x))
