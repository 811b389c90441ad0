"""A guess at which neighbouring columns ask one question together."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mvrbm.cells import Value, plain, some
from mvrbm.infer.column import Column
from mvrbm.infer.rankings import Group, Make, are_ranks, find_choices, make_ranks, may_be_rank
from mvrbm.infer.scales import says_no
from mvrbm.infer.stems import bare, missing_of, new_name, numbered, options_of, stems_of, with_handles
from mvrbm.notes import ChoiceSet
from mvrbm.tables import Table
from mvrbm.units import Multicategorical

_NOUGHTS: set[Value] = {0, "0", "false", "False", "FALSE"}
_NOUGHTS_AND_ONES: set[Value] = {*_NOUGHTS, 1, "1", "true", "True", "TRUE"}
_GENERIC = re.compile(r"[a-z]?|var|item|question|col|column|field|unnamed|ques", re.I)
"""What stands before the number of every question, so that it joins none of them."""


def find_groups(columns: Sequence[Column], table: Table, taken: Container[str]) -> list[Group]:
    """Find the questions that stand in several neighbouring columns of those that are left."""
    groups: list[Group] = []
    columns = with_handles(columns)
    at = 0
    while at < len(columns):
        found = find_choices(columns[at:], table) or _best_run(columns[at:], table)
        if found:
            names = [group.question.name for group in groups]
            groups.append(found[1]([*table.names, *names], taken))
        at += found[0] if found else 1
    return groups


def _best_run(columns: Sequence[Column], table: Table) -> tuple[int, Make] | None:
    """Find the columns from the first one on that share a stem and a form, and the maker of their question."""
    for fits, check, make in _FORMS:
        runs = [(stem, _run(columns, stem, fits)) for stem in stems_of(columns[0].handle) if fits(columns[0])]
        runs = [(stem, run) for stem, run in runs if check(run, stem, table)]
        if runs:
            stem, run = max(runs, key=lambda found: _likeliness(*found))
            return len(run), partial(make, stem, run)
    return None


def _likeliness(stem: str, run: Sequence[Column]) -> tuple[bool, int, int]:
    """Compare runs by their stems: one before bare numbers ends there ("q5_a_1"), else the longest run counts."""
    return all(numbered(column, stem) for column in run), len(run), len(stem)


def _run(columns: Sequence[Column], stem: str, fits: Callable[[Column], bool]) -> list[Column]:
    run: list[Column] = []
    for column in columns:
        if not (column.handle.startswith(stem) and len(column.handle) > len(stem) and fits(column)):
            break
        if run and numbered(column, stem) and not numbered(run[-1], stem):  # "seen_any" is not of "seen_1", "seen_2"
            break
        run.append(column)
    return run


def _nought_or_one(column: Column) -> bool:
    usable = not column.trouble and not column.lists and 0 < len(column.values) < 5
    return usable and _NOUGHTS_AND_ONES.issuperset(column.values)


def _ticks_or_blank(column: Column) -> bool:
    if column.trouble or column.lists or column.n_different > 1 or (column.n_answered and not column.values):
        return False
    if column.n_coded:  # beside a tick only a cell that holds nothing means "not chosen"
        return False
    tick = column.values[0] if column.values else 1
    return not says_no(tick) if isinstance(tick, str) else tick > 0


def _are_ticks(run: Sequence[Column], stem: str, table: Table) -> bool:
    real = [column for column in run if column.n_answered]
    with_empty = sum(column.n_empty > 0 for column in real)
    return len(real) >= 2 and with_empty >= 2 and with_empty >= len(real) / 2


def _are_noughts_and_ones(run: Sequence[Column], stem: str, table: Table) -> bool:
    if len(run) < 3 or _GENERIC.fullmatch(bare(stem)):
        return False
    values = {value for column in run for value in column.values}
    others = sum(name.startswith(stem) for name in table.names) - len(run)
    return others <= len(run) and bool(values & _NOUGHTS) and not values <= _NOUGHTS


def _make_ticks(stem: str, run: Sequence[Column], names: Container[str], taken: Container[str]) -> Group:
    ticks = [column.values[0] if column.values else None for column in run]
    given = [tick for tick in ticks if tick is not None]
    texts = all(isinstance(tick, str) and tick not in _NOUGHTS_AND_ONES for tick in given)
    telling = given if texts and len(set(given)) == len(run) else None
    options = options_of(run, stem, [str(tick) for tick in telling] if telling else None)
    ticked = {option: given[0] if tick is None else tick for option, tick in zip(options, ticks, strict=True)}
    shown = some(dict.fromkeys(given), 3)
    reason = f"columns that hold {shown} or nothing, with the shared stem {stem!r}"
    return Group(_multicategorical(stem, options, run, names, taken, ticked=ticked), reason)


def _make_noughts_and_ones(stem: str, run: Sequence[Column], names: Container[str], taken: Container[str]) -> Group:
    question = _multicategorical(stem, options_of(run, stem), run, names, taken)
    return Group(question, f"0/1 columns with the shared stem {stem!r}")


def _multicategorical(
    stem: str,
    options: Sequence[str],
    run: Sequence[Column],
    names: Container[str],
    taken: Container[str],
    **settings: Any,
) -> Multicategorical:
    columns = {option: column.name for option, column in zip(options, run, strict=True)}
    name = new_name(stem, "options", names, taken)
    missing = [code for code in missing_of(run) if code not in settings.get("unticked", ())]
    return Multicategorical(name, columns=columns, missing=missing, **settings)


def _chosen_or_minus(column: Column) -> bool:
    """Tell whether a column holds 1 and one negative code, perhaps one that is said to mean blank."""
    if column.trouble or column.lists or column.n_different > 2 or 1 not in column.values:
        return False
    return len(_minus_codes([column])) == 1 and column.n_different + bool(column.n_coded) == 2


def _minus_codes(run: Sequence[Column]) -> list[Value]:
    codes = (code for column in run for code in (*column.values, *column.missing) if not isinstance(code, str))
    return list(dict.fromkeys(code for code in codes if code < 0))


def _are_chosen_or_minus(run: Sequence[Column], stem: str, table: Table) -> bool:
    return len(run) >= 3 and len(_minus_codes(run)) == 1 and not _GENERIC.fullmatch(bare(stem))


def _make_chosen_or_minus(stem: str, run: Sequence[Column], names: Container[str], taken: Container[str]) -> Group:
    code = _minus_codes(run)[0]
    question = _multicategorical(stem, options_of(run, stem), run, names, taken, ticked=1, unticked=[code])
    return Group(question, f"columns of 1 and {code} with the shared stem {stem!r}: taken for chosen and not chosen")


_FORMS = (
    (_chosen_or_minus, _are_chosen_or_minus, _make_chosen_or_minus),
    (_ticks_or_blank, _are_ticks, _make_ticks),
    (_nought_or_one, _are_noughts_and_ones, _make_noughts_and_ones),
    (may_be_rank, are_ranks, make_ranks),
)
"""What fits a column alone, what tells that a run of them asks one question, and what makes the question."""


def from_set(told: ChoiceSet, columns: Sequence[Column], names: Container[str], taken: Container[str]) -> Group | str:
    """Make the question of a multiple-response set, or say why its columns have to stay apart."""
    name = told.name.lstrip("$") or "set"
    if told.counted is None:
        return f"set {name!r} holds a chosen option in each column, which stay questions of their own"
    values = {value for column in columns for value in column.values}
    chosen = {value for value in values if _same(value, told.counted)}
    if any(column.trouble or column.lists for column in columns) or not chosen:
        return f"set {name!r} counts the value {told.counted!r}, which its columns do not hold"
    others = sorted(values - chosen, key=str)
    coded: dict[str, Any] = {}
    if not others or not (chosen <= _NOUGHTS_AND_ONES - _NOUGHTS and _NOUGHTS.issuperset(others)):
        coded = {"ticked": next(iter(chosen)), "unticked": others}
    labels = columns[0].notes.labels if all(c.notes.labels == columns[0].notes.labels for c in columns) else {}
    told_of_it = {"label": told.label, "labels": labels or None, **coded}
    question = _multicategorical(name, options_of(columns, ""), columns, names, taken, **told_of_it)
    return Group(question, f"the file's set {told.name!r}, which counts {plain(told.counted)!r}")


def _same(value: Value, counted: Any) -> bool:
    try:
        return value == counted or float(value) == float(counted)
    except (TypeError, ValueError):
        return False


def as_nominal(column: Column) -> Column:
    """Take a column for one without an order."""
    return replace(column, notes=replace(column.notes, measure="nominal"))
