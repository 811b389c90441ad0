"""The paper's case study (section 4), on any survey or on one made in the shape of the paper's own."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mvrbm import encoding
from mvrbm.answers import Answers
from mvrbm.datasets import make_world_survey
from mvrbm.datasets.world import PAPER_ROWS
from mvrbm.encoding import blocks, encode
from mvrbm.schema import Schema
from mvrbm.study import figures, paper, tables
from mvrbm.study.experiments import Experiments, Sample
from mvrbm.study.grid import Cell, Plan, Store, write_json
from mvrbm.tables import Table

__all__ = ["Progress", "run_study"]

Progress = Callable[[int, int, str], None]
"""Told how many cells of the grid are done, how many there are, and which one is next."""

RECIPES = ("paper", "default")
MADE_OUTPUTS = tuple(paper.PREDICTION)
QUICK_ROWS = 3000


def run_study(
    data: Any = None,
    schema: Schema | None = None,
    out: str | Path = "study",
    *,
    recipes: Sequence[str] = RECIPES,
    quick: bool = False,
    sizes: Sequence[int] | None = None,
    prediction_sizes: Sequence[int] | None = None,
    rows: int | None = None,
    spread_rows: int = 8000,
    spread_seeds: int | None = None,
    outputs: Sequence[str] | None = None,
    colour: str | None = None,
    max_epochs: int | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run the paper's experiments on a table, write tables and figures into the folder `out`, return the results.

    1. Reconstruction from posteriors and 2. completion of a fifth of each person's answers, by type of question,
    with 0 (the baseline), 20, 50, 100, 200 and 500 hidden units. 3. Prediction of six questions, one of each type, on a
    fifth of the people, with 0, 3, 5, 10, 15, 20 and 50. 4. The map of a tenth of the people without the
    question that colours it. Each by both recipes. Experiments 1 to 3 are repeated `spread_seeds` times on
    `spread_rows` people chosen at random, for the spread.

    Without a table the survey is a made one in the shape of the paper's (`mvrbm.datasets.make_world_survey`), and the
    paper's figures and the best possible errors are told beside ours. `schema` tells the questions of a table (None:
    they are guessed). `sizes`, `prediction_sizes`, `rows` (of the table; of the made survey), `outputs` (the questions
    to predict), `colour` (the question of the map) and `max_epochs` (None: the recipe's) change what is run; `quick`
    runs a small version. `progress` is called before each cell and at the end.

    Each cell of the grid is kept in the folder when it is done: run again, the study goes on where it stopped.
    """
    spread_seeds = (0 if quick else 3) if spread_seeds is None else spread_seeds
    rows = rows if rows is not None or not quick else QUICK_ROWS
    made = None if data is not None else (rows or PAPER_ROWS, 0)
    survey, schema = make_world_survey(*made) if made else _given(data, schema)
    answers = encode(survey, schema)
    rows = min(rows or answers.n_rows, answers.n_rows)
    plan = Plan(
        recipes=tuple(recipes),
        sizes=_with_baseline(sizes or ((5, 20, 50) if quick else paper.SIZES)),
        prediction_sizes=_with_baseline(prediction_sizes or ((3, 10) if quick else paper.PREDICTION_SIZES)),
        rows=rows,
        spread_rows=min(spread_rows, rows),
        spread_seeds=spread_seeds,
        outputs=_known(outputs, schema) or (MADE_OUTPUTS if made else _one_of_each(answers, schema)),
        colour=colour or ("country" if made else _colouring(answers, schema)),
        map_rows=max(rows // 10, min(rows, 500)),
        map_hidden=20 if quick else 50,
        max_epochs=max_epochs,
    )
    weights = encoding.weights(survey, schema)
    experiments = Experiments(schema, Sample(answers, weights), made, plan.max_epochs, n_threads)
    folder = Path(out)
    about = {"survey": "made" if made else "given", "answers": _digest(answers, schema), "max_epochs": plan.max_epochs}
    store = Store(folder, about)
    found = _run(experiments, list(plan.cells(best=made is not None)), store, progress)
    results = {
        "about": about | {"rows": answers.n_rows, "questions": len(schema), "plan": asdict(plan)},
        "kinds": {question.name: question.kind for question in schema if question.name in plan.outputs},
        "cells": [asdict(cell) | result for cell, result in found],
    }
    write_json(folder / "results.json", results)
    (folder / "tables.md").write_text(tables.written(results), encoding="utf-8")
    figures.draw(results, folder)
    return results


def _run(
    experiments: Experiments, cells: list[Cell], store: Store, progress: Progress | None
) -> list[tuple[Cell, dict[str, Any]]]:
    """Compute the cells that are not done yet, one after the other."""
    found = {cell: store.get(cell) for cell in cells}
    to_do = [cell for cell, result in found.items() if result is None]
    begun, spent, left = time.perf_counter(), 0.0, sum(cell.cost for cell in to_do)
    for n, cell in enumerate(to_do):
        if progress:
            ahead = (time.perf_counter() - begun) / spent * (left - spent) / 60 if spent else 0.0
            progress(len(cells) - len(to_do) + n, len(cells), f"{cell}" + (f"; {ahead:.0f} min left" if spent else ""))
        found[cell] = experiments.run(cell)
        store.put(cell, found[cell] or {})
        spent += cell.cost
    if progress:
        progress(len(cells), len(cells), "done")
    return [(cell, result or {}) for cell, result in found.items()]


def _given(data: Any, schema: Schema | None) -> tuple[Table, Schema]:
    table = Table(data)
    return table, (Schema.infer(table) if schema is None else schema).learn(table)


def _with_baseline(sizes: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted({0, *sizes}))


def _known(outputs: Sequence[str] | None, schema: Schema) -> tuple[str, ...]:
    for name in outputs or ():
        if name not in schema.names:
            raise ValueError(f"no question is named {name!r}, so it cannot be predicted; the schema names them all")
    return tuple(outputs or ())


def _answered(answers: Answers, schema: Schema) -> dict[str, int]:
    return {
        question.name: int((~encoding.blank_cells(block)).any(axis=1).sum())
        for question, block in blocks(answers, schema)
    }


def _one_of_each(answers: Answers, schema: Schema) -> tuple[str, ...]:
    """Of each type, the question that most people answer."""
    n = _answered(answers, schema)
    best: dict[str, str] = {}
    for question in schema:
        if n[question.name] > n.get(best.get(question.kind, ""), 0):
            best[question.kind] = question.name
    return tuple(best.values())


def _colouring(answers: Answers, schema: Schema) -> str | None:
    """The question with the most values among those of one code without an order."""
    fit = [question for question in schema if question.n_codes == 1 and question.measure == "nominal"]
    return max(fit, key=lambda question: question.n_values).name if fit else None


def _digest(answers: Answers, schema: Schema) -> str:
    """What tells one survey from another."""
    whole = hashlib.sha256(answers.codes.tobytes() + answers.numbers.tobytes() + repr(list(schema)).encode())
    return whole.hexdigest()[:16]
