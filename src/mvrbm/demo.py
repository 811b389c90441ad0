"""`python -m mvrbm.demo`: hide a fifth of the answers of a made survey, fit, and see how well they are found again."""

from __future__ import annotations

import time
from typing import Any

from mvrbm.datasets import make_survey
from mvrbm.encoding import decode, encode
from mvrbm.estimators import MVRBM
from mvrbm.inference import complete
from mvrbm.metrics import errors_by_kind
from mvrbm.training.stopping import hide

MODELS: dict[str, dict[str, Any]] = {
    "baseline": {"n_hidden": 0},
    "paper, K=50": {"n_hidden": 50, "recipe": "paper"},
    "default, K=50": {"n_hidden": 50},
}

MEANINGS = {
    "binary": "of the answers are wrong",
    "categorical": "of the answers are wrong",
    "multicategorical": "is what the F1 score lacks of 100",
    "continuous": "of a standard deviation, root mean square",
    "ordinal": "of the scale's length, on average",
    "ranking": "of the pairs are the wrong way round",
}


def main() -> None:
    """Run the demonstration and print its table."""
    import pandas as pd

    n_rows = 4000
    counts = {"binary": 12, "categorical": 6, "multicategorical": 3, "continuous": 3, "ordinal": 24, "ranking": 2}
    frame, schema = make_survey(n_rows, **counts, missing=0.2, random_state=0)
    print(f"A made survey: {n_rows} people, {len(schema)} questions of six types, a fifth of the answers blank.")
    print("Another fifth of the answers is hidden; each model learns from the rest and guesses what was hidden.\n")
    visible = MVRBM(0, schema=schema).fit(frame).rbm_.visible
    hidden = hide(encode(frame, schema), visible, share=0.2, seed=0)
    kept = pd.DataFrame(decode(hidden.kept, schema))

    errors = {}
    for name, settings in MODELS.items():
        begun = time.perf_counter()
        model = MVRBM(schema=schema, random_state=0, **settings).fit(kept)
        guess, _ = complete(model.rbm_, hidden.kept)
        errors[name] = errors_by_kind(visible, guess, hidden.hidden)
        print(f"fitted {name:13} {time.perf_counter() - begun:5.1f} s, {len(model.history_.epochs):3} epochs")

    print("\nError on the hidden answers, in per cent:\n")
    print(f"{'':17}" + "".join(f"{name:>15}" for name in errors))
    for kind, meaning in MEANINGS.items():
        print(f"{kind:17}" + "".join(f"{100 * found[kind]:15.1f}" for found in errors.values()) + f"   {meaning}")
    vectors = model.transform(kept)
    print(f"\nmodel.transform(frame) gives each person a vector of {vectors.shape[1]} numbers. The first, in part:")
    print("  " + "  ".join(f"{v:.2f}" for v in vectors[0, :10]) + "  ...")
    filled = model.complete(kept)
    cells = filled.isna().to_numpy().sum(), kept.isna().to_numpy().sum()
    print(
        f"model.complete(frame) is the same table with {cells[1]:,} empty cells filled, {cells[0]} of them left empty."
    )
    print("\nWhere to look next: README.md (your own table), src/mvrbm/demo.py (this script), docs/design-notes.md.")


if __name__ == "__main__":
    main()
