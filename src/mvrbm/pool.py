"""One result from the analyses of several completed tables: Rubin's rules for multiple imputation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
# A number, an array or a labelled column of them: whatever the estimates were.
Numbers = float | Floats | pd.Series


@dataclass(frozen=True, eq=False)
class Pooled:
    """An estimate and its uncertainty, that of the missing answers included; each part has the form of an estimate."""

    estimate: Numbers  #: the mean of the estimates
    within: Numbers  #: the mean of their variances
    between: Numbers  #: the variance of the estimates from draw to draw
    total: Numbers  #: within + (1 + 1/draws) * between
    standard_error: Numbers  #: the square root of the total variance
    df: Numbers  #: degrees of freedom of Student's t; infinite is the normal distribution
    low: Numbers  #: the interval's lower end
    high: Numbers  #: the interval's upper end
    relative_increase: Numbers  #: of the variance, by the missing answers
    missing_information: Numbers  #: the fraction of the information that is missing, 0 to 1
    confidence: float
    draws: int

    @property
    def interval(self) -> tuple[Numbers, Numbers]:
        """The confidence interval, its lower and its upper end."""
        return self.low, self.high

    def to_frame(self) -> pd.DataFrame:
        """All parts as a table: a row for each estimate, under its label."""
        parts = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("confidence", "draws")}
        return pd.DataFrame({name: np.ravel(part) for name, part in parts.items()}, index=self._labels())

    def _labels(self) -> pd.Index:
        if isinstance(self.estimate, pd.Series):
            return self.estimate.index
        shape = np.shape(self.estimate)
        return pd.MultiIndex.from_tuples(list(np.ndindex(shape))) if len(shape) > 1 else pd.RangeIndex(*shape or (1,))

    def __str__(self) -> str:
        shown = ["estimate", "standard_error", "low", "high", "df", "missing_information"]
        table = self.to_frame()[shown].rename(columns=lambda name: name.replace("_", " "))
        text = table.to_string(index=np.ndim(self.estimate) > 0, float_format="{:.4g}".format)
        return f"{self.draws} draws, {100 * self.confidence:g}% interval\n{text}"


def pool(
    estimates: Iterable[Any],
    variances: Iterable[Any],
    complete_df: float | None = None,
    confidence: float = 0.95,
) -> Pooled:
    """Pool what the same analysis found in each completed table (Rubin's rules).

    `estimates` has one number for each table, or one array or pandas Series; `variances` the squared standard errors
    likewise. `complete_df` is the degrees of freedom the analysis would have with nothing missing, such as rows less
    coefficients: with it the interval is that of Barnard and Rubin (1999), which is right for small tables too,
    without it that of Rubin (1987).

    >>> from mvrbm.pool import pool
    >>> pooled = pool([10.0, 12.0, 11.0], [1.0, 1.2, 0.8], complete_df=50)
    >>> print(pooled)
    3 draws, 95% interval
     estimate  standard error   low  high    df  missing information
           11           1.528 7.003    15 4.722               0.6824
    >>> pooled.relative_increase
    1.3333333333333333
    """
    _check_settings(complete_df, confidence)
    Q, like = _stack("estimates", estimates)
    U, labelled = _stack("variances", variances, like)
    like = labelled if like is None else like
    _check(Q, U)
    parts = _combine(Q, U, complete_df, confidence)
    return Pooled(**{name: _as_given(part, like) for name, part in parts.items()}, confidence=confidence, draws=len(Q))


def _combine(Q: Floats, U: Floats, complete_df: float | None, confidence: float) -> dict[str, Any]:
    """Rubin's rules, by the names of the parts of a result."""
    m, estimate, within, between = len(Q), Q.mean(axis=0), U.mean(axis=0), _spread(Q)
    extra = (1 + 1 / m) * between
    total = within + extra
    share = _ratio(extra, total)  # of the variance, that the missing answers add
    df = _degrees_of_freedom(share, m, complete_df)
    margin = _quantile(df, (1 + confidence) / 2) * np.sqrt(total)
    return {
        "estimate": estimate,
        "within": within,
        "between": between,
        "total": total,
        "standard_error": np.sqrt(total),
        "df": df,
        "low": estimate - margin,
        "high": estimate + margin,
        "relative_increase": _ratio(extra, within),
        # (r + 2 / (df + 3)) / (r + 1), in the share that stays finite where nothing varies within a table
        "missing_information": share + (1 - share) * 2 / (df + 3),
    }


def _ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole; nothing is 0 of anything."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(part > 0, part / whole, 0.0)


def _check_settings(complete_df: float | None, confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, such as 0.95, not {confidence!r}")
    if complete_df is not None and not complete_df > 0:
        raise ValueError(f"complete_df must be a positive number or None, not {complete_df!r}")


def _stack(name: str, draws: Iterable[Any], like: pd.Index | None = None) -> tuple[Floats, pd.Index | None]:
    """All draws in one array, draws first, and the labels of a Series; labels are matched, not positions."""
    if isinstance(draws, pd.DataFrame | str) or not isinstance(draws, Iterable):
        raise TypeError(f"{name} must be a list with an entry for each completed table, not {type(draws).__name__}")
    rows = []
    for number, draw in enumerate(draws, start=1):
        if isinstance(draw, pd.Series):
            like = draw.index if like is None else like
            draw = _in_order(name, number, draw, like)
        rows.append(_numbers(name, number, draw))
        if rows[-1].shape != rows[0].shape:
            raise ValueError(
                f"{name} of draw {number} have the shape {rows[-1].shape}, those of draw 1 {rows[0].shape}"
            )
    return np.array(rows, np.float64), like


def _in_order(name: str, number: int, draw: pd.Series, like: pd.Index) -> pd.Series:
    if draw.index.equals(like):
        return draw
    if not (draw.index.is_unique and like.is_unique and len(like) == len(draw) and like.isin(draw.index).all()):
        raise ValueError(f"{name} of draw {number} have other labels, {list(draw.index)}, than {list(like)}")
    return draw.reindex(like)


def _numbers(name: str, number: int, draw: Any) -> Floats:
    try:
        return np.asarray(draw, np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} of draw {number} are not numbers: {draw!r}") from error


def _check(Q: Floats, U: Floats) -> None:
    if len(Q) != len(U):
        raise ValueError(f"there are estimates of {len(Q)} draws and variances of {len(U)}; give one for each draw")
    if len(Q) < 2:
        raise ValueError(f"pooling takes at least 2 draws, not {len(Q)}: one says nothing of what is missing")
    if Q.shape != U.shape:
        raise ValueError(f"estimates of a draw have the shape {Q.shape[1:]}, their variances {U.shape[1:]}")
    _check_values("estimates", Q, ~np.isfinite(Q), "a finite number")
    _check_values("variances", U, ~(np.isfinite(U) & (U >= 0)), "a squared standard error, 0 or more")


def _check_values(name: str, values: Floats, wrong: NDArray[np.bool_], what: str) -> None:
    if wrong.any():
        where = np.argwhere(wrong)[0]
        raise ValueError(f"{name} of draw {where[0] + 1} hold {values[tuple(where)]}, which is not {what}")


def _spread(Q: Floats) -> Floats:
    """The variance between draws; exactly 0 where they are equal, which a mean that is rounded would not give."""
    return np.where(np.ptp(Q, axis=0) == 0, 0.0, Q.var(axis=0, ddof=1))


def _degrees_of_freedom(share: Floats, m: int, complete_df: float | None) -> Floats:
    """Rubin's (1987), or Barnard and Rubin's (1999), which never exceed those of the complete data."""
    with np.errstate(divide="ignore"):
        rubin = (m - 1) / np.square(share)
        if complete_df is None or np.isinf(complete_df):
            return np.asarray(rubin)
        observed = (complete_df + 1) / (complete_df + 3) * complete_df * (1 - share)
        return np.asarray(1 / (1 / rubin + 1 / observed))


def _quantile(df: Floats, p: float) -> Floats:
    """Student's t; it goes to infinity as the degrees of freedom go to 0."""
    inner = (df > 0) & np.isfinite(df)
    t: Floats = special.stdtrit(np.where(inner, df, 1.0), p)
    return np.where(inner, t, np.where(df > 0, special.ndtri(p), np.inf))


def _as_given(part: Floats, labels: pd.Index | None) -> Numbers:
    """A part in the form of the estimates."""
    if labels is not None:
        return pd.Series(part, index=labels)
    return float(part) if np.ndim(part) == 0 else part
