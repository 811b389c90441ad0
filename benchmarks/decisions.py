"""`make bench-decisions`: the measurements behind the engine's decisions in docs/design-notes.md."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from unittest import mock

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.speed import by_turns, machine, pew_shaped, seconds_per_row
from mvrbm.answers import Answers
from mvrbm.kernels import hidden, indicators, levels
from mvrbm.kernels.random import Stream
from mvrbm.rbm import RBM
from mvrbm.training import engine

PEOPLE = 256


def best_of(work: Callable[[], object], repeats: int = 30) -> float:
    """The shortest time of some runs, in microseconds, after one that compiles."""
    work()
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times) * 1e6


def kernels() -> None:
    rng = np.random.default_rng(0)
    n = 800
    z = rng.standard_normal((n, PEOPLE)).astype(np.float32)
    u, codes = np.empty((n, PEOPLE), np.float32), np.empty((n, PEOPLE), np.int16)
    stream = Stream(0, 0, np.arange(PEOPLE))
    size = np.full(n // 5, 5)
    start = np.cumsum(size) - size
    a = z.copy()
    print(f"\n## Kernels, {n} x {PEOPLE}, nanoseconds an element (a level for softmax)\n")
    for name, work in {
        "uniform numbers": lambda: stream.uniform(n, u),
        "sigmoid": lambda: hidden.sigmoid(a),
        "draws of 0/1": lambda: indicators.sample(z, u, codes),
        "draws of five levels": lambda: levels.sample(z, start, size, u, codes),
        "features of 0/1": lambda: indicators.features(codes, z),
        "one-hot features": lambda: levels.one_hot(codes, start, size, z),
    }.items():
        print(f"{name:22} {best_of(work) * 1e3 / n / PEOPLE:6.2f}")
    x = np.linspace(-80, 80, 1_000_001, dtype=np.float32)[None]
    p = x.copy()
    hidden.sigmoid(p)
    off = abs(p / (1 / (1 + np.exp(-x.astype(np.float64)))) - 1).max()
    print(f"largest relative error of the sigmoid, |a| <= 80: {off:.1e}")


def gathering() -> None:
    answers, questions = pew_shaped()
    print(f"\n## Inputs of the hidden units of {PEOPLE} people, microseconds, one thread\n")
    print("   K   a product of all features   one-hot answers gathered")
    for n_hidden in (20, 50, 200, 500):
        rbm = machine(answers, questions, n_hidden)
        chunk = rbm.visible.load(answers, np.arange(PEOPLE))
        X, out = rbm.features(chunk), np.empty((n_hidden, PEOPLE), np.float32)
        W = rbm.parameters.joint[:, :-1].T
        with threadpool_limits(1):
            dense = best_of(lambda W=W, X=X, out=out: np.matmul(W, X, out=out))
            ours = best_of(lambda r=rbm, c=chunk, X=X, out=out: r.hidden_inputs(c, X, out))
        print(f"{n_hidden:4} {dense:20.0f} {ours:25.0f}")


def arrangements(n_hidden: int, rounds: int = 21) -> None:
    answers, questions = pew_shaped()
    rbm, rows = machine(answers, questions, n_hidden), answers.take(slice(0, 16_384))

    def changed(**values: float) -> Callable[[], float]:
        return lambda: _with(values, rows, rbm)

    variants = {"chunks of at most 128 rows": {"CHUNK": 128}, "switch interval of 5 ms": {"_SWITCH": 0.005}}
    as_it_is, *others = by_turns([changed(), *(changed(**values) for values in variants.values())], rounds)
    print(f"\n## An epoch of training otherwise, over an epoch as it is, K = {n_hidden}, batches of 512, by turns\n")
    for name, times in zip(variants, others, strict=True):
        low, middle, high = statistics.quantiles([t / a for t, a in zip(times, as_it_is, strict=True)], n=4)
        print(f"{name:28} median {middle:.2f}, quartiles {low:.2f} and {high:.2f}", flush=True)


def _with(values: dict[str, float], rows: Answers, rbm: RBM) -> float:
    with mock.patch.multiple(engine, **values) if values else mock.patch.object(engine, "CHUNK", engine.CHUNK):
        return seconds_per_row(rbm, rows)


def main() -> None:
    kernels()
    gathering()
    for n_hidden in (50, 200):
        arrangements(n_hidden)


if __name__ == "__main__":
    main()
