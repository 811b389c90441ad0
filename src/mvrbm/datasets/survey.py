"""A small made-up survey of every kind of question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mvrbm.schema import Schema
from mvrbm.units import Binary, Categorical, Continuous, Count, Multicategorical, Ordinal, Question, Ranking

if TYPE_CHECKING:
    import pandas as pd

Cells = NDArray[Any]

# Scales as surveys have them: mostly 4 or 5 levels, now and then any number from 3 to 11.
LEVELS = (5, 4, 3, 5, 4, 7, 5, 4, 11, 5, 4, 6, 5, 4, 10, 5, 4, 8, 5, 4, 9)
WORDS = {
    3: ["less", "the same", "more"],
    4: ["not at all", "not very", "fairly", "very"],
    5: ["strongly disagree", "disagree", "neither", "agree", "strongly agree"],
}
RANKED_ITEMS = ["price", "quality", "service", "style", "trust"]


def make_survey(
    n_rows: int = 2000,
    *,
    binary: int = 6,
    categorical: int = 3,
    multicategorical: int = 2,
    continuous: int = 2,
    ordinal: int = 8,
    ranking: int = 1,
    count: int = 0,
    missing: float = 0.2,
    n_traits: int = 6,
    largest_categorical: int = 44,
    random_state: int | np.random.Generator | None = 0,
) -> tuple[pd.DataFrame, Schema]:
    """Make up a survey: a table with the paper's six kinds of questions (and counts, if asked for), and its schema.

    Each person has `n_traits` latent traits. Binary, multicategorical and ordinal answers come from thresholds on
    noisy sums of the traits, categorical answers and rankings from random utilities, counts from rates that rise with
    sums of the traits, so the data follow no Boltzmann machine. Each answer is blank with probability `missing`,
    whatever it would have been.

    >>> frame, schema = make_survey(100)
    >>> len(frame), len(schema)
    (100, 22)
    """
    import pandas as pd

    if n_rows < 1 or n_traits < 1 or not 0 <= missing <= 1:
        raise ValueError(
            f"n_rows and n_traits must be at least 1 and missing from 0 to 1, not {(n_rows, n_traits, missing)}"
        )
    people = _People(n_rows, n_traits, missing, np.random.default_rng(random_state))
    made = [
        *(_binary(people, f"binary_{i}") for i in range(1, binary + 1)),
        *(_categorical(people, f"categorical_{i}", i, largest_categorical) for i in range(1, categorical + 1)),
        *(_multicategorical(people, f"multicategorical_{i}", 8 + i % 4) for i in range(1, multicategorical + 1)),
        *(_continuous(people, f"continuous_{i}", i) for i in range(1, continuous + 1)),
        *(_ordinal(people, f"ordinal_{i}", LEVELS[(i - 1) % len(LEVELS)]) for i in range(1, ordinal + 1)),
        *(_ranking(people, f"ranking_{i}", i) for i in range(1, ranking + 1)),
        *(_count(people, f"count_{i}", i) for i in range(1, count + 1)),
    ]
    columns = {column: array for _, arrays in made for column, array in arrays.items()}
    return pd.DataFrame(columns, index=range(n_rows)), Schema([question for question, _ in made])


Made = tuple[Question, dict[str, Cells]]


class _People:
    """People with latent traits who answer at random around them."""

    def __init__(self, n_rows: int, n_traits: int, missing: float, random: np.random.Generator) -> None:
        self.traits = random.standard_normal((n_rows, n_traits))
        self.missing = missing
        self.random = random

    def utilities(self, n: int, noise: str = "logistic") -> Cells:
        """Draw what each of n options is worth to each person."""
        # A question depends on some of the traits more than on others, as questions do.
        loads = self.random.gamma(0.5, 1.0, self.traits.shape[1]) / np.sqrt(self.traits.shape[1])
        loads = 2 * loads[:, None] * self.random.standard_normal((self.traits.shape[1], n))
        shape = (len(self.traits), n)
        worth: Cells = self.traits @ loads
        return worth if noise == "none" else worth + getattr(self.random, noise)(size=shape)

    def blank(self) -> NDArray[np.bool_]:
        """Draw who leaves a question blank."""
        return self.random.random(len(self.traits)) < self.missing

    def labels(self, codes: Cells, values: list[str], blank: NDArray[np.bool_]) -> Cells:
        """Write the answers as their labels."""
        answers: Cells = np.array([*values, None], dtype=object)[np.where(blank, -1, codes)]
        return answers


def _binary(people: _People, name: str) -> Made:
    values = ["no", "yes"]
    codes = (people.utilities(1)[:, 0] > people.random.normal()).astype(int)
    return Binary(name, values=values), {name: people.labels(codes, values, people.blank())}


def _categorical(people: _People, name: str, number: int, largest: int) -> Made:
    n = largest if number == 1 else 3 + (number - 2) % 6
    values = [f"group {i:02d}" for i in range(1, n + 1)]
    codes = (people.utilities(n, "gumbel") + people.random.normal(size=n)).argmax(axis=1)
    return Categorical(name, values=values), {name: people.labels(codes, values, people.blank())}


def _multicategorical(people: _People, name: str, n: int) -> Made:
    columns = {f"option {i}": f"{name}_{i}" for i in range(1, n + 1)}
    ticked = (people.utilities(n) > people.random.normal(1.0, 1.0, n)).astype(float)
    ticked[people.blank()] = np.nan
    return Multicategorical(name, columns=columns), dict(zip(columns.values(), ticked.T, strict=True))


def _continuous(people: _People, name: str, number: int) -> Made:
    """Make an age in whole years (odd numbers) or an income with a long tail (even numbers)."""
    latent = people.utilities(1)[:, 0]
    blank = people.blank()
    if number % 2:
        age = np.clip(np.rint(48 + 10 * latent), 18, 99)
        return Continuous(name, low=18, high=99, integer=True), {name: np.where(blank, np.nan, age)}
    return Continuous(name, low=0), {name: np.where(blank, np.nan, np.round(np.exp(7.5 + 0.25 * latent), 2))}


def _ordinal(people: _People, name: str, n: int) -> Made:
    values = WORDS.get(n) or [f"level {i:02d}" for i in range(1, n + 1)]
    # Thresholds at uneven shares, so that marginals peak anywhere, in the middle too.
    shares = np.cumsum(people.random.dirichlet(np.full(n, 4.0)))[:-1]
    utility = people.utilities(1)[:, 0]
    codes = np.searchsorted(np.quantile(utility, shares), utility)
    return Ordinal(name, values=values), {name: people.labels(codes, list(values), people.blank())}


def _ranking(people: _People, name: str, number: int) -> Made:
    """Make ranks with ties (odd numbers) or the two greatest (even numbers) of five items."""
    worth = people.utilities(len(RANKED_ITEMS), "gumbel")
    blank = people.blank()
    if number % 2:
        worth = np.round(worth)  # people do not tell near-equal items apart: these tie
        ranks = 1.0 + (worth[:, :, None] < worth[:, None, :]).sum(axis=2)
        ranks[blank] = np.nan
        columns = {item: f"{name}_{item}" for item in RANKED_ITEMS}
        return Ranking(name, ranks=columns), dict(zip(columns.values(), ranks.T, strict=True))
    best = np.argsort(-worth, axis=1)[:, :2]
    choices = [f"{name}_first", f"{name}_second"]
    chosen = {column: people.labels(best[:, i], RANKED_ITEMS, blank) for i, column in enumerate(choices)}
    return Ranking(name, choices=choices, values=RANKED_ITEMS), chosen


def _count(people: _People, name: str, number: int) -> Made:
    """Make a few of something (odd numbers), or dozens that spread wider than Poisson's (even numbers)."""
    rate = np.exp(0.5 * np.clip(people.utilities(1, "none")[:, 0], -3, 3))
    rate *= 2 if number % 2 else 20 * people.random.gamma(4, 1 / 4, len(rate))
    high = 20 if number % 2 else 300
    counts = np.minimum(people.random.poisson(rate), high)
    return Count(name, high=high), {name: np.where(people.blank(), np.nan, counts)}
