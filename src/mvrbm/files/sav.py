"""Multiple-response sets of an SPSS file, read from its dictionary.

ReadStat, which reads the rest, gives no counted values that are texts, and a file must not fail for one odd set.
The format is that of the PSPP developers' guide (System File Format).
"""

from __future__ import annotations

import codecs
import re
import struct
import warnings
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from mvrbm.cells import plain
from mvrbm.notes import ChoiceSet

_SETS, _LONG_NAMES, _ENCODING, _UNKNOWN = (7, 19), 13, 20, 99
_HEADER = 176
_START = re.compile(rb"\$([^=\s]+)=(C |D|E \d+ )")
_LENGTH = re.compile(rb"(\d{1,9}) ")


class Record(NamedTuple):
    """A record of the dictionary: where it starts, its kind (and of an extension, which), and what it holds."""

    start: int
    kind: int
    subtype: int
    content: bytes


class Columns(NamedTuple):
    """What the rest of the file says of its columns."""

    names: list[str]
    texts: set[str]
    """Those that hold texts."""
    encoding: str


def dictionary(raw: bytes) -> list[Record]:
    """List the records of a file's dictionary; those before the first fault if it is broken."""
    records = []
    try:
        for record in _walk(raw):
            records.append(record)  # noqa: PERF402  # those before the fault count
    except (struct.error, IndexError):
        pass  # whoever reads the rest will say what is wrong
    return records


def without_sets(raw: bytes, records: list[Record]) -> bytes:
    """Make a copy whose sets are of a kind that readers skip."""
    copy = bytearray(raw)
    for record in records:
        if record.subtype in _SETS:
            struct.pack_into(_order(raw) + "i", copy, record.start - 12, _UNKNOWN)
    return bytes(copy)


def misnames_encoding(raw: bytes, records: list[Record]) -> bool:
    """Tell whether a labelled text is not in the encoding that the file names; ReadStat would crash on it."""
    named = b"".join(record.content for record in records if record.subtype == _ENCODING)
    try:
        decoder = codecs.getincrementaldecoder(named.decode("ascii", "replace").strip("\0 "))
        for code in _labelled_texts(raw, records):
            decoder().decode(code)  # a letter cut off at the end is no fault
    except UnicodeDecodeError:
        return True
    except (LookupError, ValueError):  # a name that Python does not know as an encoding of texts
        pass
    return False


def _labelled_texts(raw: bytes, records: list[Record]) -> Iterator[bytes]:
    order = _order(raw)
    widths = [struct.unpack_from(order + "i", record.content, 4)[0] for record in records if record.kind == 2]
    for labels, variables in pairwise(records):
        if labels.kind == 3 and variables.kind == 4 and len(variables.content) >= 12:
            first = struct.unpack_from(order + "i", variables.content, 8)[0] - 1
            at = 8
            while 0 <= first < len(widths) and widths[first] > 0 and at + 8 < len(labels.content):
                yield labels.content[at : at + 8]
                at += _label_size(labels.content, at)


def choice_sets(records: list[Record], columns: Columns) -> list[ChoiceSet]:
    """Read the sets one by one; one that cannot be read is left out with a warning."""
    long_names = {name.lower(): name for name in columns.names}
    for record in records:
        if record.subtype == _LONG_NAMES:
            pairs = (pair.partition("=") for pair in _decoded(record.content, columns.encoding).split("\t"))
            long_names |= {short.strip().lower(): long.rstrip("\0 ") for short, _, long in pairs}
    sets = []
    for record in records:
        if record.subtype in _SETS:
            for text in _split(record.content):
                try:
                    sets.append(_choice_set(text, long_names, columns))
                except ValueError as error:
                    name = _decoded(text.partition(b"=")[0][:64], columns.encoding)
                    warnings.warn(f"multiple-response set {name!r} is left out: {error}", UserWarning, stacklevel=2)
    return sets


def _order(raw: bytes) -> str:
    return "<" if raw[64:68] in (b"\2\0\0\0", b"\3\0\0\0") else ">"


def _walk(raw: bytes) -> Iterator[Record]:
    order = _order(raw)

    def number(place: int) -> int:
        value = int(struct.unpack_from(order + "i", raw, place)[0])
        if value < 0:  # it would lead back
            raise IndexError
        return value

    at = _HEADER
    while (kind := number(at)) in (2, 3, 4, 6, 7):
        start, subtype = at, 0
        if kind == 2:  # a variable: its label and its missing values follow
            label, n_missing = number(at + 8), struct.unpack_from(order + "i", raw, at + 12)[0]
            at += 32
            at += (4 + -(-number(at) // 4) * 4 if label else 0) + 8 * abs(n_missing)  # negative: a range
        elif kind == 3:  # value labels
            count, at = number(at + 4), at + 8
            for _ in range(count):
                at += _label_size(raw, at)
        elif kind == 7:
            subtype, start, at = number(at + 4), at + 16, at + 16 + number(at + 8) * number(at + 12)
        else:  # 4: the variables of value labels; 6: documents
            at += 8 + number(at + 4) * (4 if kind == 4 else 80)
        yield Record(start, kind, subtype, raw[start:at])


def _label_size(raw: bytes, at: int) -> int:
    return 8 + -(-(raw[at + 8] + 1) // 8) * 8


def _split(content: bytes) -> Iterator[bytes]:
    """Take a record apart into sets. A label may hold anything, so lengths decide; after a fault, the next "$" does."""
    content = content.strip(b"\0\n") + b"\n"
    while content.strip():
        try:
            end = content.find(b"\n", _parts(content)[-1])
        except ValueError:
            end = content.find(b"\n$")
        end = len(content) if end < 0 else end
        yield content[:end].rstrip(b"\n")
        content = content[end:].lstrip(b"\n")


def _parts(text: bytes) -> tuple[bytes, bytes | None, bytes, int]:
    """Read name, counted value and label of a set, and where its variables begin."""
    start = _START.match(text)
    if start is None:
        raise ValueError("it does not look like $name=D1 1 5 label variables")
    counted, at = None, start.end()
    if start[2] != b"C ":
        counted, at = _measured(text, at)
        at += 1
    label, at = _measured(text, at)
    return start[1], counted, label, at


def _measured(text: bytes, at: int) -> tuple[bytes, int]:
    length = _LENGTH.match(text, at)
    if length is None or length.end() + int(length[1]) > len(text):
        raise ValueError("the length of its label or counted value is wrong")
    end = length.end() + int(length[1])
    return text[length.end() : end], end


def _choice_set(text: bytes, long_names: Mapping[str, str], columns: Columns) -> ChoiceSet:
    name, counted, label, at = _parts(text)
    chosen = []
    for variable in dict.fromkeys(_decoded(text[at:], columns.encoding).split()):
        long = long_names.get(variable.lower(), variable)
        if long not in columns.names:
            raise ValueError(f"it names {variable!r}, which is no variable of the file")
        chosen.append(long)
    if not chosen:
        raise ValueError("it names no variables")
    value: Any = None if counted is None else _decoded(counted, columns.encoding).rstrip()
    if value is not None and chosen[0] not in columns.texts:
        try:
            value = plain(float(value))
        except ValueError:
            raise ValueError(f"its counted value {value!r} is no number, but its variables are") from None
    decoded = [_decoded(part, columns.encoding) for part in (name, label)]
    return ChoiceSet(decoded[0], list(dict.fromkeys(chosen)), decoded[1].strip(), value)


def _decoded(text: bytes, encoding: str) -> str:
    try:
        return text.decode(encoding, "replace")
    except LookupError:  # a name that Python does not know
        return text.decode("latin-1")
