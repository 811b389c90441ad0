"""Which questions to link: those whose answers, or whose being answered, go most with each question's answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import Source
from mvrbm.links import Links
from mvrbm.summary import relative, some_rows, weight_of
from mvrbm.training.engine import CHUNK, chunks_of
from mvrbm.units.block import Array, Index
from mvrbm.visible import Visible

_LEAST = 3.0  # standard deviations above chance
_LEAST_SPREAD = 5.0  # of who answered a question and who did not, among those who answered another, in people
_MOST_ROWS = 20_000


def screen(
    visible: Visible,
    answers: Source,
    weights: Array | None,
    n_links: int,
    answered: bool = True,
    targets: Sequence[int] | None = None,
) -> Links | None:
    """Links between each question and the `n_links` most associated with it, and, if `answered`, from their being so.

    With `answered` there are as many more from those whose being answered is most associated with its answers.

    None if no association is beyond chance. Where some questions will be told from the others, `targets`, by their
    places in the schema, only links between these and those ever move, so there are no more.

    The association of two features is their squared correlation among those who answered both, times their number:
    about 1 by chance. That of two questions is the sum over their features, less its mean by chance, over its spread.
    """
    features = np.flatnonzero(~visible.for_hidden_units)
    question = visible.feature_question[features]
    mutual, one_way = _associations(question, *_sums(visible, features, answers, relative(weights)))
    mutual[_never(visible)] = -np.inf
    pairs, told = _best(mutual, n_links), _best(one_way, n_links if answered else 0)
    pairs |= pairs.T
    if answered:  # an average answer is taken off by such a link, so that a blank says nothing (centring.py)
        told |= pairs
    if targets is not None:
        asked = np.isin(visible.question_order, targets)[:, None]
        pairs &= asked != asked.T
        told &= asked & ~asked.T
    left, right = np.nonzero(np.triu(pairs[question][:, question], 1))
    feature, other = np.nonzero(told[question])
    rows = features[np.concatenate([left, feature])]
    columns = np.concatenate([features[right], other + visible.n_features])
    return Links(rows, columns, visible.feature_question) if len(rows) else None


def _sums(
    visible: Visible, features: Index, answers: Source, weights: Array | None
) -> tuple[Array, Array, Array, Array]:
    """The sums over people of x, x x^T, x r^T and r r^T, x some features and r which questions are answered."""
    F, Q = len(features), visible.n_questions
    first, second, told, both = np.zeros(F), np.zeros((F, F)), np.zeros((F, Q)), np.zeros((Q, Q))
    some = some_rows(weights, answers.n_rows, _MOST_ROWS)
    held, weight = answers.take(some), weight_of(weights, some).astype(np.float32)
    for own in chunks_of(np.arange(len(some)), CHUNK):
        chunk = visible.load(held, own)
        x, r = visible.features(chunk)[features], visible.answered(chunk).astype(np.float32)
        heavy = weight[own] * x
        first += heavy.sum(axis=1)
        second += heavy @ x.T
        told += heavy @ r.T
        both += weight[own] * r @ r.T
    return first, second, told, both


def _associations(question: Index, first: Array, second: Array, told: Array, both: Array) -> tuple[Array, Array]:
    """The association of each question's answers with those of another, and with another's being answered."""
    start = np.flatnonzero(np.diff(question, prepend=-1))
    n = np.maximum(np.diag(both), 1e-9)
    mean = first / n[question]
    together = both[question][:, question]
    across = mean[:, None] * told[:, question].T
    covariance = second - across - across.T + np.outer(mean, mean) * together
    variance = np.maximum(np.diag(covariance), 1e-9) / n[question]
    chance = variance[:, None] * variance * np.maximum(together, 1.0)
    size = np.bincount(question).astype(np.float64)
    mutual = _standardised(np.add.reduceat(_per_question(covariance**2 / chance, start), start, axis=1), size, size)

    share = both / n[:, None]
    spread = share * (1 - share) * n[:, None]
    moved = told - mean[:, None] * both[question]
    square = moved**2 / (variance[:, None] * np.maximum(spread, _LEAST_SPREAD)[question])
    square[spread[question] < _LEAST_SPREAD] = 0
    one_way = _standardised(_per_question(square, start), size, np.ones(len(size)))
    return mutual, one_way


def _per_question(square: Array, start: NDArray[np.int64]) -> Array:
    result: Array = np.add.reduceat(square, start, axis=0)
    return result


def _standardised(total: Array, left: Array, right: Array) -> Array:
    expected = np.outer(left, right)
    result: Array = (total - expected) / np.sqrt(2 * expected)
    np.fill_diagonal(result, -np.inf)
    return result


def _never(visible: Visible) -> NDArray[np.bool_]:
    """The pairs of questions that no link may join."""
    lone = np.concatenate([np.full(p.block.n_questions, not p.block.links_itself) for p in visible.parts])
    endless = lone.copy()
    endless[visible.feature_question[visible.squares[:, 0]]] = True
    result: NDArray[np.bool_] = np.outer(lone, endless) | np.outer(endless, lone)
    return result


def _best(association: Array, n_links: int) -> NDArray[np.bool_]:
    """The strongest of each row."""
    out = np.zeros(association.shape, bool)
    top = np.argsort(-association, axis=1, kind="stable")[:, :n_links]
    np.put_along_axis(out, top, True, axis=1)
    return out & (association > _LEAST)
