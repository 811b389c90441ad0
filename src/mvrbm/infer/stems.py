"""The names of columns that ask one question together: what they share, and what tells them apart."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import chain, count

from mvrbm.cells import Value
from mvrbm.infer.column import Column

_UNNAMED = re.compile(r"Unnamed: \d+(_level_\d+)?")

_SIGNS = re.compile(r"\s*[_.:|/\[(\u2013\u2014-]+\s*")


def with_handles(columns: Sequence[Column]) -> list[Column]:
    """Give each column the name that tells its neighbours.

    Where one heading stands over several columns, pandas calls all but the first of them "Unnamed: 7" and so on.
    """
    handles: list[str] = []
    heading = ""
    for number, column in enumerate(columns):
        unnamed = _UNNAMED.fullmatch(column.name)
        heads = number + 1 < len(columns) and _UNNAMED.fullmatch(columns[number + 1].name)
        heading = heading if unnamed else column.name
        handles.append(f"{heading}: {number}" if heading and (unnamed or heads) else column.name)
    return [replace(column, handle=handle) for column, handle in zip(columns, handles, strict=True)]


def stems_of(name: str) -> list[str]:
    """List what a column's name may share with its neighbours.

    >>> stems_of("q5_a_1"), stems_of("hobby: chess"), stems_of("seen3"), stems_of("q5a")
    (['q5_', 'q5_a_'], ['hobby: '], ['seen'], ['q5'])
    """
    ends = [match.end() for match in _SIGNS.finditer(name)]
    ends += [match.start() for match in re.finditer(r"(?<=[^\W\d_])\d+$|(?<= )\d+$|(?<=\d)[a-zA-Z]$", name)]
    return [name[:end] for end in ends if end < len(name) and re.search(r"\w", name[:end].replace("_", ""))]


def numbered(column: Column, stem: str) -> bool:
    """Tell whether only a number or a letter follows the stem."""
    return bool(re.fullmatch(r"\d+|[a-zA-Z]", column.handle[len(stem) :].strip(" ])")))


def bare(stem: str) -> str:
    """Take the signs off the end of a stem."""
    return re.sub(r"[\s_.:|/\[(\u2013\u2014-]+$", "", stem).strip()


def new_name(stem: str, what: str, names: Container[str], taken: Container[str]) -> str:
    """Name a question by its stem, so that no column and no other question has the name."""
    first = bare(stem) or what
    free = chain([first, f"{first}_{what}"], (f"{first}_{what}_{number}" for number in count(2)))
    return next(name for name in free if name not in names and name not in taken)


def options_of(run: Sequence[Column], stem: str, ticks: Sequence[str] | None = None) -> list[str]:
    """Name the options by the file's labels, by what follows the stem, by what ticks them, or by their columns."""
    blank = set(map(str, missing_of(run)))
    columns = [column.name for column in run]
    endings = [column.handle[len(stem) :].strip(" _.:|/[](){}\u2013\u2014-") for column in run]
    telling = all(re.search(r"[^\W\d_]", ending) and len(ending) > 1 for ending in endings)
    labels = [column.notes.label.strip() for column in run]
    for names in (_without_stem(labels), labels, endings if telling else ticks):
        if names and all(names) and len(set(names)) == len(run) and not blank & set(names):
            return list(names)
    return columns


def _without_stem(labels: Sequence[str]) -> list[str]:
    """Take off what all labels start with, up to a sign: "Hobbies: chess" becomes "chess"."""
    if not all(labels):
        return []
    common = [end for end in _label_ends(labels[0]) if all(label.startswith(labels[0][:end]) for label in labels)]
    end = max(common, default=0)
    return [label[end:].strip(" ])") for label in labels]


def _label_ends(label: str) -> list[int]:
    return [found.end() for found in re.finditer(r"(\s[-\u2013\u2014]\s|[:?|\[]\s*)", label)]


def missing_of(run: Sequence[Column]) -> list[Value]:
    """List the codes that mean blank in any of the columns."""
    return list(dict.fromkeys(code for column in run for code in column.missing))
