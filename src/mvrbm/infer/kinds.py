"""The question of a kind that is settled: which values it has, in which order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from mvrbm.cells import Value, plain, some, split
from mvrbm.infer.column import Column
from mvrbm.infer.scales import known_order, no_answer, no_then_yes
from mvrbm.units import KINDS, Binary, Categorical, Continuous, Multicategorical, Ordinal, Question, Ranking

MOST_TEXTS = 200
"""More different answers than this are no categories."""

MOST_LEVELS = 40
"""More levels than this are no scale."""

_SEPARATORS = (";", "|", ",")

# What surveys write for "no answer": 9, 99, 999, 98, -1, ...
_CODES = {-1, -2, -3, -4, -5, -6, -7, -8, -9, 7, 8, 9}
_CODES |= {sign * int(digit * n) for sign in (1, -1) for digit in "789" for n in (2, 3, 4)}
_CODES |= {sign * (10**n - m) for sign in (1, -1) for n in (2, 3, 4) for m in (2, 3, 4)}


class CannotBeError(ValueError):
    """A kind that the cells of a column do not allow; the message says why and what to do."""


def as_kind(column: Column, kind: str) -> Question:
    """Make the question of a kind that a column asks; an error if its cells do not allow the kind."""
    if column.trouble or not column.name:
        raise CannotBeError(column.trouble or "it has no name; name it")
    makers: dict[str, Callable[[Column], Question]] = {
        "binary": _binary,
        "categorical": _categorical,
        "ordinal": _ordinal,
        "continuous": _continuous,
        "multicategorical": _multicategorical,
        "ranking": _ranking,
    }
    if not column.n_answered:
        raise CannotBeError("it holds no answers; ignore it")
    if column.lists and kind != "multicategorical":
        raise CannotBeError("its cells are lists, which only a multicategorical question reads")
    if kind in makers:
        return makers[kind](column)
    return _tried(next(known for known in KINDS if known.kind == kind), column)


def _tried(kind: type[Question], column: Column) -> Question:
    """Make a question that needs no more than its column; what the cells do not allow, it says itself."""
    question = kind(column.name, **said_of(column))
    cells = {column.name: column.cells()}
    try:
        question.learn(cells).encode(cells)
    except ValueError as error:
        raise CannotBeError(str(error)) from None
    return question


def said_of(column: Column) -> dict[str, Any]:
    """List what every question of a column is told."""
    return {"missing": column.missing, "label": column.notes.label, "labels": column.notes.labels or None}


def of_two_or(kind: type[Ordinal] | type[Categorical], column: Column, values: Sequence[Value]) -> Question:
    """Make a question of a kind, or a binary one if there are two values."""
    if len(values) != 2:
        return kind(column.name, values=values, **said_of(column))
    if column.order is None and all(isinstance(value, str) for value in values):
        values = [*no_then_yes([str(value) for value in values])] if column.numbers is None else values
    return Binary(column.name, values=values, **said_of(column))


def _binary(column: Column) -> Question:
    values = column.values if column.order is None or len(column.order) != 2 else column.order
    if len(values) != 2:
        raise CannotBeError(f"it has {column.n_different} different values, not 2; give another kind")
    ordered = (
        values if values is column.order else sorted(values, key=_by_number if column.numbers is not None else _by_kind)
    )
    return of_two_or(Categorical, column, ordered)


def _categorical(column: Column) -> Question:
    if not column.values:
        raise CannotBeError(
            f"it has {column.n_different} different numbers, too many for categories; give another kind"
        )
    return Categorical(column.name, values=column.order or levels_of(column), **said_of(column))


def _ordinal(column: Column) -> Question:
    levels = levels_of(column)
    order: Iterable[Value] | None = column.order
    if (
        order is None
        and column.numbers is not None
        and levels
        and len({_by_number(level)[0] for level in levels}) == len(levels)
    ):
        order = levels
    if order is None and column.texts:
        known = order_of(column, levels)
        order = known[0] if known else None
    if order is None or len(list(order)) < 2:
        way_out = f"Ordinal({column.name!r}, values=[...])"
        raise CannotBeError(f"the order of its values ({some(levels)}) is not known; give {way_out}, lowest first")
    return Ordinal(column.name, values=order, **said_of(column))


def _continuous(column: Column) -> Question:
    if column.numbers is None:
        wrong = next(value for value in column.values if _by_number(value)[0] == np.inf or isinstance(value, str))
        raise CannotBeError(f"its value {wrong!r} is no number; list it in missing=[...] or give another kind")
    return Continuous(column.name, integer=column.whole, **said_of(column))


def _multicategorical(column: Column) -> Question:
    if column.lists:
        values = sorted(column.values, key=_by_kind)
        return Multicategorical(column.name, column=column.name, separator=None, values=values, **said_of(column))
    texts = [str(value) for value in column.values]
    if not column.texts:
        raise CannotBeError("its cells are not texts that name options; give another kind")
    separator = separator_of(texts) or ";"
    blank = set(map(str, column.missing))
    values = sorted({part for text in texts for part in split(text, separator)} - blank)
    if not values:
        raise CannotBeError("its cells name no options; give another kind")
    return Multicategorical(column.name, column=column.name, separator=separator, values=values, **said_of(column))


def _ranking(column: Column) -> Question:
    texts = [str(value) for value in column.values]
    if not column.texts:
        raise CannotBeError("its cells are not texts that put items in an order; give another kind")
    sign = next((sign for sign in (">", *_SEPARATORS) if any(sign in text for text in texts)), ">")
    items = [_items(text, sign) for text in texts]
    twice = next((text for text, cell in zip(texts, items, strict=True) if len(set(cell)) < len(cell)), None)
    values = sorted({item for cell in items for item in cell} - set(map(str, column.missing)))
    if twice is not None or len(values) < 2:
        wrong = "it names fewer than 2 items" if twice is None else f"its value {twice!r} names an item twice"
        raise CannotBeError(f"{wrong}; give another kind")
    return Ranking(column.name, column=column.name, separator=sign, values=values, **said_of(column))


def labels_of(column: Column) -> dict[Any, str]:
    """List what the file says that codes stand for."""
    return {plain(code): text for code, text in column.notes.labels.items()}


def levels_of(column: Column) -> list[Value]:
    """List the answers and the other codes that have a label, sorted: by number, then texts."""
    known = [
        code for code in labels_of(column) if code not in column.missing and code not in column.values and code == code
    ]
    numbers = [] if column.numbers is None else column.numbers.tolist()
    unused = [code for code in known if isinstance(code, Value) and not no_answer(labels_of(column)[code])]
    unused = [code for code in unused if isinstance(code, str) or code not in outlying([*numbers, code])]
    every = [*column.values, *unused] if column.values else []
    return sorted(every, key=_by_number if column.numbers is not None else _by_kind)


def _by_kind(value: Value) -> tuple[bool, Any]:
    return isinstance(value, str), value


def _by_number(value: Value) -> tuple[float, str]:
    try:
        return float(value), str(value)
    except ValueError:
        return np.inf, str(value)


def order_of(column: Column, levels: Sequence[Value]) -> tuple[list[Value], str] | None:
    """Put texts in a known order: all that have a label, or else those that were given."""
    for values in (levels, column.values):
        if 2 < len(values) <= MOST_LEVELS and all(isinstance(value, str) for value in values):
            order = known_order([str(value) for value in values])
            if order:
                return [*order[0]], order[1]
    return None


def outlying(numbers: Sequence[float]) -> list[float]:
    """Find the codes, such as 9, 99 or -1, that stand apart from all other numbers."""
    rest = [number for number in numbers if number not in _CODES]
    if len(rest) < 2:
        return []
    low, high = min(rest), max(rest)
    apart = []
    for code in sorted((number for number in numbers if number in _CODES), key=abs):
        if low - 2 < code < high + 2:
            low, high = min(low, code), max(high, code)
        else:
            apart.append(code)
    wide = high - low > 10  # an age of 99 is an age; an age of 999 is none
    return [code for code in apart if not wide or code < 0 <= low or code > 2 * high]


def separator_of(texts: Sequence[str]) -> str | None:
    """Find the sign that stands between the options that texts name; None if they name none."""
    # Free texts are many, and the first of them tell that they are no options.
    return next((sign for sign in _SEPARATORS if _are_options(texts[:2000], sign) and _are_options(texts, sign)), None)


def _are_options(texts: Sequence[str], sign: str) -> bool:
    """Tell whether cells are made of a few parts that come again in other cells."""
    cells = [split(text, sign) for text in texts]
    cells = [cell for cell in cells if cell]
    parts = [part for cell in cells for part in cell]
    times = Counter(parts)
    several = sum(len(cell) > 1 for cell in cells)
    twice = sum(len(set(cell)) < len(cell) for cell in cells)
    if several < 2 or twice > len(cells) / 50:
        return False
    again = sum(count > 1 for count in times.values()) / len(times)
    if len(times) > max(40, min(MOST_TEXTS, len(cells) // 4)) or len(times) < 2 or again < 0.5:
        return False
    # Commas also stand inside of answers ("Yes, often") and numbers: there must be no doubt.
    sure = len(times) < len(cells) and again >= 2 / 3 and len({len(cell) for cell in cells}) > 1
    lone = any(len(cell) == 1 and times[cell[0]] > 1 for cell in cells)
    short = fmean(map(len, times)) <= 30 and not all(re.fullmatch(r"[-+\d. ]+", part) for part in times)
    return sign != "," or (sure and lone and short and several >= 3)


def is_ranking(texts: Sequence[str]) -> bool:
    """Tell whether texts put a few items in an order, as "a>b>c" does."""
    first = texts[:2000]
    if any("->" in text or "=>" in text or "<" in text for text in first) or not any(">" in text for text in first):
        return False
    cells = [_items(text, ">") for text in texts]
    items = {item for cell in cells for item in cell}
    several = sum(len(cell) > 1 for cell in cells)
    return 2 <= len(items) <= 20 and several >= max(2, len(cells) / 2) and all(len(set(c)) == len(c) for c in cells)


def _items(text: str, sign: str) -> list[str]:
    return [item for place in split(text, sign) for item in split(place, "=")]
