"""What binary and multicategorical questions share: independent 0/1 units, one feature each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import special

from mvrbm.kernels import hidden, indicators
from mvrbm.kernels.outlook import tilted
from mvrbm.summary import Summary
from mvrbm.units.block import Array, Block, Codes, Index, Listed

if TYPE_CHECKING:
    from mvrbm.units.question import Question


def smoothed(counts: Array) -> Array:
    """Shares of each code with half an answer added to each, so that none is 0."""
    counts = counts + 0.5
    share: Array = counts / counts.sum(axis=-1, keepdims=True)
    return share


class IndicatorBlock(Block):
    """0/1 units, some per question; given the hidden units, each is a sigmoid."""

    def __init__(self, questions: Sequence[Question], summary: Summary, paper: bool) -> None:
        super().__init__(questions, summary, paper)
        sizes = np.array([q.n_codes for q in questions])
        self.n_codes = self.n_features = self.n_draws = int(sizes.sum())
        self.feature_start = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        self.owner = np.repeat(np.arange(len(sizes)), sizes)
        self.threshold = np.zeros((self.n_codes, 1))
        """The log-odds from which a 1 is decided on; 0 is the more probable value."""

    def start(self, summary: Summary) -> tuple[Array, Array]:
        share = smoothed(summary.counts[:, :2])
        return np.log(share[:, 1] / share[:, 0]), np.zeros(0)

    def features(self, codes: Codes, numbers: Array, x: Array) -> None:
        indicators.features(codes, x)

    def sample(self, z: Array, theta: Array, u: Array, codes: Codes, numbers: Array) -> None:
        indicators.sample(z, u, codes)

    def mean(self, z: Array, theta: Array, codes: Codes, numbers: Array, x: Array, t: Array) -> None:
        x[:] = z
        hidden.sigmoid(x)
        x *= codes >= 0

    def log_partition(self, z: Array, theta: Array, codes: Codes, numbers: Array, out: Array) -> None:
        out[:] = 0
        indicators.log_partition(z, codes, self.owner, out)

    def outlook(
        self, P: Array, U: Array, W: Array, theta: Array, wanted: NDArray[np.bool_], share: float = 1.0
    ) -> Array:
        """The log-odds of each 1."""
        odds: Array = tilted(P, W, share, U, np.arange(self.n_codes), np.ones(self.n_codes, np.int64), wanted)
        return odds

    def listed(self, cells: Index, U: Array, W: Array, theta: Array) -> Listed:
        n = 2 * len(cells)
        X = np.kron(np.eye(len(cells)), [0.0, 1.0])
        return Listed(cells, np.zeros(0, np.int64), X, np.zeros((0, n)), np.zeros(n), np.full(len(cells), 2))

    def certainty(self, outlook: Array, codes: Codes) -> Array:
        result: Array = special.expit(np.where(codes == 1, outlook, -outlook))
        return result

    def log_prob(self, outlook: Array, codes: Codes, numbers: Array) -> Array:
        return np.where(codes >= 0, -np.logaddexp(0, np.where(codes == 1, -outlook, outlook)), 0.0)

    def chances(self, q: int, outlook: Array) -> tuple[list[object], Array]:
        """The probability of each option."""
        own = slice(self.feature_start[q], self.feature_start[q] + self.questions[q].n_codes)
        return list(self.questions[q].known_values), special.expit(outlook[own].astype(np.float64))

    def settle(self, outlook: Array, codes: Codes, numbers: Array) -> None:
        self.decide(outlook, np.zeros(0), codes, numbers)

    def decide(self, z: Array, theta: Array, codes: Codes, numbers: Array) -> None:
        codes[:] = z >= self.threshold
