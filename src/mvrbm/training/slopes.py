"""Steps along scales: what the levels of a question have in common is learnt at once, and not level by level.

A question with an order has weights for each of its levels, and most of what they have to learn is a slope. So a
weight is written as `alone * a + place * b`, where b is one number for all levels and `place` is where the level stands
on the scale, and steps are taken in a and b; so is a link, by the places of both its ends. The machine is the same, and
so is what it can come to be: only the way there is another, on which few people tell a slope from noise sooner.
"""

from __future__ import annotations

import numpy as np

from mvrbm.kernels import steps
from mvrbm.rbm import RBM, Parameters
from mvrbm.training.engine import Workers
from mvrbm.training.optimiser import Optimiser
from mvrbm.units.block import Array, Index

_ALONE = 0.2  # how far a level moves by itself, in steps of the others


class Slopes:
    """The coordinates of a machine: its parameters, and then the slopes that they share."""

    def __init__(self, rbm: RBM) -> None:
        visible, kind = rbm.visible, rbm.dtype
        place = visible.places_on_scales
        on = ~np.isnan(place)
        scales, own = np.unique(visible.feature_question[on], return_inverse=True)
        self._places, self._features, self._scales = place[on].astype(kind), np.flatnonzero(on), own
        links, own, products, n_slopes = self._shared_by_links(rbm, place, on)
        self._products, self._links, self._slopes = products.astype(kind), links, own
        self._shape = len(scales), rbm.n_hidden
        alone = rbm.parameters.like(np.ones_like(rbm.parameters.vector))
        alone.W[on] = _ALONE
        alone.links[links] = _ALONE
        self._alone = alone.vector
        self.size = len(self._alone) + len(scales) * rbm.n_hidden + n_slopes
        self._uphill, self._moved = np.empty((2, self.size), kind)

    @staticmethod
    def _shared_by_links(rbm: RBM, place: Array, on: Array) -> tuple[Index, Index, Array, int]:
        """The links that share a slope, which one, how much each has of it, and the number of slopes.

        There is one for all between the same ends. An end is a question with an order, or else a feature, or a question
        answered or not.
        """
        if not rbm.links:
            none = np.zeros(0, np.int64)
            return none, none, np.zeros(0), 0
        n_told = len(rbm.parameters.R)
        n = len(place) + n_told
        end = np.where(on, n + rbm.visible.feature_question, np.arange(len(place)))
        end, places = np.append(end, np.arange(len(place), n)), np.append(np.where(on, place, 1.0), np.ones(n_told))
        rows, columns = rbm.links.rows, rbm.links.columns
        some = np.flatnonzero((end[rows] >= n) | (end[columns] >= n))
        rows, columns = rows[some], columns[some]
        _, slope = np.unique(end[rows] * (2 * n) + end[columns], return_inverse=True)
        return some, slope, places[rows] * places[columns], int(slope.max(initial=-1)) + 1

    def step(
        self, optimiser: Optimiser, parameters: Parameters, gradient: Parameters, rate: float, workers: Workers | None
    ) -> None:
        """Move the parameters uphill, in place, by a step of the optimiser in all coordinates."""
        if self.size == len(self._alone):
            optimiser.step(parameters.vector, gradient.vector, rate, workers)
            return
        own, slopes, links = self._parts(self._uphill)
        np.multiply(self._alone, gradient.vector, out=own)
        slopes[:], links[:] = 0, 0
        steps.add_rows(self._places, self._scales, self._features, gradient.joint, slopes)
        steps.add_entries(self._products, self._slopes, self._links, gradient.links, links)
        self._moved[:] = 0
        optimiser.step(self._moved, self._uphill, rate, workers)
        own, slopes, links = self._parts(self._moved)
        own *= self._alone
        parameters.vector += own
        steps.add_rows(self._places, self._features, self._scales, slopes, parameters.joint)
        steps.add_entries(self._products, self._links, self._slopes, links, parameters.links)

    def _parts(self, vector: Array) -> tuple[Array, Array, Array]:
        """The parameters' own coordinates, the slopes of the weights, (scales, hidden), and those of the links."""
        n = len(self._alone)
        m = n + self._shape[0] * self._shape[1]
        return vector[:n], vector[n:m].reshape(self._shape), vector[m:]
