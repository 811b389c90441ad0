"""Write a model file of today's format and the answers expected of it into tests/data: run once for each format.

The files of formats that were released are never written again: a test loads them, however the library has changed.
"""

import json
import sys
from pathlib import Path

import pandas as pd

from mvrbm import MVRBM, Binary, Categorical, Continuous, Multicategorical, Ordinal, Ranking, Schema
from mvrbm.modelfile import FORMAT

FOLDER = Path(__file__).parent / "data"
FRAME = pd.DataFrame(
    {
        "satisfied": ["no", "yes", None, "yes"] * 40,
        "country": [1, 2, 1, None] * 40,
        "ladder": [3, 2, 1, None] * 40,
        "age": [34, 51, None, 28] * 40,
        "q5_work": [1, 0, 0, None] * 40,
        "q5_crime": [0, 1, 0, None] * 40,
        "danger_1": ["war", "flood", None, "debt"] * 40,
        "danger_2": ["debt", "war", None, None] * 40,
    }
)


def model() -> MVRBM:
    """A small model with every kind of question."""
    schema = Schema(
        [
            Binary("satisfied", values=["no", "yes"]),
            Categorical("country", labels={1: "Peru", 2: "Fiji"}),
            Ordinal("ladder", values=[1, 2, 3]),
            Continuous("age", low=0, high=120, integer=True),
            Multicategorical("problems", columns={"Work": "q5_work", "Crime": "q5_crime"}),
            Ranking("dangers", choices=["danger_1", "danger_2"], values=["war", "flood", "debt"]),
        ]
    )
    return MVRBM(3, schema=schema, max_epochs=20, random_state=0).fit(FRAME)


def answers(fitted: MVRBM) -> dict[str, object]:
    """What is expected of it."""
    return {
        "vectors": fitted.transform(FRAME.head(4)).astype(float).tolist(),
        "filled": fitted.complete(FRAME.head(4)).to_dict("list"),
        "chances": fitted.predict_proba(FRAME.head(4), "country").to_dict("list"),
        "best_epoch": fitted.history_.best_epoch,
        "stopped": fitted.history_.stopped,
    }


if __name__ == "__main__":
    target = FOLDER / f"format-{FORMAT}.mvrbm"
    if target.exists():
        sys.exit(f"{target} is there, and files of old formats are kept as they are")
    FOLDER.mkdir(exist_ok=True)
    made = model()
    made.save(target)
    target.with_suffix(".json").write_text(json.dumps(answers(made), indent=1) + "\n")
