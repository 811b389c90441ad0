"""Direct links and answered-or-not: which questions are linked, what is told, and that no answer tells its own."""

import numpy as np
import pandas as pd
import pytest

from mvrbm import MVRBM, Binary, Categorical, Continuous, Ranking, Schema, inference
from mvrbm.encoding import decode, encode
from mvrbm.links import Links
from mvrbm.summary import summarise
from mvrbm.training.screening import screen
from mvrbm.visible import Visible
from oracle import machine, random_answers


def chain(n_rows=600, seed=0):
    """Binary questions, each a noisy copy of the one before; the last is answered by those who say yes to the first."""
    rng = np.random.default_rng(seed)
    questions = [Binary(f"b{i}", values=[0, 1]) for i in range(5)] + [Categorical("c", values=[0, 1, 2])]
    answers = random_answers(questions, n_rows, seed)
    for i in range(1, 5):
        same = rng.random(n_rows) < 0.9
        answers.codes[:, i] = np.where(same, answers.codes[:, i - 1], 1 - answers.codes[:, i - 1])
    answers.codes[answers.codes[:, 0] == 0, 5] = answers.blank
    return answers, Visible(questions, summarise(answers, questions))


def linked_questions(visible, links):
    """The pairs of questions that are linked, and those (answered, question), by their numbers in the schema."""
    schema, question = visible.question_order, visible.feature_question
    mutual, one_way = set(), set()
    for i, c in zip(links.rows, links.columns, strict=True):
        own = int(schema[question[i]])
        if c < visible.n_features:
            mutual.add(frozenset((own, int(schema[question[c]]))))
        else:
            one_way.add((int(schema[c - visible.n_features]), own))
    return mutual, one_way


def test_the_most_associated_questions_are_linked():
    answers, visible = chain()
    mutual, one_way = linked_questions(visible, screen(visible, answers, None, 1))
    assert {frozenset((0, 1)), frozenset((3, 4))} <= mutual
    assert frozenset((0, 4)) not in mutual
    assert (5, 0) in one_way
    assert not any(answered == own for answered, own in one_way)


def test_the_unit_of_weights_links_nothing_and_rows_without_weight_have_no_say():
    answers, visible = chain()
    more = answers.take(np.append(np.arange(600), np.arange(50)))
    more.codes[600:, :5] = np.random.default_rng(9).integers(0, 2, (50, 5))
    weights = np.append(np.full(600, 7.0), np.zeros(50))
    plain, heavy = screen(visible, answers, None, 2), screen(visible, more, weights, 2)
    np.testing.assert_array_equal(plain.rows, heavy.rows)
    np.testing.assert_array_equal(plain.columns, heavy.columns)


def test_rankings_are_linked_by_their_items_and_not_by_chance():
    """Pairs follow from the items, so that they would count twice: of rankings drawn at random few are linked."""
    questions = [Ranking(f"r{n}", ranks={i: f"r{n} {i}" for i in "abcdef"}) for n in range(6)]
    found = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        ranks = {column: place for q in questions for column, place in zip(q.columns, _orders(rng), strict=True)}
        answers = encode(pd.DataFrame(ranks), Schema(questions))
        visible = Visible(questions, summarise(answers, questions))
        links = screen(visible, answers, None, 6)
        if links is not None:
            assert not visible.for_hidden_units[links.rows].any()
            assert not visible.for_hidden_units[links.columns[links.mutual]].any()
            found += len(linked_questions(visible, links)[0])
    assert found <= 5  # of 75


def _orders(rng):
    return 1 + np.argsort(rng.random((6, 400)), axis=0)


def exponent_of_numbers(rbm):
    """The matrix P - L of the exponent -x^T (P - L) x / 2, and the numbers of the links in it."""
    precision = {int(feature): -2 * float(rbm.theta[base]) for feature, base in rbm.visible.squares}
    at = {feature: n for n, feature in enumerate(precision)}
    matrix, own = np.diag(list(precision.values())), []
    for n, (i, c) in enumerate(zip(rbm.links.rows.tolist(), rbm.links.columns.tolist(), strict=True)):
        if i in at and c in at:
            matrix[at[i], at[c]] -= rbm.parameters.links[n]
            matrix[at[c], at[i]] -= rbm.parameters.links[n]
            own.append(n)
    return matrix, np.array(own)


@pytest.mark.parametrize(("weight", "changes"), [(0.5, False), (-0.5, False), (3.0, True), (-3.0, True)])
def test_links_between_numbers_are_held_back_only_where_z_would_be_infinite(weight, changes):
    rbm = machine("continuous", linked=True)
    _, own = exponent_of_numbers(rbm)
    assert len(own) == 1
    rbm.parameters.links[own] = weight
    before = rbm.parameters.vector.copy()
    assert (np.linalg.eigvalsh(exponent_of_numbers(rbm)[0])[0] < 0) == changes
    rbm.keep_finite()
    assert np.linalg.eigvalsh(exponent_of_numbers(rbm)[0])[0] > 0
    moved = np.flatnonzero(rbm.parameters.vector != before)
    assert moved.tolist() == ([len(before) - len(rbm.links) + own[0]] if changes else [])
    assert np.sign(rbm.parameters.links[own[0]]) == np.sign(weight)


@pytest.mark.parametrize("settings", [{}, {"early_stopping": False}, {"refit_epochs": 0}])
def test_numbers_that_say_the_same_are_linked_and_z_stays_finite(settings):
    rng = np.random.default_rng(0)
    mood = rng.standard_normal(400)
    same = {f"n{i}": np.round(mood + 0.02 * rng.standard_normal(400), 4) for i in range(4)}
    frame = pd.DataFrame(same).mask(rng.random((400, 4)) < 0.1)
    schema = Schema([Continuous(name) for name in frame])
    model = MVRBM(3, schema=schema, n_models=1, max_epochs=60, random_state=0, **settings).fit(frame)
    matrix, own = exponent_of_numbers(model.rbm_)
    assert len(own) == 6
    assert (np.abs(model.rbm_.parameters.links[own]) > 0.1).all()
    assert np.linalg.eigvalsh(matrix)[0] > 0
    assert np.isfinite(model.sample(50, random_state=0).to_numpy(float)).all()


def test_linked_questions_have_different_colours():
    links = machine("mixture", linked=True).links
    assert len(links.colours) == 7  # every two are linked
    few = Links(np.array([0, 1]), np.array([1, 2]), np.arange(4))
    assert len(few.colours) == 2
    assert sum(colour[0, 0] + colour[1, 0] == 2 for colour in few.colours) == 0
    np.testing.assert_array_equal(np.sum(few.colours, axis=0), 1)


@pytest.mark.parametrize("mean_field", [False, True])
def test_an_answer_plays_no_part_in_its_own_prediction(mean_field):
    """Neither what it is nor that it was given."""
    rbm = machine("mixture", linked=True)
    rbm.mean_field = mean_field
    questions = rbm.visible.questions
    answers, other = (random_answers(questions, 40, 3, missing=0.2) for _ in range(2))
    code = number = 0
    for place, question in enumerate(questions):
        codes, numbers = slice(code, code + question.n_codes), slice(number, number + question.n_numbers)
        code, number = codes.stop, numbers.stop
        other.codes[:, codes] = random_answers(questions, 40, 8, missing=0.5).codes[:, codes]
        other.numbers[:, numbers] = random_answers(questions, 40, 8, missing=0.5).numbers[:, numbers]
        before, after = (inference.chances(rbm, a, place)[1] for a in (answers, other))
        np.testing.assert_allclose(before, after, rtol=1e-9, atol=1e-9)
        other.codes[:, codes], other.numbers[:, numbers] = answers.codes[:, codes], answers.numbers[:, numbers]


def test_what_is_told_can_tell_an_answer():
    """A follow-up that was put settles the question before it, and only for who is told so."""
    answers, visible = chain()
    schema = Schema(visible.questions)
    frame = pd.DataFrame(decode(answers, schema))
    alone = frame.assign(**{f"b{i}": None for i in range(1, 5)})
    for told in (True, False):
        model = MVRBM(5, schema=schema, answered=told, links=4 if told else 0, random_state=0).fit(frame)
        p = model.predict_proba(alone, "b0").to_numpy()[:, -1]
        put = frame["c"].notna().to_numpy()
        assert (p[put].min() > 0.9) == told
        assert not told or p[~put].mean() < 0.5
    sampled = model.sample(50, random_state=0)
    assert sampled.notna().to_numpy().all()


@pytest.mark.usefixtures("small_chunks")
def test_threads_change_no_bit_of_a_linked_machine():
    answers, visible = chain()
    frame = pd.DataFrame(decode(answers, Schema(visible.questions)))
    models = [
        MVRBM(5, schema=Schema(visible.questions), max_epochs=3, random_state=0, n_threads=n).fit(frame) for n in (1, 3)
    ]
    assert len(models[0].rbm_.links) > 0
    np.testing.assert_array_equal(*(model.rbm_.parameters.vector for model in models))


def test_several_machines_predict_by_the_mean_of_their_inputs():
    rbm, other = machine("mixture", seed=0, linked=True), machine("mixture", seed=0, linked=True)
    other.parameters.vector[:] = machine("mixture", seed=5, linked=True).parameters.vector
    mean = machine("mixture", seed=0, linked=True)
    for each in (rbm, other, mean):
        each.mean_field = True
        each.refresh()
    chunk = rbm.visible.load(random_answers(rbm.visible.questions, 9, 3, missing=0.4), np.arange(9), np.float64)
    X = rbm.features(chunk)
    z = sum(each.visible_inputs(each.posterior(chunk), X) for each in (rbm, other)) / 2
    rbm.others.append(other)
    wanted = (chunk.codes < 0, np.isnan(chunk.numbers))
    theta = (rbm.theta + other.theta) / 2
    expected = rbm.visible.outlook(np.empty((0, 9)), z, rbm.parameters.W[:, :0], theta, wanted)
    for found, own in zip(rbm.outlook(*rbm.given(chunk), wanted), expected, strict=True):
        np.testing.assert_allclose(found, own, rtol=1e-9, atol=1e-9)


def test_a_committee_is_fitted_from_different_seeds():
    answers, visible = chain()
    schema = Schema(visible.questions)
    frame = pd.DataFrame(decode(answers, schema))
    rbm = MVRBM(5, schema=schema, max_epochs=2, n_models=2, random_state=0).fit(frame).rbm_
    (other,) = rbm.others
    assert (other.parameters.W != rbm.parameters.W).all()
