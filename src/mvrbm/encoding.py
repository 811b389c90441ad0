"""Columns of a table into compact answers, and back."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import Answers
from mvrbm.cells import Cells, is_blank, plain, some, to_numbers
from mvrbm.tables import Table
from mvrbm.units.question import Question

if TYPE_CHECKING:
    from mvrbm.schema import Schema


def encode(
    data: Any, schema: Schema, unseen: str = "error", absent: str = "error", leave: Collection[str] = ()
) -> Answers:
    """Read the answers of a table, in the order of the schema's questions.

    Every question's values must be known (`Schema.learn`). A value that a question does not know is an error, or a
    blank with `unseen="missing"`; a column that the table lacks is an error, or unanswered with `absent="missing"`.
    The questions named by `leave` are not read, and blank.
    """
    table = Table(data)
    n_rows = count_rows(table)
    if absent == "missing":
        _warn_absent(table, [question for question in schema if question.name not in leave])
    codes = np.empty((n_rows, sum(question.n_codes for question in schema)), dtype=code_type(schema))
    numbers = np.empty((n_rows, sum(question.n_numbers for question in schema)), dtype=np.float32)
    for question, into in _blocks(schema, codes, numbers):
        if question.name in leave:
            into[:] = np.nan if question.n_numbers else np.iinfo(codes.dtype).max
            continue
        block = question.encode(read_columns(table, question, absent), unseen)
        # A blank is -1, and casting -1 to an unsigned type gives its largest value: the blank of Answers.
        into[:] = block.astype(into.dtype)
    return Answers(codes, numbers)


def decode(answers: Answers, schema: Schema, like: Any = None) -> dict[str, Cells]:
    """Write the table's columns that hold these answers: values for codes, None or NaN for blanks.

    `like` is a table whose columns say the values in their own way.
    """
    table = None if like is None else Table(like)
    columns: dict[str, Cells] = {}
    for question, block in blocks(answers, schema):
        own = None if table is None else read_columns(table, question, absent="missing")
        columns.update(question.decode(block, own))
    return columns


def fill(
    table: Table,
    schema: Schema,
    answers: Answers,
    filled: Answers,
    only: Mapping[str, NDArray[np.bool_]] | None = None,
) -> tuple[Any, dict[str, NDArray[np.bool_]]]:
    """Write answers into the empty cells of a table whose answers were blank; returns it, and which cells were written.

    Nothing else is touched: not a cell that holds something, not one that is empty because that is an answer; nor, with
    `only`, a cell that it does not name.
    """
    where: dict[str, NDArray[np.bool_]] = {}

    def columns() -> Iterator[tuple[str, Cells, NDArray[np.bool_]]]:
        for (question, before), (_, after) in zip(raw_blocks(answers, schema), raw_blocks(filled, schema), strict=True):
            gained = (blank_cells(before) & ~blank_cells(after)).any(axis=1)
            if not gained.any():
                continue
            own = read_columns(table, question, absent="missing")
            written = question.decode(_signed(after), own)
            for name, empty in question.empty_cells(own).items():
                if name in table:  # an absent column is not made up
                    may = gained & empty
                    if only is not None:
                        may &= only.get(name, np.zeros(len(empty), dtype=bool))
                    may[may] = [not is_blank(cell) for cell in written[name][may]]
                    where[name] = may
                    yield name, written[name], may

    return table.written_in_turn(columns()), where


def raw_blocks(answers: Answers, schema: Schema) -> Iterator[tuple[Question, Cells]]:
    """Go through the questions with views of the answers themselves."""
    return _blocks(schema, answers.codes, answers.numbers)


def certainties(sure: NDArray[np.float32], schema: Schema) -> Iterator[tuple[Question, Cells]]:
    """Go through the questions with how sure each code or number is; codes come before numbers."""
    n = sum(question.n_codes for question in schema)
    return _blocks(schema, sure[:, :n], sure[:, n:])


def blank_cells(block: Cells) -> Cells:
    """Mark the codes or numbers that are blank."""
    return np.isnan(block) if block.dtype.kind == "f" else block == np.array(-1).astype(block.dtype)


def _signed(block: Cells) -> Cells:
    """Codes as whole numbers, -1 for a blank; numbers as they are."""
    return block if block.dtype.kind == "f" else np.where(blank_cells(block), -1, block.astype(np.int32))


def blocks(answers: Answers, schema: Schema) -> Iterator[tuple[Question, Cells]]:
    """Go through the questions with the codes (-1 is a blank) or numbers of each."""
    for question, block in raw_blocks(answers, schema):
        yield question, _signed(block)


def _blocks(schema: Schema, codes: Cells, numbers: Cells) -> Iterator[tuple[Question, Cells]]:
    at = {True: 0, False: 0}
    for question in schema:
        coded = question.n_codes > 0
        start, n = at[coded], question.n_codes + question.n_numbers
        at[coded] += n
        yield question, (codes if coded else numbers)[:, start : start + n]


def asked(answers: Answers, schema: Schema) -> dict[str, NDArray[np.bool_]]:
    """Find the people to whom each question was put, by its skip rule (see `Schema.asked`)."""
    own = {question.name: block for question, block in raw_blocks(answers, schema)}
    rules = {question.name: question.asked_if or {} for question in schema}
    put: dict[str, NDArray[np.bool_]] = {}
    for name in TopologicalSorter({name: list(rule) for name, rule in rules.items()}).static_order():
        put[name] = np.ones(answers.n_rows, dtype=bool)
        for other, values in rules[name].items():
            before, block = schema[other], _signed(own[other])
            fits = [before.says(block, value) for value in (values if isinstance(values, list) else [values])]
            blank = blank_cells(block).all(axis=1)
            put[name] &= put[other] & (np.logical_or.reduce(fits) | blank)
    return {name: put[name] for name in schema.names}


def weights(data: Any, schema: Schema) -> NDArray[np.float64] | None:
    """Read the weight of each row, or None if the schema names no weight column."""
    numbers = weight_cells(data, schema)
    return None if numbers is None else some_weight(numbers, f"weight {schema.weight!r}: every weight is 0")


def weight_cells(data: Any, schema: Schema) -> NDArray[np.float64] | None:
    """Read the weights of the rows of a part of a table, which may all be 0."""
    if schema.weight is None:
        return None
    column = schema.weight
    cells = Table(data).cells(column, f"weight {column!r}")
    numbers, bad = to_numbers(cells, ())
    wrong = bad | ~np.isfinite(numbers) | (numbers < 0)
    if wrong.any():
        row = int(wrong.argmax())
        what = "is no weight (a finite number, 0 or more); correct it or leave the row out"
        raise ValueError(f"weight {column!r}: value {plain(cells[row])!r} (row {row}) {what}")
    return numbers


def some_weight(weights: NDArray[np.float64], every: str) -> NDArray[np.float64]:
    """Refuse weights of which none counts."""
    if not weights.any():
        raise ValueError(f"{every}, so no row counts; give some row a weight above 0")
    return weights


def code_type(schema: Schema) -> type[np.uint8] | type[np.uint16]:
    """Choose the smallest type that holds every code and a blank."""
    for question in schema:
        if question.n_values > np.iinfo(np.int16).max:  # chunks hold codes as int16, where -1 is a blank
            raise ValueError(
                f"question {question.name!r}: {question.n_values} values are too many; group them or ignore it"
            )
    return np.uint16 if any(question.n_values > np.iinfo(np.uint8).max for question in schema) else np.uint8


def read_columns(table: Table, question: Question, absent: str = "error") -> dict[str, Cells]:
    """Read the columns of a table that a question reads; with `absent="missing"` those that it lacks are blank."""
    return {
        column: np.full(table.n_rows, None, dtype=object)
        if absent == "missing" and column not in table
        else table.cells(column, _reader(question))
        for column in question.columns
    }


def _reader(question: Question) -> str:
    return f"question {question.name!r}"


def _warn_absent(table: Table, questions: Sequence[Question]) -> None:
    columns = [column for question in questions for column in question.columns]
    lacking = [column for column in columns if column not in table]
    if not lacking:
        return
    if len(lacking) == len(columns):
        read_columns(table, questions[0])  # raises: this is another table
    names = [question.name for question in questions if not set(lacking).isdisjoint(question.columns)]
    near = {column: table.nearest(column) for column in lacking}
    mean = [f"did you mean {other[0]!r} for {column!r}?" for column, other in near.items() if other]
    what = f"the table lacks {some(lacking)}: taken as unanswered (questions {some(names)})" + "; ".join(
        ["", *mean[:3]]
    )
    warnings.warn(what, UserWarning, stacklevel=2)


def count_rows(table: Table) -> int:
    """Count the people in a table; an empty table is an error."""
    if not table.n_rows:
        raise ValueError("the table has no rows; give at least one")
    return table.n_rows
