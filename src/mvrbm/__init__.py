"""One probability model for tables of mixed types: Mixed-Variate Restricted Boltzmann Machines."""

from mvrbm.estimators import MVRBM, MVRBMClassifier, MVRBMPredictor, MVRBMRegressor, load
from mvrbm.evaluation import evaluate
from mvrbm.files import read_table, write_table
from mvrbm.pool import pool
from mvrbm.schema import Schema
from mvrbm.units import Binary, Categorical, Continuous, Count, Multicategorical, Ordinal, Ranking

__version__ = "0.1.0"

__all__ = [
    "MVRBM",
    "Binary",
    "Categorical",
    "Continuous",
    "Count",
    "MVRBMClassifier",
    "MVRBMPredictor",
    "MVRBMRegressor",
    "Multicategorical",
    "Ordinal",
    "Ranking",
    "Schema",
    "evaluate",
    "load",
    "pool",
    "read_table",
    "write_table",
]
