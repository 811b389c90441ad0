"""Pictures as SVG: bars, lines, calibration, a heat map. Colours come from the page's style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mvrbm.report.html import Markup, el, short
from mvrbm.report.parts import swatch

Float = NDArray[np.float64]


def _round(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


def _points(xs: Float, ys: Float) -> str:
    return " ".join(f"{_round(float(x))},{_round(float(y))}" for x, y in zip(xs, ys, strict=True))


def bar(*parts: tuple[float, str], said: str) -> Markup:
    """A bar as wide as its place: shares of it, each with its class, over each other; the longest first."""
    drawn = [el("rect", width=_round(100 * min(share, 1)), height=10, class_=name) for share, name in parts]
    return _stretched(drawn, said)


def stacked(*parts: tuple[float, str], said: str) -> Markup:
    """A bar of shares, one after the other."""
    ends = np.cumsum([0.0, *(share for share, _ in parts)])
    drawn = [
        el("rect", x=_round(100 * start), width=_round(100 * share), height=10, class_=name)
        for start, (share, name) in zip(ends, parts, strict=False)
    ]
    return _stretched(drawn, said)


def _stretched(drawn: Sequence[Markup], said: str) -> Markup:
    return el(
        "svg", *drawn, viewBox="0 0 100 10", preserveAspectRatio="none", class_="bar", role="img", aria_label=said
    )


def columns(heights: Sequence[float], names: Sequence[str], said: str, x_title: str) -> Markup:
    """Upright bars with the number above each and a name below."""
    width, tall = 400.0, 140.0
    step = width / max(len(heights), 1)
    top = max([*heights, 1])
    drawn = []
    for n, (height, name) in enumerate(zip(heights, names, strict=True)):
        size = tall * height / top
        at = step * (n + 0.5)
        drawn += [
            el("rect", x=_round(step * (n + 0.1)), y=_round(20 + tall - size), width=_round(0.8 * step),
               height=_round(size), class_="mark"),
            el("text", f"{height:,.0f}", x=_round(at), y=_round(15 + tall - size), class_="middle small"),
            el("text", name, x=_round(at), y=tall + 36, class_="middle"),
        ]  # fmt: skip
    drawn.append(el("text", x_title, x=width / 2, y=tall + 54, class_="middle"))
    return el("svg", *drawn, viewBox=f"0 0 {width:.0f} {tall + 60:.0f}", class_="chart", role="img", aria_label=said)


def _ticks(low: float, high: float, n: int = 4) -> list[float]:
    """Round numbers between two."""
    step = 10 ** np.floor(np.log10((high - low) / n))
    step *= next(m for m in (1, 2, 5, 10) if (high - low) / (step * m) <= n)
    return [float(t) + 0.0 for t in np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step]  # not -0


def _ticks_of_powers(low: float, high: float) -> list[float]:
    """The logarithms, between two, of 1, 2 and 5 times powers of ten; of many, those of powers of ten."""
    powers = [float(t) for t in range(-12, 7) if low <= t <= high]
    parts = [t + float(np.log10(m)) for t in range(-13, 7) for m in (1, 2, 5)]
    return powers if len(powers) > 2 else [t for t in parts if low <= t <= high]


def lines(
    ys: Sequence[float],
    *,
    said: str,
    x_title: str,
    mark: tuple[float, str] | None = None,
    level: tuple[float, str] | None = None,
    logarithmic: bool = False,
) -> Markup:
    """A line over 1, 2, ...; `mark` is a place on it to point at, `level` a height to compare with."""
    left, top, width, tall = 52.0, 14.0, 340.0, 180.0
    heights = np.log10(np.maximum(ys, 1e-12)) if logarithmic else np.asarray(ys, np.float64)
    every = [*heights, *([] if level is None else [level[0]])]
    low, high = min(every), max(every)
    low, high = (low - 0.5, high + 0.5) if high - low < 1e-9 else (low, high)
    room = 0.14 * (high - low)
    low, high = low - room, high + room

    def x(n: float) -> float:
        return left + width * (n - 1) / max(len(ys) - 1, 1)

    def y(height: float) -> float:
        return float(top + tall * (high - height) / (high - low))

    drawn = [el("path", d=f"M{left} {top}v{tall}h{width}", class_="axis")]
    ticks = (_ticks_of_powers if logarithmic else _ticks)(low, high)
    for tick in ticks or [float(np.mean([low, high]))]:
        name = f"{10.0**tick:.3g}" if logarithmic else f"{tick:.4g}"
        drawn.append(el("path", d=f"M{left} {_round(y(tick))}h{width}", class_="grid"))
        drawn.append(el("text", name, x=left - 6, y=_round(y(tick) + 4), class_="end"))
    rounds = sorted({1, *(round(t) for t in _ticks(1, max(len(ys), 2)) if t >= 1), len(ys)})
    apart = [n for n in rounds if n == len(ys) or x(len(ys)) - x(n) > 24]
    drawn += [el("text", n, x=_round(x(n)), y=top + tall + 17, class_="middle") for n in apart]
    drawn.append(el("text", x_title, x=left + width / 2, y=top + tall + 36, class_="middle"))
    if level is not None:
        drawn.append(el("path", d=f"M{left} {_round(y(level[0]))}h{width}", class_="level"))
        drawn.append(el("text", level[1], x=left + width, y=_round(y(level[0]) + 14), class_="end small"))
    places = np.array([x(n + 1) for n in range(len(ys))])
    drawn.append(el("polyline", points=_points(places, np.array([y(h) for h in heights])), class_="line"))
    if mark is not None and 1 <= mark[0] <= len(ys):
        at = heights[int(mark[0]) - 1]
        drawn.append(el("circle", cx=_round(x(mark[0])), cy=_round(y(at)), r=5, class_="point"))
        side = "end" if mark[0] > len(ys) / 2 else "start"
        below = y(at) + 20 if y(at) + 20 < top + tall else y(at) - 12
        drawn.append(el("text", mark[1], x=_round(x(mark[0])), y=_round(below), class_=f"{side} small"))
    return el("svg", *drawn, viewBox="0 0 400 240", class_="chart", role="img", aria_label=said)


def calibration(means: Float, shares: Float, weights: Float, said: str) -> Markup:
    """What was said against what happened: on the diagonal the two agree."""
    left, top, size = 34.0, 8.0, 160.0
    drawn = [
        el("path", d=f"M{left} {top}v{size}h{size}", class_="axis"),
        el("path", d=f"M{left} {top + size}l{size} {-size}", class_="level"),
    ]
    for tick in (0, 50, 100):
        at = size * tick / 100
        drawn.append(el("text", f"{tick}%", x=left - 4, y=_round(top + size - at + 4), class_="end small"))
        drawn.append(el("text", f"{tick}%", x=_round(left + at), y=top + size + 15, class_="middle small"))
    xs, ys = left + size * means, top + size * (1 - shares)
    drawn.append(el("polyline", points=_points(xs, ys), class_="line"))
    radii = 2 + 4 * np.sqrt(weights / weights.max())
    for x, y, r in zip(xs, ys, radii, strict=True):
        drawn.append(el("circle", cx=_round(x), cy=_round(y), r=_round(r), class_="point"))
    drawn.append(el("text", "said", x=left + size / 2, y=top + size + 30, class_="middle small"))
    return el("svg", *drawn, viewBox="0 0 210 205", class_="chart", role="img", aria_label=said)


STEPS = 8
"""Shades of the heat map."""


def heat_map(strength: Float, names: Sequence[str], said: str) -> Markup:
    """A square for each two questions, darker the stronger they go together; one path for each shade."""
    n, cell, top = len(names), 12.0, 20.0
    left = 26 + 5.6 * max(len(short(name, 36)) for name in names)
    most = max(float(strength.max(initial=0.0)), 1e-9)
    shade = np.minimum((STEPS * strength / most).astype(int), STEPS - 1)
    np.fill_diagonal(shade, 0)
    drawn = []
    for step in range(1, STEPS):
        cells = np.argwhere(shade == step)
        path = "".join(f"M{_round(left + cell * j)} {_round(top + cell * i)}h11v11h-11z" for i, j in cells)
        drawn.append(el("path", d=path, class_=f"heat{step}"))
    diagonal = "".join(f"M{_round(left + cell * i)} {_round(top + cell * i)}h11v11h-11z" for i in range(n))
    drawn.append(el("path", d=diagonal, class_="diagonal"))
    for i, name in enumerate(names):
        drawn.append(el("text", f"{short(name, 36)}  {i + 1}", x=left - 6, y=_round(top + cell * i + 9), class_="end"))
        drawn.append(el("text", i + 1, x=_round(left + cell * i + 5.5), y=top - 5, class_="middle tiny"))
    width, tall = left + cell * n + 4, top + cell * n + 4
    return el("svg", *drawn, viewBox=f"0 0 {width:.0f} {tall:.0f}", width=round(min(2 * width, 960)), class_="heat",
              role="img", aria_label=said, data_left=left, data_top=top, data_cell=cell, data_n=n)  # fmt: skip


def heat_legend(most: float) -> Markup:
    """What the shades mean."""
    bounds = [f"{most * step / STEPS:.2f}" for step in range(STEPS + 1)]
    names = [f"{low} to {high}" for low, high in pairwise(bounds)]
    entries = [el("li", swatch(f"heat{step}"), name) for step, name in enumerate(names) if step]
    return el("ul", *entries, class_="legend")
