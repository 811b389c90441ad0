"""The model as scikit-learn knows models."""

from mvrbm.estimators.joint import MVRBM

__all__ = ["MVRBM"]
