"""The paper's six errors (section 4.1) of plain answers. The arithmetic is that of `units/`, where a model uses it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from mvrbm.cells import Value
from mvrbm.metrics.given import (
    Float,
    Given,
    alike,
    column,
    levels,
    levels_of,
    refuse,
    same_shape,
    scale_of_values,
    some_weight,
    tables,
    weights_of_rows,
)
from mvrbm.units.block import Block, wrong_and_answered
from mvrbm.units.choices import hits_and_answered
from mvrbm.units.continuous import ContinuousBlock, squares_and_answered
from mvrbm.units.multicategorical import MulticategoricalBlock
from mvrbm.units.ordinal import steps_and_answered
from mvrbm.units.ranking import opposed_and_compared, pair_codes


def _error(parts: Float, error: Callable[[Float], float] = Block.error) -> float:
    total = parts.sum(axis=0)
    some_weight(total[-1])
    return error(total)


def binary_error(true: Given, predicted: Given, weights: Given = None) -> float:
    """The share of wrong answers to a question with two answers, whatever they are called.

    sum of w [t != p] / sum of w, over the rows whose true answer t is there. A blank guess is wrong.

    >>> binary_error(["yes", "no", "yes", None], ["yes", "yes", None, "no"])
    0.6666666666666666
    """
    return _wrong(true, predicted, weights, most=2)


def categorical_error(true: Given, predicted: Given, weights: Given = None) -> float:
    """The share of wrong answers to a question with several answers without an order.

    sum of w [t != p] / sum of w, over the rows whose true answer t is there. A blank guess is wrong.

    >>> categorical_error(["Peru", "Ghana", "France", "Peru"], ["Peru", "Peru", "France", "Peru"])
    0.25
    """
    return _wrong(true, predicted, weights)


def _wrong(true: Given, predicted: Given, weights: Given, most: int | None = None) -> float:
    truth, guess = alike(true, predicted, most)
    return _error(wrong_and_answered(guess[None], truth[None], weights_of_rows(weights, len(truth))))


def ordinal_error(
    true: Given,
    predicted: Given,
    n_levels: int | None = None,
    weights: Given = None,
    *,
    values: Iterable[Value] | None = None,
) -> float:
    """The mean distance between levels of a scale, as a share of its length: 0 is right, 1 the other end.

    `sum of w |t - p| / (M - 1) / sum of w`, over the rows whose true answer t is there. The answers are codes from 0 to
    M - 1 with `n_levels` = M, or any of `values`, which are the levels in order. A blank guess counts as
    wrong by the whole scale.

    >>> ordinal_error([0, 4, 2], [2, 3, 2], n_levels=5)
    0.25
    >>> ordinal_error(["low", "high"], ["high", "high"], values=["low", "middle", "high"])
    0.5
    """
    size, listed = scale_of_values(n_levels, values)
    given = {"true": true, "predicted": predicted}
    if listed is None:
        truth, guess = (levels(name, column(name, cells), size) for name, cells in given.items())
    else:
        truth, guess = (levels_of(name, cells, listed) for name, cells in given.items())
    same_shape(truth, guess)
    weight = weights_of_rows(weights, len(truth))
    return _error(steps_and_answered(guess[None], truth[None], weight, np.array([size])))


def continuous_error(true: Given, predicted: Given, weights: Given = None, *, scale: float | None = None) -> float:
    """The root mean square error of numbers, in standard deviations of the true answers.

    sqrt(sum of w ((t - p) / s)^2 / sum of w), over the rows whose true answer t is there. s is `scale`, or else the
    (weighted) standard deviation of the true answers, so that guessing their mean scores 1; `scale=1` leaves the
    error in its own units. A blank guess has no distance and is refused.

    >>> continuous_error([1.0, 5.0, None], [3.0, 1.0, 7.0])
    1.5811388300841898
    >>> continuous_error([1.0, 5.0], [4.0, 1.0], scale=1)
    3.5355339059327378
    """
    truth, guess = column("true", true), column("predicted", predicted)
    same_shape(truth, guess)
    weight = weights_of_rows(weights, len(truth))
    truth = np.where(weight > 0, truth, np.nan)  # 0 times a blank guess would not be 0
    some_weight(weight[~np.isnan(truth)].sum())
    refuse(np.isnan(guess) & ~np.isnan(truth), "predicted", guess, "is blank, and a number was to be guessed")
    unit = _spread(truth, weight) if scale is None else _checked(scale)
    parts = squares_and_answered(guess[None], truth[None], weight, np.array([[unit]]))
    return _error(parts, ContinuousBlock.error)


def _spread(truth: Float, weight: Float) -> float:
    if np.nanmin(truth) == np.nanmax(truth):
        raise ValueError(
            f"every true answer is {np.nanmin(truth):g}, so they have no standard deviation; give scale=..."
        )
    there = ~np.isnan(truth)
    mean = np.average(truth[there], weights=weight[there])
    return float(np.sqrt(np.average((truth[there] - mean) ** 2, weights=weight[there])))


def _checked(scale: float) -> float:
    if isinstance(scale, bool) or not isinstance(scale, (int, float, np.number)) or not 0 < scale < np.inf:
        raise ValueError(f"scale must be a number above 0, not {scale!r}")
    return float(scale)


def multicategorical_error(true: Given, predicted: Given, weights: Given = None) -> float:
    """1 - F1 of the chosen options, for a question with any number of choices: 0 is right, 1 is not one hit.

    true and predicted are 0/1, (rows, options). Over all rows and options that are there in truth (not NaN, None or
    -1), with TP options chosen and guessed, FP guessed only and FN chosen only, each counted by its row's weight:

        1 - F1 = (FP + FN) / (2 TP + FP + FN), and 0 where nothing was chosen and nothing guessed

    that is, recall TP / (TP + FN) and precision TP / (TP + FP). The paper's recall and precision count every option
    in which truth and guess agree, also if neither has it, over the number chosen; so they may exceed 1, and are not
    used here. A blank guess chooses nothing.

    >>> multicategorical_error([[1, 0, 1], [1, 0, 0]], [[1, 0, 0], [1, 1, 0]])
    0.3333333333333333
    """
    found = tables(true, predicted)
    truth, guess = (levels(name, t, 2, blank=-1) for name, t in zip(("true", "predicted"), found, strict=True))
    parts = hits_and_answered(guess.T, truth.T, weights_of_rows(weights, len(truth)))
    return _error(parts, MulticategoricalBlock.error)


def ranking_error(true: Given, predicted: Given, weights: Given = None) -> float:
    """The share of pairs of items that are put in the opposite order.

    true and predicted are ranks, (rows, items), 1 for the best; only their order counts. Over all rows and pairs of
    items l, m that both have a true rank t:

        sum of w [(t_l - t_m)(p_l - p_m) < 0] / sum of w

    so a tie is not opposed to anything. A pair that the truth puts in order and the guess leaves blank is wrong.

    >>> ranking_error([[1, 2, 3], [1, 2, None]], [[1, 3, 2], [1, 1, 2]])
    0.25
    """
    truth, guess = tables(true, predicted)
    if truth.shape[1] < 2:
        raise ValueError(f"a ranking has two or more items, not {truth.shape[1]}")
    for name, ranks in (("true", truth), ("predicted", guess)):
        refuse(ranks < 1, name, ranks, "is no rank (1 is the best; a blank is NaN or None)")
    parts = opposed_and_compared(pair_codes(guess).T, pair_codes(truth).T, weights_of_rows(weights, len(truth)))
    return _error(parts)
