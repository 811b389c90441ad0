"""What all tests share: compiled kernels that are never stale, and the dataframe libraries."""

import hashlib
import os
from pathlib import Path

import pytest

from frames import LIBRARIES, Library

# Numba keeps a compiled kernel by the date of its own file and misses changes in what it inlines: key it by all.
_package = Path(__file__).parents[1] / "src" / "mvrbm"
_digest = hashlib.sha256(b"".join(p.read_bytes() for p in sorted(_package.rglob("*.py")) if "kernel" in p.read_text()))
os.environ["NUMBA_CACHE_DIR"] = str(Path(__file__).parents[1] / ".numba_cache" / _digest.hexdigest()[:16])


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two chunks even of a small batch, so that threads and workers have something to share."""
    monkeypatch.setattr("mvrbm.training.engine._LEAST_CHUNK", 1)


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> Library:
    """Each dataframe library in turn: the same test runs over all of them."""
    return LIBRARIES[request.param]
