"""What the sections of the page are made of."""

from __future__ import annotations

from collections.abc import Sequence

from mvrbm.report.html import Markup, el, join
from mvrbm.units import Question

FIRST = 12
"""Entries of a long list that are seen at once."""


def title_of(question: Question) -> str:
    """What a question is called."""
    return question.label or question.name


def section(key: str, title: str, *inside: object) -> Markup:
    """A part of the page with its heading."""
    return el("section", el("h2", title, id=f"{key}-title"), *inside, id=key, aria_labelledby=f"{key}-title")


def per_cent(share: float) -> str:
    """A share as people read it."""
    return f"{100 * share:.1f}%" if share < 0.995 or share > 1 else f"{100 * share:.0f}%"


def folded(items: Sequence[Markup], what: str) -> Markup:
    """A list, its tail folded away if it is long."""
    head = el("ul", *items[:FIRST], class_="rows")
    if len(items) <= FIRST:
        return head
    rest = el("ul", *items[FIRST:], class_="rows")
    return join(head, el("details", el("summary", f"{len(items) - FIRST} more {what}"), rest))


def note(*inside: object) -> Markup:
    """A remark in smaller type."""
    return el("p", *inside, class_="note")


def swatch(class_: str) -> Markup:
    """A square of a colour, for a legend."""
    return el("svg", el("rect", width=14, height=14, class_=class_), viewBox="0 0 14 14", class_="swatch",
              aria_hidden="true")  # fmt: skip
