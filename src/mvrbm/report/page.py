"""The page: its sections, style, script and data in one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from mvrbm.report.html import Markup, el, join, script_json

_LINKS = {
    "map": "Map of people",
    "patterns": "Patterns",
    "told": "What can be told",
    "together": "What goes together",
    "blanks": "What is missing",
    "training": "Training",
}


def _file(name: str) -> Markup:
    """A file of this package; it holds no end of the element that it goes into."""
    return Markup(files("mvrbm.report").joinpath(name).read_text(encoding="utf-8"))


def _hash(inside: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()}'"


def page(title: str, header: Markup, sections: list[Markup], data: dict[str, Any], made_by: str) -> str:
    """The whole file. Its policy lets nothing run but its own script, and nothing be fetched."""
    style, script = _file("page.css"), _file("page.js")
    own = f"script-src {_hash(script)}; style-src {_hash(style)}"
    policy = f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
    there = [key for key in _LINKS if any(f' id="{key}"' in part[:200] for part in sections)]
    links = el("ul", *[el("li", el("a", _LINKS[key], href=f"#{key}")) for key in there])
    inside = join(
        el("head",
           el("meta", charset="utf-8"),
           el("meta", http_equiv="Content-Security-Policy", content=policy),
           el("meta", name="viewport", content="width=device-width, initial-scale=1"),
           el("meta", name="color-scheme", content="light dark"),
           el("meta", name="referrer", content="no-referrer"),
           el("title", title),
           el("style", style)),
        el("body", header, el("nav", links, aria_label="Sections"), el("main", *sections), el("footer", made_by),
           el("script", script_json(data), type="application/json", id="data"),
           el("script", script)),
    )  # fmt: skip
    return "<!doctype html>\n" + el("html", inside, lang="en") + "\n"
