"""Categorical questions: one of several answers without an order (and what they share with binary and ordinal ones)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mvrbm.summary import Summary
from mvrbm.units.block import Array, Block, Codes, wrong_and_answered
from mvrbm.units.levels import LevelBlock
from mvrbm.units.question import BLANK, Cells, Columns, Question, Value, distinct, lookup, match


class OneAnswer(Question):
    """A question with one answer out of a list, in the column of its name."""

    least: ClassVar[int] = 1

    def __init__(
        self,
        name: str,
        values: Iterable[Value] | None = None,
        *,
        missing: Iterable[Value] = (),
        asked_if: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(name, missing=missing, asked_if=asked_if)
        self.values = None if values is None else self._checked(values, self.least)

    def learn(self, columns: Columns) -> Self:
        """Make a copy whose values, if they were left out, are those of the column, sorted."""
        if self.values is not None:
            return self._copy()
        return self._copy(values=self._learnt(distinct(columns[self.name], self.missing)))

    def _encode(self, columns: Columns, unseen: str) -> Cells:
        array = columns[self.name]
        codes = match(array, {value: code for code, value in enumerate(self.known_values)}, self.missing)
        codes = self._settle(codes, array, self.name, unseen, self._not_among)
        return np.maximum(codes, BLANK)[:, None]

    def decode(self, block: Cells) -> dict[str, Cells]:
        """Write the column with the values instead of their codes; a blank is None."""
        return {self.name: lookup(block[:, 0], self.known_values)}


class Categorical(OneAnswer):
    """A question with one answer out of several that have no order.

    >>> Categorical("country", values=["France", "Ghana", "Peru"])
    Categorical('country', values=['France', 'Ghana', 'Peru'])
    """

    kind = "categorical"

    @property
    def block(self) -> type[Block]:
        """The model's side of the type."""
        return CategoricalBlock


class CategoricalBlock(LevelBlock):
    """One-of-several questions: a softmax (paper, table of section 2.1)."""

    def __init__(self, questions: Sequence[Categorical], summary: Summary, paper: bool) -> None:
        super().__init__(questions, [q.n_values for q in questions], np.arange(len(questions)))

    def decide(self, z: Array, theta: Array, codes: Codes, numbers: Array) -> None:
        self.most_probable(self.probabilities(z, theta), codes)

    def errors(self, codes: Codes, numbers: Array, true_codes: Codes, true_numbers: Array) -> NDArray[np.float64]:
        """The share of wrong answers."""
        return wrong_and_answered(codes, true_codes)
