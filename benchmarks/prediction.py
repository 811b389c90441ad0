"""`make bench-prediction`: one question from all others, by `MVRBMPredictor` and by scikit-learn's models.

Of each type the questions that most people answer are predicted, on a fifth of the people, learnt from the rest. The
others get the other questions as columns of numbers and say probabilities, from which the same decision is taken as
from ours. Errors in per cent as `mvrbm.metrics` defines them; log-loss for each answer (of a number: in its own units,
of a normal distribution); the calibration error pooled over splits, and what a perfect model would have by chance.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.surveys import surveys
from mvrbm import MVRBMPredictor, Schema, encoding, inference
from mvrbm.answers import Answers
from mvrbm.evaluation.others import Columns
from mvrbm.metrics import calibration_error
from mvrbm.summary import summarise
from mvrbm.tables import Table
from mvrbm.visible import Visible

PERFECT = 20
"""Times that answers are drawn from the probabilities themselves, for what a perfect model's calibration would be."""


def _filled(model: Any) -> Any:
    return make_pipeline(SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler(), model)


PEERS: dict[str, tuple[Any, Any]] = {
    "HistGradientBoosting": (
        lambda: HistGradientBoostingClassifier(max_iter=100, learning_rate=0.06, max_leaf_nodes=12, random_state=0),
        lambda: HistGradientBoostingRegressor(max_iter=100, learning_rate=0.06, max_leaf_nodes=12, random_state=0),
    ),
    "logistic / ridge": (
        lambda: _filled(LogisticRegression(C=0.05, max_iter=300)),
        lambda: _filled(RidgeCV(np.logspace(-1, 4, 12))),
    ),
    "RandomForest": (
        lambda: _filled(RandomForestClassifier(200, min_samples_leaf=5, random_state=0)),
        lambda: _filled(RandomForestRegressor(200, min_samples_leaf=5, random_state=0)),
    ),
}


class Split:
    """A question, the people to learn it from and those to try it on."""

    def __init__(self, frame: pd.DataFrame, schema: Schema, target: str, seed: int) -> None:
        self.schema = schema.learn(Table(frame))
        self.question, self.place = self.schema[target], self.schema.names.index(target)
        answers = encoding.encode(Table(frame), self.schema)
        block = {q.name: b for q, b in encoding.blocks(answers, self.schema)}[target]
        there = np.flatnonzero(~encoding.blank_cells(block).all(axis=1))
        order = np.random.default_rng(seed).permutation(there)
        self.test, self.train = np.sort(order[: len(order) // 5]), np.sort(order[len(order) // 5 :])
        self.frame, self.answers, self.truth = frame, answers, block[self.test]
        questions = [self.question]
        own = encoding.encode(Table(frame), Schema(questions))
        self.layer = Visible(questions, summarise(own.take(self.train), questions))
        self.chunk = self.layer.load(own.take(self.test), np.arange(len(self.test)), np.float64)
        self.learnt = block[self.train]

    def error(self, guessed: Answers | None = None, outlook: np.ndarray | None = None, at: Any = None) -> float:
        """The error of guesses of the whole table, or of the decision on an outlook."""
        block = self.layer.parts[0].block
        if guessed is not None:
            own = {q.name: b for q, b in encoding.blocks(guessed, self.schema)}[self.question.name]
            codes, numbers = (own.T, np.zeros((0, len(own)))) if self.question.n_codes else (own.T[:0], own.T)
        else:
            codes, numbers = np.full(self.chunk.codes.shape, -1, np.int16), np.full(self.chunk.numbers.shape, np.nan)
            if at is None:
                block.settle(outlook, codes, numbers)
            else:
                numbers[0] = at
        parts = block.errors(codes, numbers, self.chunk.codes, self.chunk.numbers, np.ones(len(self.test)))
        return 100 * block.error(parts.sum(axis=0))


def ours(split: Split, seed: int) -> tuple[float, float, np.ndarray | None]:
    """Error, log-loss, and the probabilities of single codes."""
    model = MVRBMPredictor(split.question.name, schema=split.schema, random_state=seed)
    model.fit(split.frame.iloc[split.train])
    test = split.answers.take(split.test)
    error = split.error(inference.predict(model.rbm_, test, [split.place]))
    chances: Any = model.predict_proba(split.frame.iloc[split.test])
    if split.question.n_numbers:
        return error, _normal(split.truth[:, 0], chances["mean"], chances["sd"]), None
    loss = -float(np.nanmean(inference.log_scores(model.rbm_, test, questions=[split.place])))
    return error, loss, np.asarray(chances, np.float64) if split.question.n_codes == 1 else None


def theirs(split: Split, way: str) -> tuple[float, float, np.ndarray | None]:
    """The same of a model of scikit-learn for each code of the question."""
    classifier, regressor = PEERS[way]
    columns = Columns(split.schema, split.answers)
    X = columns.X[:, columns.owner != split.place]
    varies = np.array([len(np.unique(x[~np.isnan(x)])) > 1 for x in X[split.train].T])
    train, test = X[split.train][:, varies], X[split.test][:, varies]
    if split.question.n_numbers:
        y = split.learnt[:, 0]
        mean = regressor().fit(train, y).predict(test)
        sd = np.sqrt(np.mean((cross_val_predict(regressor(), train, y, cv=5) - y) ** 2))
        return split.error(at=mean), _normal(split.truth[:, 0], mean, sd), None
    logs = []
    two = split.layer.n_features == split.question.n_codes  # yes or no, told by the log-odds of one feature
    for y in split.learnt.T:
        n = 2 if two else split.question.n_values if split.question.n_codes == 1 else 3
        p = np.full((len(test), n), 1e-6)
        there = y >= 0
        if len(np.unique(y[there])) > 1:
            model = classifier().fit(train[there], y[there])
            p[:, model.classes_] += model.predict_proba(test)
        else:
            p[:, y[there][0]] = 1
        logs.append(np.log(p / p.sum(axis=1, keepdims=True)).T)
    outlook = np.concatenate([log[1:] - log[:1] for log in logs]) if two else np.concatenate(logs)
    log_p = split.layer.parts[0].block.log_prob(outlook, split.chunk.codes, split.chunk.numbers)
    loss = -float(log_p.sum() / (split.chunk.codes >= 0).sum())
    return split.error(outlook=outlook), loss, np.exp(logs[0].T) if split.question.n_codes == 1 else None


def _normal(truth: np.ndarray, mean: Any, sd: Any) -> float:
    return -float(stats.norm.logpdf(truth, np.asarray(mean), np.asarray(sd)).mean())


def calibration(truth: np.ndarray, p: np.ndarray) -> str:
    """The calibration error, and that of a perfect model."""
    rng = np.random.default_rng(0)
    drawn = (rng.random((PERFECT, len(p), 1)) > np.cumsum(p, axis=1)).sum(axis=2).clip(max=p.shape[1] - 1)
    perfect = np.mean([calibration_error(each, p) for each in drawn])
    return f"{calibration_error(truth, p):.3f} ({perfect:.3f})"


def targets(frame: pd.DataFrame, schema: Schema, n: int) -> list[str]:
    """The questions of each type that most people answer."""
    schema = schema.learn(Table(frame))
    answers = encoding.encode(Table(frame), schema)
    count = {q.name: (~encoding.blank_cells(b).all(axis=1)).sum() for q, b in encoding.blocks(answers, schema)}
    kinds = dict.fromkeys(question.kind for question in schema)
    return [
        name
        for kind in kinds
        for name in sorted((q.name for q in schema if q.kind == kind), key=lambda name: -count[name])[:n]
    ]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--splits", type=int, default=5)
    options.add_argument("--targets", type=int, default=2, help="questions of each type")
    asked = options.parse_args()
    warnings.filterwarnings("ignore")
    for survey, read in surveys().items():
        frame, schema = read()
        print(
            f"## {survey}\n\n| | | error | log-loss | calibration (perfect) | seconds |\n|---|---|---:|---:|---:|---:|",
            flush=True,
        )
        for target in targets(frame, schema, asked.targets):
            splits = [Split(frame, schema, target, seed) for seed in range(asked.splits)]
            for way in ("mvrbm", *PEERS):
                begun = time.perf_counter()
                with threadpool_limits(limits=1 if way in PEERS else None):
                    found = [ours(s, n) if way == "mvrbm" else theirs(s, way) for n, s in enumerate(splits)]
                took = time.perf_counter() - begun
                error, loss = ([each[i] for each in found] for i in (0, 1))
                said = ""
                if found[0][2] is not None:
                    truth = np.concatenate([split.truth[:, 0] for split in splits])
                    said = calibration(truth, np.concatenate([each[2] for each in found]))
                kind = f"{splits[0].question.kind}: {target[:30]}" if way == "mvrbm" else ""
                cells = [f"{np.mean(error):.1f} ± {np.std(error):.1f}", f"{np.mean(loss):.3f} ± {np.std(loss):.3f}"]
                print("| " + " | ".join([kind, way, *cells, said, f"{took:.0f}"]) + " |", flush=True)
        print()


if __name__ == "__main__":
    main()
