"""Steps taken around the middle of the data, so that a weight that moves does not move the biases with it.

The machine is as well written with `U = U' - W c` and `w = w' - W^T m` for any constants c and m (Cho, Raiko and
Ilin, 2013). With c the hidden units and m the inputs of an average row, the noise of a bias's gradient is not passed on
to every weight beside it, which without it drowns the first steps of small weights.
"""

from __future__ import annotations

import numpy as np

from mvrbm.answers import Source
from mvrbm.kernels import hidden
from mvrbm.rbm import RBM, Parameters
from mvrbm.summary import rows_that_count, weight_of
from mvrbm.training.engine import CHUNK, chunks_of
from mvrbm.units.block import Array

_ROWS = 4096


class Centring:
    """Gradients and steps of a machine, to and from centred parameters."""

    def __init__(self, rbm: RBM, answers: Source, weights: Array | None, kept: float) -> None:
        """Take the average of the inputs of the first rows, of whose answers a share is kept."""
        total = np.zeros(len(rbm.parameters.joint))
        rows = np.array(rows_that_count(weights, answers.n_rows)[:_ROWS])
        held, weight = answers.take(rows), weight_of(weights, rows)
        for own in chunks_of(np.arange(len(rows)), CHUNK):
            total += rbm.features(rbm.visible.load(held, own, rbm.dtype)).astype(np.float64) @ weight[own]
        self._inputs = (kept * total / max(weight.sum(), 1e-9)).astype(rbm.dtype)
        self._inputs[-1] = 1
        self._hidden: Array = np.zeros(rbm.n_hidden, rbm.dtype)

    def gradient(self, parameters: Parameters, out: Parameters) -> None:
        """Turn a gradient, in place, into that of the centred parameters."""
        middle = (parameters.joint[:, :-1].T @ self._inputs)[:, None]
        hidden.sigmoid(middle)
        self._hidden = middle[:, 0]
        out.W[:] -= np.outer(out.U, self._hidden)
        out.joint[:-1, :-1] -= np.outer(self._inputs[:-1], out.w)

    def moved(self, parameters: Parameters, before: Array) -> None:
        """Move the biases, in place, by what the weights have moved from `before`, a copy of `joint`."""
        step = parameters.joint[:-1, :-1] - before[:-1, :-1]
        parameters.U[:] -= step[: len(parameters.U)] @ self._hidden
        parameters.w[:] -= self._inputs[:-1] @ step
