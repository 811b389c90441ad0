"""`make bench-scale`: tables larger than memory, and rounds on a Dask cluster; what that predicts for more of both.

`python -m benchmarks.scale 10` streams 10 million rows instead of one and two, `... rounds` does the rounds alone.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mvrbm import MVRBM
from mvrbm.answers import Rows, Source
from mvrbm.datasets import make_world_survey
from mvrbm.encoding import encode
from mvrbm.rbm import RBM
from mvrbm.summary import summarise
from mvrbm.training.engine import TreeSum, Workers, batches
from mvrbm.training.objectives import CD, Batch, Objective
from mvrbm.visible import Visible

GOAL = 2500  # MB
PART = 250_000
FRESH, BLOCK_ROWS = 8, 10_000  # surveys that are made, of which each part takes rows at random
ROUNDS = 3
BANDWIDTH = 1.25e9  # bytes a second: 10 Gbit/s, which is assumed
TASK = 1e-3  # seconds of the scheduler for each task, which is assumed
ROWS = 10**9


def make_parts(folder: Path, n_rows: int) -> None:
    """Write a made survey of 188 questions into files of 250,000 rows, as the schema of one of its blocks says them."""
    blocks = [make_world_survey(BLOCK_ROWS, random_state=seed)[0] for seed in range(FRESH)]
    together = pa.concat_tables([pa.Table.from_pandas(b, preserve_index=False) for b in blocks])
    for number, start in enumerate(range(0, n_rows, PART)):
        rows = np.random.default_rng(number).integers(0, len(together), min(PART, n_rows - start))
        pq.write_table(together.take(rows), folder / f"{number:04}.parquet", row_group_size=1 << 16)


def most_memory() -> int:
    """The most that this process has held, in MB; what getrusage tells of it starts at what its parent held."""
    (found,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found) // 1024


def stream(folder: str) -> None:
    """One epoch and completion of the files of a folder, in a process of its own."""
    _, schema = make_world_survey(100)
    begun = time.perf_counter()
    model = MVRBM(50, schema=schema, max_epochs=1, n_models=1, refit_epochs=0, unseen="missing", random_state=0)
    model.fit(folder)
    fitted = time.perf_counter()
    peak = most_memory()
    model.complete(folder, output=f"{folder}-filled")
    done = time.perf_counter()
    whole = most_memory()
    print(f"fit {fitted - begun:.0f} s, {peak} MB at most; completed {done - fitted:.0f} s, {whole} MB at most")


def streaming(millions: list[float]) -> None:
    print(f"## Files larger than memory: 188 questions, K = 50, one epoch and completion (goal: below {GOAL} MB)\n")
    for n in millions:
        with tempfile.TemporaryDirectory(prefix="mvrbm-scale-") as scratch:
            folder = Path(scratch) / "survey"
            folder.mkdir()
            make_parts(folder, round(n * 1_000_000))
            size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
            free = shutil.disk_usage(scratch).free / 1e9
            command = [sys.executable, "-m", "benchmarks.scale", "stream", str(folder)]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
            print(f"{n:4g} million rows in {size:.0f} MB of Parquet ({free:.0f} GB of disk left): {said}", flush=True)


def machine(visible: Visible, n_parameters: int) -> RBM:
    return RBM.start(visible, round(n_parameters / visible.n_features), 0)


def seconds(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """The median of a few times, after one that does not count."""
    work()
    took = []
    for _ in range(ROUNDS):
        begun = clock()
        work()
        took.append(clock() - begun)
    return float(np.median(took))


def rounds() -> None:
    """What a round costs on two workers, beside what its chunks cost here."""
    from distributed import Client

    from mvrbm.dask import local_cluster
    from mvrbm.dask.cluster import Cluster
    from mvrbm.dask.spread import Rounds, Spread, _told

    frame, schema = make_world_survey(20_000)
    schema = schema.learn(frame)
    answers = encode(frame, schema)
    visible = Visible(list(schema), summarise(answers, list(schema)))
    row_bytes = answers.nbytes / answers.n_rows
    print(f"\n## Rounds of CD-1 on two workers of this machine: {visible.n_features} features\n")
    print("parameters   rows   chunks, processor time   1 thread   2 workers   2 workers, 2 rows   moved, MB")
    objective: Objective = CD(0)
    costs: dict[int, tuple[float, float]] = {}
    with local_cluster(2) as two, Client(two) as client:
        cluster = Cluster(client)
        halves = answers.span(0, 10_000), answers.span(10_000, 20_000)
        table = Spread(cluster, lambda: [cluster.submit("encode", _told, own) for own in halves], [10_000, 10_000])
        for n_parameters, sizes in ((1_000_000, (512, 4096)), (10_000_000, (512,))):
            rbm = machine(visible, n_parameters)
            for size in sizes:
                rows = next(iter(batches(0, 0, answers.n_rows, size, table.expect)))
                total = TreeSum(rbm.parameters.vector)

                def one(
                    workers: Workers, own: Source, rows: Rows = rows, rbm: RBM = rbm, total: TreeSum = total
                ) -> None:
                    batch = Batch(own, rows, np.full(len(rows), 1 / len(rows)), 0)
                    total.release(workers.total(objective.jobs(rbm, batch), total))

                with Workers(1) as alone, Rounds(cluster, 1) as far:
                    chunks = seconds(partial(one, alone, answers), time.process_time)
                    serial = seconds(partial(one, alone, answers))
                    spread = seconds(partial(one, far, table))
                    empty = seconds(partial(one, far, table, rows[:2]))
                moved = (3 * 4 * rbm.parameters.vector.size + 2 * size * row_bytes) / 1e6
                print(
                    f"{n_parameters:10,} {size:6} {chunks:22.3f} s {serial:8.3f} s {spread:9.3f} s {empty:17.3f} s"
                    f" {moved:11.1f}\n{'':17} rows a second: {size / serial:,.0f} here, {size / spread:,.0f} on two",
                    flush=True,
                )
                costs[n_parameters] = chunks / size, empty
    predict(costs, row_bytes)


def predict(costs: dict[int, tuple[float, float]], row_bytes: float) -> None:
    """What the measured costs say of an epoch over 10^9 rows; docs/scale.md tells the model."""
    print(f"\n## Computed: hours for an epoch over {ROWS:,} rows, with {BANDWIDTH / 1e9:.2f} GB/s between machines\n")
    print("parameters   rows in a batch   " + "   ".join(f"{w:4} workers (efficiency)" for w in (16, 64, 256)))
    for n_parameters, (row, overhead) in costs.items():
        for size in (65_536, 1_048_576):
            told = []
            for workers in (16, 64, 256):
                network = 4 * n_parameters * (math.log2(workers) + 8 * math.ceil(math.log(workers, 8))) / BANDWIDTH
                compute = size * row / workers
                tasks = 2.2 * workers * TASK  # rows and share of each worker, and the sums
                one = overhead + tasks + network + compute + 2 * size * row_bytes / workers / BANDWIDTH
                told.append(f"{ROWS / size * one / 3600:12.1f} ({compute / one:7.0%})")
            print(f"{n_parameters:10,} {size:17,}   " + "   ".join(told))


def main() -> None:
    if sys.argv[1:2] == ["stream"]:
        stream(sys.argv[2])
        return
    print(f"{os.cpu_count()} cores, on which {os.getloadavg()[0]:.1f} processes ran before\n")
    if sys.argv[1:] != ["rounds"]:
        streaming([float(n) for n in sys.argv[1:]] or [1, 2])
    if sys.argv[1:] in ([], ["rounds"]):
        rounds()


if __name__ == "__main__":
    main()
