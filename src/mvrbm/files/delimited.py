"""CSV, read and written so that nothing is lost: what is no plain number stays a text."""

from __future__ import annotations

import csv
import gzip
import io
import re
import warnings
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mvrbm.files.frames import as_pandas, is_nested
from mvrbm.notes import ColumnNotes, Notes
from mvrbm.tables import Table

if TYPE_CHECKING:
    import pandas as pd

    from mvrbm.files import Writer
    from mvrbm.schema import Schema

_BLANKS = ["", "NA", "NaN", "nan", "N/A", "#N/A", "null", "NULL", "<NA>"]
"""Cells that mean blank unless they are quoted; "None" is not among them: it is a common answer."""
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}").fullmatch
# 1e5 could be the code of a product; an exponent after a point, or one with a sign, is a number's
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+([eE][-+]?[0-9]+)?|[eE][-+][0-9]+)?|-?inf").fullmatch
_DIGITS = re.compile(r"-?[0-9]+").fullmatch
_TRUTHS = ({"True", "False"}, {"TRUE", "FALSE"}, {"true", "false"})
_QUOTES = r'(?:^|(?<=[,;\t]))"(?:[^"]|"")*"'  # only at the start of a cell do quotes mean anything
_FIRST_RECORD = re.compile(rf"(?:{_QUOTES}|[^\r\n])*")
_TO_QUOTE = re.compile('[,;\t"\r\n\ufeff]')
_LARGEST_BLOCK = 2**31 - 1  # Arrow loses a line end within a cell where two blocks meet, so we have but one


def read(path: Path) -> tuple[pd.DataFrame, Notes]:
    """Read a CSV file, compressed or not; separated by tabs if it is called .tsv."""
    import pandas as pd
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    text = _text(path)
    told = re.match(r"sep=([,;\t])\r?\n", text)  # a line that Excel writes for itself
    header, full = _first_record(text[told.end() :] if told else text)
    if not header.strip():
        raise _broken(path, "it is empty")
    sign = told[1] if told else _separator(header, path)
    names, labels = _cells(header, sign), {}
    second, after_second = _first_record(full)
    third, after_third = _first_record(after_second)
    options = {} if '""' in header else _options(names, _cells(second, sign))  # a quoted name is meant to be empty
    if options:
        what = f"{path}: its second line was read as a second line of names, such as {next(iter(options.values()))!r}"
        warnings.warn(what, UserWarning, stacklevel=2)
        names, full = [options.get(place, name) for place, name in enumerate(names)], after_second
    elif third and all(cell.startswith('{"ImportId"') for cell in _cells(third, sign)):
        labels, full = dict(zip(names, _cells(second, sign), strict=False)), after_third
        warnings.warn(f"{path}: its second and third line were read as labels and ids", UserWarning, stacklevel=2)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{path}: the table has more than one column {twice!r}; rename one of them")
    body = full.encode()
    if not body.strip():
        raise _broken(path, "it has names of columns but no rows")
    try:
        table = arrow_csv.read_csv(
            pa.py_buffer(body),
            read_options=arrow_csv.ReadOptions(column_names=names, block_size=min(len(body) + 1, _LARGEST_BLOCK)),
            parse_options=arrow_csv.ParseOptions(delimiter=sign, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=_BLANKS,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, _why(text, sign, len(names), error)) from None
    frame = pd.DataFrame({name: _typed(table[name], comma=sign == ";") for name in names})
    return frame, Notes({name: ColumnNotes(label) for name, label in labels.items() if label != name})


def _text(path: Path) -> str:
    raw = path.read_bytes()
    if path.name.lower().endswith(".gz"):
        try:
            raw = gzip.decompress(raw)
        except (EOFError, OSError, zlib.error) as error:
            raise _broken(path, f"its compression is broken or cut off ({error})") from None
    if b"\0" in raw:
        line = raw[: raw.index(b"\0")].count(b"\n") + 1
        raise _broken(path, f"it holds NUL bytes (line {line}); save it as UTF-8 text")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
    try:
        text, encoding = raw.decode("cp1252"), "Windows-1252"
    except UnicodeDecodeError:
        text, encoding = raw.decode("latin-1"), "Latin-1"
    what = f"{path}: it is not UTF-8 (line {line}) and was read as {encoding}; check the accents or save it as UTF-8"
    warnings.warn(what, UserWarning, stacklevel=2)
    return text


def _first_record(text: str) -> tuple[str, str]:
    """Take the first line with something in it, which may be several lines in quotes, and what follows it."""
    text = text.lstrip("\r\n")
    record = _FIRST_RECORD.match(text)[0]  # type: ignore[index]  # it matches anything
    return record, text[len(record) :].lstrip("\r\n")


def _cells(record: str, sign: str) -> list[str]:
    before = csv.field_size_limit(max(len(record) + 1, csv.field_size_limit()))
    try:
        return next(csv.reader(io.StringIO(record, newline=""), delimiter=sign), [])
    finally:
        csv.field_size_limit(before)


def _options(names: list[str], second: list[str]) -> dict[int, str]:
    """Find the columns whose name is a question over several columns and, in a second line, an option of each.

    So some survey services write them. The second line is one of names if nothing stands where people have their
    first cell, and a word wherever the first line has no name.
    """
    blank = [place for place, name in enumerate(names) if not name]
    words = len(second) == len(names) and all(_is_word(second[place]) for place in blank)
    if not blank or not words or second[0].strip() or 0 in blank:
        return {}
    found = {}
    heading = ""
    for place, name in enumerate(names):
        heading = name.strip() or heading
        if place in blank or place + 1 in blank:
            found[place] = f"{heading}: {second[place].strip()}"
    return found


def _is_word(cell: str) -> bool:
    return bool(re.search(r"[^\W\d_]", cell)) and not _NUMBER(cell.strip())


def _separator(header: str, path: Path) -> str:
    if ".tsv" in path.name.lower()[-7:]:
        return "\t"
    bare = re.sub(_QUOTES, "", header)
    return next((sign for sign in ",;\t" if sign in bare), ",")


def _why(text: str, sign: str, width: int, error: Exception) -> str:
    """Find the line that breaks the table, which Arrow does not name."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=sign)
    start = 1
    try:
        for row in rows:
            if row and len(row) != width:
                return f"a row has {len(row)} cells, but the header names {width} columns (line {start})"
            start = rows.line_num + 1
    except csv.Error:
        pass
    return str(error).split("\n")[0].rstrip(".")


def _broken(path: Path, why: str) -> ValueError:
    return ValueError(f"{path}: cannot be read as CSV: {why}")


def _typed(column: Any, comma: bool) -> Any:
    """Give a column of texts the plainest type that says the same; decided once for each distinct text.

    With `comma`, 1,5 is a number: where a semicolon stands between cells, a comma stands in numbers.
    """
    import pandas as pd

    coded = column.dictionary_encode().combine_chunks()
    found = coded.dictionary.to_pylist()
    if not found:
        return np.full(len(column), np.nan)
    told = [text for text in found if text]
    values = _whole(told) or _numbers([text.replace(",", ".") for text in told] if comma else told) or _truths(told)
    if values is None:
        return column.to_pandas()
    empty = np.array([not text for text in found])
    places = coded.indices.fill_null(0).to_numpy(zero_copy_only=False)
    blank = coded.is_null().to_numpy(zero_copy_only=False) | empty[places]
    nullable: Any = {int: "Int64", bool: "boolean"}.get(type(values[0]))
    table = np.full(len(found), values[0])
    table[~empty] = values
    cells = table[places]
    if not nullable:
        cells[blank] = np.nan
    return pd.Series(cells).astype(nullable).mask(blank) if nullable and blank.any() else cells


def _whole(texts: list[str]) -> list[int] | None:
    if not all(map(_WHOLE, texts)):
        return None
    numbers = list(map(int, texts))
    return numbers if numbers and min(numbers) >= -(2**63) and max(numbers) < 2**63 else None


def _numbers(texts: list[str]) -> list[float] | None:
    whole = [text for text in texts if _DIGITS(text)]
    if len(whole) == len(texts) or not all(map(_NUMBER, texts)):
        return None
    # a long whole number is somebody's, whose every digit counts; so are 1.1 and 1.10 side by side
    numbers = list(map(float, texts))
    finite = all(abs(number) < np.inf or "inf" in text for number, text in zip(numbers, texts, strict=True))
    exact = all(int(float(text)) == int(text) for text in whole) and len(set(map(repr, numbers))) == len(set(texts))
    return numbers if finite and exact else None


def _truths(texts: list[str]) -> list[bool] | None:
    one_case = len(texts) <= 2 and any(set(texts) <= truths for truths in _TRUTHS)
    return [text.lower() == "true" for text in texts] or None if one_case else None


def prepare(table: Table, schema: Schema | None, path: Path) -> tuple[Writer, None]:
    """Convert a table for a CSV file: blanks as nothing, the empty text as "", texts in quotes where they need them."""
    frame = as_pandas(table)
    sign = "\t" if ".tsv" in path.name.lower()[-7:] else ","
    # a line with nothing in it is no row, so the blanks of a table of one column need a word
    blank = "NA" if len(table.names) == 1 else ""
    lines = [sign.join(_quoted(name) for name in table.names)]
    lines += map(sign.join, zip(*(_written(name, frame[name], blank) for name in table.names), strict=True))
    try:
        raw = "".join(f"{line}\n" for line in lines).encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{path}: the text {error.object[error.start - 9 : error.end]!r} is no Unicode; mend it"
        ) from None

    def write(whole: Path) -> None:
        whole.write_bytes(gzip.compress(raw, mtime=0) if path.name.lower().endswith(".gz") else raw)

    return write, None


def _written(name: str, series: pd.Series[Any], blank: str) -> list[str]:
    import pandas as pd

    if series.dtype.kind == "f":  # one by one: 0.0 and -0.0 are equal but not the same
        return [
            blank if number != number else repr(number)
            for number in series.to_numpy(np.float64, na_value=np.nan).tolist()
        ]
    try:
        if is_nested(series):
            raise TypeError
        places, found = pd.factorize(series)
    except TypeError:
        cells = enumerate(series)
        row = next((row for row, cell in cells if isinstance(cell, (list, dict, set, np.ndarray))), 0)
        raise _no_cell(
            name, row, "holds a list; a CSV cannot, so write .parquet or join the parts into texts"
        ) from None
    texts = []
    for place, value in enumerate(found.tolist()):
        if isinstance(value, (bytes, tuple, frozenset)):
            row = int((places == place).argmax())
            raise _no_cell(name, row, f"holds {value!r}, which is neither a text nor a number; turn it into a text")
        texts.append(blank if value != value else repr(value) if isinstance(value, float) else _quoted(str(value)))
    texts.append(blank)  # -1 stands for a blank
    return [texts[place] for place in places.tolist()]


def _no_cell(name: str, row: int, what: str) -> ValueError:
    return ValueError(f"column {name!r} (row {row}) {what}")


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _needs_quotes(text) else text


def _needs_quotes(text: str) -> bool:
    return not text.strip() or text in _BLANKS or _TO_QUOTE.search(text) is not None
