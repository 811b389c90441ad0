"""What a machine says about people: their vectors, and the answers it would give for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from mvrbm.answers import Answers
from mvrbm.kernels.random import Stream
from mvrbm.progress import Step, tell
from mvrbm.rbm import RBM
from mvrbm.summary import weight_of
from mvrbm.training.engine import CHUNK, Workers, chunks_of
from mvrbm.training.stopping import HiddenAnswers
from mvrbm.training.workspace import Workspace
from mvrbm.turns import Turns, draw_blanks, draw_people
from mvrbm.units.block import Array, Index
from mvrbm.visible import Alone, Chunk, Visible


def posteriors(rbm: RBM, answers: Answers, n_threads: int | None = None) -> Array:
    """P(h = 1 | answers), (rows, hidden units)."""
    out = np.empty((answers.n_rows, rbm.n_hidden), rbm.dtype)

    def of(rows: Index) -> None:
        chunk = rbm.visible.load(answers, rows, rbm.dtype)
        out[rows] = rbm.posterior_alone(chunk).T

    _for_each_chunk(of, answers, n_threads)
    return out


def reconstruct(rbm: RBM, answers: Answers, n_threads: int | None = None) -> Answers:
    """The answer to every question that P(v | h) decides on, with h replaced by its posterior (paper section 4.2.1)."""
    out = Answers(np.empty_like(answers.codes), np.empty_like(answers.numbers))

    def of(rows: Index) -> None:
        chunk = rbm.visible.load(answers, rows, rbm.dtype)
        X = rbm.features(chunk)
        H = rbm.posterior(chunk, X)
        rbm.visible.store(rbm.visible.decide(rbm.visible_inputs(H, X), rbm.theta), out, rows)

    _for_each_chunk(of, answers, n_threads)
    return out


def complete(
    rbm: RBM,
    answers: Answers,
    questions: NDArray[np.bool_] | None = None,
    n_threads: int | None = None,
    certain: bool = True,
) -> tuple[Answers, NDArray[np.float32]]:
    """Every blank answer given all that each person answered, and how sure it is, (rows, codes then numbers).

    The distribution of each answer is that of the machine of the person's answers and that one. `questions` says, in
    the schema's order, which are asked for. How sure a code is is its probability, a number its standard deviation; NaN
    where nothing was blank, or without `certain`.
    """
    visible = rbm.visible
    out = Answers(answers.codes.copy(), answers.numbers.copy())
    n_cells = answers.codes.shape[1] + answers.numbers.shape[1]
    sure = np.full((answers.n_rows if certain else 0, n_cells), np.nan, np.float32)
    asked = np.ones(visible.n_questions, bool) if questions is None else questions[visible.question_order]
    cells = asked[visible.cell_question][:, None]
    columns = np.concatenate([visible.code_columns, visible.number_columns + answers.codes.shape[1]])
    n = len(visible.code_columns)

    def of(rows: Index) -> None:
        chunk = visible.load(answers, rows, rbm.dtype)
        wanted = (chunk.codes < 0) & cells[:n], np.isnan(chunk.numbers) & cells[n:]
        outlook = rbm.outlook(*rbm.given(chunk, Workspace.of(rbm, len(rows)).X), wanted)
        settled = visible.settle(outlook, chunk)
        visible.store(settled, out, rows, wanted)
        if certain:
            certainty = np.where(np.concatenate(wanted), visible.certainty(outlook, settled), np.nan)
            sure[rows[:, None], columns] = certainty.T

    _for_each_chunk(of, answers, n_threads)
    return out, sure


def draw(
    rbm: RBM,
    answers: Answers,
    n_draws: int,
    seed: int,
    n_threads: int | None = None,
    burn_in: int = 100,
    apart: int = 20,
    made_up: bool = False,
) -> list[Answers]:
    """Joint draws of all blanks given each person's answers, from the full machine, by Gibbs sampling.

    The answers are held fixed, and rankings are orders that a person can give. A chain for each person starts from
    the machine without hidden units, runs `burn_in` sweeps, and gives a draw every `apart` sweeps. The machine is told
    what is answered or, if people are `made_up`, that they answer what someone of the training table did.

    From a machine that learnt to tell hidden answers (`mean_field`) the questions are drawn one after another, in
    another order for each draw, by each of its machines in turn (`turns.py`).
    """
    if rbm.mean_field:
        alone = [rbm.visible.alone(at) for at in range(rbm.visible.n_questions)]
        return [_in_turn(rbm, alone, answers, number, seed, n_threads, made_up) for number in range(n_draws)]
    out = [Answers(answers.codes.copy(), answers.numbers.copy()) for _ in range(n_draws)]
    biases = rbm.parameters.U[:, None]

    def of(rows: Index) -> None:
        given = rbm.visible.load(answers, rows, rbm.dtype)
        stream = Stream(seed, 0, rows)
        given.told = rbm.visible.told(given)
        if made_up and rbm.patterns is not None:
            pick = stream.uniform(1)[0].astype(np.float64) * len(rbm.patterns)
            given.told = given.told | rbm.patterns[pick.astype(np.int64)].T

        def legal(z: Array) -> Chunk:
            return rbm.visible.sample_legal(z, rbm.theta, stream, given)

        chunk = legal(np.repeat(biases, len(rows), axis=1))
        for drawn in range(n_draws):
            for _ in range(apart if drawn else burn_in):
                chunk = rbm.sweep(rbm.draw_hidden(rbm.posterior(chunk), stream), chunk, legal)
            rbm.visible.store(chunk, out[drawn], rows)

    _for_each_chunk(of, answers, n_threads)
    return out


def _in_turn(
    rbm: RBM, alone: list[Alone], answers: Answers, number: int, seed: int, n_threads: int | None, made_up: bool
) -> Answers:
    """One draw of all blanks, a question after another."""
    visible = rbm.visible
    out = Answers(answers.codes.copy(), answers.numbers.copy())
    machine = (rbm, *rbm.others)[number % (1 + len(rbm.others))]
    order = np.random.Generator(np.random.Philox(key=[seed, number])).permutation(visible.n_questions)

    def of(rows: Index) -> None:
        turns = Turns(machine, alone, visible.load(answers, rows, rbm.dtype), rows, seed, turn=number << 20)
        if made_up:
            answer = np.ones((visible.n_questions, len(rows)), bool)
            if rbm.patterns is not None:
                pick = Stream(seed, turns.turn, rows).uniform(1)[0].astype(np.float64) * len(rbm.patterns)
                answer = rbm.patterns[pick.astype(np.int64)].T
            visible.store(draw_people(turns, order, answer, _SWEEPS), out, rows)
        else:
            visible.store(draw_blanks(turns, order), out, rows)

    _for_each_chunk(of, answers, n_threads)
    return out


_SWEEPS = 20
"""How often each answer of a made-up person is drawn anew, given their others."""


def tune(rbm: RBM, hidden: HiddenAnswers, weights: Array | None = None) -> None:
    """Learn decisions (the thresholds of choose-any questions) from answers that were hidden, given those kept.

    A machine that predicts as it learnt to, by its mean field, also learns how sure it may be: types whose questions
    have many values learn by heart first, and one early stop is for all.
    """
    visible, every = rbm.visible, np.arange(len(hidden.rows))
    kept, truth = (visible.load(answers, every, rbm.dtype) for answers in (hidden.given, hidden.hidden))
    wanted = truth.codes >= 0, np.zeros(truth.numbers.shape, bool)  # no number has a decision to learn
    weight = weight_of(weights, hidden.rows)
    given = rbm.given(kept)
    if rbm.mean_field:
        few = slice(None, None, -(-len(every) // _ENOUGH) or 1)
        visible.reset_tempers()  # what was learnt before is in the outlook
        for part, own in zip(visible.parts, rbm.outlook(*given, wanted), strict=True):
            part.block.cool(own[:, few], truth.codes[part.codes, few], weight[few])
    for part, own in zip(visible.parts, rbm.outlook(*given, wanted), strict=True):
        part.block.tune(own, truth.codes[part.codes], weight)


_ENOUGH = 1000
"""People whose hidden answers tell how sure predictions may be."""


HOW = ("exact", "mean-field", "iterated")
_MOST_ROUNDS = 50


def each_question(
    rbm: RBM, chunk: Chunk, questions: Iterable[int], how: str | None = None
) -> Iterator[tuple[int, list[Array]]]:
    """The outlook of each question (by its place in the schema) given the answers to all others.

    The hidden units are summed out ("exact"), or taken at their posterior given the others ("mean-field"), or at what
    they and the answer come to when each is taken at its mean given the other ("iterated", the paper's appendix); None
    is how the machine learnt to predict.
    """
    if how is not None and how not in HOW:
        raise ValueError(f"how must be one of {', '.join(map(repr, HOW))}, not {how!r}")
    visible = rbm.visible
    X, inputs = rbm.given(chunk)
    place = {int(question): at for at, question in enumerate(visible.question_order)}
    for question in questions:
        at = place[question]
        codes, numbers = (np.repeat(cells, chunk.n_rows, axis=1) for cells in visible.cells_of(question))
        if how == "iterated":
            yield question, rbm.outlook(X, _settled(rbm, X, inputs, at, codes, numbers), (codes, numbers), at, True)
        else:
            yield question, rbm.outlook(X, inputs, (codes, numbers), at, None if how is None else how == "mean-field")


def _settled(
    rbm: RBM, X: Array, inputs: list[Array], at: int, codes: NDArray[np.bool_], numbers: NDArray[np.bool_]
) -> list[Array]:
    """The inputs of the hidden units when these and a question, by its place in the layer, are at each other's mean."""
    like = Chunk(np.where(codes, 0, -1).astype(np.int16), np.where(numbers, 0, np.nan).astype(rbm.dtype))
    own = rbm.visible.feature_question == at
    settled: list[Array] = []
    for machine, first in zip((rbm, *rbm.others), inputs, strict=True):
        more: Array = np.zeros_like(first)
        for _ in range(_MOST_ROUNDS):
            H = machine.posterior_given(X, first + more, at)
            x, _ = rbm.visible.mean(machine.visible_inputs(H, X), machine.theta, like)
            before, more = more, machine.parameters.W[own].T @ x[own]
            if np.abs(more - before).max(initial=0.0) < 1e-6:
                break
        settled.append(first + more)
    return settled


def predict(
    rbm: RBM, answers: Answers, questions: list[int], n_threads: int | None = None, how: str | None = None
) -> Answers:
    """The answer to each question given the answers to all others; other questions stay as they are."""
    visible = rbm.visible
    out = Answers(answers.codes.copy(), answers.numbers.copy())

    def of(rows: Index) -> None:
        chunk = visible.load(answers, rows, rbm.dtype)
        found = Chunk(chunk.codes.copy(), chunk.numbers.astype(np.float64))
        for question, outlook in each_question(rbm, chunk, questions, how):
            codes, numbers = visible.cells_of(question)
            settled = visible.settle(outlook, visible.blank(chunk.n_rows, np.float64))
            found.codes[codes[:, 0]] = settled.codes[codes[:, 0]]
            found.numbers[numbers[:, 0]] = settled.numbers[numbers[:, 0]]
        visible.store(found, out, rows)

    _for_each_chunk(of, answers, n_threads)
    return out


def chances(
    rbm: RBM, answers: Answers, question: int, n_threads: int | None = None, how: str | None = None
) -> tuple[list[object], NDArray[np.float64]]:
    """What a question may be answered, and the probability of each given the other answers, (rows, answers)."""
    part, at = _part_of(rbm.visible, question)
    found: dict[int, Array] = {}
    names: list[object] = []

    def of(rows: Index) -> None:
        chunk = rbm.visible.load(answers, rows, rbm.dtype)
        ((_, outlook),) = each_question(rbm, chunk, [question], how)
        own = rbm.visible.parts[part].block.chances(at, outlook[part])
        names[:] = own[0]
        found[int(rows[0])] = own[1]

    _for_each_chunk(of, answers, n_threads)
    return names, np.concatenate([found[first] for first in sorted(found)], axis=1).T


def log_scores(
    rbm: RBM,
    answers: Answers,
    n_threads: int | None = None,
    questions: list[int] | None = None,
    others: Answers | None = None,
    how: str | None = None,
) -> NDArray[np.float64]:
    """The mean log P(answer | all others) of each person's answers; NaN for who answered nothing.

    Of a question with several codes (options, pairs) it is the mean over those that are there. `questions` says which
    are scored (None: every one), and `others` what each is given, if that is not the same answers.
    """
    visible = rbm.visible
    out = np.full(answers.n_rows, np.nan)
    every = [int(question) for question in visible.question_order] if questions is None else questions

    def of(rows: Index) -> None:
        chunk = visible.load(answers, rows, rbm.dtype)
        total, count = np.zeros(len(rows)), np.zeros(len(rows))
        given = chunk if others is None else visible.load(others, rows, rbm.dtype)
        for question, outlook in each_question(rbm, given, every, how):
            codes, numbers = visible.cells_of(question)
            part = visible.parts[_part_of(visible, question)[0]]
            there = np.concatenate([(chunk.codes >= 0) & codes, ~np.isnan(chunk.numbers) & numbers])
            only = Chunk(np.where(codes, chunk.codes, -1), np.where(numbers, chunk.numbers, np.nan))
            log_p = part.block.log_prob(
                outlook[visible.parts.index(part)], only.codes[part.codes], only.numbers[part.numbers]
            )
            n = there.sum(axis=0)
            total += np.where(n > 0, log_p.sum(axis=0) / np.maximum(n, 1), 0.0)
            count += n > 0
        out[rows] = np.where(count > 0, total / np.maximum(count, 1), np.nan)

    _for_each_chunk(of, answers, n_threads)
    return out


def _part_of(visible: Visible, question: int) -> tuple[int, int]:
    """Find the part of the layer that holds a question, and its place there."""
    place = list(visible.question_order).index(question)
    for number, part in enumerate(visible.parts):
        if part.questions.start <= place < part.questions.stop:
            return number, place - part.questions.start
    raise IndexError(question)


def _for_each_chunk(work: Callable[[Index], None], answers: Answers, n_threads: int | None) -> None:
    chunks = chunks_of(np.arange(answers.n_rows), CHUNK)
    with Workers(n_threads if len(chunks) > 1 else 1) as workers:
        for number, _ in enumerate(workers.map(work, chunks)):
            tell(Step("people", int(chunks[number][-1]) + 1, answers.n_rows))
