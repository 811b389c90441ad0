"""Answers on the workers of a cluster, and the jobs of training beside them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import BLOCK, Answers, Patched, Rows, Source, put
from mvrbm.dask.cluster import Cluster
from mvrbm.rbm import RBM, Parameters
from mvrbm.training.engine import TreeSum, Workers
from mvrbm.training.objectives import Batch, Chains, Job
from mvrbm.units.block import Array

T = TypeVar("T")
_WAVE = 64  # spans that are asked for at a time
_FAN = 8  # vectors that one task adds up: a power of 2, so that the sum has the shape of one tree


class Spread(Source):
    """Answers in blocks on workers. A block that is lost is made again, from the partitions on.

    `encode` submits the answers of every partition, whose numbers of rows are `counts`.
    """

    def __init__(self, cluster: Cluster, encode: Callable[[], list[Any]], counts: Sequence[int]) -> None:
        self.cluster, self._encode = cluster, encode
        self._ends = np.cumsum([0, *counts])
        self._pools: list[_Pool] = []
        self.renew()
        cluster.renew = self.renew

    def renew(self) -> None:
        """Make all blocks anew."""
        self._blocks: list[Any] = []  # first of all, so that what failed with them is forgotten
        pools, self._pools = [pool.blocks for pool in self._pools], []
        encoded = self._encode()
        self._blocks = [self._block(encoded, start) for start in range(0, self.n_rows, BLOCK)]
        self._pools = [self._pool(blocks) for blocks in pools]

    def _block(self, encoded: list[Any], start: int) -> Any:
        stop = min(start + BLOCK, self.n_rows)
        first, last = np.searchsorted(self._ends, [start, stop - 1], side="right") - 1
        own = range(first, last + 1)
        cuts = [(max(start - self._ends[i], 0), min(stop, self._ends[i + 1]) - self._ends[i]) for i in own]
        return self.cluster.submit("block", _cut, [encoded[i] for i in own], cuts)

    @property
    def n_rows(self) -> int:
        return int(self._ends[-1])

    def take(self, rows: Rows) -> Answers:
        blocks, whose = np.unique(rows // BLOCK, return_inverse=True)
        wanted = [rows[whose == i] - block * BLOCK for i, block in enumerate(blocks)]

        def ask() -> list[Any]:
            few = zip(blocks, wanted, strict=True)
            return [self.cluster.submit("some", _some, self._blocks[block], own) for block, own in few]

        together = _stacked(self.cluster.results(ask))
        order = np.argsort(whose, kind="stable")
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return together.take(back)

    def span(self, start: int, stop: int) -> Answers:
        return self.take(np.arange(start, stop))

    def over_spans(
        self, work: Callable[..., T], also: Callable[[int, int], tuple[Any, ...]] | None = None
    ) -> Iterator[T]:
        spans = self.spans()
        for wave in (spans[i : i + _WAVE] for i in range(0, len(spans), _WAVE)):
            more = [also(start, stop) if also else () for start, stop in wave]

            def ask(wave: list[tuple[int, int]] = wave, more: list[tuple[Any, ...]] = more) -> list[Any]:
                blocks = [self._blocks[start // BLOCK : -(-stop // BLOCK)] for start, stop in wave]
                return [self.cluster.submit("span", _over, work, *each) for each in zip(blocks, more, strict=True)]

            yield from self.cluster.results(ask)

    def expect(self, rows: Rows) -> None:
        blocks = np.unique(rows // BLOCK)
        self._pools = [pool for pool in self._pools if np.isin(blocks, pool.blocks).any()]
        new = np.setdiff1d(blocks, np.concatenate([[], *(pool.blocks for pool in self._pools)])).astype(np.int64)
        self._pools += [self._pool(new)] if len(new) else []

    def _pool(self, blocks: Rows) -> _Pool:
        starts = np.cumsum([0, *(min(BLOCK, self.n_rows - block * BLOCK) for block in blocks)])
        return _Pool(blocks, starts, self.cluster.submit("pool", _stacked, [self._blocks[block] for block in blocks]))

    def placed(self, rows: Rows) -> list[tuple[Any, Rows, Rows]]:
        """Where on the workers some rows are that were expected: pools, places in each, and which of the rows."""
        found, left = [], np.arange(len(rows))
        for pool in self._pools:
            block = rows[left] // BLOCK
            at = np.minimum(np.searchsorted(pool.blocks, block), len(pool.blocks) - 1)
            here = pool.blocks[at] == block
            if here.any():
                found.append((pool.future, (pool.starts[at] + rows[left] % BLOCK)[here], left[here]))
            left = left[~here]
        if len(left):
            raise LookupError("rows were taken that nobody had expected")
        return found


@dataclass(frozen=True)
class _Pool:
    """Blocks that an epoch visits together, as one thing on a worker."""

    blocks: Rows
    starts: Rows
    future: Any


@dataclass(frozen=True)
class _Own(Source):
    """The answers of the rows of one piece, and no others."""

    answers: Answers

    @property
    def n_rows(self) -> int:
        return self.answers.n_rows

    def take(self, rows: Rows) -> Answers:
        if len(rows) != self.n_rows:
            raise LookupError(f"{len(rows)} rows were taken of a piece of {self.n_rows}")
        return self.answers

    def span(self, start: int, stop: int) -> Answers:
        return self.answers.span(start, stop)


class Rounds(Workers):
    """Workers who send each batch to a cluster: parameters and jobs out, one sum back.

    What is not a batch (the loss on hidden answers, the optimiser's step) is done by threads here.
    """

    def __init__(self, cluster: Cluster, n_threads: int | None = None) -> None:
        super().__init__(n_threads)
        self.cluster = cluster
        self._machine: tuple[object, Any] | None = None

    def total(self, jobs: Sequence[Any], sum_: TreeSum) -> Array:
        rbm: RBM = jobs[0].rbm
        vector, left = self.cluster.results(lambda: [self._asked(rbm, jobs)], self.cluster.round_limit())[0]
        for job, kept in zip(jobs, left, strict=True):
            job.left = kept
        return _own(vector)

    def _asked(self, rbm: RBM, jobs: Sequence[Job]) -> Any:
        """Submit a round; the future of the sum of the vectors and of what each job leaves."""
        submit, addresses = self.cluster.submit, self.cluster.workers()
        parameters = self.cluster.scatter(rbm.parameters.vector)
        machine = self._machine_of(rbm)
        size = 1
        while size * len(addresses) < len(jobs):
            size *= 2  # aligned, so that what a group sums is a part of the tree of all
        nodes = []
        for number, group in enumerate(jobs[i : i + size] for i in range(0, len(jobs), size)):
            rows = self._rows([job.piece for job in group])
            pieces = [(_light(job), _without_answers(job.piece)) for job in group]
            where = addresses[number % len(addresses)]
            nodes.append(submit("share", _share, machine, parameters, rows, pieces, worker=where))
        while len(nodes) > 1:
            nodes = [submit("sum", _sum, nodes[i : i + _FAN]) for i in range(0, len(nodes), _FAN)]
        return nodes[0]

    def _rows(self, pieces: list[Batch | Chains]) -> Any:
        """Submit the reading of the answers of a group of pieces, where they are: one task, as each costs time."""
        pools: dict[str, Any] = {}
        wanted: list[Any] = []
        for piece in pieces:
            if isinstance(piece, Chains):
                wanted.append(None)
                continue
            table, patches = piece.answers, []
            while isinstance(table, Patched):
                patches.append(table.patch(piece.rows))
                table = table.table
            assert isinstance(table, Spread)
            found = table.placed(piece.rows)
            pools |= {pool.key: pool for pool, _, _ in found}
            order = list(pools)
            wanted.append(([(order.index(pool.key), places, which) for pool, places, which in found], patches[::-1]))
        return self.cluster.submit("rows", _rows, list(pools.values()), wanted)

    def _machine_of(self, rbm: RBM) -> Any:
        """The machine without its parameters, as a task that any worker can do again."""
        if self._machine is None or self._machine[0] is not rbm:
            told = rbm.visible, rbm.links, rbm.parameters.shape
            self._machine = rbm, self.cluster.submit("machine", _told, told)
        return self._machine[1]


def _light(job: Job) -> Callable[..., Any]:
    """The share of a job, of an objective without what it keeps from step to step: the piece has it."""
    objective = copy.copy(job.share.__self__)  # type: ignore[attr-defined]
    objective.restart()
    share: Callable[..., Any] = getattr(objective, job.share.__name__)
    return share


def _without_answers(piece: Batch | Chains) -> Any:
    return piece if isinstance(piece, Chains) else replace(piece, answers=None)  # type: ignore[arg-type]


# On the workers.


def _told(told: T) -> T:
    return told


def _cut(parts: list[Answers], cuts: list[tuple[int, int]]) -> Answers:
    return _stacked([part.span(start, stop) for part, (start, stop) in zip(parts, cuts, strict=True)])


def _stacked(parts: list[Answers]) -> Answers:
    return Answers(np.concatenate([p.codes for p in parts]), np.concatenate([p.numbers for p in parts]))


def _some(answers: Answers, rows: Rows) -> Answers:
    return answers.take(rows)


def _over(work: Callable[..., T], blocks: list[Answers], also: tuple[Any, ...]) -> T:
    with Workers(1):
        return work(_stacked(blocks), *also)


def _rows(pools: list[Answers], wanted: list[Any]) -> list[Answers | None]:
    """The answers of each piece of a group; of chains, none."""
    found: list[Answers | None] = []
    for each in wanted:
        if each is None:
            found.append(None)
            continue
        places, patches = each
        together = _stacked([pools[pool].take(own) for pool, own, _ in places])
        answers = together.take(np.argsort(np.concatenate([which for _, _, which in places])))
        for here, instead in patches:
            put(answers, here, instead)
        found.append(answers)
    return found


def _share(
    machine: tuple[Any, Any, tuple[int, int, int, int, int]],
    vector: Array,
    rows: list[Answers | None],
    pieces: list[tuple[Callable[..., Any], Any]],
) -> tuple[Array, list[Any]]:
    """The sum of what some jobs put into their vectors, and what each leaves."""
    visible, links, shape = machine
    rbm = RBM(visible, Parameters(*shape, _own(vector)), links)
    jobs = []
    for answers, (share, piece) in zip(rows, pieces, strict=True):
        if answers is not None:
            piece = replace(piece, answers=_Own(Answers(_own(answers.codes), _own(answers.numbers))))
        jobs.append(Job(share, rbm, piece))
    with Workers(1) as workers:
        total = workers.total(jobs, TreeSum(rbm.parameters.vector))
    return total, [job.left for job in jobs]


def _sum(parts: list[tuple[Array, list[Any]]]) -> tuple[Array, list[Any]]:
    total = TreeSum(parts[0][0])
    for vector, _ in parts:
        total.add(vector.copy())
    return total.result(), [left for _, each in parts for left in each]


def _own(array: NDArray[Any]) -> NDArray[Any]:
    """A copy as NumPy makes arrays: one that came over the wire may not be written to, or lie across words.

    For the former a kernel would have to be compiled anew, and of the latter a product may have other bits.
    """
    return np.array(array)
