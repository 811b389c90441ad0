"""Sums over grids: of what a number may be, of each person's own (`kernels/density.py`), and nodes of one for all."""

from __future__ import annotations

from functools import cache

import numpy as np

from mvrbm.kernels.density import ENDS, HEAD
from mvrbm.units.block import Array, Index


@cache
def gauss_legendre(n: int) -> tuple[Array, Array]:
    """The n nodes between -1 and 1, and their weights."""
    return np.polynomial.legendre.leggauss(n)


def moments_of(grids: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of grids of pieces, (..., pieces, HEAD + points)."""
    mean, sd, log_share = np.moveaxis(grids[..., 3:HEAD], -1, 0)
    share = np.exp(log_share)
    whole = (share * mean).sum(axis=-1)
    return whole, np.sqrt((share * (sd**2 + (mean - whole[..., None]) ** 2)).sum(axis=-1))


def quantile(grids: Array, share: float) -> Array:
    """Below where that share of each person's answers lies, given grids of pieces, (people, pieces, HEAD + points)."""
    people = np.arange(len(grids))
    shares = np.exp(grids[..., HEAD - 1])
    up_to = np.cumsum(shares, axis=1)
    piece = np.minimum((up_to < share * up_to[:, -1:]).sum(axis=1), up_to.shape[1] - 1)
    own = grids[people, piece]
    low, step, n = own[:, :3].T
    inside = 1 - (up_to[people, piece] - share * up_to[:, -1]) / shares[people, piece]
    at = np.linspace(0, n - 1, 1 + 8 * int(n.max()))  # finer than the grid
    p = np.exp(log_density_at(own, at))
    below = np.cumsum(p[1:] + p[:-1], axis=0, dtype=np.float64)
    below = np.concatenate([np.zeros((1, len(n))), below / below[-1]])
    found: Array = low + step * [np.interp(inside[b], below[:, b], at[:, b]) for b in people]
    return found


def log_density_at(grids: Array, at: Array) -> Array:
    """The log of the density of each person, in steps of the grid, at places on it: a parabola through three points."""
    last = grids[:, 2].astype(np.int64) - 1
    nearest = np.clip(np.rint(at), 1, last - 1).astype(np.int64)

    def log_p(place: Index) -> Array:
        weight = ENDS[np.minimum(np.minimum(place, last - place), len(ENDS) - 1)]
        found: Array = np.log(np.maximum(grids[np.arange(len(grids)), HEAD + place] / weight, 1e-300))
        return found

    before, here, after = log_p(nearest - 1), log_p(nearest), log_p(nearest + 1)
    d = at - nearest
    result: Array = here + d * (after - before) / 2 + d**2 * (after - 2 * here + before) / 2
    return result
