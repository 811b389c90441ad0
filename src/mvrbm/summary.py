"""What the data says of each column of the answers before training: how often, how much, how spread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import Answers, Source, Weights, weights_also
from mvrbm.arrays import FileError, State, Stored
from mvrbm.kernels.compile import kernel

if TYPE_CHECKING:
    from mvrbm.units.question import Question

Sums = tuple[NDArray[Any], ...]


@dataclass(frozen=True)
class Summary:
    """Weighted counts of codes and moments of numbers, a row for each column of the answers."""

    counts: NDArray[np.float64]
    """How often each code was given, (code columns, codes)."""
    moments: NDArray[np.float64]
    """Weight, mean and standard deviation of each number column, (number columns, 3)."""

    def state(self) -> State:
        """The arrays, for files."""
        return {"counts": self.counts, "moments": self.moments}

    @classmethod
    def restored(cls, questions: Sequence[Question], stored: Stored) -> Summary:
        """The summary of a table of these questions, as `state` told it."""
        n_codes, n_numbers = sum(q.n_codes for q in questions), sum(q.n_numbers for q in questions)
        counts = stored.take("counts", (n_codes, width(questions)), np.float64)
        found = cls(counts, stored.take("moments", (n_numbers, 3), np.float64))
        if (found.counts < 0).any() or (found.moments[:, [0, 2]] < 0).any():
            raise FileError("a count, a weight or a standard deviation is below 0")
        return found


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


def summarise(table: Source, questions: Sequence[Question], weights: Weights | None = None) -> Summary:
    """The summary of a table, in two passes by spans of rows."""
    own = relative(weights)
    counts, weight, mean = _totals(table, _Sums(width(questions)), own)
    mean /= np.maximum(weight, 1e-300)
    (square,) = _totals(table, _Squares(mean), own)
    return Summary(counts, np.stack([weight, mean, np.sqrt(square / np.maximum(weight, 1e-300))], axis=1))


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
