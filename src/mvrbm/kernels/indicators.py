"""0/1 units: one code, one feature and one sigmoid each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mvrbm.kernels.compile import exp, kernel


@kernel
def features(codes: Any, x: Any) -> None:
    """x = the code; 0 where it is blank."""
    zero = x.dtype.type(0)
    for j in range(codes.shape[0]):
        for b in range(codes.shape[1]):
            x[j, b] = x.dtype.type(codes[j, b]) if codes[j, b] > 0 else zero


@kernel
def sample(z: Any, u: Any, codes: Any) -> None:
    """code = 1 with probability sigmoid(z)."""
    one = z.dtype.type(1)
    for j in range(z.shape[0]):
        for b in range(z.shape[1]):
            codes[j, b] = np.int16(1) if u[j, b] * (one + exp(-z[j, b])) < one else np.int16(0)


@kernel
def log_partition(z: Any, codes: Any, owner: Any, out: Any) -> None:
    """out[owner of j] += log(1 + e^z[j]) where j is answered."""
    for j in range(z.shape[0]):
        for b in range(z.shape[1]):
            if codes[j, b] >= 0:
                v = z[j, b]
                out[owner[j], b] += max(v, 0.0) + math.log1p(math.exp(-abs(v)))
