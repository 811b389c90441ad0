"""The paper's experiments (section 4.2), one cell of the grid at a time."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvrbm import inference
from mvrbm.answers import Answers
from mvrbm.datasets import best_guesses
from mvrbm.encoding import blocks, decode
from mvrbm.estimators import MVRBM, MVRBMPredictor
from mvrbm.metrics import errors_by_kind
from mvrbm.report.places import places
from mvrbm.schema import Schema
from mvrbm.study.grid import BEST, Cell
from mvrbm.summary import summarise
from mvrbm.training.stopping import HiddenAnswers, hide
from mvrbm.visible import Visible

HIDDEN_SHARE = 0.2
TEST_SHARE = 0.2
NEIGHBOURS = 10
SHOWN = 10
"""Values of the colouring question that the map shows: those that most people have."""


@dataclass(frozen=True)
class Sample:
    """Some people of a survey: their answers and weights, and the best guesses, where they are known."""

    answers: Answers
    weights: NDArray[np.float64] | None
    best: Answers | None = None

    def take(self, rows: NDArray[np.int64]) -> Sample:
        """Some of these people."""
        weights = None if self.weights is None else self.weights[rows]
        return Sample(self.answers.take(rows), weights, None if self.best is None else self.best.take(rows))


class Experiments:
    """A survey and the experiments on it. The made one knows its best guesses."""

    def __init__(
        self,
        schema: Schema,
        sample: Sample,
        made: tuple[int, int] | None = None,
        max_epochs: int | None = None,
        n_threads: int | None = None,
    ) -> None:
        """`made` is the size and seed of the made survey that these people are of, if it is one."""
        self.schema = schema
        self.sample = sample
        self.made = made
        # one machine, as the paper has: three, as the default has here, would take longer and say the same of K
        self.settings: dict[str, Any] = {"max_epochs": max_epochs, "n_threads": n_threads, "n_models": 1}

    def run(self, cell: Cell) -> dict[str, Any]:
        """Compute a cell: the errors by type, or the map; and what it took."""
        begun, worked = time.perf_counter(), time.process_time()
        found: dict[str, Any] = getattr(self, f"_{cell.experiment}")(cell)
        spent = {"seconds": time.perf_counter() - begun, "processor_seconds": time.process_time() - worked}
        return found | {name: round(seconds, 2) for name, seconds in spent.items()}

    def _people(self, cell: Cell) -> Sample:
        """All people, or some at random, others for each seed."""
        sample = self.sample
        if cell.recipe == BEST and self.made:
            best = best_guesses(*self.made, questions=None if cell.target is None else [cell.target])
            sample = replace(sample, best=best)
        n = sample.answers.n_rows
        if cell.rows >= n:
            return sample
        return sample.take(np.sort(np.random.default_rng(cell.seed).permutation(n)[: cell.rows]))

    def _visible(self, answers: Answers, weights: NDArray[np.float64] | None, schema: Schema | None = None) -> Visible:
        questions = list(schema or self.schema)
        return Visible(questions, summarise(answers, questions, weights))

    def _frame(self, answers: Answers) -> Any:
        import pandas as pd

        return pd.DataFrame(decode(answers, self.schema))

    def _fitted(self, cell: Cell, sample: Sample, schema: Schema | None = None) -> MVRBM:
        model = MVRBM(
            cell.n_hidden,
            schema=schema or self.schema,
            recipe=cell.recipe,
            random_state=cell.seed,
            **self.settings,
        )
        return model.fit(self._frame(sample.answers), sample_weight=sample.weights)

    def _reconstruction(self, cell: Cell) -> dict[str, Any]:
        """Every answer from the posterior of its row, which has seen it."""
        people = self._people(cell)
        model = self._fitted(cell, people)
        found = inference.reconstruct(model.rbm_, people.answers, model.n_threads)
        return self._errors(model, found, people.answers, people.weights)

    def _hidden(self, people: Sample, seed: int) -> HiddenAnswers:
        return hide(people.answers, self._visible(people.answers, people.weights), HIDDEN_SHARE, seed)

    def _completion(self, cell: Cell) -> dict[str, Any]:
        """A fifth of each person's answers is hidden, from training too, and found again from the others."""
        people = self._people(cell)
        hidden = self._hidden(people, cell.seed)
        if people.best is not None:
            visible = self._visible(hidden.given, people.weights)
            return {"errors": errors_by_kind(visible, people.best, hidden.hidden, people.weights)}
        model = self._fitted(cell, Sample(hidden.given, people.weights))
        found, _ = inference.complete(model.rbm_, hidden.given, n_threads=model.n_threads, certain=False)
        return self._errors(model, found, hidden.hidden, people.weights)

    def _prediction(self, cell: Cell) -> dict[str, Any]:
        """One question from all others: learnt from four fifths of the people, tried on the rest."""
        assert cell.target is not None
        people = self._people(cell)
        order = np.random.default_rng([cell.seed, 1]).permutation(people.answers.n_rows)
        n_test = max(1, round(TEST_SHARE * len(order)))
        test, train = (people.take(np.sort(rows)) for rows in (order[:n_test], order[n_test:]))
        truth = self._only(cell.target, test.answers)
        if test.best is not None:
            visible = self._visible(train.answers, train.weights)
            return {"errors": errors_by_kind(visible, test.best, truth, test.weights)}
        model = MVRBMPredictor(
            cell.target,
            method="discriminative",
            n_hidden=cell.n_hidden,
            schema=self.schema,
            recipe=cell.recipe,
            random_state=cell.seed,
            **self.settings,
        )
        model.fit(self._frame(train.answers), sample_weight=train.weights)
        # what predict() says, but for rankings, where a table of first choices cannot hold the whole order
        place = self.schema.names.index(cell.target)
        found = inference.predict(model.rbm_, test.answers, [place], model.n_threads)
        return self._errors(model, found, truth, test.weights)

    def _only(self, name: str, answers: Answers) -> Answers:
        """The answers to one question; the others are blank."""
        visible = self._visible(answers, None)
        rows = np.arange(answers.n_rows)
        own = np.isin(visible.question_order, [self.schema.names.index(name)])[:, None]
        only = Answers(answers.codes.copy(), answers.numbers.copy())
        visible.store(visible.keep_only(visible.load(answers, rows), own), only, rows)
        return only

    def _errors(
        self, model: MVRBM | MVRBMPredictor, found: Answers, truth: Answers, weights: NDArray[np.float64] | None
    ) -> dict[str, Any]:
        errors = errors_by_kind(model.rbm_.visible, found, truth, weights)
        history = model.history_
        return {"errors": errors, "epochs": len(history.epochs), "stopped": history.stopped, "undone": history.undone}

    def _map(self, cell: Cell) -> dict[str, Any]:
        """People by t-SNE of their vectors, of a model that does not know the question that colours them."""
        assert cell.target is not None
        people = self._people(cell)
        without = Schema([question for question in self.schema if question.name != cell.target])
        model = self._fitted(cell, people, without)
        vectors = model.transform(self._frame(people.answers))
        code = {question.name: block for question, block in blocks(people.answers, self.schema)}[cell.target][:, 0]
        count = np.bincount(code[code >= 0], minlength=self.schema[cell.target].n_values)
        shown = np.isin(code, np.argsort(-count, kind="stable")[:SHOWN]) & (code >= 0)
        at = places(vectors, cell.seed)
        values = [str(value) for value in self.schema[cell.target].known_values]
        labels = [values[c] for c in code[shown]]
        regions = [label.split()[0] for label in labels] if self.made else None
        return {
            "x": [round(float(x), 2) for x in at[shown, 0]],
            "y": [round(float(y), 2) for y in at[shown, 1]],
            "labels": labels,
            "alike": together(vectors[shown], labels),
            "alike_regions": None if regions is None else together(vectors[shown], regions),
        }


def together(vectors: NDArray[np.float32], labels: list[str]) -> dict[str, float]:
    """The share of a person's ten nearest neighbours with the same label, and what it would be by chance."""
    from sklearn.neighbors import NearestNeighbors

    own = np.unique(labels, return_inverse=True)[1]
    n = min(NEIGHBOURS, len(own) - 1)
    near = NearestNeighbors(n_neighbors=n).fit(vectors).kneighbors(return_distance=False)
    share = np.bincount(own) / len(own)
    return {"share": float((own[near] == own[:, None]).mean()), "by_chance": float((share**2).sum())}
