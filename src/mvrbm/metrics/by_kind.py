"""How far answers are from the truth, by type: the paper's six errors (section 4.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import Answers
from mvrbm.training.engine import CHUNK, chunks_of
from mvrbm.units.block import Block
from mvrbm.visible import Visible


def errors_by_kind(
    visible: Visible, guess: Answers, truth: Answers, weights: NDArray[np.float64] | None = None
) -> dict[str, float]:
    """The error of each kind of question over the answers that are there in `truth`, as the kind defines it.

    Binary and categorical: the share of wrong answers. Multicategorical: 1 - F1. Continuous: the root mean square in
    standard deviations. Ordinal: the mean distance as a share of the scale. Ranking: the share of pairs in
    the opposite order. A kind without any answer in `truth` is left out. `weights` says how much each row counts.
    """
    total: dict[str, NDArray[np.float64]] = {}
    error = {}
    for block, parts in _error_parts(visible, guess, truth, weights):
        kind = block.questions[0].kind  # more than one block can be of a kind
        total[kind] = total.get(kind, 0.0) + parts.sum(axis=0)
        error[kind] = block.error
    return {kind: error[kind](parts) for kind, parts in total.items() if parts[-1]}


def errors_by_question(
    visible: Visible, guess: Answers, truth: Answers, weights: NDArray[np.float64] | None = None
) -> dict[str, float]:
    """The error of each question, by name, as its kind defines it; one without any answer in `truth` is left out."""
    error = {}
    for block, parts in _error_parts(visible, guess, truth, weights):
        for question, own in zip(block.questions, parts, strict=True):
            if own[-1]:
                error[question.name] = block.error(own)
    return {question.name: error[question.name] for question in visible.questions if question.name in error}


def _error_parts(
    visible: Visible, guess: Answers, truth: Answers, weights: NDArray[np.float64] | None
) -> list[tuple[Block, NDArray[np.float64]]]:
    """Each block with the additive parts of its errors, (questions, parts)."""
    weights = np.ones(truth.n_rows) if weights is None else weights
    total: list[Any] = [0.0] * len(visible.parts)
    for rows in chunks_of(np.arange(truth.n_rows), CHUNK):
        a, b = visible.load(guess, rows), visible.load(truth, rows)
        for place, p in enumerate(visible.parts):
            own = a.codes[p.codes], a.numbers[p.numbers], b.codes[p.codes], b.numbers[p.numbers]
            total[place] = total[place] + p.block.errors(*own, weights[rows])
    return [(p.block, parts) for p, parts in zip(visible.parts, total, strict=True)]
