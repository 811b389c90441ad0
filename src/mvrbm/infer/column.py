"""What the cells of one column are, for a guess at what the column asks."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvrbm.cells import CellError, Cells, Value, are_lists, factorize, plain, to_numbers, unlist
from mvrbm.notes import ColumnNotes
from mvrbm.tables import Table

MANY = 1000
"""More different numbers than this are not listed one by one."""
_DATES = (datetime.date, datetime.time, datetime.timedelta)
_LARGEST = float(np.finfo(np.float32).max)
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})( .*)?"
    r"|\d{1,2}:\d{2}(:\d{2}.*)?( [AP]M)?",
    re.I,
)


@dataclass
class Column:
    """A column of a table: its different answers, without blanks, and what is known of them."""

    name: str
    notes: ColumnNotes
    n_rows: int
    cells: Callable[[], Cells]
    """Reads the cells themselves again: to keep those of every column would take another table."""
    values: list[Value] = field(default_factory=list)
    """The different answers as plain data, in order of appearance; none if there are more than MANY numbers."""
    n_different: int = 0
    n_answered: int = 0
    missing: list[Value] = field(default_factory=list)
    """Codes that mean blank."""
    n_empty: int = 0
    """Cells that hold nothing, or an empty text."""
    n_coded: int = 0
    """Cells that hold a code that means blank."""
    numbers: NDArray[np.float64] | None = None
    """The different answers as numbers, if each is one."""
    order: list[Value] | None = None
    """All categories, if they are said to be in order."""
    unordered: bool = False
    """Whether the cells are categories that are said to have no order."""
    lists: bool = False
    """Whether a cell holds several answers; `values` are then their elements."""
    rising: bool = False
    """Whether the numbers go up, or down, from row to row."""
    n_most: int = 0
    """How often the largest number is given."""
    handle: str = ""
    """The name by which its neighbours are told, where that is another."""
    trouble: str = ""
    """Why the cells cannot be used."""

    @cached_property
    def texts(self) -> bool:
        """Whether every answer is a text."""
        return bool(self.values) and all(isinstance(value, str) for value in self.values)

    @cached_property
    def whole(self) -> bool:
        """Whether every answer is a whole number."""
        return self.numbers is not None and bool((self.numbers == np.rint(self.numbers)).all())

    @property
    def all_different(self) -> bool:
        """Whether no answer is given twice."""
        return self.n_different == self.n_answered > 1


def read_column(table: Table, name: str, missing: Sequence[Any], notes: ColumnNotes) -> Column:
    """Read what a column holds."""
    codes = [plain(code) for code in (*missing, *notes.missing) if code is not None and code == code]
    column = Column(name, notes, table.n_rows, lambda: table.cells(name))
    try:
        cells = table.cells(name)
    except ValueError as error:  # dates and times
        column.trouble = str(error)
        return column
    column.missing = list(dict.fromkeys(plain(code) for code in notes.missing if code is not None and code == code))
    if cells.dtype.kind in "biuf":
        _take_numbers(column, cells, codes)
    elif are_lists(cells):
        _take_lists(column, cells, codes)
    else:
        _take_values(column, cells, codes)
    return column


def _take_numbers(column: Column, cells: Cells, codes: Sequence[Value]) -> None:
    """Read a column of a numeric type, without a step in Python for each number."""
    import pandas as pd

    every, _ = to_numbers(cells)
    known = ~np.isnan(every)
    column.n_empty = len(every) - int(known.sum())
    blank = [code for code in codes if not isinstance(code, str)]
    if blank:
        known &= ~np.isin(every, blank)
    column.n_answered = int(known.sum())
    column.n_coded = len(every) - column.n_empty - column.n_answered
    found = pd.unique(cells if cells.dtype.kind in "iu" else every)  # float64 cannot tell large ids apart
    found = found[~pd.isna(found)]
    different = np.asarray(found, dtype=np.float64)
    _note_codes(column, different.tolist() if blank else (), blank)
    kept = ~np.isin(different, np.array(blank, dtype=np.float64))
    column.numbers = different[kept]
    column.n_different = int(kept.sum())
    if column.n_different <= MANY:
        kind = bool if cells.dtype.kind == "b" else plain
        column.values = [kind(number) for number in found[kept].tolist()]
    steps = np.diff(every[known]) if column.all_different else np.zeros(1)
    column.rising = bool((steps > 0).all() or (steps < 0).all())
    column.n_most = int((every[known] == every[known].max(initial=-np.inf)).sum())
    _check_size(column)


def _take_values(column: Column, cells: Cells, codes: Sequence[Value]) -> None:
    """Read a column of texts, categories or anything else that can be told apart."""
    try:
        places, found = factorize(cells)
    except ValueError as error:
        column.trouble = str(error)
        return
    counts = np.bincount(places[places >= 0], minlength=len(found))
    column.n_empty = int((places < 0).sum())
    named = found if set(map(type, found)) <= {str} else [_named(value) for value in found]
    strange = next((value for value in named if not isinstance(value, Value)), None)
    if strange is not None:
        column.trouble = _strange(strange)
        return
    coded = _coded(named, codes)
    _note_codes(column, coded, list(coded))
    hollow = np.array([value not in coded and _is_hollow(value) for value in named], dtype=bool)
    column.n_empty += int(counts[hollow].sum())
    aside = hollow | np.array([value in coded for value in named], dtype=bool)
    column.n_coded = int(counts[[value in coded for value in named]].sum()) if coded else 0
    column.n_answered = int(counts[~aside].sum())
    column.values = list(dict.fromkeys(value for value, out in zip(named, aside.tolist(), strict=True) if not out))
    column.n_different = len(column.values)
    column.numbers = _as_numbers(column.values)
    if Decimal in set(map(type, found)) and not column.whole:
        column.values = []  # the Decimal 0.1 is not the float 0.1: such a column can only be read as numbers
    _take_categories(column, cells, codes)
    _check_size(column)


def _coded(values: Sequence[Any], codes: Sequence[Value]) -> dict[Any, None]:
    """Find the values that are codes for a blank; a code that is a number also stands for its text."""
    numeric = {code for code in codes if not isinstance(code, str)}
    coded = dict.fromkeys(value for value in values if value in codes) if codes else {}
    if numeric:
        coded |= dict.fromkeys(value for value in values if isinstance(value, str) and _number(value) in numeric)
    return coded


def _take_categories(column: Column, cells: Cells, codes: Sequence[Value]) -> None:
    import pandas as pd

    if isinstance(cells.dtype, pd.CategoricalDtype):
        every = [_named(value) for value in cells.categories.tolist()]
        column.unordered = not cells.ordered
        if cells.ordered and all(isinstance(value, Value) and abs(_number(value) or 0) <= _LARGEST for value in every):
            blank = (*codes, *column.missing)
            column.order = [value for value in every if value not in blank and not _is_hollow(value)]


def _take_lists(column: Column, cells: Cells, codes: Sequence[Value]) -> None:
    column.lists = True
    try:
        elements = dict.fromkeys(_named(element) for element in factorize(unlist(cells)[2])[1])
    except CellError as error:
        column.trouble = str(error)
        return
    strange = next((value for value in elements if value is not None and not isinstance(value, Value)), None)
    if strange is not None:
        column.trouble = _strange(strange)
        return
    given = [value for value in elements if value is not None and value == value]
    _note_codes(column, given, codes)
    column.values = [value for value in given if value not in codes]
    column.n_different = len(column.values)
    column.n_answered = column.n_rows if column.values else 0


def _named(value: Any) -> Any:
    """Say a cell as plain data."""
    value = plain(value) if not isinstance(value, tuple) else value
    return plain(float(value)) if isinstance(value, Decimal) else value


def _is_hollow(value: Any) -> bool:
    """Tell whether a cell is an empty text or no number, either of which is no answer."""
    return not value.strip() if isinstance(value, str) else bool(value != value)


def _note_codes(column: Column, found: Iterable[Any], codes: Sequence[Value]) -> None:
    column.missing = list(dict.fromkeys([*column.missing, *(plain(value) for value in found if value in codes)]))


def _strange(value: object) -> str:
    if isinstance(value, _DATES):
        return "dates or times; turn them into numbers or texts to use them"
    return f"cells of type {type(value).__name__}; turn them into numbers or texts to use them"


def _number(value: Any) -> float | None:
    """Read a number; a code such as "007" is none, nor is "1_000" or an infinite one in a text."""
    if isinstance(value, str) and ("_" in value or re.match(r"\s*[-+]?0\d", value)):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    except OverflowError:
        return np.inf
    return number if not isinstance(value, str) or abs(number) <= _LARGEST else None


def _as_numbers(values: Sequence[Value]) -> NDArray[np.float64] | None:
    numbers = []
    for value in values:
        number = _number(value)
        if number is None:
            return None
        numbers.append(number)
    return np.array(numbers, dtype=np.float64)


def _check_size(column: Column) -> None:
    numbers = [value for value in column.values if not isinstance(value, str)]
    large = column.numbers if column.numbers is not None else _as_numbers(numbers)
    if large is not None and len(large) and not np.abs(large).max() <= _LARGEST:
        column.trouble = "numbers that are infinite or too large; correct them or list them in missing=[...]"


def dates(texts: Sequence[Value]) -> bool:
    """Tell whether texts are dates or times, by the first hundred of them."""
    return bool(texts) and all(_DATE.fullmatch(str(text).strip()) for text in texts[:100])
