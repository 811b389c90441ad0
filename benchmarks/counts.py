"""`make bench-counts`: hidden counts of made surveys, found as counts, as numbers and as levels of a scale."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import pandas as pd

from mvrbm import MVRBM, Continuous, Count, Ordinal, Schema
from mvrbm.datasets import make_survey
from mvrbm.metrics import error_of

OTHERS = {"binary": 12, "categorical": 3, "multicategorical": 1, "continuous": 1, "ordinal": 12, "ranking": 0}
SORTS = ("a few", "dozens")
"""The odd and the even counts of a made survey."""
WAYS = {
    "count": lambda name, most: Count(name, high=most),
    "continuous": lambda name, most: Continuous(name, low=0, high=most, integer=True),
    "ordinal": lambda name, most: Ordinal(name, values=range(most + 1)),
}


def errors(n_rows: int, seed: int, n_counts: int = 6, **settings: Any) -> pd.DataFrame:
    """The error of a fifth of the counts, hidden, by way and by sort: a few of something, or dozens."""
    frame, schema = make_survey(n_rows, **OTHERS, count=n_counts, missing=0.1, random_state=seed)
    names = [question.name for question in schema if question.kind == "count"]
    hidden = np.random.default_rng(seed).random((n_rows, n_counts)) < 0.2
    truth = frame[names].where(hidden)
    kept = frame.assign(**frame[names].mask(hidden))
    rows = {}
    for way, question in WAYS.items():
        own = {name: question(name, int(kept[name].max())) for name in names}
        begun = time.perf_counter()
        taken = Schema([own.get(q.name, q) for q in schema])
        model = MVRBM(schema=taken, random_state=seed, **settings).fit(kept)
        filled = model.complete(kept, questions=names)
        found = [error_of(schema[name], truth[[name]], filled) for name in names]
        rows[way] = {sort: np.mean(found[n::2]) for n, sort in enumerate(SORTS)}
        rows[way]["seconds"] = time.perf_counter() - begun
    return pd.DataFrame(rows).T


def main(n_rows: int = 2000, n_seeds: int = 5) -> None:
    found = [errors(n_rows, seed) for seed in range(n_seeds)]
    print(f"{n_rows:,} people, {n_seeds} surveys; how far guesses of hidden counts are, in per cent of the median's\n")
    print(f"{'taken as':12}" + "".join(f"{sort:>22}{'best in':>10}" for sort in SORTS) + f"{'seconds':>10}")
    for way in WAYS:
        line = f"{way:12}"
        for sort in SORTS:
            own = [100 * each.loc[way, sort] for each in found]
            best = sum(each[sort].idxmin() == way for each in found)
            line += f"{f'{np.mean(own):.1f} ({min(own):.1f} to {max(own):.1f})':>22}{best:>10}"
        print(line + f"{np.mean([each.loc[way, 'seconds'] for each in found]):>10.1f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
