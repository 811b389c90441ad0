"""SPSS and Stata files, read with their codes as they are; labels, missing codes and sets come as notes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mvrbm.cells import plain
from mvrbm.files.limits import EXACT, LONGEST_RANGE
from mvrbm.files.sav import Columns, choice_sets, dictionary, misnames_encoding, without_sets
from mvrbm.notes import ColumnNotes, Notes

if TYPE_CHECKING:
    import pandas as pd

_NUMBERS = ("integer", "floating", "mixed-integer-float")


def read_spss(path: Path) -> tuple[pd.DataFrame, Notes]:
    """Read an SPSS file (.sav, .zsav)."""
    import pyreadstat

    raw = path.read_bytes()
    records = dictionary(raw)
    misnamed = misnames_encoding(raw, records)
    raw_frame, meta = _read(pyreadstat.read_sav, without_sets(raw, records), path, "SPSS", misnamed)
    frame = _tidied(raw_frame, {})
    columns = {}
    for name in frame.columns:
        labels = _labels(meta, name)
        missing = _missing_codes(meta.missing_ranges.get(name, []), frame[name], labels)
        measure = meta.variable_measure.get(name)
        known = measure if measure in ("nominal", "ordinal", "scale") else None
        columns[name] = ColumnNotes(meta.column_names_to_labels.get(name) or "", labels, missing, known)
    texts = {name for name, kind in meta.readstat_variable_types.items() if kind == "string"}
    sets = choice_sets(records, Columns(list(frame.columns), texts, meta.file_encoding or "utf-8"))
    return frame, Notes(columns, sets)


def read_stata(path: Path) -> tuple[pd.DataFrame, Notes]:
    """Read a Stata file (.dta); the letters of its extended missing values (.a to .z) stand in the cells."""
    import pyreadstat

    raw_frame, meta = _read(pyreadstat.read_dta, path.read_bytes(), path, "Stata")
    frame = _tidied(raw_frame, meta.missing_user_values)
    columns = {}
    for name in frame.columns:
        labels = _labels(meta, name)
        letters = {code for code in labels if isinstance(code, str)} | set(meta.missing_user_values.get(name, ()))
        label = meta.column_names_to_labels.get(name) or ""
        columns[name] = ColumnNotes(label, labels, sorted(letters))
    return frame, Notes(columns)


def _read(
    reader: Callable[..., Any], raw: bytes, path: Path, kind: str, misnamed: bool = False
) -> tuple[pd.DataFrame, Any]:
    """Read a file with its codes; in the commonest old encoding if it is not in the one that it names."""
    from pyreadstat import PyreadstatError, ReadstatError

    try:
        if not misnamed:
            try:
                frame, meta = reader(io.BytesIO(raw), user_missing=True)
            except ReadstatError as error:
                misnamed = "encoding" in str(error)
                if not misnamed:
                    raise
        if misnamed:
            frame, meta = reader(io.BytesIO(raw), user_missing=True, encoding="WINDOWS-1252")
            what = "its texts are not in the encoding that it names and were read as Windows-1252; check the accents"
            warnings.warn(f"{path}: {what}", UserWarning, stacklevel=4)
    # pyreadstat lets through whatever a broken file led it to
    except (ReadstatError, PyreadstatError, ValueError, OverflowError, IndexError, MemoryError) as error:
        what = f"cannot be read as {kind}: {str(error).rstrip('.')}"
        raise ValueError(f"{path}: {what}; it may be cut off or of another kind") from None
    return frame, meta


def _labels(meta: Any, name: str) -> dict[Any, str]:
    labels = meta.variable_value_labels.get(name, {})
    return {plain(code): label for code, label in labels.items() if code != ""}  # an empty text is a blank


def _missing_codes(ranges: list[dict[str, Any]], column: pd.Series[Any], labels: dict[Any, str]) -> list[Any]:
    """List the codes that mean blank; of a range, the whole numbers if they are few, and what was seen or labelled."""
    codes: set[Any] = set()
    for bounds in ranges:
        low, high = bounds["lo"], bounds["hi"]
        if low == high and low != "":  # an empty text is a blank anyway
            codes.add(plain(low))
        if low == high or not (_is_number(low) and _is_number(high)):  # dates may have ranges too
            continue
        if high - low <= LONGEST_RANGE:
            codes.update(range(int(np.ceil(low)), int(np.floor(high)) + 1))
        seen = [plain(code) for code in column.dropna().unique()] + list(labels)
        codes.update(code for code in seen if _is_number(code) and low <= code <= high)
    return sorted(codes, key=lambda code: (isinstance(code, str), code))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def _tidied(frame: pd.DataFrame, letters: dict[str, list[str]]) -> pd.DataFrame:
    """Show whole numbers as whole numbers and empty texts as blanks; dates stay as they are."""
    import pandas as pd

    columns = {}
    for label, series in frame.items():
        name, inferred = str(label), pd.api.types.infer_dtype(series, skipna=True)
        if name in letters:
            cells = [None if pd.isna(cell) else plain(cell) for cell in series]
            columns[name] = pd.Series(cells, dtype=object)
        elif inferred in _NUMBERS or (inferred == "empty" and series.dtype == object):
            columns[name] = _whole(pd.to_numeric(series).astype("float64"))
        elif inferred == "string":
            columns[name] = series.mask(series == "")
        else:
            columns[name] = series
    return pd.DataFrame(columns)


def _whole(series: pd.Series[float]) -> pd.Series[Any]:
    told = series.dropna()
    if not len(told) or (told != np.floor(told)).any() or (told.abs() > EXACT).any():
        return series
    return series.astype("int64" if len(told) == len(series) else "Int64")
