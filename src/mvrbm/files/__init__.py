"""Tables in files: CSV, Parquet, Feather, SPSS and Stata, with the schema beside them or guessed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mvrbm.files import arrow, delimited, labelled, stored
from mvrbm.files.stored import Lost
from mvrbm.notes import Notes
from mvrbm.schema import Schema
from mvrbm.tables import Table
from mvrbm.units import Question
from mvrbm.whole import written_whole

if TYPE_CHECKING:
    import pandas as pd

Writer = Callable[[Path], None]


class _Format(NamedTuple):
    read: Callable[[Path], tuple[pd.DataFrame, Notes]]
    prepare: Callable[[Table, Schema | None, Path], tuple[Writer, Lost | None]]
    """Check and convert a table; what then writes it, and what the file cannot hold (None: no schema at all)."""


_CSV = _Format(delimited.read, delimited.prepare)
_PARQUET = _Format(arrow.read_parquet, arrow.prepare_parquet)
_FEATHER = _Format(arrow.read_feather, arrow.prepare_feather)
_SPSS = _Format(labelled.read_spss, stored.prepare_spss)
_STATA = _Format(labelled.read_stata, stored.prepare_stata)
_FORMATS = {
    **dict.fromkeys((".csv", ".csv.gz", ".tsv", ".tsv.gz"), _CSV),
    ".parquet": _PARQUET,
    **dict.fromkeys((".feather", ".arrow"), _FEATHER),
    **dict.fromkeys((".sav", ".zsav"), _SPSS),
    ".dta": _STATA,
}


def read_table(
    path: str | os.PathLike[str],
    schema: Schema | str | os.PathLike[str] | None = None,
    *,
    overrule: Mapping[str, Question | str | Mapping[str, Any]] | None = None,
    missing: Iterable[Any] = (),
    counts: bool = False,
) -> tuple[pd.DataFrame, Schema]:
    """Read a table and its schema from a CSV, Parquet, Feather, SPSS (.sav) or Stata (.dta) file, by its ending.

    The schema is the one given (or the YAML file that it names), else the YAML beside the table (`survey.schema.yaml`
    beside `survey.sav`), else a guess (`Schema.infer`) that uses what the file says of its columns; `overrule`,
    `missing` and `counts` guide that guess.

    A column of a CSV becomes numbers or truth values only if that loses nothing: 007 stays a text. A CSV cannot tell
    the text "1" from the number 1. In SPSS and Stata files whole numbers come as whole numbers, the codes that mean
    blank stay visible, and an empty text is a blank.
    """
    file, missing = _path(path), list(missing)
    if schema is None and schema_beside(file).is_file():
        schema = schema_beside(file)
    if schema is not None and (overrule or missing or counts):
        what = "the schema that you gave" if isinstance(schema, Schema) else f"the schema in {schema}"
        guides = "overrule, missing and counts only guide a guess"
        raise ValueError(f"{file}: {guides}, but {what} says all; edit it or leave it")
    if schema is not None and not isinstance(schema, Schema):
        schema = Schema.from_yaml(_path(schema))
    frame, notes = read_notes(file)
    if schema is None:
        schema = Schema.infer(frame, overrule, missing=missing, counts=counts, notes=notes)
    return frame, schema


def read_notes(path: str | os.PathLike[str]) -> tuple[pd.DataFrame, Notes]:
    """Read a table, and what its file says of the columns."""
    file = Path(path)
    form = _FORMATS[ending_of(file)]
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder; give the name of a file")
    if not file.exists():
        raise FileNotFoundError(f"{file} does not exist; check the name and the folder")
    frame, notes = form.read(file)
    if not len(frame):
        raise ValueError(f"{file}: the table has no rows; give at least one")
    return frame, notes


def write_table(data: Any, path: str | os.PathLike[str], schema: Schema | None = None) -> list[Path]:
    """Write a table of pandas, Polars or PyArrow to a file, by its ending; returns the files written.

    An SPSS or Stata file takes labels, codes that mean blank and (SPSS) the measure level from the schema. What it
    cannot hold goes, with the whole schema, into a YAML beside it, and a warning says so; for the other files the
    schema always goes there. `read_table` finds it. Only Parquet and Feather keep the index of pandas.
    """
    file, table = _path(path), Table(data)
    form, beside = _FORMATS[ending_of(file)], schema_beside(file)
    if not table.names:
        raise ValueError(f"{file}: the table has no columns; give at least one")
    if schema is not None:
        _check(table, schema, beside)
    write, lost = form.prepare(table, schema, file)
    remark = f"{file.name} alone does not tell {lost}; the whole schema is in {beside.name}" if lost else ""
    text = "" if schema is None else schema.yaml(remark)  # whatever is wrong with it must show before a byte is written
    with written_whole(file) as whole:
        write(whole)
    if schema is None or (lost is not None and not lost and not beside.exists()):
        return [file]
    with written_whole(beside) as whole:  # also over an older one, which would be read instead of what the file says
        whole.write_text(text, encoding="utf-8")
    if remark:
        warnings.warn(remark, UserWarning, stacklevel=2)
    return [file, beside]


def schema_beside(path: Path) -> Path:
    """Name the YAML file that belongs to a table's file.

    >>> schema_beside(Path("survey.2024.csv.gz")).name
    'survey.2024.schema.yaml'
    """
    return path.with_name(path.name[: -len(ending_of(path))] + ".schema.yaml")


def _path(path: object) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"the path must be the name of a file, not {type(path).__name__}")
    return Path(path)


def keeps_labels(path: Path) -> bool:
    """Tell whether a file of this ending holds labels and missing codes of its own (SPSS and Stata)."""
    return _FORMATS[ending_of(path)] in (_SPSS, _STATA)


def ending_of(path: Path) -> str:
    """Find the ending that says what kind of table a file is."""
    for ending in sorted(_FORMATS, key=len, reverse=True):
        if path.name.lower().endswith(ending) and len(path.name) > len(ending):
            return ending
    excel = "; read Excel with pandas.read_excel and guess with Schema.infer" if ".xls" in path.suffix.lower() else ""
    raise ValueError(f"{path}: the ending says no kind of table; it must be one of {', '.join(_FORMATS)}{excel}")


def _check(table: Table, schema: Schema, beside: Path) -> None:
    """Refuse, before a byte is written, a schema that is not the table's or has no place to go."""
    if not isinstance(schema, Schema):
        raise TypeError(f"schema must be a Schema, not {type(schema).__name__}; read a file with Schema.from_yaml")
    for question in schema:
        for column in question.columns:
            if column not in table:
                table.cells(column, f"question {question.name!r}")  # raises, with the nearest name
    if beside.is_dir():
        raise IsADirectoryError(f"{beside} is a folder, but the schema must go there; move it")
