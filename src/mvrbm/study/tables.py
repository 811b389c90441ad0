"""The results of a study as Markdown: tables, and which of the paper's trends appear in them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

from mvrbm.study.grid import BEST, JOINT
from mvrbm.study.paper import figure
from mvrbm.units import KINDS

Results = dict[str, Any]
TITLES = {
    "reconstruction": "Reconstruction from posteriors",
    "completion": "Completion, a fifth of each person's answers hidden",
    "prediction": "Prediction, learnt from four fifths of the people, tried on the rest",
}
NEAR = 0.02
"""How near an error is to the best one of its row, as a share of it, to be as good."""


class Figures:
    """The errors of a study, in per cent, by experiment, row, recipe and number of hidden units."""

    def __init__(self, results: Results) -> None:
        self.plan = results["about"]["plan"]
        self.made = results["about"]["survey"] == "made"
        self.rows: dict[str, list[str]] = {experiment: [] for experiment in TITLES}
        self._errors: dict[tuple[Any, ...], list[float]] = {}
        for cell in results["cells"]:
            for kind, error in cell.get("errors", {}).items():
                row = cell["target"] or kind
                if row not in self.rows[cell["experiment"]]:
                    self.rows[cell["experiment"]].append(row)
                key = (cell["experiment"], row, cell["recipe"], cell["n_hidden"], cell["seed"] > 0)
                self._errors.setdefault(key, []).append(100 * error)
        for experiment in JOINT:
            self.rows[experiment].sort(key=[kind.kind for kind in KINDS].index)

    def sizes(self, experiment: str) -> list[int]:
        """The numbers of hidden units, the baseline first."""
        return list(self.plan["sizes" if experiment in JOINT else "prediction_sizes"])

    def one(self, experiment: str, row: str, recipe: str, n_hidden: int) -> float | None:
        """The error in the main run."""
        found = self._errors.get((experiment, row, recipe, n_hidden, False))
        return found[0] if found else None

    def spread(self, experiment: str, row: str, recipe: str, n_hidden: int) -> list[float]:
        """The errors of the repeated runs."""
        return self._errors.get((experiment, row, recipe, n_hidden, True), [])

    def best(self, experiment: str, row: str) -> float | None:
        """The error of the best possible guesses, if they are known."""
        return self.one(experiment, row, BEST, 0)

    def curve(self, experiment: str, row: str, recipe: str) -> list[float]:
        """The errors from the baseline on; empty if any is lacking."""
        found = [self.one(experiment, row, recipe, k) for k in self.sizes(experiment)]
        return [error for error in found if error is not None] if None not in found else []


def written(results: Results) -> str:
    """The page: a table for each experiment, the spread, the map in numbers, and the trends."""
    found = Figures(results)
    about = results["about"]
    survey = "A made survey in the shape of the paper's" if found.made else "The survey"
    parts = [
        f"{survey}: {about['rows']:,} people, {about['questions']} questions. Errors in per cent, as `mvrbm.metrics`"
        " defines them; K = 0 is the baseline, which has no hidden units.",
    ]
    if found.made:
        parts.append(
            "*The paper* is what it reports on Pew's survey, whose answers are others: its trends can be compared, its"
            " digits cannot, and its multicategorical error is defined otherwise (it counts options that truth and"
            " guess both leave). *Best possible* is the error of who knows how the survey was made, each person's true"
            " traits and all other answers: no model of answers can be expected to err less. *Found* is how much of"
            " the way from the baseline to the best possible the default recipe went."
        )
    for experiment, title in TITLES.items():
        if found.rows[experiment]:
            parts += [f"## {title}", _table(found, experiment)]
    if about["plan"]["spread_seeds"]:
        seeds, rows = about["plan"]["spread_seeds"], about["plan"]["spread_rows"]
        parts.append(f"## The spread: {seeds} runs of {rows:,} people, mean (lowest to highest)")
        parts += [
            f"### {title}\n\n" + _spread(found, experiment)
            for experiment, title in TITLES.items()
            if found.rows[experiment]
        ]
    parts += [_map(results), "## Trends", _trends(found), _cost(results["cells"])]
    return "\n\n".join(part for part in parts if part) + "\n"


def _cost(cells: list[dict[str, Any]]) -> str:
    """What it took, all cells together; cells that were done before are counted with what they took then."""
    wall, processor = (sum(cell.get(key, 0.0) for cell in cells) / 60 for key in ("seconds", "processor_seconds"))
    return f"It took {wall:.1f} minutes, and {processor:.1f} minutes of processor time."


def _lines(head: list[str], rows: Iterable[list[str]]) -> str:
    bar = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, bar, *rows])


def _said(error: float | None) -> str:
    return "" if error is None else f"{error:.1f}"


def _table(found: Figures, experiment: str) -> str:
    recipes = list(found.plan["recipes"])
    bounded = found.made and experiment != "reconstruction"
    head = ["", "K", *(f"recipe {recipe}" for recipe in recipes)]
    head += (["the paper"] if found.made else []) + (["best possible", "found"] if bounded else [])
    rows = []
    for row in found.rows[experiment]:
        for k in found.sizes(experiment):
            cells = [row if k == 0 else "", str(k), *(_said(found.one(experiment, row, r, k)) for r in recipes)]
            cells += [_said(figure(experiment, row, k))] if found.made else []
            cells += [_said(found.best(experiment, row)), _share(found, experiment, row, k)] if bounded else []
            rows.append(cells)
    return _lines(head, rows)


def _share(found: Figures, experiment: str, row: str, n_hidden: int) -> str:
    baseline, best = found.one(experiment, row, "default", 0), found.best(experiment, row)
    error = found.one(experiment, row, "default", n_hidden)
    if baseline is None or best is None or error is None or baseline <= best or n_hidden == 0:
        return ""
    return f"{100 * (baseline - error) / (baseline - best):.0f}%"


def _spread(found: Figures, experiment: str) -> str:
    recipes = list(found.plan["recipes"])

    def said(errors: list[float]) -> str:
        return f"{statistics.mean(errors):.1f} ({min(errors):.1f} to {max(errors):.1f})" if errors else ""

    rows = [
        [row if k == 0 else "", str(k), *(said(found.spread(experiment, row, recipe, k)) for recipe in recipes)]
        for row in found.rows[experiment]
        for k in found.sizes(experiment)
    ]
    return _lines(["", "K", *(f"recipe {recipe}" for recipe in recipes)], rows)


def _map(results: Results) -> str:
    maps = [cell for cell in results["cells"] if cell["experiment"] == "map"]
    if not maps:
        return ""
    rows = []
    for cell in maps:
        for name, key in ((f"the same {cell['target']}", "alike"), ("the same region", "alike_regions")):
            if cell[key] is not None:
                shares = [f"{100 * cell[key][what]:.0f}%" for what in ("share", "by_chance")]
                rows.append([f"recipe {cell['recipe']}, {name}", *shares])
    cell = maps[0]
    head = (
        f"## The map: K = {cell['n_hidden']}, {cell['rows']:,} people, {cell['target']} removed\n\nOf the"
        f" {len(set(cell['labels']))} values that most people have, {len(cell['labels']):,} people. How many of a"
        " person's ten nearest neighbours, by the vectors, have"
    )
    return f"{head}\n\n" + _lines(["", "found", "by chance"], rows)


def trends(found: Figures) -> dict[str, dict[str, list[str]]]:
    """What holds, for each recipe: the names of the rows for which each of the paper's trends does not appear."""
    missing: dict[str, dict[str, list[str]]] = {}
    for recipe in found.plan["recipes"]:
        own = missing[recipe] = {}
        for experiment in TITLES:
            curves = {row: found.curve(experiment, row, recipe) for row in found.rows[experiment]}
            curves = {row: curve for row, curve in curves.items() if len(curve) > 1}
            own[f"{experiment}: below the baseline"] = [r for r, c in curves.items() if min(c[1:]) >= c[0]]
            if experiment in JOINT:
                own[f"{experiment}: falls from the smallest K to the largest"] = [
                    r for r, c in curves.items() if len(c) > 2 and c[-1] >= c[1]
                ]
    return missing


def _trends(found: Figures) -> str:
    lines = []
    for recipe, own in trends(found).items():
        for trend, rows in own.items():
            lines.append(f"- recipe {recipe}, {trend}: " + (f"not {', '.join(rows)}" if rows else "all"))
        lines += [
            f"- recipe {recipe}, {experiment}: the smallest K within 2% of the row's lowest error: "
            + ", ".join(f"{row} {_enough(found, experiment, row, recipe)}" for row in found.rows[experiment])
            for experiment in TITLES
            if found.rows[experiment]
        ]
    return "\n".join(lines)


def _enough(found: Figures, experiment: str, row: str, recipe: str) -> int | str:
    curve = found.curve(experiment, row, recipe)
    near = [
        k for k, error in zip(found.sizes(experiment), curve, strict=bool(curve)) if error <= (1 + NEAR) * min(curve)
    ]
    return near[0] if near else "?"
