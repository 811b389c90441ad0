"""`make bench-jobs`: what vectors and completion cost, on the Pew-shaped table with 50 hidden units."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.speed import PEW, PEW_ROWS, machine, pew_shaped
from benchmarks.tables import Peak
from mvrbm import MVRBM, Schema, inference
from mvrbm.answers import Answers
from mvrbm.datasets import make_survey
from mvrbm.encoding import decode, encode
from mvrbm.rbm import RBM

ROUNDS = 5


def seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def on_encoded_answers() -> None:
    """Transform and complete by turns on one thread, of the paper's machine and of the default's: goals are for one."""
    answers, questions = pew_shaped()
    rbm = machine(answers, questions, 50)
    rbm.parameters.W[:] = 0.1 * np.random.default_rng(0).standard_normal(rbm.parameters.W.shape)
    rbm.refresh()
    by_turns("one machine, hidden units summed out", rbm, answers)
    part = answers.take(np.arange(4000))
    frame = pd.DataFrame(decode(part, Schema(questions)))
    model = MVRBM(50, schema=Schema(questions), max_epochs=1, refit_epochs=0, random_state=0).fit(frame)
    by_turns("the default: three linked machines", model.rbm_, answers)


def by_turns(which: str, rbm: RBM, answers: Answers) -> None:
    works = [
        lambda: inference.posteriors(rbm, answers, 1),
        lambda: inference.complete(rbm, answers, None, 1, certain=False),
    ]
    for work in works:
        work()
    rounds = [[seconds(work) for work in works] for _ in range(ROUNDS)]
    rows_a_second = statistics.median(answers.n_rows / transform for transform, _ in rounds)
    ratio = statistics.median(complete / transform for transform, complete in rounds)
    each = statistics.median(complete for _, complete in rounds) / answers.n_rows * 1e6
    print(f"{which}:")
    print(f"  transform: {rows_a_second:,.0f} rows a second on one core (goal: 200,000)")
    print(f"  complete: {ratio:.1f} times the cost of transform (goal: 5), {each:.0f} microseconds a row")


def one_row() -> None:
    """One row, from frame to frame, in a process that has done it before."""
    frame, schema = make_survey(2000, **PEW, missing=0.2, random_state=0)
    model = MVRBM(50, schema=schema, max_epochs=1, random_state=0).fit(frame)
    row = frame.iloc[[7]]
    model.complete(row)
    wall, busy = [], []
    for _ in range(40):
        begun = time.process_time()
        wall.append(1000 * seconds(lambda: model.complete(row)))
        busy.append(1000 * (time.process_time() - begun))
    said = f"{statistics.median(wall):.0f} ms from frame to frame (goal: 20), at best {min(wall):.0f}"
    print(f"one row completed: {said}; {statistics.median(busy):.0f} ms of them computing, at best {min(busy):.0f}")


def memory(job: str, form: str, n_rows: int) -> None:
    """The peak memory of a job beyond its input and its output; run in a process of its own."""
    part, schema = make_survey(10_000, **PEW, missing=0.2, random_state=0)
    model = MVRBM(50, schema=schema, max_epochs=1, random_state=0).fit(part)
    model.complete(part)
    frame = pd.concat([part] * -(-n_rows // len(part)), ignore_index=True).iloc[:n_rows].copy()
    answers = encode(frame, model.schema_)
    rbm = model.rbm_
    works: dict[str, Callable[[], Any]] = {
        "transform answers": lambda: inference.posteriors(rbm, answers),
        "complete answers": lambda: inference.complete(rbm, answers, certain=False)[0],
        "transform frame": lambda: model.transform(frame),
        "complete frame": lambda: model.complete(frame),
    }
    with Peak() as peak:
        out = works[f"{job} {form}"]()
    size = out.memory_usage(deep=True).sum() if isinstance(out, pd.DataFrame) else out.nbytes
    beyond, encoded = (peak.beyond - size) / 1e6, answers.nbytes / 1e6
    print(f"{job:9s} {form:7s} {n_rows:7,} rows: {beyond:4.0f} MB (the answers take {encoded:.0f} MB)", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        memory(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    else:
        on_encoded_answers()
        one_row()
        print("peak memory beyond input and output:", flush=True)
        for form in ("answers", "frame"):
            for job in ("transform", "complete"):
                for n_rows in (PEW_ROWS, 200_000):
                    subprocess.run([sys.executable, "-m", "benchmarks.jobs", job, form, str(n_rows)], check=True)
