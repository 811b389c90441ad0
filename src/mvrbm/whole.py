"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a file to write beside `path`, with the same ending; it takes that name once it is whole.

    If the writing fails or is stopped, the file that was there before is as it was and nothing else is left.
    """
    target = target_of(path)
    ending = "".join(suffix for suffix in target.suffixes[-2:] if len(suffix) <= 8)
    handle, name = tempfile.mkstemp(prefix=".writing-", suffix=ending, dir=target.parent)
    os.close(handle)
    beside = Path(name)
    try:
        beside.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        yield beside
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def target_of(path: str | os.PathLike[str]) -> Path:
    """Find where a file is to be written; an error, before any work is done, if it cannot be there."""
    target = Path(os.path.realpath(path))  # a link stays, what it points to is written
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target}: the folder {target.parent} does not exist; make it first")
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; give the name of a file")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"{target}: nothing may be written into the folder {target.parent}")
    return target


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
