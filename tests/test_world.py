"""The made world survey: its shape, its blanks, and that the best guesses are the best."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from mvrbm import MVRBM, Schema
from mvrbm.answers import Answers
from mvrbm.datasets import best_guesses, make_world_survey
from mvrbm.datasets.questionnaire import COUNTRIES, REGIONS, ROOTS
from mvrbm.datasets.responses import Listed, Options, Order
from mvrbm.datasets.world import _World
from mvrbm.encoding import blocks, decode, encode
from mvrbm.inference import complete
from mvrbm.metrics import errors_by_kind
from mvrbm.training.stopping import hide

KINDS = {"binary": 43, "categorical": 12, "multicategorical": 3, "ordinal": 125, "ranking": 2, "continuous": 3}


@pytest.fixture(scope="module")
def survey() -> tuple[pd.DataFrame, Schema]:
    return make_world_survey(2000)


@pytest.fixture(scope="module")
def world() -> _World:
    return _World(2000, 0)


def by_name(answers: Answers, schema: Schema) -> dict[str, np.ndarray]:
    return {question.name: block for question, block in blocks(answers, schema)}


def test_has_the_shape_of_the_papers_survey(survey):
    frame, schema = survey
    assert Counter(question.kind for question in schema) == KINDS
    sizes = {question.name: question.n_values for question in schema}
    assert [sizes[name] for name in ("country", "problems", "ladder", "dangers")] == [44, 11, 11, 5]
    scales = [question.n_values for question in schema if question.kind == "ordinal"]
    assert set(scales) == set(range(3, 12))
    assert scales.count(11) == 1
    assert len(COUNTRIES) == 44
    assert sum(REGIONS.values()) == 44
    assert len(frame) == 2000
    assert list(frame.columns) == schema.columns


def test_every_answer_is_legal_and_comes_back(survey, world):
    frame, schema = survey
    answers = encode(frame, schema)
    made = world.answers()
    assert np.array_equal(answers.codes, made.codes)
    assert np.array_equal(answers.numbers, made.numbers, equal_nan=True)
    assert frame["age"].dropna().between(18, 97).all()
    first, second = frame["dangers_first"], frame["dangers_second"]
    assert (first.isna() == second.isna()).all()
    assert not (first == second).any()
    dangers = by_name(answers, schema)["dangers"]
    assert ((dangers == 1).sum(axis=1)[first.notna()] == 3).all()  # three of five tie last


def test_every_value_is_given_by_someone(survey):
    frame, schema = survey
    for question in schema:
        if question.kind in ("binary", "categorical", "ordinal"):
            assert set(frame[question.name].dropna()) == set(question.values), question.name


def test_blanks_by_country_and_at_random(survey):
    frame, schema = survey
    assert frame["country"].notna().all()
    blank = by_name(encode(frame, schema), schema)
    share = np.mean([(block < 0).all(axis=1) | np.isnan(block).all(axis=1) for block in blank.values()])
    assert 0.08 < share < 0.2
    answered = frame.groupby("country").agg(lambda column: column.notna().mean())
    never = (answered == 0).to_numpy()
    assert 0.02 < never.mean() < 0.15
    assert never.any(axis=0).sum() > 30
    for name in ("satisfied", "ladder", "dangers_first", "problems_1", "age"):
        assert (answered[name] > 0.5).all()
    somewhere = answered.where(~never)
    assert 0.03 < 1 - np.nanmean(somewhere) < 0.12


def test_the_same_seed_makes_the_same_world():
    first, schema = make_world_survey(60, random_state=3)
    again, same = make_world_survey(60, random_state=3)
    assert first.equals(again)
    assert schema == same
    assert not first.equals(make_world_survey(60, random_state=4)[0])
    guess, twice = best_guesses(60, 3), best_guesses(60, 3)
    assert np.array_equal(guess.codes, twice.codes)


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="n must be a whole number"):
        make_world_survey(0)
    with pytest.raises(ValueError, match="'leader'"):
        best_guesses(10, questions=["leader"])


def joint(world: _World, name: str, value: int) -> np.ndarray:
    """log P(traits, answers, blanks), everything computed anew with another answer to one question."""
    true = {**world.true, name: np.full(len(world.blank), value)}
    total = np.zeros(len(world.blank))
    traits = world._residual + sum(world.means[root][world.true[root]] for root in ROOTS)
    total -= 0.5 * ((traits - sum(world.means[root][true[root]] for root in ROOTS)) ** 2).sum(axis=1)
    for place, item in enumerate(world.items):
        own = item.question.name
        eta = world.eta[own].copy()
        for other, table in item.effects.items():
            eta += table[true[other]] - table[world.true[other]]
        if not isinstance(item.response, Order):  # these depend on the traits alone
            total += item.response.log_likelihood(eta, true[own])
        asked = world.asked[true["country"], place] == 1
        p = np.where(asked, world.left_out[:, place], 1.0)
        with np.errstate(divide="ignore"):
            total += np.maximum(np.log(np.where(world.blank[:, place], p, 1 - p)), -1e4)
    return total


@pytest.mark.parametrize("kind", [*ROOTS, "followed"])
def test_guesses_are_those_of_the_joint_probability(kind):
    world = _World(150, 1)
    followed = {parent for item in world.items for parent in item.effects} - set(ROOTS)
    for name in sorted(followed)[:4] if kind == "followed" else [kind]:
        item = next(item for item in world.items if item.question.name == name)
        n = item.response.log_probs(np.zeros((1, item.response.width))).shape[1]
        log_p = np.stack([joint(world, name, value) for value in range(n)], axis=1)
        p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        values = np.arange(n)
        loss = {
            "categorical": 1 - p,
            "binary": 1 - p,
            "ordinal": p @ np.abs(values[:, None] - values),
            "continuous": p @ (values[:, None] - values) ** 2,
        }[item.question.kind]
        guess = item.response.guess(world.eta[name], world._evidence(item))
        assert np.allclose(loss[np.arange(150), guess], loss.min(axis=1), atol=1e-9), name


def test_followers_and_country_tell_more_than_the_traits(world):
    followed = [parent for item in world.items for parent in item.effects if parent not in ROOTS]
    assert len(set(followed)) >= 10
    gains = []
    for name in [*followed, "country"]:
        item = next(item for item in world.items if item.question.name == name)
        knowing = item.response.guess(world.eta[name], world._evidence(item))
        alone = item.response.guess(world.eta[name], 0.0)
        gains.append(np.mean(alone != world.true[name]) - np.mean(knowing != world.true[name]))
    assert gains.pop() > 0.5
    assert np.mean(gains) > 0.02


def test_probabilities_mean_what_they_say(world):
    """Guesses are right as often as they claim: what is drawn is what the guesser believes."""
    for item in world.items:
        name, response = item.question.name, item.response
        if isinstance(response, Listed):
            log_p = response.log_probs(world.eta[name]) + world._evidence(item)
            p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            top = p.argmax(axis=1)
            claimed, right = p.max(axis=1), top == world.true[name]
            spread = np.sqrt((claimed * (1 - claimed)).sum()) + 1
            assert abs((right - claimed).sum()) < 5 * spread, name
    options = [(item.question.name, item.response) for item in world.items if isinstance(item.response, Options)]
    for name, response in options:
        p = response.chances(world.eta[name])
        assert (np.abs((world.true[name] - p).sum(axis=0)) < 5 * np.sqrt((p * (1 - p)).sum(axis=0))).all()


def test_the_cut_makes_f1_largest(world):
    parts = [(item.response, item.question.name) for item in world.items if isinstance(item.response, Options)]
    chances = [response.chances(world.eta[name]) for response, name in parts]

    def expected(cut: float) -> float:
        hit = sum((p * (p > cut)).mean(axis=1).sum() for p in chances)
        taken = sum((p > cut).mean(axis=1).sum() for p in chances)
        return 2 * hit / (taken + sum(p.mean(axis=1).sum() for p in chances))

    world.guesses([name for _, name in parts])
    (cut,) = {response.cut for response, _ in parts}
    assert expected(cut) >= max(expected(other) for other in np.linspace(0.01, 0.99, 197)) - 1e-12


@pytest.mark.parametrize("name", ["dangers", "aims"])
def test_no_other_order_is_better(name):
    """Many draws for one person: of all orders, that of the utilities is opposed least."""
    world = _World(40, 0)
    item = next(item for item in world.items if item.question.name == name)
    for person in range(5):
        eta = np.repeat(world.eta[name][person : person + 1], 20_000, axis=0)
        drawn = item.response.cells(item.response.draw(eta, np.random.default_rng(person)))
        orders = np.array(list(permutations(range(1, item.response.width + 1))))
        loss = [(np.abs(item.response.cells(order[None]) - drawn) == 2).mean() for order in orders]
        best = item.response.cells(item.response.guess(eta[:1], 0.0))
        assert (np.abs(best - drawn) == 2).mean() < min(loss) + 0.005


def test_no_model_beats_the_bound(survey):
    frame, schema = survey
    baseline = MVRBM(0, schema=schema, random_state=0).fit(frame).rbm_
    hidden = hide(encode(frame, schema), baseline.visible, 0.2, 0)
    kept = pd.DataFrame(decode(hidden.given, schema))
    model = MVRBM(10, schema=schema, max_epochs=15, random_state=0).fit(kept).rbm_
    errors = [
        errors_by_kind(baseline.visible, guess, hidden.hidden)
        for guess in (best_guesses(2000), *(complete(m, hidden.given, certain=False)[0] for m in (model, baseline)))
    ]
    for kind in KINDS:
        bound, found, known_to_all = (error[kind] for error in errors)
        assert bound < found < known_to_all, kind
    assert errors[0]["ordinal"] > 0.1  # people are no machines either


def test_country_can_be_taken_out(survey):
    frame, schema = survey
    others = Schema([question for question in schema if question.name != "country"])
    model = MVRBM(3, schema=others, max_epochs=1, random_state=0).fit(frame.drop(columns="country"))
    assert model.transform(frame).shape == (2000, 3)


def test_only_the_questions_asked_for_are_guessed(survey):
    _, schema = survey
    guess = by_name(best_guesses(50, questions=["ladder", "age"]), schema)
    assert (guess["ladder"] >= 0).all()
    assert not np.isnan(guess["age"]).any()
    assert (guess["country"] < 0).all()
    assert np.isnan(guess["income"]).all()
