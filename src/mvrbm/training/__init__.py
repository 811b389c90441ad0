"""Learning: objectives, optimisers, when to stop, and the loop that runs them."""

from mvrbm.training.settings import Settings
from mvrbm.training.trainer import DivergenceError, History, Memory, beside_one, bootstrapped, refit, train

__all__ = ["DivergenceError", "History", "Memory", "Settings", "beside_one", "bootstrapped", "refit", "train"]
