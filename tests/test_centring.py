"""Steps around the middle of the data, against every coordinate written out."""

import numpy as np
import pytest

from mvrbm import Binary, Categorical, Ordinal
from mvrbm.links import ANSWERED_GAIN, Links
from mvrbm.rbm import RBM
from mvrbm.summary import summarise
from mvrbm.training.centring import _KEPT, Centring
from mvrbm.visible import Visible
from oracle import all_links, random_answers

QUESTIONS = [Ordinal("o", [1, 2, 3]), Categorical("c", ["x", "y", "z"]), Binary("b", ["no", "yes"])]


def made(told, linked, few=False):
    answers = random_answers(QUESTIONS, 40, 1, missing=0.4)
    visible = Visible(QUESTIONS, summarise(answers, QUESTIONS))
    links = all_links(visible) if linked else None
    if few:  # and of those from being answered, only a part
        kept = links.mutual | (np.arange(len(links)) % 2 == 0)
        links = Links(links.rows[kept], links.columns[kept], visible.feature_question)
    rbm = RBM.start(visible, 2, 0, dtype=np.float64, answered=told, links=links)
    rbm.parameters.vector[:] = np.random.default_rng(0).normal(size=rbm.parameters.vector.size)
    return rbm, answers


def coordinates(rbm, answers, weights, targets):
    """What each parameter has of each coordinate, (parameters, coordinates), all in the machine's own order."""
    visible, p = rbm.visible, rbm.parameters
    question, n = visible.feature_question, visible.n_features
    chunk = visible.load(answers, np.arange(answers.n_rows), np.float64)
    x, r = visible.features(chunk), visible.answered(chunk)
    share = weights / weights.sum()
    often = _KEPT * r @ share
    own = np.array([x[f] @ share / (r[question[f]] @ share) for f in range(n)])
    own[np.isin(question, targets)] = 0
    left = _KEPT * x @ share - own * often[question]
    told = len(p.R) > 0
    if not told:
        own[:], left = 0, _KEPT * x @ share
    a = p.w + p.W.T @ (_KEPT * x @ share) + (p.R.T @ often if told else 0)
    c = 1 / (1 + np.exp(-a))
    number = p.like(np.arange(p.vector.size))
    A = np.eye(p.vector.size)
    for k in range(rbm.n_hidden):
        for f in range(n):
            column = number.W[f, k]
            A[number.U[f], column] = -c[k]
            A[number.w[k], column] = -left[f]
            if told:
                A[number.R[question[f], k], column] = -own[f]
        for q in range(len(p.R)):
            A[number.w[k], number.R[q, k]] = -often[q]
    if rbm.links and told:
        ends = list(zip(rbm.links.rows, rbm.links.columns, strict=True))
        for link, (row, other) in enumerate(ends):
            if other >= n:
                A[number.U[row], number.links[link]] = -ANSWERED_GAIN * often[other - n]
                continue
            for one, two in ((row, other), (other, row)):
                if (one, n + question[two]) in ends:
                    to = ends.index((one, n + question[two]))
                    A[number.links[to], number.links[link]] = -own[two] / ANSWERED_GAIN
    return A


@pytest.mark.parametrize("targets", [[], [1]], ids=["all", "target"])
@pytest.mark.parametrize(
    ("told", "linked", "few"),
    [(False, False, False), (True, False, False), (True, True, False), (True, True, True)],
    ids=["plain", "told", "linked", "few"],
)
def test_a_step_goes_uphill_in_every_coordinate(told, linked, few, targets):
    rbm, answers = made(told, linked, few)
    weights = np.random.default_rng(2).random(answers.n_rows)
    A = coordinates(rbm, answers, weights, targets)
    p, centring = rbm.parameters, Centring(rbm, answers, weights, np.array(targets, int))
    first, uphill = p.vector.copy(), np.random.default_rng(1).normal(size=p.vector.size)
    gradient = p.like(uphill.copy())
    centring.gradient(p, gradient)
    before = centring.enter(p)
    p.vector += 0.1 * gradient.vector
    centring.leave(p, before)
    real = np.ones(len(first), bool)  # between two rows of ones, or what is told and ones, is no parameter
    p.like(real).joint[rbm.visible.n_features :, -1] = False
    np.testing.assert_allclose((p.vector - first)[real], (0.1 * A @ (A.T @ uphill))[real], atol=1e-12)
