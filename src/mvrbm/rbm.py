"""The machine: parameters, energy, posterior, conditional, free energy and Gibbs sampling.

The energy is `-E(v, h) = theta·t(v) + U·x(v) + w·h + x(v)^T W h` (paper Eq. 1-2 in the one form of all types). With a
row of ones below x and below h, U, W and w are one matrix, and each direction is one product.

A machine may be told which questions are answered, r: then it is P(v | r), and the energy gains `-r^T R h`. It may have
direct links between questions (`links.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mvrbm.arrays import State, Stored, under
from mvrbm.kernels import hidden
from mvrbm.kernels.random import Stream
from mvrbm.links import Links
from mvrbm.units.block import Array, Index
from mvrbm.units.question import Question
from mvrbm.visible import Chunk, Visible, Wanted, fill_blanks, keep_blanks

_MOST_JOINT = 0.98
"""The most of what the squares of numbers hold that links between them may take away."""


class Parameters:
    """The parameters of a machine, or a gradient: one vector with named views."""

    def __init__(
        self, n_features: int, n_hidden: int, n_base: int, n_told: int, n_links: int, vector: Array | None = None
    ) -> None:
        size = (n_features + n_told + 1) * (n_hidden + 1)
        whole = self.size(n_features, n_hidden, n_base, n_told, n_links)
        self.vector = np.zeros(whole, np.float32) if vector is None else vector
        self.shape = (n_features, n_hidden, n_base, n_told, n_links)
        self.joint = self.vector[:size].reshape(n_features + n_told + 1, n_hidden + 1)
        self.W = self.joint[:n_features, :-1]
        self.U = self.joint[:n_features, -1]
        self.R = self.joint[n_features:-1, :-1]
        self.w = self.joint[-1, :-1]
        self.base = self.vector[size : size + n_base]
        self.links = self.vector[size + n_base :]

    def __reduce__(self) -> tuple[type[Parameters], tuple[int, int, int, int, int, Array]]:
        """Copies and pickles hold the vector, and make their own views of it."""
        return Parameters, (*self.shape, self.vector)

    @staticmethod
    def size(n_features: int, n_hidden: int, n_base: int, n_told: int, n_links: int) -> int:
        """The number of parameters of a shape."""
        return (n_features + n_told + 1) * (n_hidden + 1) + n_base + n_links

    def like(self, vector: Array) -> Parameters:
        """Parameters of the same shape on another vector."""
        return Parameters(*self.shape, vector)

    def moved(self, places: Index, n_features: int) -> Parameters:
        """The same in a machine of other features: `places` tells where the own ones go, or -1; new ones have 0."""
        size = self.joint.size
        told, kept = self.joint[len(places) :], np.flatnonzero(places >= 0)
        joint = np.zeros((n_features + len(told), self.joint.shape[1]), self.vector.dtype)
        joint[places[kept]], joint[n_features:] = self.joint[kept], told
        return Parameters(n_features, *self.shape[1:], np.concatenate([joint.ravel(), self.vector[size:]]))


def with_ones(rows: int, columns: int, dtype: DTypeLike) -> Array:
    """An array whose last row is ones."""
    out = np.empty((rows + 1, columns), dtype)
    out[-1] = 1
    return out


class RBM:
    """A visible layer, binary hidden units, and the parameters between them."""

    mean_field = False
    """Whether an answer is predicted with the hidden units at their posterior means, and not summed out."""

    patterns: NDArray[np.bool_] | None = None
    """Which questions some people of the training table answered, (people, questions): what made-up people are told."""

    def __init__(self, visible: Visible, parameters: Parameters, links: Links | None = None) -> None:
        self.visible, self.parameters, self.links = visible, parameters, links
        self.others: list[RBM] = []
        """Machines that were trained from other seeds: predictions are by the mean of what all of them say."""
        self.refresh()

    @classmethod
    def start(
        cls,
        visible: Visible,
        n_hidden: int,
        seed: int,
        scale: float = 0.01,
        dtype: DTypeLike = np.float32,
        *,
        answered: bool = False,
        links: Links | None = None,
    ) -> RBM:
        """A machine at the data's marginals, with small random weights; if `answered`, told which questions are."""
        n_told, n_links = visible.n_questions if answered else 0, len(links) if links else 0
        shape = visible.n_features, n_hidden, visible.n_base, n_told, n_links
        parameters = Parameters(*shape, np.zeros(Parameters.size(*shape), dtype))
        U, base = visible.start()
        parameters.U[:], parameters.base[:] = U, base
        parameters.W[:] = scale * np.random.Generator(np.random.Philox(seed)).standard_normal(parameters.W.shape)
        return cls(visible, parameters, links)

    def another(self, seed: int) -> RBM:
        """A machine like this one, at the start that the seed makes."""
        answered = len(self.parameters.R) > 0
        return RBM.start(self.visible, self.n_hidden, seed, dtype=self.dtype, answered=answered, links=self.links)

    def copy(self) -> RBM:
        """The machine without the others, on parameters of its own."""
        own = RBM(self.visible, self.parameters.like(self.parameters.vector.copy()), self.links)
        own.mean_field, own.patterns = self.mean_field, self.patterns
        return own

    def state(self) -> State:
        """The machine as named arrays; with its questions, `visible.paper` and `mean_field` it is the whole machine."""
        p = self.parameters
        own: State = {"U": p.U, "W": p.W, "R": p.R, "w": p.w, "base": p.base}
        if self.links:
            own |= {"links": p.links, "links.rows": self.links.rows, "links.columns": self.links.columns}
        if self.patterns is not None:
            own["patterns"] = self.patterns
        for number, other in enumerate(self.others):
            own[f"others.{number}"] = other.parameters.vector
        return own | under("visible", self.visible.state())

    @classmethod
    def restored(cls, questions: Sequence[Question], stored: Stored, *, version: int, paper: bool = False) -> RBM:
        """The machine whose `state` was stored in a model file, whose format tells which features it has."""
        visible = Visible.restored(questions, stored.under("visible"), paper=paper)
        places = visible.features_of(version)
        W = stored.take("W", (len(places), None), np.float32, np.float64)
        n_hidden, kind = W.shape[1], W.dtype.type
        R = stored.take("R", (None, n_hidden), kind)
        if len(R) not in (0, visible.n_questions):
            raise ValueError(f"R has {len(R)} rows for {visible.n_questions} questions")
        links = None
        if "links" in stored:
            rows = stored.take("links.rows", (None,), np.int64)
            columns = stored.take("links.columns", rows.shape, np.int64)
            Links.check(rows, columns, np.where(places < 0, -1, visible.feature_question[places]), len(R))
            to = np.concatenate([places, visible.n_features + np.arange(len(R))])
            links = Links(places[rows], to[columns], visible.feature_question)
        shape = len(places), n_hidden, visible.n_base, len(R), len(links) if links else 0
        parameters = Parameters(*shape, np.zeros(Parameters.size(*shape), kind))
        parameters.W[:], parameters.R[:] = W, R
        for name in ("U", "w", "base", *(["links"] if links else [])):
            own = getattr(parameters, name)
            own[:] = stored.take(name, own.shape, kind)
        rbm = cls(visible, parameters.moved(places, visible.n_features), links)
        if "patterns" in stored:
            rbm.patterns = stored.take("patterns", (None, visible.n_questions), np.bool_)
        while (name := f"others.{len(rbm.others)}") in stored:
            vector = stored.take(name, parameters.vector.shape, kind)
            rbm.others.append(cls(visible, parameters.like(vector).moved(places, visible.n_features), links))
        return rbm

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

    def keep_finite(self) -> None:
        """Weaken the links between features without an end, in place, where together they outgrow the squares.

        Those of numbers x are the matrix L of the exponent -x^T (P - L) x / 2, P the precisions on its diagonal. Z is
        finite as long as P - L is positive definite: the eigenvalues of P^(-1/2) L P^(-1/2) are below 1.
        """
        features, base = self.visible.squares.T
        own, left, right = self.links.among(features) if self.links else (features[:0],) * 3
        if not len(own):
            return
        sd = (-2 * self.theta[base].astype(np.float64)) ** -0.5
        joint = np.zeros((len(features), len(features)))
        joint[left, right] = joint[right, left] = self.parameters.links[own] * sd[left] * sd[right]
        top = np.linalg.eigvalsh(joint)[-1]
        if top > _MOST_JOINT:
            self.parameters.links[own] *= self.dtype.type(_MOST_JOINT / top)

    def features(self, chunk: Chunk, X: Array | None = None) -> Array:
        """x(v) over what the machine is told of the questions answered, over a row of ones."""
        X = np.empty((len(self.parameters.joint), chunk.n_rows), self.dtype) if X is None else X
        n = self.visible.n_features
        self.visible.features(chunk, X[:n])
        if len(self.parameters.R):
            X[n:-1] = self.visible.told(chunk)
        X[-1] = 1
        return X

    def hidden_inputs(self, chunk: Chunk, X: Array, out: Array | None = None, alone: bool = False) -> Array:
        """w + W^T x + R^T r, (hidden, people); X are the chunk's `features`.

        BLAS may round a person's sums by their place among the others. What is said of people, and not just learnt, is
        `alone`: summed in float64, so that it comes out the same whoever is beside them.
        """
        dense = self.visible.first_dense
        weights, own = self.parameters.joint[dense:, :-1].T, X[dense:]
        if alone:
            weights, own = weights.astype(np.float64), own.astype(np.float64)
        a: Array = np.matmul(weights, own, out=out).astype(self.dtype, copy=False)
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

    def posterior_alone(self, chunk: Chunk) -> Array:
        """P(h = 1 | v) of each person, whoever else is in the chunk, (hidden, people)."""
        H = self.hidden_inputs(chunk, self.features(chunk), alone=True)
        hidden.sigmoid(H)
        return H

    def draw_hidden(self, H: Array, stream: Stream, out: Array | None = None, scratch: Array | None = None) -> Array:
        """Hidden units drawn from their posterior, over a row of ones."""
        out = np.empty_like(H) if out is None else out
        hidden.draw(H[:-1], stream.uniform(self.n_hidden, scratch), out[:-1])
        out[-1] = 1
        return out

    def visible_inputs(self, H: Array, X: Array, out: Array | None = None) -> Array:
        """z = U + W h + L x + S r, (features, people); X are the `features` of the answers given."""
        z: Array = np.matmul(self.parameters.joint[: self.visible.n_features], H, out=out)
        if self.links:
            self.links.add_inputs(self.parameters.links, X, z)
        return z

    def sweep(self, H: Array, chunk: Chunk, draw: Callable[[Array], Chunk]) -> Chunk:
        """Every question drawn anew by `draw` given its inputs z; linked ones one after another, by their colours."""
        z = self.visible_inputs(H, self.features(chunk))
        if not self.links:
            return draw(z)
        for number, colour in enumerate(self.links.colours):
            if number:
                z = self.visible_inputs(H, self.features(chunk))
            chunk = self.visible.put(chunk, colour, draw(z))
        return chunk

    def energy(self, chunk: Chunk, H: Array) -> Array:
        """E(v, h) of the machine restricted to the questions answered; H has its row of ones."""
        X = self.features(chunk)
        coupled = np.einsum("kb,kb->b", self.hidden_inputs(chunk, X), H[:-1])
        result: Array = -(self.own_energy(chunk, X) + coupled)
        return result

    def own_energy(self, chunk: Chunk, X: Array) -> Array:
        """The part of -E that does not depend on the hidden units: theta·t(v) + U·x(v) and the links."""
        x = X[: self.visible.n_features]
        result: Array = self.theta @ self.visible.base_statistics(chunk, x) + self.parameters.U @ x
        return result + self.links.energy(self.parameters.links, X) if self.links else result

    def free_energy(self, chunk: Chunk, given: Chunk | None = None) -> Array:
        """-log of the sum over h of exp(-E(v, h)), of the questions answered; with `given`, less that of `given`.

        With `given`, a chunk that answers some of the same questions, it is the conditional free energy: the
        probability of the answers of `chunk`, given those of `given`, is proportional to exp of minus it. Both are told
        that the questions of `given` are answered.
        """
        if given is not None:
            chunk = replace(chunk, told=self.visible.told(given))
        X = self.features(chunk)
        softplus = np.empty(chunk.n_rows, np.float64)
        hidden.sum_softplus(self.hidden_inputs(chunk, X), softplus)
        energy: Array = -(self.own_energy(chunk, X) + softplus)
        return energy if given is None else energy - self.free_energy(given)

    def gibbs(self, chunk: Chunk, stream: Stream, steps: int, given: Chunk | None = None) -> Chunk:
        """The answers after some sweeps of Gibbs sampling: all hidden units, then all questions.

        What is blank in `chunk` is no part of the machine and stays blank. With `given`, the machine is the full
        one: the answers of `given` are held fixed, what it leaves blank is drawn, and only what it answers is told.
        """
        told = self.visible.told(chunk if given is None else given)
        like = replace(chunk if given is None else given, told=told)
        chunk = replace(chunk, told=told)

        def draw(z: Array) -> Chunk:
            drawn = self.visible.sample(z, self.theta, stream)
            return keep_blanks(drawn, like) if given is None else fill_blanks(like, drawn)

        for _ in range(steps):
            chunk = self.sweep(self.draw_hidden(self.posterior(chunk), stream), chunk, draw)
        return chunk

    def given(self, chunk: Chunk, X: Array | None = None) -> tuple[Array, list[Array]]:
        """The `features` of the answers given, and the inputs that they are to the hidden units of every machine."""
        X = self.features(chunk, X)
        return X, [machine.hidden_inputs(chunk, X, alone=True) for machine in (self, *self.others)]

    def outlook(
        self,
        X: Array,
        inputs: list[Array],
        wanted: Wanted,
        without: int | None = None,
        mean_field: bool | None = None,
    ) -> list[Array]:
        """What every wanted answer may be, by block of the layer, as `given` tells the others; a block at a time.

        The hidden units are summed out in the machine of the other answers and that one (paper section 3.2) or, with
        `mean_field` (None: if that is how the machine learnt to predict), held at their posterior means. `without` is a
        question, by its place in the layer, that counts as not answered.
        """
        machines = (self, *self.others)
        theta = np.mean([machine.theta for machine in machines], axis=0)
        if self.mean_field if mean_field is None else mean_field:
            held = (
                m.visible_inputs(m.posterior_given(X, a, without), X) for m, a in zip(machines, inputs, strict=True)
            )
            U, theta = self.visible.tempered(np.mean(list(held), axis=0), theta)
            none = np.empty((0, X.shape[1]), self.dtype)
            return self.visible.outlook(none, U, self.parameters.W[:, :0], theta, wanted)
        P = np.concatenate([m.posterior_given(X, a, without)[:-1] for m, a in zip(machines, inputs, strict=True)])
        W = np.concatenate([machine.parameters.W for machine in machines], axis=1)
        U = np.mean([machine.parameters.U for machine in machines], axis=0)[:, None]
        if self.links:
            U = np.repeat(U, X.shape[1], axis=1)
            links = np.mean([machine.parameters.links for machine in machines], axis=0)
            self.links.add_inputs(links, X, U)
        return self.visible.outlook(P, U, W, theta, wanted, 1 / len(machines))

    def posterior_given(self, X: Array, inputs: Array, without: int | None) -> Array:
        """P(h = 1) over a row of ones, given the inputs of the hidden units; as if a question were not answered."""
        H = with_ones(self.n_hidden, X.shape[1], self.dtype)
        H[:-1] = inputs
        if without is not None:
            own = self.visible.feature_question == without
            H[:-1] -= self.parameters.W[own].T @ X[: len(own)][own]
            if len(self.parameters.R):
                H[:-1] -= np.outer(self.parameters.R[without], X[len(own) + without])
        hidden.sigmoid(H[:-1])
        return H

    def log_prob_given(self, chunk: Chunk, H: Array, X: Array) -> Array:
        """log P(answer | h, answers given) of each question (paper Eq. 4), (questions, people); X is of the latter."""
        return self.visible.log_prob(chunk, self.visible_inputs(H, X), self.theta)
