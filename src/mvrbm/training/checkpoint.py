"""A training run saved as it goes, so that one that was killed can go on."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mvrbm.answers import Answers, Source, Weights, weights_also
from mvrbm.arrays import FileError, State, Stored, read_arrays, write_arrays
from mvrbm.rbm import RBM
from mvrbm.units.block import Array

if TYPE_CHECKING:
    from mvrbm.training.settings import Settings

FORMAT = 10
EVERY = 1.0
"""Seconds between saves, at least: an epoch of a small table takes less than writing one does."""


class Checkpoint:
    """A folder in which a run is saved; `name` tells the runs of one fit apart."""

    def __init__(self, folder: str | os.PathLike[str], name: str = "training") -> None:
        self.folder = Path(folder)
        self.path = self.folder / f"{name}.state"
        self._fingerprint: dict[str, str] = {}
        self._saved = 0.0

    def beside(self, name: str) -> Checkpoint:
        """Another run of the same fit."""
        return Checkpoint(self.folder, name)

    def open(self, fingerprint: dict[str, str], restore: Callable[[dict[str, Any], Stored], None]) -> None:
        """Take up the run that is saved, if there is one, once it is sure to be of the same data and settings."""
        if self.folder.exists() and not self.folder.is_dir():
            raise FileError(f"{self.folder} is a file; give a folder for the checkpoint")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._fingerprint, self._saved = fingerprint, time.monotonic()
        for left in self.folder.glob(f".writing-*{self.path.suffix}"):  # by a run that was killed while it wrote
            left.unlink(missing_ok=True)
        if not self.path.exists():
            return
        try:
            data, stored = read_arrays(self.path, "checkpoint")
            if data.get("format") != FORMAT:
                raise FileError("it was written by another version of mvrbm")
            other = [what for what, mark in fingerprint.items() if data["fingerprint"].get(what) != mark]
            if other:
                raise FileError(f"it is of a run with other {' and '.join(other)}")
            restore(data["run"], stored)
            stored.all_taken()
        except FileError as error:
            raise FileError(f"{self.path}: {error}; give another folder, or delete it to start anew") from None

    def save(self, run: dict[str, Any], state: State, last: bool = False) -> None:
        """Save a run after an epoch, unless one was saved just before."""
        if last or time.monotonic() - self._saved >= EVERY:
            write_arrays(self.path, {"format": FORMAT, "fingerprint": self._fingerprint, "run": run}, state)
            self._saved = time.monotonic()


def fingerprint(rbm: RBM, answers: Source, kept: Source, weights: Array | None, settings: Settings) -> dict[str, str]:
    """What tells a run from others: its data and its settings."""
    told = {name: value for name, value in asdict(settings).items() if name != "n_threads"}
    questions = [question.to_dict() for question in rbm.visible.questions]
    data = [*answers.over_spans(_span_mark, weights_also(weights)), *kept.over_spans(_span_mark)]
    return {
        "data": _mark(repr(questions).encode(), *data),
        "settings": _mark(repr((sorted(told.items()), rbm.visible.paper)).encode(), rbm.parameters.vector),
    }


def _span_mark(answers: Answers, *weights: Weights) -> bytes:
    return _mark(answers.codes, answers.numbers, *weights).encode()


def _mark(*parts: Any) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part if isinstance(part, bytes) else np.ascontiguousarray(part).data)
    return found.hexdigest()
