"""The model file: a fitted estimator as one safetensors file. docs/model-file.md tells the format."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, ClassVar, Protocol

import numpy as np

from mvrbm.arrays import FileError, Stored, pairs, read_arrays, write_arrays
from mvrbm.rbm import RBM
from mvrbm.schema import Schema
from mvrbm.training import History

FORMAT = 5
_LEFT_OUT = ("n_threads", "verbose")  # they change no answer, so they must change no byte


class Saveable(Protocol):
    """What a model file needs of an estimator; its class is made again with the parameters alone."""

    kept: ClassVar[tuple[str, ...]]
    """Names of further fitted attributes, plain data or small arrays: adding one here saves it."""
    schema_: Schema
    rbm_: RBM
    history_: History

    def get_params(self, deep: bool = ...) -> dict[str, Any]:
        """List the parameters, by name."""


def save(model: Saveable, path: str | os.PathLike[str]) -> None:
    """Write a fitted model into one file, whole or not at all; equal models are equal bytes."""
    import mvrbm

    parameters = {name: value for name, value in model.get_params(deep=False).items() if name not in _LEFT_OUT}
    seed = parameters.get("random_state")
    parameters["random_state"] = int(seed) if isinstance(seed, (int, np.integer)) else None
    if parameters["n_hidden"] != "auto":
        parameters["n_hidden"] = model.rbm_.n_hidden  # as it was fitted, whatever was set since
    data = {
        "format": FORMAT,
        "library": mvrbm.__version__,
        "estimator": type(model).__name__,
        "parameters": {name: _schema_told(v) if isinstance(v, Schema) else v for name, v in parameters.items()},
        "schema": _schema_told(model.schema_),
        "history": asdict(model.history_),
        "fitted": {name: getattr(model, name) for name in model.kept if hasattr(model, name)},
        "machine": {"paper": model.rbm_.visible.paper, "mean_field": model.rbm_.mean_field},
    }
    write_arrays(path, data, model.rbm_.state())


def load(path: str | os.PathLike[str], estimators: Iterable[type[Any]]) -> Any:
    """Read the model of a file; one that does not fit together is refused with a sentence."""
    unusable = "it cannot be loaded: copy it again, or fit anew"
    try:
        data, stored = read_arrays(path, "model file")
        model = _rebuilt(data, stored, {kind.__name__: kind for kind in estimators})
        stored.all_taken()
    except FileError as error:
        raise FileError(f"{os.fspath(path)}: {error}; {unusable}") from None
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise FileError(f"{os.fspath(path)}: its parts do not fit together ({error}); {unusable}") from None
    return model


def _rebuilt(data: dict[str, Any], stored: Stored, estimators: Mapping[str, type[Any]]) -> Any:
    version = _part(data, "format", int)
    if version > FORMAT:
        newer = (
            f"it is of format {version}, written by mvrbm {data.get('library')}, and this version reads up to {FORMAT}"
        )
        raise FileError(f"{newer}: install a newer mvrbm")
    if version < 1:
        raise FileError(f"there is no format {version}")
    name = _part(data, "estimator", str)
    if name not in estimators:
        raise FileError(f"it holds a model of the class {name!r}, which this version of mvrbm does not have")
    model = _made(estimators[name], _part(data, "parameters", dict))
    schema = _schema(_part(data, "schema", dict))
    unknown = [question.name for question in schema if question.values is None and not question.n_numbers]
    if unknown:
        raise FileError(f"its schema does not tell the values of question {unknown[0]!r}")
    machine = _part(data, "machine", dict)
    rbm = RBM.restored(list(schema), stored, version=version, paper=_part(machine, "paper", bool))
    rbm.mean_field = _part(machine, "mean_field", bool)
    if model.n_hidden not in ("auto", rbm.n_hidden):
        raise FileError(f"its parameters say {model.n_hidden!r} hidden units and its arrays {rbm.n_hidden}")
    for attribute, value in _part(data, "fitted", dict).items():
        if attribute not in model.kept:
            raise FileError(f"it tells {attribute!r}, which a model of the class {name!r} does not have")
        setattr(model, attribute, value)
    model.schema_, model.rbm_, model.history_ = schema, rbm, _history(_part(data, "history", dict))
    return model


def _part(data: dict[str, Any], name: str, kind: type) -> Any:
    if type(data.get(name)) is not kind:
        raise FileError(f"its header does not say {name!r} as it should")
    return data[name]


def _made(kind: type[Any], told: dict[str, Any]) -> Any:
    unknown = set(told) - set(inspect.signature(kind).parameters)
    if unknown:
        raise FileError(f"its parameter {min(unknown)!r} is none of the class {kind.__name__!r}")
    given = {name: _schema(value) if isinstance(value, dict) else value for name, value in told.items()}
    return kind(**given)


def _history(told: dict[str, Any]) -> History:
    unknown = set(told) - set(History.__dataclass_fields__)
    if unknown:
        raise FileError(f"its training history tells {min(unknown)!r}, which this version does not know")
    return History(**told)


def _schema_told(schema: Schema) -> dict[str, Any]:
    """Say a schema in sorted JSON: the order of questions and options matters, and codes can be keys."""
    data = schema.to_dict()
    questions = [{"name": name, **question} for name, question in data["questions"].items()]
    data["questions"] = [{k: pairs(v) if isinstance(v, dict) else v for k, v in told.items()} for told in questions]
    return data


def _schema(told: dict[str, Any]) -> Schema:
    try:
        return Schema.from_dict(told)
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise FileError(f"its schema makes no sense: {error}") from None
