"""Training by L-BFGS, for an objective that has a value: few, long steps over the whole table."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import optimize

from mvrbm.answers import Source
from mvrbm.rbm import RBM
from mvrbm.summary import relative, weight_of
from mvrbm.training.conditional import Towards
from mvrbm.training.engine import TreeSum, Workers
from mvrbm.training.objectives import Batch
from mvrbm.training.settings import Settings
from mvrbm.training.stopping import HiddenAnswers, Patience
from mvrbm.training.trainer import History, Progress
from mvrbm.units.block import Array


def train_lbfgs(
    rbm: RBM,
    answers: Source,
    settings: Settings,
    weights: Array | None,
    progress: Progress | None,
    hidden: HiddenAnswers | None,
    objective: Towards,
) -> History:
    """Train a machine in place; an epoch is a step. With `hidden`, the parameters are those that predict it best."""
    history = History()
    patience = Patience(settings.patience, drops=0)
    every = np.arange(answers.n_rows)
    relative_weights = weight_of(relative(weights), every)
    kept = hidden.kept if hidden else answers
    total = TreeSum(rbm.parameters.vector)
    held = hidden if hidden and hidden.any else None

    def put(x: Array) -> None:
        rbm.parameters.vector[:] = x
        rbm.refresh()

    with Workers(settings.n_threads) as workers:
        last: Array = rbm.parameters.vector.astype(np.float64)

        def loss(x: Array) -> tuple[float, Array]:
            put(x)
            batch = Batch(kept, every, relative_weights / answers.n_rows, 0)
            found = workers.total(objective.jobs(rbm, batch), total)
            out = rbm.parameters.like(found)
            value, out.joint[-1, -1] = float(out.joint[-1, -1]), 0
            if settings.l2:
                value -= 0.5 * settings.l2 * float((rbm.parameters.W.astype(np.float64) ** 2).sum())
                out.W[:] -= settings.l2 * rbm.parameters.W
            gradient = -found.astype(np.float64)
            total.release(found)
            return -value, gradient

        def after_step(x: Array) -> None:
            nonlocal last
            last = x.copy()
            put(x)
            entry = {"loss": held.loss(rbm, workers, relative_weights)} if held else {}
            history.epochs.append(entry)
            if progress:
                progress(len(history.epochs) - 1, entry)
            verdict = patience.see(entry["loss"], rbm.parameters.vector) if held else "better"
            if verdict == "better":
                history.best_epoch = len(history.epochs)
            elif verdict == "stop":
                history.stopped = "early_stopping"
                raise StopIteration

        if held:
            history.start_loss = held.loss(rbm, workers, relative_weights)
            patience.see(history.start_loss, rbm.parameters.vector)
        options = {"maxiter": settings.max_epochs}
        try:
            found = optimize.minimize(loss, last, jac=True, method="L-BFGS-B", callback=after_step, options=options)
            last = found.x
            if found.success and history.stopped != "early_stopping":
                history.stopped = "converged"
        except KeyboardInterrupt:
            history.stopped = "interrupted"
            warnings.warn(f"training was interrupted in step {len(history.epochs) + 1}", stacklevel=4)
        put(patience.vector if patience.vector is not None else last)
    return history
