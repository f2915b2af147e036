"""Figures 1 to 3 of Joo & Kärkkäinen (2020) as it draws them: the pipeline, one label by classifier, labels by picture.

Matplotlib without a display; see ``paper_figures`` for what is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from gslopes.report import numbers, words
from gslopes.report.charts import (
    LIGHT,
    MARKERS,
    fitted_line,
    new_figure,
    new_sheet,
    picture,
    spread,
    sweep_axis,
    sweep_heads,
    text,
    tidy,
)

Array = NDArray[np.float64]
Picture = NDArray[np.uint8] | None
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
class LabelCell:
    """One label under one picture.

    side: -1 or 1 where it is not under every picture of its photo, else 0.  score: 0 where it was not returned.
    """

    label: str
    side: int
    plain: bool = False
    score: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """One photo: its K pictures, and for each classifier the labels under each of them and how many more there are."""

    name: str
    pictures: Sequence[Picture]
    labels: Sequence[tuple[str, Sequence[tuple[Sequence[LabelCell], int]]]]


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
    figure = new_figure(7.0, 3.4, dpi=200)
    axes = figure.add_axes((0.09, 0.17, 0.6, 0.7))
    _style(axes, values, values, attribute)
    axes.axhline(1, color=LIGHT.faint, linewidth=0.6, zorder=1)
    colours = [LIGHT.series[place % len(LIGHT.series)] for place in range(len(lines))]
    for place, (line, colour) in enumerate(zip(lines, colours, strict=True)):
        marker = MARKERS[place % len(MARKERS)]
        axes.plot(values, line.ratio, color=colour, marker=marker, markersize=3.5, linewidth=1.2, zorder=4)
        fitted_line(axes, values, line.intercept, line.slope, colour)
    axes.set_ylabel("presence / presence at 0", fontsize=8, color=LIGHT.ink)
    low, high = axes.get_ylim()
    gap = (high - low) * 0.115
    heights = spread([float(line.ratio[-1]) for line in lines], gap, low + gap / 2, high - gap / 2)
    edge, wide = axes.get_xlim()[1], float(np.ptp(values))
    for line, height, colour in zip(lines, heights, colours, strict=True):
        lead = ([values[-1], edge + 0.05 * wide], [line.ratio[-1], height])
        axes.plot(*lead, color=colour, linewidth=0.5, clip_on=False)
        name = f"{words.shorten(words.printable(line.classifier), 30)}\n{numbers.signed(line.slope)}"
        text(axes, edge + 0.07 * wide, height, name, size=6.8, colour=colour)
    axes.set_ylim(low, high)
    title = f"“{words.shorten(words.label(label), 40)}” along {words.perceived(attribute)}"
    figure.text(0.09, 0.93, title, fontsize=9, weight="bold", color=LIGHT.ink, parse_math=False)
    return figure


def answers_figure(photos: Sequence[Answered], values: Array, *, attribute: str) -> Figure:
    """Figure 3: every classifier's labels and their scores under each picture; 0: not returned.

    Coloured: not under every picture of the photo.  photos: with K pictures each.  values: (K,).  Pale: plain concepts.
    """
    line, head, left = 0.115, 0.42, 0.1
    lists = [[max(len(labels) + (more > 0) for labels, more in steps) for _, steps in one.labels] for one in photos]
    tall = [1.3 + sum(0.2 + line * max(rows, 1) for rows in each) for each in lists]
    across, down = 2 * left + len(values) * (1 + _GAP), head + sum(tall)
    figure, axes = new_sheet(across, down, 1.45)
    lefts = [left + step * (1 + _GAP) for step in range(len(values))]
    sweep_heads(axes, values, attribute, [place + 0.5 for place in lefts])
    top = head
    for photo, height, rows in zip(photos, tall, lists, strict=True):
        for place, pixels in zip(lefts, photo.pictures, strict=True):
            picture(axes, pixels, place, top)
        text(axes, left, top + 1.05, words.shorten(words.printable(photo.name), 60), size=6.5, colour=LIGHT.faint)
        below = top + 1.17
        for (classifier, by_step), longest in zip(photo.labels, rows, strict=True):
            text(axes, left, below, words.shorten(words.printable(classifier), 60), size=8, weight="bold")
            below += 0.13
            for place, (labels, more) in zip(lefts, by_step, strict=True):
                for row, one in enumerate(labels):
                    _label(axes, place, below + row * line, one)
                if more:
                    text(axes, place, below + len(labels) * line, f"and {more} more", size=6, colour=LIGHT.faint)
            below += 0.07 + line * max(longest, 1)
        top += height
    axes.set_xlim(0, across)
    axes.set_ylim(down, 0)
    return figure


def pipeline_figure(found: Pipeline, values: Array, *, attribute: str) -> Figure:
    """Figure 1: find, edit, compose, score and fit on one photo.

    values: (K,).
    """
    side = 2.16
    lefts = [side + 0.55 + step * (1 + _GAP) for step in range(len(values))]
    right = lefts[-1] + 1.35
    across, down = right + 2.71, 2.9
    figure, axes = new_sheet(across, down, 1.05, dpi=200)
    picture(axes, found.photo, 0.1, 0.42, side)
    _face(axes, found, 0.1, 0.42, side)
    for place, face, composed, value, score in zip(
        lefts, found.faces, found.pictures, values, found.scores, strict=True
    ):
        picture(axes, face, place, 0.42)
        picture(axes, composed, place, 1.58)
        text(axes, place + 0.5, 1.5, numbers.value(value), size=8, align="center", weight="bold")
        text(axes, place + 0.5, 2.7, numbers.decimal(score), size=8, align="center")
    heads = {0.1: "1  find the face", lefts[0]: "2  edit it, above, and 3  compose it into the photo, below"}
    for place, title in (heads | {right: "4  score and 5  fit"}).items():
        text(axes, place, 0.22, title, size=9, weight="bold")
    arrow = {"arrowstyle": "-|>", "color": LIGHT.ink, "linewidth": 1.2}
    for place in (side + 0.16, lefts[-1] + 1.06):
        axes.annotate("", (place + 0.24, 1.5), (place, 1.5), arrowprops=arrow)
    axes.set_xlim(0, across)
    axes.set_ylim(down, 0)
    box = ((right + 0.32) / across, 0.2, 1.42 / across, 0.6)
    _scores(figure.add_axes(box), found, values, attribute)
    return figure


def _scores(axes: Axes, found: Pipeline, values: Array, attribute: str) -> None:
    """The answers about one photo, and the line through them; a label that was not returned counts as 0."""
    scores = np.nan_to_num(found.scores)
    slope, intercept = np.polyfit(values, scores, 1)
    _style(axes, values, values[:: max(1, (len(values) - 1) // 2)], attribute)
    axes.plot(values, scores, "o", color=LIGHT.ink, markersize=3)
    ends = np.array([values[0], values[-1]])
    axes.plot(ends, intercept + slope * ends, color=(LIGHT.positive if slope > 0 else LIGHT.negative)[1], linewidth=1.4)
    label = words.shorten(words.label(found.label), 20)
    title = f"“{label}”\n{words.shorten(words.printable(found.classifier), 24)}"
    axes.set_title(title, fontsize=7, loc="left", parse_math=False)
    axes.set_ylim(-0.03, 1.03)


def _style(axes: Axes, values: Array, ticks: Array, attribute: str) -> None:
    tidy(axes, size=6.5)
    sweep_axis(axes, values, ticks)
    negative, positive = words.ends(attribute)
    axes.set_xlabel(f"← {negative}    {positive} →", fontsize=7, color=LIGHT.faint, parse_math=False)


def _label(axes: Axes, left: float, middle: float, one: LabelCell) -> None:
    colour, weight = LIGHT.faint if one.plain else LIGHT.ink, "normal"
    if one.side and not one.plain:
        colour, weight = (LIGHT.positive if one.side > 0 else LIGHT.negative)[1], "bold"
    name = words.shorten(words.label(one.label), 18)
    score = numbers.decimal(one.score) if one.score else "0"
    text(axes, left, middle, name, size=6.5, colour=colour, weight=weight)
    text(axes, left + 1, middle, score, size=6.5, align="right", colour=colour, weight=weight)


def _face(axes: Axes, found: Pipeline, left: float, top: float, side: float) -> None:
    if len(found.box) == 4 and found.photo is not None:
        x0, y0, x1, y1 = found.box
        corner = left + side * x0, top + side * y0
        width, height = side * (x1 - x0), side * (y1 - y0)
        axes.add_patch(Rectangle(corner, width, height, fill=False, edgecolor="white", linewidth=1.5))
        axes.plot(left + side * found.points[:, 0], top + side * found.points[:, 1], "o", color="white", markersize=2.5)
