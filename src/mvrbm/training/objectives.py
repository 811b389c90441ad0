"""What training follows: the gradient of a batch as a sum over chunks.

An objective cuts a batch into jobs. A job is a pure function of the parameters, its rows and the random numbers of
(seed, step, row, draw); it fills one vector, and the sum of the vectors is the gradient, so jobs may run
anywhere and again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvrbm.answers import Source
from mvrbm.arrays import State, Stored
from mvrbm.kernels.random import Stream
from mvrbm.rbm import RBM, Parameters
from mvrbm.training.engine import chunk_size, chunks_of
from mvrbm.training.workspace import Workspace
from mvrbm.units.block import Array, Index
from mvrbm.visible import Chunk, keep_blanks

_CHAIN_ROWS = 1 << 48  # chains draw as rows that no table has


@dataclass(frozen=True)
class Batch:
    """The rows of one step."""

    answers: Source
    rows: Index
    weights: Array
    """The weight of each row of the batch, as a share: without weights they sum to 1."""
    step: int

    def pieces(self, size: int) -> list[Batch]:
        """The batch in chunks."""
        return [
            Batch(self.answers, rows, weights, self.step)
            for rows, weights in zip(chunks_of(self.rows, size), chunks_of(self.weights, size), strict=True)
        ]


@dataclass(frozen=True)
class Chains:
    """Persistent chains of one step."""

    chunk: Chunk
    """Where they are."""
    rows: Index
    """The rows as which they draw."""
    weight: float
    """That of all chains together."""
    step: int


@dataclass
class Job:
    """Fills the vector it is given with a share of the gradient, and returns it."""

    share: Callable[[RBM, Any, Array], Chunk | None]
    """Fills a vector given the machine and the piece; returns what the next step goes on from, if anything."""
    rbm: RBM
    piece: Batch | Chains
    left: Chunk | None = None
    """What the share returned."""

    def __call__(self, vector: Array) -> Array:
        self.left = self.share(self.rbm, self.piece, vector)
        return vector


class Objective(ABC):
    """A way to learn from a batch."""

    centres = True
    """Whether steps may be taken around the middle of the data, which moves all biases with the weights."""
    targets: Sequence[int] = ()
    """The questions that it is about, by their places in the schema, if not all: their answers come untold."""

    def __init__(self, seed: int, gibbs_steps: int = 1, missing: str = "ignore", fill_steps: int = 3) -> None:
        """Take the sweeps of a chain, what a blank means ("ignore", "hidden") and the sweeps that fill it if hidden."""
        self.seed, self.gibbs_steps, self.missing, self.fill_steps = seed, gibbs_steps, missing, fill_steps

    @abstractmethod
    def jobs(self, rbm: RBM, batch: Batch) -> list[Job]:
        """The parts of the batch's gradient."""

    def begin(self, rate: float) -> None:  # noqa: B027
        """Begin an epoch whose learning rate is that share of the first by the schedule."""

    def restart(self) -> None:  # noqa: B027
        """Forget what was kept from step to step, as after steps that were undone."""

    def state(self) -> State:
        """What is kept from step to step, as named arrays."""
        return {}

    def restore(self, stored: Stored) -> None:  # noqa: B027
        """Take over what another objective kept."""

    def load(self, rbm: RBM, piece: Batch, stream: Stream) -> Chunk:
        """A piece's answers; blanks are left out, or drawn given the answers if they count as hidden."""
        chunk = rbm.visible.load(piece.answers, piece.rows, rbm.dtype)
        if self.missing == "hidden":
            chunk = rbm.gibbs(chunk, stream, self.fill_steps, given=chunk)
        return chunk


def add_statistics(
    rbm: RBM, chunk: Chunk, X: Array, H: Array, scale: Array, out: Parameters, work: Workspace | None
) -> None:
    """Add each person's x h^T, x, h and t, times their scale, to a gradient; without `work`, replace it. H is spent."""
    H *= scale
    if work is None:
        np.matmul(X, H.T, out=out.joint)
        out.base[:] = out.links[:] = 0
    else:
        np.matmul(X, H.T, out=work.product)
        out.joint += work.product
    if rbm.visible.n_base:
        out.base += rbm.theta_slope * (rbm.visible.base_statistics(chunk, X[: rbm.visible.n_features]) @ scale)


class CD(Objective):
    """Contrastive divergence: the data against what a few sweeps make of them (paper section 3.1.1).

    The chain keeps a row's blanks, so both phases belong to the machine of the questions that the row answers.
    """

    def jobs(self, rbm: RBM, batch: Batch) -> list[Job]:
        return [Job(self._gradient, rbm, piece) for piece in batch.pieces(chunk_size(len(batch.rows)))]

    def _gradient(self, rbm: RBM, piece: Batch, vector: Array) -> None:
        out = rbm.parameters.like(vector)
        work = Workspace.of(rbm, len(piece.rows))
        stream = Stream(self.seed, piece.step, piece.rows)
        chunk = self.load(rbm, piece, stream)
        scale = piece.weights.astype(rbm.dtype)
        H = rbm.posterior(chunk, work.X, work.H)
        rbm.draw_hidden(H, stream, work.h, work.u)
        add_statistics(rbm, chunk, work.X, H, scale, out, None)
        for sweep in range(self.gibbs_steps):
            if sweep:
                rbm.draw_hidden(H, stream, work.h, work.u)
            fantasy = rbm.visible.sample(rbm.visible_inputs(work.h, work.X, work.z), rbm.theta, stream, work.u)
            self.keep(rbm, fantasy, chunk)
            H = rbm.posterior(fantasy, work.X, work.H)
        add_statistics(rbm, fantasy, work.X, H, -scale, out, work)

    def keep(self, rbm: RBM, fantasy: Chunk, chunk: Chunk) -> None:
        """Put back, in place, what a sweep may not change: here the blanks."""
        keep_blanks(fantasy, chunk)


class Masked(Objective):
    """Hide a random part of each row's answers, and raise the mean-field log-probability of what was hidden.

    The share that is hidden is drawn anew for each row and step. With h at the posterior mean of the answers kept, the
    derivative by the inputs z = U + W h is x - E[x | z] at the answers hidden, and goes on through h to those kept.

    Much is hidden to learn from, but at last an answer is predicted from all the others that there are. So when the
    rate falls by a schedule, the largest share falls with it to the least, unless it is `steady`: the last steps see
    rows as predictions will.
    """

    def __init__(self, seed: int, shares: tuple[float, float] = (0.1, 0.5), *, steady: bool = False) -> None:
        """Take the least and the largest share of a row's answers to hide."""
        super().__init__(seed)
        self.shares, self.steady = shares, steady
        self._spread = shares[1] - shares[0]

    def begin(self, rate: float) -> None:
        self._spread = (1.0 if self.steady else rate) * (self.shares[1] - self.shares[0])

    def jobs(self, rbm: RBM, batch: Batch) -> list[Job]:
        return [Job(self._gradient, rbm, piece) for piece in batch.pieces(chunk_size(len(batch.rows)))]

    def split(self, rbm: RBM, piece: Batch) -> tuple[Chunk, Chunk]:
        """The answers of a piece that are kept, and those that are hidden: whole questions."""
        visible = rbm.visible
        chunk = visible.load(piece.answers, piece.rows, rbm.dtype)
        u = Stream(self.seed, piece.step, piece.rows).uniform(visible.n_questions + 1)
        hide = u[1:] < self.shares[0] + self._spread * u[0]
        return visible.keep_only(chunk, ~hide), visible.keep_only(chunk, hide)

    def _gradient(self, rbm: RBM, piece: Batch, vector: Array) -> None:
        out = rbm.parameters.like(vector)
        work = Workspace.of(rbm, len(piece.rows))
        kept, hidden = self.split(rbm, piece)
        H = rbm.posterior(kept, work.X, work.H)
        mean, base_mean = rbm.visible.mean(rbm.visible_inputs(H, work.X, work.z), rbm.theta, hidden)
        error = rbm.visible.features(hidden, work.z)
        out.base[:] = rbm.theta_slope * ((rbm.visible.base_statistics(hidden, error) - base_mean) @ piece.weights)
        error -= mean
        error *= piece.weights.astype(rbm.dtype)
        back = np.matmul(rbm.parameters.W.T, error, out=work.h[:-1])
        back *= H[:-1] * (1 - H[:-1])
        np.matmul(work.X, back.T, out=out.joint[:, :-1])
        product = np.matmul(error, H.T, out=work.product[: len(error)])
        out.W[:] += product[:, :-1]
        out.U[:] = product[:, -1]
        out.joint[len(error) :, -1] = 0
        if rbm.links:
            out.links[:] = rbm.links.slope(error, work.X)


class PCD(Objective):
    """Persistent contrastive divergence: the data against chains that go on from step to step (Tieleman, 2008).

    The chains are of the full machine, so a row's blanks count as hidden.
    """

    def __init__(self, seed: int, gibbs_steps: int, n_chains: int) -> None:
        super().__init__(seed, gibbs_steps, "hidden")
        self.n_chains = n_chains
        self.chains: list[Chunk] = []
        """The state of the chains, a chunk at a time, as the step that runs was given them."""
        self._running: list[Job] = []

    def restart(self) -> None:
        self.chains, self._running = [], []

    def _moved(self) -> list[Chunk]:
        """Where the chains are after the last step."""
        return [chain if job.left is None else job.left for chain, job in zip(self.chains, self._running, strict=True)]

    def state(self) -> State:
        chains = self._moved() if self._running else self.chains
        return {f"{part}.{i}": getattr(chain, part) for i, chain in enumerate(chains) for part in ("codes", "numbers")}

    def restore(self, stored: Stored) -> None:
        self.restart()
        while f"codes.{len(self.chains)}" in stored:
            i = len(self.chains)
            codes = stored.take(f"codes.{i}", (None, None), np.int16)
            numbers = stored.take(f"numbers.{i}", (None, codes.shape[1]), np.float32, np.float64)
            self.chains.append(Chunk(codes, numbers))

    def start(self, rbm: RBM) -> None:
        """Draw the chains from the machine without hidden units."""
        z = np.repeat(rbm.parameters.U[:, None], self.n_chains, axis=1)
        rows = np.arange(self.n_chains) + _CHAIN_ROWS
        pieces = chunks_of(rows, chunk_size(self.n_chains))
        # a step that training never reaches, so that these draws are not used again
        self.chains = [
            rbm.visible.sample(z[:, : len(own)], rbm.theta, Stream(self.seed, 2**32 - 1, own)) for own in pieces
        ]

    def jobs(self, rbm: RBM, batch: Batch) -> list[Job]:
        if not self.chains:
            self.start(rbm)
        if self._running:  # only now, so that a job that is run again starts from the chains that it was given
            self.chains = self._moved()
        rows = chunks_of(np.arange(self.n_chains) + _CHAIN_ROWS, chunk_size(self.n_chains))
        weight = float(batch.weights.sum())
        self._running = [
            Job(self._negative, rbm, Chains(chunk, own, weight, batch.step))
            for chunk, own in zip(self.chains, rows, strict=True)
        ]
        data = [Job(self._positive, rbm, piece) for piece in batch.pieces(chunk_size(len(batch.rows)))]
        return data + self._running

    def _positive(self, rbm: RBM, piece: Batch, vector: Array) -> None:
        work = Workspace.of(rbm, len(piece.rows))
        chunk = self.load(rbm, piece, Stream(self.seed, piece.step, piece.rows))
        H = rbm.posterior(chunk, work.X, work.H)
        add_statistics(rbm, chunk, work.X, H, piece.weights.astype(rbm.dtype), rbm.parameters.like(vector), None)

    def _negative(self, rbm: RBM, chains: Chains, vector: Array) -> Chunk:
        stream = Stream(self.seed, chains.step, chains.rows)
        chunk = rbm.gibbs(chains.chunk, stream, self.gibbs_steps)
        work = Workspace.of(rbm, chunk.n_rows)
        H = rbm.posterior(chunk, work.X, work.H)
        # as heavy as the batch, so that neither phase outweighs the other
        scale = np.full(chunk.n_rows, -chains.weight / self.n_chains, rbm.dtype)
        add_statistics(rbm, chunk, work.X, H, scale, rbm.parameters.like(vector), None)
        return chunk
