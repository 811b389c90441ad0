"""`make bench-report`: what the map of people and the whole report cost, on the Pew-shaped table."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.speed import PEW, PEW_ROWS
from mvrbm import MVRBM
from mvrbm.datasets import make_survey
from mvrbm.report import write_report
from mvrbm.report.places import places


def timed(what: str, *vectors: np.ndarray) -> np.ndarray:
    wall, processor = time.perf_counter(), time.process_time()
    found = places(*vectors)
    spent = time.perf_counter() - wall, time.process_time() - processor
    print(f"{what}: {spent[0]:.0f} s, {spent[1]:.0f} s of processor time", flush=True)
    return found


def main() -> None:
    frame, schema = make_survey(PEW_ROWS, **PEW, missing=0.2, random_state=0)
    model = MVRBM(50, schema=schema, max_epochs=5, random_state=0).fit(frame)
    vectors = model.transform(frame)
    load = os.getloadavg()[0]
    print(f"50 numbers a person, {os.cpu_count()} cores, {load:.1f} processes waiting or running before\n", flush=True)
    for n in (1000, 5000):
        timed(f"map of {n:,} people", vectors[:n])
    positions = timed(f"map of {PEW_ROWS:,} people (goal: below 300 s)", vectors)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        begun = time.perf_counter()
        write_report(model, frame, path, positions=positions)
        spent, size = time.perf_counter() - begun, path.stat().st_size / 1e6
        print(f"the rest of the report, {len(schema)} questions: {spent:.0f} s, {size:.1f} MB (goal: below 5 MB)")


if __name__ == "__main__":
    main()
