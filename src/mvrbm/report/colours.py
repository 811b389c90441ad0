"""Colours for levels: safe for the colour-blind, seen on white, on black and on paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mvrbm.cells import Cells
from mvrbm.units.view import View

CATEGORIES = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#aa3377", "#66ccee", "#ee7733")
"""Paul Tol's bright scheme, and an orange."""
OTHER = "#8a8f98"
BLANK = "#9aa0aa"
SCALE = ("#2c5fb8", "#7d74b8", "#b0789c", "#d98b5f", "#f2a52c")
"""From low to high: blue to orange, ever lighter."""
GROUPS = 5
"""Into how many groups of about the same size numbers are put."""


@dataclass(frozen=True)
class Coloured:
    """A view as it is drawn: what each colour means, and the colour of each answer."""

    names: list[str]
    colours: list[str]
    of: list[int]
    """The place in `names` of each answer, -1 for none."""


def coloured(view: View, told: Sequence[str], counts: Cells) -> Coloured:
    """Choose colours for a view of some answers, `told` in words, that `counts` people gave."""
    if not view.levels:
        names, of = _grouped(view.of, told, counts)
        return Coloured(names, scale(len(names)), of.tolist())
    names, of = list(view.levels), np.asarray(view.of, np.int64)
    if view.ordered:
        return Coloured(names, scale(len(names)), of.tolist())
    colours = list(CATEGORIES[: len(names)])
    if len(names) > len(CATEGORIES):
        names, of = _most_frequent(names, of, counts)
        colours = [*CATEGORIES, OTHER]
    return Coloured(names, colours, of.tolist())


def _most_frequent(names: list[str], of: Cells, counts: Cells) -> tuple[list[str], Cells]:
    """Keep as many levels as there are colours, those that most people gave; the others share one."""
    people = np.bincount(of[of >= 0], counts[of >= 0], len(names))
    kept = np.sort(np.argsort(-people, kind="stable")[: len(CATEGORIES)])
    slot = np.full(len(names) + 1, len(kept))
    slot[kept], slot[-1] = np.arange(len(kept)), -1
    return [*(names[level] for level in kept), f"{len(names) - len(kept)} others"], slot[of]


def _grouped(numbers: Cells, told: Sequence[str], counts: Cells) -> tuple[list[str], Cells]:
    """Put numbers into groups of about the same size, each named by its ends."""
    order = np.argsort(numbers, kind="stable")
    there = order[~np.isnan(numbers[order])]
    of = np.full(len(numbers), -1)
    if len(there):
        before = np.cumsum(counts[there]) - counts[there] / 2
        group = np.minimum((GROUPS * before / counts[there].sum()).astype(np.int64), GROUPS - 1)
        of[there] = np.unique(group, return_inverse=True)[1]
    names = []
    for number in range(of.max(initial=-1) + 1):
        own = there[of[there] == number]
        ends = dict.fromkeys((told[own[0]], told[own[-1]]))
        names.append(" to ".join(ends))
    return names, of


def scale(n: int) -> list[str]:
    """Colours from low to high, `n` of them."""
    stops = np.array([[int(stop[i : i + 2], 16) for i in (1, 3, 5)] for stop in SCALE])
    at = np.linspace(0, len(stops) - 1, n) if n > 1 else np.zeros(n)
    rgb = [np.interp(at, np.arange(len(stops)), channel) for channel in stops.T]
    return ["#" + "".join(f"{round(float(c)):02x}" for c in colour) for colour in zip(*rgb, strict=True)]
