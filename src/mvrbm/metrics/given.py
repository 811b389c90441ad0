"""What a user gives to be scored, read and checked: one clear sentence, with the row, for what cannot be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvrbm.cells import BLANK, UNSEEN, Cells, Value, codebook, distinct, match, plain, read, some, to_numbers
from mvrbm.tables import Table

Given = Any
"""A list, a NumPy array, a column or a table."""
Float = NDArray[np.float64]
Mask = NDArray[np.bool_]
Codes = NDArray[np.int32]


def refuse(bad: Mask, name: str, values: Cells, what: str) -> None:
    """Raise a sentence about the first value that is bad, if one is."""
    if bad.any():
        row, *place = np.argwhere(bad)[0].tolist()
        value = values[row, place[0]] if place else values[row]
        of = f"{name}, column {place[0]}" if place else name
        raise ValueError(f"{of}: value {plain(value)!r} (row {row}) {what}")


def _dimensions(name: str, given: Given) -> int:
    try:
        return np.ndim(given)
    except ValueError:  # NumPy's own sentence does not say of which argument
        raise ValueError(f"{name} must have rows of the same length") from None


def cells(name: str, given: Given) -> Cells:
    """Read the answers to one question, one a row."""
    import pandas as pd

    if _dimensions(name, given) != 1:
        raise ValueError(f"{name} must be one value a row, of the shape (rows,), not {np.shape(given)}")
    return Table(pd.Series(given).to_frame(name)).cells(name)


def column(name: str, given: Given) -> Float:
    """Read one number a row; a blank is NaN."""
    return _numbers(name, cells(name, given))


def table(name: str, given: Given) -> Float:
    """Read a table of numbers, (rows, columns); a blank is NaN."""
    import pandas as pd

    if _dimensions(name, given) != 2:
        raise ValueError(f"{name} must be a table, of the shape (rows, columns), not {np.shape(given)}")
    whole_table = Table(given if hasattr(given, "columns") else pd.DataFrame(given))
    found = np.empty((whole_table.n_rows, len(whole_table.names)))
    for place, label in enumerate(whole_table.names):
        found[:, place] = _numbers(f"{name}, column {place}", whole_table.cells(label))
    return found


def column_or_table(name: str, given: Given) -> Float:
    """Read numbers, (rows,) or (rows, columns)."""
    return (table if _dimensions(name, given) == 2 else column)(name, given)


def _numbers(name: str, given: Cells) -> Float:
    found, bad = to_numbers(given)
    refuse(bad, name, given, "is no number; a blank is NaN or None")
    refuse(np.isinf(found), name, found, "is infinite; correct it or make it blank")
    return found


def tables(true: Given, predicted: Given) -> tuple[Float, Float]:
    """Read two tables of numbers whose columns stand in the same order."""
    truth, guess = table("true", true), table("predicted", predicted)
    same_shape(truth, guess)
    names = [list(map(str, getattr(given, "columns", ()))) for given in (true, predicted)]
    if names[0] != names[1] and sorted(names[0]) == sorted(names[1]):
        raise ValueError("true and predicted have the same columns in another order; give both in the same")
    return truth, guess


def same_shape(truth: Cells, guess: Cells, name: str = "predicted") -> None:
    """Refuse arrays that do not go together."""
    if truth.shape != guess.shape:
        raise ValueError(f"true and {name} must have the same shape, not {truth.shape} and {guess.shape}")


def weights_of_rows(given: Given, n_rows: int) -> Float:
    """Read how much each row counts; None is 1 for every row."""
    if given is None:
        return np.ones(n_rows)
    weights = column("weights", given)
    if weights.shape != (n_rows,):
        raise ValueError(f"weights must be one number a row, of the shape {(n_rows,)}, not {weights.shape}")
    refuse(~(weights >= 0), "weights", weights, "is no weight (a number, 0 or more)")
    return weights


def some_weight(weight: float) -> None:
    """Refuse to score nothing: an error of no answers would be 0/0."""
    if not weight > 0:
        raise ValueError("there is nothing to score: every answer of true is blank or has weight 0")


def levels(name: str, found: Float, n_levels: int, blank: float = np.nan) -> Codes:
    """Turn numbers 0, 1, ... into codes, -1 where there is none; `blank` is a number that means so too."""
    none = np.isnan(found) | (found == blank)
    what = f"is no code from 0 to {n_levels - 1}; correct it (a blank is NaN or None)"
    refuse(~none & ~np.isin(found, np.arange(n_levels)), name, found, what)
    return np.where(none, BLANK, found).astype(np.int32)


def levels_of(name: str, given: Given, values: list[Value]) -> Codes:
    """Turn answers into their places among `values`, -1 where there is none."""
    own = cells(name, given)
    codes = match(own, codebook(values))
    refuse(codes == UNSEEN, name, own, f"is not among values=[{some(values)}]; correct it or add it")
    return np.maximum(codes, BLANK)


def alike(true: Given, predicted: Given, most: int | None = None) -> tuple[Codes, Codes]:
    """Turn answers of any sort into codes that are equal where the answers are, negative where there is none.

    Answers are equal as they are to a schema: 1 is 1.0, "1" and True. More than `most` different ones are refused.
    """
    own, other = cells("true", true), cells("predicted", predicted)
    same_shape(own, other)
    values = distinct(own)
    book = codebook(values)
    values += [value for value in distinct(other) if read(value, book) == UNSEEN]
    book = codebook(values)
    truth, guess = match(own, book), match(other, book)
    if most is not None and len(values) > most:
        what = f"is one more answer than {some(values[:most])}; use categorical_error"
        refuse(truth >= most, "true", own, what)
        refuse(guess >= most, "predicted", other, what)
    return truth, guess


def whole(name: str, given: Any, least: int) -> int:
    """Check a setting that counts something."""
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < least:
        raise ValueError(f"{name} must be a whole number, {least} or more, not {given!r}")
    return int(given)


def scale_of_values(n_levels: int | None, values: Iterable[Value] | None) -> tuple[int, list[Value] | None]:
    """Check how an ordinal scale is given: the number of its levels, or the levels in order."""
    if (n_levels is None) == (values is None):
        raise ValueError(
            "give one of n_levels (answers are codes 0, 1, ...) and values=[...] (the levels, lowest first)"
        )
    if values is None:
        return whole("n_levels", n_levels, 2), None
    listed = list(values)
    if len(listed) < 2 or len(set(listed)) < len(listed):
        raise ValueError(f"values must be two or more different levels, lowest first, not [{some(listed)}]")
    return len(listed), listed
