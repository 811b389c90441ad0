"""A guess at which neighbouring columns put items in an order."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

import numpy as np

from mvrbm.cells import Value, codebook, match, to_numbers
from mvrbm.infer.column import Column
from mvrbm.infer.kinds import MOST_TEXTS
from mvrbm.infer.stems import bare, missing_of, new_name, options_of
from mvrbm.tables import Table
from mvrbm.units import Question, Ranking


@dataclass
class Group:
    """Columns that ask one question together, and why."""

    question: Question
    reason: str


Make = Callable[[Container[str], Container[str]], Group]

_MOST_RANKED = 20

_ROWS_LOOKED_AT = 20_000

_ORDINALS = {
    word: place
    for place, words in enumerate(
        ("first 1st", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th", "sixth 6th"), start=1
    )
    for word in words.split()
}

_ORDINAL = re.compile(rf"(?<![a-z0-9])({'|'.join(_ORDINALS)})(?![a-z0-9])", re.I)

_NUMBERED_CHOICE = re.compile(r"(.*(?:choice|preference|pref)[\s_.-]*)(\d)", re.I)


def may_be_rank(column: Column) -> bool:
    """Tell whether a column holds small whole numbers, as ranks are."""
    if column.numbers is None or not column.values or not column.whole or column.lists or column.trouble:
        return False
    return bool(column.numbers.min() >= 1 and column.numbers.max() <= _MOST_RANKED)


def are_ranks(run: Sequence[Column], stem: str, table: Table) -> bool:
    """Tell whether the numbers of a row are ranks of one another: 1, 2, ... each once."""
    if not 3 <= len(run) <= _MOST_RANKED or all(column.n_different == 1 for column in run):
        return False
    highest = max(float(column.numbers.max()) for column in run if column.numbers is not None)
    if not 2 < highest <= len(run):
        return False
    step = -(-table.n_rows // _ROWS_LOOKED_AT)
    ranks = [to_numbers(table.cells(column.name)[::step], column.missing)[0] for column in run]
    rows = np.sort(np.stack(ranks, axis=1), axis=1)  # blanks come last
    known = np.isfinite(rows).sum(axis=1)
    legal = ((rows == np.arange(1, len(run) + 1)) | np.isnan(rows)).all(axis=1)
    full = known == len(run)
    looked = full if full.sum() >= 4 else known >= 3  # "your three best of six" leaves no row full
    return bool(looked.sum() >= 4 and legal[looked].mean() >= 0.95)


def make_ranks(stem: str, run: Sequence[Column], names: Container[str], taken: Container[str]) -> Group:
    """Make the question of columns that hold ranks."""
    ranks = {item: column.name for item, column in zip(options_of(run, stem), run, strict=True)}
    question = Ranking(new_name(stem, "ranks", names, taken), ranks=ranks, missing=missing_of(run))
    return Group(question, f"each row holds the ranks 1 to {len(run)}, in columns with the shared stem {stem!r}")


def find_choices(columns: Sequence[Column], table: Table) -> tuple[int, Make] | None:
    """Find columns whose names say first choice, second choice, ..."""
    start = _choice(columns[0].name)
    if start is None or start[1] != 1:
        return None
    width = 1
    while width < len(columns) and _choice(columns[width].name) == (start[0], width + 1):
        width += 1
    run = list(columns[:width])
    if width < 2 or not all(_is_choice(column) for column in run):
        return None
    every = {value for column in run for value in column.values}
    alike = all(2 * column.n_different >= len(every) for column in run)
    if not width < len(every) <= MOST_TEXTS or not alike or _chosen_twice(run, table, every):
        return None
    values = sorted(every, key=lambda value: (isinstance(value, str), value))

    def make(names: Container[str], taken: Container[str]) -> Group:
        name = new_name(bare(start[0].replace("*", "").strip(" _.:-")), "choices", names, taken)
        choices = [column.name for column in run]
        labels = run[0].notes.labels or None
        question = Ranking(name, choices=choices, values=values, missing=missing_of(run), labels=labels)
        return Group(question, f"{width} columns named first, second, ... choice among {len(values)} items")

    return width, make


def _choice(name: str) -> tuple[str, int] | None:
    """Read what is chosen and at which place, if a column's name says so.

    >>> _choice("first_choice"), _choice("Vote 2nd"), _choice("choice3"), _choice("first_name_2")
    (('*_choice', 1), ('Vote *', 2), ('choice*', 3), ('*_name_2', 1))
    """
    numbered = _NUMBERED_CHOICE.fullmatch(name)
    if numbered:
        return f"{numbered.group(1)}*", int(numbered.group(2))
    found = _ORDINAL.search(name)
    return (_ORDINAL.sub("*", name, count=1), _ORDINALS[found.group().lower()]) if found else None


def _is_choice(column: Column) -> bool:
    return 2 <= len(column.values) <= MOST_TEXTS and not column.lists and not column.trouble


def _chosen_twice(run: Sequence[Column], table: Table, values: set[Value]) -> bool:
    places = [match(table.cells(column.name), codebook(values, column.missing)) for column in run]
    pairs = ((one, other) for number, one in enumerate(places) for other in places[:number])
    return any(bool(((one == other) & (one >= 0)).any()) for one, other in pairs)
