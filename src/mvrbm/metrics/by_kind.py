"""How far answers are from the truth, as each type defines it: the paper's errors (section 4.1), and of other types."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import Answers
from mvrbm.encoding import encode
from mvrbm.metrics.given import some_weight, weights_of_rows
from mvrbm.schema import Schema
from mvrbm.summary import summarise
from mvrbm.training.engine import CHUNK, chunks_of
from mvrbm.units.block import Block
from mvrbm.units.question import Question
from mvrbm.visible import Visible


def errors_by_kind(
    visible: Visible, guess: Answers, truth: Answers, weights: NDArray[np.float64] | None = None
) -> dict[str, float]:
    """The error of each kind of question over the answers that are there in `truth`, as the kind defines it.

    Binary and categorical: the share of wrong answers. Multicategorical: 1 - F1. Continuous: the root mean square in
    standard deviations. Ordinal: the mean distance as a share of the scale. Ranking: the share of pairs in
    the opposite order. Count: the mean distance as a share of that from the median. A kind without any answer in
    `truth` is left out. `weights` says how much each row counts.
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


def error_of(question: Question, true: Any, predicted: Any, weights: Any = None) -> float:
    """The error of predicted answers to a question of any kind, as the kind defines it; no model is needed.

    true and predicted are tables with the question's columns, rows matched by their order; units, where the error has
    any, are those of the true answers. A blank truth is not counted.

    >>> import pandas as pd
    >>> from mvrbm import Count
    >>> true, guess = pd.DataFrame({"visits": [0, 2, 5, 1]}), pd.DataFrame({"visits": [1, 2, 3, 1]})
    >>> error_of(Count("visits"), true, guess)  # 3 off in all; always guessing 1, the median, would be 6 off
    0.5
    """
    schema = Schema([question.without_rule()]).learn(true)
    truth, guess = encode(true, schema), encode(predicted, schema)
    if truth.n_rows != guess.n_rows:
        raise ValueError(f"true and predicted must have the same rows, not {truth.n_rows} and {guess.n_rows}")
    weight = weights_of_rows(weights, truth.n_rows)
    visible = Visible(list(schema), summarise(truth, list(schema), weight))
    found = errors_by_kind(visible, guess, truth, weight)
    some_weight(len(found))
    return found[question.kind]


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
