"""The free energy of answers that training did not see, beside that of answers that it did."""

from __future__ import annotations

import numpy as np

from mvrbm.rbm import RBM
from mvrbm.summary import weight_of
from mvrbm.training.engine import CHUNK, Workers, chunks_of
from mvrbm.training.stopping import HiddenAnswers, as_many
from mvrbm.units.block import Array, Index
from mvrbm.visible import Visible

MOST_PEOPLE = 1000
"""People whose rows are compared."""


class FreeEnergyGap:
    """How much higher a machine's free energy is for answers that it did not learn from.

    As many of a person's kept answers as were hidden are exchanged for those that were. The row then has as many
    answers, chosen alike, as the one in the training table: but for learning by heart, both have the same free energy
    in the mean. So no people need be kept apart for it.
    """

    def __init__(self, hidden: HiddenAnswers, visible: Visible, seed: int) -> None:
        random = np.random.Generator(np.random.Philox(key=[seed, 2**63 + 2]))
        rows = np.sort(random.permutation(hidden.rows)[:MOST_PEOPLE])
        self.seen, full = hidden.kept.take(rows), hidden.full.take(rows)
        every = np.arange(len(rows))
        kept, all_of_them = (visible.answered(visible.load(a, every)) for a in (self.seen, full))
        number = (all_of_them & ~kept).sum(axis=0)
        given_up = as_many(kept, number, random)
        self.unseen = full
        visible.store(visible.keep_only(visible.load(full, every), ~given_up), self.unseen, every)
        self.places: Index = np.flatnonzero((number > 0) & (given_up.sum(axis=0) == number))
        """The people who had answers hidden and have as many to give up."""
        self.rows = rows

    def of(self, rbm: RBM, workers: Workers, weights: Array | None = None) -> float:
        """The mean free energy of the rows with exchanged answers, less that of the rows as they are in training."""

        def differences(own: Index) -> Array:
            unseen, seen = (rbm.free_energy(rbm.visible.load(a, own, rbm.dtype)) for a in (self.unseen, self.seen))
            result: Array = unseen - seen
            return result

        found = np.concatenate([np.zeros(0), *workers.map(differences, chunks_of(self.places, CHUNK))])
        weight = weight_of(weights, self.rows[self.places])
        return float(weight @ found / weight.sum()) if len(found) else 0.0
