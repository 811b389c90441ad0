"""Steps along scales: what the levels of a question have in common is learnt at once, and not level by level.

A question with an order has weights for each of its levels, and most of what they have to learn is a slope. So a
weight is written as `alone * a + place * b`, where b is one number for all levels and `place` is where the level stands
on the scale, and steps are taken in a and b; so is a link, by the places of both its ends. The machine is the same, and
so is what it can come to be: only the way there is another, on which few people tell a slope from noise sooner.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from mvrbm.rbm import RBM, Parameters
from mvrbm.training.engine import Workers
from mvrbm.training.optimiser import Optimiser
from mvrbm.units.block import Array

_ALONE = 0.2  # how far a level moves by itself, in steps of the others


class Slopes:
    """The coordinates of a machine: its parameters, and then the slopes that they share."""

    def __init__(self, rbm: RBM) -> None:
        visible, kind = rbm.visible, rbm.dtype
        place = visible.places_on_scales
        on = ~np.isnan(place)
        scales, own = np.unique(visible.feature_question[on], return_inverse=True)
        where = np.flatnonzero(on), own
        self._of_weights = sparse.csr_array((place[on], where), shape=(len(place), len(scales)), dtype=kind)
        self._of_links = self._shared_by_links(rbm, place, on).astype(kind)
        self._to_scales, self._to_slopes = self._of_weights.T.tocsr(), self._of_links.T.tocsr()
        self._shape = len(scales), rbm.n_hidden
        alone = rbm.parameters.like(np.ones_like(rbm.parameters.vector))
        alone.W[on] = _ALONE
        alone.links[np.diff(self._of_links.indptr) > 0] = _ALONE
        self._alone = alone.vector
        self.size = len(self._alone) + len(scales) * rbm.n_hidden + self._of_links.shape[1]

    @staticmethod
    def _shared_by_links(rbm: RBM, place: Array, on: Array) -> sparse.csr_array:
        """What each link has of each slope, (links, slopes): one slope for all between the same ends.

        An end is a question with an order, or else a feature, or a question answered or not.
        """
        if not rbm.links:
            return sparse.csr_array((0, 0))
        n_told = len(rbm.parameters.R)
        n = len(place) + n_told
        end = np.where(on, n + rbm.visible.feature_question, np.arange(len(place)))
        end, places = np.append(end, np.arange(len(place), n)), np.append(np.where(on, place, 1.0), np.ones(n_told))
        rows, columns = rbm.links.rows, rbm.links.columns
        some = np.flatnonzero((end[rows] >= n) | (end[columns] >= n))
        rows, columns = rows[some], columns[some]
        _, slope = np.unique(end[rows] * (2 * n) + end[columns], return_inverse=True)
        shape = len(rbm.links), int(slope.max(initial=-1)) + 1
        return sparse.csr_array((places[rows] * places[columns], (some, slope)), shape=shape)

    def step(
        self, optimiser: Optimiser, parameters: Parameters, gradient: Parameters, rate: float, workers: Workers | None
    ) -> None:
        """Move the parameters uphill, in place, by a step of the optimiser in all coordinates."""
        if self.size == len(self._alone):
            optimiser.step(parameters.vector, gradient.vector, rate, workers)
            return
        slopes = (self._to_scales @ gradient.W).ravel()
        uphill = np.concatenate([self._alone * gradient.vector, slopes, self._to_slopes @ gradient.links])
        moved = np.zeros(self.size, uphill.dtype)
        optimiser.step(moved, uphill, rate, workers)
        own, slopes, links = np.split(moved, [len(self._alone), len(self._alone) + len(slopes)])
        parameters.vector += self._alone * own
        parameters.W += self._of_weights @ slopes.reshape(self._shape)
        parameters.links += self._of_links @ links
