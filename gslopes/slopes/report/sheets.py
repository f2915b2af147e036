"""After Figure 3 of the paper: edited photos in rows, the labels' scores beneath them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from gslopes.report import charts, numbers, words
from gslopes.report.charts import LIGHT, text
from gslopes.slopes.report.pictures import picture
from gslopes.slopes.report.tally import ChangedLabel, Sweep

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
