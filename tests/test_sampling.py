"""Samplers by stationarity: people drawn exactly from the machine must still look so after the sampler moved them.

This holds for any number of sweeps, so slow mixing can neither hide nor feign a fault. What is compared are the counts
of cells of two independent samples; their chi-square has a known spread, so the bound is a multiple of
the Monte-Carlo noise and not a number found by trying.
"""

import numpy as np
import pytest

from mvrbm.kernels.random import Stream
from mvrbm.visible import Chunk
from oracle import CASES, Oracle, machine

N = 150_000


def load(rbm, answers):
    return rbm.visible.load(answers, np.arange(answers.n_rows), rbm.dtype)


def cells(chunk, edges):
    """One number for each combination of codes and of bins of the numbers."""
    bins = [np.searchsorted(e, row) for e, row in zip(edges, chunk.numbers, strict=True)]
    rows = np.concatenate([chunk.codes + 1, np.array(bins, np.int64).reshape(len(bins), chunk.n_rows)])
    return np.unique(rows, axis=1, return_inverse=True)[1].ravel()


def excess(a, b):
    """How many standard deviations the chi-square of two samples of cells lies above its mean."""
    both = Chunk(np.concatenate([a.codes, b.codes], axis=1), np.concatenate([a.numbers, b.numbers], axis=1))
    edges = [np.nanquantile(np.append(row, 0), [0.1, 0.3, 0.5, 0.7, 0.9]) for row in both.numbers]
    where = cells(both, edges)
    n = np.bincount(where[: a.n_rows], minlength=where.max() + 1).astype(float)
    m = np.bincount(where[a.n_rows :], minlength=where.max() + 1).astype(float)
    rare = n + m < 10  # pooled, so that the chi-square is one
    n, m = np.append(n[~rare], n[rare].sum()), np.append(m[~rare], m[rare].sum())
    used = n + m > 0
    chi2 = ((n - m)[used] ** 2 / (n + m)[used]).sum()
    freedom = used.sum() - 1
    return (chi2 - freedom) / np.sqrt(2 * freedom)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("linked", [False, True])
def test_draws_given_the_hidden_units(case, dtype, linked):
    """One sweep from an exact sample of the whole machine."""
    rbm, oracle = (machine(case, dtype=dtype, linked=linked), Oracle(machine(case, linked=linked)))
    before, other = (load(rbm, oracle.draw(N, np.random.default_rng(s))) for s in (1, 2))
    assert excess(before, other) < 5  # the test itself
    after = rbm.gibbs(before, Stream(7, 0, np.arange(N)), 1)
    assert excess(after, other) < 5
    assert (after.codes != before.codes).any() or (after.numbers != before.numbers).any()


@pytest.mark.parametrize("case", ["mixture", "ranking", "multicategorical", "continuous bounded"])
@pytest.mark.parametrize("linked", [False, True])
def test_blanks_stay_out_of_the_machine(case, linked):
    """Two sweeps of the machine restricted to some questions."""
    rbm = machine(case, linked=linked)
    oracle = Oracle(rbm, list(range(0, rbm.visible.n_questions, 2)))
    before, other = (load(rbm, oracle.draw(N, np.random.default_rng(s))) for s in (1, 2))
    after = rbm.gibbs(before, Stream(3, 5, np.arange(N)), 2)
    np.testing.assert_array_equal(after.codes < 0, before.codes < 0)
    np.testing.assert_array_equal(np.isnan(after.numbers), np.isnan(before.numbers))
    assert excess(after, other) < 5


@pytest.mark.parametrize("case", CASES)
def test_answers_held_fixed(case):
    """Sweeps of the full machine that hold some answers of each person fixed leave the joint as it is."""
    rbm, oracle = machine(case), Oracle(machine(case))
    before, other = (load(rbm, oracle.draw(N, np.random.default_rng(s))) for s in (1, 2))
    rng = np.random.default_rng(3)
    given = rbm.visible.keep_only(before, rng.random((rbm.visible.n_questions, N)) < 0.5)
    after = rbm.gibbs(before, Stream(3, 5, np.arange(N)), 2, given=given)
    held = given.codes >= 0
    np.testing.assert_array_equal(after.codes[held], given.codes[held])
    held = ~np.isnan(given.numbers)
    np.testing.assert_array_equal(after.numbers[held], given.numbers[held])
    assert not (after.codes < 0).any()
    assert excess(after, other) < 5


def test_a_wrong_sampler_is_seen():
    """The statistic has the power to see a small fault: weights that are off by a tenth."""
    rbm, oracle = machine("mixture"), Oracle(machine("mixture"))
    before, other = (load(rbm, oracle.draw(N, np.random.default_rng(s))) for s in (1, 2))
    rbm.parameters.W[:] *= 1.1
    assert excess(rbm.gibbs(before, Stream(7, 0, np.arange(N)), 1), other) > 5


def test_linked_questions_drawn_at_once_are_seen():
    """Given the hidden units linked questions depend on each other: one colour for all of them is wrong."""
    rbm = machine("mixture", linked=True)
    oracle = Oracle(rbm)
    before, other = (load(rbm, oracle.draw(N, np.random.default_rng(s))) for s in (1, 2))
    rbm.links.colours = [np.ones((rbm.visible.n_questions, 1), bool)]
    assert excess(rbm.gibbs(before, Stream(7, 0, np.arange(N)), 1), other) > 5


def test_draws_do_not_depend_on_the_chunk():
    rbm = machine("mixture", dtype=np.float32)
    answers = Oracle(rbm).draw(300, np.random.default_rng(0))
    whole = rbm.gibbs(load(rbm, answers), Stream(3, 9, np.arange(300)), 2)
    rows = np.arange(100, 180)[::-1].copy()
    part = rbm.gibbs(rbm.visible.load(answers, rows, rbm.dtype), Stream(3, 9, rows), 2)
    np.testing.assert_array_equal(part.codes, whole.codes[:, rows])
    np.testing.assert_allclose(part.numbers, whole.numbers[:, rows], rtol=1e-5)
