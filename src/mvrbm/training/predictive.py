"""The ways to learn some questions, the targets, from the others (paper section 3.1.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import Source
from mvrbm.rbm import RBM
from mvrbm.training.checkpoint import Checkpoint
from mvrbm.training.conditional import (
    Blend,
    ClampedCD,
    Conditional,
    Readout,
    ReadoutTargets,
    Towards,
    hide_targets,
    labelled_rows,
)
from mvrbm.training.lbfgs import train_lbfgs
from mvrbm.training.objectives import Objective
from mvrbm.training.settings import Settings
from mvrbm.training.stopping import MOST_ROWS, HiddenAnswers
from mvrbm.training.trainer import History, Progress, train
from mvrbm.visible import Visible

METHODS = ("discriminative", "hybrid", "finetune", "features")
SOLVERS = ("minibatch", "lbfgs")
_LEAST_HIDDEN = 20  # people to stop by, if that is no more than a third of those who answer


@dataclass(frozen=True)
class Task:
    """What to learn, and how."""

    targets: Sequence[int]
    """The questions to predict, by their places in the schema."""
    chains: Sequence[int]
    """Those of them that are learnt by clamped chains, and not by their exact likelihood."""
    method: str
    hybrid_weight: float
    solver: str

    @property
    def learnt(self) -> Sequence[int] | None:
        """The questions that anything is learnt about; None if it is all."""
        return self.targets if self.method == "discriminative" else None

    def conditional(self, settings: Settings) -> Objective:
        """The objective of the targets given the others."""
        listed = [target for target in self.targets if target not in self.chains]
        parts: list[tuple[float, Objective, Source | None]] = []
        if listed:
            parts.append((1.0, Conditional(settings.seed, listed), None))
        if self.chains:
            parts.append((1.0, ClampedCD(settings.seed, self.chains, settings.gibbs_steps), None))
        return parts[0][1] if len(parts) == 1 else Blend(parts)


def train_predictor(
    start: Callable[[Source], RBM],
    visible: Visible,
    answers: Source,
    weights: NDArray[np.float64] | None,
    settings: Settings,
    task: Task,
    progress: Progress | None = None,
    saved: Checkpoint | None = None,
    number: int = 0,
) -> tuple[RBM, History, HiddenAnswers]:
    """A machine that predicts the targets, how it was trained, and the answers that were hidden from it.

    `start` makes the machine that a table starts with, whose layer is like `visible`. Of several machines each has a
    number and the seed of the first plus that; other people tell each when to stop, as long as there are any.
    """
    settings = replace(settings, refit_epochs=0)  # it is as it is when training stops
    labelled = labelled_rows(answers, visible, task.targets)
    if weights is not None and not weights[labelled].any():
        raise ValueError("every row that answers the target has a weight of 0, so none of them counts")
    share = max(settings.hidden_share, min(_LEAST_HIDDEN / len(labelled), 1 / 3))
    hidden = hide_targets(answers, visible, task.targets, share, settings.seed - number, MOST_ROWS, weights, number)
    # not even the marginals may know what was hidden
    rbm = start(hidden.kept if settings.early_stopping else answers)
    inputs = hide_targets(answers, visible, task.targets, 1.0, settings.seed).kept
    objective = task.conditional(settings)
    if task.method == "hybrid":
        counted = len(labelled) - (len(hidden.rows) if settings.early_stopping else 0)
        few = answers.n_rows / counted  # each part is a mean over the people it is about
        blend = Blend(
            [
                (task.hybrid_weight, settings.make_objective(), inputs),
                ((1 - task.hybrid_weight) * few, objective, None),
            ]
        )
        history = train(rbm, answers, settings, weights, progress, _stop_by(hidden, settings), blend, saved)
        return rbm, history, hidden
    if task.method in ("finetune", "features"):
        before = saved and saved.beside(f"{saved.path.stem}-inputs")
        first = train(rbm, inputs, settings, weights, progress, checkpoint=before, watched=number == 0)
        if first.stopped == "interrupted":
            return rbm, first, hidden
    if task.method == "features":
        objective = Readout(settings.seed, task.targets)
        hidden = ReadoutTargets(hidden.full, hidden.kept, hidden.rows, task.targets)
    own = hidden.of(labelled)
    weights = None if weights is None else weights[labelled]
    if task.solver == "lbfgs" and isinstance(objective, Towards):
        history = train_lbfgs(rbm, own.full, settings, weights, progress, _stop_by(own, settings), objective)
    else:
        history = train(rbm, own.full, settings, weights, progress, _stop_by(own, settings), objective, saved)
    return rbm, history, hidden


def _stop_by(hidden: HiddenAnswers, settings: Settings) -> HiddenAnswers | None:
    return hidden if settings.early_stopping else None
