"""Binary questions: one of two answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvrbm.cells import Value
from mvrbm.units.block import Array, Block, Codes, wrong_and_answered
from mvrbm.units.categorical import OneAnswer
from mvrbm.units.indicators import IndicatorBlock


class Binary(OneAnswer):
    """A question with two answers; the second of `values` is 1.

    >>> Binary("satisfied", values=["no", "yes"])
    Binary('satisfied', values=['no', 'yes'])
    """

    kind = "binary"
    spoken = "questions with two answers"
    least = 2

    @property
    def block(self) -> type[Block]:
        """The model's side of the type."""
        return BinaryBlock

    def _checked(self, values: Iterable[Any]) -> list[Value]:
        checked = super()._checked(values)
        if len(checked) != 2:
            raise self._error(
                f"a binary question has 2 values, not {len(checked)} ({checked}); give values=[...] or another kind"
            )
        return checked


class BinaryBlock(IndicatorBlock):
    """Yes/no questions (paper, table of section 2.1)."""

    def chances(self, q: int, outlook: Array) -> tuple[list[object], Array]:
        """The probability of either value."""
        values, p = super().chances(q, outlook)
        return values, np.concatenate([1 - p, p])

    def errors(
        self, codes: Codes, numbers: Array, true_codes: Codes, true_numbers: Array, weights: Array
    ) -> NDArray[np.float64]:
        """The share of wrong answers."""
        return wrong_and_answered(codes, true_codes, weights)
