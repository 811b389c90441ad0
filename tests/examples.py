"""How many examples a property-based test looks at: the same ones each time, or, with EXPLORE=20, 20 times as many new.

A red test should be somebody's change, not somebody's luck; to look for trouble is a thing of its own.
"""

import os

from hypothesis import HealthCheck, settings

EXPLORE = int(os.environ.get("EXPLORE", "0"))


def examples(n: int) -> settings:
    """Look at `n` examples."""
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]
    given = {"deadline": None, "database": None, "suppress_health_check": quiet}
    return settings(max_examples=n * max(EXPLORE, 1), derandomize=not EXPLORE, **given)
