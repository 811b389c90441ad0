"""Answers hidden from training, and what they say about when to slow down and when to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import Answers, Patched, Source
from mvrbm.rbm import RBM
from mvrbm.summary import rows_that_count, weight_of
from mvrbm.training.engine import CHUNK, Workers, chunks_of
from mvrbm.units.block import Array, Index
from mvrbm.visible import Chunk, Visible

MOST_ROWS = 4000
"""People whose answers are hidden: enough to tell two epochs apart, few enough to cost little beside an epoch."""

_LEAST_LOG = -100.0
"""The least that a code or number of a hidden answer counts for in the loss."""

MOST_PATTERNS = 1000
"""People of whom a machine remembers which questions they answered."""


def hide(
    answers: Source,
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
    rows = rows_that_count(weights, answers.n_rows)
    if most_rows and len(rows) > most_rows:  # drawn without a list of all, which may be long
        chosen = np.sort(random.choice(len(rows), most_rows, replace=False, shuffle=False))
        rows = chosen if weights is None else np.asarray(rows)[chosen]

    def without_some(chunk: Chunk) -> Chunk:
        return visible.keep_only(chunk, ~_chosen(visible.answered(chunk), share, random))

    rows = np.asarray(rows)
    return HiddenAnswers(answers, without(answers, rows, visible, without_some), rows)


def without(answers: Source, rows: Index, visible: Visible, blanked: Callable[[Chunk], Chunk]) -> Patched:
    """The table in which some rows, given in rising order, are `blanked`."""
    instead = answers.take(rows)
    instead = Answers(instead.codes.copy(), instead.numbers.copy())
    for own in chunks_of(np.arange(len(rows)), CHUNK):
        visible.store(blanked(visible.load(instead, own)), instead, own)
    return Patched(answers, rows, instead)


def patterns(visible: Visible, answers: Source, weights: Array | None, seed: int) -> NDArray[np.bool_]:
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

    full: Source
    """The table as it was."""
    kept: Source
    """The table without the hidden answers."""
    rows: Index
    """The rows that had answers hidden."""
    exchangeable: ClassVar[bool] = True
    """Whether the hidden answers were chosen at random among all, so that others could have been hidden as well."""

    @cached_property
    def given(self) -> Answers:
        """What `rows` still answer."""
        return self.kept.take(self.rows)

    @cached_property
    def hidden(self) -> Answers:
        """The answers of `rows` that are hidden."""
        full, kept = self.full.take(self.rows), self.given
        codes = np.where(kept.codes == kept.blank, full.codes, full.codes.dtype.type(kept.blank))
        return Answers(codes, np.where(np.isnan(kept.numbers), full.numbers, np.float32(np.nan)))

    @property
    def any(self) -> bool:
        """Whether anything was hidden: of people who answer one question each, perhaps nothing."""
        return bool((self.hidden.codes != self.hidden.blank).any() or (~np.isnan(self.hidden.numbers)).any())

    def of(self, rows: Index) -> Self:
        """The same for some rows of the table, all that had answers hidden among them."""
        return replace(
            self, full=self.full.take(rows), kept=self.kept.take(rows), rows=np.searchsorted(rows, self.rows)
        )

    def loss(self, rbm: RBM, workers: Workers, weights: Array | None = None) -> float:
        """Minus the mean log-probability of a hidden answer, given the posterior of what was kept.

        No answer counts as less probable than `_LEAST_LOG` says: a mistake would be all that is heard of.
        """
        given, hidden_answers = self.given, self.hidden
        least = _LEAST_LOG * np.bincount(rbm.visible.cell_question)[:, None]

        def of(own: Index) -> tuple[float, float]:
            kept, hidden = (rbm.visible.load(answers, own, rbm.dtype) for answers in (given, hidden_answers))
            X = rbm.features(kept)
            log_prob = rbm.log_prob_given(hidden, rbm.posterior(kept, X), X)
            weight = weight_of(weights, self.rows[own])
            log_prob = np.maximum(log_prob, least)
            score, number = log_prob.sum(axis=0, dtype=np.float64), rbm.visible.answered(hidden).sum(axis=0)
            return float(weight @ score), float(weight @ number)

        parts = list(workers.map(of, chunks_of(np.arange(len(self.rows)), CHUNK)))
        total = sum(n for _, n in parts)
        return -sum(p for p, _ in parts) / total if total else 0.0


_SPAN = 0.25
"""The share of the epochs so far that is compared with as many before, to tell whether the loss still falls."""
_WORTH = 5e-4
"""By how much, in nats for an answer, it has to fall from the one to the other to be worth going on."""
_LEAST_RAISED = 12
"""Epochs at a raised rate before they are judged: they are noisier than those before."""


@dataclass
class Patience:
    """Lower the rate when the loss no longer falls, and stop when lowering does not help either.

    A loss that falls slowly may not be the lowest for some epochs, for the noise of the steps alone. So after some
    epochs without a lowest one the mean of the last epochs is compared with that of those before. The longer it
    falls, the more epochs are compared: what is learnt slowly shows in the long run. Then the rate is raised, and what
    follows is judged by itself.
    """

    epochs: int
    drops: int
    """How often the rate is lowered before stopping."""
    raises: int = 0
    """How often it may still be raised; once it was lowered, it stays down."""
    long: int = 20
    """Epochs at a rate after which, if the loss still falls, there is so much left to learn that it may be raised."""
    lower: float = 0.3
    higher: float = 2.0
    best: float = np.inf
    vector: Array | None = None
    """The parameters at the best epoch of all."""
    lowest: float = np.inf
    back: Array | None = None
    """Those at the best epoch since the rate was raised, which a lower rate starts from."""
    waited: int = 0
    least: int = 0
    """Epochs at this rate before it is judged."""
    losses: list[float] = field(default_factory=list)
    """Those since the rate was changed."""

    @property
    def plain(self) -> dict[str, Any]:
        """What is remembered from epoch to epoch, but for the parameters."""
        return {
            name: getattr(self, name) for name in ("best", "lowest", "waited", "drops", "raises", "least", "losses")
        }

    def see(self, loss: float, vector: Array) -> str:
        """Judge an epoch: "better", "wait", "raise" (go on from here, faster), "lower" (from `back`) or "stop"."""
        self.losses.append(loss)
        better = loss < self.best - 1e-5
        if better:
            self.best, self.vector = loss, vector.copy()
        first = self.least > 0 and len(self.losses) == 1  # at a raised rate
        if first or better or loss < self.lowest - 1e-5:
            self.lowest, self.back, self.waited = loss, self.vector if better else vector.copy(), 0
            return "better" if better else "wait"
        self.waited += 1
        falls = self._falls()
        if falls and self.raises and len(self.losses) >= self.long:
            self.raises, self.least, self.losses = self.raises - 1, _LEAST_RAISED, []
            return "raise"
        if falls or self.waited < self.epochs or len(self.losses) < self.least:
            return "wait"
        self.waited = self.raises = self.least = 0
        self.losses = []
        self.drops -= 1
        return "lower" if self.drops >= 0 else "stop"

    def _falls(self) -> bool:
        """Whether the loss still falls, beneath the noise of single epochs."""
        n = max(self.epochs, int(_SPAN * len(self.losses)))
        if len(self.losses) < 2 * n:
            return False
        before, after = np.mean(self.losses[-2 * n : -n]), np.mean(self.losses[-n:])
        return bool(after < before - _WORTH)
