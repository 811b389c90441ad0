"""The figures of a study: PNG files, if matplotlib is installed, and one page to point at."""

from __future__ import annotations

import html
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mvrbm.study.paper import figure
from mvrbm.study.tables import TITLES, Figures, Results
from mvrbm.whole import written_whole

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#000000", "#ee8866", "#77aadd")
PAPER, BEST = "the paper, on Pew's survey", "best possible"
SIZE = 560
PANEL = (220, 130)

Line = list[tuple[float, float]]


def draw(results: Results, folder: Path) -> None:
    """Write `figures.html`, and `errors-*.png` and `map-*.png` where matplotlib is installed."""
    with written_whole(folder / "figures.html") as beside:
        beside.write_text(_page(results), encoding="utf-8")
    if find_spec("matplotlib"):
        _pngs(results, folder)


def _maps(results: Results) -> list[dict[str, Any]]:
    return [cell for cell in results["cells"] if cell["experiment"] == "map"]


def lines(found: Figures, experiment: str, row: str) -> dict[str, Line]:
    """The errors of a row against the place of K in the list of sizes, by whose they are."""
    sizes = found.sizes(experiment)
    drawn: dict[str, list[float | None]] = {
        f"recipe {recipe}": [found.one(experiment, row, recipe, k) for k in sizes] for recipe in found.plan["recipes"]
    }
    if found.made:
        drawn[PAPER] = [figure(experiment, row, k) for k in sizes]
        drawn[BEST] = [found.best(experiment, row)] * len(sizes)
    return {
        name: [(float(n), error) for n, error in enumerate(errors) if error is not None]
        for name, errors in drawn.items()
        if any(error is not None for error in errors)
    }


def _pngs(results: Results, folder: Path) -> None:
    from matplotlib.figure import Figure

    found = Figures(results)
    for experiment, title in TITLES.items():
        rows = found.rows[experiment]
        if not rows:
            continue
        picture = Figure(figsize=(12, 3.2 * -(-len(rows) // 3)), layout="constrained")
        for axes, row in zip(picture.subplots(-(-len(rows) // 3), 3, squeeze=False).flat, rows, strict=False):
            for (name, points), colour in zip(lines(found, experiment, row).items(), COLOURS, strict=False):
                style = {PAPER: "--", BEST: ":"}.get(name, "o-")
                axes.plot(*zip(*points, strict=True), style, color=colour, label=name, markersize=4)
            axes.set_title(row)
            axes.set_xticks(range(len(found.sizes(experiment))), [str(k) for k in found.sizes(experiment)])
            axes.set_ylim(bottom=0)
        picture.suptitle(f"{title}: error (%) by hidden units")
        picture.axes[0].legend(fontsize=7)
        picture.savefig(folder / f"errors-{experiment}.png", dpi=110)
    for cell in _maps(results):
        picture = Figure(figsize=(8, 6.5), layout="constrained")
        axes = picture.subplots()
        for label, colour in zip(sorted(set(cell["labels"])), COLOURS, strict=False):
            own = [n for n, name in enumerate(cell["labels"]) if name == label]
            axes.scatter([cell["x"][n] for n in own], [cell["y"][n] for n in own], s=9, color=colour, label=label)
        axes.set_axis_off()
        axes.set_title(f"{_title(cell)}")
        axes.legend(markerscale=2, fontsize=8)
        picture.savefig(folder / f"map-{cell['recipe']}.png", dpi=110)


def _title(cell: dict[str, Any]) -> str:
    return f"Recipe {cell['recipe']}, K = {cell['n_hidden']}, {cell['target']} removed"


def _page(results: Results) -> str:
    """One file without anything fetched: the map, whose labels switch people on and off, and the errors."""
    found = Figures(results)
    parts = [f"<h2>{html.escape(_title(cell))}</h2>{_map(cell)}" for cell in _maps(results)]
    for experiment, title in TITLES.items():
        rows = found.rows[experiment]
        panels = "".join(_panel(found, experiment, row) for row in rows)
        parts += (
            [f"<h2>{html.escape(title)}: error (%) by K</h2><p>{_key(found, experiment)}</p>{panels}"] if rows else []
        )
    return _TEMPLATE.replace("BODY", "\n".join(parts))


def _map(cell: dict[str, Any]) -> str:
    xs, ys = cell["x"], cell["y"]
    low, across = (min(xs), min(ys)), max(max(xs) - min(xs), max(ys) - min(ys)) or 1.0

    def place(value: float, start: float) -> float:
        return round(10 + (SIZE - 20) * (value - start) / across, 1)

    groups, labels = [], []
    for n, label in enumerate(sorted(set(cell["labels"]))):
        colour, name = COLOURS[n % len(COLOURS)], html.escape(label)
        dots = "".join(
            f'<circle cx="{place(x, low[0])}" cy="{place(y, low[1])}" r="3"/>'
            for x, y, own in zip(xs, ys, cell["labels"], strict=True)
            if own == label
        )
        groups.append(f'<g fill="{colour}" data-of="{n}"><title>{name}</title>{dots}</g>')
        labels.append(f'<label style="color:{colour}"><input type="checkbox" checked data-of="{n}"> {name}</label>')
    picture = f'<svg viewBox="0 0 {SIZE} {SIZE}" width="{SIZE}" role="img">{"".join(groups)}</svg>'
    return f'<div class="map">{picture}<div>{"".join(labels)}</div></div>'


def _key(found: Figures, experiment: str) -> str:
    names = dict.fromkeys(name for row in found.rows[experiment] for name in lines(found, experiment, row))
    return " ".join(f'<span style="color:{c}">{html.escape(n)}</span>' for n, c in zip(names, COLOURS, strict=False))


def _panel(found: Figures, experiment: str, row: str) -> str:
    """A small chart; each point tells its figure."""
    drawn = lines(found, experiment, row)
    sizes = found.sizes(experiment)
    most = max(error for points in drawn.values() for _, error in points) or 1.0
    width, height = PANEL
    step = (width - 24) / max(len(sizes) - 1, 1)
    inside = [f'<text x="4" y="12">{html.escape(row)}</text>']
    for (name, points), colour in zip(drawn.items(), COLOURS, strict=False):
        at = [(12 + n * step, height - 16 - (height - 40) * e / most) for n, e in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        dots = "".join(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{html.escape(name)}, K = {sizes[int(n)]}: {e:.1f}</title>'
            "</circle>"
            for (x, y), (n, e) in zip(at, points, strict=True)
        )
        inside.append(f'<g fill="{colour}" stroke="{colour}"><polyline fill="none" points="{path}"/>{dots}</g>')
    inside += [f'<text x="{12 + n * step:.1f}" y="{height - 2}" class="k">{k}</text>' for n, k in enumerate(sizes)]
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img">{"".join(inside)}</svg>'


_TEMPLATE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Case study</title>
<style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em; }
svg text { font-size: 11px; } svg .k { text-anchor: middle; font-size: 9px; }
.map { display: flex; flex-wrap: wrap; gap: 1em; } .map label { display: block; } span { margin-right: 1em; }
</style></head><body>
<h1>Case study</h1>
<p>Point at anything to see what it is; the boxes beside a map show and hide people.</p>
BODY
<script>
for (const map of document.querySelectorAll(".map"))
  map.addEventListener("change", ({ target }) => {
    map.querySelector(`g[data-of="${target.dataset.of}"]`).style.display = target.checked ? "" : "none";
  });
</script></body></html>
"""
