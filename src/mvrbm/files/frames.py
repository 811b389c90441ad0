"""What the writers share: any library's table as pandas, column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mvrbm.tables import Table

if TYPE_CHECKING:
    import pandas as pd


def as_pandas(table: Table) -> pd.DataFrame:
    """Turn a table into pandas without losing a blank or a digit; names become texts, rows are counted from 0."""
    import narwhals.stable.v2 as nw
    import pandas as pd
    import pyarrow as pa

    if not isinstance(table.native, pd.DataFrame):
        arrow = nw.from_native(table.native, eager_only=True).to_arrow()
        frame: pd.DataFrame = arrow.to_pandas(types_mapper=_mapped)
        return frame
    frame = table.native.set_axis(table.names, axis=1).reset_index(drop=True)
    types = {name: dtype for name, dtype in frame.dtypes.items() if isinstance(dtype, pd.ArrowDtype)}
    plainer = [str(name) for name, dtype in types.items() if _mapped(dtype.pyarrow_dtype) is None]
    return frame.assign(**{name: pa.array(frame[name]).to_pandas() for name in plainer})


def _mapped(kind: Any) -> Any:
    """Keep Arrow's types, which have blanks, but for categories and dates, where pandas' own do more."""
    import pandas as pd
    import pyarrow as pa

    return None if pa.types.is_dictionary(kind) or pa.types.is_temporal(kind) else pd.ArrowDtype(kind)


def is_nested(series: pd.Series[Any]) -> bool:
    """Tell whether Arrow says that each cell is a list or a record."""
    import pandas as pd
    import pyarrow as pa

    return isinstance(series.dtype, pd.ArrowDtype) and bool(pa.types.is_nested(series.dtype.pyarrow_dtype))
