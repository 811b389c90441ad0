"""What a type must know about its answers, for the machine to model them: the contract of `units/`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from mvrbm.arrays import State, Stored
from mvrbm.kernels.random import Stream
from mvrbm.summary import Summary

if TYPE_CHECKING:
    from mvrbm.units.question import Question

Array = NDArray[np.floating]
Codes = NDArray[np.int16]
Index = NDArray[np.int64]
Scored = NDArray[np.integer]
"""Codes to be scored, -1 where there is none; the metrics read them from anywhere, so of any width."""


_TEMPERS = (0.3, 1.5)
_OFF = 0.05
"""How far the logarithm of a temper is expected to be from 0, as a standard deviation."""


@dataclass(frozen=True)
class Listed:
    """What some codes or numbers of a block may be, each by itself: its levels, or the points of a grid."""

    features: Index
    """The features of the block that they act through."""
    base: Index
    """The base statistics of the block that they act through."""
    X: Array
    """The features of each level, (features, levels)."""
    T: Array
    """The base statistics of each level, (base, levels)."""
    log_measure: Array
    """The log of what each level counts for in a sum: 0, or the width of a step of the grid."""
    sizes: Index
    """The levels of each code or number."""

    @property
    def unit(self) -> Index:
        """The code or number that each level is of, by its place among these."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def start(self) -> Index:
        """The first level of each."""
        return np.cumsum(self.sizes) - self.sizes


class Block(ABC):
    """All the questions of one type, side by side.

    In the machine's one form (docs/design-notes.md) an answer v has features x(v), base statistics t(v) and the
    unnormalised log-probability `theta·t(v) + z·x(v)` given its inputs z = U + W h. A block computes these
    for a chunk of people at once: every array has people in columns, `codes` is -1 and `numbers` NaN where
    there is no answer, and what is blank has no feature, no statistic and no share in the partition function.

    To add a type, write a `Question` (the table's side) and a `Block` (the model's side) in one file of this
    folder and add it to the list in `__init__`: docs/adding-a-type.md goes through it.
    """

    questions: Sequence[Question]
    n_codes: int = 0
    n_numbers: int = 0
    n_features: int
    n_base: int = 0
    gathers: bool = False
    """Whether so few of the features are not 0 that adding up their rows of W beats a matrix product."""
    links_itself: bool = True
    """Whether two of the block's questions may be linked directly, or one with a question that has `squares`."""
    n_draws: int
    """Uniform random numbers that one draw of all the questions takes."""
    feature_start: Index
    """Where the features of each question start; they are consecutive."""
    base_question: Index
    """The question that each base statistic belongs to."""
    learnt: ClassVar[tuple[str, ...]] = ()
    """The names of the arrays that the block learns from data beside its parameters, for files."""
    later: ClassVar[tuple[str, ...]] = ("temper",)
    """As `learnt`, but first files lack them: they are 1 unless they were learnt."""
    temper: Array = np.ones(1)
    """What the inputs of the block's questions are multiplied by in predictions, that these be as sure as they may."""

    def __init__(self, questions: Sequence[Question], summary: Summary, paper: bool) -> None:
        """Take the questions, what the data says of their columns, and whether to follow the paper to the letter."""
        self.questions = questions
        self.base_question = np.zeros(0, np.int64)

    @property
    def n_questions(self) -> int:
        """The number of questions in the block."""
        return len(self.questions)

    @property
    def places_on_scales(self) -> Array:
        """Where the level of each feature stands on the scale of its question, from -1 to 1; NaN if it is on none."""
        return np.full(self.n_features, np.nan)

    @property
    def squares(self) -> Index:
        """The features whose squares are base statistics, each with its statistic's place: (number of them, 2).

        Such a feature may have no end, so its links with others of the kind must be weaker than the squares, or Z may
        be infinite (`RBM.keep_finite`).
        """
        return np.zeros((0, 2), np.int64)

    @property
    def for_hidden_units(self) -> NDArray[np.bool_]:
        """The features that hidden units alone see: no link joins them."""
        return np.zeros(self.n_features, bool)

    def features_of(self, version: int) -> Index:
        """Where among the block's features each is that a model file of some format has; -1 where it is no more."""
        return np.arange(self.n_features)

    def effects(self, W: Array) -> Array:
        """What the features that are not for hidden units alone add to the inputs of the hidden units, (them, hidden).

        Where an answer has others that go with them, it is their effect together.
        """
        return W[~self.for_hidden_units]

    def state(self) -> State:
        """What the block learnt from data beside its parameters."""
        found = {name: getattr(self, name) for name in (*self.learnt, *self.later)}
        return {name: array for name, array in found.items() if name in self.learnt or (array != 1).any()}

    def restore(self, stored: Stored) -> None:
        """Take over what another block of the same questions learnt."""
        for name in (*self.learnt, *(name for name in self.later if name in stored)):
            own = getattr(self, name)
            setattr(self, name, stored.take(name, own.shape, own.dtype.type))
            if name in self.later and not (getattr(self, name) > 0).all():
                raise ValueError(f"its {name} is not above 0")

    @abstractmethod
    def start(self, summary: Summary) -> tuple[Array, Array]:
        """The biases U, and the base parameters, at which the machine without hidden units fits the marginals."""

    @abstractmethod
    def features(self, codes: Codes, numbers: Array, x: Array) -> None:
        """Write x(v)."""

    def add_inputs(self, codes: Codes, W: Array, a: Array) -> None:
        """Add x(v)^T W, (hidden, people), to a without going through x; only where `gathers` says so."""
        raise TypeError(f"{type(self).__name__} does not gather")

    @abstractmethod
    def sample(self, z: Array, theta: Array, u: Array, codes: Codes, numbers: Array) -> None:
        """Write answers drawn given the inputs z, using the uniform numbers u."""

    def sample_legal(self, z: Array, theta: Array, stream: Stream, codes: Codes, numbers: Array) -> None:
        """Write answers that a person can give, drawn given the inputs z and what `codes` and `numbers` already say.

        By default those of `sample`, where nothing is known.
        """
        drawn = np.empty_like(codes), np.empty_like(numbers)
        self.sample(z, theta, stream.uniform(self.n_draws), *drawn)
        codes[:] = np.where(codes < 0, drawn[0], codes)
        numbers[:] = np.where(np.isnan(numbers), drawn[1], numbers)

    def sample_alone(self, z: Array, theta: Array, stream: Stream, codes: Codes, numbers: Array) -> None:
        """As `sample_legal`, but so that each code comes as often as its own inputs say, if what is legal allows it."""
        self.sample_legal(z, theta, stream, codes, numbers)

    def as_in(self, block: Block, q: int) -> None:
        """Take over what a block learnt of its question q, which is this block's only one, for draws."""
        self.temper = block.temper

    @abstractmethod
    def mean(self, z: Array, theta: Array, codes: Codes, numbers: Array, x: Array, t: Array) -> None:
        """Write the expectations of x and t given z, of what is answered."""

    @abstractmethod
    def log_partition(self, z: Array, theta: Array, codes: Codes, numbers: Array, out: Array) -> None:
        """Write, for each question, log of the sum over its answers v of exp(theta·t(v) + z·x(v))."""

    @abstractmethod
    def decide(self, z: Array, theta: Array, codes: Codes, numbers: Array) -> None:
        """Write the one answer to each question that loses least by the type's own error, given z."""

    @abstractmethod
    def outlook(
        self, P: Array, U: Array, W: Array, theta: Array, wanted: NDArray[np.bool_], share: float = 1.0
    ) -> Array:
        """What the answers may be given others, the hidden units summed out (paper section 3.2); in the block's terms.

        P is P(h = 1 | other answers), (hidden, people); U are the biases, of each person or, in one column, of all;
        `wanted` says whether each code or number of each person is asked for, and `share` what each hidden unit counts,
        below 1 in the mean of several machines. Without hidden units it is the mean-field distribution of the inputs U.
        """

    @abstractmethod
    def settle(self, outlook: Array, codes: Codes, numbers: Array) -> None:
        """Write the answers that lose least by the type's own error, given an outlook; `codes` holds what is known."""

    @abstractmethod
    def certainty(self, outlook: Array, codes: Codes) -> Array:
        """How sure each code or number is: the probability of the code, or the number's standard deviation."""

    @abstractmethod
    def chances(self, q: int, outlook: Array) -> tuple[list[object], Array]:
        """What question q may be answered and the probability of each, (answers, people); of a number, its moments."""

    @abstractmethod
    def log_prob(self, outlook: Array, codes: Codes, numbers: Array) -> Array:
        """log P of each code or number that is there, given an outlook; 0 where there is none."""

    @abstractmethod
    def listed(self, cells: Index, U: Array, W: Array, theta: Array) -> Listed:
        """What some of the codes or numbers may be; a grid's points depend on the parameters, which are the block's.

        U are the biases of each person, (features, people).
        """

    @abstractmethod
    def errors(
        self, codes: Codes, numbers: Array, true_codes: Codes, true_numbers: Array, weights: Array
    ) -> NDArray[np.float64]:
        """Additive parts of the type's error, (questions, parts), over the answers that are there in truth.

        The last part is their weight. A blank guess is wrong.
        """

    @staticmethod
    def error(parts: NDArray[np.float64]) -> float:
        """The type's error from the sum of its parts: by default the first over the second."""
        return float(parts[0] / parts[1])

    def log_unit(self, numbers: Array) -> NDArray[np.float64]:
        """The log of the density of each person's numbers by that of their features, summed over what is answered."""
        return np.zeros(numbers.shape[1])

    def cool(self, outlook: Array, codes: Codes, weights: Array) -> None:
        """Learn the temper from answers that were hidden and are known: that at which they are most probable.

        It is held near 1: a few answers say little, and what follows (a refit, other machines) takes some of what
        makes a machine too sure. People of whom some weigh much more than others say as little as fewer people do.
        """
        weights = np.where((codes >= 0).any(axis=0), weights, 0.0)
        if not weights.any():  # numbers have no codes
            return
        weights = weights / weights.max()  # whatever their unit, their squares are numbers
        own = weights * (weights.sum() / (weights @ weights))

        def loss(log_temper: float) -> float:
            cooled = outlook * outlook.dtype.type(np.exp(log_temper))
            log_p = self.log_prob(cooled, codes, np.zeros((0, codes.shape[1])))
            return (log_temper / _OFF) ** 2 / 2 - float(log_p.sum(axis=0, dtype=np.float64) @ own)

        found = optimize.minimize_scalar(loss, bounds=np.log(_TEMPERS), options={"xatol": 1e-3})
        self.temper = np.exp([found.x])

    def tune(self, outlook: Array, codes: Codes, weights: Array) -> None:  # noqa: B027
        """Learn how to settle an outlook from answers that were hidden and are known; most types need not."""

    def base_statistics(self, codes: Codes, x: Array, t: Array) -> None:  # noqa: B027
        """Write t(v), given the codes and the features; a type without base parameters has none."""

    def natural(self, base: Array) -> Array:
        """theta from the parameters that are learnt."""
        return base

    def natural_slope(self, base: Array) -> Array:
        """The derivative of theta by the parameters that are learnt; 0 where one is fixed."""
        return np.zeros_like(base)


def wrong_and_answered(codes: Scored, true_codes: Scored, weights: Array) -> NDArray[np.float64]:
    """For each code column, the weight of the answers that are wrong and of all that there are."""
    answered = true_codes >= 0
    return np.stack([(answered & (codes != true_codes)) @ weights, answered @ weights], axis=1)
