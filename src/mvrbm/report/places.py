"""Where people stand on the map: t-SNE of their vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Progress = Callable[[str, float], None]
"""Told what is being done, and how much of it is, from 0 to 1."""
STEP = "placing people on the map"
FEWEST = 10
"""People from which neighbours mean something; fewer are laid out by their two main directions."""
_EARLY, _LATE = 250, 500


def places(
    vectors: NDArray[np.float32], random_state: int = 0, progress: Progress | None = None
) -> NDArray[np.float64]:
    """A place for each vector, (rows, 2), such that those with alike vectors stand together.

    One thread: the result would depend on their number, and the second brings little (docs/design-notes.md).
    """
    start = _main_directions(vectors)
    if len(vectors) < FEWEST or not start.any():
        return start
    from openTSNE import TSNE

    done = 0

    def tell(*_: object) -> None:
        nonlocal done
        done += 25
        if progress:
            progress(STEP, min(done / (_EARLY + _LATE), 1.0))

    if progress:
        progress(STEP, 0.0)
    found = TSNE(
        perplexity=min(30, (len(vectors) - 1) / 3),
        initialization=start / start[:, 0].std() * 1e-4,
        early_exaggeration_iter=_EARLY,
        n_iter=_LATE,
        random_state=random_state,
        n_jobs=1,
        callbacks=tell,
        callbacks_every_iters=25,
    ).fit(np.ascontiguousarray(vectors, np.float64))
    return _main_directions(np.asarray(found))  # as wide as it can be: screens are


def _main_directions(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Vectors along the two main directions in which they differ, the larger first; its largest part is positive."""
    centred = np.asarray(vectors, np.float64) - vectors.mean(axis=0, dtype=np.float64)
    values, directions = np.linalg.eigh(centred.T @ centred)
    found = np.zeros((len(vectors), 2))
    for place, own in enumerate(np.argsort(-values)[:2]):
        along = centred @ directions[:, own]
        found[:, place] = along * (np.sign(directions[np.abs(directions[:, own]).argmax(), own]) or 1.0)
    return found
