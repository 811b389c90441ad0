"""The compact form of a table of answers: integer codes and numbers, a blank in each where none was given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Rows = NDArray[np.int64]
Weights = NDArray[np.floating]

BLOCK = 4096
"""Rows that stay together on disk; an epoch visits blocks in random order."""
POOL = 16
"""Blocks whose rows are shuffled together, so that a sorted file gives mixed batches."""
SPAN = BLOCK * POOL
"""Rows that a pass over the whole table takes at a time, so that sums have the same bits wherever the answers are."""


def _nothing(start: int, stop: int) -> tuple[Any, ...]:
    return ()


def weights_also(weights: Weights | None) -> Callable[[int, int], tuple[Weights]]:
    """The weights of the rows of a span, for `Source.over_spans`; None is 1 for each."""
    return lambda start, stop: (np.ones(stop - start) if weights is None else weights[start:stop],)


class Source(ABC):
    """A table of answers, wherever it is; whoever needs some rows in memory takes them."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """The number of people."""

    @abstractmethod
    def take(self, rows: Rows) -> Answers:
        """The answers of some rows."""

    @abstractmethod
    def span(self, start: int, stop: int) -> Answers:
        """The answers of consecutive rows."""

    def at(self, rows: Rows) -> tuple[Answers, Rows]:
        """Answers in memory, and where in them some rows are."""
        return self.take(rows), np.arange(len(rows))

    def over_spans(self, work: Callable[..., T], also: Callable[[int, int], tuple[Any, ...]] = _nothing) -> Iterator[T]:
        """What `work` finds in each span of the table, in order; `also` says what else it is given of rows a to b."""
        for start, stop in self.spans():
            yield work(self.span(start, stop), *also(start, stop))

    def spans(self) -> list[tuple[int, int]]:
        """The first row of each span, and the row after its last."""
        return [(start, min(start + SPAN, self.n_rows)) for start in range(0, self.n_rows, SPAN)]

    def expect(self, rows: Rows) -> None:  # noqa: B027
        """Take note that these rows will be taken next, in some order, and no others before that is said of them."""

    def loaded(self) -> Answers:
        """The whole table in memory."""
        return self.span(0, self.n_rows)


@dataclass(frozen=True)
class Answers(Source):
    """What a table's people answered, one row a person.

    A question owns a fixed number of columns of `codes` or of `numbers`, in the order of the schema:
    one code for a binary, categorical, ordinal or count question, one 0/1 code for each option of a
    multicategorical question, one code for each pair of items of a ranking (0: the first is preferred,
    1: a tie, 2: the second is preferred; pairs in the order of `itertools.combinations`), one number for
    a continuous question. So a blank can go down to one option or one pair.
    """

    codes: NDArray[np.unsignedinteger]
    """Codes of shape (rows, code columns), uint8 or uint16; the largest value of the dtype is a blank."""
    numbers: NDArray[np.float32]
    """Numbers of shape (rows, number columns), in the person's own units; NaN is a blank."""

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.numbers.ndim != 2 or len(self.codes) != len(self.numbers):
            raise ValueError(f"codes {self.codes.shape} and numbers {self.numbers.shape} do not have the same rows")
        if self.codes.dtype not in (np.uint8, np.uint16) or self.numbers.dtype != np.float32:
            raise TypeError(
                f"codes must be uint8 or uint16 and numbers float32, not {self.codes.dtype}, {self.numbers.dtype}"
            )

    @property
    def n_rows(self) -> int:
        """The number of people."""
        return len(self.codes)

    @property
    def blank(self) -> int:
        """The code that means "no answer"."""
        return int(np.iinfo(self.codes.dtype).max)

    @property
    def nbytes(self) -> int:
        """The memory that the answers take."""
        return self.codes.nbytes + self.numbers.nbytes

    def take(self, rows: NDArray[np.integer] | slice) -> Answers:
        """The answers of some rows."""
        return Answers(self.codes[rows], self.numbers[rows])

    def span(self, start: int, stop: int) -> Answers:
        return self.take(slice(start, stop))

    def at(self, rows: Rows) -> tuple[Answers, Rows]:
        return self, rows


@dataclass(frozen=True)
class Patched(Source):
    """A table of which some rows are replaced, and only these are held in memory."""

    table: Source
    rows: Rows
    """The rows that are replaced, in rising order."""
    instead: Answers
    """What stands there instead."""

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    def take(self, rows: Rows) -> Answers:
        return put(self.table.take(rows), *self.patch(rows))

    def span(self, start: int, stop: int) -> Answers:
        return _put_into_copy(self.table.span(start, stop), *self.patch(np.arange(start, stop)))

    def patch(self, rows: Rows) -> tuple[Rows, Answers]:
        """Which of some rows are replaced, by their places among them, and by what."""
        place = np.searchsorted(self.rows, rows)
        place[place == len(self.rows)] = 0
        here = np.flatnonzero(self.rows[place] == rows) if len(self.rows) else place[:0]
        return here, self.instead.take(place[here])

    def over_spans(self, work: Callable[..., T], also: Callable[[int, int], tuple[Any, ...]] = _nothing) -> Iterator[T]:
        def patch_also(start: int, stop: int) -> tuple[Any, ...]:
            return *self.patch(np.arange(start, stop)), *also(start, stop)

        return self.table.over_spans(_OfPatched(work), patch_also)

    def expect(self, rows: Rows) -> None:
        self.table.expect(rows)


@dataclass(frozen=True)
class _OfPatched:
    """What some work finds in a span of which rows are replaced."""

    work: Callable[..., Any]

    def __call__(self, answers: Answers, here: Rows, instead: Answers, *also: Any) -> Any:
        return self.work(_put_into_copy(answers, here, instead), *also)


def put(answers: Answers, here: Rows, instead: Answers) -> Answers:
    """Replace, in place, the rows `here`."""
    answers.codes[here], answers.numbers[here] = instead.codes, instead.numbers
    return answers


def _put_into_copy(answers: Answers, here: Rows, instead: Answers) -> Answers:
    return put(Answers(answers.codes.copy(), answers.numbers.copy()), here, instead) if len(here) else answers
