"""How good probabilities are: whether they are high where they should be, and whether they mean what they say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mvrbm.metrics.given import (
    Codes,
    Float,
    Given,
    Mask,
    column,
    column_or_table,
    levels,
    refuse,
    same_shape,
    some_weight,
    weights_of_rows,
    whole,
)

LEAST = 1e-12  # what was held to be impossible and happened would cost without end
TOLERANCE = 1e-4  # of probabilities computed in single precision, or printed with four digits


@dataclass
class _Scored:
    """Answers that are there, with the probability that each of their levels had."""

    codes: Codes
    p: Float
    """(answers, levels)."""
    weights: Float


@dataclass(frozen=True)
class Curve:
    """What was said and what happened, by bins of probabilities."""

    mean: Float
    """The mean of the probabilities in each bin."""
    share: Float
    """How often it happened."""
    weight: Float


def log_loss(true: Given, probabilities: Given, weights: Given = None) -> float:
    """The mean of -log of the probability that the true answers had; 0 is certain and right, lower is better.

    sum of w -log(max(p_t, 1e-12)) / sum of w, with natural logarithms, over the true answers t that are there.

    true has codes 0, 1, ... in (rows,), with probabilities in (rows, levels); or, for binary questions and the
    options of multicategorical ones, 0/1 in (rows,) or (rows, options), with P(1) in the same shape.

    >>> log_loss([0, 2], [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]])
    1.0397207708399179
    >>> log_loss([1, 0, None], [0.5, 0.5, 0.9])
    0.6931471805599453
    """
    scored = _scored(true, probabilities, weights)
    had = scored.p[np.arange(len(scored.p)), scored.codes]
    return float(scored.weights @ -np.log(np.maximum(had, LEAST)) / scored.weights.sum())


def calibration_error(true: Given, probabilities: Given, bins: int = 10, weights: Given = None) -> float:
    """The expected calibration error: how far probabilities are from how often it then happened; 0 to 1.

    Probabilities c are put in `bins` bins of the same width, ((b-1)/B, b/B] (0 in the first). With W_b the weight of
    bin b and W of all:

        `sum over b of W_b / W * |share that happened in b - mean c in b|`

    With two levels, or P(1) of 0/1 answers, c is P(1) and it happens if the answer is 1. With more levels, c
    is the probability of the most probable level, and it happens if that is the answer. The shapes are those of
    `log_loss`.

    >>> calibration_error([1, 0, 1], [0.75, 0.75, 0.5], bins=2)  # (0.5, 1]: 1/2 of 0.75; (0, 0.5]: 1 of 0.5
    0.3333333333333333
    >>> calibration_error([0, 2], [[0.75, 0.25, 0.0], [0.25, 0.5, 0.25]], bins=1)  # right 1/2, said 0.625
    0.125
    """
    curve = calibration_curve(true, probabilities, bins, weights)
    return float(np.abs(curve.share * curve.weight - curve.mean * curve.weight).sum() / curve.weight.sum())


def calibration_curve(true: Given, probabilities: Given, bins: int = 10, weights: Given = None) -> Curve:
    """For each bin of probabilities that holds any: their mean, how often it then happened, and its weight.

    The bins, and what happens, are those of `calibration_error`.

    >>> calibration_curve([1, 0, 1], [0.75, 0.75, 0.5], bins=2).share
    array([1. , 0.5])
    """
    bins = whole("bins", bins, 1)
    scored = _scored(true, probabilities, weights)
    top = np.ones(len(scored.p), int) if scored.p.shape[1] == 2 else scored.p.argmax(axis=1)
    c = scored.p[np.arange(len(top)), top]
    place = np.searchsorted(_edges(bins), c)
    each = (scored.weights * c, scored.weights * (scored.codes == top), scored.weights)
    said, happened, weight = (np.bincount(place, own, bins).astype(np.float64) for own in each)
    there = weight > 0
    return Curve(said[there] / weight[there], happened[there] / weight[there], weight[there])


def quantile_calibration(true: Given, cdf_values: Given, bins: int = 10, weights: Given = None) -> float:
    """How far predicted distributions of a number are from holding the share of answers that they say; 0 to 1.

    cdf_values, (rows,), holds for each row the predicted probability of an answer at or below the true one (its PIT
    value u). Of predictions that mean what they say, the share e lies at or below e, for any e. The error is the mean
    over the inner edges e = 1/B, ..., (B-1)/B of

        `|sum of w [u <= e] / sum of w - e|`

    0 and 1 are left out: all distributions are right there. true only says which rows are blank.

    >>> quantile_calibration([18.0, 35.0, None], [0.1, 0.6, 0.5], bins=4)  # shares 1/2, 1/2, 1 of 1/4, 1/2, 3/4
    0.16666666666666666
    """
    edges = _edges(whole("bins", bins, 2))
    truth, u = column("true", true), column("cdf_values", cdf_values)
    same_shape(truth, u, "cdf_values")
    there = ~np.isnan(truth)
    weight = weights_of_rows(weights, len(truth)) * there
    some_weight(weight.sum())
    u = _checked("cdf_values", u, there)
    return float(np.abs(weight @ (u[:, None] <= edges) / weight.sum() - edges).mean())


def _edges(bins: int) -> Float:
    inner: Float = np.arange(1, bins) / bins
    return inner


def _scored(true: Given, probabilities: Given, weights: Given) -> _Scored:
    """Read both ways of giving probabilities as one: a row of levels for each answer that is there."""
    truth, p = column_or_table("true", true), column_or_table("probabilities", probabilities)
    weight = weights_of_rows(weights, len(truth))
    if p.shape == truth.shape:  # P(1)
        codes = levels("true", truth, 2, blank=-1 if truth.ndim == 2 else np.nan)
        p = _checked("probabilities", p, codes >= 0)
        p = np.stack([1 - p, p], axis=-1)
        weight = np.broadcast_to(weight.reshape(-1, *[1] * (truth.ndim - 1)), truth.shape)
    elif truth.ndim == 1 and p.ndim == 2 and len(p) == len(truth) and p.shape[1] > 1:
        codes = levels("true", truth, p.shape[1])
        p = _checked("probabilities", p, (codes >= 0)[:, None])
        _sums_to_one(p, codes >= 0)
    else:
        shapes = f"not {p.shape} where true has {truth.shape}"
        raise ValueError(
            f"probabilities must be (rows, levels) of codes (rows,), or P(1) in the shape of true, {shapes}"
        )
    there = codes >= 0
    some_weight(weight[there].sum())
    return _Scored(codes[there], p[there], weight[there])


def _checked(name: str, p: Float, there: Mask) -> Float:
    """Refuse what is no probability where one is needed; what rounding put just outside is put back."""
    refuse(there & ~((p >= -TOLERANCE) & (p <= 1 + TOLERANCE)), name, p, "is no probability from 0 to 1")
    return np.clip(p, 0, 1)


def _sums_to_one(p: Float, there: Mask) -> None:
    total = p.sum(axis=1)
    off = there & ~(np.abs(total - 1) <= TOLERANCE)
    if off.any():
        row = int(off.argmax())
        raise ValueError(f"probabilities: row {row} sums to {total[row]:.6g}, not 1; divide it by its sum")
