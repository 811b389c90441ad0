"""The grid of a study: what is to be computed, cell by cell, and the folder that keeps what was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mvrbm.whole import written_whole

BEST = "best"
"""In the place of a recipe: the best possible guesses, where the survey is a made one."""
JOINT = ("reconstruction", "completion")
"""The experiments that are about all questions at once."""


@dataclass(frozen=True)
class Cell:
    """One figure, or six, of a table: a model to be trained and what it is tried on."""

    experiment: str
    """"reconstruction", "completion", "prediction" or "map"."""
    recipe: str
    n_hidden: int
    rows: int
    seed: int
    target: str | None = None

    @property
    def cost(self) -> float:
        """About how long it takes, in units of its own."""
        return 1.0 if self.recipe == BEST else self.rows * (60 + self.n_hidden) * (0.1 if self.n_hidden == 0 else 1.0)

    def __str__(self) -> str:
        what = f"{self.experiment} of {self.target}" if self.target else self.experiment
        who = "best guesses" if self.recipe == BEST else f"recipe {self.recipe}, K = {self.n_hidden}"
        return f"{what}, {who}, {self.rows:,} people, seed {self.seed}"


@dataclass(frozen=True)
class Plan:
    """How large a study is."""

    recipes: tuple[str, ...]
    sizes: tuple[int, ...]
    """Numbers of hidden units of reconstruction and completion; 0 is the baseline."""
    prediction_sizes: tuple[int, ...]
    rows: int
    """People of the main tables."""
    spread_rows: int
    spread_seeds: int
    """People of each of the repeated runs, and how many runs there are."""
    outputs: tuple[str, ...]
    """The questions to predict."""
    colour: str | None
    """The question that is taken out for the map, and colours it."""
    map_rows: int
    map_hidden: int
    max_epochs: int | None = None
    """The most epochs of a fit; None is the recipe's own number."""

    def cells(self, best: bool) -> Iterator[Cell]:
        """Every cell; `best` says whether the best possible guesses are known."""
        yield from self._tables(self.rows, 0, best)
        if self.colour:
            for recipe in self.recipes:
                yield Cell("map", recipe, self.map_hidden, self.map_rows, 0, self.colour)
        for seed in range(1, self.spread_seeds + 1):
            yield from self._tables(self.spread_rows, seed, False)

    def _tables(self, rows: int, seed: int, best: bool) -> Iterator[Cell]:
        if best:
            yield Cell("completion", BEST, 0, rows, seed)
        for experiment in JOINT:
            for recipe in self.recipes:
                for n_hidden in self.sizes:
                    yield Cell(experiment, recipe, n_hidden, rows, seed)
        for target in self.outputs:
            if best:
                yield Cell("prediction", BEST, 0, rows, seed, target)
            for recipe in self.recipes:
                for n_hidden in self.prediction_sizes:
                    yield Cell("prediction", recipe, n_hidden, rows, seed, target)


class Store:
    """A folder with one file for each cell that is done, so that a study that was stopped goes on where it was."""

    def __init__(self, folder: Path, about: dict[str, Any]) -> None:
        """Take up the study in a folder, if it is the same: `about` says what may not differ."""
        self.folder = folder
        (folder / "cells").mkdir(parents=True, exist_ok=True)
        said = folder / "study.json"
        about = json.loads(json.dumps(about))
        if said.exists() and (before := json.loads(said.read_text(encoding="utf-8"))) != about:
            differs = ", ".join(key for key in about if before.get(key) != about[key])
            raise ValueError(f"{folder} holds another study (its {differs} differ); give another folder or remove it")
        write_json(said, about)

    def _path(self, cell: Cell) -> Path:
        digest = hashlib.sha256(json.dumps(asdict(cell), sort_keys=True).encode()).hexdigest()[:16]
        return self.folder / "cells" / f"{cell.experiment}-{digest}.json"

    def get(self, cell: Cell) -> dict[str, Any] | None:
        """What was found for a cell, if it is done."""
        path = self._path(cell)
        if not path.exists():
            return None
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["found"]
        return found

    def put(self, cell: Cell, found: dict[str, Any]) -> None:
        """Keep what was found for a cell."""
        write_json(self._path(cell), {"cell": asdict(cell), "found": found})


def write_json(path: Path, data: Any) -> None:
    """Write plain data as a JSON file, whole or not at all."""
    with written_whole(path) as beside:
        beside.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
