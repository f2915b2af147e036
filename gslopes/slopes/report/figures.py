"""Figures of a run for page and print, after Figures 2 and 3 of the paper: labels along the sweep, edited photos."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from gslopes.report import charts, numbers, units, words
from gslopes.report.charts import LIGHT, MARKERS, fitted_line, new_figure, spread, sweep_axis, text, tidy
from gslopes.slopes.report.decisions import Decision
from gslopes.slopes.report.loading import ChangedLabel, Sweep
from gslopes.slopes.report.pictures import picture

Array = NDArray[np.float64]
WIDTH = 7.0  # inches: two columns of a journal


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One label of the figure: per cent of the photos, mean score in per cent, or mean number.

    share, low, high: (K,) with the ends of the 95 % interval.  line: intercept and slope of the fitted line.
    slope, ends: as the table of slopes has them, in the unit of the label's measure.  moves: whether it is a finding.
    """

    label: str
    share: Array
    low: Array
    high: Array
    line: tuple[float, float]
    slope: float
    ends: tuple[float, float]
    moves: bool


def steepest(rows: pd.DataFrame, decided: Mapping[str, Decision], *, most: int = 5, least: int = 2) -> pd.DataFrame:
    """The labels to draw: those that move, the steepest first and expected ones last, ``most`` for each end.

    Where an end has fewer than ``least``, the ones with the smallest p-values of its other labels fill it up.

    rows: those to read of one classifier and attribute, in one unit.  decided: label to decision.

    Returns those rows with a column ``moves``, the negative end first.
    """
    judged = rows[rows["slope"].notna()]
    moves = [str(label) in decided and decided[str(label)].moves for label in judged["label"]]
    named = [str(label) in decided and decided[str(label)].expected for label in judged["label"]]
    judged = judged.assign(moves=np.array(moves, dtype=bool), _flat=-judged["slope"].abs(), _named=named)
    sides = []
    for side in (judged[judged["slope"] < 0], judged[judged["slope"] > 0]):
        first = side[side["moves"]].sort_values(["_named", "_flat", "label"])[:most]
        others = side[~side["moves"]].sort_values(["p", "_flat", "label"])[: max(0, least - len(first))]
        sides.append(pd.concat([first, others]))
    return pd.concat(sides).drop(columns=["_flat", "_named"])


def curves_figure(
    curves: list[Curve],
    values: Array,
    *,
    classifier: str,
    attribute: str,
    photos: int,
    measure: str = "presence",
    unit: str = units.UNITS["presence"],
) -> Figure:
    """Draw the shares over the values with bands and fitted lines, one panel for each end, labels at their lines.

    curves: of one classifier and attribute, in the order in which they take their colours.  values: (K,).
    photos: over which the shares or means are.  measure, unit: of every curve, see ``units``.
    """
    figure = new_figure(WIDTH, 3.3, dpi=200)
    shares = measure == "presence"
    axes = figure.subplots(1, 2, sharey=shares)
    figure.subplots_adjust(left=0.075, right=0.8, top=0.78, bottom=0.19, wspace=0.75)
    sides = [
        (axis, [curve for curve in curves if np.sign(curve.slope) == sign], colours)
        for axis, sign, colours in zip(axes, (-1, 1), (LIGHT.negative, LIGHT.positive), strict=True)
    ]
    for (axis, side, colours), end in zip(sides, words.ends(attribute), strict=True):
        _panel(axis, side, values, attribute, colours, f"{'More often' if shares else 'Higher'} toward {end}")
        if shares:
            top = min(axis.get_ylim()[1], 100.0)  # a line may leave the shares that there are
            axis.set_ylim(-0.02 * top if side else 0.0, 1.02 * top)
    axes[0].set_ylabel(_height(measure, unit), color=LIGHT.ink, fontsize=7, parse_math=False)
    for axis, side, colours in sides:
        _name_lines(axis, side, values, colours, units.writer(measure))
    name = words.shorten(words.printable(classifier), 60)
    about = f"{words.perceived(attribute)}, {words.many(photos, 'photo')}"
    lines = [(f"{name} · {about}", "bold", 8.0, LIGHT.ink)]
    lines += [(f"slopes in {unit}, 95 % intervals", "normal", 6.5, LIGHT.faint)]
    for place, (line, weight, size, colour) in enumerate(lines):
        height = 1 - (0.17 + 0.15 * place) / figure.get_figheight()
        figure.text(0.075, height, line, fontsize=size, weight=weight, color=colour, parse_math=False)
    return figure


def _panel(
    axes: Axes, curves: list[Curve], values: Array, attribute: str, colours: tuple[str, ...], title: str
) -> None:
    tidy(axes, size=6.5)
    sweep_axis(axes, values, _ticks(values))
    for index, curve in enumerate(curves):
        colour = colours[index % len(colours)]
        axes.fill_between(values, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0, zorder=2)
        fitted_line(axes, values, *curve.line, colour)
        axes.plot(
            values,
            curve.share,
            color=colour,
            marker=MARKERS[index % len(colours)],
            markersize=2.6,
            linewidth=1.2 if curve.moves else 0.7,
            markerfacecolor=colour if curve.moves else LIGHT.ground,
            zorder=4,
        )
    axes.set_xlabel(words.perceived(attribute), color=LIGHT.ink, fontsize=7, parse_math=False)
    axes.xaxis.labelpad = 10  # below the names of the ends
    negative, positive = words.ends(attribute)
    for end, place, align in ((f"← {negative}", 0.0, "left"), (f"{positive} →", 1.0, "right")):
        at: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "ha": align, "va": "top"}
        axes.annotate(
            end, (place, 0), (0, -11), **at, fontsize=6.5, color=LIGHT.faint, parse_math=False, annotation_clip=False
        )
    heading = title if curves else "No label in this direction"
    axes.set_title(heading, loc="left", fontsize=7.5, color=colours[0], parse_math=False)
    axes.tick_params(axis="x", pad=1.5)
    axes.grid(axis="y", color=LIGHT.shade, linewidth=0.6)
    axes.set_axisbelow(True)


def _height(measure: str, unit: str) -> str:
    """What the curves show."""
    if measure == "presence":
        return "photos with the label (%)"
    if measure == "value":
        return f"mean, {unit.removesuffix(' per unit')}" if unit != units.UNITS["value"] else "mean number"
    return "mean score (%)"


def _ticks(values: Array) -> Array:
    """Whole numbers if the sweep has three of them at least, else its values: more would lie on one another."""
    whole = np.arange(np.ceil(values[0]), np.floor(values[-1]) + 1)
    return whole if 3 <= len(whole) <= len(values) else values


def _name_lines(
    axes: Axes, curves: list[Curve], values: Array, colours: tuple[str, ...], write: numbers.Format
) -> None:
    """Name every curve at its last point, pushed apart where names would overlap."""
    low, high = axes.get_ylim()
    gap = (high - low) * 0.14
    heights = spread([float(curve.share[-1]) for curve in curves], gap, low + gap / 2, high - gap / 2)
    edge, wide = axes.get_xlim()[1], float(np.ptp(values))

    def short(slope: float) -> str:  # the figure's head has the unit
        return write(slope).removesuffix(" %")

    for index, (curve, height) in enumerate(zip(curves, heights, strict=True)):
        colour = colours[index % len(colours)]
        lead = ([values[-1], edge + 0.05 * wide], [curve.share[-1], height])
        axes.plot(*lead, color=colour, linewidth=0.6, clip_on=False)
        marker = MARKERS[index % len(colours)]
        axes.plot([edge + 0.07 * wide], [height], color=colour, marker=marker, markersize=3.0, clip_on=False)
        name = words.shorten(words.label(curve.label), 22)
        axes.text(
            edge + 0.1 * wide,
            height,
            f"{name}\n{numbers.with_interval(curve.slope, *curve.ends, short)}",
            color=LIGHT.ink,
            fontsize=6.2,
            va="center",
            linespacing=1.1,
            weight="bold" if curve.moves else "normal",
            parse_math=False,
        )
    axes.set_ylim(low, high)


# -- the contact sheet ------------------------------------------------------------------------------------------------

# All in units of one picture's side.
_LEFT, _GAP, _LINE, _HEAD = 1.55, 0.06, 0.15, 0.42


def sweeps_figure(sweeps: list[Sweep], values: NDArray[np.float64], *, attribute: str, run: Path) -> Figure:
    """Draw the contact sheet: a photo a row, a value a column; beneath, the score of each label that moved.

    A label is teal if its score on this photo grows towards the positive end, orange if towards the negative; the bar
    behind a number is as long as the score; a dash stands for a label that was not returned.  Where the face is small,
    the picture shows its surroundings only.

    sweeps: with K pictures each.  values: (K,).  run: the run folder; files outside it are not opened.
    """
    tall = [1 + _LINE * max(len(sweep.changed), 1) + 0.16 for sweep in sweeps]
    lefts = [_LEFT + step * (1 + _GAP) for step in range(len(values))]
    figure, axes = charts.new_sheet(lefts[-1] + 1 + _GAP, _HEAD + sum(tall), 1.35)
    text(axes, 0.08, 0.2, words.perceived(attribute), weight="bold", size=10, colour=LIGHT.ink)
    charts.sweep_heads(axes, values, attribute, [left + 0.5 for left in lefts])
    top = _HEAD
    for sweep, height in zip(sweeps, tall, strict=True):
        text(axes, 0.08, top + 0.08, words.shorten(words.printable(sweep.name), 26), size=9, colour=LIGHT.faint)
        for left, file in zip(lefts, sweep.files, strict=True):
            charts.picture(axes, picture(file, sweep.box, run), left, top)
        if not sweep.changed:
            text(axes, _LEFT, top + 1.1, "no label's score moved", size=8, colour=LIGHT.faint)
        for line, changed in enumerate(sweep.changed):
            _scores(axes, changed, lefts, top + 1.1 + line * _LINE)
        top += height
    # pictures set limits of their own
    axes.set_xlim(0, lefts[-1] + 1 + _GAP)
    axes.set_ylim(_HEAD + sum(tall), 0)
    return figure


def _scores(axes: Axes, changed: ChangedLabel, lefts: list[float], middle: float) -> None:
    colour = LIGHT.positive[1] if changed.slope > 0 else LIGHT.negative[1]
    name = words.shorten(words.label(changed.label), 24)
    text(axes, _LEFT - 0.08, middle, name, align="right", size=9, colour=colour, weight="bold")
    shown = numbers.apart(changed.scores)
    for left, score, number in zip(lefts, changed.scores, shown, strict=True):
        if not np.isnan(score):
            bar = (left, middle - _LINE * 0.4), float(np.clip(score, 0, 1)), _LINE * 0.8
            axes.add_patch(Rectangle(*bar, facecolor=colour, alpha=0.18, edgecolor="none"))
        ink = LIGHT.faint if np.isnan(score) else LIGHT.ink
        text(axes, left + 0.5, middle, number, align="center", size=9, colour=ink)
