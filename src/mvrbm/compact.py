"""Answers on disk, in plain files: what a table that memory cannot hold is trained from."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import BLOCK, POOL, Answers, Rows, Source

_SLOTS = 2 * POOL  # a batch may hold rows of two pools


class Column:
    """Rows of one type in a file, one after another."""

    def __init__(self, path: Path, width: int, kind: np.dtype[Any]) -> None:
        self.width, self.kind = width, kind
        self._file = os.open(path, os.O_RDONLY)

    def read(self, start: int, into: NDArray[Any]) -> None:
        """Read consecutive rows into an array."""
        if not into.nbytes:
            return
        left, offset = into.data.cast("B"), start * self.width * self.kind.itemsize
        while left:
            n = os.preadv(self._file, [left], offset)
            if not n:
                raise OSError("the compact answers end too soon; was their folder changed?")
            left, offset = left[n:], offset + n

    def empty(self, n_rows: int) -> NDArray[Any]:
        """Room for some rows."""
        return np.empty((n_rows, self.width), self.kind)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


class Filed(Source):
    """Answers in two files of a folder. The blocks in use are held in memory: those of two pools of an epoch.

    They are read, not mapped: mapped pages would count as memory of the process.
    """

    def __init__(self, folder: Path, n_rows: int, codes: tuple[int, np.dtype[Any]], n_numbers: int) -> None:
        self._n_rows = n_rows
        self._codes = Column(folder / "codes", *codes)
        self._numbers = Column(folder / "numbers", n_numbers, np.dtype("<f4"))
        self._held = Answers(*(column.empty(_SLOTS * BLOCK) for column in (self._codes, self._numbers)))
        self._slot = np.full(-(-n_rows // BLOCK), -1)  # where each block is held
        self._block = np.full(_SLOTS, -1)  # which block each slot holds
        self._used = np.zeros(_SLOTS, np.int64)
        self._clock = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._codes.close()
        self._numbers.close()

    @property
    def n_rows(self) -> int:
        return self._n_rows

    def span(self, start: int, stop: int) -> Answers:
        found = Answers(*(column.empty(stop - start) for column in (self._codes, self._numbers)))
        self._codes.read(start, found.codes)
        self._numbers.read(start, found.numbers)
        return found

    def take(self, rows: Rows) -> Answers:
        blocks = np.unique(rows // BLOCK)
        if len(blocks) > _SLOTS:  # a sample of the whole table
            return self._one_by_one(rows)
        with self._lock:
            self._hold(blocks)
            places = self._slot[rows // BLOCK] * BLOCK + rows % BLOCK
            return self._held.take(places)

    def _one_by_one(self, rows: Rows) -> Answers:
        found = Answers(*(column.empty(len(rows)) for column in (self._codes, self._numbers)))
        for place, row in enumerate(rows.tolist()):
            self._codes.read(row, found.codes[place : place + 1])
            self._numbers.read(row, found.numbers[place : place + 1])
        return found

    def _hold(self, blocks: Rows) -> None:
        """Have some blocks in memory, in place of those that were not used for longest."""
        self._clock += 1
        here = self._slot[blocks]
        self._used[here[here >= 0]] = self._clock
        for block in blocks[here < 0].tolist():
            slot = int(self._used.argmin())
            if self._block[slot] >= 0:
                self._slot[self._block[slot]] = -1
            start, n = block * BLOCK, min(BLOCK, self._n_rows - block * BLOCK)
            self._codes.read(start, self._held.codes[slot * BLOCK :][:n])
            self._numbers.read(start, self._held.numbers[slot * BLOCK :][:n])
            self._slot[block], self._block[slot], self._used[slot] = slot, block, self._clock


class Writer:
    """Answers into the two files of a folder, as they come."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._n_rows = folder, 0
        self._codes, self._numbers = (folder / "codes").open("wb"), (folder / "numbers").open("wb")
        self._like: Answers | None = None

    def add(self, answers: Answers) -> None:
        """Take the next rows."""
        self._codes.write(np.ascontiguousarray(answers.codes).astype(_little(answers.codes), copy=False).data)
        self._numbers.write(np.ascontiguousarray(answers.numbers).astype("<f4", copy=False).data)
        self._n_rows += answers.n_rows
        self._like = answers.take(slice(0, 0))

    def close(self) -> None:
        """End the files."""
        self._codes.close()
        self._numbers.close()

    def filed(self) -> Filed:
        """End the files, and read them."""
        self.close()
        assert self._like is not None
        codes = self._like.codes
        return Filed(self._folder, self._n_rows, (codes.shape[1], _little(codes)), self._like.numbers.shape[1])


def _little(codes: NDArray[Any]) -> np.dtype[Any]:
    return codes.dtype.newbyteorder("<")
