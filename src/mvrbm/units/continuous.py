"""Continuous questions: a number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from mvrbm.cells import Cells, Value, plain, to_numbers
from mvrbm.summary import Summary
from mvrbm.units.block import Array, Block, Codes, Index, Listed
from mvrbm.units.question import Columns, Question
from mvrbm.units.truncated import draw_between, log_between, moments_between


class Continuous(Question):
    """A question whose answer is a number.

    Numbers below `low` or above `high` are refused; `integer` rounds what the model answers. `sigma` is the
    spread of the answer given the hidden layer, in standard deviations of the column: a number, "learn", or
    None (as the model's recipe has it).

    >>> Continuous("age", low=0, high=120, integer=True)
    Continuous('age', low=0, high=120, integer=True)
    """

    kind = "continuous"
    measure = "scale"

    @property
    def block(self) -> type[Block]:
        """The model's side of the type."""
        return ContinuousBlock

    def __init__(
        self,
        name: str,
        *,
        low: float | None = None,
        high: float | None = None,
        integer: bool = False,
        sigma: float | str | None = None,
        missing: Iterable[Value] = (),
        asked_if: Mapping[str, Any] | None = None,
        label: str = "",
        labels: Mapping[Any, str] | None = None,
    ) -> None:
        super().__init__(name, missing=missing, asked_if=asked_if, label=label, labels=labels)
        self.low = self._bound("low", low)
        self.high = self._bound("high", high)
        self.integer = self._flag("integer", integer)
        self.sigma = self._positive_or_learn("sigma", sigma)
        if not self.least_number < self.most_number:
            raise self._error(f"low must be below high, not low={low!r}, high={high!r}")
        if self.integer and np.ceil(self.least_number) > np.floor(self.most_number):
            raise self._error(f"no whole number lies between low={low!r} and high={high!r}; drop integer or move them")

    @property
    def n_values(self) -> int:
        """1: a number counts as one value."""
        return 1

    @property
    def n_codes(self) -> int:
        """0: its answers are numbers."""
        return 0

    @property
    def n_numbers(self) -> int:
        """1: its answers take one column of numbers."""
        return 1

    @property
    def least_number(self) -> float:
        """The lower bound, or minus infinity."""
        return -np.inf if self.low is None else float(self.low)

    @property
    def most_number(self) -> float:
        """The upper bound, or infinity."""
        return np.inf if self.high is None else float(self.high)

    def _bound(self, setting: str, given: Any) -> float | None:
        if given is None or (isinstance(given, float) and given == (np.inf if setting == "high" else -np.inf)):
            return None
        if isinstance(given, bool) or not isinstance(given, (int, float, np.number)):
            raise self._error(f"{setting} must be a number, not {given!r}")
        size: Any = abs(given)
        if not size <= 1e300:
            raise self._error(f"{setting} must be a number of a sensible size, not {given!r}")
        bound: float = plain(given)
        return bound

    @property
    def described(self) -> str:
        """The kind of number, and its bounds."""
        kind = "whole numbers" if self.integer else "numbers"
        low = "" if self.low is None else f" from {self.low}"
        return kind + low + ("" if self.high is None else f" up to {self.high}")

    def feature_names(self, n: int) -> list[Any]:
        """Name the one feature: how far the number lies above its mean."""
        return ["one standard deviation more"]

    def _learn(self, columns: Columns) -> Self:
        numbers, _ = to_numbers(columns[self.name], self.missing)
        least, most = np.fmin.reduce(numbers), np.fmax.reduce(numbers)
        if len(numbers) > 1 and least == most:
            raise self._error(f"every answer is {plain(least)!r}; leave it out (ignore)")
        return self._copy()

    def _encode(self, columns: Columns, unseen: str) -> Cells:
        cells = columns[self.name]
        numbers, bad = to_numbers(cells, self.missing)
        with np.errstate(over="ignore"):
            infinite = np.isinf(numbers.astype(np.float32))
        self._refuse(infinite, cells, self.name, "is infinite or too large; correct it or list it in missing=[...]")
        way_out = 'list it in missing=[...] or set unseen="missing"'
        self._settle(bad, cells, self.name, unseen, f"is not a number; {way_out}")
        outside = (numbers < self.least_number) | (numbers > self.most_number)
        bounds = f"is outside low={self.low!r}, high={self.high!r}; correct it, change the bounds, {way_out}"
        self._settle(outside, cells, self.name, unseen, bounds)
        if self.integer:
            broken = np.isfinite(numbers) & (numbers != np.rint(numbers))
            self._settle(broken, cells, self.name, unseen, f"is no whole number; correct it, drop integer, {way_out}")
            outside |= broken
        numbers[outside] = np.nan
        return numbers.astype(np.float32)[:, None]

    def decode(self, block: Cells, like: Columns | None = None) -> dict[str, Cells]:
        """Write the column of numbers, within the bounds, rounded if `integer`; a blank is NaN."""
        # float32 can round a bound to just outside it, so even an answer that was read may need the clip.
        numbers = np.clip(block[:, 0].astype(np.float64), self.least_number, self.most_number)
        if self.integer:
            numbers = np.clip(np.rint(numbers), np.ceil(self.least_number), np.floor(self.most_number))
        return {self.name: numbers}

    def says(self, block: Cells, value: Value) -> NDArray[np.bool_]:
        """Find the rows that give this number."""
        if isinstance(value, str):
            raise self._error(f"a skip rule asks for {value!r}, which is no number")
        return np.asarray(block[:, 0] == np.float32(value))


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_LOG_PRECISIONS = (-6.0, 14.0)
"""Where a log(1/sigma^2) that is learnt may lie: answers that pile up at both bounds would push it down without end."""

_MOST_POINTS = 400
"""In a grid that covers what every state of the hidden layer makes likely."""


class ContinuousBlock(Block):
    """Numbers: a Gaussian given the hidden units (paper, table of section 2.1), cut off at the bounds if it has any.

    The feature is the standardised answer x, the base statistic x^2 with theta = -1/(2 sigma^2); the parameter that is
    learnt is log(1/sigma^2). The paper fixes sigma = 1 and has no bounds.
    """

    def __init__(self, questions: Sequence[Continuous], summary: Summary, paper: bool) -> None:
        super().__init__(questions, summary, paper)
        self._own = questions
        self.n_numbers = self.n_features = self.n_base = self.n_draws = len(questions)
        self.feature_start = self.base_question = np.arange(len(questions))
        _, mean, sd = summary.moments.T
        self.location = np.nan_to_num(mean)[:, None]
        self.scale = np.where(sd > 1e-6 * np.abs(mean), sd, 1.0)[:, None]  # a constant's is a rounding error
        self._sigma = [q.sigma or (1.0 if paper else "learn") for q in questions]
        self._learnt = np.array([s == "learn" for s in self._sigma])
        self.low, self.high = self._bounds("low", -np.inf), self._bounds("high", np.inf)
        self._mean_field = paper
        self._cut = not paper and bool(np.isfinite([self.low, self.high]).any())

    def _bounds(self, name: str, none: float) -> NDArray[np.float64]:
        given = [getattr(q, name) for q in self.questions]
        bounds = np.array([none if g is None else g for g in given], float)[:, None]
        standard: NDArray[np.float64] = (bounds - self.location) / self.scale
        return standard

    def start(self, summary: Summary) -> tuple[Array, Array]:
        base = np.array([0.0 if s == "learn" else -2 * np.log(s) for s in self._sigma])
        U = np.zeros(len(base))
        if self._cut:  # the Gaussian whose cut-off version has mean 0 and, where sigma is learnt, variance 1
            first = np.concatenate([U, base])
            # answers piled up at a bound would go further; a fixed sigma stays where it is
            within = [(-30.0, 30.0)] * len(U)
            within += [(-3.0, 8.0) if s == "learn" else (b, b) for s, b in zip(self._sigma, base, strict=True)]
            best = optimize.minimize(self._marginal_loss, first, jac=True, method="L-BFGS-B", bounds=within).x
            U, base = best[: len(U)], best[len(U) :]
        return U, base

    def _marginal_loss(self, parameters: Array) -> tuple[float, Array]:
        U, base = parameters[: len(self.questions)], parameters[len(self.questions) :]
        theta, one = self.natural(base), np.zeros((len(U), 1))
        x, t, log_z = one.copy(), one.copy(), one.copy()
        codes = np.zeros((0, 1), np.int16)
        self.mean(U[:, None], theta, codes, one, x, t)
        self.log_partition(U[:, None], theta, codes, one, log_z)
        slope = np.concatenate([x[:, 0], (t[:, 0] - 1) * self.natural_slope(base)])
        return float(log_z.sum() - theta.sum()), slope

    def natural(self, base: Array) -> Array:
        return -np.exp(np.where(self._learnt, np.clip(base, *_LOG_PRECISIONS), base)) / 2

    def natural_slope(self, base: Array) -> Array:
        free = self._learnt & (np.clip(base, *_LOG_PRECISIONS) == base)
        return np.where(free, self.natural(base), 0).astype(base.dtype)

    def features(self, codes: Codes, numbers: Array, x: Array) -> None:
        np.subtract(numbers, self.location, out=x, casting="same_kind")
        x /= self.scale
        x[np.isnan(x)] = 0

    def base_statistics(self, codes: Codes, x: Array, t: Array) -> None:
        np.multiply(x, x, out=t)

    def _gaussian(self, z: Array, theta: Array) -> tuple[Array, Array]:
        """Mean and standard deviation before the cut; in float64 if there is one, for what is left may lie far out."""
        variance = (-0.5 / theta)[:, None]
        if self._cut:
            variance = variance.astype(np.float64)
        return variance * z, np.sqrt(variance)

    def sample(self, z: Array, theta: Array, u: Array, codes: Codes, numbers: Array) -> None:
        mean, sd = self._gaussian(z, theta)
        cut = ((self.low - mean) / sd, (self.high - mean) / sd)
        x = mean + sd * (draw_between(*cut, u) if self._cut else special.ndtri(u))
        numbers[:] = x * self.scale + self.location

    def mean(self, z: Array, theta: Array, codes: Codes, numbers: Array, x: Array, t: Array) -> None:
        mean, sd = self._gaussian(z, theta)
        cut = moments_between(mean, sd, self.low, self.high) if self._cut else None
        first, second = cut or (mean, mean**2 + sd**2)
        answered = ~np.isnan(numbers)
        x[:] = first * answered
        t[:] = second * answered

    def log_partition(self, z: Array, theta: Array, codes: Codes, numbers: Array, out: Array) -> None:
        mean, sd = self._gaussian(z, theta)
        log_z = 0.5 * (mean / sd) ** 2 + np.log(sd) + 0.5 * np.log(2 * np.pi)
        if self._cut:  # the two terms can be huge and opposite: only their sum may be rounded to the precision of out
            log_z = log_z + log_between((self.low - mean) / sd, (self.high - mean) / sd)
        out[:] = log_z
        out[np.isnan(numbers)] = 0

    def outlook(self, P: Array, U: Array, W: Array, theta: Array, wanted: NDArray[np.bool_]) -> Array:
        """Points and their probabilities on them, (questions, 2, points, people), in standard deviations."""
        grids = []
        for q in range(len(U)):
            rows = np.flatnonzero(wanted[q])
            x, p = self.density(q, P[:, rows], U, W, theta)
            grids.append((rows, x, p))
        n = max((len(x) for _, x, _ in grids), default=0)
        out = np.zeros((len(U), 2, n, P.shape[1]))
        out[:, 0] = np.nan
        for q, (rows, x, p) in enumerate(grids):
            out[q, 0][: len(x), rows], out[q, 1][: len(x), rows] = x, p
            out[q, 0][len(x) :, rows] = x[-1] if len(x) else np.nan
        return out

    def outlook_given(self, z: Array, theta: Array, wanted: NDArray[np.bool_]) -> Array:
        mean, sd = (part.astype(np.float64) for part in self._gaussian(z, theta))
        low, high = mean - 8 * sd, mean + 8 * sd
        n = 33
        if self._cut:  # as far into the question where the mean is beyond a bound
            low = np.maximum(np.minimum(low, self.high - 8 * sd), self.low)
            high = np.minimum(np.maximum(high, self.low + 8 * sd), self.high)
            n = 281
        x = np.linspace(low, high, n, axis=1)
        log_p = -(((x - mean[:, None]) / sd[:, None]) ** 2) / 2
        p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
        p[:, [0, -1]] /= 2  # the trapezoid rule
        return np.stack([x, p / p.sum(axis=1, keepdims=True)], axis=1)

    def listed(self, cells: Index, U: Array, W: Array, theta: Array) -> Listed:
        grids = [self._grid(i, float(U[i]), W[i].astype(np.float64), -0.5 / float(theta[i])) for i in cells]
        sizes = np.array([len(x) for x, _ in grids])
        X = np.repeat(np.eye(len(cells)), sizes, axis=1) * np.concatenate([x for x, _ in grids])
        return Listed(cells, cells, X, X**2, np.concatenate([log_step for _, log_step in grids]), sizes)

    def _grid(self, i: int, U: float, w: Array, variance: float) -> tuple[Array, Array]:
        """Points in steps of a quarter of sigma over all that any state of the hidden layer makes likely."""
        reach = 7 * np.sqrt(variance)
        low = variance * (U + np.minimum(w, 0).sum()) - reach
        high = variance * (U + np.maximum(w, 0).sum()) + reach
        if self._cut:  # as far into the question, where all that is likely lies beyond a bound
            low = max(min(low, self.high[i, 0] - reach), self.low[i, 0])
            high = min(max(high, self.low[i, 0] + reach), self.high[i, 0])
        x = np.linspace(low, high, int(np.clip(4 * (high - low) / np.sqrt(variance), 30, _MOST_POINTS)) + 1)
        log_step = np.full(len(x), np.log(x[1] - x[0]))
        log_step[[0, -1]] -= np.log(2.0)  # the trapezoid rule
        return x, log_step

    def _moments_of(self, outlook: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of each question, in standard deviations of the data."""
        x, p = outlook[:, 0], outlook[:, 1]
        mean = (x * p).sum(axis=1)
        variance = ((x - mean[:, None]) ** 2 * p).sum(axis=1)
        return mean, np.sqrt(variance)

    def certainty(self, outlook: Array, codes: Codes) -> Array:
        sd: Array = self._moments_of(outlook)[1] * self.scale
        return sd

    def chances(self, q: int, outlook: Array) -> tuple[list[object], Array]:
        """The mean, the standard deviation and quantiles."""
        mean, sd = self._moments_of(outlook[q : q + 1])
        x, below = outlook[q, 0], np.cumsum(outlook[q, 1], axis=0) - outlook[q, 1] / 2
        people = range(x.shape[1])
        rows = [[np.interp(share, below[:, b], x[:, b]) for b in people] for share in QUANTILES]
        found = np.array([mean[0], sd[0], *rows]) * self.scale[q]
        found[[0, *range(2, len(found))]] += self.location[q]
        question = self._own[q]
        within = np.clip(found[2:], question.least_number, question.most_number)
        return ["mean", "sd", *(f"{share:.0%}" for share in QUANTILES)], np.concatenate([found[:2], within])

    def log_prob(self, outlook: Array, codes: Codes, numbers: Array) -> Array:
        """The log of the density of each number, in the person's own units: a parabola through three points."""
        v = (numbers - self.location) / self.scale
        out = np.zeros(numbers.shape)
        for q in range(len(numbers)):
            rows = np.flatnonzero(~np.isnan(numbers[q]))
            x, p = outlook[q, 0][:, rows], outlook[q, 1][:, rows].copy()
            n = int((np.diff(x, axis=0) > 0).all(axis=1).sum()) + 1 if len(rows) else 3
            p[[0, n - 1]] *= 2  # the ends of the trapezoid rule
            step = (x[n - 1] - x[0]) / (n - 1)
            at = np.clip(np.rint((v[q, rows] - x[0]) / step), 1, n - 2).astype(np.int64)
            before, here, after = (np.log(np.maximum(p[at + d, np.arange(len(rows))], 1e-300)) for d in (-1, 0, 1))
            d = (v[q, rows] - x[at, np.arange(len(rows))]) / step
            log_p = here + d * (after - before) / 2 + d**2 * (after - 2 * here + before) / 2
            out[q, rows] = log_p - np.log(step * self.scale[q, 0])
        return out

    def density(self, q: int, P: Array, U: Array, W: Array, theta: Array) -> tuple[Array, Array]:
        """Points x and their probabilities, (points, people): the density of one question on a grid.

        It is a mixture of as many Gaussians as there are states of the hidden layer, each of the width sigma. The grid
        covers eight standard deviations of the mixture on both sides, in steps of at most half of sigma. Where a bound
        cuts it, what is left may be a thin tail far from the mean: then the grid closes in on it first.
        """
        P, w, variance = P.astype(np.float64), W[q].astype(np.float64), -0.5 / float(theta[q])
        mean, spread = self._moments(P, float(U[q]), w, variance)
        low: Array = mean - 8 * spread
        high: Array = mean + 8 * spread
        least = 24
        if self._cut and np.isfinite([self.low[q, 0], self.high[q, 0]]).any():
            # from the bound to what is beyond the mean, or, if the mean is beyond the bound, as far into the question
            low = np.maximum(np.minimum(low, self.high[q, 0] - 8 * spread), self.low[q, 0])
            high = np.minimum(np.maximum(high, self.low[q, 0] + 8 * spread), self.high[q, 0])
            for _ in range(2):  # each can shrink it by a factor of 32
                low, high = self._closed_in(np.linspace(low, high, 33), P, float(U[q]), w, variance)
            least = 280  # a cut end has a corner
        width = float((high - low).max(initial=0.0))
        n = int(np.clip(np.ceil(2 * width / np.sqrt(variance)), least, 600)) + 1
        x = np.linspace(low, high, n)
        log_p = self._log_density(x, P, float(U[q]), w, variance)
        p = np.exp(log_p - log_p.max(axis=0))
        p[[0, -1]] /= 2  # the trapezoid rule
        return x, p / p.sum(axis=0)

    def _log_density(self, x: Array, P: Array, U: float, w: Array, variance: float) -> Array:
        """The log of the density at some points, up to its integral; the paper's is the mean-field Gaussian."""
        if self._mean_field:
            return -((x - variance * (U + w @ P)) ** 2) / (2 * variance)
        log_p = -(x**2) / (2 * variance) + U * x
        for k in range(len(w)):
            log_p += np.log1p(P[k] * np.expm1(np.minimum(w[k] * x, 600.0)))
        return log_p

    def _closed_in(self, x: Array, P: Array, U: float, w: Array, variance: float) -> tuple[Array, Array]:
        """The ends of the part of a grid, (points, people), in which the density is not as good as 0."""
        log_p = self._log_density(x, P, U, w, variance)
        there = log_p > log_p.max(axis=0) - 25
        first = np.maximum(there.argmax(axis=0) - 1, 0)
        last = np.minimum(len(x) - there[::-1].argmax(axis=0), len(x) - 1)
        people = np.arange(x.shape[1])
        return x[first, people], x[last, people]

    def _moments(self, P: Array, U: float, w: Array, variance: float) -> tuple[Array, Array]:
        """Roughly where the mixture lies and how wide it is: hidden units tilted by the answer they expect."""
        mean = np.zeros(P.shape[1])
        tilted = P
        odds = special.logit(np.clip(P, 1e-12, 1 - 1e-12))
        for _ in range(4):  # an answer raises the units that raise it
            mean = variance * (U + w @ tilted)
            tilted = special.expit(odds + w[:, None] * np.clip(mean, -30.0, 30.0))
        spread = variance**2 * (w**2 @ (tilted * (1 - tilted)))
        # units that hang together widen it more than if each stood for itself
        return mean, np.sqrt(variance + spread) + 0.25 * variance * np.abs(w).sum()

    def log_unit(self, numbers: Array) -> NDArray[np.float64]:
        result: NDArray[np.float64] = -(np.log(self.scale) * ~np.isnan(numbers)).sum(axis=0)
        return result

    def settle(self, outlook: Array, codes: Codes, numbers: Array) -> None:
        """The mean, rounded and kept within the bounds if the question says so."""
        self._answer(self._moments_of(outlook)[0], numbers)

    def _answer(self, mean: Array, numbers: Array) -> None:
        numbers[:] = mean * self.scale + self.location
        for q, question in enumerate(self._own):
            if question.integer:
                numbers[q] = np.rint(numbers[q])
            numbers[q] = np.clip(numbers[q], question.least_number, question.most_number)

    def decide(self, z: Array, theta: Array, codes: Codes, numbers: Array) -> None:
        x = np.empty_like(z)
        self.mean(z, theta, codes, np.zeros_like(z), x, np.empty_like(z))
        self._answer(x, numbers)

    def errors(
        self, codes: Codes, numbers: Array, true_codes: Codes, true_numbers: Array, weights: Array
    ) -> NDArray[np.float64]:
        """The squared error in standard deviations."""
        return squares_and_answered(numbers, true_numbers, weights, self.scale)

    @staticmethod
    def error(parts: NDArray[np.float64]) -> float:
        """The root of the mean squared error."""
        return float(np.sqrt(parts[0] / parts[1]))


def squares_and_answered(
    numbers: Array, true_numbers: Array, weights: Array, scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    """For each question, the weight of the squared errors, in units of its `scale`, and of all answers."""
    answered = ~np.isnan(true_numbers)
    off = np.where(answered, numbers.astype(np.float64) - true_numbers, 0.0) / scale
    return np.stack([off**2 @ weights, answered @ weights], axis=1)
