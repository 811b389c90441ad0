"""A guess at what one column asks by itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from mvrbm.cells import Value, plain, some, to_numbers
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
from mvrbm.infer.scales import known_order, no_answer
from mvrbm.units import Categorical, Ordinal, Question

_SCALE = range(3, 12)
"""How many whole numbers make a scale."""

_MOST_COUNTED = 200
"""Larger numbers are no counts, unless someone says so."""

_ID = re.compile(
    r"(.*[^a-z])?(id|uuid|guid)([^a-z].*)?|(resp|respondent|case|user|person|subject|participant|response|record)id"
)

_CATEGORIES = re.compile(
    r"(.*[^a-z])?(zip|zipcode|postcode|postal|region|state|county|district|province|country|occupation|job|industry"
    r"|interviewer|cluster|psu|strata|stratum|party|religion|brand|fips|code)([^a-z].*)?"
)
"""What is numbered for want of a name."""
_TIMES = re.compile(r"(.*[^a-z])?(year|wave|round|cohort|grade|semester|quarter)([^a-z].*)?")


@dataclass
class Decided:
    """What a column was taken for: a question, or none if it is set aside; and why."""

    question: Question | None
    reason: str


def decide(column: Column, counts: bool = False) -> Decided:
    """Guess what one column asks; `counts` says whether it may be how many of something."""
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
        if counts and _are_counts(column):
            return Decided(as_kind(column, "count"), f"counts, {_span(column)}" + _hint(column))
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
    words = [word for code, word in labels_of(column).items() if code in levels and not no_answer(word)]
    scale = len(levels) in _SCALE and (not labelled or known_order(words) is not None)
    said = f"the file says {measure}; " if measure else ""
    if measure == "nominal" or (not measure and labelled and not scale):
        if not levels or len(levels) > MOST_TEXTS:
            return Decided(None, f"{said}too many different numbers for categories, {column.n_different}")
        reason = f"{said}{len(levels)} numbers" + (", each with a label" if labelled else "")
        return Decided(of_two_or(Categorical, column, levels), reason + _hint(column))
    if len(levels) == 2:
        return Decided(of_two_or(Ordinal, column, levels), f"{said}two values" + _hint(column))
    if not measure and not labelled and column.whole and named(column.name, _CATEGORIES) and 2 < len(levels) <= 60:
        question = of_two_or(Categorical, column, levels)
        return Decided(
            question, f"{len(levels)} whole numbers, but its name is one that categories have" + _hint(column)
        )
    if (
        labelled
        or (measure == "ordinal" and 0 < len(levels) <= MOST_LEVELS)
        or (not measure and _is_scale(levels, column.name))
    ):
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
    if named(column.name, _ID):
        return True
    if column.numbers is None:
        return column.n_answered > 20
    # A few hundred incomes can all be different; ids go up or down, or leave few numbers out, or are very large.
    dense = float(np.ptp(column.numbers)) < 2 * column.n_answered
    return column.n_answered > 20 and (column.rising or dense or float(column.numbers.min()) >= 1e6)


def named(name: str, pattern: re.Pattern[str]) -> bool:
    """Tell whether a name, in lower case and with its words apart, is of a sort.

    >>> named("RespId", _ID), named("user_id", _ID), named("paid", _ID), named("ZipCode", _CATEGORIES)
    (True, True, False, True)
    """
    return bool(pattern.fullmatch(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()))


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


def _are_counts(column: Column) -> bool:
    """Tell whether whole numbers start at 0, have no names, and lie mostly in the lower half."""
    if column.numbers is None or not column.whole or column.n_different < 3 or labels_of(column):
        return False
    named_otherwise = named(column.name, _CATEGORIES) or named(column.name, _TIMES) or _are_ids(column)
    if named_otherwise or column.notes.measure in ("nominal", "ordinal"):
        return False
    most = column.numbers.max()
    numbers, _ = to_numbers(column.cells(), column.missing)
    return bool(column.numbers.min() == 0 and most <= _MOST_COUNTED and np.nanmedian(numbers) <= most / 2)


def _is_scale(levels: Sequence[Value], name: str) -> bool:
    if len(levels) not in _SCALE:
        return False
    numbers = sorted(float(value) for value in levels)
    apart = outlying(numbers)
    rest = [number for number in numbers if number not in apart]
    if len(set(numbers)) < len(numbers) or any(number % 1 for number in numbers):
        return False
    return (rest[-1] - rest[0] <= 10 and rest[0] >= -10 and rest[-1] <= 15) or named(name, _TIMES)


def _hint(column: Column) -> str:
    """Point to answers that look like codes for no answer, and to codes for no answer that look like answers."""
    codes = suspects(column)
    said = f"; {some(codes)} {'looks' if len(codes) == 1 else 'look'} like 'no answer'" if codes else ""
    within = _within(column)
    return said + (f"; {some(within)} taken as blank, within the other numbers" if within else "")


def _within(column: Column) -> list[Value]:
    """Find codes for no answer that lie among the levels of a scale."""
    if column.numbers is None or not column.whole or not 2 < column.n_different <= max(_SCALE):
        return []
    low, high = column.numbers.min(), column.numbers.max()
    told = column.notes.missing
    return [code for code in column.missing if not isinstance(code, str) and low < code < high and code not in told]


def advice(columns: Sequence[Column]) -> list[str]:
    """Say what to do about codes that look like no answer, each once."""
    where: dict[Value, list[str]] = {}
    for column in columns:
        for code in suspects(column):
            where.setdefault(code, []).append(column.name)
    said = [
        f"{code!r} looks like 'no answer' in {len(names)} columns: say missing=[{code!r}]"
        for code, names in where.items()
        if len(names) > 3
    ]
    few: dict[str, list[Value]] = {}
    for code, names in where.items():
        for name in names if len(names) <= 3 else ():
            few.setdefault(name, []).append(code)
    said += [
        f"{some(codes)} may mean 'no answer': say overrule={{{name!r}: {{'missing': {codes!r}}}}}"
        for name, codes in few.items()
    ]
    within = {column.name: _within(column) for column in columns}
    said += [f"{some(codes)} counts as blank in {name!r}: is it no answer?" for name, codes in within.items() if codes]
    return said


def suspects(column: Column) -> list[Value]:
    """List the answers that look like codes for no answer."""
    labels = labels_of(column)
    codes: list[Value] = [value for value in column.values if isinstance(value, str) and no_answer(value)]
    codes += [value for value in column.values if value not in codes and no_answer(labels.get(value, ""))]
    if column.numbers is not None and column.whole and column.n_different > 2:
        apart = outlying(column.numbers.tolist())
        numbers = zip(column.values, column.numbers.tolist(), strict=True) if column.values else ((n, n) for n in apart)
        codes += [plain(value) for value, number in numbers if number in apart and value not in codes]
        most = plain(float(column.numbers.max()))
        if re.fullmatch(r"9+[89]", str(most)) and column.n_most > max(2, 3 * column.n_answered / column.n_different):
            codes += [most] if most not in codes else []
    return codes


def _span(column: Column) -> str:
    numbers = column.numbers if column.numbers is not None else np.zeros(1)
    return f"{plain(float(numbers.min()))!r} to {plain(float(numbers.max()))!r}"


def _numbers_told(column: Column) -> str:
    texts = ", as texts" if column.texts else ""
    if column.whole:
        return f"{column.n_different} whole numbers, {_span(column)}{texts}"
    return f"numbers, {_span(column)}{texts}"
