"""The free energy gap: what is compared, against a sum over all hidden states, and what it shows."""

import itertools

import numpy as np
import pytest

from mvrbm import MVRBM
from mvrbm.datasets import make_survey
from mvrbm.training.conditional import hide_targets
from mvrbm.training.engine import Workers
from mvrbm.training.gap import FreeEnergyGap
from mvrbm.training.stopping import hide
from oracle import machine, random_answers


@pytest.fixture(scope="module")
def rbm():
    return machine("mixture", told=True)


@pytest.fixture(scope="module")
def hidden(rbm):
    answers = random_answers(rbm.visible.questions, 300, seed=1, missing=0.2)
    return hide(answers, rbm.visible, 0.3, 0)


def answered(rbm, answers):
    return rbm.visible.answered(rbm.visible.load(answers, np.arange(answers.n_rows)))


def test_as_many_seen_answers_go_as_unseen_ones_come(rbm, hidden):
    gap = FreeEnergyGap(hidden, rbm.visible, 0)
    assert len(gap.places) > 200
    own = gap.rows[gap.places]
    full, kept = (
        answered(rbm, hidden.full)[:, own],
        answered(rbm, hidden.kept.take(np.arange(hidden.full.n_rows)))[:, own],
    )
    unseen = answered(rbm, gap.unseen)[:, gap.places]
    np.testing.assert_array_equal(unseen.sum(axis=0), kept.sum(axis=0))
    assert (unseen >= (full & ~kept)).all()
    assert (unseen <= full).all()
    assert ((full & ~kept).sum(axis=0) > 0).all()
    np.testing.assert_array_equal(answered(rbm, gap.seen)[:, gap.places], kept)
    gone = (kept & ~unseen).mean(axis=1) / kept.mean(axis=1)
    assert gone.min() > 0.2, "every question is given up about as often"
    assert gone.max() < 0.6


def test_the_table_itself_is_left_alone(rbm, hidden):
    before = hidden.full.codes.copy(), hidden.given.codes.copy()
    FreeEnergyGap(hidden, rbm.visible, 0)
    np.testing.assert_array_equal(hidden.full.codes, before[0])
    np.testing.assert_array_equal(hidden.kept.take(hidden.rows).codes, before[1])


def enumerated_free_energy(rbm, answers, row):
    """-log of the sum over every hidden state, one at a time."""
    X = rbm.features(rbm.visible.load(answers, np.array([row]), np.float64))
    chunk = rbm.visible.load(answers, np.array([row]), np.float64)
    own = rbm.own_energy(chunk, X)[0]
    inputs = rbm.parameters.joint[:, :-1].T @ X[:, 0]
    states = itertools.product([0, 1], repeat=rbm.n_hidden)
    return -own - np.log(sum(np.exp(np.dot(inputs, h)) for h in states))


def test_it_is_the_mean_difference_of_free_energies(rbm, hidden):
    gap = FreeEnergyGap(hidden, rbm.visible, 0)
    weights = np.random.default_rng(0).random(hidden.full.n_rows)
    each = [
        enumerated_free_energy(rbm, gap.unseen, place) - enumerated_free_energy(rbm, gap.seen, place)
        for place in gap.places
    ]
    with Workers(2) as workers:
        assert gap.of(rbm, workers) == pytest.approx(np.mean(each))
        assert gap.of(rbm, workers, weights) == pytest.approx(np.average(each, weights=weights[gap.rows[gap.places]]))


def test_learning_by_heart_shows():
    """On answers without any pattern all that is learnt is learnt by heart."""
    frame, schema = make_survey(150, random_state=0)
    rng = np.random.default_rng(0)
    frame = frame.apply(lambda column: rng.permutation(column))
    settings = {"schema": schema, "random_state": 0, "max_epochs": 80, "patience": 80, "n_models": 1, "decay": 0.0}
    history = MVRBM(40, learning_rate=0.05, links=0, **settings).fit(frame).history_
    gaps = [entry["free_energy_gap"] for entry in history.epochs]
    assert gaps[-1] > gaps[0] + 1


def test_nobody_who_can_exchange_is_a_gap_of_nothing(rbm, hidden):
    nobody = hide(hidden.full, rbm.visible, 1e-9, 0)
    with Workers(1) as workers:
        assert FreeEnergyGap(nobody, rbm.visible, 0).of(rbm, workers) == 0


def test_hidden_targets_are_no_matter_of_chance(rbm, hidden):
    assert not hide_targets(hidden.full, rbm.visible, [0], 0.2, 0).exchangeable
