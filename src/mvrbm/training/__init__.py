"""Learning: objectives, optimisers, when to stop, and the loop that runs them."""

from mvrbm.training.trainer import DivergenceError, History, Settings, train

__all__ = ["DivergenceError", "History", "Settings", "train"]
