"""Options of the command line from an estimator's own settings, so that they are written once."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable
from typing import Any

_OTHERWISE = ("schema", "verbose")  # told by --schema and --quiet


def add_settings(parser: argparse.ArgumentParser, kind: type[Any]) -> None:
    """Add an option for each setting of an estimator: its name with dashes, its meaning from the docstring."""
    meanings = meanings_of(kind)
    group = parser.add_argument_group("settings of the model")
    for name, parameter in inspect.signature(kind).parameters.items():
        if name in _OTHERWISE:
            continue
        seed = name == "random_state"  # the same command twice gives the same file
        default = 0 if seed else parameter.default
        meaning = meanings[name] + ("" if default is None else f" [{default}]")
        told: dict[str, Any] = {"default": default, "help": meaning.replace("%", "%%")}
        annotation = str(parameter.annotation)
        if "bool" in annotation:
            told["action"] = argparse.BooleanOptionalAction
        else:
            told["type"], told["metavar"] = (int, "N") if seed else _type_of(annotation)
        group.add_argument("--" + name.replace("_", "-"), **told)


def _type_of(annotation: str) -> tuple[Callable[[str], Any], str]:
    """How a setting is read, and what stands for it in the help."""
    if "int" in annotation:
        return _number_or_auto if "str" in annotation else int, "N"
    return float if "float" in annotation else str, "X"


def _number_or_auto(text: str) -> int | str:
    try:
        return text if text == "auto" else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"it must be a whole number or auto, not {text!r}") from None


def settings_of(args: argparse.Namespace, kind: type[Any]) -> dict[str, Any]:
    """The settings among the parsed arguments."""
    names = [name for name in inspect.signature(kind).parameters if name not in _OTHERWISE]
    return {name: getattr(args, name) for name in names}


def meanings_of(kind: type[Any]) -> dict[str, str]:
    """What the docstring says of each parameter; several may share a paragraph."""
    doc = inspect.cleandoc(kind.__doc__ or "")
    part = re.split(r"\n\w+\n-+\n", doc.split("Parameters\n----------\n")[1])[0]
    meanings = {}
    for names, text in re.findall(r"^(\w[\w, ]*)\n((?:    .*\n?)+)", part, re.MULTILINE):
        for name in names.split(", "):
            meanings[name] = " ".join(text.split())
    return meanings
