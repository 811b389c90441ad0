"""Tables of any dataframe library: columns in as arrays of cells, columns out as the library and the type had them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

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

    def __init__(self, data: Any) -> None:
        import pandas as pd

        data = data.native if isinstance(data, Table) else data
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
            raise TypeError(f"{kind} is no table that can be read; {way_out}") from None
        self.native: Any = data
        self._frame: nw.DataFrame[Any] = frame
        self._labels: dict[str, Any] = {str(label): label for label in labels}
        if len(self._labels) < len(labels):
            raise _twice(labels)

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
        cells = _cells(self._frame.get_column(self._labels[name]))
        if cells.dtype.kind in "mMc":
            raise ValueError(f"{said}column {name!r} is of type {cells.dtype}; turn it into numbers or texts first")
        return cells

    def written(self, columns: Mapping[str, Cells], where: Mapping[str, NDArray[np.bool_]] | None = None) -> Any:
        """Make a copy, of the same library, with the cells of some columns written anew: all of them, or `where`.

        A cell takes the type of its column; a column whose type cannot hold what is written becomes one that can.
        Columns that the table lacks are added at its end. Cells that are not written stay as they are to the bit.
        """
        frame = self._frame
        series = []
        for name, cells in columns.items():
            if name in self._labels:
                rows = np.ones(self.n_rows, dtype=bool) if where is None else where[name]
                series.append(_written(frame.get_column(self._labels[name]), cells, rows))
            else:
                series.append(self._new(name, cells))
        if not frame.implementation.is_pandas_like():
            return frame.with_columns(*series).to_native()
        copy = self.native.copy(deep=False)  # keeps the index and what pandas holds beside the cells
        for name, column in zip(columns, series, strict=True):
            copy[self._labels.get(name, name)] = column.to_native()
        return copy

    def _new(self, name: str, cells: Cells) -> nw.Series[Any]:
        import pandas as pd

        values = pd.Series(cells).infer_objects()
        if self._frame.implementation.is_pandas_like():
            return nw.from_native(values.set_axis(self.native.index), series_only=True)
        places, found = factorize(values.array)
        return nw.new_series(name, lookup(places, found).tolist(), backend=self._frame.implementation)

    def _instead(self, name: str) -> str:
        same = [other for other in self.names if other.strip().lower() == name.strip().lower()]
        near = same or difflib.get_close_matches(name, self.names, n=3, cutoff=0.7)
        return f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has {some(self.names, 10)}"


def _twice(labels: list[Any]) -> ValueError:
    names = list(map(str, labels))
    name = next(name for place, name in enumerate(names) if name in names[:place])
    return ValueError(f"the table has more than one column {name!r}; rename one of them")


def _cells(series: nw.Series[Any]) -> Cells:
    """Read the cells, without a copy where that is possible."""
    import pandas as pd

    if not series.implementation.is_pandas_like():
        return from_arrow(series.to_arrow())
    native = series.to_native()
    if isinstance(native.dtype, np.dtype):
        return native.to_numpy()
    return from_arrow(native.array.__arrow_array__()) if isinstance(native.dtype, pd.ArrowDtype) else native.array


def _written(old: nw.Series[Any], cells: Cells, where: NDArray[np.bool_]) -> nw.Series[Any]:
    """Write cells into a column, in its own type or else in the nearest one that holds them."""
    places, found = _distinct(cells, where, old.dtype)
    wider: Any = None
    try:
        spelt = _spelt(found, old)
    except (TypeError, ValueError):  # the column's type cannot hold these
        numbers = old.dtype.is_numeric() and all(isinstance(value, (int, float)) for value in found)
        spelt, wider = found, nw.Float64() if numbers else nw.String()
    if old.implementation.is_pandas_like():
        return nw.from_native(_written_pandas(old.to_native(), lookup(places, spelt), where, wider), series_only=True)
    if isinstance(old.dtype, nw.Enum) and not set(spelt) <= set(old.dtype.categories):
        wider = nw.Enum(dict.fromkeys([*old.dtype.categories, *spelt]))
    if wider is not None:
        old = old.cast(wider)
        spelt = _spelt(found, old)
    mask = nw.new_series("", where, nw.Boolean(), backend=old.implementation)
    new = nw.new_series(old.name, lookup(places, spelt).tolist(), old.dtype, backend=old.implementation)
    written = new.zip_with(mask, old)
    if wider is None and written.implementation.is_pyarrow():  # a dictionary is lost on the way
        written = nw.from_native(written.to_native().cast(old.to_native().type), series_only=True).alias(old.name)
    return written


def _written_pandas(old: Any, cells: NDArray[Any], where: NDArray[np.bool_], wider: Any) -> Any:
    import pandas as pd

    blanks = pd.isna(cells[where]).any() if old.dtype.kind in "iub" else False
    if wider is not None:
        old = old.astype("float64" if wider == nw.Float64 else object)
    elif blanks and isinstance(old.dtype, np.dtype):  # NumPy's whole numbers and booleans have no blank
        old = old.astype(object if old.dtype.kind == "b" else "float64")
    elif isinstance(old.dtype, pd.CategoricalDtype):
        lacking = set(cells[where]) - {None} - set(old.cat.categories)
        old = old.cat.add_categories(sorted(lacking)) if lacking else old
    new = old.array.copy()
    if isinstance(old.dtype, np.dtype):
        new[where] = cells[where].astype(old.dtype)
    else:
        new[where] = pd.array(cells[where], dtype=old.dtype)
    return pd.Series(new, index=old.index, name=old.name)


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
        texts = all(isinstance(value, str) for value in _cells(column).categories)
        return [str(plain(value)) for value in values] if texts else [plain(_number(value)) for value in values]
    if dtype == nw.String:
        return [str(plain(value)) for value in values]
    if dtype == nw.Boolean:
        return [_boolean(value) for value in values]
    if dtype.is_integer():
        return [_whole(value) for value in values]
    return [_number(value) for value in values] if dtype.is_numeric() else values


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
