"""The model as scikit-learn knows models."""

from __future__ import annotations

import os
from typing import Any

from mvrbm import modelfile
from mvrbm.estimators.joint import MVRBM
from mvrbm.estimators.predictor import MVRBMClassifier, MVRBMPredictor, MVRBMRegressor

ESTIMATORS = (MVRBM, MVRBMPredictor, MVRBMClassifier, MVRBMRegressor)
"""What a model file can hold."""


def load(path: str | os.PathLike[str]) -> Any:
    """Read the model that `save` wrote; it answers as the saved one did, bit for bit."""
    return modelfile.load(path, ESTIMATORS)


__all__ = ["ESTIMATORS", "MVRBM", "MVRBMClassifier", "MVRBMPredictor", "MVRBMRegressor", "load"]
