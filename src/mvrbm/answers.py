"""The compact form of a table of answers: integer codes and numbers, a blank in each where none was given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Answers:
    """What a table's people answered, one row a person.

    A question owns a fixed number of columns of `codes` or of `numbers`, in the order of the schema:
    one code for a binary, categorical or ordinal question, one 0/1 code for each option of a
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
