"""SPSS and Stata files, written with what they can hold of a schema; what they cannot is told."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvrbm.cells import plain, some
from mvrbm.files.convert import Converted, converted, is_letter
from mvrbm.files.frames import as_pandas
from mvrbm.files.limits import LONGEST_RANGE, SHORT, SPSS, STATA, Limits
from mvrbm.notes import ColumnNotes, Notes
from mvrbm.tables import Table

if TYPE_CHECKING:
    import pandas as pd

    from mvrbm.files import Writer
    from mvrbm.schema import Schema


@dataclass
class Lost:
    """What a file cannot hold of a schema: settings, and the questions whose they are."""

    settings: dict[str, list[str]] = field(default_factory=dict)
    rest: list[str] = field(default_factory=list)

    def add(self, setting: str, question: str) -> None:
        """Note a setting of a question."""
        questions = self.settings.setdefault(setting, [])
        if question not in questions:
            questions.append(question)

    def __bool__(self) -> bool:
        return bool(self.settings or self.rest)

    def __str__(self) -> str:
        """Say it in one line."""
        return ", ".join([f"{what} of {some(names, 4)}" for what, names in self.settings.items()] + self.rest)


def prepare_spss(table: Table, schema: Schema | None, path: Path) -> tuple[Writer, Lost]:
    """Convert a table for an SPSS file, and list what the file cannot hold."""
    import pyreadstat

    frame, notes, lost = _prepared(table, schema, SPSS)
    ranges = {name: _ranges(note.missing) for name, note in notes.items() if note.missing}
    measures = {name: note.measure for name, note in notes.items() if note.measure}
    compress = path.suffix.lower() == ".zsav"

    def write(whole: Path) -> None:
        told = {"missing_ranges": ranges, "variable_measure": measures, **_labels(notes)}
        pyreadstat.write_sav(frame, whole, compress=compress, **told)

    return _guarded(write, path, SPSS), lost


def prepare_stata(table: Table, schema: Schema | None, path: Path) -> tuple[Writer, Lost]:
    """Convert a table for a Stata file, and list what the file cannot hold."""
    import pyreadstat

    frame, notes, lost = _prepared(table, schema, STATA)
    letters = {name: note.missing for name, note in notes.items() if note.missing}

    def write(whole: Path) -> None:
        pyreadstat.write_dta(frame, whole, missing_user_values=letters, **_labels(notes))

    return _guarded(write, path, STATA), lost


def _labels(notes: Mapping[str, ColumnNotes]) -> dict[str, Any]:
    return {
        "column_labels": {name: note.label for name, note in notes.items() if note.label},
        "variable_value_labels": {name: note.labels for name, note in notes.items() if note.labels},
    }


def _guarded(write: Writer, path: Path, limits: Limits) -> Writer:
    from pyreadstat import PyreadstatError, ReadstatError

    def guarded(whole: Path) -> None:
        try:
            write(whole)
        except (ReadstatError, PyreadstatError, ValueError, OverflowError) as error:
            why = str(error).rstrip(".")
            raise ValueError(f"{path}: cannot be written as {limits.kind}: {why}; write .parquet instead") from None

    return guarded


def _prepared(table: Table, schema: Schema | None, limits: Limits) -> tuple[pd.DataFrame, dict[str, ColumnNotes], Lost]:
    """Check and convert all columns, and fit into the file what the schema says of them."""
    import pandas as pd

    limits.check_names(table.names)
    frame, lost = as_pandas(table), Lost()
    wanted = {} if schema is None else _wanted(schema)
    columns: dict[str, Converted] = {}
    notes: dict[str, ColumnNotes] = {}
    for name in table.names:
        want = wanted.get(name, ColumnNotes())
        letters = [code for code in want.missing if limits.letters and is_letter(code)]
        column = converted(name, frame[name], letters, limits)
        notes[name] = _fitted(want, column, limits)
        columns[name] = _room_for(notes[name].labels, column)
    _warn_of_texts({name: frame[name] for name in table.names if columns[name].kind == "texts"}, limits)
    stored = pd.DataFrame({name: column.cells for name, column in columns.items()})
    if schema is not None:
        readable = {name: note if not limits.letters else replace(note, measure=None) for name, note in notes.items()}
        _note_lost(schema, stored, readable, lost)
    return stored, notes, lost


def _wanted(schema: Schema) -> dict[str, ColumnNotes]:
    """Say for each column what a file should say of it."""
    notes = {}
    for question in schema:
        settings = question.settings()
        by_option = [settings[key] for key in ("columns", "ranks") if isinstance(settings.get(key), Mapping)]
        options = {column: str(option) for options in by_option for option, column in options.items()}
        for column in question.columns:
            label, labels = options.get(column, question.label), dict(question.labels or {})
            notes[column] = ColumnNotes(label, labels, list(question.missing), question.measure)
    return notes


def _fitted(want: ColumnNotes, column: Converted, limits: Limits) -> ColumnNotes:
    """Keep what the file can say of a column, in the type of its cells."""
    labels = {}
    for code, text in want.labels.items():
        fitting = _fitting(code, column, limits)
        whole = isinstance(fitting, int) and abs(fitting) <= SHORT
        if fitting is not None and (not limits.letters or whole or is_letter(fitting)):
            labels[fitting] = limits.cut(text, limits.value_label)
    missing = [code for code in (_fitting(code, column, limits) for code in want.missing) if code is not None]
    if limits.letters and column.kind == "numbers":
        missing = sorted({code for code in [*missing, *column.cells] if is_letter(code)})
    elif limits.letters:
        labels, missing = {}, []
    elif not _ranges(missing):
        missing = []
    return replace(want, label=limits.cut(want.label, limits.label), labels=labels, missing=missing)


def _fitting(code: Any, column: Converted, limits: Limits) -> Any:
    """Say a code in the type of a column's cells; None if it has no such form."""
    if column.kind == "texts":
        return str(plain(code))
    if column.kind == "dates" or (isinstance(code, str) and not (limits.letters and is_letter(code))):
        return None
    return int(code) if isinstance(code, bool) else plain(code)


def _room_for(labels: Mapping[Any, str], column: Converted) -> Converted:
    """Widen a column of short whole numbers if a labelled code is none."""
    short = all(isinstance(code, int) and abs(code) <= SHORT for code in labels if not is_letter(code))
    return column if short or column.cells.dtype != "Int32" else Converted(column.cells.astype("float64"), "numbers")


def _ranges(codes: list[Any]) -> list[Any]:
    """Say missing codes as SPSS does: up to three, or a range of whole numbers and one more; [] if that cannot be."""
    if any(isinstance(code, str) for code in codes):
        return codes if len(codes) <= 3 and all(len(str(code).encode()) <= 8 for code in codes) else []
    if len(codes) <= 3:
        return codes
    codes = sorted(codes)
    for run, rest in ((codes, []), (codes[1:], codes[:1]), (codes[:-1], codes[-1:])):
        first, last = run[0], run[-1]
        if run == list(range(int(first), int(first) + len(run))) and last - first <= LONGEST_RANGE:
            return [{"lo": first, "hi": last}, *rest]
    return []


def _note_lost(schema: Schema, frame: pd.DataFrame, notes: Mapping[str, ColumnNotes], lost: Lost) -> None:
    """Note all that the schema says and that a guess from the file alone would not say."""
    try:
        told = type(schema).infer(frame, notes=Notes(dict(notes)))
    except ValueError:  # nothing in the file looks like a question
        lost.rest.append("the questions")
        return
    for question in schema:
        wanted = question.to_dict()
        held = told[question.name].to_dict() if question.name in told.names else {}
        for setting in dict.fromkeys([*wanted, *held]) if held else ["kind"]:
            if wanted.get(setting) != held.get(setting):
                lost.add(setting, question.name)
    if set(told.names) - set(schema.names) or schema.ignore != told.ignore:
        lost.rest.append("the columns to ignore")
    if schema.weight != told.weight:
        lost.rest.append("the weight")


def _warn_of_texts(columns: Mapping[str, pd.Series[Any]], limits: Limits) -> None:
    """Say which texts will not come back as they are."""
    empty = [name for name, cells in columns.items() if (cells == "").any()]
    spaces = [name for name, cells in columns.items() if cells.dropna().astype(str).str.endswith(" ").any()]
    said = f"{limits.kind} cannot tell an empty text from a blank (columns {some(empty, 4)})" if empty else ""
    if spaces and not limits.letters:
        said += " and " * bool(said) + f"cuts off spaces at the end of a text (columns {some(spaces, 4)})"
        said = said if said.startswith(limits.kind) else f"{limits.kind} {said}"
    if said:
        warnings.warn(said, UserWarning, stacklevel=2)
