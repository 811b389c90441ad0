"""`make bench-draws`: whether completed draws are honest, beside scikit-learn's IterativeImputer with its draws.

On surveys: of answers that were hidden, how often 90% intervals of drawn numbers hold the truth, and how far the shares
of drawn answers are from how often these are right. On made data whose regression is known: how often pooled 95%
intervals of its coefficients hold the truth.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.utils._testing import ignore_warnings
from threadpoolctl import threadpool_limits

from benchmarks.surveys import surveys
from mvrbm import MVRBM, Binary, Continuous, Ordinal, Schema, encoding, inference
from mvrbm.answers import Answers
from mvrbm.evaluation import Trial
from mvrbm.evaluation.others import Columns
from mvrbm.pool import pool

DRAWS = 19
"""The lowest and the highest of 19 draws hold the next one 9 times of 10."""
TRUTH = {"one": 1.0, "number": 0.5, "yes": 0.7, "scale": 0.3}


def chained(X: np.ndarray, draws: int, seed: int) -> list[np.ndarray]:
    """The table filled by draws of chained Bayesian regressions, on scaled columns."""
    mean, sd = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    sd[sd == 0] = 1
    few = 30 if X.shape[1] > 60 else None
    fill = ignore_warnings(category=ConvergenceWarning)(
        lambda n: IterativeImputer(
            sample_posterior=True, max_iter=5, n_nearest_features=few, random_state=seed + n, keep_empty_features=True
        ).fit_transform((X - mean) / sd)
    )
    with threadpool_limits(limits=1):  # matrices this small lose more to waiting threads than they gain
        return [fill(n) * sd + mean for n in range(draws)]


def on_survey(trial: Trial, draws: int, seed: int, peer: bool) -> dict[str, list[Answers]]:
    """The draws of each way."""
    model = MVRBM(schema=trial.schema, random_state=seed).fit(trial.kept, sample_weight=trial.weights)
    found = {"mvrbm": inference.draw(model.rbm_, trial.hidden.given, draws, seed)}
    if peer:
        columns = Columns(trial.schema, trial.hidden.given)
        found["IterativeImputer"] = [columns.answers(X) for X in chained(columns.X, draws, seed)]
    return found


class Honesty:
    """What draws of hidden answers say, and what these were, over several hidings."""

    def __init__(self) -> None:
        self.held: dict[str, list[np.ndarray]] = {}
        self.shares: dict[str, list[np.ndarray]] = {}

    def add(self, trial: Trial, draws: list[Answers]) -> None:
        drawn = [dict(_blocks(each, trial.schema)) for each in draws]
        kinds = {question.name: question.kind for question in trial.schema}
        for name, truth in _blocks(trial.hidden.hidden, trial.schema):
            own = np.stack([each[name] for each in drawn])
            for cell in range(truth.shape[1]):
                t, d = truth[:, cell], own[:, :, cell]
                if np.issubdtype(t.dtype, np.floating):
                    there = ~np.isnan(t)
                    d = np.sort(d[:, there], axis=0)
                    k = round(0.05 * (len(d) + 1))
                    self.held.setdefault(kinds[name], []).append((d[k - 1] <= t[there]) & (t[there] <= d[-k]))
                elif (t >= 0).any():
                    t, d = t[t >= 0], d[:, t >= 0]
                    for value in range(max(t.max(), d.max()) + 1):
                        # the last draw plays the truth for what an honest one would score
                        p = (d[:-1] == value).mean(axis=0)
                        self.shares.setdefault(kinds[name], []).append(np.stack([p, t == value, d[-1] == value]))

    def table(self) -> dict[str, str]:
        out = {kind: f"{100 * np.concatenate(held).mean():.1f}% held" for kind, held in self.held.items()}
        for kind, parts in self.shares.items():
            p, truth, drawn = np.concatenate(parts, axis=1)
            out[kind] = f"{100 * _off(p, truth):.1f} ({100 * _off(p, drawn):.1f})"
        return out


def _blocks(answers: Answers, schema: Schema) -> list[tuple[str, np.ndarray]]:
    return [(question.name, block) for question, block in encoding.blocks(answers, schema)]


def _off(p: np.ndarray, came: np.ndarray) -> float:
    """How far shares are from how often it came to be so, in ten groups by share."""
    group = np.minimum((10 * p).astype(int), 9)
    return sum(abs((p - came)[group == g].sum()) for g in range(10)) / len(p)


def made(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, Schema]:
    """People whose y depends on three of their answers by TRUTH; a third of y and of two of these is blank.

    Blanks depend on what is never blank.
    """
    trait = rng.standard_normal(n)
    z = 0.6 * trait + 0.8 * rng.standard_normal(n)
    yes = (0.8 * trait + rng.standard_normal(n) > 0).astype(float)
    scale = np.digitize(0.7 * trait + 0.7 * rng.standard_normal(n), [-1, -0.3, 0.3, 1]).astype(float)
    hobby = (trait + rng.standard_normal(n) > 0.5).astype(float)
    y = TRUTH["one"] + TRUTH["number"] * z + TRUTH["yes"] * yes + TRUTH["scale"] * scale + rng.standard_normal(n)
    frame = pd.DataFrame({"y": y, "number": z, "yes": yes, "scale": scale, "hobby": hobby})
    for name in ("y", "number", "yes"):
        frame.loc[rng.random(n) < 1 / (1 + np.exp(0.8 - 0.4 * (scale - 2))), name] = np.nan
    questions = [Continuous("y"), Continuous("number"), Binary("yes", values=[0, 1]), Binary("hobby", values=[0, 1])]
    return frame, Schema([*questions, Ordinal("scale", values=[0, 1, 2, 3, 4])])


def regression(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients of TRUTH by least squares, and their variances."""
    X = np.column_stack([np.ones(len(frame)), frame[["number", "yes", "scale"]].to_numpy(float)])
    y = frame["y"].to_numpy(float)
    inverse = np.linalg.inv(X.T @ X)
    b = inverse @ X.T @ y
    return b, np.diag(inverse) * ((y - X @ b) ** 2).sum() / (len(y) - X.shape[1])


def completed(
    frame: pd.DataFrame, schema: Schema, draws: int, seed: int
) -> dict[str, Callable[[], list[pd.DataFrame]]]:
    """The completed tables of each way."""
    model = MVRBM(schema=schema, random_state=seed).fit(frame)

    def ours(bootstrap: bool) -> list[pd.DataFrame]:
        found: Any = model.complete(frame, draws=draws, bootstrap=bootstrap)
        return list(found)

    def best() -> list[pd.DataFrame]:
        return [model.complete(frame)] * 2

    def theirs() -> list[pd.DataFrame]:
        return [pd.DataFrame(X, columns=frame.columns) for X in chained(frame.to_numpy(float), draws, seed)]

    return {
        "mvrbm, draws by bootstraps": lambda: ours(True),
        "mvrbm, draws": lambda: ours(False),
        "mvrbm, best guesses": best,
        "IterativeImputer, draws": theirs,
    }


def on_regression(repeats: int, n: int, draws: int) -> pd.DataFrame:
    found: dict[str, list[np.ndarray]] = {}
    width: dict[str, list[np.ndarray]] = {}
    for repeat in range(repeats):
        frame, schema = made(n, np.random.default_rng(repeat))
        for name, fill in completed(frame, schema, draws, repeat).items():
            b, v = zip(*(regression(each) for each in fill()), strict=True)
            pooled = pool(b, v, complete_df=n - len(TRUTH))
            truth = np.array(list(TRUTH.values()))
            found.setdefault(name, []).append((np.asarray(pooled.low) <= truth) & (truth <= np.asarray(pooled.high)))
            width.setdefault(name, []).append(np.asarray(pooled.estimate) - truth)
    table = pd.DataFrame({name: 100 * np.mean(each, axis=0) for name, each in found.items()}, index=list(TRUTH)).T
    table["all"] = table.mean(axis=1)
    off = pd.DataFrame({name: np.mean(each, axis=0) for name, each in width.items()}, index=list(TRUTH)).T
    return pd.concat([table, off.add_suffix(" off")], axis=1)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=2, help="hidings of each survey")
    options.add_argument("--repeats", type=int, default=100, help="made tables")
    options.add_argument("--rows", type=int, default=500, help="people of a made table")
    asked = options.parse_args()
    for name, read in surveys().items():
        frame, schema = read()
        ways: dict[str, Honesty] = {}
        begun = time.perf_counter()
        for seed in range(asked.seeds):
            trial = Trial(frame, schema, 0.2, seed)
            for way, draws in on_survey(trial, DRAWS, seed, peer=len(schema) <= 40).items():
                ways.setdefault(way, Honesty()).add(trial, draws)
        print(f"## {name}: {DRAWS} draws of a fifth of the answers, {asked.seeds} hidings")
        print("numbers: how often 90% intervals hold the truth; others: how far, in per cent, the shares of drawn")
        print("answers are from how often they are right (and how far those of honest draws would be)\n")
        print(pd.DataFrame({way: each.table() for way, each in ways.items()}).T.to_string())
        print(f"{time.perf_counter() - begun:.0f} s\n")
    if asked.repeats:
        print(f"## A regression on completed tables of {asked.rows} people, {asked.repeats} times, 10 draws")
        print("how often pooled 95% intervals of the coefficients hold the truth; how far the mean estimate is off\n")
        print(on_regression(asked.repeats, asked.rows, 10).round(2).to_string())


if __name__ == "__main__":
    main()
