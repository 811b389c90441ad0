"""How a question is shown to people: its answers in words, and ways to colour a map by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mvrbm.cells import Cells


@dataclass(frozen=True)
class View:
    """One way to tell people apart by a question: a level, or a number, for each of some answers."""

    title: str
    """What it looks at, such as one option; "" is the answer itself."""
    of: Cells
    """The level of each answer (-1 where there is none), or the number (NaN)."""
    levels: Sequence[str] = ()
    """The names of the levels; none for numbers."""
    ordered: bool = False
    """Whether the levels go from low to high."""


def answered_or_nan(block: Cells, events: Cells) -> Cells:
    """Whether each event happened, 1 or 0; NaN in the rows and columns of `block` that hold no answer."""
    return np.where(block < 0, np.nan, events.astype(np.float64))
