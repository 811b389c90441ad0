"""Tables of any dataframe library: columns in as arrays of cells, columns out as the library and the type had them."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from mvrbm.cells import Cells, factorize, from_arrow, lookup, plain, some


class Table:
    """A table of pandas, Polars, PyArrow or any other library that narwhals knows, or a NumPy array.

    The columns of an array are named "0", "1" and so on; other names that are no texts are known by their text.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [30, 41], 2020: ["a", None]}))
    >>> table.names, table.n_rows
    (['age', '2020'], 2)
    """

    def __new__(cls, data: Any) -> Self:
        """A table of a table is that table, with what it has read already."""
        return data if isinstance(data, cls) else super().__new__(cls)

    def __init__(self, data: Any) -> None:
        import pandas as pd

        if data is self:
            return
        if isinstance(data, np.ndarray):
            if data.ndim != 2:
                raise ValueError(f"an array must have two dimensions, rows and columns, not the shape {data.shape}")
            data = pd.DataFrame(data, columns=[str(number) for number in range(data.shape[1])])
        try:
            frame = nw.from_native(data, eager_only=True)
            labels = list(frame.columns)
        except DuplicateError:
            raise _twice(getattr(data, "column_names", None) or list(data.columns)) from None
        except TypeError:
            kind = type(data).__name__
            way_out = "collect() it first" if kind == "LazyFrame" else "give a table of pandas, Polars or PyArrow"
            if isinstance(data, (str, os.PathLike)):
                way_out = "read the file with mvrbm.read_table first"
            raise TypeError(f"{kind} is no table that can be read; {way_out}") from None
        self.native: Any = data
        self._frame: nw.DataFrame[Any] = frame
        self._labels: dict[str, Any] = {str(label): label for label in labels}
        if len(self._labels) < len(labels):
            raise _twice(labels)
        self._pandas = frame.implementation.is_pandas_like()

    @cached_property
    def _series(self) -> dict[str, Any]:
        """The columns of a table of pandas, which finds them by number in half the time that their names take."""
        numbered = self.native.copy(deep=False)
        numbered.columns = range(len(self._labels))
        return dict(zip(self._labels, (series for _, series in numbered.items()), strict=True))

    @property
    def names(self) -> list[str]:
        """The columns' names, in order."""
        return list(self._labels)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self._frame)

    @property
    def all_numbers(self) -> bool:
        """Whether every column holds numbers."""
        return all(dtype.is_numeric() for dtype in self._frame.schema.values())

    def __contains__(self, name: object) -> bool:
        return name in self._labels

    def cells(self, name: str, reader: str = "") -> Cells:
        """Read a column; `reader` says in an error what asked for it."""
        said = f"{reader}: " if reader else ""
        if name not in self._labels:
            way_out = f"{self._instead(name)}; rename it or edit the schema"
            raise ValueError(f"{said}the table has no column {name!r}; {way_out}")
        # narwhals would take longer than the reading
        cells = (
            _pandas_cells(self._series[name]) if self._pandas else _cells(self._frame.get_column(self._labels[name]))
        )
        if cells.dtype.kind in "mMc":
            raise ValueError(f"{said}column {name!r} is of type {cells.dtype}; turn it into numbers or texts first")
        return cells

    def written(self, columns: Mapping[str, Cells], where: Mapping[str, NDArray[np.bool_]] | None = None) -> Any:
        """Make a copy, of the same library, with the cells of some columns written anew: all of them, or `where`.

        A cell takes the type of its column; a column whose type cannot hold what is written becomes one that can.
        Columns that the table lacks are added at its end. Cells that are not written stay as they are to the bit.
        """
        return self.written_in_turn((name, cells, (where or {}).get(name)) for name, cells in columns.items())

    def written_in_turn(self, columns: Iterable[tuple[str, Cells, NDArray[np.bool_] | None]]) -> Any:
        """The same for (column, its cells, where to write them), each taken and written before the next is made."""
        series: dict[str, Any] = {}
        for name, cells, where in columns:
            if where is not None and not where.any():
                continue  # it need not be looked at
            if name in self._labels:
                rows = np.ones(self.n_rows, dtype=bool) if where is None else where
                series[name] = _written(self._frame.get_column(self._labels[name]), cells, rows)
            else:
                series[name] = self._new(name, cells)
        if not self._pandas:
            return self._frame.with_columns(*series.values()).to_native()
        copy = self.native.copy(deep=False)  # keeps the index and what pandas holds beside the cells
        for name, column in series.items():
            copy[self._labels.get(name, name)] = column
        return copy

    def only(self, columns: Mapping[str, Cells]) -> Any:
        """Make a table of the same library and index that has these columns and no others."""
        if self._frame.implementation.is_pandas_like():
            import pandas as pd

            return pd.DataFrame({name: pd.Series(c).infer_objects() for name, c in columns.items()}).set_axis(
                self.native.index
            )
        return self._frame.select(*(self._new(name, cells) for name, cells in columns.items())).to_native()

    def _new(self, name: str, cells: Cells) -> Any:
        import pandas as pd

        values = pd.Series(cells).infer_objects()
        if self._frame.implementation.is_pandas_like():
            return values.set_axis(self.native.index)
        places, found = factorize(values.to_numpy(dtype=object))
        return nw.new_series(name, lookup(places, found).tolist(), backend=self._frame.implementation)

    def nearest(self, name: str) -> list[str]:
        """List the columns whose names are almost this one."""
        same = [other for other in self.names if other.strip().lower() == name.strip().lower()]
        return same or difflib.get_close_matches(name, self.names, n=3, cutoff=0.7)

    def _instead(self, name: str) -> str:
        near = self.nearest(name)
        return f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has {some(self.names, 10)}"


def _twice(labels: list[Any]) -> ValueError:
    names = list(map(str, labels))
    name = next(name for place, name in enumerate(names) if name in names[:place])
    return ValueError(f"the table has more than one column {name!r}; rename one of them")


def _cells(series: nw.Series[Any]) -> Cells:
    """Read the cells, without a copy where that is possible."""
    pandas_like = series.implementation.is_pandas_like()
    return _pandas_cells(series.to_native()) if pandas_like else from_arrow(series.to_arrow())


def _pandas_cells(native: Any) -> Cells:
    import pandas as pd

    if isinstance(native.dtype, np.dtype):
        return native.to_numpy()
    return from_arrow(native.array.__arrow_array__()) if isinstance(native.dtype, pd.ArrowDtype) else native.array


def _written(old: nw.Series[Any], cells: Cells, where: NDArray[np.bool_]) -> Any:
    """Write cells into a column, in its own type or else in the nearest one that holds them.

    What comes out of pandas is a series of pandas: to wrap it for narwhals would take longer than to write it.
    """
    places, found = _distinct(cells, where, old.dtype)
    write = _written_pandas if old.implementation.is_pandas_like() else _written_other
    try:
        return write(old, lookup(places, _spelt(found, old)), where)
    except (TypeError, ValueError, OverflowError, ArithmeticError):  # the column's type cannot hold these
        numbers = old.dtype.is_numeric() and all(isinstance(value, (int, float)) for value in found)
        wider = _widened(old, numbers)
        return write(wider, lookup(places, _spelt(found, wider)), where)


def _widened(old: nw.Series[Any], numbers: bool) -> nw.Series[Any]:
    """Change a column's type to one that holds all numbers, or anything."""
    import pandas as pd

    if not old.implementation.is_pandas_like():
        return old.cast(nw.Float64() if numbers else nw.String())
    native = old.to_native()
    kind: Any = object
    if numbers:
        kind = np.float64 if isinstance(native.dtype, np.dtype) else "Float64"
        kind = "double[pyarrow]" if isinstance(native.dtype, pd.ArrowDtype) else kind
    return nw.from_native(native.astype(kind), series_only=True)


def _written_other(old: nw.Series[Any], cells: NDArray[Any], where: NDArray[np.bool_]) -> nw.Series[Any]:
    if old.implementation.is_pyarrow():  # in its own terms: narwhals would lose dictionaries and long lists
        import pyarrow as pa

        merged = [new if here else own for new, own, here in zip(cells, old.to_list(), where, strict=True)]
        kind = old.to_native().type
        array = pa.chunked_array([pa.array(merged, None if pa.types.is_null(kind) else kind)])
        written: nw.Series[Any] = nw.from_native(array, series_only=True).alias(old.name)
        return written
    if isinstance(old.dtype, nw.Enum):
        lacking = set(cells[where]) - {None, *old.dtype.categories}
        old = old.cast(nw.Enum([*old.dtype.categories, *sorted(lacking)])) if lacking else old
    mask = nw.new_series("", where, nw.Boolean(), backend=old.implementation)
    return nw.new_series(old.name, cells.tolist(), old.dtype, backend=old.implementation).zip_with(mask, old)


def _written_pandas(old: nw.Series[Any], cells: NDArray[Any], where: NDArray[np.bool_]) -> Any:
    import pandas as pd

    series = old.to_native()
    if isinstance(series.dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
    blanks = pd.isna(cells[where]).any() if series.dtype.kind in "iub" else False
    if blanks and isinstance(series.dtype, np.dtype):  # NumPy's whole numbers and booleans have no blank
        series = series.astype(object if series.dtype.kind == "b" else "float64")
    elif isinstance(series.dtype, pd.CategoricalDtype):
        lacking = set(cells[where]) - {None} - set(series.cat.categories)
        series = series.cat.add_categories(sorted(lacking)) if lacking else series
    new = (
        cells[where].astype(series.dtype)
        if isinstance(series.dtype, np.dtype)
        else pd.array(cells[where], dtype=series.dtype)
    )
    if not where.all():
        own = series.array.copy()
        own[where] = new
        new = own
    if series.dtype.kind in "iu" and where.any() and not (new[where] == cells[where].astype(float)).all():
        raise OverflowError  # it came round to another number
    return pd.Series(new, index=series.index, name=series.name, dtype=series.dtype)


def _distinct(cells: Cells, where: NDArray[np.bool_], dtype: Any) -> tuple[NDArray[np.intp], list[Any]]:
    """Find the distinct values among the cells to be written, and each row's place among them."""
    if dtype.is_nested() or dtype == nw.Object:  # lists cannot be told apart quickly
        return np.arange(len(cells)), list(cells)
    places = np.full(len(cells), -1)
    places[where], found = factorize(cells[where])
    return places, found


def _spelt(values: list[Any], column: nw.Series[Any]) -> list[Any]:
    """Say values as a column's type says them; an error if it cannot."""
    dtype = column.dtype
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        categories = _categories(column)
        texts = all(isinstance(value, str) for value in categories)
        known = {(type(value), value) for value in categories}
        other = str if texts else _number
        return [value if (type(value), value) in known else other(plain(value)) for value in values]
    if dtype == nw.String:
        return values if _may_hold_anything(column) else [str(plain(value)) for value in values]
    if dtype == nw.Boolean:
        return [_boolean(value) for value in values]
    if dtype.is_integer():
        return [_whole(value) for value in values]
    return [_number(value) for value in values] if dtype.is_numeric() else values


def _may_hold_anything(column: nw.Series[Any]) -> bool:
    """Whether a column is of pandas' objects and says nothing yet: narwhals calls it one of texts."""
    native = column.to_native() if column.implementation.is_pandas_like() else None
    return native is not None and native.dtype == np.dtype(object) and bool(native.isna().all())


def _categories(column: nw.Series[Any]) -> list[Any]:
    cells = _cells(column)
    return [plain(value) for value in (cells.categories if hasattr(cells, "categories") else factorize(cells)[1])]


def _number(value: Any) -> float:
    return value if isinstance(value, (int, float)) else float(value)


def _whole(value: Any) -> int:
    number = plain(_number(value))
    if not isinstance(number, int):
        raise ValueError(f"{value!r} is no whole number")
    return int(number)


def _boolean(value: Any) -> bool:
    words = {"false": False, "true": True, "0": False, "1": True}
    try:
        return words[str(plain(value)).lower()]
    except KeyError:
        raise ValueError(f"{value!r} is neither true nor false") from None
