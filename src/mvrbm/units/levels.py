"""What categorical, ordinal, ranking and count questions share: units that take one of a few levels.

A level's logit is linear in the inputs of its question: logits = A z + C theta. Then the features of a code are its
row of A, its base statistics its row of C, and all the rest is a softmax. A is the identity for categories, the basis
for an ordinal scale, says who won for the pairs of a ranking, and is a number and its logarithm for counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from mvrbm.kernels import levels
from mvrbm.kernels.outlook import tilted
from mvrbm.summary import Summary
from mvrbm.units.block import Array, Block, Codes, Index, Listed

if TYPE_CHECKING:
    from mvrbm.units.question import Question

_RIDGE = 1e-4  # of an answer: where a basis is redundant, it picks the smallest of the equivalent biases


class LevelBlock(Block):
    """Units of a few levels each, one or more per question."""

    smoothing: ClassVar[float] = 0.5
    """Answers of each level that the start adds to those counted, so that a level without any stays possible."""

    def __init__(
        self,
        questions: Sequence[Question],
        sizes: Sequence[int],
        owner: Index,
        A: sparse.csr_array | None = None,
        C: sparse.csr_array | None = None,
    ) -> None:
        """Take the levels of each unit, the question that owns it, and A and C (None: identity, none)."""
        self.questions = questions
        self.base_question = np.zeros(0, np.int64)
        self.size = np.asarray(sizes, np.int64)
        self.level_start = np.cumsum(self.size) - self.size
        self.n_levels = int(self.size.sum())
        self.owner = np.asarray(owner, np.int64)
        self.n_codes = self.n_draws = len(self.size)
        self.n_features = self.n_levels if A is None else A.shape[1]
        self.gathers = A is None
        if A is None:
            self.feature_start = self.level_start
        self.n_base = 0 if C is None else C.shape[1]
        self.A, self.C = _Map.of(A), _Map.of(C)

    def start(self, summary: Summary) -> tuple[Array, Array]:
        counts = np.concatenate([c[:m] + self.smoothing for c, m in zip(summary.counts, self.size, strict=True)])
        if self.A is None:
            logits = np.log(counts)
            return logits - self._per_unit(np.add, logits) / np.repeat(self.size, self.size), np.zeros(0)
        base = self.start_base()
        free = np.flatnonzero(self.natural_slope(base))
        return self._fit_marginals(counts, base, free)

    def start_base(self) -> Array:
        """The base parameters before they are fitted: 0 unless the type fixes them."""
        return np.zeros(self.n_base)

    def _per_unit(self, sum_: np.ufunc, values: Array) -> Array:
        return np.repeat(sum_.reduceat(values, self.level_start), self.size)

    def _fit_marginals(self, counts: Array, base: Array, free: Index) -> tuple[Array, Array]:
        """Maximise the likelihood of the counts over U and the free base parameters: it is concave."""
        total = self._per_unit(np.add, counts)
        scale = max(float(counts.sum()), 1.0)

        def loss(parameters: Array) -> tuple[float, Array]:
            U, theta = parameters[: self.n_features], base.copy()
            theta[free] = parameters[self.n_features :]
            logits = self._logits(U[:, None], theta)[:, 0]
            top = self._per_unit(np.maximum, logits)
            log_p = logits - top - np.log(self._per_unit(np.add, np.exp(logits - top)))
            residual = (counts - total * np.exp(log_p))[:, None]
            slope = [self._to_features(residual)[:, 0]]
            if len(free):
                slope.append(self._to_base(residual)[free, 0])
            ridge = _RIDGE * parameters
            return float(0.5 * parameters @ ridge - counts @ log_p) / scale, (ridge - np.concatenate(slope)) / scale

        first = np.zeros(self.n_features + len(free))
        options = {"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-9}
        best = optimize.minimize(loss, first, jac=True, method="L-BFGS-B", options=options).x
        base = base.copy()
        base[free] = best[self.n_features :]
        return best[: self.n_features], base

    def _logits(self, z: Array, theta: Array) -> Array:
        """A z + C theta; z itself where there is neither."""
        if self.A is None:
            return z
        out = np.zeros((self.n_levels, z.shape[1]), z.dtype)
        self.A.add(z, out)
        if self.C is not None:
            bias = np.zeros((self.n_levels, 1), z.dtype)
            self.C.add(np.ascontiguousarray(theta, z.dtype)[:, None], bias)
            out += bias
        return out

    def _to_features(self, levels_: Array, x: Array | None = None) -> Array:
        """A^T applied to a value for each level."""
        x = np.zeros((self.n_features, levels_.shape[1]), levels_.dtype) if x is None else x
        if self.A is None:
            x[:] = levels_
        else:
            x[:] = 0
            self.A.add_transposed(levels_, x)
        return x

    def _to_base(self, levels_: Array, t: Array | None = None) -> Array:
        """C^T applied to a value for each level."""
        t = np.zeros((self.n_base, levels_.shape[1]), levels_.dtype) if t is None else t
        t[:] = 0
        if self.C is not None:
            self.C.add_transposed(levels_, t)
        return t

    def _one_hot(self, codes: Codes, dtype: np.dtype[np.floating]) -> Array:
        out = np.empty((self.n_levels, codes.shape[1]), dtype)
        levels.one_hot(codes, self.level_start, self.size, out)
        return out

    def features(self, codes: Codes, numbers: Array, x: Array) -> None:
        if self.A is None:
            levels.one_hot(codes, self.level_start, self.size, x)
        else:
            self._to_features(self._one_hot(codes, x.dtype), x)

    def add_inputs(self, codes: Codes, W: Array, a: Array) -> None:
        levels.add_weights(codes, self.level_start, W, a)

    def base_statistics(self, codes: Codes, x: Array, t: Array) -> None:
        self._to_base(self._one_hot(codes, t.dtype), t)

    def sample(self, z: Array, theta: Array, u: Array, codes: Codes, numbers: Array) -> None:
        levels.sample(self._logits(z, theta), self.level_start, self.size, u, codes)

    def probabilities(self, z: Array, theta: Array) -> Array:
        """The probability of each level given z."""
        return self.softmax(self._logits(z, theta))

    def outlook(
        self, P: Array, U: Array, W: Array, theta: Array, wanted: NDArray[np.bool_], share: float = 1.0
    ) -> Array:
        """The logit of each level; where its unit is not wanted, that of the machine without hidden units."""
        weights, bias = self._logits(np.ascontiguousarray(W), np.zeros_like(theta)), self._logits(U, theta)
        logits: Array = tilted(P, weights, share, bias, self.level_start, self.size, wanted)
        return logits

    def listed(self, cells: Index, U: Array, W: Array, theta: Array) -> Listed:
        own = np.concatenate([np.arange(self.size[i]) + self.level_start[i] for i in cells])
        features, X = (own, np.eye(len(own))) if self.A is None else self.A.rows(own)
        base, T = (own[:0], np.zeros((len(own), 0))) if self.C is None else self.C.rows(own)
        return Listed(features, base, X.T, T.T, np.zeros(len(own)), self.size[cells])

    def certainty(self, outlook: Array, codes: Codes) -> Array:
        return self._probability(outlook, codes)

    def _probability(self, outlook: Array, codes: Codes) -> Array:
        """The probability of each code."""
        p = self.softmax(outlook)
        at = self.level_start[:, None] + np.maximum(codes, 0)
        return np.take_along_axis(p, at, axis=0)

    def log_prob(self, outlook: Array, codes: Codes, numbers: Array) -> Array:
        return np.where(codes >= 0, np.log(np.maximum(self._probability(outlook, codes), 1e-300)), 0.0)

    def chances(self, q: int, outlook: Array) -> tuple[list[object], Array]:
        own = slice(self.level_start[q], self.level_start[q] + self.size[q])
        return list(self.questions[q].known_values), self.softmax(outlook.astype(np.float64))[own]

    def decide(self, z: Array, theta: Array, codes: Codes, numbers: Array) -> None:
        self.settle(self._logits(z, theta), codes, numbers)

    def softmax(self, logits: Array) -> Array:
        """The probability of each level."""
        out = np.empty_like(logits)
        levels.probabilities(logits, self.level_start, self.size, out)
        return out

    def most_probable(self, p: Array, codes: Codes) -> None:
        """Write the level of each unit with the largest p."""
        levels.mode(p, self.level_start, self.size, codes)

    def mean(self, z: Array, theta: Array, codes: Codes, numbers: Array, x: Array, t: Array) -> None:
        p = self.probabilities(z, theta)
        levels.mask(codes, self.level_start, self.size, p)
        self._to_features(p, x)
        if self.n_base:
            self._to_base(p, t)

    def log_partition(self, z: Array, theta: Array, codes: Codes, numbers: Array, out: Array) -> None:
        out[:] = 0
        levels.log_partition(self._logits(z, theta), self.level_start, self.size, codes, self.owner, out)


class _Map:
    """A sparse matrix and its transpose, in the arrays that the kernels take."""

    def __init__(self, matrix: sparse.csr_array) -> None:
        self._rows = self._arrays(matrix.tocsr())
        self._columns = self._arrays(matrix.T.tocsr())

    @classmethod
    def of(cls, matrix: sparse.csr_array | None) -> _Map | None:
        return None if matrix is None else cls(matrix)

    @staticmethod
    def _arrays(m: sparse.csr_array) -> tuple[Index, Index, dict[np.dtype[np.floating], Array]]:
        values: dict[np.dtype[np.floating], Array] = {
            np.dtype(np.float32): m.data.astype(np.float32),
            np.dtype(np.float64): m.data.astype(np.float64),
        }
        return m.indptr.astype(np.int64), m.indices.astype(np.int64), values

    def add(self, y: Array, out: Array) -> None:
        """Add the matrix times y to out."""
        indptr, indices, values = self._rows
        levels.apply(indptr, indices, values[out.dtype], y, out)

    def rows(self, own: Index) -> tuple[Index, Array]:
        """Some rows, dense but without the columns that are 0 in all of them; and which columns are left."""
        indptr, indices, values = self._rows
        matrix = sparse.csr_array((values[np.dtype(np.float64)], indices, indptr))[own]
        columns = np.unique(matrix.indices)
        return columns, matrix.toarray()[:, columns]

    def add_transposed(self, y: Array, out: Array) -> None:
        """Add the transposed matrix times y to out."""
        indptr, indices, values = self._columns
        levels.apply(indptr, indices, values[out.dtype], y, out)
