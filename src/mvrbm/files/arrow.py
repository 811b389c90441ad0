"""Parquet and Feather: columns come back in the type that they had."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvrbm.notes import Notes
from mvrbm.tables import Table

if TYPE_CHECKING:
    import pandas as pd

    from mvrbm.files import Writer
    from mvrbm.schema import Schema


def read_parquet(path: Path) -> tuple[pd.DataFrame, Notes]:
    """Read a Parquet file."""
    with parquet_file(path) as file:
        return to_pandas(file.read()), Notes()


@contextmanager
def parquet_file(path: Path, name: str | None = None) -> Iterator[Any]:
    """Open a Parquet file; what goes wrong while it is read is told of it, or of what it is called."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:  # pq.read_table would take a folder named a=1 for a column
            yield file
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError) as error:
        raise _broken(name or path, "Parquet", error) from None


def read_feather(path: Path) -> tuple[pd.DataFrame, Notes]:
    """Read a Feather (Arrow) file."""
    import pyarrow as pa
    from pyarrow import feather

    try:
        return to_pandas(feather.read_table(path, memory_map=False)), Notes()
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError) as error:
        raise _broken(path, "Feather", error) from None


def prepare_parquet(table: Table, schema: Schema | None, path: Path) -> tuple[Writer, None]:
    """Convert a table for a Parquet file."""
    import pyarrow.parquet as pq

    converted = to_arrow(table)
    return lambda whole: pq.write_table(converted, whole), None


def prepare_feather(table: Table, schema: Schema | None, path: Path) -> tuple[Writer, None]:
    """Convert a table for a Feather file."""
    from pyarrow import feather

    converted = to_arrow(table)
    return lambda whole: feather.write_feather(converted, str(whole)), None


def to_pandas(table: Any) -> pd.DataFrame:
    """Turn a table of PyArrow into one of pandas, in which whole numbers stay whole beside blanks."""
    import pandas as pd
    import pyarrow as pa

    nullable = {pa.bool_(): pd.BooleanDtype()}
    for bits in (8, 16, 32, 64):
        nullable |= {pa.int64() if bits == 64 else getattr(pa, f"int{bits}")(): getattr(pd, f"Int{bits}Dtype")()}
        nullable |= {getattr(pa, f"uint{bits}")(): getattr(pd, f"UInt{bits}Dtype")()}
    frame: pd.DataFrame = table.to_pandas()
    for field, column in zip(table.schema, table.columns, strict=True):
        if field.name not in frame.columns:  # it is the index
            continue
        if pa.types.is_nested(field.type):  # pandas would make arrays of the lists
            frame[field.name] = pd.Series(column.to_pylist(), index=frame.index, dtype=object)
        elif column.null_count and field.type in nullable and frame[field.name].dtype.kind in "fO":
            # Polars and Arrow have whole numbers with blanks, which pandas by itself would turn into fractions
            frame[field.name] = column.to_pandas(types_mapper=nullable.get).set_axis(frame.index)
    return frame


def to_arrow(table: Table) -> Any:
    """Turn a table of any library into one of PyArrow."""
    import narwhals.stable.v2 as nw
    import pandas as pd
    import pyarrow as pa

    if not isinstance(table.native, pd.DataFrame):
        return nw.from_native(table.native, eager_only=True).to_arrow()
    frame = table.native.set_axis(table.names, axis=1)
    for name, series in frame.items():
        try:
            pa.array(series, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError) as error:
            why = str(error).split("\n")[0]
            raise ValueError(f"column {name!r} mixes types ({why}); make its cells all texts or all numbers") from None
    return pa.Table.from_pandas(frame)


def _broken(path: Path | str, kind: str, error: Exception) -> ValueError:
    why = str(error).strip().split("\n")[0].rstrip(".")
    return ValueError(f"{path}: cannot be read as {kind}: {why}; it may be cut off or of another kind")
