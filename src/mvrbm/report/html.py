"""HTML that text cannot break out of: whatever is not markup is escaped, wherever it stands."""

from __future__ import annotations

import html
import json
import re
from typing import Any

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Markup(str):
    """Text that is HTML already; only `el` and `join` make it, and the page's own sentences."""

    __slots__ = ()


def text(given: object) -> str:
    """Any value as text that a page can hold: no control characters, no halves of characters."""
    return _CONTROL.sub(" ", str(given)).encode("utf-8", "replace").decode("utf-8")


def escape(given: object) -> Markup:
    """Text as HTML that shows it and does nothing else; markup stays as it is."""
    return given if isinstance(given, Markup) else Markup(html.escape(text(given), quote=True))


def el(name: str, /, *inside: object, **attributes: object) -> Markup:
    """An element. Attributes are named as in Python: `class_`, `aria_label`; None leaves one out, True has no value.

    >>> el("p", "a < b", el("b", "c"), class_="x", title='"')
    '<p class="x" title="&quot;">a &lt; b<b>c</b></p>'
    """
    told = "".join(_attribute(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    end = "" if name in ("meta", "br", "hr") else f"{join(*inside)}</{name}>"
    return Markup(f"<{name}{told}>{end}")


def join(*parts: object) -> Markup:
    """Pieces one after the other, each escaped unless it is markup."""
    return Markup("".join(escape(part) for part in parts if part is not None))


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(text(value))}"'


def script_json(data: Any) -> Markup:
    """Data as JSON that can stand in a script element: ASCII, and nothing in it is a tag or an entity."""
    said = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return Markup(said.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def short(given: object, most: int = 60) -> str:
    """A long text without its middle: the end often tells alike questions apart.

    >>> short("abcdefghij", 7)
    'abc…hij'
    """
    said = text(given)
    return said if len(said) <= most else f"{said[: most // 2]}…{said[len(said) - (most - 1 - most // 2) :]}"
