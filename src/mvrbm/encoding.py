"""Columns of a table into compact answers, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import Answers
from mvrbm.units.question import Cells, Question, plain, to_numbers

if TYPE_CHECKING:
    import pandas as pd

    from mvrbm.schema import Schema


def encode(frame: pd.DataFrame, schema: Schema, unseen: str = "error") -> Answers:
    """Read the answers of a table, in the order of the schema's questions.

    Every question's values must be known (`Schema.learn`). A value that a question does not know is an error, or a
    blank with `unseen="missing"`.
    """
    n_rows = count_rows(frame)
    codes = np.empty((n_rows, sum(question.n_codes for question in schema)), dtype=code_type(schema))
    numbers = np.empty((n_rows, sum(question.n_numbers for question in schema)), dtype=np.float32)
    at = {True: 0, False: 0}
    for question in schema:
        block = question.encode(read_columns(frame, question), unseen)
        coded = question.n_codes > 0
        into = codes if coded else numbers
        # A blank is -1, and casting -1 to an unsigned type gives its largest value: the blank of Answers.
        into[:, at[coded] : at[coded] + block.shape[1]] = block.astype(into.dtype)
        at[coded] += block.shape[1]
    return Answers(codes, numbers)


def decode(answers: Answers, schema: Schema) -> dict[str, Cells]:
    """Write the table's columns that hold these answers: values for codes, None or NaN for blanks."""
    codes = np.where(answers.codes == answers.blank, -1, answers.codes.astype(np.int32))
    columns: dict[str, Cells] = {}
    code, number = 0, 0
    for question in schema:
        block: Cells = codes[:, code : code + question.n_codes]
        if question.n_numbers:
            block = answers.numbers[:, number : number + question.n_numbers]
        columns.update(question.decode(block))
        code, number = code + question.n_codes, number + question.n_numbers
    return columns


def weights(frame: pd.DataFrame, schema: Schema) -> NDArray[np.float64] | None:
    """Read the weight of each row, or None if the schema names no weight column."""
    if schema.weight is None:
        return None
    column = schema.weight
    cells = read_column(frame, column, f"weight {column!r}")
    numbers, bad = to_numbers(cells, ())
    wrong = bad | ~np.isfinite(numbers) | (numbers < 0)
    if wrong.any():
        row = int(wrong.argmax())
        what = "is no weight (a finite number, 0 or more); correct it or leave the row out"
        raise ValueError(f"weight {column!r}: value {plain(cells[row])!r} (row {row}) {what}")
    if count_rows(frame) and not numbers.any():
        raise ValueError(f"weight {column!r}: every weight is 0, so no row counts; give some row a weight above 0")
    return numbers


def code_type(schema: Schema) -> type[np.uint8] | type[np.uint16]:
    """Choose the smallest type that holds every code and a blank."""
    for question in schema:
        if question.n_values > np.iinfo(np.int16).max:  # chunks hold codes as int16, where -1 is a blank
            raise ValueError(
                f"question {question.name!r}: {question.n_values} values are too many; group them or ignore it"
            )
    return np.uint16 if any(question.n_values > np.iinfo(np.uint8).max for question in schema) else np.uint8


def read_columns(frame: pd.DataFrame, question: Question) -> dict[str, Cells]:
    """Read the columns of a table that a question reads."""
    return {column: read_column(frame, column, f"question {question.name!r}") for column in question.columns}


def count_rows(frame: pd.DataFrame) -> int:
    """Count the people in a table; an empty table is an error."""
    if len(frame) == 0:
        raise ValueError("the table has no rows; give at least one")
    return len(frame)


def read_column(frame: pd.DataFrame, name: str, reader: str) -> Cells:
    """Read one column of a table as an array: the only place that knows how a frame is read."""
    if name not in frame.columns:
        some = ", ".join(map(repr, frame.columns[:10])) + (", ..." if len(frame.columns) > 10 else "")
        raise ValueError(f"{reader}: the table has no column {name!r}; it has {some}; rename it or edit the schema")
    series = frame[name]
    if series.ndim != 1:
        raise ValueError(f"{reader}: the table has more than one column {name!r}; rename one of them")
    if series.dtype.kind in "mMc":
        raise ValueError(f"{reader}: column {name!r} is of type {series.dtype}; turn it into numbers or texts first")
    if isinstance(series.dtype, np.dtype):
        return series.to_numpy()
    if series.dtype.kind in "iuf":  # nullable numbers
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    return series.to_numpy(dtype=object)
