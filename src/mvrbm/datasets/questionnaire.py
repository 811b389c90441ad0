"""The questions of the made world survey: how each depends on traits, on who a person is, and on other questions."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from mvrbm.datasets.responses import Amount, Array, Choice, Count, Options, Order, Response, Scale, Years
from mvrbm.units import Binary, Categorical, Continuous, Multicategorical, Ordinal, Question, Ranking

# Names that claim nothing about any real country; they tell the region.
REGIONS = {"north": 8, "east": 7, "south": 7, "west": 6, "centre": 6, "coast": 5, "islands": 5}
COUNTRIES = [f"{region} {i}" for region, n in REGIONS.items() for i in range(1, n + 1)]
FIRST_AGE, LAST_AGE = 18, 97
AGES = np.arange(FIRST_AGE, LAST_AGE + 1.0)
EDUCATION = ["none", "some primary", "primary", "some secondary", "secondary", "some higher", "higher"]
ROOTS = ["country", "age", "sex", "education"]
"""Who a person is. These shape the traits; `country` comes first, and each may depend on those before it."""

N_TRAITS = 13
STYLE = N_TRAITS - 1
"""The last trait is no opinion but a style: to agree with whatever is asked."""
LEVELS = (4, 5, 4, 3, 5, 4, 7, 4, 5, 4, 6, 5, 4, 10, 5, 3, 4, 8, 5, 4, 9)
"""Scales as surveys have them: mostly 4 or 5 levels, now and then any number from 3 to 10."""
PROBLEMS = ["money", "housing", "health", "children", "work", "relations", "transport", "government", "crime"]
PROBLEMS += ["war", "nothing"]
DANGERS = ["weapons", "hatred", "disease", "pollution", "inequality"]
AIMS = ["order", "a say", "prices", "free speech"]
MARITAL = ["single", "partner", "married", "separated", "widowed"]
WORK = ["student", "employed", "own business", "at home", "unemployed", "retired"]


@dataclass
class Item:
    """A question as it is asked here."""

    question: Question
    response: Response
    loadings: Array | None = None
    """What each feature of the traits adds to each utility, (features, width); None for who a person is."""
    effects: dict[str, Array] = field(default_factory=dict)
    """What each answer to another question adds to each utility, (its values, width): direct dependence."""
    left_out: float = 0.0
    """The share of people who are asked and do not answer."""


def features_of(traits: Array) -> Array:
    """The traits, and what is not linear in them: two that set both ends apart from the middle, and a product."""
    u_shaped = traits[:, :2] ** 2 - 1
    return np.hstack([traits, u_shaped, traits[:, 2:3] * traits[:, 3:4]])


def trait_means(random: np.random.Generator) -> dict[str, Array]:
    """What each value of each of `ROOTS` adds to the mean of each trait, (values, traits)."""
    region = np.repeat(np.arange(len(REGIONS)), list(REGIONS.values()))
    country = random.normal(0, 0.7, (len(REGIONS), N_TRAITS))[region] + random.normal(
        0, 0.5, (len(COUNTRIES), N_TRAITS)
    )
    years = (AGES[:, None] - 45) / 15
    age = years * random.normal(0, 0.25, N_TRAITS) * (random.random(N_TRAITS) < 0.5)
    age[:, 0] = 0.35 * (years[:, 0] ** 2 - 1).clip(max=2)  # content when young and when old
    school = np.linspace(-1, 1, len(EDUCATION))[:, None]
    return {
        "country": country - country.mean(axis=0),
        "age": age,
        "sex": np.array([[-0.5], [0.5]]) * random.normal(0, 0.2, N_TRAITS),
        "education": school * random.normal(0, 0.5, N_TRAITS) * (random.random(N_TRAITS) < 0.6),
    }


def make_items(random: np.random.Generator) -> list[Item]:
    """The 188 questions, those of `ROOTS` first; a question that depends on another comes after it."""
    scales = [*_binary(random), *_ordinal(random)]
    _follow_ups(scales, random)
    return [
        *_who(random),
        *scales,
        *_categorical(random),
        *_multicategorical(random),
        *_rankings(random),
        *_numbers(random),
    ]


def asked_where(items: list[Item], random: np.random.Generator) -> Array:
    """Which question is asked in which country, (countries, questions): modules are left out, often in a whole region.

    Who a person is and the outputs that the study predicts are asked everywhere.
    """
    everywhere = {*ROOTS, "satisfied", "ladder", "problems", "dangers"}
    free = [place for place, item in enumerate(items) if item.question.name not in everywhere]
    asked = np.ones((len(COUNTRIES), len(items)))
    region = np.repeat(np.arange(len(REGIONS)), list(REGIONS.values()))
    for module in np.array_split(random.permutation(free)[:90], 12):
        out = (random.random(len(REGIONS)) < 0.15)[region] | (random.random(len(COUNTRIES)) < 0.05)
        asked[np.ix_(out, module)] = 0
    return asked


def _loads(
    random: np.random.Generator, width: int, low: float = 0.6, high: float = 2.2, most: int = 3, style: float = 0.0
) -> Array:
    """Loadings on one to `most` of the traits, now and then on what is not linear in them."""
    n_features = N_TRAITS + 3
    loads = np.zeros((n_features, width))
    for column in loads.T:
        chosen = random.permutation(N_TRAITS - 1)[: random.integers(1, most + 1)]
        if random.random() < 0.15:
            chosen = np.append(chosen, random.integers(N_TRAITS, n_features))
        weights = random.normal(size=len(chosen))
        column[chosen] = weights * random.uniform(low, high) / np.sqrt((weights**2).sum())
    loads[STYLE] += style
    return loads


def _names(values: list[str] | int, word: str) -> list[str]:
    return [f"{word} {i}" for i in range(1, values + 1)] if isinstance(values, int) else values


def _who(random: np.random.Generator) -> list[Item]:
    size = random.gamma(6.0, 1.0, len(COUNTRIES))
    size[0] = 4 * size.mean()
    old = random.uniform(25, 50, (len(COUNTRIES), 1))
    schooled = random.normal(0, 1.2, (len(COUNTRIES), 1))
    return [
        Item(Categorical("country", values=COUNTRIES), Choice(np.log(size))),
        Item(
            Continuous("age", low=FIRST_AGE, high=120, integer=True),
            Years(np.zeros(len(AGES)), FIRST_AGE),
            effects={"country": -(((AGES - FIRST_AGE) / old) ** 1.5)},
            left_out=0.01,
        ),
        Item(Binary("sex", values=["male", "female"]), Scale(np.array([0.49, 0.51]))),
        Item(
            Ordinal("education", values=EDUCATION),
            Scale(random.dirichlet(np.full(len(EDUCATION), 6.0))),
            effects={"country": schooled, "age": -0.03 * (AGES[:, None] - 45)},
            left_out=0.02,
        ),
    ]


def _by_country(random: np.random.Generator, width: int, spread: float) -> dict[str, Array]:
    return {"country": random.normal(0, spread, (len(COUNTRIES), width))}


def _scale_item(question: Question, shares: Array, random: np.random.Generator, style: float = 0.0) -> Item:
    item = Item(question, Scale(shares), _loads(random, 1, style=style), left_out=random.uniform(0.01, 0.12))
    if random.random() < 0.3:
        item.effects |= _by_country(random, 1, 0.9)
    if random.random() < 0.08:
        item.effects["age"] = (AGES[:, None] - 45) / 15 * random.normal(0, 0.6)
    if random.random() < 0.08:
        item.effects["sex"] = np.array([[-0.5], [0.5]]) * random.normal(0, 1.2)
    return item


def _binary(random: np.random.Generator) -> list[Item]:
    items = []
    for name in ["satisfied", *(f"binary_{i}" for i in range(1, 42))]:  # and sex: 43
        yes = random.uniform(0.15, 0.85) if name != "satisfied" else 0.3
        items.append(_scale_item(Binary(name, values=["no", "yes"]), np.array([1 - yes, yes]), random))
    return items


def _ordinal(random: np.random.Generator) -> list[Item]:
    """The ladder and 123 other scales; with education 125."""
    ladder = np.exp(-0.5 * ((np.arange(11) - 5.5) / 2.2) ** 2)
    items = [_scale_item(Ordinal("ladder", values=list(range(11))), ladder / ladder.sum(), random)]
    for i in range(1, 124):
        n = LEVELS[(i - 1) % len(LEVELS)]
        question = Ordinal(f"ordinal_{i}", values=_names(n, "level"))
        agrees = n in (4, 5) and random.random() < 0.6
        shares = random.dirichlet(np.full(n, 3.0))
        items.append(_scale_item(question, shares, random, style=0.7 if agrees else 0.0))
    return items


def _follow_ups(items: list[Item], random: np.random.Generator, n: int = 12) -> None:
    """Let some scales depend directly on the answer to another: rising, falling, or both."""
    chosen = np.sort(random.permutation(np.arange(1, len(items)))[: 2 * n])
    for number, (before, after) in enumerate(list(pairwise(chosen))[::2]):
        size = items[before].question.n_values
        place = np.linspace(-1, 1, size)
        effect = place if number % 3 or size == 2 else 2 * np.abs(place) - 1
        strength = random.choice([-1, 1]) * random.uniform(2, 4)
        items[after].effects[items[before].question.name] = strength * effect[:, None]


def _categorical(random: np.random.Generator) -> list[Item]:
    """Marital status and work, which go with age, and nine others; with country 12."""
    years = (AGES - 45) / 15
    marital = np.stack([-2.5 * years - 1, -years - 1, 1 - years**2 / 3, years / 4 - 1.5, 2.5 * years - 3], axis=1)
    work = np.stack([-4 * years - 4.5, 1.5 - years**2, 0.5 - years**2, -(years**2) / 3, -years - 1, 4 * years - 4], 1)
    items = [
        Item(
            Categorical("marital", values=MARITAL), Choice(np.zeros(5)), _loads(random, 5, 0.2, 0.6), {"age": marital}
        ),
        Item(Categorical("work", values=WORK), Choice(np.zeros(6)), _loads(random, 6, 0.2, 0.6), {"age": work}),
    ]
    for i in range(1, 10):
        n = 3 + i % 6
        effects = _by_country(random, n, 1.8 if i <= 5 else 0.5)
        loads = _loads(random, n, 0.5, 1.5)
        response = Choice(random.normal(0, 1.3, n))
        items.append(Item(Categorical(f"categorical_{i}", values=_names(n, "group")), response, loads, effects))
    for item in items:
        item.left_out = random.uniform(0.01, 0.1)
    return items


def _multicategorical(random: np.random.Generator) -> list[Item]:
    items = []
    for name, options in (("problems", PROBLEMS), ("multicategorical_1", 9), ("multicategorical_2", 8)):
        values = _names(options, "option")
        shares = random.uniform(0.06, 0.45, len(values))
        effects = _by_country(random, len(values), 0.9)
        columns = {value: f"{name}_{place}" for place, value in enumerate(values, 1)}
        loads = _loads(random, len(values), 0.6, 2.0, most=2)
        left_out = random.uniform(0.01, 0.06)
        items.append(Item(Multicategorical(name, columns=columns), Options(shares), loads, effects, left_out))
    return items


def _rankings(random: np.random.Generator) -> list[Item]:
    dangers = Ranking("dangers", choices=["dangers_first", "dangers_second"], values=DANGERS)
    aims = Ranking("aims", ranks={aim: f"aims_{place}" for place, aim in enumerate(AIMS, 1)})
    return [
        Item(dangers, Order(random.normal(0, 0.5, 5), top=2), _loads(random, 5, 0.3, 1.2), left_out=0.05),
        Item(aims, Order(random.normal(0, 1.0, 4)), _loads(random, 4, 0.5, 1.5), left_out=0.08),
    ]


def _numbers(random: np.random.Generator) -> list[Item]:
    """The household's size and income; with age 3."""
    years = (AGES[:, None] - 45) / 15
    household = {"age": 0.6 - 0.15 * years**2, "country": random.normal(0, 0.3, (len(COUNTRIES), 1))}
    income = {"age": -0.08 * years**2, "education": np.linspace(-0.4, 0.4, len(EDUCATION))[:, None]}
    income |= _by_country(random, 1, 0.2)
    return [
        Item(Continuous("household", low=1, integer=True), Count(), _loads(random, 1, 0.1, 0.3), household, 0.02),
        Item(Continuous("income", low=0), Amount(1000.0, 0.35), _loads(random, 1, 0.1, 0.2), income, 0.15),
    ]
