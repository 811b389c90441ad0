"""Which options to choose, given how probable they are, and how often choices are right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from mvrbm.units.block import Array, Scored

_OFF = 0.1
"""By how much the slope and the height of log-odds are off, as a rule: their standard deviation before answers tell."""


def how_sure(z: Array, chosen: NDArray[np.bool_], weights: Array) -> Array:
    """The slope and the height at which the log-odds slope * z + height make the choices most probable."""
    weights = weights / weights.mean()

    def loss(line: Array) -> tuple[float, Array]:
        log_odds, off = line[0] * z + line[1], (line - (1, 0)) / _OFF
        wrong = weights * (special.expit(log_odds) - chosen)
        found = weights @ (np.logaddexp(0, log_odds) - chosen * log_odds)
        return found + off @ off / 2, np.array([wrong @ z, wrong.sum()]) + off / _OFF

    best = optimize.minimize(loss, (1.0, 0.0), jac=True, method="L-BFGS-B", bounds=[(0.01, None), (None, None)])
    line: Array = best.x
    return line


def best_cut(chances: Array, weights: Array) -> float:
    """The probability from which choosing an option makes F1 largest, F1 being that of the expected counts."""
    order = np.argsort(-chances)
    hits, taken = np.cumsum((weights * chances)[order]), np.cumsum(weights[order])
    return float((2 * hits / (taken + hits[-1])).max() / 2)  # the cut that is best is half of the best F1


def hits_and_answered(codes: Scored, true_codes: Scored, weights: Array) -> NDArray[np.float64]:
    """For each option, the weight of true positives, false positives, false negatives and of all answers."""
    answered = true_codes >= 0
    truth, guess = true_codes == 1, (codes == 1) & answered
    parts = (truth & guess, ~truth & guess, truth & ~guess, answered)
    return np.stack([part @ weights for part in parts], axis=1)
