"""YAML as people write it: only numbers, lists and mappings are more than text, so that [no, yes] are two answers."""

from __future__ import annotations

import re
from typing import Any

import yaml

_NUMBER = re.compile(
    r"[-+]?(0|[1-9][0-9]*|(0|[1-9][0-9]*)?\.[0-9]+|(0|[1-9][0-9]*)\.)([eE][-+]?[0-9]+)?\Z|[-+]?\.inf\Z"
)
_MOST = 10**6


class _Loader(yaml.SafeLoader):
    """A loader for which only what is plainly a number is one: 010 and 1_000 and 1:30 are texts."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012  # as the base class has it


class _Dumper(yaml.SafeDumper):
    """A dumper that puts quotes around each text that the loader, or another one, would take for a number or a date."""

    yaml_implicit_resolvers: dict[Any, Any] = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
        for first, resolvers in yaml.SafeDumper.yaml_implicit_resolvers.items()
    }

    def serialize(self, node: yaml.Node) -> None:
        """Put each entry of the whole, and of what it holds by name, on a line of its own, short as it may be."""
        for outer in [node, *(inner for _, inner in node.value)] if isinstance(node, yaml.MappingNode) else []:
            if isinstance(outer, yaml.MappingNode):
                outer.flow_style = False
        _break_long_lines(node)
        super().serialize(node)

    def check_simple_key(self) -> bool:
        """Write a key before a colon however long it is, as far as a loader can read it so."""
        length = len(getattr(self.event, "value", None) or "")
        return super().check_simple_key() or (isinstance(self.event, yaml.ScalarEvent) and 100 < length < 1000)

    def ignore_aliases(self, data: Any) -> bool:
        """Write every list out: a person who edits one means that one."""
        return True


def _break_long_lines(node: yaml.Node) -> int:
    """Put the entries of what would be longer than a line below one another; returns the length."""
    if isinstance(node, yaml.ScalarNode):
        return len(node.value) + 2
    parts = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
    length = sum(map(_break_long_lines, parts))
    if length > 110 and isinstance(node, yaml.CollectionNode):
        node.flow_style = False
    return length


def _number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int | float:
    text = str(loader.construct_scalar(node))
    return int(text) if re.fullmatch(r"[-+]?[0-9]+", text) else float(text.replace(".inf", "inf"))


def _mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if isinstance(key, (list, dict)):
            raise yaml.constructor.ConstructorError(None, None, "a key must be a text or a number", key_node.start_mark)
        if key in result:
            raise yaml.constructor.ConstructorError(None, None, f"{key!r} is there twice", key_node.start_mark)
        result[key] = loader.construct_object(value_node, deep=True)
    return result


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Write a text with line ends or signs that cannot be seen in quotes, on one line."""
    style = None if text.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
_Loader.add_implicit_resolver("number", _NUMBER, list("-+.0123456789"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(null|~|)\Z"), ["n", "~", ""])
_Loader.add_constructor("number", _number)
_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)
_Dumper.add_implicit_resolver("number", _NUMBER, list("-+.0123456789"))


def load(data: bytes) -> Any:
    """Read YAML; a ValueError says in which line it is none."""
    try:
        text = data.decode("utf-8-sig")
        loaded = yaml.load(text, Loader=_Loader)  # a safe loader with fewer types
    except (yaml.YAMLError, RecursionError, ValueError, KeyError, AttributeError, TypeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark else ""
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        way_out = "indent with spaces, not tabs" if "\\t" in problem else "check the indentation and quote odd texts"
        raise ValueError(f"it is no YAML{where}: {problem}; {way_out}") from None
    if _size(loaded, {}) > _MOST:
        raise ValueError("it repeats itself into more than a million entries")
    return loaded


def dump(data: Any, indent: int = 0) -> str:
    """Write YAML that `load` reads back as it was, lists of plain values in one line, indented."""
    text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10**6, default_flow_style=None)
    return "".join(" " * indent + line + "\n" for line in str(text).split("\n")[:-1])


def _size(data: Any, known: dict[int, int]) -> int:
    """Count the entries that aliases stand for, without following each one again."""
    if not isinstance(data, (list, dict)):
        return 1
    if id(data) not in known:
        known[id(data)] = _MOST + 1  # a list that holds itself has no end
        parts = data.values() if isinstance(data, dict) else data
        known[id(data)] = 1 + sum(_size(part, known) for part in parts)
    return known[id(data)]
