"""The machine: parameters, energy, posterior, conditional, free energy and Gibbs sampling.

The energy is `-E(v, h) = theta·t(v) + U·x(v) + w·h + x(v)^T W h` (paper Eq. 1-2 in the one form of all types). With a
row of ones below x and below h, U, W and w are one matrix, and each direction is one product.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike

from mvrbm.arrays import State, Stored, under
from mvrbm.kernels import hidden
from mvrbm.kernels.random import Stream
from mvrbm.units.block import Array
from mvrbm.units.question import Question
from mvrbm.visible import Chunk, Visible, Wanted, fill_blanks, keep_blanks


class Parameters:
    """The parameters of a machine, or a gradient: one vector with named views."""

    def __init__(self, n_features: int, n_hidden: int, n_base: int, vector: Array | None = None) -> None:
        size = (n_features + 1) * (n_hidden + 1)
        self.vector = np.zeros(size + n_base, np.float32) if vector is None else vector
        self.shape = (n_features, n_hidden, n_base)
        self.joint = self.vector[:size].reshape(n_features + 1, n_hidden + 1)
        self.W = self.joint[:-1, :-1]
        self.U = self.joint[:-1, -1]
        self.w = self.joint[-1, :-1]
        self.base = self.vector[size:]

    def __reduce__(self) -> tuple[type[Parameters], tuple[int, int, int, Array]]:
        """Copies and pickles hold the vector, and make their own views of it."""
        return Parameters, (*self.shape, self.vector)

    def like(self, vector: Array) -> Parameters:
        """Parameters of the same shape on another vector."""
        return Parameters(*self.shape, vector)


def with_ones(rows: int, columns: int, dtype: DTypeLike) -> Array:
    """An array whose last row is ones."""
    out = np.empty((rows + 1, columns), dtype)
    out[-1] = 1
    return out


class RBM:
    """A visible layer, binary hidden units, and the parameters between them."""

    mean_field = False
    """Whether an answer is predicted with the hidden units at their posterior means, and not summed out."""

    def __init__(self, visible: Visible, parameters: Parameters) -> None:
        self.visible, self.parameters = visible, parameters
        self.refresh()

    @classmethod
    def start(
        cls, visible: Visible, n_hidden: int, seed: int, scale: float = 0.01, dtype: DTypeLike = np.float32
    ) -> RBM:
        """A machine at the data's marginals, with small random weights."""
        n = (visible.n_features + 1) * (n_hidden + 1) + visible.n_base
        parameters = Parameters(visible.n_features, n_hidden, visible.n_base, np.zeros(n, dtype))
        U, base = visible.start()
        parameters.U[:], parameters.base[:] = U, base
        parameters.W[:] = scale * np.random.Generator(np.random.Philox(seed)).standard_normal(parameters.W.shape)
        return cls(visible, parameters)

    def state(self) -> State:
        """The machine as named arrays; with its questions and `visible.paper` it is the whole machine."""
        p = self.parameters
        return {"U": p.U, "W": p.W, "w": p.w, "base": p.base, **under("visible", self.visible.state())}

    @classmethod
    def restored(cls, questions: Sequence[Question], stored: Stored, *, paper: bool = False) -> RBM:
        """The machine whose `state` was stored."""
        visible = Visible.restored(questions, stored.under("visible"), paper=paper)
        W = stored.take("W", (visible.n_features, None), np.float32, np.float64)
        n_hidden, kind = W.shape[1], W.dtype.type
        n = (visible.n_features + 1) * (n_hidden + 1) + visible.n_base
        parameters = Parameters(visible.n_features, n_hidden, visible.n_base, np.zeros(n, kind))
        parameters.W[:], parameters.U[:] = W, stored.take("U", (visible.n_features,), kind)
        parameters.w[:], parameters.base[:] = (
            stored.take("w", (n_hidden,), kind),
            stored.take("base", (visible.n_base,), kind),
        )
        return cls(visible, parameters)

    @property
    def n_hidden(self) -> int:
        """The number of hidden units."""
        return self.parameters.shape[1]

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The precision of the parameters."""
        return self.parameters.vector.dtype

    def refresh(self) -> None:
        """Take note that the parameters were changed in place."""
        self.theta = self.visible.natural(self.parameters.base)
        self.theta_slope = self.visible.natural_slope(self.parameters.base)

    def features(self, chunk: Chunk, X: Array | None = None) -> Array:
        """x(v) over a row of ones."""
        X = np.empty((self.visible.n_features + 1, chunk.n_rows), self.dtype) if X is None else X
        self.visible.features(chunk, X[:-1])
        X[-1] = 1
        return X

    def hidden_inputs(self, chunk: Chunk, X: Array, out: Array | None = None) -> Array:
        """w + W^T x, (hidden, people); X are the chunk's features over a row of ones."""
        dense = self.visible.first_dense
        a: Array = np.matmul(self.parameters.joint[dense:, :-1].T, X[dense:], out=out)
        self.visible.add_inputs(chunk, self.parameters.joint, a)
        return a

    def posterior(self, chunk: Chunk, X: Array | None = None, H: Array | None = None) -> Array:
        """P(h = 1 | v) (paper Eq. 3) over a row of ones; X is where to write the features."""
        X = self.features(chunk, X)
        H = np.empty((self.n_hidden + 1, X.shape[1]), self.dtype) if H is None else H
        self.hidden_inputs(chunk, X, H[:-1])
        hidden.sigmoid(H[:-1])
        H[-1] = 1
        return H

    def draw_hidden(self, H: Array, stream: Stream, out: Array | None = None, scratch: Array | None = None) -> Array:
        """Hidden units drawn from their posterior, over a row of ones."""
        out = np.empty_like(H) if out is None else out
        hidden.draw(H[:-1], stream.uniform(self.n_hidden, scratch), out[:-1])
        out[-1] = 1
        return out

    def visible_inputs(self, H: Array, out: Array | None = None) -> Array:
        """z = U + W h, (features, people)."""
        result: Array = np.matmul(self.parameters.joint[:-1], H, out=out)
        return result

    def energy(self, chunk: Chunk, H: Array) -> Array:
        """E(v, h) of the machine restricted to the questions answered; H has its row of ones."""
        X = self.features(chunk)
        coupled = np.einsum("db,db->b", X[:-1], self.visible_inputs(H))
        result: Array = -(self.base_energy(chunk, X) + coupled + self.parameters.w @ H[:-1])
        return result

    def base_energy(self, chunk: Chunk, X: Array) -> Array:
        """theta·t(v) of each person, given the chunk's features."""
        result: Array = self.theta @ self.visible.base_statistics(chunk, X)
        return result

    def free_energy(self, chunk: Chunk, given: Chunk | None = None) -> Array:
        """-log of the sum over h of exp(-E(v, h)), of the questions answered; with `given`, less that of `given`.

        With `given`, a chunk that answers some of the same questions, it is the conditional free energy: the
        probability of the answers of `chunk`, given those of `given`, is proportional to exp of minus it.
        """
        X = self.features(chunk)
        softplus = np.empty(chunk.n_rows, np.float64)
        hidden.sum_softplus(self.hidden_inputs(chunk, X), softplus)
        energy: Array = -(self.base_energy(chunk, X) + self.parameters.U @ X[:-1] + softplus)
        return energy if given is None else energy - self.free_energy(given)

    def gibbs(self, chunk: Chunk, stream: Stream, steps: int, given: Chunk | None = None) -> Chunk:
        """The answers after some sweeps of block Gibbs sampling: all hidden units, then all questions.

        What is blank in `chunk` is no part of the machine and stays blank. With `given`, the machine is the full
        one: the answers of `given` are held fixed, and what it leaves blank is drawn.
        """
        like = chunk
        for _ in range(steps):
            H = self.draw_hidden(self.posterior(chunk), stream)
            chunk = self.visible.sample(self.visible_inputs(H), self.theta, stream)
            chunk = keep_blanks(chunk, like) if given is None else fill_blanks(given, chunk)
        return chunk

    def outlook(self, P: Array, wanted: Wanted, mean_field: bool | None = None) -> list[Array]:
        """What every wanted answer may be, by block of the layer; P is P(h = 1 | other answers), (hidden, people).

        The hidden units are summed out in the machine of the other answers and that one (paper section 3.2) or, with
        `mean_field` (None: if that is how the machine learnt to predict), held at P.
        """
        W, U = self.parameters.W, self.parameters.U[:, None]
        if self.mean_field if mean_field is None else mean_field:
            P, U, W = P[:0], U + W @ P, W[:, :0]
        return self.visible.outlook(P, U, W, self.theta, wanted)

    def log_prob_given(self, chunk: Chunk, H: Array) -> Array:
        """log P(answer | h) of each question (paper Eq. 4), (questions, people)."""
        return self.visible.log_prob(chunk, self.visible_inputs(H), self.theta)
