"""Learning to predict some questions from the others: the conditional likelihood and its gradient (paper, 3.1.2).

Each code or number of a target is predicted by itself from the row's other questions, the hidden units summed out:
exact for a binary, categorical, ordinal or count answer; for a choose-any question or a ranking option by option or
pair by pair, which is how they are predicted; for a number on a grid.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import Source
from mvrbm.arrays import State, Stored, under
from mvrbm.kernels import hidden
from mvrbm.kernels.outlook import add_posteriors, tilt
from mvrbm.rbm import RBM, Parameters
from mvrbm.summary import weight_of
from mvrbm.training.engine import CHUNK, Workers, chunk_size, chunks_of
from mvrbm.training.objectives import CD, Batch, Job, Objective
from mvrbm.training.stopping import HiddenAnswers, without
from mvrbm.units.block import Array, Index, Listed
from mvrbm.visible import Chunk, Part, Visible, fill_blanks

Marked = NDArray[np.bool_]
"""Questions of the layer, (questions, 1)."""


def mark(visible: Visible, questions: Sequence[int]) -> Marked:
    """Mark questions, given by their places in the schema, in the layer's order."""
    return np.isin(visible.question_order, questions)[:, None]


def log_conditional(
    rbm: RBM, chunk: Chunk, targets: Marked, weights: Array | None = None, out: Parameters | None = None
) -> Array:
    """log P(each person's answers to the targets | their other answers); with `out`, add its gradient by the weights.

    `targets` marks questions of the layer, (questions, 1). Who answers none of them has 0.
    """
    visible = rbm.visible
    inputs = visible.keep_only(chunk, ~targets)
    X = rbm.features(inputs)
    a = rbm.hidden_inputs(inputs, X)
    P = a.copy()
    hidden.sigmoid(P)
    pull = np.zeros((chunk.n_rows, rbm.n_hidden), rbm.dtype)
    total = np.zeros(chunk.n_rows)
    step = None
    if out is not None and weights is not None:
        step = _Step(weights.astype(rbm.dtype), pull, np.zeros((visible.n_features, chunk.n_rows), rbm.dtype), out)
    direct = np.zeros((visible.n_features, chunk.n_rows), rbm.dtype)
    if rbm.links:
        rbm.links.add_inputs(rbm.parameters.links, X, direct)
    asked = targets[visible.cell_question, 0]
    n = len(visible.code_columns)
    for part in visible.parts:
        cells = np.flatnonzero(asked[:n][part.codes] if part.block.n_codes else asked[n:][part.numbers])
        for few in [cells] if part.block.n_codes else chunks_of(cells, 1):
            total += _log_cells(rbm, part, few, chunk, a, P, direct, step) if len(few) else 0.0
    if step:
        step.out.joint[:, :-1] += X @ pull
        step.out.U[:] += step.error.sum(axis=1)
        if rbm.links:
            step.out.links[:] += rbm.links.slope(step.error, X)
    return total


@dataclass(frozen=True)
class _Step:
    """Where the gradient goes: to the inputs of hidden units, (people, hidden), to those of features, and out."""

    weights: Array
    pull: Array
    error: Array
    out: Parameters

    def add(self, rbm: RBM, rows: Index, base: Index, x: Array, t: Array, H: Array, weight: Array) -> None:
        """Add x h^T and t of some points, whose h are already weighed."""
        self.out.W[rows] += x.astype(rbm.dtype) @ H
        self.out.base[base] += rbm.theta_slope[base] * (t @ weight)


def _log_cells(
    rbm: RBM, part: Part, cells: Index, chunk: Chunk, a: Array, P: Array, direct: Array, step: _Step | None
) -> Array:
    """The sum of log P of some codes or numbers of each person, each given the inputs alone; blanks have no share.

    `direct` is what the links add to the inputs of the features. The gradient is that of the answer given less the mean
    of that of all that might have been.
    """
    p, block = rbm.parameters, part.block
    biases = p.U[part.features][:, None] + direct[part.features]
    listed = block.listed(cells, biases, p.W[part.features], rbm.theta[part.base])
    rows, base = listed.features + part.features.start, listed.base + part.base.start
    U, W, theta = p.U[rows].astype(np.float64), p.W[rows], rbm.theta[base].astype(np.float64)
    codes, numbers = chunk.codes[part.codes], chunk.numbers[part.numbers]
    there = ((codes >= 0) if block.n_codes else ~np.isnan(numbers))[cells]

    weights = np.ascontiguousarray(listed.X.T.astype(rbm.dtype) @ W)
    bias = U @ listed.X + theta @ listed.T + listed.log_measure
    logits = np.empty((len(weights), chunk.n_rows))
    tilt(P, weights, rbm.dtype.type(1), bias, listed.start, listed.sizes, there, logits)
    logits += listed.X.T @ direct[rows]
    log_z = np.logaddexp.reduceat(logits, listed.start, axis=0)

    share = -np.exp(logits - log_z[listed.unit])
    if block.n_codes:
        at = listed.start[:, None] + np.maximum(codes[cells], 0)
        score = np.take_along_axis(logits, at, axis=0)
        np.put_along_axis(share, at, 1 + np.take_along_axis(share, at, axis=0), axis=0)
    else:  # a number, which is no point of its grid
        x, t = _features(part, chunk, listed)
        H = a + W.T @ x.astype(rbm.dtype)
        score = (U @ x + theta @ t + (x * direct[rows]).sum(axis=0) + _softplus(H) - _softplus(a))[None]
    if step:
        weight = np.where(there, step.weights, 0).astype(rbm.dtype)
        share = (share * weight[listed.unit]).astype(rbm.dtype)
        by_level = np.zeros(weights.shape, rbm.dtype)
        add_posteriors(np.ascontiguousarray(P.T), np.expm1(np.minimum(weights, 80)), share, by_level, step.pull)
        step.add(rbm, rows, base, listed.X, listed.T, by_level, share.sum(axis=1))
        step.error[rows] += listed.X @ share
        if not block.n_codes:
            hidden.sigmoid(H)
            H *= weight
            np.add(step.pull, H.T, out=step.pull)
            step.add(rbm, rows, base, x, t, H.T, weight[0])
            step.error[rows] += x * weight[0]
    result: Array = np.where(there, score - log_z, 0.0).sum(axis=0)
    return result


def _features(part: Part, chunk: Chunk, listed: Listed) -> tuple[Array, Array]:
    """The features and base statistics, of those that `listed` acts through, of what people answer."""
    codes, numbers = chunk.codes[part.codes], chunk.numbers[part.numbers]
    x, t = np.empty((part.block.n_features, chunk.n_rows)), np.empty((part.block.n_base, chunk.n_rows))
    part.block.features(codes, numbers, x)
    part.block.base_statistics(codes, x, t)
    return x[listed.features], t[listed.base]


def _softplus(a: Array) -> Array:
    out = np.empty(a.shape[1])
    hidden.sum_softplus(a, out)
    return out


class Towards(Objective):
    """An objective about some questions, the targets, that has a value: its jobs add it up beside the gradient.

    It stands in the corner of the parameters between the two rows of ones, which is no parameter.
    """

    def __init__(self, seed: int, targets: Sequence[int]) -> None:
        super().__init__(seed)
        self.targets = targets

    def jobs(self, rbm: RBM, batch: Batch) -> list[Job]:
        return [Job(self._fill, rbm, piece) for piece in batch.pieces(chunk_size(len(batch.rows)))]

    def _fill(self, rbm: RBM, piece: Batch, vector: Array) -> None:
        vector[:] = 0
        out = rbm.parameters.like(vector)
        chunk = rbm.visible.load(piece.answers, piece.rows, rbm.dtype)
        marked = mark(rbm.visible, self.targets)
        out.joint[-1, -1] = self.climb(rbm, chunk, marked, piece.weights.astype(rbm.dtype), out)

    @abstractmethod
    def climb(self, rbm: RBM, chunk: Chunk, targets: Marked, weights: Array, out: Parameters) -> float:
        """Add the gradient to `out`, which is 0, and return the value, both by the weights of the people."""


class Conditional(Towards):
    """The conditional likelihood of the targets given all other questions."""

    def climb(self, rbm: RBM, chunk: Chunk, targets: Marked, weights: Array, out: Parameters) -> float:
        return float(weights @ log_conditional(rbm, chunk, targets, weights, out))


class ClampedCD(CD):
    """Contrastive divergence of the targets alone: the chain keeps all other answers (paper section 3.1.2)."""

    def __init__(self, seed: int, targets: Sequence[int], gibbs_steps: int = 1) -> None:
        super().__init__(seed, gibbs_steps)
        self.targets = targets

    def keep(self, rbm: RBM, fantasy: Chunk, chunk: Chunk) -> None:
        super().keep(rbm, fantasy, chunk)
        inputs = rbm.visible.keep_only(chunk, ~mark(rbm.visible, self.targets))
        kept = fill_blanks(inputs, fantasy)
        fantasy.codes[:], fantasy.numbers[:] = kept.codes, kept.numbers


class Readout(Towards):
    """The likelihood of the targets given the posteriors of the other answers, which stay as they are."""

    centres = False

    def climb(self, rbm: RBM, chunk: Chunk, targets: Marked, weights: Array, out: Parameters) -> float:
        visible = rbm.visible
        inputs, wanted = visible.keep_only(chunk, ~targets), visible.keep_only(chunk, targets)
        X = rbm.features(inputs)
        H = rbm.posterior(inputs, X)
        z, x = rbm.visible_inputs(H, X), visible.features(wanted)
        mean_x, mean_t = visible.mean(z, rbm.theta, wanted)
        np.matmul((x - mean_x) * weights, H.T, out=out.joint[: visible.n_features])
        if visible.n_base:
            out.base[:] = rbm.theta_slope * ((visible.base_statistics(wanted, x) - mean_t) @ weights)
        return float(weights @ visible.log_prob(wanted, z, rbm.theta).sum(axis=0))


class Blend(Objective):
    """Several objectives at once, each by its own weight and on its own version of the table."""

    def __init__(self, parts: Sequence[tuple[float, Objective, Source | None]]) -> None:
        super().__init__(0)
        self.parts = parts
        self.targets = [target for _, objective, _ in parts for target in objective.targets]

    def jobs(self, rbm: RBM, batch: Batch) -> list[Job]:
        return [
            job
            for weight, objective, answers in self.parts
            for job in objective.jobs(
                rbm, replace(batch, answers=answers or batch.answers, weights=weight * batch.weights)
            )
        ]

    def begin(self, rate: float) -> None:
        for _, objective, _ in self.parts:
            objective.begin(rate)

    def restart(self) -> None:
        for _, objective, _ in self.parts:
            objective.restart()

    def state(self) -> State:
        return {
            name: array
            for i, (_, objective, _) in enumerate(self.parts)
            for name, array in under(str(i), objective.state()).items()
        }

    def restore(self, stored: Stored) -> None:
        for i, (_, objective, _) in enumerate(self.parts):
            objective.restore(stored.under(str(i)))


@dataclass(frozen=True)
class HiddenTargets(HiddenAnswers):
    """A table of which some people's targets were hidden: what a predictor stops by."""

    targets: Sequence[int]
    exchangeable = False

    def loss(self, rbm: RBM, workers: Workers, weights: Array | None = None) -> float:
        """Minus the mean log-probability of a hidden person's answers to the targets, given their other answers."""
        marked = mark(rbm.visible, self.targets)

        def of(own: Index) -> tuple[float, float]:
            log_p = log_conditional(rbm, rbm.visible.load(self.full, own, rbm.dtype), marked)
            weight = weight_of(weights, own)
            return float(weight @ log_p), float(weight.sum())

        parts = list(workers.map(of, chunks_of(self.rows, CHUNK)))
        total = sum(n for _, n in parts)
        return -sum(p for p, _ in parts) / total if total else 0.0


class ReadoutTargets(HiddenTargets):
    """The same for a machine that tells the targets from the posteriors of the other answers."""

    loss = HiddenAnswers.loss


def labelled_rows(answers: Source, visible: Visible, targets: Sequence[int]) -> Index:
    """The people who answer any of the targets."""
    marked, every = mark(visible, targets), np.arange(answers.n_rows)
    answered = [visible.answered(visible.load(answers, own)) & marked for own in chunks_of(every, CHUNK)]
    return np.flatnonzero(np.concatenate(answered, axis=1).any(axis=0))


def hide_targets(
    answers: Source,
    visible: Visible,
    targets: Sequence[int],
    share: float,
    seed: int,
    most_rows: int | None = None,
    weights: Array | None = None,
    turn: int = 0,
) -> HiddenTargets:
    """Hide the targets of a share of the people who answer one and count; each turn, of others, while there are any."""
    marked = mark(visible, targets)
    labelled = labelled_rows(answers, visible, targets)
    labelled = labelled[weight_of(weights, labelled) > 0]
    random = np.random.Generator(np.random.Philox(key=[seed, 2**63 + 1]))
    n = int(share * len(labelled))
    n = n if most_rows is None else min(n, most_rows)
    rows = np.sort(random.permutation(labelled).take(np.arange(turn * n, (turn + 1) * n), mode="wrap"))
    kept = without(answers, rows, visible, lambda chunk: visible.keep_only(chunk, ~marked))
    return HiddenTargets(answers, kept, rows, targets)
