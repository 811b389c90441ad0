"""How made-up people answer: thresholds and random utilities, and the best guess of who knows their utilities.

`eta` is what each answer is worth to each person, (people, width), before the noise that makes it an answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax

from mvrbm.units.ranking import pair_codes

Array = NDArray[np.float64]
Drawn = NDArray[Any]

LEAST = 1e-12
"""No probability is below this, so that its logarithm is a number."""


class Response(ABC):
    """A way to answer. What is drawn is a code, a row of 0/1, of places, or a number for each person."""

    width = 1
    """How many utilities an answer needs."""

    @abstractmethod
    def draw(self, eta: Array, random: np.random.Generator) -> Drawn:
        """Draw the answers; thresholds are set by the people at hand, so that each answer has its share."""

    @abstractmethod
    def guess(self, eta: Array, evidence: Array | float) -> Drawn:
        """The guess that loses least on average; evidence is log P(what else is known | each value)."""

    def log_likelihood(self, eta: Array, drawn: Drawn) -> Array:
        """log P(answer | eta) of each person, but for what does not depend on eta."""
        raise NotImplementedError(f"nothing is told directly by a {type(self).__name__}")

    def cells(self, drawn: Drawn) -> Drawn:
        """The answers as the question's codes or numbers."""
        return drawn[:, None]


class Listed(Response):
    """An answer among a few that are listed, each with its probability."""

    @abstractmethod
    def log_probs(self, eta: Array) -> Array:
        """log P of each value, (people, values)."""

    def log_likelihood(self, eta: Array, drawn: Drawn) -> Array:
        return np.take_along_axis(self.log_probs(eta), drawn[:, None], axis=1)[:, 0]

    def guess(self, eta: Array, evidence: Array | float) -> Drawn:
        """Decide by the probabilities given all that is known."""
        return self.decide(np.exp(log_softmax(self.log_probs(eta) + evidence, axis=1)))

    def decide(self, p: Array) -> Drawn:
        """The most probable value."""
        return np.asarray(p.argmax(axis=1))


class Scale(Listed):
    """Levels of a scale: between which thresholds a utility with logistic noise falls."""

    def __init__(self, shares: Array) -> None:
        self.shares = shares
        self.thresholds = np.zeros(0)

    def draw(self, eta: Array, random: np.random.Generator) -> Drawn:
        utility = eta[:, 0] + random.logistic(size=len(eta))
        self.thresholds = np.quantile(utility, np.cumsum(self.shares)[:-1])
        return np.searchsorted(self.thresholds, utility)

    def log_probs(self, eta: Array) -> Array:
        below = expit(self.thresholds - eta)
        edges = np.zeros((len(eta), 1))
        return np.log(np.maximum(np.diff(np.hstack([edges, below, edges + 1]), axis=1), LEAST))

    def log_likelihood(self, eta: Array, drawn: Drawn) -> Array:
        """As all levels' would have it, at the cost of the two thresholds beside the one drawn."""
        edges = np.concatenate([[-np.inf], self.thresholds, [np.inf]])
        between = expit(edges[drawn + 1] - eta[:, 0]) - expit(edges[drawn] - eta[:, 0])
        return np.asarray(np.log(np.maximum(between, LEAST)))

    def decide(self, p: Array) -> Drawn:
        """The median, which loses least by the absolute error; of two levels, the more probable."""
        return np.asarray((np.cumsum(p, axis=1) < 0.5).sum(axis=1).clip(max=p.shape[1] - 1))


class Choice(Listed):
    """One of several answers: the one of the largest utility, with Gumbel noise."""

    def __init__(self, bias: Array) -> None:
        self.bias = bias
        self.width = len(bias)

    def draw(self, eta: Array, random: np.random.Generator) -> Drawn:
        return np.asarray((eta + self.bias + random.gumbel(size=eta.shape)).argmax(axis=1))

    def log_probs(self, eta: Array) -> Array:
        worth = eta + self.bias  # a few units, so their exponentials need no care
        return np.asarray(worth - np.log(np.exp(worth).sum(axis=1, keepdims=True)))


class Years(Choice):
    """A whole number, from `first` on, among some that are listed."""

    def __init__(self, bias: Array, first: int) -> None:
        super().__init__(bias)
        self.first = first

    def decide(self, p: Array) -> Drawn:
        """The mean, which loses least by the squared error, as a whole number."""
        return np.rint(p @ np.arange(p.shape[1])).astype(int)

    def cells(self, drawn: Drawn) -> Drawn:
        return (drawn[:, None] + self.first).astype(np.float32)


class Options(Response):
    """Any of several options: each is chosen by itself, if its utility with logistic noise passes a threshold."""

    def __init__(self, shares: Array) -> None:
        self.shares = shares
        self.width = len(shares)
        self.thresholds = np.zeros(0)
        self.cut = 0.5

    def draw(self, eta: Array, random: np.random.Generator) -> Drawn:
        utility = eta + random.logistic(size=eta.shape)
        each = zip(utility.T, 1 - self.shares, strict=True)
        self.thresholds = np.array([np.quantile(column, share) for column, share in each])
        return np.asarray(utility > self.thresholds).astype(int)

    def chances(self, eta: Array) -> Array:
        """P of each option."""
        return np.asarray(expit(eta - self.thresholds))

    def guess(self, eta: Array, evidence: Array | float) -> Drawn:
        """The options whose probability is above `cut`."""
        return (self.chances(eta) > self.cut).astype(int)

    def log_likelihood(self, eta: Array, drawn: Drawn) -> Array:
        return np.asarray(log_expit((2 * drawn - 1) * (eta - self.thresholds)).sum(axis=1))

    def cells(self, drawn: Drawn) -> Drawn:
        return drawn


class Order(Response):
    """Items by their utilities, with Gumbel noise: the `top` ones and the rest tied, or all with near ones tied."""

    def __init__(self, bias: Array, top: int | None = None) -> None:
        self.bias = bias
        self.width = len(bias)
        self.top = top

    def draw(self, eta: Array, random: np.random.Generator) -> Drawn:
        worth = eta + self.bias + random.gumbel(size=eta.shape)
        places = _places(worth if self.top else np.round(worth))
        return places if self.top is None else np.minimum(places, self.top + 1)

    def guess(self, eta: Array, evidence: Array | float) -> Drawn:
        """By the utilities alone: of two items, the one that is worth more is more often put first.

        It is the best order without ties. A guess that two items tie is never counted as wrong; nor is it a guess.
        """
        return _places(eta + self.bias)

    def cells(self, drawn: Drawn) -> Drawn:
        return pair_codes(drawn.astype(float))


def _places(worth: Array) -> Drawn:
    """The place of each item, 1 for the one worth most; items of the same worth have the same place."""
    return np.asarray(1 + (worth[:, :, None] < worth[:, None, :]).sum(axis=2))


class Count(Response):
    """One and a number of others, which has a Poisson distribution."""

    def draw(self, eta: Array, random: np.random.Generator) -> Drawn:
        return np.asarray(1 + random.poisson(np.exp(eta[:, 0])))

    def guess(self, eta: Array, evidence: Array | float) -> Drawn:
        return np.asarray(np.rint(1 + np.exp(eta[:, 0])))

    def log_likelihood(self, eta: Array, drawn: Drawn) -> Array:
        return np.asarray((drawn - 1) * eta[:, 0] - np.exp(eta[:, 0]))

    def cells(self, drawn: Drawn) -> Drawn:
        return drawn[:, None].astype(np.float32)


class Amount(Response):
    """An amount with a long tail: `unit` times the exponential of a utility with Gaussian noise."""

    def __init__(self, unit: float, spread: float) -> None:
        self.unit = unit
        self.spread = spread

    def draw(self, eta: Array, random: np.random.Generator) -> Drawn:
        return np.asarray(self.unit * np.exp(random.normal(eta[:, 0], self.spread)))

    def guess(self, eta: Array, evidence: Array | float) -> Drawn:
        return np.asarray(self.unit * np.exp(eta[:, 0] + self.spread**2 / 2))

    def log_likelihood(self, eta: Array, drawn: Drawn) -> Array:
        return np.asarray(-0.5 * ((np.log(drawn / self.unit) - eta[:, 0]) / self.spread) ** 2)

    def cells(self, drawn: Drawn) -> Drawn:
        return drawn[:, None].astype(np.float32)
