"""`make bench`: what training costs, each figure beside the matrix products alone, measured by turns in one run."""

from __future__ import annotations

import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from benchmarks.floor import Floor
from mvrbm.answers import Answers
from mvrbm.datasets import make_survey
from mvrbm.encoding import encode
from mvrbm.rbm import RBM
from mvrbm.summary import summarise
from mvrbm.training import Settings, train
from mvrbm.units import Binary, Question
from mvrbm.visible import Visible

PEW = {"binary": 43, "categorical": 12, "multicategorical": 3, "continuous": 3, "ordinal": 125, "ranking": 2}
PEW_ROWS = 38_263
THREADS = os.cpu_count() or 1
BATCH = 512


def pew_shaped() -> tuple[Answers, list[Question]]:
    """A made table in the shape of the paper's survey, a fifth of it blank."""
    frame, schema = make_survey(PEW_ROWS, **PEW, missing=0.2, random_state=0)
    return encode(frame, schema), list(schema)


def machine(answers: Answers, questions: list[Question], n_hidden: int) -> RBM:
    return RBM.start(Visible(questions, summarise(answers, questions)), n_hidden, 0)


def seconds_per_row(rbm: RBM, answers: Answers, batch_size: int = BATCH) -> float:
    """One epoch of CD-1 and Adam."""
    settings = Settings(
        objective="cd",
        max_epochs=1,
        early_stopping=False,
        batch_size=batch_size,
        n_threads=THREADS,
        learning_rate=1e-3,
    )
    begun = time.perf_counter()
    train(rbm, answers, settings)
    return (time.perf_counter() - begun) / answers.n_rows


def by_turns(measures: list[Callable[[], float]], rounds: int) -> list[list[float]]:
    """Each measure once a round, so that what slows the machine down for a while slows all of them down.

    Between them a pause: the threads of the BLAS go on spinning for some milliseconds after a product that they shared.
    """
    found: list[list[float]] = [[] for _ in measures]
    for measure in measures:
        measure()
    for _ in range(rounds):
        for measure, into in zip(measures, found, strict=True):
            time.sleep(0.2)
            into.append(measure())
    return found


def ratio(a: list[float], b: list[float]) -> str:
    """The median of the ratios of a round, and their range."""
    each = [x / y for x, y in zip(a, b, strict=True)]
    return f"{statistics.median(each):5.2f}  ({min(each):.2f}-{max(each):.2f})"


def against_the_floor(rounds: int = 7) -> None:
    answers, questions = pew_shaped()
    rbm = machine(answers, questions, 0)
    print(f"\n## A Pew-shaped table: {PEW_ROWS:,} rows, {len(questions)} questions, {rbm.visible.n_features} features")
    print(f"CD-1 with Adam, batches of {BATCH}, {THREADS} threads; microseconds a row, and ours over the floor\n")
    print("   K    ours   floor  ratio  (range)       goal   the floor's arrangement")
    for n_hidden in (20, 50, 100, 200, 500):
        rbm = machine(answers, questions, n_hidden)
        floor = Floor(rbm.visible.n_features, n_hidden, THREADS)
        ours, products = by_turns(
            [lambda r=rbm: seconds_per_row(r, answers), lambda f=floor: f.seconds_per_row(PEW_ROWS)], rounds
        )
        goal = {50: "<= 2", 200: "<= 1.3"}.get(n_hidden, "")
        a, b = statistics.median(ours) * 1e6, statistics.median(products) * 1e6
        print(f"{n_hidden:4} {a:7.2f} {b:7.2f}  {ratio(ours, products):19} {goal:6} {floor}", flush=True)


def against_scikit_learn(n_rows: int = 16_384, n_features: int = 800, rounds: int = 5) -> None:
    from sklearn.neural_network import BernoulliRBM

    data = (np.random.default_rng(0).random((n_rows, n_features)) < 0.5).astype(np.float32)
    questions: list[Question] = [Binary(f"b{i}", values=[0, 1]) for i in range(n_features)]
    answers = Answers(data.astype(np.uint8), np.zeros((n_rows, 0), np.float32))
    print(f"\n## All-binary float32 beside scikit-learn's BernoulliRBM: {n_rows:,} x {n_features}, batches of {BATCH}")
    print("\n   K  ours, rows/s  scikit-learn  times as fast (range)  goal  ours/floor  scikit-learn/floor")
    for n_hidden in (50, 200):
        rbm = machine(answers, questions, n_hidden)
        floor = Floor(n_features, n_hidden, THREADS)

        def theirs(k: int = n_hidden) -> float:
            model = BernoulliRBM(n_components=k, batch_size=BATCH, n_iter=1, learning_rate=1e-3, random_state=0)
            begun = time.perf_counter()
            model.fit(data)
            return (time.perf_counter() - begun) / n_rows

        a, b, c = by_turns(
            [lambda r=rbm: seconds_per_row(r, answers), theirs, lambda f=floor: f.seconds_per_row(n_rows)], rounds
        )
        m, s = 1 / statistics.median(a), 1 / statistics.median(b)
        print(
            f"{n_hidden:4} {m:13,.0f} {s:13,.0f}  {ratio(b, a):21}  >= 3  {ratio(a, c)[:5]:10}  {ratio(b, c)[:5]}",
            flush=True,
        )


def how_cost_grows() -> None:
    answers, questions = pew_shaped()
    print("\n## Cost against rows (K = 50) and against K (38,263 rows): linear if the last column stays the same\n")
    print("      rows     K   seconds an epoch   microseconds a row   nanoseconds a row and hidden unit")
    for n_rows, n_hidden in [
        (10_000, 50),
        (100_000, 50),
        (1_000_000, 50),
        (PEW_ROWS, 100),
        (PEW_ROWS, 200),
        (PEW_ROWS, 500),
    ]:
        table = answers.take(np.random.default_rng(0).integers(0, PEW_ROWS, n_rows))
        rbm = machine(answers, questions, n_hidden)
        seconds_per_row(rbm, answers.take(slice(0, 2048)))
        each = statistics.median(seconds_per_row(rbm, table) for _ in range(1 if n_rows > 200_000 else 3))
        per_unit = f"{each / n_hidden * 1e9:10.0f}" if n_rows == PEW_ROWS else ""
        print(f"{n_rows:10,} {n_hidden:5} {each * n_rows:18.2f} {each * 1e6:20.2f} {per_unit}", flush=True)


def peak_memory() -> None:
    print("\n## Peak memory of a whole process, one epoch and early stopping\n")
    for n_rows, n_hidden in [(PEW_ROWS, 200), (1_000_000, 50)]:
        command = [sys.executable, "-m", "benchmarks.speed", "memory", str(n_rows), str(n_hidden)]
        subprocess.run(command, check=True)


def _memory_of_one(n_rows: int, n_hidden: int) -> None:
    """Runs in a process of its own: from the frame for the survey's size, from compact answers for more."""
    from mvrbm import MVRBM

    if n_rows == PEW_ROWS:
        frame, schema = make_survey(PEW_ROWS, **PEW, missing=0.2, random_state=0)
        MVRBM(n_hidden, schema=schema, max_epochs=1, random_state=0).fit(frame)
        said, goal = "the frame, encoding and fit", "goal: below 700 MB"
    else:
        small, questions = pew_shaped()
        answers = small.take(np.random.default_rng(0).integers(0, PEW_ROWS, n_rows))
        train(machine(answers, questions, n_hidden), answers, Settings(objective="cd", max_epochs=1))
        size = answers.nbytes / 2**20
        said = f"fit of compact answers of {size:.0f} MB"
        goal = f"goal: below 3 x {size:.0f} + 700 = {3 * size + 700:.0f} MB"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"{n_rows:10,} rows, K = {n_hidden}: {peak:.0f} MB for {said} ({goal})", flush=True)


_FIRST_EPOCH = """
from mvrbm import MVRBM
from mvrbm.datasets import make_survey
frame, schema = make_survey(500, random_state=0)
MVRBM(20, schema=schema, max_epochs=1, random_state=0).fit(frame)
"""


def start_up(rounds: int = 5) -> None:
    def seconds(code: str) -> float:
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - begun

    whole, alone = by_turns([lambda: seconds(_FIRST_EPOCH), lambda: seconds("import sklearn.base")], rounds)
    print("\n## From the start of a process to the end of a first epoch, kernels compiled before (goal: below 2 s)\n")
    print(f"{statistics.median(whole):.2f} s ({min(whole):.2f}-{max(whole):.2f})", end="")
    print(f", of which importing scikit-learn alone takes {statistics.median(alone):.2f} s", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["memory"]:
        _memory_of_one(int(sys.argv[2]), int(sys.argv[3]))
        return
    print(f"# Speed and memory, {time.strftime('%Y-%m-%d')}, {THREADS} processors, {platform.machine()}")
    against_the_floor()
    against_scikit_learn()
    how_cost_grows()
    peak_memory()
    start_up()


if __name__ == "__main__":
    main()
