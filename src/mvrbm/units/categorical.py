"""Categorical questions: one of several answers without an order (and what they share with binary and ordinal ones)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mvrbm.cells import BLANK, UNSEEN, Cells, Value, distinct, lookup, match, spelling
from mvrbm.summary import Summary
from mvrbm.units.block import Array, Block, Codes, wrong_and_answered
from mvrbm.units.levels import LevelBlock
from mvrbm.units.question import Columns, Question
from mvrbm.units.view import View, answered_or_nan


class OneAnswer(Question):
    """A question with one answer out of a list, in the column of its name."""

    ordered: ClassVar[bool] = False
    """Whether the values go from low to high."""

    def __init__(
        self,
        name: str,
        values: Iterable[Value] | None = None,
        *,
        missing: Iterable[Value] = (),
        asked_if: Mapping[str, Any] | None = None,
        label: str = "",
        labels: Mapping[Any, str] | None = None,
    ) -> None:
        super().__init__(name, missing=missing, asked_if=asked_if, label=label, labels=labels)
        self.values = None if values is None else self._checked(values)

    def _telling(self, columns: Columns) -> NDArray[np.intp]:
        return super()._telling(columns) if self.values is None else np.zeros(0, np.intp)

    def _learn(self, columns: Columns) -> Self:
        if self.values is not None:
            return self._copy()
        return self._copy(values=self._learnt(distinct(columns[self.name], self.missing), columns))

    def _encode(self, columns: Columns, unseen: str) -> Cells:
        cells = columns[self.name]
        codes = match(cells, self._book)
        wrong = codes == UNSEEN
        if wrong.any():
            self._settle(wrong, cells, self.name, unseen, self._not_among(cells[wrong.argmax()]))
        return np.where(codes < 0, BLANK, codes)[:, None]

    def decode(self, block: Cells, like: Columns | None = None) -> dict[str, Cells]:
        """Write the column with the values instead of their codes; a blank is None."""
        values = self.known_values
        return {self.name: lookup(block[:, 0], spelling(like[self.name], self._book, values) if like else values)}

    def tell(self, block: Cells) -> list[str]:
        """Say the name of each answer."""
        return list(lookup(block[:, 0], self.value_names, ""))

    def views(self, block: Cells) -> list[View]:
        """The answer itself."""
        return [View("", block[:, 0], self.value_names, self.ordered)]

    def events(self, block: Cells, chances: Cells) -> tuple[Cells, Cells]:
        """Whether each value was the answer."""
        return chances, answered_or_nan(block, block == np.arange(self.n_values))

    def says(self, block: Cells, value: Value) -> NDArray[np.bool_]:
        """Find the rows that give this answer."""
        return np.asarray(block[:, 0] == self._code_asked_for(value))


class Categorical(OneAnswer):
    """A question with one answer out of several that have no order.

    >>> Categorical("country", values=["France", "Ghana", "Peru"])
    Categorical('country', values=['France', 'Ghana', 'Peru'])
    """

    kind = "categorical"
    spoken = "questions with one answer out of several"
    least = 2

    def to_numbers(self, block: Cells) -> NDArray[np.float64]:
        """Say 0 or 1 for each value but the last, which the others tell."""
        chosen = (block == np.arange(self.n_values - 1)).astype(np.float64)
        return np.where(block < 0, np.nan, chosen)

    def from_numbers(self, columns: NDArray[np.float64]) -> Cells:
        """Find the value with the largest number."""
        last = 1 - columns.sum(axis=1, keepdims=True)
        return np.hstack([columns, last]).argmax(axis=1)[:, None].astype(np.int32)

    @property
    def block(self) -> type[Block]:
        """The model's side of the type."""
        return CategoricalBlock


class CategoricalBlock(LevelBlock):
    """One-of-several questions: a softmax (paper, table of section 2.1)."""

    def __init__(self, questions: Sequence[Categorical], summary: Summary, paper: bool) -> None:
        super().__init__(questions, [q.n_values for q in questions], np.arange(len(questions)))

    def settle(self, outlook: Array, codes: Codes, numbers: Array) -> None:
        self.most_probable(outlook, codes)

    def errors(
        self, codes: Codes, numbers: Array, true_codes: Codes, true_numbers: Array, weights: Array
    ) -> NDArray[np.float64]:
        """The share of wrong answers."""
        return wrong_and_answered(codes, true_codes, weights)
