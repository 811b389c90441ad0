"""What a report tells of a survey and a model, as numbers; nothing here knows how it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from mvrbm import encoding, inference
from mvrbm.answers import Answers
from mvrbm.cells import distinct_rows
from mvrbm.estimators import MVRBM
from mvrbm.metrics import calibration_curve, calibration_error, errors_by_kind, errors_by_question
from mvrbm.metrics.probabilities import Curve
from mvrbm.rbm import with_ones
from mvrbm.report.places import Progress
from mvrbm.schema import Schema
from mvrbm.units import Question

MOST_CHECKED = 3000
"""People on whom predictions are checked: enough to tell questions apart, few enough to be quick."""
MOST_DRAWN = 60
"""Questions in the picture of what goes together."""
N_PAIRS = 15

Float = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Survey:
    """A table as a fitted model reads it."""

    def __init__(self, model: MVRBM, data: Any, random_state: int = 0) -> None:
        """Read the table; `random_state` chooses the people to check, if there are many."""
        self.model, self.schema = model, model.schema_
        table, self.answers = model._read(data)
        self.vectors = inference.posteriors(model.rbm_, self.answers, model.n_threads)
        weighted = self.schema.weight is not None and self.schema.weight in table
        self.weights = encoding.weights(table, self.schema) if weighted else None
        self.random = np.random.default_rng(random_state)
        self.random_state = random_state

    @property
    def n_people(self) -> int:
        """The number of rows."""
        return self.answers.n_rows

    @cached_property
    def blank(self) -> Mask:
        """Whether each question has no answer at all, (people, questions)."""
        found = [_blank(question, block) for question, block in encoding.blocks(self.answers, self.schema)]
        return np.stack(found, axis=1)

    @cached_property
    def asked(self) -> Mask:
        """Whether each question was put to each person, by the skip rules, (people, questions)."""
        put = encoding.asked(self.answers, self.schema)
        return np.stack([put[name] for name in self.schema.names], axis=1)

    @cached_property
    def checked(self) -> NDArray[np.int64]:
        """The rows on whom predictions are checked."""
        return np.sort(self.random.permutation(self.n_people)[:MOST_CHECKED])

    def weights_of(self, rows: NDArray[np.int64]) -> Float | None:
        """How much some rows count."""
        return None if self.weights is None else self.weights[rows]


def _blank(question: Question, block: Any) -> Mask:
    nothing: Mask = (block < 0 if question.n_codes else np.isnan(block)).all(axis=1)
    return nothing


@dataclass(frozen=True)
class Told:
    """How well questions can be told from the rest, and by guessing the same for everybody."""

    by_question: dict[str, float]
    guess_by_question: dict[str, float]
    by_kind: dict[str, float]
    guess_by_kind: dict[str, float]
    curves: dict[str, Curve]
    """For each kind, what was said and what happened."""
    off: dict[str, float]
    """For each kind, how far the two are from each other, on average."""
    n_people: int


def told_from_the_rest(survey: Survey, progress: Progress | None = None) -> Told:
    """Predict each answer of some people from their other answers, and compare with the answer that they gave."""
    model, schema, rows = survey.model, survey.schema, survey.checked
    truth, weights = survey.answers.take(rows), survey.weights_of(rows)
    every = list(range(len(schema)))
    guess = inference.predict(_baseline(survey).rbm_, truth, every, model.n_threads)
    found = inference.predict(model.rbm_, truth, every, model.n_threads)
    visible = model.rbm_.visible
    curves, off = _said_and_happened(survey, truth, weights, progress)
    return Told(
        errors_by_question(visible, found, truth, weights),
        errors_by_question(visible, guess, truth, weights),
        errors_by_kind(visible, found, truth, weights),
        errors_by_kind(visible, guess, truth, weights),
        curves,
        off,
        len(rows),
    )


def _baseline(survey: Survey) -> MVRBM:
    """The model that knows how often each answer is given, and nothing of who gives it."""
    import pandas as pd

    model = survey.model
    frame = pd.DataFrame(encoding.decode(survey.answers, survey.schema))
    schema = Schema(survey.schema)  # its weight column is no answer
    baseline = MVRBM(0, schema=schema, recipe=model.recipe, n_threads=model.n_threads, random_state=survey.random_state)
    return baseline.fit(frame, sample_weight=survey.weights)


def _said_and_happened(
    survey: Survey, truth: Answers, weights: Float | None, progress: Progress | None
) -> tuple[dict[str, Curve], dict[str, float]]:
    model = survey.model
    found: dict[str, list[Float]] = {}
    for place, (question, block) in enumerate(encoding.blocks(truth, survey.schema)):
        if progress:
            progress("checking what can be told from the rest", place / len(survey.schema))
        _, chances = inference.chances(model.rbm_, truth, place, model.n_threads)
        said, happened = question.events(block, chances)
        weight = np.ones(len(said)) if weights is None else weights
        there = ~np.isnan(happened)
        own = np.stack([said[there], happened[there], np.broadcast_to(weight[:, None], said.shape)[there]])
        found.setdefault(question.kind, []).append(own)
    scored = {kind: np.concatenate(parts, axis=1) for kind, parts in found.items()}
    scored = {kind: own for kind, own in scored.items() if own[2].sum() > 0}
    curves = {kind: calibration_curve(h, s, weights=w) for kind, (s, h, w) in scored.items()}
    return curves, {kind: calibration_error(h, s, weights=w) for kind, (s, h, w) in scored.items()}


@dataclass(frozen=True)
class Pair:
    """Two questions that go together, and the two answers that do so most."""

    strength: float
    questions: tuple[Question, Question]
    answers: tuple[str, str]
    against: bool
    """Whether the two answers avoid each other."""


@dataclass(frozen=True)
class Together:
    """Which questions go together through the hidden layer."""

    questions: list[Question]
    """The questions with the strongest ties, those that go together side by side."""
    strength: Float
    """Between each two of them, from 0 to 1."""
    pairs: list[Pair]
    hub: str
    """The question with the closest links to all others."""


def together(survey: Survey) -> Together | None:
    """How strongly each two questions go together, as the hidden layer has it; None without one, or of one question.

    Given the hidden units h the answers to two questions are independent, so what they share is the covariance over
    people of E[x_i | h] and E[x_j | h]. Its size beside the spread of the answers themselves,
    ||Cov_ij|| / sqrt(||Var_i|| ||Var_j||) with Frobenius norms, is the correlation for two numbers or two yes/no
    questions, and lies between 0 and 1 for any two.
    """
    rbm, rows = survey.model.rbm_, survey.checked
    visible = rbm.visible
    if not rbm.n_hidden or visible.n_questions < 2:
        return None
    weights = survey.weights_of(rows)
    share = np.full(len(rows), 1 / len(rows)) if weights is None else weights / weights.sum()
    expected = _expected(survey, rows).astype(np.float64)
    expected = (expected - (expected @ share)[:, None]) * np.sqrt(share)
    shared = expected @ expected.T
    norms, spread = _spreads(survey, rows, share)
    size = np.add.reduceat(np.add.reduceat(shared**2, visible.feature_start, axis=0), visible.feature_start, axis=1)
    strength = np.clip(np.sqrt(size / np.outer(norms, norms)), 0, 1)
    correlation = shared / np.outer(spread, spread)
    np.fill_diagonal(strength, 0.0)
    pairs = [_pair(visible, strength, correlation, i, j) for i, j in _strongest(strength)]
    hub = visible.questions[visible.question_order[int(strength.sum(axis=1).argmax())]].name
    kept = np.sort(np.argsort(-strength.max(axis=1), kind="stable")[:MOST_DRAWN])
    strength = strength[np.ix_(kept, kept)]
    order = _side_by_side(strength)
    questions = [visible.questions[visible.question_order[kept[place]]] for place in order]
    return Together(questions, strength[np.ix_(order, order)], pairs, hub)


def _expected(survey: Survey, rows: NDArray[np.int64]) -> NDArray[np.floating]:
    """E[x | h] at each person's posterior and, where questions are linked, their answers, (features, people)."""
    rbm = survey.model.rbm_
    X = rbm.features(rbm.visible.load(survey.answers, rows, rbm.dtype))
    H = with_ones(rbm.n_hidden, len(rows), rbm.dtype)
    H[:-1] = survey.vectors[rows].T
    z = rbm.visible_inputs(H, X)
    return rbm.visible.mean(z, rbm.theta, rbm.visible.decide(z, rbm.theta))[0]


def _spreads(survey: Survey, rows: NDArray[np.int64], share: Float) -> tuple[Float, Float]:
    """The norm of the covariance of each question's features, and the standard deviation of each feature, as answered.

    Both are 1 where nothing varies, so that nothing is divided by 0.
    """
    visible = survey.model.rbm_.visible
    chunk = visible.load(survey.answers, rows)
    x, there = visible.features(chunk).astype(np.float64), visible.answered(chunk)
    ends = [*visible.feature_start[1:], visible.n_features]
    norms, spread = np.ones(visible.n_questions), np.ones(visible.n_features)
    for place, (start, stop) in enumerate(zip(visible.feature_start, ends, strict=True)):
        own, weight = x[start:stop, there[place]], share[there[place]]
        if weight.sum() > 0:
            weight = weight / weight.sum()
            own = (own - (own @ weight)[:, None]) * np.sqrt(weight)
            covariance = own @ own.T
            norms[place] = np.linalg.norm(covariance) or 1.0
            spread[start:stop] = np.sqrt(np.diag(covariance))
    return norms, np.where(spread > 1e-9, spread, 1.0)


def _strongest(strength: Float) -> list[tuple[int, int]]:
    first, second = np.triu_indices(len(strength), 1)
    best = np.argsort(-strength[first, second], kind="stable")[:N_PAIRS]
    return [(int(first[n]), int(second[n])) for n in best]


def _pair(visible: Any, strength: Float, correlation: Float, i: int, j: int) -> Pair:
    shown = ~visible.for_hidden_units
    features = [np.flatnonzero((visible.feature_question == place) & shown) for place in (i, j)]
    questions = [visible.questions[visible.question_order[place]] for place in (i, j)]
    own = correlation[np.ix_(*features)]
    best = np.unravel_index(int(own.argmax() if own.size > 1 else 0), own.shape)
    names = [
        question.name_of(question.feature_names(len(own_features))[int(at)])
        for question, own_features, at in zip(questions, features, best, strict=True)
    ]
    return Pair(float(strength[i, j]), (questions[0], questions[1]), (names[0], names[1]), bool(own[best] < 0))


def _side_by_side(strength: Float) -> NDArray[np.int64]:
    """An order in which questions that go together are neighbours."""
    if len(strength) < 3:
        return np.arange(len(strength))
    far = 1 - strength
    np.fill_diagonal(far, 0.0)
    tree = hierarchy.linkage(squareform(far, checks=False), "average", optimal_ordering=True)
    return np.asarray(hierarchy.leaves_list(tree), np.int64)


@dataclass(frozen=True)
class Pattern:
    """What a hidden unit stands for."""

    name: str
    share: float
    """The share of people in whom it is more likely on than off."""
    spread: float
    """How much it varies over people: its standard deviation."""
    raises: list[tuple[Question, str, float]]
    lowers: list[tuple[Question, str, float]]


def patterns(survey: Survey, n_answers: int = 6) -> list[Pattern]:
    """The hidden units with the answers that each raises and lowers, those that vary most over people first."""
    table = survey.model.feature_answers(n_answers)
    spread = survey.vectors.std(axis=0, dtype=np.float64)
    found = []
    for k in np.argsort(-spread, kind="stable"):
        own = table[table["feature"] == f"mvrbm{k}"]
        ends = []
        for effect in ("raises", "lowers"):
            rows = own[own["effect"] == effect][["question", "answer", "weight"]].itertuples(index=False)
            named = ((survey.schema[row.question], row.answer, row.weight) for row in rows)
            ends.append([(question, question.name_of(answer), float(weight)) for question, answer, weight in named])
        share = float((survey.vectors[:, k] > 0.5).mean())
        found.append(Pattern(f"mvrbm{k}", share, float(spread[k]), *ends))
    return found


@dataclass(frozen=True)
class Blanks:
    """What was missing, and where."""

    not_asked: Float
    """The share of people to whom each question was not put."""
    unanswered: Float
    """The share of people who were asked and gave no answer."""
    people_by_number: NDArray[np.int64]
    """How many people left 0, 1, 2, ... questions blank that they were asked."""
    patterns: list[tuple[int, list[str]]]
    """The most frequent sets of questions left blank together: how many people, and which questions."""


def blanks(survey: Survey, n_patterns: int = 6) -> Blanks:
    """Count the blanks by question, by person, and by which came together."""
    left = survey.blank & survey.asked
    rows, where = distinct_rows(survey.blank.astype(np.int64))
    people = np.bincount(where)
    common = [n for n in np.argsort(-people, kind="stable") if rows[n].any() and people[n] > 1][:n_patterns]
    names = survey.schema.names
    return Blanks(
        (survey.blank & ~survey.asked).mean(axis=0),
        left.mean(axis=0),
        np.bincount(left.sum(axis=1)),
        [(int(people[n]), [names[q] for q in np.flatnonzero(rows[n])]) for n in common],
    )
