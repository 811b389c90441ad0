"""How to train: what the recipes and the users set, and what follows from a table where it is not set."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mvrbm.training.objectives import CD, PCD, Masked, Objective
from mvrbm.training.optimiser import SGD, Adam, Optimiser

_QUESTIONS_OF_A_MACHINE, _MOST_MACHINES = 20, 3
_STEPS_OF_MACHINES = 7500  # of all of them together, about, refits not counted
_STEPS_OF_REFIT, LEAST_REFIT, _MOST_REFIT = 2500, 25, 50  # the latter two in epochs


@dataclass(frozen=True)
class Settings:
    """How to train; the estimator documents each for its users."""

    objective: str = "masked"
    gibbs_steps: int = 1
    missing: str = "ignore"
    n_chains: int = 256
    optimiser: str = "adam"
    momentum: float = 0.0
    learning_rate: float | None = None
    plain_steps: bool = False
    schedule: str = "constant"
    l2: float = 0.0
    decay: float = 0.8
    answered: bool = True
    links: int = 6
    refit_epochs: int | None = None
    n_models: int | None = None
    batch_size: int | None = None
    max_epochs: int = 200
    early_stopping: bool = True
    hidden_share: float = 0.1
    patience: int = 4
    seed: int = 0
    n_threads: int | None = None

    def make_objective(self) -> Objective:
        """The objective that the settings name."""
        if self.objective == "pcd":
            return PCD(self.seed, self.gibbs_steps, self.n_chains)
        if self.objective == "masked":
            return Masked(self.seed)
        return CD(self.seed, self.gibbs_steps, self.missing)

    def make_optimiser(self, size: int, dtype: np.dtype[np.floating]) -> Optimiser:
        """The optimiser that the settings name."""
        return Adam(size, dtype) if self.optimiser == "adam" else SGD(size, dtype, self.momentum)

    def machines(self, n_questions: int, n_rows: int, epochs: int) -> int:
        """How many machines a table is worth, if not given, when the first learnt for some epochs.

        Where few questions are asked, or much is learnt slowly, a machine that is trained for long tells as much as
        several in less time.
        """
        wide = 1 + n_questions // _QUESTIONS_OF_A_MACHINE
        steps = max(1, epochs * self.steps(n_rows))
        return self.n_models or min(wide, _MOST_MACHINES, -(-_STEPS_OF_MACHINES // steps))

    def epochs_again(self, n_rows: int) -> int:
        """The epochs of a refit: as given or, in a table of some rows, some steps; 0 if there is none."""
        if self.refit_epochs is not None:
            return self.refit_epochs
        return int(np.clip(_STEPS_OF_REFIT // self.steps(n_rows), LEAST_REFIT, _MOST_REFIT))

    def rows_in_batch(self, n_rows: int) -> int:
        """The batch size, or one for the table: a fiftieth of it, but 64 to 512 rows."""
        return self.batch_size or int(np.clip(n_rows // 50, 64, 512))

    def steps(self, n_rows: int) -> int:
        """The number of batches in an epoch."""
        return -(-n_rows // self.rows_in_batch(n_rows))

    @property
    def adapts(self) -> bool:
        """Whether a rate that turns out to be low for the table may be raised: one that is given stays."""
        return self.learning_rate is None and self.schedule == "constant"

    def height(self, epoch: int) -> float:
        """The learning rate of an epoch by the schedule, as a share of the first."""
        done = epoch / max(1, self.max_epochs)
        by = {"constant": 1.0, "linear": 1 - done, "cosine": 0.5 * (1 + math.cos(math.pi * done))}
        return by[self.schedule]

    def rate(self, epoch: int, n_hidden: int) -> float:
        """The learning rate of an epoch by the schedule, before it is lowered for other reasons.

        Unless it is given, it starts at 0.01 (0.02 where steps are centred), and lower for more than 50 hidden units,
        whose steps add up. Plain steps, as the recipe of the paper has them, may start at 0.1, but only up to 100
        hidden units: then it falls fast, or the units all learn the same and in the end nothing.
        """
        if self.learning_rate is not None:
            first = self.learning_rate
        elif self.plain_steps:
            first = 0.1 * min(1.0, (100 / n_hidden) ** 1.5)
        else:
            first = (0.02 if self.objective == "masked" else 0.01) * min(1.0, math.sqrt(50 / n_hidden))
        return first * self.height(epoch)
