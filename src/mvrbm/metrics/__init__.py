"""How good predictions are, by type: the paper's six errors (section 4.1), and the worth of probabilities.

No model is needed: each function takes what is true and what was predicted, rows matched by their order, as NumPy
arrays, lists or columns and tables of pandas. `weights` says how much each row counts; weight 2 is the row twice.
Where the truth is blank (NaN, None), nothing is counted.

>>> binary_error(["yes", "no", "yes", None], ["yes", "yes", "yes", "no"], weights=[2, 1, 1, 1])
0.25
"""

from __future__ import annotations

from mvrbm.metrics.by_kind import error_of, errors_by_kind, errors_by_question
from mvrbm.metrics.errors import (
    binary_error,
    categorical_error,
    continuous_error,
    multicategorical_error,
    ordinal_error,
    ranking_error,
)
from mvrbm.metrics.probabilities import calibration_curve, calibration_error, log_loss, quantile_calibration

__all__ = [
    "binary_error",
    "calibration_curve",
    "calibration_error",
    "categorical_error",
    "continuous_error",
    "error_of",
    "errors_by_kind",
    "errors_by_question",
    "log_loss",
    "multicategorical_error",
    "ordinal_error",
    "quantile_calibration",
    "ranking_error",
]
