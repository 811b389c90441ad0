"""Arrays that a thread uses again for every chunk: allocating them anew would cost page faults."""

from __future__ import annotations

import threading

import numpy as np

from mvrbm.rbm import RBM

_own = threading.local()


class Workspace:
    """The arrays of one step over a chunk of some size."""

    def __init__(self, rbm: RBM, n_rows: int) -> None:
        n_features, n_hidden = rbm.parameters.shape[:2]
        n_inputs = len(rbm.parameters.joint)
        self.X = np.empty((n_inputs, n_rows), rbm.dtype)
        self.H = np.empty((n_hidden + 1, n_rows), rbm.dtype)
        self.h = np.empty((n_hidden + 1, n_rows), rbm.dtype)
        self.z = np.empty((n_features, n_rows), rbm.dtype)
        self.u = np.empty((max(n_hidden, rbm.visible.n_draws) + 4, n_rows), np.float32)
        self.product = np.empty((n_inputs, n_hidden + 1), rbm.dtype)

    @staticmethod
    def of(rbm: RBM, n_rows: int) -> Workspace:
        """The calling thread's workspace for a machine and a number of rows."""
        key = (rbm.parameters.shape, rbm.visible.n_draws, rbm.dtype, n_rows)
        kept: dict[object, Workspace] = _own.__dict__.setdefault("kept", {})
        if key not in kept:
            if len(kept) >= 4:  # a chunk and the shorter last one, of two machines
                kept.clear()
            kept[key] = Workspace(rbm, n_rows)
        return kept[key]
