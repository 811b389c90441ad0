"""What a machine says about people: their vectors, and the answers it would give for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mvrbm.answers import Answers
from mvrbm.rbm import RBM
from mvrbm.training.engine import CHUNK, Workers, chunks_of
from mvrbm.units.block import Array, Index


def posteriors(rbm: RBM, answers: Answers, n_threads: int | None = None) -> Array:
    """P(h = 1 | answers), (rows, hidden units)."""
    out = np.empty((answers.n_rows, rbm.n_hidden), rbm.dtype)

    def of(rows: Index) -> None:
        out[rows] = rbm.posterior(rbm.visible.load(answers, rows, rbm.dtype))[:-1].T

    _for_each_chunk(of, answers, n_threads)
    return out


def reconstruct(rbm: RBM, answers: Answers, n_threads: int | None = None) -> Answers:
    """The answer to every question that P(v | h) decides on, with h replaced by its posterior (paper section 4.2.1)."""
    out = Answers(np.empty_like(answers.codes), np.empty_like(answers.numbers))

    def of(rows: Index) -> None:
        H = rbm.posterior(rbm.visible.load(answers, rows, rbm.dtype))
        rbm.visible.store(rbm.visible.decide(rbm.visible_inputs(H), rbm.theta), out, rows)

    _for_each_chunk(of, answers, n_threads)
    return out


def _for_each_chunk(work: Callable[[Index], None], answers: Answers, n_threads: int | None) -> None:
    with Workers(n_threads) as workers:
        for _ in workers.map(work, chunks_of(np.arange(answers.n_rows), CHUNK)):
            pass
