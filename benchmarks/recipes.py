"""`make bench-recipes`: hidden answers of a made survey of all six types, found by three models."""

from __future__ import annotations

from mvrbm import evaluate
from mvrbm.datasets import make_survey
from mvrbm.evaluation import table_of_errors


def main() -> None:
    counts = {"binary": 12, "categorical": 6, "multicategorical": 3, "continuous": 3, "ordinal": 24, "ranking": 2}
    frame, schema = make_survey(4000, **counts, missing=0.2, random_state=0)
    errors = evaluate(frame, schema, n_hidden=50)
    paper = evaluate(frame, schema, n_hidden=50, recipe="paper")
    errors.insert(2, "paper", paper["mvrbm"])
    seconds = errors.attrs["seconds"]
    errors.attrs["seconds"] = {"baseline": seconds["baseline"], "paper": paper.attrs["seconds"]["mvrbm"], **seconds}
    print(table_of_errors(errors))


if __name__ == "__main__":
    main()
