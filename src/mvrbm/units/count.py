"""Count questions: how often, how many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from mvrbm.cells import Cells, Value, to_numbers
from mvrbm.kernels import levels
from mvrbm.summary import Summary
from mvrbm.units.block import Array, Block, Codes
from mvrbm.units.categorical import OneAnswer
from mvrbm.units.continuous import QUANTILES
from mvrbm.units.levels import LevelBlock
from mvrbm.units.ordinal import steps_and_answered
from mvrbm.units.question import Columns
from mvrbm.units.view import View

MOST = 2000
"""The largest `high`: each count up to it is a level, and larger ones hardly differ from numbers."""
FEW = 20
"""Up to this `high`, the probability of each count is told; beyond it mean, standard deviation and quantiles."""


class Count(OneAnswer):
    """A question whose answer is a count: 0, 1, 2 and so on up to `high`.

    Left out, `high` is twice the largest count of the table (at least 10), for new tables to have room. What lies
    above it is refused, or blank with `unseen="missing"`.

    >>> Count("visits", high=50)
    Count('visits', high=50)
    """

    kind = "count"
    spoken = "counts"
    ordered = True
    measure = "scale"
    loss = "absolute"
    error_means = "of the distance from the median, on average"

    def __init__(
        self,
        name: str,
        *,
        high: int | None = None,
        missing: Iterable[Value] = (),
        asked_if: Mapping[str, Any] | None = None,
        label: str = "",
        labels: Mapping[Any, str] | None = None,
    ) -> None:
        super().__init__(name, missing=missing, asked_if=asked_if, label=label, labels=labels)
        self.high = None if high is None else self._most(high)
        self.values = None if self.high is None else self._checked(range(self.high + 1))

    @property
    def block(self) -> type[Block]:
        """The model's side of the type."""
        return CountBlock

    @property
    def few(self) -> bool:
        """Whether there are so few counts that each is told by itself."""
        return self.n_values <= FEW + 1

    def _most(self, high: Any) -> int:
        whole = isinstance(high, (int, np.integer)) and not isinstance(high, bool)
        if not whole or not 1 <= high <= MOST:
            way_out = "take larger counts as a continuous question"
            raise self._error(f"its counts must end at a whole number from 1 to {MOST}, not at {high!r}; {way_out}")
        return int(high)

    @property
    def described(self) -> str:
        """From where to where the counts go."""
        return "counts from 0" + ("" if self.high is None else f" up to {self.high}")

    def feature_names(self, n: int) -> list[Any]:
        """Name the features: the count, and its logarithm."""
        return ["more", "more, by its logarithm"][:n]

    def _learn(self, columns: Columns) -> Self:
        if self.high is not None:
            return self._copy()
        numbers, _ = to_numbers(columns[self.name], self.missing)
        found = np.unique(numbers[np.isfinite(numbers)])
        if not len(found):
            raise self._error("the table holds no answer to learn its values from; give high=... or leave it out")
        if len(found) == 1:
            raise self._error(f"every answer is {found[0]:g}; leave it out (ignore) or give high=...")
        most = max(int(found[-1]), 1)
        blank = [int(code) - 1 for code in self.missing if not isinstance(code, str) and code > most]
        return self._copy(high=min([max(2 * most, 10), max(most, MOST), *blank]))

    def _not_among(self, value: Any) -> str:
        way_out = 'list it in missing=[...] if it means blank, or set unseen="missing"'
        number = to_numbers(np.array([value], object))[0][0]
        if self.high is not None and np.isfinite(number) and number > self.high:
            return f"is above high={self.high}; raise high, {way_out}"
        return f"is no count (0, 1, 2, ...); correct it, {way_out}"

    def views(self, block: Cells) -> list[View]:
        """The count itself, as a number."""
        return [View("", self.to_numbers(block)[:, 0], ordered=True)]

    def events(self, block: Cells, chances: Cells) -> tuple[Cells, Cells]:
        """Whether each count was the answer; of many, whether it lies below each quantile, and whether at most there.

        Of whole numbers less than the share lies below a quantile, and more at most there: halfway, it is the share.
        """
        if self.few:
            return super().events(block, chances)
        quantiles = chances[:, -len(QUANTILES) :]
        happened = np.hstack([block < quantiles, block <= quantiles])
        return np.broadcast_to(2 * QUANTILES, happened.shape), np.where(block < 0, np.nan, happened)


class CountBlock(LevelBlock):
    """Counts: Poisson units (Gehler et al., named by the paper among its kin), cut off at `high`.

    The base is Poisson's -log v!, less its tangent at the mean, for which U makes up: so it is 0 there, and of the size
    of other statistics. The features are the count and its logarithm, scaled: the first moves the rate, both
    together also how wide it spreads. How much wider or narrower than Poisson's the counts of all spread is learnt, as
    a multiple of the base (the Conway-Maxwell-Poisson distribution). The paper's unit has the count alone.
    """

    links_itself = False  # v·v' outgrows log v!: the machine would gather at the bounds
    smoothing = 1e-3

    def __init__(self, questions: Sequence[Count], summary: Summary, paper: bool) -> None:
        self._own, self._paper = questions, paper
        counts = [c[: q.n_values] for q, c in zip(questions, summary.counts, strict=True)]
        x, t = [_features(c)[:, : 1 if paper else 2] for c in counts], [_base(c, paper)[:, None] for c in counts]
        A, C = (sparse.block_diag(each, format="csr") for each in (x, t))
        super().__init__(questions, [len(c) for c in counts], np.arange(len(counts)), A, C)
        self.base_question = np.arange(len(counts))
        self.feature_start = self.base_question * (1 if paper else 2)
        self._distance = np.array([_distance(c) for c in counts])

    def start_base(self) -> Array:
        return np.ones(self.n_base)

    def natural_slope(self, base: Array) -> Array:
        return np.full_like(base, 0.0 if self._paper else 1.0)

    def cool(self, outlook: Array, codes: Codes, weights: Array) -> None:
        """Leave the temper: how widely counts spread is a parameter, and a flatter base would move their middle."""

    def settle(self, outlook: Array, codes: Codes, numbers: Array) -> None:
        """The median, which loses least by the absolute error."""
        levels.median(outlook, self.level_start, self.size, codes)

    def certainty(self, outlook: Array, codes: Codes) -> Array:
        """The probability of the count or, where there are many, the standard deviation."""
        sure = super().certainty(outlook, codes)
        for q, question in enumerate(self._own):
            if not question.few:
                sure[q] = self._told(q, outlook)[1]
        return sure

    def chances(self, q: int, outlook: Array) -> tuple[list[object], Array]:
        """The probability of each count or, where there are many, mean, standard deviation and quantiles."""
        if self._own[q].few:
            return super().chances(q, outlook)
        return ["mean", "sd", *(f"{share:.0%}" for share in QUANTILES)], self._told(q, outlook)

    def _told(self, q: int, outlook: Array) -> Array:
        _, p = super().chances(q, outlook)
        v = np.arange(len(p))
        mean = v @ p
        sd = np.sqrt(np.maximum(v**2 @ p - mean**2, 0))
        below = np.cumsum(p, axis=0)
        return np.array([mean, sd, *((below < share).sum(axis=0) for share in QUANTILES)])

    def errors(
        self, codes: Codes, numbers: Array, true_codes: Codes, true_numbers: Array, weights: Array
    ) -> NDArray[np.float64]:
        """The distance, as a share of what guessing the median errs; a blank guess is `high` away."""
        steps = steps_and_answered(codes, true_codes, weights, self.size)
        parts: NDArray[np.float64] = steps * np.stack([(self.size - 1) / self._distance, np.ones(len(steps))], axis=1)
        return parts


def _features(counts: Array) -> Array:
    """x(v) of each count, (counts, 2): itself and its logarithm, less their means, by four standard deviations.

    One would make weights of the same size move counts further than other answers, and they were overfitted. What
    hardly varies keeps its unit.
    """
    v, share = np.arange(len(counts)), counts / max(counts.sum(), 1e-300)
    x = np.stack([v, np.log1p(v)], axis=1)
    x -= share @ x
    result: Array = x / np.maximum(4 * np.sqrt(share @ x**2), (1.0, 0.5))
    return result


def _base(counts: Array, paper: bool) -> Array:
    """t(v) of each count: Poisson's base; else than by the paper in the data's width, -1/2 a standard deviation away.

    So what is learnt is about 1, whatever the counts. It is Poisson's where it is the variance by the mean.
    """
    v, share = np.arange(len(counts)), counts / max(counts.sum(), 1e-300)
    mean = float(share @ v)
    poisson: Array = special.gammaln(mean + 1) + (v - mean) * special.digamma(mean + 1) - special.gammaln(v + 1)
    return poisson if paper else poisson * max(mean, 0.5) / max(share @ (v - mean) ** 2, 1.0)


def _distance(counts: Array) -> float:
    """The mean distance of the counts from their median, or 1 if there is none."""
    below = np.cumsum(counts)
    away = np.abs(np.arange(len(counts)) - (below < below[-1] / 2).sum())
    return float(away @ counts / max(below[-1], 1e-300)) or 1.0
