"""The exponential and the logarithm that kernels share, against NumPy's in twice the precision."""

import numpy as np
import pytest

from mvrbm.kernels.compile import exp, kernel, log


@kernel
def exponentials(x, out):
    for i in range(len(x)):
        out[i] = exp(x[i])


@kernel
def logarithms(x, out):
    for i in range(len(x)):
        out[i] = log(x[i])


@pytest.mark.parametrize(("dtype", "most", "within"), [(np.float32, 85.0, 2.5e-7), (np.float64, 700.0, 5e-16)])
def test_exponentials_and_logarithms(dtype, most, within):
    x = np.concatenate([np.linspace(-most, most, 10_001), np.linspace(-1, 1, 10_001), [0.0]]).astype(dtype)
    out = np.empty_like(x)
    exponentials(x, out)
    exact = np.exp(x.astype(np.longdouble))
    np.testing.assert_array_less(np.abs(out / exact - 1), within)
    numbers = out.copy()
    logarithms(numbers, out)
    exact = np.log(numbers.astype(np.longdouble))
    np.testing.assert_array_less(np.abs(out - exact), within * np.maximum(np.abs(exact), 1))
    ones = np.ones(3, dtype)
    logarithms(ones, out[:3])
    assert (out[:3] == 0).all()
