"""`make bench-tables`: reading a million people's answers to 188 questions from tables of each library."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pandas as pd
import psutil

from benchmarks.speed import PEW
from mvrbm.datasets import make_survey
from mvrbm.encoding import decode, encode
from mvrbm.schema import Schema

ROWS = 1_000_000
GOAL_SECONDS, GOAL_BYTES = 60, 1.5e9
LIBRARIES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "pandas, Python texts": lambda frame: frame.astype(dict.fromkeys(frame.select_dtypes("str").columns, object)),
    "polars": lambda frame: __import__("polars").from_pandas(frame),
    "pyarrow": lambda frame: __import__("pyarrow").Table.from_pandas(frame, preserve_index=False),
}


class Peak:
    """The most memory that the process took in a stretch of time, beyond what it had at the start."""

    def __enter__(self) -> Peak:
        self.before = self.most = psutil.Process().memory_info().rss
        self.seconds = time.perf_counter()
        self._done = threading.Event()
        self._watch = threading.Thread(target=self._look)
        self._watch.start()
        return self

    def _look(self) -> None:
        process = psutil.Process()
        while not self._done.wait(0.005):
            self.most = max(self.most, process.memory_info().rss)

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self.seconds
        self._done.set()
        self._watch.join()
        self.beyond = self.most - self.before


def million(library: str) -> tuple[Any, Schema]:
    """A made survey in the shape of the paper's, its rows repeated up to a million."""
    part, schema = make_survey(ROWS // 50, **PEW, missing=0.2, random_state=0)
    return LIBRARIES[library](pd.concat([part] * 50, ignore_index=True)), schema


def measure(library: str) -> None:
    frame, schema = million(library)
    with Peak() as learning:
        schema = schema.learn(frame)
    with Peak() as encoding:
        answers = encode(frame, schema)
    said = f"| {library} | {learning.seconds:.1f} s | {encoding.seconds:.1f} s | {encoding.beyond / 1e9:.2f} GB |"
    del frame
    with Peak() as decoding:
        decode(answers, schema)
    print(f"{said} {decoding.seconds:.1f} s |", flush=True)
    if encoding.seconds > GOAL_SECONDS or encoding.beyond > GOAL_BYTES:
        print(f"goal missed: under {GOAL_SECONDS} s and {GOAL_BYTES / 1e9} GB", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        print(f"# {ROWS:,} rows, {sum(PEW.values())} questions, {time.strftime('%Y-%m-%d')}\n")
        print("| table | learn | encode | memory beyond the table | decode |\n|---|---|---|---|---|", flush=True)
        for name in LIBRARIES:  # each in a process of its own, so that its memory is its own
            subprocess.run([sys.executable, "-m", "benchmarks.tables", name], check=True)
