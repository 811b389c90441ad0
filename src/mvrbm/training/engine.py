"""Chunks of rows, the threads that work on them, and sums that do not depend on who finished first."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from mvrbm.answers import BLOCK, POOL
from mvrbm.units.block import Array, Index

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S", bound=np.generic)

CHUNK = 256
"""The most rows in a chunk. What a chunk holds is a function of the settings, never of the number of threads."""

_LEAST_CHUNK = 128
_SWITCH = 1e-4
"""Seconds after which a thread that waits for the interpreter gets it. By default 5 ms, several chunks long: the thread
that holds it lets go for each kernel, but is back before the other has woken up."""


def chunk_size(batch_size: int) -> int:
    """Rows in a chunk: half a batch, for two threads, unless that is so small that they wait for each other."""
    return min(CHUNK, max(_LEAST_CHUNK, -(-batch_size // 2)))


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


def batches(
    seed: int, epoch: int, n_rows: int, size: int, expect: Callable[[Index], None] = lambda rows: None
) -> Iterator[Index]:
    """The rows of an epoch in batches of `size`; the last may be smaller. `expect` hears which rows come next."""
    left = np.zeros(0, np.int64)
    for rows in epoch_order(seed, epoch, n_rows):
        left = np.concatenate([left, rows])
        expect(left)
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


class _Process:
    """What training changes for the whole process: the first to train sets it, the last to end restores it."""

    _lock = threading.Lock()
    _users = 0
    _libraries: ThreadpoolController | None = None  # to look for them takes as long as to fill in a person
    _limits: Any
    _interval: float

    @classmethod
    def enter(cls) -> None:
        with cls._lock:
            if cls._users == 0:
                cls._libraries = cls._libraries or ThreadpoolController()
                cls._limits = cls._libraries.limit(limits=1, user_api="blas")
                cls._interval = sys.getswitchinterval()
                sys.setswitchinterval(min(cls._interval, _SWITCH))
            cls._users += 1

    @classmethod
    def leave(cls) -> None:
        with cls._lock:
            cls._users -= 1
            if cls._users == 0:
                sys.setswitchinterval(cls._interval)
                cls._limits.restore_original_limits()


class Workers:
    """Threads that take chunks through a step, each with single-threaded matrix products.

    The calling thread works too, and the others wait on a plain queue: a batch may take less than a millisecond, of
    which an executor with its futures would spend a third.
    """

    def __init__(self, n_threads: int | None = None) -> None:
        self.n_threads = n_threads or os.cpu_count() or 1
        self._rounds: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()
        self._helpers: list[threading.Thread] = []

    def __enter__(self) -> Workers:
        _Process.enter()
        self._helpers = [threading.Thread(target=self._help, daemon=True) for _ in range(self.n_threads - 1)]
        for helper in self._helpers:
            helper.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _ in self._helpers:
            self._rounds.put(None)
        for helper in self._helpers:
            helper.join()
        _Process.leave()

    def _help(self) -> None:
        while (share := self._rounds.get()) is not None:
            try:
                share()
                self._done.put(None)
            except BaseException as error:  # the calling thread raises it
                self._done.put(error)

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """The results in the order of the items, a few for each thread at a time."""
        for few in (items[i : i + 4 * self.n_threads] for i in range(0, len(items), 4 * self.n_threads)):
            yield from self._round(work, few)

    def total(self, jobs: Sequence[Callable[[Array], Array]], sum_: TreeSum) -> Array:
        """The sum of what jobs put into the vectors that they are given; the caller releases it."""
        for vector in self.map(lambda job: job(sum_.buffer()), jobs):
            sum_.add(vector)
        return sum_.result()

    def _round(self, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
        helpers = min(len(self._helpers), len(items) - 1)
        if not helpers:
            with np.errstate(all="ignore"):
                return [work(item) for item in items]
        results: dict[int, R] = {}
        left = iter(enumerate(items))  # a step of it is one bytecode, so no two threads take the same item

        def share() -> None:
            # a run that goes astray is found out by its parameters, and needs no warning from each of its operations
            with np.errstate(all="ignore"):
                for place, item in left:
                    results[place] = work(item)

        for _ in range(helpers):
            self._rounds.put(share)
        try:
            share()
        finally:  # even if this thread was interrupted, the others end their items before anything is undone
            errors = [error for error in (self._done.get() for _ in range(helpers)) if error is not None]
        if errors:
            raise errors[0]
        return [results[place] for place in range(len(items))]
