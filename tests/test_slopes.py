"""Steps along scales, against every coordinate written out."""

import numpy as np
import pytest

from mvrbm import Binary, Categorical, Ordinal
from mvrbm.rbm import RBM
from mvrbm.summary import summarise
from mvrbm.training.optimiser import SGD
from mvrbm.training.slopes import _ALONE, Slopes
from mvrbm.visible import Visible
from oracle import all_links, random_answers

SCALES = {"five": 5, "three": 3}
QUESTIONS = [
    Ordinal("five", [1, 2, 3, 4, 5]),
    Categorical("c", ["x", "y", "z"]),
    Ordinal("two", [1, 2]),
    Binary("b", ["no", "yes"]),
    Ordinal("three", [1, 2, 3]),
]


def made(questions=QUESTIONS, n_hidden=3):
    visible = Visible(questions, summarise(random_answers(questions, 30, 1), questions))
    rbm = RBM.start(visible, n_hidden, 0, dtype=np.float64, answered=True, links=all_links(visible))
    rbm.parameters.vector[:] = np.random.default_rng(0).normal(size=rbm.parameters.vector.size)
    return rbm


def ends(rbm):
    """For each row of the machine's inputs: which scale it is a level of, or else itself, and its place on it."""
    found = []
    for f, at in enumerate(rbm.visible.feature_question):
        q = rbm.visible.questions[rbm.visible.question_order[at]]
        if q.name in SCALES:
            level = f - rbm.visible.feature_start[at]
            found.append((q.name, -1 + 2 * level / (SCALES[q.name] - 1)))
        else:
            found.append((f, 1.0))
    return found + [(len(found) + n, 1.0) for n in range(len(rbm.parameters.R))]


def coordinates(rbm):
    """What each parameter has of each coordinate, (parameters, coordinates)."""
    n = rbm.parameters.vector.size
    number = rbm.parameters.like(np.arange(n, dtype=np.float64))
    own, shared = np.eye(n), {}
    of = ends(rbm)
    for f, (scale, place) in enumerate(of[: rbm.visible.n_features]):
        for k in range(rbm.n_hidden):
            if isinstance(scale, str):
                parameter = int(number.W[f, k])
                own[parameter, parameter] = _ALONE
                shared.setdefault((scale, "hidden", k), np.zeros(n))[parameter] = place
    for link, (row, column) in enumerate(zip(rbm.links.rows, rbm.links.columns, strict=True)):
        (one, here), (other, there) = of[row], of[column]
        if isinstance(one, str) or isinstance(other, str):
            parameter = int(number.links[link])
            own[parameter, parameter] = _ALONE
            shared.setdefault((one, "link", other), np.zeros(n))[parameter] = here * there
    return np.column_stack([own, *shared.values()])


def test_a_step_goes_uphill_in_every_coordinate():
    rbm = made()
    A = coordinates(rbm)
    slopes = Slopes(rbm)
    assert slopes.size == A.shape[1]
    before, uphill = rbm.parameters.vector.copy(), np.random.default_rng(1).normal(size=len(A))
    optimiser = SGD(slopes.size, np.dtype(np.float64))
    slopes.step(optimiser, rbm.parameters, rbm.parameters.like(uphill), 0.1, None)
    np.testing.assert_allclose(rbm.parameters.vector - before, 0.1 * A @ (A.T @ uphill), atol=1e-12)


@pytest.mark.parametrize(
    "questions",
    [
        [Binary("b", ["no", "yes"]), Categorical("c", ["x", "y", "z"])],
        [Ordinal("s", [1, 2, 3], basis="stereotype"), Ordinal("p", [1, 2, 3], basis="paper"), Ordinal("two", [1, 2])],
    ],
)
def test_without_levels_of_their_own_there_are_no_slopes(questions):
    rbm = made(questions)
    slopes = Slopes(rbm)
    assert slopes.size == rbm.parameters.vector.size
    uphill = np.random.default_rng(1).normal(size=slopes.size)
    before = rbm.parameters.vector.copy()
    slopes.step(SGD(slopes.size, np.dtype(np.float64)), rbm.parameters, rbm.parameters.like(uphill), 0.1, None)
    np.testing.assert_allclose(rbm.parameters.vector, before + 0.1 * uphill)
