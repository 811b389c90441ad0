"""Continuous questions: a number."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize

from mvrbm.cells import Cells, Value, plain, to_numbers
from mvrbm.kernels import pieces
from mvrbm.kernels.density import HEAD, densities
from mvrbm.summary import NEVER, Summary
from mvrbm.units.block import Array, Block, Codes, Index, Listed
from mvrbm.units.grids import gauss_legendre, log_density_at, moments_of, quantile
from mvrbm.units.question import Columns, Question
from mvrbm.units.truncated import draw_between
from mvrbm.units.view import View


class Continuous(Question):
    """A question whose answer is a number.

    Numbers below `low` or above `high` are refused; `integer` rounds what the model answers. `sigma` is the
    spread of the answer given the hidden layer, in standard deviations of the column: a number, "learn", or
    None (as the model's recipe has it).

    >>> Continuous("age", low=0, high=120, integer=True)
    Continuous('age', low=0, high=120, integer=True)
    """

    kind = "continuous"
    spoken = "numbers"
    measure = "scale"
    loss = "squared"
    error_means = "of a standard deviation, root mean square"

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
    def fractions(self) -> bool:
        """Whether answers may be other than whole."""
        return not self.integer

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
        """Name the features: how far the number lies above its mean, and whether it is above each of its steps."""
        return ["one standard deviation more", *(f"above step {j}" for j in range(1, n))]

    def _telling(self, columns: Columns) -> NDArray[np.intp]:
        numbers, _ = to_numbers(columns[self.name], self.missing)
        ends = [np.nan_to_num(numbers, nan=np.inf).argmin(), np.nan_to_num(numbers, nan=-np.inf).argmax()]
        return np.array([*range(min(2, len(numbers))), *ends])

    def _learn(self, columns: Columns) -> Self:
        numbers, _ = to_numbers(columns[self.name], self.missing)
        least, most = np.fmin.reduce(numbers), np.fmax.reduce(numbers)
        if len(numbers) > 1 and least == most:
            self._warn(f"every answer is {plain(least)!r}, which tells nothing of other questions")
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

    def to_numbers(self, block: Cells) -> NDArray[np.float64]:
        """Say the numbers as they are."""
        return np.asarray(block, np.float64)

    def from_numbers(self, columns: NDArray[np.float64]) -> Cells:
        """Keep the numbers within the bounds, and whole where they must be."""
        whole = np.rint(columns) if self.integer else columns
        low, high = (-np.inf if self.low is None else self.low), (np.inf if self.high is None else self.high)
        return np.clip(whole, low, high).astype(np.float32)

    def tell(self, block: Cells) -> list[str]:
        """Say each number with at most two decimals, fewer if they are 0."""
        told = (f"{number:,.2f}".rstrip("0").rstrip(".") for number in self.decode(block)[self.name])
        return ["" if text == "nan" else text for text in told]

    def views(self, block: Cells) -> list[View]:
        """The number itself."""
        return [View("", self.decode(block)[self.name], ordered=True)]

    def events(self, block: Cells, chances: Cells) -> tuple[Cells, Cells]:
        """Whether the number lies at or below each quantile."""
        quantiles = chances[:, -len(QUANTILES) :]
        happened = np.where(np.isnan(block), np.nan, block <= quantiles)
        return np.broadcast_to(QUANTILES, quantiles.shape), happened

    def says(self, block: Cells, value: Value) -> NDArray[np.bool_]:
        """Find the rows that give this number."""
        if isinstance(value, str):
            raise self._error(f"a skip rule asks for {value!r}, which is no number; write it without quotes")
        return np.asarray(block[:, 0] == np.float32(value))


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_LOG_PRECISIONS = (-6.0, 14.0)
"""Where a log(1/sigma^2) that is learnt may lie: answers that pile up at both bounds would push it down without end."""

_FAR = 15.0
"""Standard deviations from the mean, beyond which a number counts as one so far: 999999 among ages is a mistake that
would drown all that others tell."""

_MOST_POINTS = 400
"""In a grid that covers what every state of the hidden layer makes likely."""
_LEAST_POINTS = 8
"""In each piece of it."""


class ContinuousBlock(Block):
    """Numbers: a Gaussian given the hidden units (paper, table of section 2.1), in pieces, cut off at its bounds.

    The first feature is the standardised answer x, the base statistic x^2 with theta = -1/(2 sigma^2); the parameter
    that is learnt is log(1/sigma^2). The others say on which side of each step the answer lies, half of the step's
    height above and minus that below, where the steps part the answers into equal shares: what comes with a number need
    not rise and fall with it. They are for hidden units; each number has as many as it has steps. The paper fixes
    sigma = 1 and has neither bounds nor steps.
    """

    def __init__(self, questions: Sequence[Continuous], summary: Summary, paper: bool) -> None:
        super().__init__(questions, summary, paper)
        self._own = questions
        self.n_numbers = self.n_base = self.n_draws = len(questions)
        self.base_question = np.arange(len(questions))
        _, mean, sd = summary.moments.T
        self.location = np.nan_to_num(mean)[:, None]
        told_apart = sd > 1e-6 * np.abs(mean)  # a constant's is a rounding error
        self.scale = np.where(told_apart, sd, 1.0)[:, None]
        self._constant = ~told_apart & ~np.isnan(mean)
        self._sigma = [q.sigma or (1.0 if paper else "learn") for q in questions]
        self._learnt = np.array([s == "learn" for s in self._sigma])
        least, most = _LOG_PRECISIONS
        self._least = np.where(self._learnt, least, -np.inf).astype(np.float32)
        self._most = np.where(self._learnt, most, np.inf).astype(np.float32)
        self._mean_field = paper
        self._far = np.inf if paper else _FAR
        self._square = np.where(sd > 0, (sd / self.scale[:, 0]) ** 2, 1.0)
        """The mean of x^2: 1, unless the numbers are too near each other to be told apart by their spread."""
        bounds = np.array([[-np.inf, np.inf] if paper else [q.least_number, q.most_number] for q in questions])
        low, high = ((bounds - self.location) / self.scale).T[:, :, None]
        none = np.zeros((len(questions), 3, 0))
        at, _, self.heights = np.moveaxis(none if paper or not len(summary.steps) else summary.steps, 1, 0)
        self.steps: NDArray[np.float64] = np.where(at < NEVER, (at - self.location) / self.scale, np.inf)
        """Where the steps are, (questions, steps); infinite where a question has fewer."""
        self.edges = np.concatenate([low, np.clip(self.steps, low, high), high], axis=1)
        """The ends of the pieces, (questions, pieces + 1)."""
        # in model files of format 3 steps that a question does not have are high, too, and say that it is answered
        self._there = np.insert((at < NEVER) | (self.heights > 0), 0, True, axis=1)
        """Which features a question has, of x and as many steps as the question with the most has."""
        self._starts = np.concatenate([[0], np.cumsum(self._there.sum(axis=1))])
        self.feature_start, self.n_features = self._starts[:-1], int(self._starts[-1])

    @property
    def squares(self) -> Index:
        return np.stack([self.feature_start, np.arange(len(self.questions))], axis=1)

    @property
    def for_hidden_units(self) -> NDArray[np.bool_]:
        steps = np.ones(self.n_features, bool)
        steps[self.feature_start] = False
        return steps

    def features_of(self, version: int) -> Index:
        """Up to format 2 no number has steps, and up to format 4 all have features as if for the most."""
        if version < 3:
            return self.feature_start
        if version < 5:
            return np.where(self._there.ravel(), np.cumsum(self._there) - 1, -1)
        return super().features_of(version)

    def effects(self, W: Array) -> Array:
        """What one standard deviation more adds, steps included: the slope of a line, where numbers are normal."""
        slope = self.heights * np.exp(-0.5 * self.steps**2) / np.sqrt(2 * np.pi)  # 0 of one that is infinitely far
        effect: Array = np.add.reduceat(self._of_each(1.0, slope)[:, None] * W, self.feature_start, axis=0)
        return effect

    def _of_each(self, of_x: float, of_steps: Array) -> Array:
        """What each feature has, from what x has and, (questions, steps), the steps."""
        each: Array = np.insert(of_steps, 0, of_x, axis=1)[self._there]
        return each

    def start(self, summary: Summary) -> tuple[Array, Array]:
        base = np.array([0.0 if s == "learn" else -2 * np.log(s) for s in self._sigma])
        U = np.zeros(self.n_features)
        if len(U) > len(base) or np.isfinite(self.edges).any():  # else the standard Gaussian is the best
            above = summary.steps[:, 1] if len(U) > len(base) else np.zeros_like(self.heights)
            wanted = self._of_each(0.0, self.heights * (above - 0.5))
            first = np.concatenate([U, base])
            # answers piled up at a bound would go further; a fixed sigma stays where it is
            within = [(-30.0, 30.0)] * len(U)
            within += [(-6.0, 8.0) if s == "learn" else (b, b) for s, b in zip(self._sigma, base, strict=True)]
            best = optimize.minimize(self._marginal_loss, first, (wanted,), "L-BFGS-B", True, bounds=within).x
            U, base = best[: len(U)], best[len(U) :]
        # what never varies is known from the start: sigma could fall for long, and that would be all the loss heard of
        return U, np.where(self._constant & self._learnt, _LOG_PRECISIONS[1], base)

    def _marginal_loss(self, parameters: Array, wanted: Array) -> tuple[float, Array]:
        """Minus the log-likelihood of numbers whose features have the mean `wanted`, by their squares too."""
        U, base = parameters[: self.n_features], parameters[self.n_features :]
        theta, one = self.natural(base), np.zeros((len(base), 1))
        x, t, log_z = np.empty((len(U), 1)), one.copy(), one.copy()
        codes = np.zeros((0, 1), np.int16)
        self.mean(U[:, None], theta, codes, one, x, t)
        self.log_partition(U[:, None], theta, codes, one, log_z)
        slope = np.concatenate([x[:, 0] - wanted, (t[:, 0] - self._square) * self.natural_slope(base)])
        return float(log_z.sum() - theta @ self._square - U @ wanted), slope

    def natural(self, base: Array) -> Array:
        return -0.5 * np.exp(np.minimum(np.maximum(base, self._least), self._most))

    def natural_slope(self, base: Array) -> Array:
        free = self._learnt & (self._least <= base) & (base <= self._most)
        slope: Array = free * self.natural(base)
        return slope

    def features(self, codes: Codes, numbers: Array, x: Array) -> None:
        pieces.features(numbers, self.location, self.scale, self._far, self._starts, self.steps, self.heights, x)

    def base_statistics(self, codes: Codes, x: Array, t: Array) -> None:
        np.square(x[self.feature_start], out=t)

    def sample(self, z: Array, theta: Array, u: Array, codes: Codes, numbers: Array) -> None:
        low, high, left = np.empty((3, *u.shape))
        pieces.choose(z, theta.astype(np.float64), self._starts, self.edges, self.heights, u, low, high, left)
        variance = -0.5 / theta.astype(np.float64)[:, None]
        x = variance * z[self.feature_start] + np.sqrt(variance) * draw_between(low, high, left)
        numbers[:] = x * self.scale + self.location

    def mean(self, z: Array, theta: Array, codes: Codes, numbers: Array, x: Array, t: Array) -> None:
        there = ~np.isnan(numbers)
        pieces.moments(z, theta.astype(np.float64), self._starts, self.edges, self.heights, there, x, t)

    def log_partition(self, z: Array, theta: Array, codes: Codes, numbers: Array, out: Array) -> None:
        there = ~np.isnan(numbers)
        pieces.log_partition(z, theta.astype(np.float64), self._starts, self.edges, self.heights, there, out)

    def outlook(
        self, P: Array, U: Array, W: Array, theta: Array, wanted: NDArray[np.bool_], share: float = 1.0
    ) -> Array:
        """Grids of the pieces, (questions, people, pieces, HEAD + points), in standard deviations.

        The paper's is the mean-field Gaussian.
        """
        if self._mean_field:
            P, U, W = P[:0], U + share * W @ P, W[:, :0]
        height = self._of_each(1.0, self.heights)[:, None]
        W, bias = height * W, np.broadcast_to(height * U, (len(U), P.shape[1]))
        P, W, bias, theta = (np.ascontiguousarray(a, np.float64) for a in (P, W, bias, theta))
        grids: Array = densities(P, W, share, bias, theta, self._starts, self.edges, wanted)
        return grids

    def listed(self, cells: Index, U: Array, W: Array, theta: Array) -> Listed:
        U, W = U.astype(np.float64), W.astype(np.float64)
        features = [np.arange(self._starts[i], self._starts[i + 1]) for i in cells]
        grids = [self._grid(i, U[own], W[own], -0.5 / float(theta[i])) for i, own in zip(cells, features, strict=True)]
        sizes = np.array([len(log_measure) for _, log_measure in grids])
        X, T = linalg.block_diag(*(x for x, _ in grids)), linalg.block_diag(*(x[0] ** 2 for x, _ in grids))
        log_measure = np.concatenate([log_measure for _, log_measure in grids])
        return Listed(np.concatenate(features), cells, X, T, log_measure, sizes)

    def _grid(self, i: int, U: Array, W: Array, variance: float) -> tuple[Array, Array]:
        """Points over all that any state of the hidden layer makes likely for anyone: their features, and their weight.

        In each piece they are those of Gauss and Legendre, about four for each sigma.
        """
        sd = np.sqrt(variance)
        places, heights = self.steps[i, : len(U) - 1], self.heights[i, : len(U) - 1]
        # of one piece over another, at most
        lift = heights @ (np.abs(U[1:]).max(axis=1) + np.abs(W[1:]).sum(axis=1))
        reach = sd * np.sqrt(49 + 2 * lift)
        first, *_, last = self.edges[i]
        low = variance * (U[0].min() + np.minimum(W[0], 0).sum()) - reach
        high = variance * (U[0].max() + np.maximum(W[0], 0).sum()) + reach
        # as far into the question, where all that is likely lies beyond a bound
        low, high = max(min(low, last - reach), first), min(max(high, first + reach), last)
        ends = np.unique(np.clip(self.edges[i], low, high))
        points, weights = [], []
        for left, right in itertools.pairwise(ends):
            n = int(np.clip(4 * (right - left) / sd, _LEAST_POINTS, _MOST_POINTS))
            place, weight = gauss_legendre(n)
            points.append(left + (right - left) * (place + 1) / 2)
            weights.append(weight * (right - left) / 2)
        x = np.concatenate(points)
        steps = heights[:, None] * np.where(x > places[:, None], 0.5, -0.5)
        return np.concatenate([x[None], steps]), np.log(np.concatenate(weights))

    def certainty(self, outlook: Array, codes: Codes) -> Array:
        _, sd = moments_of(outlook)
        return sd * self.scale

    def chances(self, q: int, outlook: Array) -> tuple[list[object], Array]:
        """The mean, the standard deviation and quantiles."""
        mean, sd = moments_of(outlook[q])
        found = np.array([mean, sd, *(quantile(outlook[q], share) for share in QUANTILES)]) * self.scale[q]
        found[[0, *range(2, len(found))]] += self.location[q]
        question = self._own[q]
        within = np.clip(found[2:], question.least_number, question.most_number)
        return ["mean", "sd", *(f"{share:.0%}" for share in QUANTILES)], np.concatenate([found[:2], within])

    def log_prob(self, outlook: Array, codes: Codes, numbers: Array) -> Array:
        """The log of the density of each number, in the person's own units."""
        v = np.clip((numbers - self.location) / self.scale, -self._far, self._far)
        out = np.zeros(numbers.shape)
        for q in range(len(numbers)):
            rows = np.flatnonzero(~np.isnan(numbers[q]))
            piece = (v[q, rows, None] > self.steps[q]).sum(axis=1)
            grids = outlook[q, rows, piece]
            low, step, *_, log_share = grids[:, :HEAD].T
            log_density = log_density_at(grids, (v[q, rows] - low) / step)
            out[q, rows] = log_density + log_share - np.log(step * self.scale[q, 0])
        return out

    def log_unit(self, numbers: Array) -> NDArray[np.float64]:
        result: NDArray[np.float64] = -(np.log(self.scale) * ~np.isnan(numbers)).sum(axis=0)
        return result

    def settle(self, outlook: Array, codes: Codes, numbers: Array) -> None:
        """The mean, rounded and kept within the bounds if the question says so."""
        self._answer(moments_of(outlook)[0], numbers)

    def _answer(self, mean: Array, numbers: Array) -> None:
        numbers[:] = mean * self.scale + self.location
        for q, question in enumerate(self._own):
            if question.integer:
                numbers[q] = np.rint(numbers[q])
            numbers[q] = np.clip(numbers[q], question.least_number, question.most_number)

    def decide(self, z: Array, theta: Array, codes: Codes, numbers: Array) -> None:
        x, t = np.empty_like(z), np.empty_like(z[self.feature_start])
        self.mean(z, theta, codes, np.zeros_like(t), x, t)
        self._answer(x[self.feature_start], numbers)

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
