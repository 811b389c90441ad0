"""The log-probability of answers: exact for few hidden units, by annealed importance sampling for the rest.

Both are of the machine restricted to the questions of a pattern: a chunk that answers those, whatever it answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import Answers
from mvrbm.kernels import hidden
from mvrbm.kernels.random import Stream
from mvrbm.progress import Step, tell
from mvrbm.rbm import RBM, with_ones
from mvrbm.training.engine import CHUNK, Workers, chunks_of
from mvrbm.units.block import Array, Index
from mvrbm.visible import Chunk, keep_blanks

MOST_EXACT = 20
"""Hidden units up to which all their states are summed."""
_STATES = 1 << 12
_ALWAYS_EXACT = 10
"""Hidden units up to which the exact sum takes less time than sampling."""


def _repeated(pattern: Chunk, n: int) -> Chunk:
    if pattern.n_rows != 1:
        raise ValueError(f"a pattern of questions is one row, not {pattern.n_rows}")
    told = None if pattern.told is None else np.repeat(pattern.told, n, axis=1)
    return Chunk(np.repeat(pattern.codes, n, axis=1), np.repeat(pattern.numbers, n, axis=1), told)


def exact_log_z(rbm: RBM, pattern: Chunk) -> float:
    """log Z of the questions that the one row of `pattern` answers, by a sum over every state of the hidden units.

    Given h the questions are independent, so each state costs one product: Z = sum_h e^(w·h) prod_i Z_i(U + W h).
    """
    if rbm.n_hidden > MOST_EXACT:
        raise ValueError(
            f"an exact sum over {rbm.n_hidden} hidden units is out of reach; use ais (at most {MOST_EXACT})"
        )
    if rbm.links:
        raise ValueError("with direct links the questions depend on each other even given the hidden units; use ais")
    total = -np.inf
    X = rbm.features(pattern)
    w = rbm.parameters.w + rbm.parameters.R.T @ X[rbm.visible.n_features : -1, 0]
    for first in range(0, 1 << rbm.n_hidden, _STATES):
        states = np.arange(first, min(first + _STATES, 1 << rbm.n_hidden))
        H = with_ones(rbm.n_hidden, len(states), rbm.dtype)
        H[:-1] = (states >> np.arange(rbm.n_hidden)[:, None]) & 1
        like = _repeated(pattern, len(states))
        log_terms = rbm.visible.log_partition(rbm.visible_inputs(H, X), rbm.theta, like).sum(axis=0)
        log_terms = log_terms.astype(np.float64) + w @ H[:-1]
        total = np.logaddexp(total, np.logaddexp.reduce(log_terms))
    return float(total)


@dataclass(frozen=True)
class LogZ:
    """An estimate of log Z and its standard error."""

    value: float
    error: float


def ais(rbm: RBM, pattern: Chunk, *, n_chains: int = 100, n_steps: int = 1000, seed: int = 0) -> LogZ:
    """log Z of the questions that the one row of `pattern` answers, by annealed importance sampling (Neal, 2001).

    Chains start from the machine without hidden units that has the marginals of the data, whose Z is known, and pass
    through machines between it and this one: biases and base parameters move in a straight line, the hidden
    units' inputs and the links grow from 0.
    """
    if n_chains < 2:
        raise ValueError(f"a standard error needs at least 2 chains, not {n_chains}")
    like = _repeated(pattern, n_chains)
    path = _Path(rbm)
    stream = Stream(seed, 0, np.arange(n_chains))
    z = np.repeat(path.biases(0.0)[:, None], n_chains, axis=1)
    log_z = rbm.visible.log_partition(z[:, :1], path.theta(0.0), pattern).astype(np.float64).sum()
    log_z += rbm.n_hidden * np.log(2.0)
    chunk = keep_blanks(rbm.visible.sample(z, path.theta(0.0), stream), like)
    log_weights = np.zeros(n_chains)
    steps = np.linspace(0.0, 1.0, n_steps + 1)
    for before, now in pairwise(steps):
        X = rbm.features(chunk)
        a, t = rbm.hidden_inputs(chunk, X), rbm.visible.base_statistics(chunk, X[: rbm.visible.n_features])
        log_weights += path.log_unnormalised(now, X, a, t) - path.log_unnormalised(before, X, a, t)
        chunk = path.sweep(now, a, chunk, stream)
    top = log_weights.max()
    ratio = np.exp(log_weights - top)
    error = float(ratio.std(ddof=1) / np.sqrt(n_chains) / ratio.mean())
    return LogZ(float(log_z + top + np.log(ratio.mean())), error)


class _Path:
    """The machines between the one without hidden units, at 0, and the given one, at 1."""

    def __init__(self, rbm: RBM) -> None:
        self._rbm = rbm
        U, base = rbm.visible.start()
        self._U, self._theta = U.astype(rbm.dtype), rbm.visible.natural(base.astype(rbm.dtype))

    def biases(self, beta: float) -> Array:
        result: Array = (1 - beta) * self._U + beta * self._rbm.parameters.U
        return result.astype(self._rbm.dtype)

    def theta(self, beta: float) -> Array:
        result: Array = (1 - beta) * self._theta + beta * self._rbm.theta
        return result.astype(self._rbm.dtype)

    def log_unnormalised(self, beta: float, X: Array, a: Array, t: Array) -> Array:
        """The log of the sum over h, up to Z; a are the hidden units' inputs."""
        softplus = np.empty(X.shape[1], np.float64)
        hidden.sum_softplus(beta * a, softplus)
        rbm = self._rbm
        result: Array = softplus + self.biases(beta) @ X[: rbm.visible.n_features] + self.theta(beta) @ t
        return result + beta * rbm.links.energy(rbm.parameters.links, X) if rbm.links else result

    def sweep(self, beta: float, a: Array, chunk: Chunk, stream: Stream) -> Chunk:
        """One sweep of the machine at beta, from the inputs of its hidden units."""
        rbm = self._rbm
        H = with_ones(rbm.n_hidden, a.shape[1], rbm.dtype)
        np.multiply(a, beta, out=H[:-1])
        hidden.sigmoid(H[:-1])
        H = rbm.draw_hidden(H, stream)
        biases, own = self.biases(beta)[:, None], rbm.parameters.U[:, None]

        def draw(z: Array) -> Chunk:
            z = biases + rbm.dtype.type(beta) * (z - own)
            return keep_blanks(rbm.visible.sample(z, self.theta(beta), stream), chunk)

        return rbm.sweep(H, chunk, draw)


def row_log_probabilities(
    rbm: RBM, answers: Answers, n_threads: int | None = None, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """log P of each person's answers, and the standard error of its log Z, once for each pattern of blanks.

    The machine is that of the questions that the person answers. Numbers have a density, in the person's own units.
    """
    blanks = np.concatenate([answers.codes == answers.blank, np.isnan(answers.numbers)], axis=1)
    patterns, pattern_of = np.unique(blanks, axis=0, return_inverse=True)
    rows_of = [np.flatnonzero(pattern_of == n) for n in range(len(patterns))]
    out, error = np.empty(answers.n_rows), np.empty(answers.n_rows)

    def of(rows: Index) -> int:
        pattern = rbm.visible.load(answers, rows[:1], rbm.dtype)
        exact = rbm.n_hidden <= _ALWAYS_EXACT and not rbm.links
        z = LogZ(exact_log_z(rbm, pattern), 0.0) if exact else ais(rbm, pattern, seed=seed)
        for few in chunks_of(rows, CHUNK):
            chunk = rbm.visible.load(answers, few, rbm.dtype)
            out[few] = log_likelihood(rbm, chunk, z.value) + rbm.visible.log_unit(chunk)
        error[rows] = z.error
        return len(rows)

    with Workers(n_threads) as workers:
        done = 0
        for n in workers.map(of, rows_of):
            done += n
            tell(Step("log-probabilities", done, answers.n_rows))
    return out, error


def log_likelihood(rbm: RBM, chunk: Chunk, log_z: float | Array) -> Array:
    """log P of each person's answers, given log Z of the questions that they answer."""
    result: Array = -rbm.free_energy(chunk).astype(np.float64) - log_z
    return result
