"""The visible layer: questions of every type packed into one matrix of features.

The layer does not know which types there are. It puts the questions of each type side by side in a block,
and hands each block its own rows of every array. All arrays have people in columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from threadpoolctl import threadpool_limits

from mvrbm.answers import Answers, Source
from mvrbm.arrays import State, Stored, under
from mvrbm.kernels import chunks
from mvrbm.kernels.random import Stream
from mvrbm.summary import Summary
from mvrbm.units.block import Array, Block, Codes, Index
from mvrbm.units.question import Question


@dataclass
class Chunk:
    """The answers of some people, in the layer's order of columns: -1 and NaN where there is none."""

    codes: Codes
    numbers: Array
    told: NDArray[np.bool_] | None = None
    """The questions that the machine is told are answered, (questions, people); None: those that are."""

    @property
    def n_rows(self) -> int:
        """The number of people."""
        return int(self.codes.shape[1])

    def without(self, other: Chunk) -> Chunk:
        """What is answered here and not in `other`."""
        codes = np.where(other.codes < 0, self.codes, np.int16(-1))
        return Chunk(codes, np.where(np.isnan(other.numbers), self.numbers, self.numbers.dtype.type(np.nan)))


@dataclass(frozen=True)
class Part:
    """A block and its rows of the layer's arrays."""

    block: Block
    questions: slice
    codes: slice
    numbers: slice
    features: slice
    base: slice
    draws: slice

    @property
    def name(self) -> str:
        """The block's name in model files, which a block that is renamed has to keep."""
        return type(self.block).__name__.removesuffix("Block").lower()


@dataclass(frozen=True)
class Alone:
    """One question of a layer as a layer of its own, and its rows of the whole layer's arrays."""

    layer: Visible
    codes: Index
    numbers: Index
    features: slice
    base: Index

    def cut(self, chunk: Chunk, people: Index) -> Chunk:
        """What some people of a chunk answer to the question."""
        return Chunk(chunk.codes[self.codes[:, None], people], chunk.numbers[self.numbers[:, None], people])

    def paste(self, own: Chunk, chunk: Chunk, people: Index) -> None:
        """Write answers to the question into a chunk."""
        chunk.codes[self.codes[:, None], people] = own.codes
        chunk.numbers[self.numbers[:, None], people] = own.numbers


Wanted = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Which codes and which numbers, (cells, people) each."""


class Visible:
    """Questions of any type as one layer of a machine."""

    def __init__(self, questions: Sequence[Question], summary: Summary, *, paper: bool = False) -> None:
        """Lay out the questions; `summary` holds what the data says of each column of the answers."""
        self.questions, self.paper = list(questions), paper
        code_columns = _columns([q.n_codes for q in questions])
        number_columns = _columns([q.n_numbers for q in questions])
        self.parts: list[Part] = []
        blocks = []
        for kind in dict.fromkeys(q.block for q in questions):
            own = [i for i, q in enumerate(questions) if q.block is kind]
            codes = np.concatenate([code_columns[i] for i in own])
            numbers = np.concatenate([number_columns[i] for i in own])
            blocks.append((kind([questions[i] for i in own], summary.of(codes, numbers), paper), own))
        blocks.sort(key=lambda block: not block[0].gathers)  # the others stay together, for one product
        order: list[int] = []
        for block, own in blocks:
            self._add(block)
            order += own
        self.question_order: Index = np.array(order, np.int64)
        """The schema's number of each question of the layer."""
        self.code_columns: Index = np.concatenate([code_columns[i] for i in order])
        self.number_columns: Index = np.concatenate([number_columns[i] for i in order])
        self.summary = summary
        last = self.parts[-1]
        self.n_questions, self.n_features, self.n_base = last.questions.stop, last.features.stop, last.base.stop
        self.n_draws = last.draws.stop
        self.first_dense = sum(p.block.n_features for p in self.parts if p.block.gathers)
        """The features from here on take part in a matrix product; those before are gathered."""
        self.feature_start = np.concatenate([p.block.feature_start + p.features.start for p in self.parts])
        sizes = np.diff([*self.feature_start, self.n_features])
        self.feature_question: Index = np.repeat(np.arange(self.n_questions), sizes)
        """The question of each feature, in the layer's order."""
        self.places_on_scales = np.concatenate([p.block.places_on_scales for p in self.parts])
        """Where the level of each feature stands on the scale of its question, from -1 to 1; NaN without an order."""
        starts = [(p.features.start, p.base.start) for p in self.parts]
        self.squares: Index = np.concatenate([p.block.squares + at for p, at in zip(self.parts, starts, strict=True)])
        """The features whose squares are base statistics, and these, (number of them, 2)."""
        self.for_hidden_units = np.concatenate([p.block.for_hidden_units for p in self.parts])
        """The features that no link joins."""
        self.cell_question: Index = self._cell_question()
        """The question of each code column, then of each number column, in the layer's order."""
        self._run_start = np.flatnonzero(np.diff(self.cell_question, prepend=-1))  # a question's cells are consecutive
        self.base_question = np.concatenate([p.block.base_question + p.questions.start for p in self.parts])

    def _add(self, block: Block) -> None:
        last = self.parts[-1] if self.parts else None

        def after(name: str, n: int) -> slice:
            start = getattr(last, name).stop if last else 0
            return slice(start, start + n)

        self.parts.append(
            Part(
                block,
                after("questions", block.n_questions),
                after("codes", block.n_codes),
                after("numbers", block.n_numbers),
                after("features", block.n_features),
                after("base", block.n_base),
                after("draws", block.n_draws),
            )
        )

    def start(self) -> tuple[Array, Array]:
        """Biases and base parameters that fit the marginals: the machine without hidden units, the baseline."""
        return self._marginals

    @cached_property
    def _marginals(self) -> tuple[Array, Array]:
        with threadpool_limits(limits=1):  # vectors this small lose forty times the time to waiting threads
            found = [
                p.block.start(self.summary.of(self.code_columns[p.codes], self.number_columns[p.numbers]))
                for p in self.parts
            ]
        return np.concatenate([U for U, _ in found]), np.concatenate([base for _, base in found])

    def state(self) -> State:
        """What the layer learnt from data, as named arrays; with the questions and `paper` it is the whole layer."""
        arrays = self.summary.state()
        for part in self.parts:
            arrays |= under(part.name, part.block.state())
        return arrays

    @classmethod
    def restored(cls, questions: Sequence[Question], stored: Stored, *, paper: bool = False) -> Visible:
        """The layer whose `state` was stored."""
        visible = cls(questions, Summary.restored(questions, stored), paper=paper)
        for part in visible.parts:
            part.block.restore(stored.under(part.name))
        return visible

    def features_of(self, version: int) -> Index:
        """Where each feature that a model file of some format has is in the layer; -1 where it is no more."""
        places = [(p.block.features_of(version), p.features.start) for p in self.parts]
        return np.concatenate([np.where(own < 0, -1, own + start) for own, start in places])

    def load(self, answers: Source, rows: Index, dtype: DTypeLike = np.float32) -> Chunk:
        """The chunk of some rows of a table."""
        held, places = answers.at(rows)
        codes = np.empty((len(self.code_columns), len(rows)), np.int16)
        chunks.gather_codes(held.codes, places, self.code_columns, codes)
        numbers = np.ascontiguousarray(held.numbers[places].T[self.number_columns], dtype)
        return Chunk(codes, numbers)

    def store(self, chunk: Chunk, answers: Answers, rows: Index, wanted: Wanted | None = None) -> None:
        """Write a chunk, or the wanted cells of it, into some rows of a table."""
        codes, numbers = wanted or (np.ones(chunk.codes.shape, bool), np.ones(chunk.numbers.shape, bool))
        chunks.scatter(chunk.codes, codes, rows, self.code_columns, answers.codes)
        chunks.scatter(chunk.numbers, numbers, rows, self.number_columns, answers.numbers)

    def blank(self, n_rows: int, dtype: DTypeLike = np.float32) -> Chunk:
        """A chunk with no answer in it."""
        codes = np.full((len(self.code_columns), n_rows), -1, np.int16)
        return Chunk(codes, np.full((len(self.number_columns), n_rows), np.nan, dtype))

    def features(self, chunk: Chunk, x: Array | None = None) -> Array:
        """x(v), (features, people)."""
        x = np.empty((self.n_features, chunk.n_rows), chunk.numbers.dtype) if x is None else x
        for p in self.parts:
            p.block.features(chunk.codes[p.codes], chunk.numbers[p.numbers], x[p.features])
        return x

    def effects(self, W: Array) -> Array:
        """What each feature that is not `for_hidden_units` adds to the inputs of the hidden units, (them, hidden)."""
        return np.concatenate([p.block.effects(W[p.features]) for p in self.parts])

    def add_inputs(self, chunk: Chunk, W: Array, a: Array) -> None:
        """Add x(v)^T W of the features before `first_dense`, (hidden, people), to a."""
        for p in self.parts:
            if p.block.gathers:
                p.block.add_inputs(chunk.codes[p.codes], W[p.features], a)

    def base_statistics(self, chunk: Chunk, x: Array) -> Array:
        """t(v), (base statistics, people), given the chunk's features."""
        t = np.empty((self.n_base, chunk.n_rows), x.dtype)
        for p in self.parts:
            if p.block.n_base:
                p.block.base_statistics(chunk.codes[p.codes], x[p.features], t[p.base])
        return t

    def natural(self, base: Array) -> Array:
        """theta from the base parameters that are learnt."""
        return self._each_base(base, "natural")

    def natural_slope(self, base: Array) -> Array:
        """The derivative of theta by the base parameters; 0 where one is fixed."""
        return self._each_base(base, "natural_slope")

    def _each_base(self, base: Array, method: str) -> Array:
        found = [getattr(p.block, method)(base[p.base]) for p in self.parts if p.block.n_base]
        return np.concatenate(found) if found else base

    def sample(self, z: Array, theta: Array, stream: Stream, scratch: Any = None) -> Chunk:
        """Answers to every question, drawn given the inputs z."""
        u = stream.uniform(self.n_draws, scratch)
        chunk = Chunk(
            np.empty((len(self.code_columns), z.shape[1]), np.int16),
            np.empty((len(self.number_columns), z.shape[1]), z.dtype),
        )
        for p in self.parts:
            codes, numbers = chunk.codes[p.codes], chunk.numbers[p.numbers]
            p.block.sample(z[p.features], theta[p.base], u[p.draws], codes, numbers)
        return chunk

    def sample_alone(self, z: Array, theta: Array, stream: Stream, given: Chunk) -> Chunk:
        """As `sample_legal`, for inputs that were learnt a cell at a time: each is drawn as often as they say."""
        chunk = Chunk(given.codes.copy(), given.numbers.copy())
        for p in self.parts:
            codes, numbers = chunk.codes[p.codes], chunk.numbers[p.numbers]
            p.block.sample_alone(z[p.features], theta[p.base], stream, codes, numbers)
        return chunk

    def sample_legal(self, z: Array, theta: Array, stream: Stream, given: Chunk) -> Chunk:
        """Answers that a person can give, drawn given the inputs z and what `given` says: rankings are orders."""
        chunk = Chunk(given.codes.copy(), given.numbers.copy(), given.told)
        for p in self.parts:
            codes, numbers = chunk.codes[p.codes], chunk.numbers[p.numbers]
            p.block.sample_legal(z[p.features], theta[p.base], stream, codes, numbers)
        return chunk

    def mean(self, z: Array, theta: Array, like: Chunk) -> tuple[Array, Array]:
        """The expectations of x and t given z, of what `like` answers."""
        x = np.zeros((self.n_features, z.shape[1]), z.dtype)
        t = np.zeros((self.n_base, z.shape[1]), z.dtype)
        for p in self.parts:
            codes, numbers = like.codes[p.codes], like.numbers[p.numbers]
            p.block.mean(z[p.features], theta[p.base], codes, numbers, x[p.features], t[p.base])
        return x, t

    def log_unit(self, chunk: Chunk) -> NDArray[np.float64]:
        """The log of what a density of the features is to be multiplied by, to be one of the answers as they are."""
        return sum(
            (p.block.log_unit(chunk.numbers[p.numbers]) for p in self.parts if p.block.n_numbers),
            np.zeros(chunk.n_rows),
        )

    def log_partition(self, z: Array, theta: Array, like: Chunk) -> Array:
        """For each question, the log of the sum over its answers, of what `like` answers, (questions, people)."""
        out = np.zeros((self.n_questions, z.shape[1]), z.dtype)
        for p in self.parts:
            codes, numbers = like.codes[p.codes], like.numbers[p.numbers]
            p.block.log_partition(z[p.features], theta[p.base], codes, numbers, out[p.questions])
        return out

    def log_prob(self, chunk: Chunk, z: Array, theta: Array) -> Array:
        """log P(answer | z) of each question, (questions, people); 0 where there is no answer."""
        x = self.features(chunk)
        score = np.add.reduceat(x * z, self.feature_start, axis=0)
        if self.n_base:
            np.add.at(score, self.base_question, self.base_statistics(chunk, x) * theta[:, None])
        result: Array = score - self.log_partition(z, theta, chunk)
        return result

    def decide(self, z: Array, theta: Array) -> Chunk:
        """The answer to every question that loses least by its type's error, given z."""
        chunk = self.blank(z.shape[1], z.dtype)
        for p in self.parts:
            codes, numbers = chunk.codes[p.codes], chunk.numbers[p.numbers]
            p.block.decide(z[p.features], theta[p.base], codes, numbers)
        return chunk

    def outlook(self, P: Array, U: Array, W: Array, theta: Array, wanted: Wanted, share: float = 1.0) -> list[Array]:
        """What every wanted answer may be given others, by block; P is P(h = 1 | the others), (hidden, people).

        U are the biases, (features, people) or (features, 1).
        """
        codes, numbers = wanted
        return [
            p.block.outlook(
                P,
                U[p.features],
                W[p.features],
                theta[p.base],
                codes[p.codes] if p.block.n_codes else numbers[p.numbers],
                share,
            )
            for p in self.parts
        ]

    def reset_tempers(self) -> None:
        """Forget how sure predictions may be."""
        for part in self.parts:
            part.block.temper = np.ones(1)

    def tempered(self, z: Array, theta: Array) -> tuple[Array, Array]:
        """The inputs and theta with each block's temper."""
        z, theta = z.copy(), theta.copy()
        for p in self.parts:
            z[p.features] *= p.block.temper.astype(z.dtype)
            theta[p.base] *= p.block.temper.astype(theta.dtype)
        return z, theta

    def settle(self, outlook: list[Array], known: Chunk) -> Chunk:
        """The answer to every question that loses least by its type's error, given an outlook and what is known."""
        chunk = Chunk(known.codes.copy(), known.numbers.astype(np.float64))
        for p, own in zip(self.parts, outlook, strict=True):
            p.block.settle(own, chunk.codes[p.codes], chunk.numbers[p.numbers])
        return chunk

    def certainty(self, outlook: list[Array], chunk: Chunk) -> Array:
        """How sure each cell of a chunk is, (cells, people): codes, then numbers."""
        out = np.full((len(self.code_columns) + len(self.number_columns), chunk.n_rows), np.nan)
        for p, own in zip(self.parts, outlook, strict=True):
            cells = (
                p.codes
                if p.block.n_codes
                else slice(p.numbers.start + len(self.code_columns), p.numbers.stop + len(self.code_columns))
            )
            out[cells] = p.block.certainty(own, chunk.codes[p.codes])
        return out

    def cells_of(self, question: int) -> Wanted:
        """Mark the codes and numbers of a question (by its place in the schema), (cells, 1) each."""
        place = list(self.question_order).index(question)
        own = (self.cell_question == place)[:, None]
        n = len(self.code_columns)
        return own[:n], own[n:]

    def alone(self, at: int) -> Alone:
        """A question, by its place in the layer, as a layer of its own."""
        n = len(self.code_columns)
        cells = np.flatnonzero(self.cell_question == at)
        codes, numbers = cells[cells < n], cells[cells >= n] - n
        own = self.summary.of(self.code_columns[codes], self.number_columns[numbers])
        layer = Visible([self.questions[self.question_order[at]]], own, paper=self.paper)
        part = next(p for p in self.parts if p.questions.start <= at < p.questions.stop)
        layer.parts[0].block.as_in(part.block, at - part.questions.start)
        first, last = np.flatnonzero(self.feature_question == at)[[0, -1]]
        return Alone(layer, codes, numbers, slice(first, last + 1), np.flatnonzero(self.base_question == at))

    def blank_questions(self, chunk: Chunk) -> NDArray[np.bool_]:
        """Whether any part of each question is blank, (questions, people)."""
        out = np.zeros((self.n_questions, chunk.n_rows), bool)
        blank = np.concatenate([chunk.codes < 0, np.isnan(chunk.numbers)])
        out[self.cell_question[self._run_start]] = np.logical_or.reduceat(blank, self._run_start, axis=0)
        return out

    def answered(self, chunk: Chunk) -> NDArray[np.bool_]:
        """Whether any part of each question is answered, (questions, people)."""
        out = np.zeros((self.n_questions, chunk.n_rows), bool)
        chunks.answered(chunk.codes, chunk.numbers, self.cell_question, out)
        return out

    def told(self, chunk: Chunk) -> NDArray[np.bool_]:
        """The questions that the machine is told are answered, (questions, people)."""
        return self.answered(chunk) if chunk.told is None else chunk.told

    def put(self, chunk: Chunk, questions: NDArray[np.bool_], other: Chunk) -> Chunk:
        """The chunk with some questions, (questions, 1), as `other` answers them."""
        cells = questions[self.cell_question]
        n = len(self.code_columns)
        codes = np.where(cells[:n], other.codes, chunk.codes)
        return Chunk(codes, np.where(cells[n:], other.numbers, chunk.numbers), chunk.told)

    def keep_only(self, chunk: Chunk, questions: NDArray[np.bool_]) -> Chunk:
        """The chunk with every other question left out; `questions` is (questions, people) or (questions, 1)."""
        questions = np.ascontiguousarray(np.broadcast_to(questions, (self.n_questions, chunk.n_rows)))
        kept = Chunk(np.empty_like(chunk.codes), np.empty_like(chunk.numbers))
        chunks.keep(chunk.codes, chunk.numbers, questions, self.cell_question, kept.codes, kept.numbers)
        return kept

    def _cell_question(self) -> Index:
        codes = np.array([q.n_codes for q in self.questions])[self.question_order]
        numbers = np.array([q.n_numbers for q in self.questions])[self.question_order]
        every = np.arange(self.n_questions)
        return np.concatenate([np.repeat(every, codes), np.repeat(every, numbers)])


def keep_blanks(chunk: Chunk, like: Chunk) -> Chunk:
    """Blank, in place, what is blank in `like`."""
    chunks.keep_blanks(like.codes, chunk.codes)
    chunk.numbers[np.isnan(like.numbers)] = np.nan
    chunk.told = like.told
    return chunk


def fill_blanks(chunk: Chunk, drawn: Chunk) -> Chunk:
    """The chunk with its blanks filled from `drawn`."""
    return Chunk(
        np.where(chunk.codes < 0, drawn.codes, chunk.codes),
        np.where(np.isnan(chunk.numbers), drawn.numbers, chunk.numbers),
        chunk.told,
    )


def _columns(widths: list[int]) -> list[Index]:
    stops = np.cumsum(widths)
    return [np.arange(stop - width, stop, dtype=np.int64) for stop, width in zip(stops, widths, strict=True)]
