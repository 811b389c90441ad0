"""`make bench-jobs`: what vectors and completion cost, on the Pew-shaped table with 50 hidden units."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from benchmarks.speed import PEW, machine, pew_shaped
from mvrbm import MVRBM, inference
from mvrbm.datasets import make_survey

ROUNDS = 5


def seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def on_encoded_answers() -> None:
    """Transform and complete by turns on one thread: the goals are for one core."""
    answers, questions = pew_shaped()
    rbm = machine(answers, questions, 50)
    rbm.parameters.W[:] = 0.1 * np.random.default_rng(0).standard_normal(rbm.parameters.W.shape)
    rbm.refresh()
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
    print(f"transform: {rows_a_second:,.0f} rows a second on one core (goal: 200,000)")
    print(f"complete: {ratio:.1f} times the cost of transform (goal: 5), {each:.0f} microseconds a row")


def one_row() -> None:
    """One row, from frame to frame, in a process that has done it before."""
    frame, schema = make_survey(2000, **PEW, missing=0.2, random_state=0)
    model = MVRBM(50, schema=schema, max_epochs=1, random_state=0).fit(frame)
    row = frame.iloc[[7]]
    model.complete(row)
    times = [seconds(lambda: model.complete(row)) for _ in range(20)]
    print(f"one row completed: {statistics.median(times) * 1000:.0f} ms from frame to frame (goal: 20)")


if __name__ == "__main__":
    on_encoded_answers()
    one_row()
