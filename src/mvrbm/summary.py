"""What the data says of each column of the answers before training: how often, how much, how spread, in what steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import Answers, Source, Weights, weights_also
from mvrbm.arrays import FileError, State, Stored
from mvrbm.kernels.compile import kernel, warm

if TYPE_CHECKING:
    from mvrbm.units.question import Question

Sums = tuple[NDArray[Any], ...]

_PIECES = (32, 16, 8)
"""Into how many equal shares of its answers the steps of a number part it: as many as there are answers for."""
NEVER = 1e300
"""Where a step is that no number reaches."""
_LOW = 0.3
"""The height of a step within an eighth of the answers: what it says is learnt late, where eighths do not say it."""
_LEAST_IN_A_STEP = 10  # answers to a number between two steps, or it has none
_ENOUGH_ROWS = 100_000  # of a table, that tell where the steps are
_LEAST_WIDTH = 1e-6  # of a piece between two steps, in standard deviations: what is nearer is one to the model


@dataclass(frozen=True)
class Summary:
    """Weighted counts of codes and moments of numbers, a row for each column of the answers."""

    counts: NDArray[np.float64]
    """How often each code was given, (code columns, codes)."""
    moments: NDArray[np.float64]
    """Weight, mean and standard deviation of each number column, (number columns, 3)."""
    steps: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3, 0)))
    """Of each number column, numbers that part the answers, rising, the share above each, and how high a step each is,
    (number columns, 3, steps); beyond all numbers where there are fewer, and without a row where nothing is known of
    any."""

    def of(self, codes: NDArray[np.int64], numbers: NDArray[np.int64]) -> Summary:
        """The summary of some columns."""
        steps = self.steps[numbers] if len(self.steps) else self.steps
        return Summary(self.counts[codes], self.moments[numbers], steps)

    def state(self) -> State:
        """The arrays, for files."""
        own = {"counts": self.counts, "moments": self.moments}
        return own | {"steps": self.steps[:, :2], "heights": self.steps[:, 2]}

    @classmethod
    def restored(cls, questions: Sequence[Question], stored: Stored) -> Summary:
        """The summary of a table of these questions, as `state` told it."""
        n_codes, n_numbers = sum(q.n_codes for q in questions), sum(q.n_numbers for q in questions)
        counts = stored.take("counts", (n_codes, width(questions)), np.float64)
        found = cls(counts, stored.take("moments", (n_numbers, 3), np.float64))
        if (found.counts < 0).any() or (found.moments[:, [0, 2]] < 0).any():
            raise FileError("a count, a weight or a standard deviation is below 0")
        if "steps" not in stored:  # files of format 1 and 2
            return found
        steps = stored.take("steps", (None, 2, None), np.float64)
        each = (len(steps), steps.shape[2])
        heights = stored.take("heights", each, np.float64) if "heights" in stored else np.ones(each)  # as of format 3
        steps = np.concatenate([steps, heights[:, None]], axis=1)
        if len(steps) not in (0, n_numbers) or not _are_steps(steps):
            raise FileError("the steps of a number do not rise")
        if (heights < 0).any() or (heights > 1).any():
            raise FileError("a step of a number is lower than 0 or higher than 1")
        return cls(found.counts, found.moments, steps)


def _are_steps(steps: NDArray[np.float64]) -> bool:
    at, above = steps[:, 0], steps[:, 1]
    rises = (np.diff(at, axis=1) > 0) | (at[:, 1:] == NEVER)
    return bool(rises.all() and (at <= NEVER).all() and (above >= 0).all() and (above <= 1).all())


def width(questions: Sequence[Question]) -> int:
    """How many codes a summary counts in each column: as many as the question with the most values has."""
    return max([3, *(q.n_values for q in questions)])


@kernel
def _count(codes: Any, weights: Any, out: Any) -> None:
    """Add each row's weight to out[column, code]; blanks, the largest code of the dtype, are passed over."""
    blank = codes.dtype.type(-1)
    for b in range(codes.shape[0]):
        for c in range(codes.shape[1]):
            if codes[b, c] != blank:
                out[c, codes[b, c]] += weights[b]


def relative(weights: Weights | None) -> Weights | None:
    """Weights with mean 1, so that their unit does not matter; None is 1 for every row."""
    return None if weights is None else weights / np.mean(weights, dtype=np.float64)


def weight_of(weights: Weights | None, rows: NDArray[np.int64]) -> Weights:
    """The weights of some rows."""
    return np.ones(len(rows)) if weights is None else weights[rows]


def rows_that_count(weights: Weights | None, n_rows: int) -> range | NDArray[np.int64]:
    """The rows whose weight is not 0."""
    return range(n_rows) if weights is None else np.flatnonzero(weights)


def some_rows(weights: Weights | None, n_rows: int, most: int) -> NDArray[np.int64]:
    """At most so many of the rows whose weight is not 0, at random, the same for the same table; in rising order."""
    rows = rows_that_count(weights, n_rows)
    if len(rows) <= most:
        return np.asarray(rows, np.int64)
    random = np.random.Generator(np.random.Philox(key=n_rows))
    chosen = np.sort(random.choice(len(rows), most, replace=False, shuffle=False))
    return chosen if weights is None else np.asarray(rows)[chosen]


def summarise(table: Source, questions: Sequence[Question], weights: Weights | None = None) -> Summary:
    """The summary of a table, in two passes by spans of rows; some rows tell where numbers have their steps."""
    warm()
    own = relative(weights)
    counts, weight, mean = _totals(table, _Sums(width(questions)), own)
    mean /= np.maximum(weight, 1e-300)
    (square,) = _totals(table, _Squares(mean), own)
    moments = np.stack([weight, mean, np.sqrt(square / np.maximum(weight, 1e-300))], axis=1)
    return Summary(counts, moments, _steps(table, own, moments[:, 2]) if len(moments) else np.zeros((0, 3, 0)))


def _steps(table: Source, weights: Weights | None, spread: NDArray[np.float64]) -> NDArray[np.float64]:
    some = some_rows(weights, table.n_rows, _ENOUGH_ROWS)
    numbers, weight = table.take(some).numbers, weight_of(weights, some)
    columns = zip(numbers.T, ~np.isnan(numbers).T, spread, strict=True)
    steps = np.stack([_steps_of(column[there], weight[there], _LEAST_WIDTH * sd) for column, there, sd in columns])
    return steps[:, :, (steps[:, 0] < NEVER).any(axis=0)]


def _steps_of(numbers: NDArray[np.floating], weights: Weights, least: float) -> NDArray[np.float64]:
    """Where equal shares of the answers part, halfway between two that were given, the share above, and how high it is.

    Steps that are nearer than `least` to each other, or to the ends of the answers, are left out. Those within an
    eighth of the answers are low.
    """
    found = np.zeros((3, max(_PIECES) - 1))
    found[0] = NEVER
    pieces = next((n for n in _PIECES if len(numbers) >= _LEAST_IN_A_STEP * n), 1)
    if pieces == 1:
        return found
    values, place = np.unique(numbers.astype(np.float64), return_inverse=True)
    weight = np.bincount(place, weights)
    up_to = np.cumsum(weight / weight.sum())
    last = np.unique(np.searchsorted(up_to, np.arange(1, pieces) / pieces - 1e-9))
    last = last[last < len(values) - 1]
    eighth = np.isin(last, np.searchsorted(up_to, np.arange(1, 8) / 8 - 1e-9))
    at = (values[last] + values[last + 1]) / 2
    wide = np.diff([values[0], *at]) > least
    wide &= values[-1] - at > least
    found[0, : wide.sum()] = at[wide]
    found[1, : wide.sum()] = 1 - up_to[last][wide]
    found[2, : wide.sum()] = np.where(eighth[wide], 1.0, _LOW)
    return found


def _totals(table: Source, work: Callable[[Answers, Weights], Sums], weights: Weights | None) -> Sums:
    def add(total: Sums, found: Sums) -> Sums:
        return tuple(a + b for a, b in zip(total, found, strict=True))

    return reduce(add, table.over_spans(work, weights_also(weights)))


@dataclass(frozen=True)
class _Sums:
    """Counts of the codes of a span; weight and sum of its numbers."""

    n_codes: int

    def __call__(self, answers: Answers, weights: Weights) -> Sums:
        counts = np.zeros((answers.codes.shape[1], self.n_codes))
        _count(answers.codes, weights, counts)
        there = weights @ ~np.isnan(answers.numbers)
        return counts, there, weights @ np.nan_to_num(answers.numbers.astype(np.float64))


@dataclass(frozen=True)
class _Squares:
    """The squared distances of the numbers of a span from the mean."""

    mean: NDArray[np.float64]

    def __call__(self, answers: Answers, weights: Weights) -> Sums:
        return (weights @ np.nan_to_num((answers.numbers - self.mean) ** 2),)
