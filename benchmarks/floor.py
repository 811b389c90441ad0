"""The matrix products of a CD-1 step and nothing else: the time that no engine built on dense products can go below.

Five products a row: x W for the data, h W^T, x W for what was drawn, and x^T h for both. The best of several
arrangements counts, found anew for each shape on the machine at hand.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from itertools import product

import numpy as np
from threadpoolctl import threadpool_limits


def five_products(n_features: int, n_hidden: int, chunk: int, layout: str) -> Callable[[], None]:
    """The products of one chunk, on arrays of their own."""
    rng = np.random.default_rng(0)

    def make(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    W, G = make(n_features, n_hidden), make(n_features, n_hidden)
    if layout == "people in columns":
        x, h, z, a = make(n_features, chunk), make(n_hidden, chunk), make(n_features, chunk), make(n_hidden, chunk)

        def run() -> None:
            np.matmul(W.T, x, out=a)
            np.matmul(W, h, out=z)
            np.matmul(W.T, x, out=a)
            np.matmul(x, h.T, out=G)
            np.matmul(x, h.T, out=G)

        return run
    x, h, z, a = make(chunk, n_features), make(chunk, n_hidden), make(chunk, n_features), make(chunk, n_hidden)

    def run_rows() -> None:
        np.matmul(x, W, out=a)
        np.matmul(h, W.T, out=z)
        np.matmul(x, W, out=a)
        np.matmul(x.T, h, out=G)
        np.matmul(x.T, h, out=G)

    return run_rows


class Floor:
    """The fastest arrangement found for a shape."""

    def __init__(self, n_features: int, n_hidden: int, n_threads: int) -> None:
        self.shape, self.n_threads = (n_features, n_hidden), n_threads
        layouts, chunks = ("people in columns", "people in rows"), (128, 256, 512)
        # either each thread takes chunks of its own, or the library's threads share every product
        candidates = list(product(layouts, chunks, ("chunks", "products")))
        timed = {}
        for _ in range(3):
            for candidate in candidates:
                timed[candidate] = min(timed.get(candidate, np.inf), self._seconds_per_row(8192, *candidate))
        self.best = min(timed, key=timed.__getitem__)

    def seconds_per_row(self, n_rows: int) -> float:
        """Measure the best arrangement once more."""
        return self._seconds_per_row(n_rows, *self.best)

    def _seconds_per_row(self, n_rows: int, layout: str, chunk: int, parallel: str) -> float:
        n_loops = self.n_threads if parallel == "chunks" else 1
        runs = [five_products(*self.shape, chunk, layout) for _ in range(n_loops)]
        repeats = max(1, n_rows // chunk // n_loops)

        def loop(run: Callable[[], None]) -> None:
            for _ in range(repeats):
                run()

        with threadpool_limits(1 if parallel == "chunks" else self.n_threads):
            threads = [threading.Thread(target=loop, args=(run,)) for run in runs]
            begun = time.perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return (time.perf_counter() - begun) / (repeats * chunk * n_loops)

    def __str__(self) -> str:
        layout, chunk, parallel = self.best
        return f"{layout}, {chunk} a time, threads share {parallel}"
