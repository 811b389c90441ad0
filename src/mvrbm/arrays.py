"""Named arrays and plain data in one file, for models and checkpoints: safetensors, never pickle.

The plain data is JSON under one key of the file's header, with sorted keys and a digest of all that the file says: the
same content is the same bytes, and a byte that changed on the way is found out.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from mvrbm.whole import written_whole

KEY = "mvrbm"
_KINDS = {kind.__name__: kind for kind in (object, str, np.bool_, np.int32, np.int64, np.float32, np.float64)}
State = dict[str, NDArray[Any]]
"""Arrays by name; a dot stands between the name of a part and the names within it."""


class FileError(ValueError):
    """A file that is not what it should be; the sentence says what is wrong with it."""


def under(prefix: str, state: State) -> State:
    """Put the arrays of a part under its name."""
    return {f"{prefix}.{name}": array for name, array in state.items()}


class Stored:
    """Arrays read from a file. Whoever rebuilds a part takes its arrays, and in the end none may be left."""

    def __init__(self, state: State, sound: bool = True, prefix: str = "") -> None:
        self._state, self._sound, self._prefix = state, sound, prefix

    def under(self, prefix: str) -> Stored:
        """The arrays of a part, by their names within it."""
        return Stored(self._state, self._sound, f"{self._prefix}{prefix}.")

    def __contains__(self, name: str) -> bool:
        return self._prefix + name in self._state

    def take(self, name: str, shape: tuple[int | None, ...], *kinds: type[np.generic]) -> NDArray[Any]:
        """Take an array, once it is sure that shape (None: any length) and type fit and that its numbers are finite."""
        full = self._prefix + name
        if full not in self._state:
            raise FileError(f"the array {full!r} is missing")
        array = self._state.pop(full)
        if len(array.shape) != len(shape) or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
            wanted = " x ".join("any" if n is None else str(n) for n in shape)
            raise FileError(
                f"the array {full!r} has the shape {array.shape}, not {wanted} as the rest of the file asks for"
            )
        if array.dtype not in [np.dtype(kind) for kind in kinds]:
            allowed = " or ".join(np.dtype(kind).name for kind in kinds)
            raise FileError(f"the array {full!r} holds {array.dtype.name}, not {allowed}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise FileError(f"the array {full!r} holds a number that is not finite")
        return array

    def all_taken(self) -> None:
        """Refuse arrays that nobody took, and a file of which anything was changed."""
        if self._state:
            raise FileError(f"the array {min(self._state)!r} belongs to nothing")
        if not self._sound:
            raise FileError("something in it was changed since it was written (its digest does not fit)")


def pairs(mapping: Mapping[Any, Any]) -> dict[str, list[list[Any]]]:
    """Say a mapping whose order matters, or whose keys are not all texts, so that sorted JSON keeps both."""
    return {"pairs": [[key, value] for key, value in mapping.items()]}


def write_arrays(path: str | os.PathLike[str], data: Mapping[str, Any], state: State) -> None:
    """Write plain data and arrays into one file, whole or not at all."""
    state = {name: np.ascontiguousarray(array) for name, array in state.items()}
    told = _encoded(dict(data))
    header = json.dumps(told | {"digest": _digest(told, state)}, sort_keys=True, allow_nan=False)
    content = save(state, {KEY: header})
    with written_whole(path) as file:
        file.write_bytes(content)


def read_arrays(path: str | os.PathLike[str], what: str) -> tuple[dict[str, Any], Stored]:
    """Read what `write_arrays` wrote; `what` says what the file should be, for the sentence if it is not."""
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"{file} is no file; check the name and the folder")
    try:
        with safe_open(file, framework="numpy") as opened:
            header = (opened.metadata() or {}).get(KEY)
            state: State = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except PermissionError:
        raise
    except (SafetensorError, TypeError, ValueError, OSError, AttributeError, KeyError) as error:
        raise FileError(f"it is no {what}, or not a whole one ({error})") from None
    try:
        told = json.loads(header or "")
        sound = isinstance(told, dict) and told.pop("digest", None) == _digest(told, state)
        data = _decoded(told)
    except (ValueError, TypeError, RecursionError):
        raise FileError(f"it is no {what}: its header cannot be read") from None
    if not isinstance(data, dict):
        raise FileError(f"it is no {what}: its header cannot be read")
    return data, Stored(state, sound)


def _digest(told: object, state: State) -> str:
    found = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    for name in sorted(state):
        array = state[name]
        found.update(f"{name} {array.dtype.name} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).data if array.size else b"")
    return found.hexdigest()


def _encoded(value: Any) -> Any:
    """Say plain data in JSON."""
    if isinstance(value, dict):
        return {key: _encoded(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encoded(each) for each in value]
    if isinstance(value, np.ndarray):
        kind = {"O": "object", "U": "str"}.get(value.dtype.kind, value.dtype.name)
        return {"array": _encoded(value.tolist()), "dtype": kind}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError(f"{value!r} ({type(value).__name__}) has no place in a file of plain data")


def _decoded(value: Any) -> Any:
    """Read what `_encoded` said."""
    if isinstance(value, list):
        return [_decoded(each) for each in value]
    if not isinstance(value, dict):
        return value
    keys = set(value)
    if keys == {"pairs"}:
        return {_decoded(key): _decoded(each) for key, each in value["pairs"]}
    if keys == {"array", "dtype"}:
        if value["dtype"] not in _KINDS:
            raise ValueError(value["dtype"])
        return np.array(_decoded(value["array"]), dtype=_KINDS[value["dtype"]])
    if keys == {"float"}:
        return float(value["float"])
    return {key: _decoded(each) for key, each in value.items()}
