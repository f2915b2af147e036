"""Curves and graphs of the crop audits' pages, which curves.html.j2 and graph.html.j2 draw."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from gslopes.core.arrays import Array
from gslopes.crops.words import larger_first
from gslopes.report import numbers, words
from gslopes.report.inline import templates

LEFT, ABOVE, WIDE, TALL = 40, 12, 304, 200  # of the axes, pixels: with their legend below curves fit a phone


def distributions(values: Mapping[str, Array], title: str, extent: tuple[float, float]) -> Markup:
    """Empirical distribution functions by group, with bands that hold everywhere at once (Dvoretzky-Kiefer-Wolfowitz).

    values: group to its persons' numbers.  extent: ends of the axis, the same for panels that are compared.
    """
    low, high = extent if extent[1] > extent[0] else (extent[0], extent[0] + 1)

    def points(line: Array) -> str:
        across, up = (line - [[low], [0]]) / [[high - low], [1]]
        return " ".join(f"{LEFT + WIDE * a:.1f},{ABOVE + TALL * (1 - b):.1f}" for a, b in zip(across, up, strict=True))

    curves, said = [], []
    for name, every in values.items():
        sample = np.sort(every[~np.isnan(every)])
        if not (n := len(sample)):
            continue
        share, half = np.arange(n + 1) / n, math.sqrt(math.log(2 / 0.05) / (2 * n))
        upper, lower = (np.clip(share[1:] + side * half, 0, 1) for side in (1, -1))
        around = np.array([np.r_[sample, sample[::-1]], np.r_[upper, lower[::-1]]])
        line = np.array([np.repeat(sample, 2), np.repeat(share, 2)[1:-1]])
        curves.append((name, points(line), points(around)))
        said.append(f"{name} median {np.median(sample):.3g} of {n}")
    drawn = templates(Path(__file__).parent).get_template("curves.html.j2").render(
        left=LEFT, above=ABOVE, wide=WIDE, tall=TALL, levels=["0", "0.25", "0.5", "0.75", "1"],
        ticks=[numbers.value(end) for end in (low, (low + high) / 2, high)],
        curves=curves, description=f"{title}: {'; '.join(said)}",
    )  # fmt: skip
    return Markup(drawn)


# -- the graph of Figure 2 --------------------------------------------------------------------------------------------

SIDE, MARGIN, RADIUS = 358, 30, 135  # pixels of the graph, of the room above and below it, from its middle to an edge
APART, HEAD = 9, 10  # pixels from a group's middle to an arrow, and of its head
PLACES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8)  # along an arrow, where its number may stand
LETTERS = 24  # of a group's name
MOST_GROUPS = 5  # between more of them there are too many arrows to read


def graph(rows: Sequence[Mapping[Any, Any]], title: str) -> Markup:
    """An arrow from the favoured group of each pair to the other, with its points over 50 % and their interval.

    An arrow whose interval holds 50 % is dashed; even pairs have no head.

    rows: of PARITY, of one column, variant and policy, of ``MOST_GROUPS`` groups at most.

    Source: Yee et al. 2021, Figures 2 (right), 3 and 4.
    """
    places = _places(list(dict.fromkeys(name for row in rows for name in (row["group"], row["other"]))))
    arrows: list[dict[str, Any]] = []
    said = []
    for row in map(larger_first, rows):
        share, ends = numbers.size(100 * row["p"] - 50), "no interval"
        if not np.isnan(row["ci_low"]):
            ends = numbers.interval(100 * row["ci_low"] - 50, 100 * row["ci_high"] - 50)
        even = not row["ci_low"] > 0.5
        start, end = (np.array(places[row[name]]) for name in ("group", "other"))
        arrows.append(_arrow(start, end, row["p"] > 0.5, arrows) | {"share": share, "ends": ends, "even": even})
        said.append(f"{row['group']} over {row['other']} {share} {ends}")
    drawn = templates(Path(__file__).parent).get_template("graph.html.j2").render(
        side=SIDE, tall=2 * (RADIUS + MARGIN), arrows=arrows, points=[_point(*place) for place in places.items()],
        description=f"{title}: {'; '.join(said)}",
    )  # fmt: skip
    return Markup(drawn)


def _places(names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Name to x and y, all around. The second half runs backwards: of two groups crossed with two, a row is one."""
    half = (len(names) + 1) // 2
    turned = [*names[:half], *names[half:][::-1]]
    angles = -0.5 * math.pi + math.pi * (2 * np.arange(len(names)) - (half - 1)) / len(names)
    sides = (np.round(np.cos(angles), 9), np.round(np.sin(angles), 9))
    across, down = (np.round(RADIUS * side / (np.abs(side).max() or 1.0), 1) for side in sides)
    across, down = across + SIDE / 2, down + MARGIN + RADIUS
    return dict(zip(turned, zip(across.tolist(), down.tolist(), strict=True), strict=True))


def _point(name: str, place: tuple[float, float]) -> dict[str, Any]:
    """A group's circle, and its name above or below it, inside the drawing."""
    x, y = place
    side = round((x - SIDE / 2) / RADIUS * 2)
    text_x, anchor = {-1: (3, "start"), 1: (SIDE - 3, "end")}.get(np.sign(side), (x, "middle"))
    below = y > MARGIN + RADIUS
    text = {"text_x": text_x, "text_y": y + (22 if below else -12), "anchor": anchor}
    return {"x": x, "y": y, "name": words.shorten(name, LETTERS), "full": name, **text}


def _arrow(start: Array, end: Array, headed: bool, others: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """An arrow's ends and head, and where its number stands: as far as can be from those of the others."""
    along = (end - start) / np.hypot(*(end - start))
    across = np.array([-along[1], along[0]])
    first, last = start + APART * along, end - APART * along
    corners = (last, last - HEAD * along + 4 * across, last - HEAD * along - 4 * across)
    head = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners) if headed else ""

    def room(place: float) -> float:
        at = start + place * (end - start)
        return min((max(abs(at[0] - other["x"]) / 84, abs(at[1] - other["y"]) / 30) for other in others), default=1.0)

    place = max(PLACES, key=lambda place: min(room(place), 1.0))
    (x1, y1), (x2, y2), (x, y) = (np.round(at, 1).tolist() for at in (first, last, start + place * (end - start)))
    return {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "x": x, "y": y, "head": head, "wide": 82}
