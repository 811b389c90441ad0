"""Chunks of rows, the threads that work on them, and sums that do not depend on who finished first."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mvrbm.units.block import Array, Index

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S", bound=np.generic)

CHUNK = 256
"""The most rows in a chunk. What a chunk holds is a function of the settings, never of the number of threads."""
BLOCK = 4096
"""Rows that stay together on disk; an epoch visits blocks in random order."""
POOL = 16
"""Blocks whose rows are shuffled together, so that a sorted file gives mixed batches."""


def chunk_size(batch_size: int) -> int:
    """Rows in a chunk: at least two chunks a batch, so that two threads share even a small batch."""
    return min(CHUNK, max(1, -(-batch_size // 2)))


def chunks_of(rows: NDArray[S], size: int) -> list[NDArray[S]]:
    """Consecutive pieces of at most `size` rows."""
    return [rows[i : i + size] for i in range(0, len(rows), size)]


def epoch_order(seed: int, epoch: int, n_rows: int) -> Iterator[Index]:
    """The rows in the order of an epoch, a pool of blocks at a time: a pure function of its arguments."""
    blocks = np.random.Generator(np.random.Philox(key=[seed, epoch])).permutation(-(-n_rows // BLOCK))
    for first in range(0, len(blocks), POOL):
        own = blocks[first : first + POOL]
        rows = np.concatenate([np.arange(b * BLOCK, min((b + 1) * BLOCK, n_rows)) for b in own])
        yield np.random.Generator(np.random.Philox(key=[seed, epoch], counter=[0, 0, 1, first])).permutation(rows)


def batches(seed: int, epoch: int, n_rows: int, size: int) -> Iterator[Index]:
    """The rows of an epoch in batches of `size`; the last may be smaller."""
    left = np.zeros(0, np.int64)
    for rows in epoch_order(seed, epoch, n_rows):
        left = np.concatenate([left, rows])
        while len(left) >= size:
            yield left[:size]
            left = left[size:]
    if len(left):
        yield left


class TreeSum:
    """A sum of vectors, given in order, whose shape depends on their number alone (pairs, pairs of pairs, ...).

    Vectors are summed in place; `buffer` lends one and takes back what is no longer needed.
    """

    def __init__(self, like: Array) -> None:
        self._like = like
        self._partial: list[tuple[int, Array]] = []
        self._spare: list[Array] = []

    def buffer(self) -> Array:
        """A vector to fill, its content unspecified."""
        try:  # asking first would race with the other threads
            return self._spare.pop()
        except IndexError:
            return np.empty_like(self._like)

    def add(self, vector: Array) -> None:
        """Take the next vector."""
        level = 0
        while self._partial and self._partial[-1][0] == level:
            vector = self._merge(vector)
            level += 1
        self._partial.append((level, vector))

    def _merge(self, vector: Array) -> Array:
        _, left = self._partial.pop()
        left += vector
        self._spare.append(vector)
        return left

    def result(self) -> Array:
        """The sum; the vector is the caller's until it is given back with `release`."""
        _, total = self._partial.pop()
        while self._partial:
            total = self._merge(total)
        return total

    def release(self, vector: Array) -> None:
        """Give a vector back."""
        self._spare.append(vector)


class Workers:
    """Threads that take chunks through a step, each with single-threaded matrix products."""

    def __init__(self, n_threads: int | None = None) -> None:
        self.n_threads = n_threads or os.cpu_count() or 1

    def __enter__(self) -> Workers:
        self._limits = threadpool_limits(limits=1, user_api="blas")
        self._pool = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        self._limits.restore_original_limits()

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """The results in the order of the items, with few of them under way at once."""
        if self._pool is None:
            yield from map(work, items)
            return
        waiting: deque[Future[R]] = deque()
        for item in items:
            waiting.append(self._pool.submit(work, item))
            if len(waiting) > 2 * self.n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
