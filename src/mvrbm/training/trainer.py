"""The training loop: epochs of batches, with a way back from every step that goes wrong."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from mvrbm.answers import Source
from mvrbm.arrays import State, Stored, under
from mvrbm.progress import Step, tell
from mvrbm.rbm import RBM
from mvrbm.summary import relative, rows_that_count, weight_of
from mvrbm.training.centring import Centring
from mvrbm.training.checkpoint import Checkpoint, fingerprint
from mvrbm.training.engine import TreeSum, Workers, batches
from mvrbm.training.gap import FreeEnergyGap
from mvrbm.training.objectives import Batch, Masked, Objective
from mvrbm.training.optimiser import Optimiser, largest, shrink
from mvrbm.training.settings import LEAST_REFIT, Settings
from mvrbm.training.slopes import Slopes
from mvrbm.training.stopping import MOST_ROWS, HiddenAnswers, Patience, hide
from mvrbm.units.block import Array

_TOO_LARGE = 1e4  # no sane parameter of a machine on standardised features comes near
_TOO_LARGE_LOG = 50.0  # base parameters are logarithms
_MOST_UNDONE = 8
_LEAST_STEPS = 100  # that patience waits for, where an epoch has few
_LEAST_STEPS_AGAIN = 200  # of a refit on a bootstrap
_DROPS, _DROPS_BEFORE_REFIT = 2, 1  # of the rate before early stopping; a refit lowers it further by itself
_RAISES = 2  # of the rate, where much is learnt slowly
_LONG, _LONG_STEPS = 20, 1000  # the epochs and the steps, both, after which a loss that still falls falls slowly
_SMALL = 0.2  # a weight that decay takes for noise, rather than for something that answers tell
_FAR_STEP = 1 << 30  # that no training reaches before it is refitted, so that the masks are new


class DivergenceError(RuntimeError):
    """Training went astray however small its steps."""


@dataclass
class History:
    """What happened in training."""

    epochs: list[dict[str, float]] = field(default_factory=list)
    """For each epoch: the learning rate and, with early stopping, the loss on the answers hidden from training and how
    much higher the free energy is with such answers than with as many that training saw."""
    start_loss: float | None = None
    """The loss before the first epoch, of the marginals."""
    undone: int = 0
    """How often training was taken back to the start of an epoch because it went astray."""
    best_epoch: int = 0
    """The epoch that the parameters are of, counted from 1; 0 is the start."""
    stopped: str = "max_epochs"
    """Why training ended: "max_epochs", "early_stopping", "converged", "interrupted", or "no hidden units" to train."""


@dataclass
class Memory:
    """What one run can hand on to the next, which then goes on as if it were the same."""

    objective: Objective
    optimiser: Optimiser
    slopes: Slopes | None
    """The coordinates of centred steps; plain ones are taken in the parameters themselves."""
    made_for: tuple[str, str]
    """The names of the objective and the optimiser."""
    step: int = 0

    @classmethod
    def new(cls, settings: Settings, rbm: RBM, objective: Objective | None = None) -> Memory:
        """What a run starts with."""
        objective = objective or settings.make_objective()
        slopes = Slopes(rbm) if settings.objective == "masked" and objective.centres else None
        size = slopes.size if slopes else rbm.parameters.vector.size
        made_for = settings.objective, settings.optimiser
        return cls(objective, settings.make_optimiser(size, rbm.dtype), slopes, made_for)

    def fits(self, settings: Settings) -> bool:
        """Whether a run with these settings can go on from here."""
        return self.made_for == (settings.objective, settings.optimiser)


Progress = Callable[[int, dict[str, Any]], None]


def train(
    rbm: RBM,
    answers: Source,
    settings: Settings,
    weights: Array | None = None,
    progress: Progress | None = None,
    hidden: HiddenAnswers | None = None,
    objective: Objective | None = None,
    checkpoint: Checkpoint | None = None,
    memory: Memory | None = None,
    workers: Callable[[int | None], Workers] = Workers,
    watched: bool = True,
) -> History:
    """Train a machine in place; its parameters are finite, and those of a whole epoch, however this ends.

    `hidden` are the answers to stop by; with early stopping and without them, some of `answers` are hidden here.
    `objective` is what to follow instead of what the settings name. With a `checkpoint` the run is saved as it goes,
    and goes on where a saved one was, to the same end bit for bit. `memory` is that of a run to go on from. `workers`
    makes those who take jobs, given the number of threads. Only of a run that is `watched` the free energy is told.
    """
    memory = memory or Memory.new(settings, rbm, objective)
    return _Run(rbm, answers, settings, weights, progress, hidden, memory, checkpoint, workers, watched).go()


def refit(
    rbm: RBM,
    answers: Source,
    settings: Settings,
    weights: Array | None,
    history: History,
    objective: Objective | None = None,
    checkpoint: Checkpoint | None = None,
    workers: Callable[[int | None], Workers] = Workers,
) -> None:
    """Go on for a few epochs with all answers, those that told when to stop included.

    The rate falls to 0 and, with "masked", what is hidden of a row to the least. Where training found nothing that told
    hidden answers better than the start, a refit would learn them by heart: there is none.
    """
    if not history.best_epoch or history.stopped == "interrupted":
        return
    again = checkpoint.beside(f"{checkpoint.path.stem}-refit") if checkpoint else None
    settings = replace(settings, learning_rate=history.epochs[-1]["learning_rate"])
    more = _go_on(rbm, answers, settings, weights, objective, again, workers)
    history.undone += more.undone
    history.stopped = "interrupted" if more.stopped == "interrupted" else history.stopped


def train_beside(
    rbm: RBM,
    answers: Source,
    settings: Settings,
    weights: Array | None,
    history: History,
    hidden: HiddenAnswers,
    checkpoint: Checkpoint | None = None,
    workers: Callable[[int | None], Workers] = Workers,
) -> History:
    """Train a machine beside one that was refitted, and whose history tells how `hidden` answers let it learn.

    In one run with all answers, those included. Nothing stops it, so at its end it has to tell them better than the
    start did.
    """
    own = beside_one(settings, history, answers.n_rows)
    told = train(rbm, answers, own, weights, checkpoint=checkpoint, workers=workers, watched=False)
    if told.stopped != "interrupted" and history.start_loss is not None:
        with Workers(settings.n_threads) as here:
            loss = hidden.loss(rbm, here, relative(weights))
        if not loss < history.start_loss:
            raise DivergenceError(
                f"the next one told answers no better than if it had learnt nothing, at a learning rate of "
                f"{told.epochs[0]['learning_rate']:.2g}; set a smaller learning_rate"
            )
    return told


def beside_one(settings: Settings, history: History, n_rows: int) -> Settings:
    """How to train a machine beside one whose training told when to stop, and which was refitted.

    The rate falls to 0 from the highest that the first came to its best epoch by, and less and less is hidden of a row,
    over the epochs that would have led as far at that rate, and those of the refit.
    """
    rates = [epoch["learning_rate"] for epoch in history.epochs[: history.best_epoch]]
    epochs = round(sum(rates) / max(rates)) + settings.epochs_again(n_rows)
    return replace(
        settings, early_stopping=False, learning_rate=max(rates), schedule="linear", max_epochs=epochs, refit_epochs=0
    )


def bootstrapped(rbm: RBM, answers: Source, settings: Settings, weights: Array | None) -> RBM:
    """A copy of a machine, refitted on as many rows drawn with replacement: what might have been learnt as well.

    It starts at the first rate again, and takes some steps even on a small table, to come as far as from the start. It
    hides as much to the end: draws of blanks that come together need a machine that is not too sure without the others.
    """
    least = LEAST_REFIT if settings.refit_epochs is None else settings.refit_epochs
    epochs = max(least, -(-_LEAST_STEPS_AGAIN // settings.steps(answers.n_rows)))
    settings = replace(settings, refit_epochs=epochs)
    random = np.random.Generator(np.random.Philox(key=[settings.seed, 2**63 + 2]))
    rows = np.asarray(rows_that_count(weights, answers.n_rows))
    times = np.bincount(rows[random.integers(0, len(rows), len(rows))], minlength=answers.n_rows)
    own = rbm.copy()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the refit was interrupted")
        heavy = times * weight_of(weights, np.arange(answers.n_rows))
        more = _go_on(own, answers, settings, heavy, Masked(settings.seed, steady=True))
    if more.stopped == "interrupted":  # half a refit is of no use
        raise KeyboardInterrupt
    return own


def _go_on(
    rbm: RBM,
    answers: Source,
    settings: Settings,
    weights: Array | None,
    objective: Objective | None = None,
    checkpoint: Checkpoint | None = None,
    workers: Callable[[int | None], Workers] = Workers,
) -> History:
    """Train for the epochs of a refit, while the rate falls to 0."""
    epochs = settings.epochs_again(answers.n_rows)
    settings = replace(settings, early_stopping=False, max_epochs=epochs, schedule="linear")
    memory = replace(Memory.new(settings, rbm, objective), step=_FAR_STEP)
    return _Run(rbm, answers, settings, weights, None, None, memory, checkpoint, workers, what="the refit").go()


class _Run:
    """One training run."""

    def __init__(
        self,
        rbm: RBM,
        answers: Source,
        settings: Settings,
        weights: Array | None,
        progress: Progress | None,
        hidden: HiddenAnswers | None,
        memory: Memory,
        checkpoint: Checkpoint | None,
        make_workers: Callable[[int | None], Workers],
        watched: bool = False,
        what: str = "training",
    ) -> None:
        self.what = what
        self.rbm, self.settings, self.progress, self.checkpoint = rbm, settings, progress, checkpoint
        self.make_workers = make_workers
        if settings.early_stopping and rbm.n_hidden and hidden is None:
            hidden = hide(answers, rbm.visible, settings.hidden_share, settings.seed, MOST_ROWS, weights)
        self.hidden = hidden if hidden and hidden.any else None
        self.answers = hidden.kept if hidden else answers
        compared = watched and self.hidden is not None and self.hidden.exchangeable
        self.gap = FreeEnergyGap(self.hidden, rbm.visible, settings.seed) if self.hidden and compared else None
        self.weights = relative(weights)
        self.memory, self.objective, self.optimiser = memory, memory.objective, memory.optimiser
        targets = np.flatnonzero(np.isin(rbm.visible.question_order, self.objective.targets))
        self.centring = Centring(rbm, self.answers, self.weights, targets) if memory.slopes else None
        self.sum = TreeSum(rbm.parameters.vector)
        self.batch_size = settings.rows_in_batch(answers.n_rows)
        steps = settings.steps(answers.n_rows)
        drops = _DROPS if settings.refit_epochs == 0 else _DROPS_BEFORE_REFIT
        raises = _RAISES if settings.adapts and memory.slopes else 0
        epochs, long = (-(-least // steps) for least in (_LEAST_STEPS, _LONG_STEPS))
        self.patience = Patience(max(settings.patience, epochs), drops, raises, max(_LONG, long))
        self.history = History(stopped="max_epochs" if rbm.n_hidden else "no hidden units")
        self.slowed = 1.0
        self.good = rbm.parameters.vector.copy()
        """The parameters after the last epoch, before patience judged it."""
        if checkpoint:
            checkpoint.open(fingerprint(rbm, answers, self.answers, self.weights, settings), self.restore)

    def plain(self) -> dict[str, Any]:
        """All that the run remembers between epochs and that is not an array, for a checkpoint."""
        return {
            "history": asdict(self.history),
            "step": self.memory.step,
            "slowed": self.slowed,
            "optimiser.steps": self.optimiser.steps,
            "patience": self.patience.plain,
        }

    def state(self) -> State:
        """All that the run remembers between epochs, as named arrays, for a checkpoint."""
        kept = {"best": self.patience.vector, "back": self.patience.back}
        best = {name: vector for name, vector in kept.items() if vector is not None}
        own = {"parameters": self.rbm.parameters.vector, "good": self.good, "optimiser": self.optimiser.state, **best}
        return own | under("objective", self.objective.state())

    def restore(self, data: dict[str, Any], stored: Stored) -> None:
        """Go on where a run was that `plain` and `state` told of."""
        vector, kind = self.rbm.parameters.vector, self.rbm.dtype.type
        self.good = stored.take("good", vector.shape, kind)
        self.patience.vector, self.patience.back = (
            stored.take(name, vector.shape, kind) if name in stored else None for name in ("best", "back")
        )
        self.optimiser.state[:] = stored.take("optimiser", self.optimiser.state.shape, kind)
        self.objective.restore(stored.under("objective"))
        self._go_back(stored.take("parameters", vector.shape, kind))
        self.history, self.memory.step, self.slowed = History(**data["history"]), data["step"], data["slowed"]
        self.optimiser.steps = data["optimiser.steps"]
        for name, value in data["patience"].items():
            setattr(self.patience, name, value)

    def go(self) -> History:
        """Run the epochs."""
        try:
            # what goes astray is found out by its numbers; BLAS may even warn of sums that it throws away
            with np.errstate(all="ignore"), self.make_workers(self.settings.n_threads) as self.workers:
                self._epochs()
        except KeyboardInterrupt:
            self.history.stopped = "interrupted"
            which = f"of epoch {self.history.best_epoch}" if self.history.best_epoch else "as it was before"
            said = f"{self.what} was interrupted in epoch {len(self.history.epochs) + 1}: the model is {which}"
            warnings.warn(said, stacklevel=4)
        except BaseException:
            self._go_back(self.good)
            raise
        self._go_back(self.good if self.patience.vector is None else self.patience.vector)
        return self.history

    def _epochs(self) -> None:
        most = self.settings.max_epochs if self.rbm.n_hidden else 0
        if self.hidden and self.history.start_loss is None:
            self.history.start_loss = self._loss()
            self.patience.see(self.history.start_loss, self.good)
        while len(self.history.epochs) < most and self.history.stopped == "max_epochs":
            epoch = len(self.history.epochs)
            entry = self._sound_epoch(epoch)
            self.good = self.rbm.parameters.vector.copy()
            self._record(epoch, entry)
            tell(Step("training", epoch + 1, most, "epochs", may_end=self.hidden is not None, said=entry))
            if self.checkpoint:
                self.checkpoint.save(self.plain(), self.state())
        if self.checkpoint:
            self.checkpoint.save(self.plain(), self.state(), last=True)

    def _go_back(self, vector: Array) -> None:
        self.rbm.parameters.vector[:] = vector
        self.rbm.refresh()

    def _sound_epoch(self, epoch: int) -> dict[str, float]:
        """Run an epoch, again and slower if it goes astray, and return what is to be said of it."""
        while True:
            rate = self.settings.rate(epoch, self.rbm.n_hidden) * self.slowed
            sound = self._epoch(epoch, rate) and largest(self.rbm.parameters.vector) < _TOO_LARGE
            if sound and not self.objective.targets:  # what is told from the others alone has no Z that matters
                self.rbm.keep_finite()
            loss = self._loss() if sound else math.nan
            if math.isfinite(loss):
                break
            self._go_back(self.good)
            self.optimiser.reset()
            self.objective.restart()
            self.history.undone += 1
            self.slowed *= 0.3
            if self.history.undone > _MOST_UNDONE:
                raise DivergenceError(
                    f"training diverged {self.history.undone} times, the last at a learning rate of {rate:.2g}; "
                    "set a smaller learning_rate, or bound continuous questions that have extreme values (low=, high=)"
                )
        gap = {"free_energy_gap": self.gap.of(self.rbm, self.workers, self.weights)} if self.gap else {}
        return {"learning_rate": rate} | ({"loss": loss} if self.hidden else {}) | gap

    def _record(self, epoch: int, entry: dict[str, float]) -> None:
        self.history.epochs.append(entry)
        if self.progress:
            self.progress(epoch, entry)
        verdict = self.patience.see(entry["loss"], self.rbm.parameters.vector) if self.hidden else "better"
        if verdict == "better":
            self.history.best_epoch = epoch + 1
        elif verdict == "raise":
            self.slowed *= self.patience.higher
        elif verdict == "lower":
            self.slowed *= self.patience.lower
            assert self.patience.back is not None
            self._go_back(self.patience.back)
            self.optimiser.reset()
        elif verdict == "stop":
            self.history.stopped = "early_stopping"

    def _loss(self) -> float:
        return self.hidden.loss(self.rbm, self.workers, self.weights) if self.hidden else 0.0

    def _is_sound(self) -> bool:
        """Whether the biases are still sane: what goes astray shows there at once, and they are few."""
        parameters = self.rbm.parameters
        biases = max(largest(parameters.joint[-1]), largest(parameters.U.copy()))
        return biases < _TOO_LARGE and largest(parameters.base) < _TOO_LARGE_LOG

    def _epoch(self, epoch: int, rate: float) -> bool:
        """One pass over the rows; False if it goes astray."""
        seed, n_rows = self.settings.seed, self.answers.n_rows
        self.objective.begin(self.settings.height(epoch))
        for rows in batches(seed, epoch, n_rows, self.batch_size, self.answers.expect):
            # by the number of rows and not by their weights: a batch of light rows makes a small step
            weights = weight_of(self.weights, rows) / len(rows)
            gradient = self._gradient(Batch(self.answers, rows, weights, self.memory.step))
            self.memory.step += 1
            self._move(gradient, rate)
            self.sum.release(gradient)
            if not self._is_sound():
                return False
            self.rbm.refresh()
        return True

    def _move(self, gradient: Array, rate: float) -> None:
        parameters, slopes = self.rbm.parameters, self.memory.slopes
        if self.centring is None or slopes is None:
            self.optimiser.step(parameters.vector, gradient, rate, self.workers)
            return
        uphill = parameters.like(gradient)
        self.centring.gradient(parameters, uphill)
        before = self.centring.enter(parameters)
        slopes.step(self.optimiser, parameters, uphill, rate, self.workers)
        self._decay(rate)
        self.centring.leave(parameters, before)

    def _decay(self, rate: float) -> None:
        """Shrink the weights and the links."""
        parameters, as_ = self.rbm.parameters, self.rbm.dtype.type
        share, small = as_(rate * self.settings.decay), as_(_SMALL)
        shrink(parameters.joint, len(parameters.joint) - 1, self.rbm.n_hidden, share, small)
        shrink(parameters.links[None], 1, len(parameters.links), share, small)

    def _gradient(self, batch: Batch) -> Array:
        gradient = self.workers.total(self.objective.jobs(self.rbm, batch), self.sum)
        out = self.rbm.parameters.like(gradient)
        out.joint[self.rbm.visible.n_features :, -1] = 0  # between what is told, or ones, and ones: no parameter
        if self.settings.l2:
            out.W[:] -= self.settings.l2 * self.rbm.parameters.W
        return gradient
