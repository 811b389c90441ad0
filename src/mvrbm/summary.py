"""What the data says of each column of the answers before training: how often, how much, how spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import Answers
from mvrbm.arrays import FileError, State, Stored
from mvrbm.kernels.compile import kernel

if TYPE_CHECKING:
    from mvrbm.units.question import Question

_BLOCK = 1 << 16


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


def relative(weights: NDArray[np.floating] | None, n_rows: int) -> NDArray[np.float64]:
    """Weights with mean 1, so that their unit does not matter; None is 1 for every row."""
    return np.ones(n_rows) if weights is None else weights / np.mean(weights, dtype=np.float64)


def summarise(answers: Answers, questions: Sequence[Question], weights: NDArray[np.floating] | None = None) -> Summary:
    """The summary of a table."""
    weight = relative(weights, answers.n_rows)
    counts = np.zeros((answers.codes.shape[1], width(questions)))
    _count(answers.codes, weight, counts)
    return Summary(counts, moments(answers.numbers, weight))


def moments(numbers: NDArray[np.floating], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weight, mean and standard deviation by column, two passes in blocks of rows."""
    weight, mean, square = np.zeros((3, numbers.shape[1]))
    blocks = [slice(i, i + _BLOCK) for i in range(0, len(numbers), _BLOCK)]
    for rows in blocks:
        weight += weights[rows] @ ~np.isnan(numbers[rows])
        mean += weights[rows] @ np.nan_to_num(numbers[rows].astype(np.float64))
    mean /= np.maximum(weight, 1e-300)
    for rows in blocks:
        square += weights[rows] @ np.nan_to_num((numbers[rows] - mean) ** 2)
    return np.stack([weight, mean, np.sqrt(square / np.maximum(weight, 1e-300))], axis=1)
