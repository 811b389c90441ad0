"""Answers hidden from training, and what they say about when to slow down and when to stop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import Answers
from mvrbm.rbm import RBM
from mvrbm.training.engine import CHUNK, Workers, chunks_of
from mvrbm.units.block import Array, Index
from mvrbm.visible import Visible

MOST_ROWS = 4000
"""People whose answers are hidden: enough to tell two epochs apart, few enough to cost little beside an epoch."""


MOST_PATTERNS = 1000
"""People of whom a machine remembers which questions they answered."""


def hide(
    answers: Answers,
    visible: Visible,
    share: float,
    seed: int,
    most_rows: int | None = None,
    weights: Array | None = None,
) -> HiddenAnswers:
    """Hide a share of the answered questions of some people whose weight is not 0, whole questions at a time.

    The number hidden for a person is the share of what they answered, rounded up or down at random so that the
    mean is right.
    """
    random = np.random.Generator(np.random.Philox(key=[seed, 2**63]))
    rows = np.arange(answers.n_rows) if weights is None else np.flatnonzero(weights)
    if most_rows and len(rows) > most_rows:
        rows = np.sort(random.permutation(rows)[:most_rows])
    kept = Answers(answers.codes.copy(), answers.numbers.copy())
    for own in chunks_of(rows, CHUNK):
        chunk = visible.load(answers, own)
        visible.store(visible.keep_only(chunk, ~_chosen(visible.answered(chunk), share, random)), kept, own)
    return HiddenAnswers(answers, kept, rows)


def patterns(visible: Visible, answers: Answers, weights: Array | None, seed: int) -> NDArray[np.bool_]:
    """Which questions some people, drawn at random, answer, (people, questions in the layer's order)."""
    random = np.random.Generator(np.random.Philox(key=[seed, 2**63 + 1]))
    share = None if weights is None else weights / weights.sum()
    rows = random.choice(answers.n_rows, min(answers.n_rows, MOST_PATTERNS), p=share)
    return visible.answered(visible.load(answers, np.sort(rows))).T


def _chosen(answered: NDArray[np.bool_], share: float, random: np.random.Generator) -> NDArray[np.bool_]:
    """The answered questions to hide, (questions, people)."""
    number = (share * answered.sum(axis=0) + random.random(answered.shape[1])).astype(np.int64)
    return as_many(answered, number, random)


def as_many(answered: NDArray[np.bool_], number: Index, random: np.random.Generator) -> NDArray[np.bool_]:
    """That many of the questions that each person answers, at random, (questions, people)."""
    rank = np.where(answered, random.random(answered.shape), 2.0).argsort(axis=0).argsort(axis=0)
    chosen: NDArray[np.bool_] = answered & (rank < number)
    return chosen


@dataclass(frozen=True)
class HiddenAnswers:
    """A table of which some answers were hidden."""

    full: Answers
    """The table as it was."""
    kept: Answers
    """The table without the hidden answers."""
    rows: Index
    """The rows that had answers hidden."""
    exchangeable: ClassVar[bool] = True
    """Whether the hidden answers were chosen at random among all, so that others could have been hidden as well."""

    @property
    def any(self) -> bool:
        """Whether anything was hidden: of people who answer one question each, perhaps nothing."""
        full, kept = self.full.take(self.rows), self.kept.take(self.rows)
        return bool((kept.codes != full.codes).any() or (np.isnan(kept.numbers) & ~np.isnan(full.numbers)).any())

    @property
    def hidden(self) -> Answers:
        """The hidden answers alone."""
        codes = np.where(
            self.kept.codes == self.kept.blank, self.full.codes, self.full.codes.dtype.type(self.kept.blank)
        )
        return Answers(codes, np.where(np.isnan(self.kept.numbers), self.full.numbers, np.float32(np.nan)))

    def of(self, rows: Index) -> Self:
        """The same for some rows of the table, all that had answers hidden among them."""
        return replace(
            self, full=self.full.take(rows), kept=self.kept.take(rows), rows=np.searchsorted(rows, self.rows)
        )

    def loss(self, rbm: RBM, workers: Workers, weights: Array | None = None) -> float:
        """Minus the mean log-probability of a hidden answer, given the posterior of what was kept."""

        def of(own: Index) -> tuple[float, float]:
            part = HiddenAnswers(self.full.take(own), self.kept.take(own), own)
            every = np.arange(len(own))
            kept, hidden = (rbm.visible.load(a, every, rbm.dtype) for a in (part.kept, part.hidden))
            X = rbm.features(kept)
            log_prob = rbm.log_prob_given(hidden, rbm.posterior(kept, X), X)
            weight = np.ones(len(own)) if weights is None else weights[own]
            score, number = log_prob.sum(axis=0, dtype=np.float64), rbm.visible.answered(hidden).sum(axis=0)
            return float(weight @ score), float(weight @ number)

        parts = list(workers.map(of, chunks_of(self.rows, CHUNK)))
        total = sum(n for _, n in parts)
        return -sum(p for p, _ in parts) / total if total else 0.0


@dataclass
class Patience:
    """Lower the rate when the loss has not fallen for some epochs, and stop when lowering no longer helps."""

    epochs: int
    drops: int = 2
    """How often the rate is lowered before stopping."""
    factor: float = 0.3
    best: float = np.inf
    vector: Array | None = None
    """The parameters at the best epoch."""
    waited: int = 0

    def see(self, loss: float, vector: Array) -> str:
        """Judge an epoch: "better", "wait", "lower" (go on from the best, slower) or "stop"."""
        if loss < self.best - 1e-5:
            self.best, self.vector, self.waited = loss, vector.copy(), 0
            return "better"
        self.waited += 1
        if self.waited < self.epochs:
            return "wait"
        self.waited = 0
        self.drops -= 1
        return "lower" if self.drops >= 0 else "stop"
