"""Figures 1 to 3 of Joo & Kärkkäinen (2020) as it draws them: the pipeline, one label by classifier, labels by picture.

Matplotlib without a display; see ``paper_figures`` for what is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from gslopes.report import words
from gslopes.report.figures import LIGHT, spread

Array = NDArray[np.float64]
Picture = NDArray[np.uint8] | None

_COLOURS = ("#123f7a", "#c8371f", "#1b97a6", "#8a5a00", "#7b3fa0", "#3c5a66", "#a8516e", "#2f7d32")
_MARKERS = "osD^vPX*"
_GAP = 0.06


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One classifier's curve of a label.

    ratio: (K,) z_k = y_k / y_c.  intercept, slope: of the paper's line through them.
    """

    classifier: str
    ratio: Array
    intercept: float
    slope: float


@dataclass(frozen=True, slots=True)
class Said:
    """One label under one picture; side: -1 or 1 where it is not under every picture of its photo, else 0."""

    label: str
    side: int
    plain: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """One photo: its K pictures, and for each classifier the labels under each of them and how many more there are."""

    name: str
    pictures: Sequence[Picture]
    labels: Sequence[tuple[str, Sequence[tuple[Sequence[Said], int]]]]


@dataclass(frozen=True, slots=True, eq=False)
class Pipeline:
    """The walk of one photo.

    photo: (S, S, 3) uint8 RGB, or None.  box: (4,) and points: (5, 2), in [0, 1] of that picture; none: not drawn.
    faces, pictures: K each.  classifier: who was asked.  label, scores: of one label, (K,), NaN where not returned.
    """

    photo: Picture
    box: Sequence[float]
    points: Array
    faces: Sequence[Picture]
    pictures: Sequence[Picture]
    classifier: str
    label: str
    scores: Array


def label_figure(lines: Sequence[Line], values: Array, *, label: str, attribute: str) -> Figure:
    """Figure 2: how often each classifier returns one label, relative to the centre, along the sweep.

    lines: one a classifier.  values: (K,).
    """
    figure = Figure(figsize=(7.0, 3.4), dpi=200, facecolor=LIGHT.ground)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.09, 0.17, 0.6, 0.7))
    axes.axvspan(-1, 1, color=LIGHT.shade, zorder=0, linewidth=0)
    axes.axhline(1, color=LIGHT.faint, linewidth=0.6, zorder=1)
    ends = np.array([values[0], values[-1]])
    for place, line in enumerate(lines):
        colour = _COLOURS[place % len(_COLOURS)]
        marker = _MARKERS[place % len(_MARKERS)]
        axes.plot(values, line.ratio, color=colour, marker=marker, markersize=3.5, linewidth=1.2, zorder=4)
        axes.plot(
            ends, line.intercept + line.slope * ends, color=colour, linewidth=0.8, linestyle=(0, (4, 2)), zorder=3
        )
    _style(axes, values, attribute)
    axes.set_xlim(values[0] - 0.04 * np.ptp(values), values[-1] + 0.04 * np.ptp(values))
    axes.set_ylabel("presence / presence at 0", fontsize=8, color=LIGHT.ink)
    low, high = axes.get_ylim()
    gap = (high - low) * 0.115
    heights = spread([float(line.ratio[-1]) for line in lines], gap, low + gap / 2, high - gap / 2)
    edge, wide = axes.get_xlim()[1], float(np.ptp(values))
    for place, (line, height) in enumerate(zip(lines, heights, strict=True)):
        colour = _COLOURS[place % len(_COLOURS)]
        axes.plot(
            [values[-1], edge + 0.05 * wide], [line.ratio[-1], height], color=colour, linewidth=0.5, clip_on=False
        )
        name = words.shorten(words.printable(line.classifier), 30)
        name += f"\n{words.signed(line.slope)}".replace("-", "−")
        _text(axes, edge + 0.07 * wide, height, name, size=6.8, colour=colour)
    axes.set_ylim(low, high)
    title = f"“{words.shorten(words.printable(label), 40)}” along {words.perceived(attribute)}"
    figure.text(0.09, 0.93, title, fontsize=9, weight="bold", color=LIGHT.ink, parse_math=False)
    return figure


def answers_figure(photos: Sequence[Answered], values: Array, *, attribute: str) -> Figure:
    """Figure 3: every classifier's labels under each picture; coloured: not under every picture of the photo.

    photos: with K pictures each.  values: (K,).  Plain concepts are pale.
    """
    line, head, left = 0.115, 0.42, 0.1
    tall = []
    for photo in photos:
        lists = [max(len(labels) + (more > 0) for labels, more in by_step) for _, by_step in photo.labels]
        tall.append(1.3 + sum(0.2 + line * max(one, 1) for one in lists))
    across, down = 2 * left + len(values) * (1 + _GAP), head + sum(tall)
    figure = Figure(figsize=(across * 1.45, down * 1.45), dpi=150, facecolor=LIGHT.ground)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    positions = [left + step * (1 + _GAP) for step in range(len(values))]
    _heading(axes, values, attribute, positions)
    top = head
    for photo, height in zip(photos, tall, strict=True):
        for place, pixels in zip(positions, photo.pictures, strict=True):
            _picture(axes, pixels, place, top)
        _text(axes, left, top + 1.05, words.shorten(words.printable(photo.name), 60), size=6.5, colour=LIGHT.faint)
        below = top + 1.17
        for classifier, by_step in photo.labels:
            _text(axes, left, below, words.shorten(words.printable(classifier), 60), size=8, weight="bold")
            below += 0.13
            for place, (labels, more) in zip(positions, by_step, strict=True):
                for row, one in enumerate(labels):
                    _text(axes, place, below + row * line, words.shorten(words.printable(one.label), 23), **_tint(one))
                if more:
                    _text(axes, place, below + len(labels) * line, f"and {more} more", size=6, colour=LIGHT.faint)
            below += 0.07 + line * max(max(len(labels) + (more > 0) for labels, more in by_step), 1)
        top += height
    axes.set_xlim(0, across)
    axes.set_ylim(down, 0)
    return figure


def pipeline_figure(found: Pipeline, values: Array, *, attribute: str) -> Figure:
    """Figure 1: find, edit, compose, score and fit on one photo.

    values: (K,).
    """
    steps, side = len(values), 2.16
    middle = side + 0.55
    across, down = middle + steps * (1 + _GAP) + 3.0, 2.9
    figure = Figure(figsize=(across * 1.05, down * 1.05), dpi=200, facecolor=LIGHT.ground)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    _picture(axes, found.photo, 0.1, 0.42, side)
    _face(axes, found, 0.1, 0.42, side)
    positions = [middle + step * (1 + _GAP) for step in range(steps)]
    for place, face, picture, value, score in zip(
        positions, found.faces, found.pictures, values, found.scores, strict=True
    ):
        _picture(axes, face, place, 0.42)
        _picture(axes, picture, place, 1.58)
        _text(axes, place + 0.5, 1.5, f"{value:.3g}".replace("-", "−"), size=8, align="center", weight="bold")
        said = "–" if np.isnan(score) else f"{score:.2f}"
        _text(axes, place + 0.5, 2.7, said, size=8, align="center")
    right = positions[-1] + 1.35
    heads = ((0.1, "1  find the face"), (middle, "2  edit it, above, and 3  compose it into the photo, below"))
    for place, text in (*heads, (right, "4  score and 5  fit")):
        _text(axes, place, 0.22, text, size=9, weight="bold")
    for place in (side + 0.16, positions[-1] + 1.06):
        axes.annotate(
            "",
            (place + 0.24, 1.5),
            (place, 1.5),
            arrowprops={"arrowstyle": "-|>", "color": LIGHT.ink, "linewidth": 1.2},
        )
    axes.set_xlim(0, across)
    axes.set_ylim(down, 0)
    box = ((right + 0.32) / across, 0.2, 1.42 / across, 0.6)
    _scores(figure.add_axes(box), found, values, attribute)
    return figure


def _scores(axes: Axes, found: Pipeline, values: Array, attribute: str) -> None:
    """The answers about one photo, and the line through them; a label that was not returned counts as 0."""
    scores = np.nan_to_num(found.scores)
    slope, intercept = np.polyfit(values, scores, 1)
    ends = np.array([values[0], values[-1]])
    axes.axvspan(-1, 1, color=LIGHT.shade, zorder=0, linewidth=0)
    axes.plot(values, scores, "o", color=LIGHT.ink, markersize=3)
    axes.plot(ends, intercept + slope * ends, color=(LIGHT.positive if slope > 0 else LIGHT.negative)[1], linewidth=1.4)
    _style(axes, values, attribute, sparse=True)
    label = words.shorten(words.printable(found.label), 20)
    title = f"“{label}”\n{words.shorten(words.printable(found.classifier), 24)}"
    axes.set_title(title, fontsize=7, loc="left", parse_math=False)
    axes.set_ylim(-0.03, 1.03)


def _style(axes: Axes, values: Array, attribute: str, *, sparse: bool = False) -> None:
    ticks = values[:: max(1, (len(values) - 1) // 2)] if sparse else values
    axes.set_xticks(ticks, [f"{value:.3g}".replace("-", "−") for value in ticks])
    negative, positive = words.ends(attribute)
    axes.set_xlabel(f"← {negative}    {positive} →", fontsize=7, color=LIGHT.faint, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=LIGHT.ink, labelsize=6.5, width=0.6, length=2.5)


def _tint(one: Said) -> dict[str, Any]:
    if one.plain:
        return {"size": 6.5, "colour": LIGHT.faint}
    if not one.side:
        return {"size": 6.5, "colour": LIGHT.ink}
    return {"size": 6.5, "colour": (LIGHT.positive if one.side > 0 else LIGHT.negative)[1], "weight": "bold"}


def _heading(axes: Axes, values: Array, attribute: str, positions: Sequence[float]) -> None:
    negative, positive = words.ends(attribute)
    notes = {0: f"← {negative}", len(values) // 2: "neutral", len(values) - 1: f"{positive} →"}
    for step, (value, place) in enumerate(zip(values, positions, strict=True)):
        _text(axes, place + 0.5, 0.13, notes.get(step, ""), size=8, align="center", colour=LIGHT.faint)
        _text(axes, place + 0.5, 0.3, f"{value:.3g}".replace("-", "−"), size=9, align="center", weight="bold")


def _face(axes: Axes, found: Pipeline, left: float, top: float, side: float) -> None:
    if len(found.box) == 4 and found.photo is not None:
        x0, y0, x1, y1 = found.box
        corner = left + side * x0, top + side * y0
        axes.add_patch(
            Rectangle(corner, side * (x1 - x0), side * (y1 - y0), fill=False, edgecolor="white", linewidth=1.5)
        )
        axes.plot(left + side * found.points[:, 0], top + side * found.points[:, 1], "o", color="white", markersize=2.5)


def _picture(axes: Axes, pixels: Picture, left: float, top: float, side: float = 1.0) -> None:
    if pixels is None:
        axes.add_patch(Rectangle((left, top), side, side, facecolor=LIGHT.shade, edgecolor="none"))
        _text(axes, left + side / 2, top + side / 2, "no picture", size=7, align="center", colour=LIGHT.faint)
    else:
        axes.imshow(pixels, extent=(left, left + side, top + side, top), aspect="auto", interpolation="antialiased")


def _text(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    *,
    size: float,
    colour: str = LIGHT.ink,
    align: str = "left",
    weight: str = "normal",
) -> None:
    axes.text(x, y, text, ha=align, va="center", fontsize=size, color=colour, weight=weight, parse_math=False)
