"""`make bench-accuracy`: hidden answers found again by this model, the paper's recipe and what people use today.

A fifth of each person's answers is hidden, by seed; every way learns from the rest and guesses them. Errors in per
cent, as `mvrbm.metrics` defines them: the mean over seeds and, after ±, the standard deviation from seed to seed. Each
run is a process of its own, for its processor time and memory. `--ablation` takes the default apart, an ingredient at a
time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.surveys import surveys
from mvrbm.evaluation import Trial
from mvrbm.training.objectives import Masked, Objective
from mvrbm.training.stopping import Patience
from mvrbm.units import KINDS
from mvrbm.units.block import Block
from mvrbm.units.continuous import ContinuousBlock
from mvrbm.units.ordinal import OrdinalBlock

OURS: dict[str, dict[str, Any]] = {
    "baseline": {"n_hidden": 0},
    "paper": {"recipe": "paper"},
    "mvrbm": {},
}
PEERS = ("KNNImputer", "IterativeImputer", "HistGradientBoosting")
WITHOUT: dict[str, dict[str, Any]] = {
    "three machines": {"n_models": 3},
    "three, a refit half as long": {"n_models": 3, "refit_epochs": 25},
    "one machine": {"n_models": 1},
    "one, a refit half as long": {"n_models": 1, "refit_epochs": 25},
    "one, no refit": {"n_models": 1, "refit_epochs": 0},
    "one, no decay": {"n_models": 1, "decay": 0.0},
    "one, not told what is answered": {"n_models": 1, "answered": False},
    "one, no links": {"n_models": 1, "links": 0},
    "one, neither": {"n_models": 1, "links": 0, "answered": False},
    "one, by CD": {"objective": "cd"},
}
PATCHED: dict[str, Callable[[], Any]] = {
    "one, every level of a scale by itself": lambda: patch.object(
        OrdinalBlock, "places_on_scales", Block.places_on_scales
    ),
    "one, numbers without steps": lambda: patch("mvrbm.summary._LEAST_IN_A_STEP", 10**9),
    "one, numbers not linked with numbers": lambda: patch.object(ContinuousBlock, "links_itself", False),
    "one, a refit that hides as much": lambda: patch.object(Masked, "begin", Objective.begin),
    "one, stopped at the first plateau": lambda: patch.object(Patience, "_falls", lambda _: False),
    "one, at a rate that is never raised": lambda: patch("mvrbm.training.trainer._RAISES", 0),
    "one, orders by sums of probabilities": lambda: patch("mvrbm.units.ranking.mend", lambda *_: None),
}
"""One machine without what no setting turns off."""


def one(survey: str, way: str, seed: int) -> dict[str, Any]:
    """Run one way once; in a process of its own."""
    trial = Trial(*surveys()[survey](), 0.2, seed)
    settings = {**OURS, **WITHOUT, **dict.fromkeys(PATCHED, WITHOUT["one machine"])}.get(way)
    guess = trial.others()[way] if settings is None else trial.mvrbm(**settings)
    before, begun = time.process_time(), time.perf_counter()
    with PATCHED.get(way, nullcontext)():
        guessed = guess()
    took = {"processor": time.process_time() - before, "seconds": time.perf_counter() - begun}
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"errors": trial.errors(guessed), **took, "memory": memory}


def ran(survey: str, way: str, seed: int, keep: Path | None) -> dict[str, Any]:
    """The result of a run: one that was kept, or a new one."""
    key = json.dumps([survey, way, seed])
    kept = dict(json.loads(line) for line in keep.read_text().splitlines()) if keep and keep.exists() else {}
    if key not in kept:
        command = [sys.executable, "-m", "benchmarks.accuracy", "--one", survey, way, str(seed)]
        alone = os.environ | {"OMP_NUM_THREADS": "1"}  # two spin where cores are shared
        out = subprocess.run(command, env=alone, check=True, capture_output=True, text=True).stdout
        kept[key] = json.loads(out.splitlines()[-1])
        if keep:
            with keep.open("a") as file:
                file.write(json.dumps([key, kept[key]]) + "\n")
    found: dict[str, Any] = kept[key]
    return found


def table(survey: str, found: dict[str, list[dict[str, Any]]]) -> str:
    """The errors of every way, by type, and what it took."""
    kinds = [kind.kind for kind in KINDS if any(kind.kind in run["errors"] for runs in found.values() for run in runs)]
    errors = {
        way: {k: 100 * np.array([run["errors"][k] for run in runs]) for k in kinds} for way, runs in found.items()
    }
    best = {k: min(errors, key=lambda way, k=k: errors[way][k].mean()) for k in kinds}
    lines = ["| " + " | ".join([survey, *kinds, "processor s", "MB"]) + " |", "|---" + "|---:" * (len(kinds) + 2) + "|"]
    for way, runs in found.items():
        cells = [f"{errors[way][k].mean():.1f} ± {errors[way][k].std():.1f}" for k in kinds]
        cells = [f"**{cell}**" if best[k] == way else cell for k, cell in zip(kinds, cells, strict=True)]
        cost = [np.mean([run[key] for run in runs]) for key in ("processor", "memory")]
        lines.append("| " + " | ".join([way, *cells, f"{cost[0]:.1f}", f"{cost[1]:.0f}"]) + " |")
    peers = [way for way in found if way in PEERS]
    if peers and "mvrbm" in found:
        lines.append(_paired(errors, kinds, peers))
    return "\n".join(lines)


def _paired(errors: dict[str, dict[str, np.ndarray]], kinds: list[str], peers: list[str]) -> str:
    """How far ours is from the best peer of each type on the same hidden answers; below 0 it is ahead."""
    said = []
    for k in kinds:
        peer = min(peers, key=lambda way, k=k: errors[way][k].mean())
        off = errors["mvrbm"][k] - errors[peer][k]
        said.append(f"{off.mean():+.2f} ± {off.std(ddof=1) / np.sqrt(len(off)) if len(off) > 1 else np.nan:.2f}")
    return "| mvrbm less the best of the others, ± standard error | " + " | ".join(said) + " | | |"


def over_all(tables: dict[str, dict[str, list[dict[str, Any]]]], peer: str) -> str:
    """By type, how far ours is from a peer as a share of the peer's error, in the mean over surveys."""
    off: dict[str, list[float]] = {}
    took = []
    for found in tables.values():
        took.append(np.divide(*(np.mean([run["processor"] for run in found[way]]) for way in ("mvrbm", peer))))
        for kind in found["mvrbm"][0]["errors"]:
            ours, theirs = (np.mean([run["errors"][kind] for run in found[way]]) for way in ("mvrbm", peer))
            off.setdefault(kind, []).append(100 * (ours / theirs - 1))
    said = [
        f"{kind} {np.mean(own):+.1f}% ± {np.std(own) / np.sqrt(len(own)):.1f}"
        f" (smaller in {sum(each < 0 for each in own)} of {len(own)})"
        for kind, own in off.items()
    ]
    return f"mvrbm less {peer}, as a share of its error: {', '.join(said)}; processor time {np.median(took):.1f} times"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--one", nargs=3, metavar=("SURVEY", "WAY", "SEED"), help="run one way once, and print JSON")
    options.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    options.add_argument("--surveys", nargs="+", metavar="NAME", help="these alone")
    options.add_argument("--ways", nargs="+", metavar="WAY", help="these alone")
    options.add_argument("--ablation", action="store_true", help="the default without its ingredients, not the others")
    options.add_argument("--keep", type=Path, help="a file that keeps each run, so that a stopped one goes on")
    asked = options.parse_args()
    if asked.one:
        survey, way, seed = asked.one
        print(json.dumps(one(survey, way, int(seed))))
        return
    ways = asked.ways or (["mvrbm", *WITHOUT, *PATCHED] if asked.ablation else [*OURS, *PEERS])
    tables = {}
    for survey in asked.surveys or surveys():
        found = {way: [ran(survey, way, seed, asked.keep) for seed in asked.seeds] for way in ways}
        tables[survey] = found
        print(table(survey, found) + "\n", flush=True)
    if len(tables) > 2 and "mvrbm" in ways:
        print("\n".join(over_all(tables, way) for way in ways if way in PEERS))


if __name__ == "__main__":
    main()
