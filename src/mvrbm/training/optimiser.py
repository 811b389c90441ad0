"""Steps along a gradient: SGD with momentum, and Adam."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from mvrbm.kernels.compile import kernel
from mvrbm.training.engine import Workers
from mvrbm.units.block import Array

_LEAST_SHARE = 1 << 16  # parameters for a thread: below, sharing costs more than it saves


@kernel
def _sgd(parameters: Any, gradient: Any, velocity: Any, rate: Any, momentum: Any) -> None:
    for i in range(len(parameters)):
        velocity[i] = momentum * velocity[i] + rate * gradient[i]
        parameters[i] += velocity[i]


@kernel
def _adam(
    parameters: Any, gradient: Any, first: Any, second: Any, rate: Any, keep_1: Any, keep_2: Any, tiny: Any
) -> None:
    one = parameters.dtype.type(1)
    for i in range(len(parameters)):
        g = gradient[i]
        first[i] = keep_1 * first[i] + (one - keep_1) * g
        second[i] = keep_2 * second[i] + (one - keep_2) * g * g
        parameters[i] += rate * first[i] / (math.sqrt(second[i]) + tiny)


@kernel
def largest(vector: Any) -> float:
    """The largest magnitude in a vector; infinite if any element is not finite."""
    top = vector.dtype.type(0)
    bad = 0
    for i in range(len(vector)):
        size = abs(vector[i])
        bad += 0 if size < np.inf else 1
        top = max(top, size)
    return math.inf if bad else float(top)


@kernel
def shrink(weights: Any, rows: int, columns: int, share: Any, small: Any) -> None:
    """Take a share of each weight in a corner of a matrix off, in place: all of the share of those far below `small`.

    Of those far above it hardly any, as by a prior with heavy tails: w loses share * w / (1 + (w / small)^2).
    """
    one = weights.dtype.type(1)
    narrow = one / (small * small)
    for i in range(rows):
        row = weights[i]  # of the whole matrix, whose rows LLVM knows to be without gaps
        for k in range(columns):
            row[k] -= share * row[k] / (one + narrow * row[k] * row[k])


class Optimiser(ABC):
    """A rule for steps; `state` is all that it remembers between them."""

    n_vectors: int

    def __init__(self, size: int, dtype: np.dtype[np.floating]) -> None:
        self.state = np.zeros((self.n_vectors, size), dtype)
        self.steps = 0

    def reset(self) -> None:
        """Forget the past, as after a step that was undone."""
        self.state[:] = 0
        self.steps = 0

    def step(self, parameters: Array, gradient: Array, rate: float, workers: Workers | None = None) -> None:
        """Move the parameters uphill, in place; each parameter moves by itself, so threads may share them out."""
        self.steps += 1
        n_shares = 1 if workers is None else min(workers.n_threads, parameters.size // _LEAST_SHARE)
        if workers is None or n_shares < 2:
            self._move(slice(None), parameters, gradient, rate)
            return
        size = -(-parameters.size // n_shares // 1024) * 1024  # so registers hold the same parameters, however shared
        shares = [slice(i, i + size) for i in range(0, parameters.size, size)]
        for _ in workers.map(lambda own: self._move(own, parameters, gradient, rate), shares):
            pass

    @abstractmethod
    def _move(self, own: slice, parameters: Array, gradient: Array, rate: float) -> None: ...


class SGD(Optimiser):
    """Plain steps, with momentum if asked for."""

    n_vectors = 1

    def __init__(self, size: int, dtype: np.dtype[np.floating], momentum: float = 0.0) -> None:
        super().__init__(size, dtype)
        self._momentum = dtype.type(momentum)

    def _move(self, own: slice, parameters: Array, gradient: Array, rate: float) -> None:
        rate_, velocity = parameters.dtype.type(rate), self.state[0]
        _sgd(parameters[own], gradient[own], velocity[own], rate_, self._momentum)


class Adam(Optimiser):
    """Steps scaled by the gradient's recent size (Kingma and Ba, 2015)."""

    n_vectors = 2
    keep = (0.9, 0.999)

    def _move(self, own: slice, parameters: Array, gradient: Array, rate: float) -> None:
        keep_1, keep_2 = self.keep
        # both bias corrections in one factor of the rate
        unbias = math.sqrt(1 - keep_2**self.steps)
        rate *= unbias / (1 - keep_1**self.steps)
        as_ = parameters.dtype.type
        first, second = self.state[:, own]
        _adam(parameters[own], gradient[own], first, second, as_(rate), as_(keep_1), as_(keep_2), as_(1e-8 * unbias))
