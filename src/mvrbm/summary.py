"""What the data says of each column of the answers before training: how often, how much, how spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import Answers
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
    width = max([3, *(q.n_values for q in questions)])
    counts = np.zeros((answers.codes.shape[1], width))
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
