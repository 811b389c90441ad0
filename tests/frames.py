"""The dataframe libraries that the tests run over: how each makes a table, and its cells as Python has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa


@dataclass(frozen=True)
class Library:
    """One library and how it makes a table from lists of cells."""

    name: str
    make: Callable[[Mapping[str, list[Any]]], Any]
    kind: type

    def frame(self, columns: Mapping[str, list[Any]]) -> Any:
        """A table of these cells; NaN and None are blanks."""
        return self.make({name: [None if _empty(cell) else cell for cell in cells] for name, cells in columns.items()})

    def cells(self, frame: Any, column: str) -> list[Any]:
        """The cells of a column; every sort of blank is None."""
        series = frame[column]
        cells = series.to_pylist() if isinstance(frame, pa.Table) else series.to_list()
        return [None if _empty(cell) else cell for cell in cells]

    def types(self, frame: Any) -> dict[str, Any]:
        """The type of each column."""
        if isinstance(frame, pa.Table):
            return {field.name: field.type for field in frame.schema}
        return dict(zip(frame.columns, frame.dtypes, strict=True))


def _empty(cell: Any) -> bool:
    return cell is None or cell is pd.NA or (isinstance(cell, float) and cell != cell)


def _pandas(columns: Mapping[str, list[Any]]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(cells) for name, cells in columns.items()})


def _pandas_arrow(columns: Mapping[str, list[Any]]) -> pd.DataFrame:
    arrays = {name: pa.array(cells, from_pandas=True) for name, cells in columns.items()}
    return pd.DataFrame({name: pd.Series(a, dtype=pd.ArrowDtype(a.type)) for name, a in arrays.items()})


def _arrow(columns: Mapping[str, list[Any]]) -> pa.Table:
    return pa.table({name: pa.array(cells, from_pandas=True) for name, cells in columns.items()})


def _polars(columns: Mapping[str, list[Any]]) -> pl.DataFrame:
    return pl.DataFrame({name: pl.Series(name, cells, strict=False) for name, cells in columns.items()})


LIBRARIES = {
    library.name: library
    for library in (
        Library("pandas", _pandas, pd.DataFrame),
        Library("pandas-arrow", _pandas_arrow, pd.DataFrame),
        Library("polars", _polars, pl.DataFrame),
        Library("pyarrow", _arrow, pa.Table),
    )
}
