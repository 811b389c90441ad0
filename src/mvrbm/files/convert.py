"""Columns of any type into the few that SPSS and Stata have: numbers, texts, dates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mvrbm.cells import plain
from mvrbm.files.frames import is_nested
from mvrbm.files.limits import EXACT, SHORT, Limits

if TYPE_CHECKING:
    import pandas as pd

_NUMBERS = ("integer", "floating", "mixed-integer-float", "boolean", "decimal")
_WAY_OUT = "turn its cells into numbers or texts, or write .parquet"


class Converted(NamedTuple):
    """A column as the writer takes it."""

    cells: pd.Series[Any]
    kind: str
    """"numbers" (Stata's letters for missing answers may stand among them), "texts" or "dates"."""


def converted(name: str, series: pd.Series[Any], letters: Sequence[str], limits: Limits) -> Converted:
    """Convert a column; `letters` are those that stand for missing answers in a Stata file."""
    import pandas as pd

    kind = "O" if isinstance(series.dtype, pd.CategoricalDtype) else series.dtype.kind
    if kind in "iubf":
        return _numbers(name, series, limits)
    if kind == "M" and series.dt.tz is None:
        return Converted(series.astype("datetime64[us]"), "dates")
    if kind in "mMc" or is_nested(series):
        raise ValueError(f"column {name!r} is of type {series.dtype}, which {limits.kind} cannot hold; {_WAY_OUT}")
    cells = series.astype(object)
    told = cells[cells.notna()]
    inferred = pd.api.types.infer_dtype(told)
    if inferred == "string" and set(told) <= set(letters):
        return Converted(cells.where(cells.notna(), None), "numbers")
    empty_texts = inferred == "empty" and series.dtype != object and pd.api.types.is_string_dtype(series.dtype)
    if inferred == "string" or empty_texts:
        return _texts(name, cells, limits)
    if inferred in (*_NUMBERS, "empty"):
        return _numbers(name, cells, limits)
    if inferred in ("datetime", "datetime64"):
        return Converted(pd.to_datetime(cells).astype("datetime64[us]"), "dates")
    return Converted(cells, "dates") if inferred in ("date", "time") else _lettered(name, cells, limits)


def _numbers(name: str, series: pd.Series[Any], limits: Limits) -> Converted:
    import pandas as pd

    if series.dtype == object:
        numbers = np.array(
            [np.nan if blank else float(cell) for cell, blank in zip(series, series.isna(), strict=True)]
        )
    else:
        numbers = series.to_numpy(np.float64, na_value=np.nan)
    size = np.abs(numbers[~np.isnan(numbers)])
    for row in np.flatnonzero((np.abs(numbers) >= EXACT) | (np.abs(numbers) > limits.largest)):
        cell = plain(series.iloc[row])
        if abs(numbers[row]) > limits.largest or (isinstance(cell, int) and int(numbers[row]) != cell):
            what = f"value {cell!r} (row {row}) is too large for {limits.kind}; turn the column into texts"
            raise ValueError(f"column {name!r}: {what}")
    short = len(size) > 0 and size.max() <= SHORT and bool((size == np.floor(size)).all())
    return Converted(pd.Series(numbers).astype("Int32" if short else "float64"), "numbers")


def _texts(name: str, cells: pd.Series[Any], limits: Limits) -> Converted:
    """Take texts, blanks as empty ones: both kinds of files have no other, and pyreadstat stumbles over None."""
    for row, cell in enumerate(cells):
        if isinstance(cell, str) and "\0" in cell:
            what = f"value {cell!r} (row {row}) holds a NUL, where {limits.kind} would cut it off; take it out"
            raise ValueError(f"column {name!r}: {what}")
    return Converted(cells.where(cells.notna(), ""), "texts")


def _lettered(name: str, cells: pd.Series[Any], limits: Limits) -> Converted:
    """Take numbers with letters among them, as Stata's missing answers are read; refuse any other mix."""
    first = ""
    for row, (cell, blank) in enumerate(zip(cells, cells.isna(), strict=True)):
        number = isinstance(cell, (int, float, np.number)) and not isinstance(cell, bool)
        if not blank and not number and not (limits.letters and is_letter(cell)):
            mixed = f"holds {cell!r} (row {row}){first}, which {limits.kind} cannot"
            raise ValueError(f"column {name!r} {mixed}; {_WAY_OUT}")
        first = first or (f" beside {cell!r} (row {row})" if not blank else "")
    numbers = cells.map(lambda cell: cell if is_letter(cell) else float(cell), na_action="ignore")
    return Converted(numbers.astype(object), "numbers")


def is_letter(code: object) -> bool:
    """Tell whether a code is one of Stata's letters for missing answers."""
    return isinstance(code, str) and len(code) == 1 and "a" <= code <= "z"
