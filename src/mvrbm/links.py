"""Direct links: weights between the answers of two questions, and from which questions are answered to answers.

With links the energy gains `-x^T L x / 2 - x^T S r`, where L is symmetric, zero within a question and sparse, and r
says which questions are known to be answered. P(h | v) is as before; given h, linked questions depend on each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mvrbm.kernels.links import add, add_products
from mvrbm.units.block import Array, Index

ANSWERED_GAIN = 3.0
"""How much faster the links from answered-or-not learn: few of them matter, and those have to become large."""


class Links:
    """Where the links are. Link n has the weight n of a vector, and joins the features `rows[n]` and `columns[n]`.

    A column is a row of the machine's inputs: its features, then one for each question answered or not, then a one.
    """

    def __init__(self, rows: Index, columns: Index, feature_question: Index) -> None:
        self.rows, self.columns = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
        n_features = len(feature_question)
        self.mutual: NDArray[np.bool_] = self.columns < n_features
        """Whether both ends are answers."""
        number = np.arange(len(self.rows))
        to = np.concatenate([self.rows, self.columns[self.mutual]])
        from_ = np.concatenate([self.columns, self.rows[self.mutual]])
        order = np.lexsort([from_, to])
        self._indptr = np.searchsorted(to[order], np.arange(n_features + 1))
        self._indices = from_[order]
        self._number = np.concatenate([number, number[self.mutual]])[order]
        self._gain = np.where(self._indices < n_features, 1.0, ANSWERED_GAIN).astype(np.float32)
        self.colours = self._coloured(feature_question)
        """Sets of questions, (questions, 1) each, of which no two are linked."""

    @staticmethod
    def check(rows: Index, columns: Index, feature_question: Index, n_told: int) -> None:
        """Refuse links, read from a file, that join what there is not, or a question with itself.

        The features are those of the file; one that the machine has no more is of question -1.
        """
        n = len(feature_question)
        question = np.concatenate([feature_question, np.arange(n_told)])
        inside = (rows >= 0) & (rows < n) & (columns >= 0) & (columns < len(question))
        fit = len(rows) > 0 and inside.all() and (question[rows] != question[columns]).all()
        if not fit or (question[[rows, columns]] < 0).any():
            raise ValueError("its links join what cannot be joined")

    def __len__(self) -> int:
        """The number of weights."""
        return len(self.rows)

    def _coloured(self, feature_question: Index) -> list[NDArray[np.bool_]]:
        """Colour the questions greedily, those with the most links first."""
        n = int(feature_question[-1]) + 1
        ends = feature_question[self.rows[self.mutual]], feature_question[self.columns[self.mutual]]
        linked = sparse.coo_array((np.ones(len(ends[0]), bool), ends), shape=(n, n)).toarray()
        linked |= linked.T
        colour = np.full(n, -1)
        for question in np.argsort(-linked.sum(axis=0), kind="stable"):
            taken = set(colour[linked[question]])
            colour[question] = next(c for c in range(n) if c not in taken)
        return [(colour == c)[:, None] for c in range(colour.max() + 1)]

    def add_inputs(self, weights: Array, X: Array, z: Array, features: slice = slice(None)) -> None:
        """Add L x + S r of the inputs X to z, or to the z of some consecutive features."""
        start, stop, _ = features.indices(len(self._indptr) - 1)
        ends = self._indptr[start : stop + 1]
        add(ends, self._indices, self._number, self._gain, weights, X, z)

    def among(self, features: Index) -> tuple[Index, Index, Index]:
        """The links that join two of some features, and where among these their ends are."""
        place = np.full(len(self._indptr) - 1, -1)
        place[features] = np.arange(len(features))
        mutual = np.flatnonzero(self.mutual)
        ends = place[self.rows[mutual]], place[self.columns[mutual]]
        both = (ends[0] >= 0) & (ends[1] >= 0)
        return mutual[both], ends[0][both], ends[1][both]

    def energy(self, weights: Array, X: Array) -> Array:
        """x^T L x / 2 + x^T S r of each person."""
        x = X[: len(self._indptr) - 1]
        twice = np.where(self.mutual, 0.5, 1.0).astype(weights.dtype) * weights
        z = np.zeros_like(x)
        self.add_inputs(twice, X, z)
        result: Array = np.einsum("db,db->b", x, z)
        return result

    def slope(self, error: Array, X: Array) -> Array:
        """The derivative by the weights of the sum over people of error·(L x + S r)."""
        slope = np.zeros(len(self), error.dtype)
        add_products(self._indptr, self._indices, self._number, self._gain, error, X, slope)
        return slope
