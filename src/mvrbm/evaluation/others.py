"""What scikit-learn would guess, used as a practitioner would: questions as columns of numbers, decisions by rounding.

Each question says its own answers as numbers and finds the answers nearest to numbers (`Question.to_numbers`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mvrbm import encoding
from mvrbm.answers import Answers
from mvrbm.cells import Cells
from mvrbm.progress import Step, tell
from mvrbm.schema import Schema
from mvrbm.training.stopping import HiddenAnswers
from mvrbm.units.question import Question

Float = NDArray[np.float64]
_NEIGHBOURS = 30
_ROUNDS = 10
_MANY = 200
"""Columns from which IterativeImputer looks at 80 of the others only: all would take hours."""


def guessers(schema: Schema, hidden: HiddenAnswers, seed: int) -> dict[str, Callable[[], Answers]]:
    """Each way by its name, as a function that guesses every answer of the table."""
    columns = Columns(schema, hidden.given)

    def alone(guess: Callable[[], Answers]) -> Callable[[], Answers]:
        def guess_alone() -> Answers:
            with threadpool_limits(limits=1):  # matrices this small lose more to waiting threads than they gain
                return guess()

        return guess_alone

    return {
        "KNNImputer": alone(lambda: columns.answers(columns.scaled(_nearest))),
        "IterativeImputer": alone(lambda: columns.answers(columns.scaled(lambda X: _chained(X, seed)))),
        "HistGradientBoosting": alone(lambda: _boosted(columns, hidden, seed)),
    }


class Columns:
    """A table of answers as one matrix of numbers, NaN where there is none, and back."""

    def __init__(self, schema: Schema, answers: Answers) -> None:
        self.schema, self.like = schema, answers
        self.blocks = list(encoding.blocks(answers, schema))
        parts = [question.to_numbers(block) for question, block in self.blocks]
        self.X: Float = np.hstack(parts)
        self.owner = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        """The question of each column."""

    def scaled(self, impute: Callable[[Float], Float]) -> Float:
        """The matrix with its blanks filled on columns of mean 0 and standard deviation 1."""
        there = ~np.isnan(self.X)
        n = np.maximum(there.sum(axis=0), 1)
        mean = np.where(there, self.X, 0).sum(axis=0) / n
        sd = np.sqrt(np.where(there, (self.X - mean) ** 2, 0).sum(axis=0) / n)
        sd[sd == 0] = 1
        filled: Float = impute((self.X - mean) / sd) * sd + mean
        return filled

    def answers(self, X: Float) -> Answers:
        """The answers nearest to a matrix of numbers."""
        return self.of_blocks([q.from_numbers(X[:, self.owner == i]) for i, q in enumerate(self.schema)])

    def of_blocks(self, blocks: list[Cells]) -> Answers:
        """Put blocks of codes and numbers together."""
        out = Answers(np.empty_like(self.like.codes), np.empty_like(self.like.numbers))
        for (_, into), block in zip(encoding.raw_blocks(out, self.schema), blocks, strict=True):
            into[:] = block.astype(into.dtype)
        return out


def _nearest(X: Float) -> Float:
    from sklearn.impute import KNNImputer

    filled: Float = KNNImputer(n_neighbors=_NEIGHBOURS, keep_empty_features=True).fit_transform(X)
    return filled


def _chained(X: Float, seed: int) -> Float:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer
    from sklearn.utils._testing import ignore_warnings

    few = 80 if X.shape[1] > _MANY else None
    imputer = IterativeImputer(
        max_iter=_ROUNDS, tol=1e-2, n_nearest_features=few, random_state=seed, keep_empty_features=True
    )
    filled: Float = ignore_warnings(category=ConvergenceWarning)(imputer.fit_transform)(X)
    return filled


def _boosted(columns: Columns, hidden: HiddenAnswers, seed: int) -> Answers:
    """One model for each column of each question, on all the other questions; only hidden answers are guessed."""
    asked = list(encoding.blocks(hidden.hidden, columns.schema))
    guesses = []
    for number, (question, block) in enumerate(columns.blocks):
        tell(Step("gradient boosting", number, len(asked), "questions"))
        own = columns.owner == number
        wanted = np.asarray(~encoding.blank_cells(asked[number][1]).all(axis=1))
        guess = np.full(block.shape, np.nan if question.n_numbers else -1, block.dtype)
        if wanted.any():
            guess[wanted] = _question(question, block, columns.X[:, own], columns.X[:, ~own], wanted, seed)
        guesses.append(guess)
    return columns.of_blocks(guesses)


def _question(question: Question, block: Cells, own: Float, rest: Float, wanted: NDArray[np.bool_], seed: int) -> Cells:
    """Guess one question: names by a classifier for each code, what has an order or a size as numbers."""
    if question.loss == "wrong":
        return np.stack([_one(y.astype(float), y >= 0, rest, wanted, seed, None) for y in block.T], axis=1)
    loss = f"{question.loss}_error"
    return question.from_numbers(np.stack([_one(y, ~np.isnan(y), rest, wanted, seed, loss) for y in own.T], axis=1))


def _one(y: Float, there: NDArray[np.bool_], X: Float, wanted: NDArray[np.bool_], seed: int, loss: str | None) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    values = np.unique(y[there])
    if len(values) < 2:
        return np.full(wanted.sum(), values[0] if len(values) else 0)
    varies = np.array([len(np.unique(x[~np.isnan(x)])) > 1 for x in X[there].T])  # the binner refuses empty columns
    settings: dict[str, Any] = {"learning_rate": 0.06, "max_iter": 100, "max_leaf_nodes": 12, "random_state": seed}
    settings |= {"early_stopping": False, "min_samples_leaf": 15, "l2_regularization": 1.0, "max_features": 0.5}
    kind = HistGradientBoostingClassifier if loss is None else HistGradientBoostingRegressor
    model = kind(**settings, **({} if loss is None else {"loss": loss}))
    return model.fit(X[there][:, varies], y[there]).predict(X[wanted][:, varies])
