"""Figures 1 to 3 of Joo & Kärkkäinen (2020) as they are drawn, and the records that they are drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gslopes.core import frozen, frozen_identity
from gslopes.core.records import Array
from gslopes.report import fonts, numbers, words
from gslopes.report.charts import (
    LIGHT,
    MARKERS,
    fitted_line,
    new_figure,
    new_sheet,
    picture,
    sweep_axis,
    sweep_heads,
    text,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Picture = NDArray[np.uint8] | None
_GAP = 0.06
ENDS = LIGHT.negative[1], LIGHT.positive[1]


@frozen_identity
class Line:
    """One classifier's curve of a label.

    ratio: (K,) z_k = y_k / y_c.  intercept, slope: of the paper's line through them.
    """

    classifier: str
    ratio: Array
    intercept: float
    slope: float


@frozen
class LabelCell:
    """One label under one picture.

    side: -1 or 1 if it is missing under some picture of its photo, else 0.  score: 0 if it was not returned.
    """

    label: str
    side: int
    plain: bool = False
    score: float = 0.0


@frozen_identity
class Answered:
    """One photo: its K pictures, and for each classifier the labels under each of them and how many more there are."""

    name: str
    pictures: Sequence[Picture]
    labels: Sequence[tuple[str, Sequence[tuple[Sequence[LabelCell], int]]]]


@frozen_identity
class Pipeline:
    """The walk of one photo.

    photo: (S, S, 3) uint8 RGB, or None.  box: (4,) and points: (5, 2), in [0, 1] of that picture; none: not drawn.
    faces, pictures: K each.  classifier: who was asked.  label, scores: of one label, (K,), NaN if not returned.
    """

    photo: Picture
    box: Sequence[float]
    points: Array
    faces: Sequence[Picture]
    pictures: Sequence[Picture]
    classifier: str
    label: str
    scores: Array


# -- drawing ----------------------------------------------------------------------------------------------------------


def label_figure(lines: Sequence[Line], values: Array, *, label: str, attribute: str) -> Figure:
    """Figure 2: how often each classifier returns one label, relative to the centre, along the sweep.

    lines: one a classifier.  values: (K,).
    """
    figure = new_figure(7.0, 3.4, dpi=200)
    axes = figure.add_axes((0.09, 0.17, 0.6, 0.7))
    _style(axes, values, values, attribute)
    axes.axhline(1, color=LIGHT.edge, linewidth=0.6, zorder=1)
    for line, colour, marker in zip(lines, cycle(LIGHT.series), cycle(MARKERS), strict=False):
        name = (
            f"{words.shorten(words.printable(line.classifier), 30)}\n{numbers.signed(line.slope)}"
        )
        axes.plot(
            values,
            line.ratio,
            color=colour,
            marker=marker,
            markersize=3.5,
            linewidth=1.2,
            zorder=4,
            label=name,
        )
        fitted_line(axes, values, line.intercept, line.slope, colour)
    axes.set_ylabel("presence / presence at 0", fontsize=8, color=LIGHT.ink)
    legend = axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, fontsize=6.8)
    for entry, colour in zip(legend.get_texts(), cycle(LIGHT.series), strict=False):
        entry.set(color=colour, parse_math=False)
    figure.text(
        0.09,
        0.93,
        f"“{fonts.isolated(words.shorten(words.label(label), 40))}” along {words.perceived(attribute)}",
        fontsize=9,
        weight="bold",
        color=LIGHT.ink,
        parse_math=False,
    )
    return figure


def answers_figure(
    photos: Sequence[Answered], values: Array, *, attribute: str, ends: tuple[str, str] = ENDS
) -> Figure:
    """Figure 3: every classifier's labels and their scores under each picture; 0: not returned.

    Coloured: not under every picture of the photo.  photos: with K pictures each.  values: (K,).  Pale: plain concepts.
    ends: colours of labels whose score rises to the negative and to the positive end.
    """
    line = 0.115
    head = 0.42
    left = 0.1
    lists = [
        [max(len(labels) + (more > 0) for labels, more in steps) for _, steps in photo.labels]
        for photo in photos
    ]
    tall = [1.3 + sum(0.2 + line * max(rows, 1) for rows in heights) for heights in lists]
    across = 2 * left + len(values) * (1 + _GAP)
    down = head + sum(tall)
    figure, axes = new_sheet(across, down, 1.45)
    lefts = [left + step * (1 + _GAP) for step in range(len(values))]
    sweep_heads(axes, values, attribute, [x + 0.5 for x in lefts])
    top = head
    for photo, height, rows in zip(photos, tall, lists, strict=True):
        for x, pixels in zip(lefts, photo.pictures, strict=True):
            picture(axes, pixels, x, top)
        name = words.shorten(words.printable(photo.name), 60)
        text(axes, left, top + 1.05, name, size=6.5, color=LIGHT.edge)
        below = top + 1.17
        for (classifier, by_step), longest in zip(photo.labels, rows, strict=True):
            name = words.shorten(words.printable(classifier), 60)
            text(axes, left, below, name, size=8, weight="bold")
            below += 0.13
            for x, (labels, more) in zip(lefts, by_step, strict=True):
                for row, cell in enumerate(labels):
                    _label(axes, x, below + row * line, cell, ends)
                if more:
                    last = below + len(labels) * line
                    text(axes, x, last, f"and {more} more", size=6, color=LIGHT.edge)
            below += 0.07 + line * max(longest, 1)
        top += height
    return figure


def pipeline_figure(
    walk: Pipeline, values: Array, *, attribute: str, given: bool = False
) -> Figure:
    """Figure 1: find, edit, compose, score and fit on one photo.

    values: (K,).  given: others made the pictures.
    """
    side = 2.16
    lefts = [side + 0.55 + step * (1 + _GAP) for step in range(len(values))]
    right = lefts[-1] + 1.35
    across = right + 2.71
    down = 2.9
    figure, axes = new_sheet(across, down, 1.05, dpi=200)
    picture(axes, walk.photo, 0.1, 0.42, side)
    _face(axes, walk, 0.1, 0.42, side)
    for left, face, composed, value, score in zip(
        lefts, walk.faces, walk.pictures, values, walk.scores, strict=True
    ):
        picture(axes, face, left, 0.42)
        picture(axes, composed, left, 1.58)
        text(axes, left + 0.5, 1.5, numbers.value(value), size=8, ha="center", weight="bold")
        text(axes, left + 0.5, 2.7, numbers.decimal(score), size=8, ha="center")
    editing = ("2  edit it, above, and 3  compose it into the photo, below", "2  edit, 3  compose")[
        len(lefts) < 4
    ]
    heads = {0.1: "1  find the face", lefts[0]: editing, right: "4  score and 5  fit"}
    if given:
        heads |= {lefts[0]: "pictures as given", right: "2  score and 3  fit"}
    for left, title in heads.items():
        text(axes, left, 0.22, title, size=9, weight="bold")
    arrow = {"arrowstyle": "-|>", "color": LIGHT.ink, "linewidth": 1.2}
    for start in (side + 0.16, lefts[-1] + 1.06):
        axes.annotate("", (start + 0.24, 1.5), (start, 1.5), arrowprops=arrow)
    box = ((right + 0.32) / across, 0.2, 1.42 / across, 0.6)
    _scores(figure.add_axes(box), walk, values, attribute)
    return figure


def _scores(axes: Axes, walk: Pipeline, values: Array, attribute: str) -> None:
    """The answers about one photo, and the line through them; a label that was not returned counts as 0."""
    scores = np.nan_to_num(walk.scores)
    slope, intercept = np.polyfit(values, scores, 1)
    _style(axes, values, values[:: max(1, (len(values) - 1) // 2)], attribute)
    axes.plot(values, scores, "o", color=LIGHT.ink, markersize=3)
    ends = np.array([values[0], values[-1]])
    axes.plot(ends, intercept + slope * ends, color=ENDS[int(slope > 0)], linewidth=1.4)
    label = words.shorten(words.label(walk.label), 20)
    axes.set_title(
        f"“{label}”\n{words.shorten(words.printable(walk.classifier), 24)}",
        fontsize=7,
        loc="left",
        parse_math=False,
    )
    if scores.min() >= 0 and scores.max() <= 1:  # no number in another unit
        axes.set_ylim(-0.03, 1.03)


def _style(axes: Axes, values: Array, ticks: Array, attribute: str) -> None:
    tidy(axes, size=6.5)
    sweep_axis(axes, values, ticks)
    negative, positive = words.ends(attribute)
    axes.set_xlabel(f"← {negative}    {positive} →", fontsize=7, color=LIGHT.edge, parse_math=False)


def _label(
    axes: Axes,
    left: float,
    middle: float,
    cell: LabelCell,
    ends: tuple[str, str],
) -> None:
    style = {"size": 6.5, "color": LIGHT.ink}
    if cell.plain:
        style["color"] = LIGHT.edge
    elif cell.side:
        style |= {"color": ends[int(cell.side > 0)], "weight": "bold"}
    name = words.shorten(words.label(cell.label), 18)
    score = numbers.decimal(cell.score) if cell.score else "0"
    text(axes, left, middle, name, **style)
    text(axes, left + 1, middle, score, ha="right", **style)


def _face(
    axes: Axes,
    walk: Pipeline,
    left: float,
    top: float,
    side: float,
) -> None:
    from matplotlib.patches import Rectangle

    if len(walk.box) == 4 and walk.photo is not None:
        first, last = side * np.reshape(walk.box, (2, 2)) + (left, top)
        box = Rectangle(first, *(last - first), fill=False, edgecolor="white", linewidth=1.5)
        axes.add_patch(box)
        axes.plot(*(side * walk.points + (left, top)).T, "o", color="white", markersize=2.5)
