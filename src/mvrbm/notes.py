"""What a file says of its columns beside their cells: labels, codes that mean blank, measure levels, sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ColumnNotes:
    """What a file says of one column."""

    label: str = ""
    """The question in words."""
    labels: dict[Any, str] = field(default_factory=dict)
    """What each code stands for, codes that mean blank among them."""
    missing: list[Any] = field(default_factory=list)
    """The codes that mean blank."""
    measure: str | None = None
    """"nominal", "ordinal" or "scale"; None where the file does not say."""


@dataclass(frozen=True)
class ChoiceSet:
    """Several columns that hold the answers of one choose-any question (a multiple-response set)."""

    name: str
    columns: list[str]
    label: str = ""
    counted: Any = None
    """The cell that means "chosen" where each column is an option; None where each column holds one chosen option."""


@dataclass(frozen=True)
class Notes:
    """What a file says of its table."""

    columns: dict[str, ColumnNotes] = field(default_factory=dict)
    sets: list[ChoiceSet] = field(default_factory=list)
