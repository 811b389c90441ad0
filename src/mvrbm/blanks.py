"""The blanks of a table: which may be filled, which stay, and what is told of those that were."""

from __future__ import annotations

from typing import Any

import numpy as np
from narwhals.dependencies import is_into_dataframe
from numpy.typing import NDArray

from mvrbm import encoding
from mvrbm.answers import Answers
from mvrbm.schema import Schema
from mvrbm.tables import Table

Marks = dict[str, NDArray[np.bool_]]
"""For each column, which of its cells."""


def cells_told(where: Any, table: Table) -> Marks:
    """Read which cells may be filled: a table of booleans, or a boolean for each row."""
    if is_into_dataframe(where):
        told = Table(where)
        cells = {name: np.asarray(told.cells(name), dtype=bool) for name in told.names}
    else:
        array = np.asarray(where, dtype=bool)
        by_row = array.ndim == 1
        if not by_row and array.shape[1:] != (len(table.names),):
            n = len(table.names)
            way_out = "give a column for each, or one value for each row"
            raise ValueError(f"where has the shape {array.shape}, but the table has {n} columns; {way_out}")
        cells = {name: array if by_row else array[:, place] for place, name in enumerate(table.names)}
    if any(len(mask) != table.n_rows for mask in cells.values()):
        raise ValueError(f"where must say for each of the {table.n_rows} rows whether it may be filled")
    return cells


def fill(
    table: Table,
    schema: Schema,
    answers: Answers,
    filled: Answers,
    chosen: NDArray[np.bool_],
    only: Marks | None = None,
) -> tuple[Any, Marks]:
    """Write the blanks of the chosen questions into a copy of the table; returns it, and which cells were filled."""
    leave_unasked(schema, answers, filled, ~chosen)
    return encoding.fill(table, schema, answers, filled, only)


def leave_unasked(
    schema: Schema, answers: Answers, filled: Answers, not_chosen: NDArray[np.bool_] | None = None
) -> None:
    """Blank again what nobody was asked, also where the answer before it was filled just now."""
    if not any(question.asked_if for question in schema) and not np.any(not_chosen):
        return
    put = encoding.asked(filled, schema)
    pairs = zip(encoding.raw_blocks(filled, schema), encoding.raw_blocks(answers, schema), strict=True)
    for place, ((question, block), (_, before)) in enumerate(pairs):
        leave = ~put[question.name] | (not_chosen is not None and bool(not_chosen[place]))
        block[leave] = before[leave]


def flags(frame: Any, schema: Schema, written: Marks, sure: NDArray[np.float32]) -> Any:
    """List the cells that were filled, and how sure each is, as a pandas table."""
    import pandas as pd

    table = Table(frame)
    parts = []
    for question, own in encoding.certainties(sure, schema):
        for place, name in enumerate(question.columns):
            rows = np.flatnonzero(written.get(name, np.zeros(0, dtype=bool)))
            certainty = own[rows, place] if own.shape[1] == len(question.columns) else np.nanmean(own[rows], axis=1)
            values = [table.cells(name)[row] for row in rows]
            told = {"row": rows, "question": question.name, "column": name, "value": values, "certainty": certainty}
            parts.append(pd.DataFrame(told).astype({"value": object}))
    filled = [part for part in parts if len(part)]
    if not filled:
        return pd.DataFrame(columns=["row", "question", "column", "value", "certainty"])
    return pd.concat(filled, ignore_index=True).sort_values("row", kind="stable", ignore_index=True)
