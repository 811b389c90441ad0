"""A guess at what one column asks by itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from mvrbm.cells import Value, plain, some
from mvrbm.infer.column import Column, dates
from mvrbm.infer.kinds import (
    MOST_LEVELS,
    MOST_TEXTS,
    as_kind,
    is_ranking,
    labels_of,
    levels_of,
    of_two_or,
    order_of,
    outlying,
    separator_of,
)
from mvrbm.infer.scales import no_answer
from mvrbm.units import Categorical, Ordinal, Question

_SCALE = range(3, 12)
"""How many whole numbers make a scale."""

_ID = re.compile(
    r"(.*[^a-z])?(id|uuid|guid)([^a-z].*)?|(resp|respondent|case|user|person|subject|participant|response|record)id"
)


@dataclass
class Decided:
    """What a column was taken for: a question, or none if it is set aside; and why."""

    question: Question | None
    reason: str


def decide(column: Column) -> Decided:
    """Guess what one column asks."""
    aside = _unusable(column)
    if aside:
        return Decided(None, aside)
    if column.lists:
        return _decide_lists(column)
    if column.n_different == 1:
        return _decide_one_value(column)
    if column.order is not None:
        question = of_two_or(Ordinal, column, column.order)
        return Decided(question, f"ordered categories, {len(column.order)} of them")
    if column.numbers is not None and not (column.unordered and not column.texts):
        return _decide_numbers(column)
    return _decide_texts(column)


def _unusable(column: Column) -> str:
    if column.trouble:
        return column.trouble
    if not column.name:
        return "it has no name; name it to use it"
    if not column.n_answered:
        return "no answers" + (
            f", only {some(column.missing)}" if column.missing and column.n_empty < column.n_rows else ""
        )
    return ""


def _decide_one_value(column: Column) -> Decided:
    value = column.values[0] if column.values or column.numbers is None else float(column.numbers[0])
    beside = f" beside {some(column.missing)}, which means blank" if column.missing else ""
    return Decided(None, f"one value, {value!r}{beside}")


def _decide_lists(column: Column) -> Decided:
    if column.n_different > MOST_TEXTS:
        return Decided(None, f"lists of too many different elements, {column.n_different}")
    question = as_kind(column, "multicategorical")
    return Decided(question, f"lists, of {column.n_different} different elements")


def _decide_numbers(column: Column) -> Decided:
    if _are_ids(column):
        return Decided(None, "every number is different, as in ids")
    levels = levels_of(column)
    measure = column.notes.measure
    labelled = bool(levels) and all(value in labels_of(column) for value in column.values)
    said = f"the file says {measure}; " if measure else ""
    if measure == "nominal" or (not measure and labelled and len(levels) not in _SCALE):
        if not levels or len(levels) > MOST_TEXTS:
            return Decided(None, f"{said}too many different numbers for categories, {column.n_different}")
        reason = f"{said}{len(levels)} numbers" + (", each with a label" if labelled else "")
        return Decided(of_two_or(Categorical, column, levels), reason + _hint(column))
    if len(levels) == 2:
        return Decided(of_two_or(Ordinal, column, levels), f"{said}two values" + _hint(column))
    if labelled or (measure == "ordinal" and 0 < len(levels) <= MOST_LEVELS) or (not measure and _is_scale(levels)):
        what = "whole numbers" if column.whole else "numbers"
        reason = f"{said}{len(levels)} {what}, {_span(column)}" + (", each with a label" if labelled else "")
        return Decided(of_two_or(Ordinal, column, levels), reason + _hint(column))
    return Decided(as_kind(column, "continuous"), said + _numbers_told(column) + _hint(column))


def _decide_texts(column: Column) -> Decided:
    levels = levels_of(column)
    measure = column.notes.measure if column.notes.measure != "scale" else None
    said = f"the file says {measure}; " if measure else ""
    if len(levels) == 2:
        return Decided(of_two_or(Categorical, column, levels), f"{said}two values" + _hint(column))
    if column.texts and dates(column.values):
        return Decided(None, "dates or times, as texts")
    order = order_of(column, levels) if measure != "nominal" else None
    if order:
        ordered, what = order
        return Decided(of_two_or(Ordinal, column, ordered), f"{said}{len(ordered)} texts in the order of {what}")
    if column.texts and not measure and not column.notes.labels:
        parts = _decide_parts(column)
        if parts:
            return parts
    aside = _too_many_texts(column)
    if aside:
        return Decided(None, aside + _hint(column))
    kinds = "texts" if column.texts else "categories" if column.unordered else "texts and numbers"
    unknown = "; their order is not known, so say Ordinal(...) with values=[...]" if measure == "ordinal" else ""
    reason = f"{said}{kinds}, {len(levels)} different{unknown}"
    return Decided(of_two_or(Categorical, column, levels), reason + _hint(column))


def _decide_parts(column: Column) -> Decided | None:
    """Guess whether the texts name several options, or items in an order."""
    texts = [str(value) for value in column.values]
    if is_ranking(texts):
        question = as_kind(column, "ranking")
        return Decided(question, f"texts that put {question.n_values} items in an order by '>'")
    separator = separator_of(texts)
    if separator is None:
        return None
    question = as_kind(column, "multicategorical")
    return Decided(question, f"texts of {question.n_values} options, separated by {separator!r}")


def _are_ids(column: Column) -> bool:
    if not column.all_different or (column.numbers is not None and not column.whole):
        return False
    if named_id(column.name):
        return True
    if column.numbers is None:
        return column.n_answered > 20
    # A few dozen incomes can all be different; ids go up, or leave few numbers out, or there are very many.
    dense = float(np.ptp(column.numbers)) < 2 * column.n_answered
    return column.n_answered > 20 and (column.rising or dense or column.n_answered > 100)


def named_id(name: str) -> bool:
    """Tell whether a name is one that ids have.

    >>> named_id("RespId"), named_id("user_id"), named_id("paid")
    (True, True, False)
    """
    return bool(_ID.fullmatch(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()))


def _too_many_texts(column: Column) -> str:
    texts = [value for value in column.values if isinstance(value, str)]
    length = fmean(map(len, texts[:1000])) if texts else 0
    different, answered = column.n_different, column.n_answered
    if _are_ids(column):
        return "every text is different, as in " + ("free answers" if length > 25 else "ids")
    few = column.n_rows <= 50
    if (not few and different > max(10, answered / 4)) or (few and length > 40 and 5 <= 0.8 * answered < different):
        kind = "free texts" if length > 25 or different > answered / 2 else "too many different texts"
        return f"{kind}: {different} different in {answered} answers"
    return f"too many different texts, {different} (more than {MOST_TEXTS})" if different > MOST_TEXTS else ""


def _is_scale(levels: Sequence[Value]) -> bool:
    if len(levels) not in _SCALE:
        return False
    numbers = sorted(float(value) for value in levels)
    apart = outlying(numbers)
    rest = [number for number in numbers if number not in apart]
    if len(set(numbers)) < len(numbers) or any(number % 1 for number in numbers):
        return False
    return rest[-1] - rest[0] <= 10 and rest[0] >= -10 and rest[-1] <= 15


def _hint(column: Column) -> str:
    """Point to answers that look like codes for no answer."""
    labels = labels_of(column)
    codes: list[Value] = [value for value in column.values if isinstance(value, str) and no_answer(value)]
    codes += [value for value in column.values if value not in codes and no_answer(labels.get(value, ""))]
    if column.numbers is not None and column.whole and column.n_different > 2:
        apart = outlying(column.numbers.tolist())
        numbers = zip(column.values, column.numbers.tolist(), strict=True) if column.values else ((n, n) for n in apart)
        codes += [plain(value) for value, number in numbers if number in apart and value not in codes]
    if not codes:
        return ""
    verb = "looks like a code" if len(codes) == 1 else "look like codes"
    return f"; {some(codes)} {verb} for 'no answer': say missing=[{', '.join(map(repr, codes[:8]))}]"


def _span(column: Column) -> str:
    numbers = column.numbers if column.numbers is not None else np.zeros(1)
    return f"{plain(float(numbers.min()))!r} to {plain(float(numbers.max()))!r}"


def _numbers_told(column: Column) -> str:
    texts = ", as texts" if column.texts else ""
    if column.whole:
        return f"{column.n_different} whole numbers, {_span(column)}{texts}"
    return f"numbers, {_span(column)}{texts}"
