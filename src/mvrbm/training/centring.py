"""Steps taken around the middle of the data, so that a weight that moves does not move what is beside it.

The machine is as well written with `U = U' - W c`, `R = R' - m W` and `w = w' - p R'` for any constants c, m and p
(Cho, Raiko and Ilin, 2013). With c the hidden units of an average row, m the mean of a question's features among those
who answer it, and p how often it is answered, a weight acts on `x - m` where there is an answer, and on nothing where
there is none: a blank says neither "no" nor anything else. Links are written alike, `S = S' - m L` and `U = U' - p S'`.
In the machine's own parameters each of these would have to be learnt, against the noise that blanks make.
"""

from __future__ import annotations

import numpy as np

from mvrbm.answers import Source
from mvrbm.kernels import hidden, steps
from mvrbm.links import ANSWERED_GAIN, Links
from mvrbm.rbm import RBM, Parameters
from mvrbm.summary import some_rows, weight_of
from mvrbm.training.engine import CHUNK, chunks_of
from mvrbm.units.block import Array, Index

_ROWS = 4096
_KEPT = 0.7
"""The share of its answers that a row keeps in a step, on average."""


class Centring:
    """Gradients and steps of a machine, to and from centred parameters."""

    def __init__(self, rbm: RBM, answers: Source, weights: Array | None, targets: Index) -> None:
        """Take the middle of some rows; answers to `targets`, by their places in the layer, come without being told."""
        visible, n_told = rbm.visible, len(rbm.parameters.R)
        n, question = visible.n_features, visible.feature_question
        mean = _KEPT * _mean_inputs(rbm, answers, weights)
        mean[-1] = 1
        self._middle = mean.astype(rbm.dtype)
        """The inputs of an average row."""
        own = np.zeros(n)
        if n_told:
            told = mean[n:-1][question]
            alone = np.isin(question, targets) | (told == 0)
            own = np.where(alone, 0, mean[:n] / np.where(alone, 1, told))
            mean[:n] -= own * told
        self._own, self._question = own.astype(rbm.dtype), question
        """The mean of each feature among those who are told to answer its question."""
        self._inputs = mean.astype(rbm.dtype)
        """The mean of each input around that."""
        self._links = _CentredLinks(rbm.links, own, mean, question, rbm.dtype) if rbm.links and n_told else None
        self._hidden: Array = np.zeros(rbm.n_hidden, rbm.dtype)

    def gradient(self, parameters: Parameters, out: Parameters) -> None:
        """Turn a gradient, in place, into that of the centred parameters."""
        middle = (parameters.joint[:, :-1].T @ self._middle)[:, None]
        hidden.sigmoid(middle)
        self._hidden = middle[:, 0]
        if self._links:
            self._links.gradient(out)
        steps.centre_gradient(out.joint, self._own, self._question, self._inputs, self._hidden)

    def enter(self, parameters: Parameters) -> Parameters:
        """Turn R and the links, in place, into the centred ones, and return a copy of all to tell steps by."""
        self._add_average(parameters, 1)
        return parameters.like(parameters.vector.copy())

    def leave(self, parameters: Parameters, before: Parameters) -> None:
        """Turn them back, and move the biases by what the rest has moved from `before`."""
        steps.move_biases(parameters.joint, before.joint, len(self._own), self._inputs, self._hidden)
        if self._links:
            self._links.move_biases(parameters, before)
        self._add_average(parameters, -1)

    def _add_average(self, parameters: Parameters, sign: int) -> None:
        as_ = parameters.vector.dtype.type
        if len(parameters.R):
            steps.add_average(parameters.joint, self._own, self._question, as_(sign))
        if self._links:
            self._links.add_average(parameters, as_(sign))


class _CentredLinks:
    """The same for links: those between answers, and those from a question's being answered where there are any."""

    def __init__(self, links: Links, own: Array, mean: Array, question: Index, dtype: np.dtype[np.floating]) -> None:
        n = len(question)
        self._to = np.flatnonzero(~links.mutual)
        self._row = links.rows[self._to]
        self._mean = (ANSWERED_GAIN * mean[links.columns[self._to]]).astype(dtype)
        number = np.full((n, len(mean) - n), -1)
        number[self._row, links.columns[self._to] - n] = self._to
        mutual = np.flatnonzero(links.mutual)
        ends = np.concatenate([links.rows[mutual], links.columns[mutual]])
        others = np.concatenate([links.columns[mutual], links.rows[mutual]])
        told = number[ends, question[others]]
        there = told >= 0
        self._average = (own[others] / ANSWERED_GAIN)[there].astype(dtype)
        """What an average answer at the end of each link is, in units of a link from its being answered."""
        self._told, self._mutual = told[there], np.tile(mutual, 2)[there]
        """That link, and the link whose end it is."""

    def gradient(self, out: Parameters) -> None:
        steps.add_entries(-self._average, self._mutual, self._told, out.links, out.links)
        steps.add_entries(-self._mean, self._to, self._row, out.U, out.links)

    def add_average(self, parameters: Parameters, sign: np.floating) -> None:
        steps.add_entries(sign * self._average, self._told, self._mutual, parameters.links, parameters.links)

    def move_biases(self, parameters: Parameters, before: Parameters) -> None:
        moved = parameters.links - before.links
        steps.add_entries(-self._mean, self._row, self._to, moved, parameters.U)


def _mean_inputs(rbm: RBM, answers: Source, weights: Array | None) -> Array:
    """The features of an average row, which questions it answers, and a one."""
    total = np.zeros(len(rbm.parameters.joint))
    rows = some_rows(weights, answers.n_rows, _ROWS)
    held, weight = answers.take(rows), weight_of(weights, rows)
    for own in chunks_of(np.arange(len(rows)), CHUNK):
        total += rbm.features(rbm.visible.load(held, own, rbm.dtype)).astype(np.float64) @ weight[own]
    result: Array = total / max(weight.sum(), 1e-9)
    return result
