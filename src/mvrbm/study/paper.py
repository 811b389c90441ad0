"""The paper's own figures (its Tables 1 to 3): errors in per cent on Pew's survey of 2002, baseline first."""

from __future__ import annotations

SIZES = (0, 20, 50, 100, 200, 500)
PREDICTION_SIZES = (0, 3, 5, 10, 15, 20, 50)

RECONSTRUCTION = {
    "binary": (32.9, 23.6, 20.1, 16.3, 13.2, 9.8),
    "categorical": (52.3, 29.8, 22.0, 17.0, 13.2, 7.1),
    "multicategorical": (49.6, 46.6, 42.2, 36.9, 29.2, 23.8),
    "continuous": (100.0, 89.3, 84.1, 78.4, 69.5, 65.5),
    "ordinal": (25.2, 19.5, 16.2, 13.5, 10.9, 7.7),
    "ranking": (19.3, 11.7, 6.0, 5.0, 3.2, 2.3),
}
COMPLETION = {
    "binary": (32.7, 26.0, 24.2, 23.3, 22.7, 22.3),
    "categorical": (52.1, 34.3, 30.0, 28.2, 27.5, 27.1),
    "multicategorical": (49.5, 48.3, 45.7, 43.6, 42.4, 42.0),
    "continuous": (101.6, 93.5, 89.9, 87.9, 87.3, 87.9),
    "ordinal": (25.1, 20.7, 19.3, 18.6, 18.2, 17.9),
    "ranking": (19.3, 15.4, 14.7, 14.2, 14.1, 13.9),
}
PREDICTION = {
    "satisfied": (26.3, 18.0, 17.7, 17.7, 17.8, 18.0, 18.0),
    "country": (92.0, 70.2, 61.0, 21.6, 11.0, 9.9, 5.9),
    "problems": (49.6, 47.6, 41.9, 39.2, 38.8, 39.1, 39.2),
    "age": (99.8, 67.3, 67.6, 66.3, 66.4, 65.8, 66.3),
    "ladder": (16.9, 12.2, 12.2, 11.9, 11.9, 12.2, 11.8),
    "dangers": (31.2, 27.1, 24.6, 24.0, 23.2, 23.0, 22.5),
}
TABLES: dict[str, dict[str, tuple[float, ...]]] = {
    "reconstruction": {**RECONSTRUCTION},
    "completion": {**COMPLETION},
    "prediction": {**PREDICTION},
}


def figure(experiment: str, row: str, n_hidden: int) -> float | None:
    """What the paper reports for a type (or a predicted question) and a number of hidden units; None if nothing."""
    sizes = PREDICTION_SIZES if experiment == "prediction" else SIZES
    table = TABLES[experiment]
    return table[row][sizes.index(n_hidden)] if row in table and n_hidden in sizes else None
