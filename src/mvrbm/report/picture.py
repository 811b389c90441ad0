"""The map of people as a small SVG file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mvrbm import encoding
from mvrbm.report.colours import BLANK, coloured
from mvrbm.report.findings import Survey
from mvrbm.report.html import Markup, el, short
from mvrbm.report.shown import on_square

_SIZE, _SIDE = 480, 230
_STYLE = Markup("text{font:13px system-ui,sans-serif;fill:#6e7781}.title{font-weight:600}")


def picture(survey: Survey, places: NDArray[np.float64], rows: NDArray[np.int64], name: str) -> str:
    """A dot for each of some people, coloured by the plainest view of a question; a path for each colour."""
    blocks = encoding.blocks(survey.answers.take(rows), survey.schema)
    question, block = next(own for own in blocks if own[0].name == name)
    view = question.views(block)[0]
    drawn = coloured(view, question.tell(block), np.ones(len(rows), np.int64))
    of = np.array(drawn.of)
    square, share = on_square(places)
    tall = round(16 + share * (_SIZE - 16))
    xy = (square[rows] / 65535 - 0.5) * (_SIZE - 16) + (_SIZE / 2, tall / 2)
    width = float(np.clip(3.2 * np.sqrt(3000 / max(len(rows), 1)), 3, 8))
    slots = [*zip(range(len(drawn.names)), drawn.names, drawn.colours, strict=True), (-1, "no answer", BLANK)]
    slots = [slot for slot in slots if (of == slot[0]).any()]
    dots = [_dots(xy[of == slot], tall, colour, 0.8 if slot >= 0 else 0.35) for slot, _, colour in slots]
    key = [_entry(place, said, colour) for place, (_, said, colour) in enumerate(slots)]
    tall = max(tall, 40 + 22 * len(key))
    title = f"Map of people, coloured by {question.label or question.name}"
    svg = el(
        "svg", el("title", title), el("style", _STYLE),
        el("g", *dots, fill="none", stroke_linecap="round", stroke_width=f"{width:.1f}"),
        el("text", short(question.label or question.name, 30), x=_SIZE + 8, y=18, class_="title"), *key,
        xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {_SIZE + _SIDE} {tall}", role="img", aria_label=title,
    )  # fmt: skip
    return f"{svg}\n"


def _dots(xy: NDArray[np.float64], tall: int, colour: str, opacity: float) -> Markup:
    path = "".join(f"M{x:.0f} {tall - y:.0f}h0" for x, y in xy)
    return el("path", d=path, stroke=colour, stroke_opacity=opacity)


def _entry(place: int, said: str, colour: str) -> Markup:
    y = 40 + 22 * place
    dot = el("circle", cx=_SIZE + 16, cy=y, r=6, fill=colour)
    return el("g", dot, el("text", short(said, 26), x=_SIZE + 30, y=y + 5))
