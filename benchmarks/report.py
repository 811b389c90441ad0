"""`make bench-report`: what the map of people and the whole report cost, on the Pew-shaped table."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from openTSNE import TSNE
from sklearn import manifold

from benchmarks.speed import PEW, PEW_ROWS
from mvrbm import MVRBM
from mvrbm.datasets import make_survey
from mvrbm.report import write_report
from mvrbm.report.places import places

T = TypeVar("T")
FEW = 5000


def timed(what: str, work: Callable[[], T]) -> T:
    wall, processor = time.perf_counter(), time.process_time()
    found = work()
    spent = time.perf_counter() - wall, time.process_time() - processor
    print(f"{what}: {spent[0]:.0f} s, {spent[1]:.0f} s of processor time", flush=True)
    return found


def libraries(vectors: np.ndarray) -> None:
    """Who could make the map, on a few people."""
    for threads in (1, 2):
        own = TSNE(n_jobs=threads, random_state=0)
        timed(f"openTSNE, threads: {threads}", lambda own=own: own.fit(vectors))
    timed("scikit-learn, its own number of threads", lambda: manifold.TSNE(max_iter=750, random_state=0).fit(vectors))


def main() -> None:
    frame, schema = make_survey(PEW_ROWS, **PEW, missing=0.2, random_state=0)
    model = MVRBM(50, schema=schema, max_epochs=5, random_state=0).fit(frame)
    vectors = model.transform(frame)
    load = os.getloadavg()[0]
    print(f"50 numbers a person; {os.cpu_count()} cores, on which {load:.1f} processes ran before\n", flush=True)
    print(f"## The map of {FEW:,} people")
    libraries(vectors[:FEW].astype(np.float64))
    print(f"\n## The report on {PEW_ROWS:,} people and {len(schema)} questions")
    positions = timed("the map (goal: below 300 s)", lambda: places(vectors))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        timed("all else", lambda: write_report(model, frame, path, positions=positions))
        print(f"the file: {path.stat().st_size / 1e6:.1f} MB (goal: below 5)")


if __name__ == "__main__":
    main()
