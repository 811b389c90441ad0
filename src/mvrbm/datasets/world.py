"""A made survey in the shape of the paper's own, and the best guess of each answer to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import Answers
from mvrbm.datasets.questionnaire import N_TRAITS, ROOTS, Item, asked_where, features_of, make_items, trait_means
from mvrbm.datasets.responses import Array, Drawn, Listed, Options
from mvrbm.encoding import code_type, decode
from mvrbm.schema import Schema
from mvrbm.units.choices import best_cut

if TYPE_CHECKING:
    import pandas as pd

PAPER_ROWS = 38_263


def make_world_survey(n: int = PAPER_ROWS, random_state: int = 0) -> tuple[pd.DataFrame, Schema]:
    """Make up a survey in the shape of the paper's (section 4.1): a table with 188 questions, and its schema.

    43 questions are binary, 12 categorical (one of them `country`, with 44 values in seven regions), 3 multicategorical
    (`problems` has 11 options), 125 ordinal (`ladder` has 11 levels), 2 rankings (`dangers`: the two greatest of five,
    the rest tied) and 3 continuous (`age` among them).

    Nothing here is a Boltzmann machine. A person has a country, an age, a sex and an education; these shift the
    means of twelve traits and of a style, to agree with whatever is asked; a question depends on a few of the traits,
    now and then on the square or the product of some, sometimes directly on who the person is or on the answer to
    another question. Scales and options come from thresholds on noisy utilities, choices and rankings from random
    utilities. Some questions are not asked in some countries; others are left out at random, by some people
    more than by others.

    `best_guesses` with the same `n` and `random_state` tells what the best possible guess of each answer is.

    >>> frame, schema = make_world_survey(100)
    >>> len(frame), len(schema)
    (100, 188)
    """
    import pandas as pd

    world = _World(n, random_state)
    schema = Schema([item.question for item in world.items])
    return pd.DataFrame(decode(world.answers(), schema), index=range(n)), schema


def best_guesses(n: int = PAPER_ROWS, random_state: int = 0, questions: Iterable[str] | None = None) -> Answers:
    """The best guess of every answer to the survey that `make_world_survey` makes, in the order of its schema.

    The guess of an answer is the one of who knows how the survey was made, the person's true traits, and what the
    person says (or would have said) to every other question; of `country` also which questions were left blank. It
    loses least on average by the error of its type among all guesses that this knowledge allows. A model sees only
    answers, so no model's error is lower, but for chance: the errors of these guesses, by `mvrbm.metrics`, are a
    bound. It is a bound on guesses of answers that the model does not see, thus not on reconstruction, and how near a
    model could come to it is not known, as answers never tell the traits exactly. Rankings are guessed without ties,
    as models do.

    `questions` restricts it to some, the others stay blank. For choose-any questions the guess makes F1 largest over
    all of those asked for together.
    """
    world = _World(n, random_state)
    names = [item.question.name for item in world.items]
    wanted = names if questions is None else list(questions)
    for name in wanted:
        if name not in names:
            raise ValueError(f"no question of the world survey is named {name!r}; there are {', '.join(names)}")
    return world.guesses(wanted)


class _World:
    """People, their traits and their true answers to every question."""

    def __init__(self, n: int, random_state: int) -> None:
        if not isinstance(n, (int, np.integer)) or n < 1:
            raise ValueError(f"n must be a whole number, 1 or more, not {n!r}")
        random = np.random.default_rng(random_state)
        self.items = make_items(random)
        self.means = trait_means(random)
        self.asked = asked_where(self.items, random)
        self.true: dict[str, Drawn] = {}
        self.eta: dict[str, Array] = {}
        self._answer(self.items[: len(ROOTS)], np.zeros((n, 0)), random)
        self._residual = random.standard_normal((n, N_TRAITS))
        means = np.sum([self.means[root][self.true[root]] for root in ROOTS], axis=0)
        self._answer(self.items[len(ROOTS) :], features_of(means + self._residual), random)
        careless = random.gamma(3.0, 1 / 3, (n, 1))
        self.left_out = np.minimum(careless * [item.left_out for item in self.items], 0.7)
        self.blank = (random.random(self.left_out.shape) < self.left_out) | (self.asked[self.true["country"]] == 0)

    def _answer(self, items: list[Item], features: Array, random: np.random.Generator) -> None:
        """Draw the answers to some questions; `eta` is what they are worth before their noise."""
        for item in items:
            eta = features @ (np.zeros((0, item.response.width)) if item.loadings is None else item.loadings)
            for other, table in item.effects.items():
                eta += table[self.true[other]]
            self.eta[item.question.name] = eta
            self.true[item.question.name] = item.response.draw(eta, random)

    def answers(self) -> Answers:
        """What the table holds: the true answers but for the blanks."""
        return self._packed(self.true, self.blank)

    def guesses(self, names: list[str]) -> Answers:
        """The best guesses of some questions; the others are blank."""
        n = len(self.blank)
        wanted = {item.question.name: item for item in self.items if item.question.name in names}
        options = {name: item.response for name, item in wanted.items() if isinstance(item.response, Options)}
        if options:
            chances = [response.chances(self.eta[name]) for name, response in options.items()]
            weights = [np.full(p.size, 1 / p.shape[1]) for p in chances]
            cut = best_cut(np.concatenate([p.ravel() for p in chances]), np.concatenate(weights))
            for response in options.values():
                response.cut = cut
        found = {name: item.response.guess(self.eta[name], self._evidence(item)) for name, item in wanted.items()}
        blank = np.repeat([[item.question.name not in found for item in self.items]], n, axis=0)
        return self._packed({**self.true, **found}, blank)

    def _evidence(self, item: Item) -> Array | float:
        """log P(all else that is known | each answer to a question), (people, values), but for a constant."""
        name, response = item.question.name, item.response
        followers = [other for other in self.items if name in other.effects]
        if not isinstance(response, Listed) or not (followers or name in ROOTS):
            return 0.0
        values = range(response.log_probs(np.zeros((1, response.width))).shape[1])
        evidence = np.zeros((len(values), len(self.blank))).T  # one value after the other in memory
        for other in followers:
            table, drawn = other.effects[name], self.true[other.question.name]
            others = self.eta[other.question.name] - table[self.true[name]]
            for value in values:
                evidence[:, value] += other.response.log_likelihood(others + table[value], drawn)
        if name in ROOTS:
            own = self.means[name]
            others = self._residual + own[self.true[name]]
            evidence -= 0.5 * ((own**2).sum(axis=1) - 2 * others @ own.T)
        if name == "country":
            evidence += self._evidence_of_blanks()
        return evidence

    def _evidence_of_blanks(self) -> Array:
        """log P(which answers are blank | each country)."""
        with np.errstate(divide="ignore"):
            log_p = np.where(self.blank, np.log(self.left_out), np.log1p(-self.left_out))
        never = 1e4  # a question that was answered was asked
        log_p = np.maximum(log_p, -never)
        return np.asarray(log_p @ self.asked.T - never * (~self.blank @ (1 - self.asked).T))

    def _packed(self, drawn: dict[str, Drawn], blank: NDArray[np.bool_]) -> Answers:
        codes, numbers = [], []
        for place, item in enumerate(self.items):
            cells, own = item.response.cells(drawn[item.question.name]), blank[:, place, None]
            if item.question.n_codes:
                codes.append(np.where(own, -1, cells))
            else:
                numbers.append(np.where(own, np.nan, cells))
        kind = code_type(Schema([item.question for item in self.items]))
        # casting -1 to an unsigned type gives its largest value: the blank of Answers
        return Answers(np.hstack(codes).astype(kind), np.hstack(numbers).astype(np.float32))
