"""The hidden layer: binary units with a sigmoid posterior (paper Eq. 3)."""

from __future__ import annotations

from typing import Any

from mvrbm.kernels.compile import exp, kernel, log


@kernel
def sigmoid(a: Any) -> None:
    """Replace a by 1 / (1 + e^-a); in place, since LLVM does not vectorise what may overlap."""
    one = a.dtype.type(1)
    for k in range(a.shape[0]):
        for b in range(a.shape[1]):
            a[k, b] = one / (one + exp(-a[k, b]))


@kernel
def draw(p: Any, u: Any, h: Any) -> None:
    """h = 1 where u < p, else 0."""
    one, zero = h.dtype.type(1), h.dtype.type(0)
    for k in range(p.shape[0]):
        for b in range(p.shape[1]):
            h[k, b] = one if u[k, b] < p[k, b] else zero


@kernel
def sum_softplus(a: Any, out: Any) -> None:
    """out[b] = sum over k of log(1 + e^a[k, b]), in float64: what summing out the hidden units leaves of the energy."""
    for b in range(a.shape[1]):
        out[b] = 0.0
    for k in range(a.shape[0]):
        for b in range(a.shape[1]):
            v = float(a[k, b])
            out[b] += max(v, 0.0) + log(1.0 + exp(-abs(v)))
