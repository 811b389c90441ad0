"""Made-up surveys to try things on."""

from __future__ import annotations

from mvrbm.datasets.survey import make_survey
from mvrbm.datasets.world import best_guesses, make_world_survey

__all__ = ["best_guesses", "make_survey", "make_world_survey"]
