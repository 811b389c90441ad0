"""The model as scikit-learn knows models."""

from mvrbm.estimators.joint import MVRBM
from mvrbm.estimators.predictor import MVRBMClassifier, MVRBMPredictor, MVRBMRegressor

__all__ = ["MVRBM", "MVRBMClassifier", "MVRBMPredictor", "MVRBMRegressor"]
