"""Learning: objectives, optimisers, when to stop, and the loop that runs them."""

from mvrbm.training.settings import Settings
from mvrbm.training.trainer import DivergenceError, History, Memory, bootstrapped, refit, train, train_beside

__all__ = ["DivergenceError", "History", "Memory", "Settings", "bootstrapped", "refit", "train", "train_beside"]
