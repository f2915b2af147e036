"""Figure 2 of the paper: how often the steepest labels appear along the sweep.  Matplotlib without a display."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gslopes.report import words
from gslopes.report.tables import past_thresholds

# Red for the labels pulled to the negative end, blue for the positive; told apart in each by lightness and by marker.
REDS = ("#8f1414", "#c8371f", "#e0762f", "#a8516e", "#d9908a", "#6b4a3a")
BLUES = ("#123f7a", "#1f6fc0", "#1b97a6", "#5a5fb8", "#7fb2dc", "#3c5a66")
INK, FAINT, SHADE = "#1d2430", "#8a93a1", "#f1f3f6"
_MARKERS = "osD^vP"
Form = Literal["png", "pdf", "svg"]
FORMS: tuple[Form, ...] = ("png", "pdf", "svg")
_NAMELESS: dict[Form, dict[str, None]] = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
}


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One label of the figure: its row in the slopes table, z_k (K,), and whether it is past the thresholds."""

    row: pd.Series
    z: NDArray[np.float64]
    past: bool


def steepest(slopes: pd.DataFrame, *, p: float, slope: float, most: int = 6, least: int = 3) -> pd.DataFrame:
    """The labels to draw: past the thresholds, the steepest first, ``most`` for each end.

    Where an end has fewer than ``least``, the ones with the smallest p-values of its other labels fill it up.

    slopes: rows of one classifier, attribute and estimator.

    Returns those rows with a column ``past``, the negative end first.
    """
    judged = slopes[slopes["slope"].notna()]
    judged = judged.assign(past=past_thresholds(judged, p=p, slope=slope), _flat=-judged["slope"].abs())
    sides = []
    for side in (judged[judged["slope"] < 0], judged[judged["slope"] > 0]):
        first = side[side["past"]].sort_values(["_flat", "label"])[:most]
        others = side[~side["past"]].sort_values(["p", "_flat", "label"])[: max(0, least - len(first))]
        sides.append(pd.concat([first, others]))
    return pd.concat(sides).drop(columns="_flat")


def draw_curves(curves: list[Curve], values: NDArray[np.float64], *, classifier: str, attribute: str) -> bytes:
    """The bytes of ``curves_figure`` as a PNG."""
    return to_png(curves_figure(curves, values, classifier=classifier, attribute=attribute))


def curves_figure(curves: list[Curve], values: NDArray[np.float64], *, classifier: str, attribute: str) -> Figure:
    """Draw z_k over the values, one panel for each end, each label named at the end of its curve with its slope.

    curves: of one classifier and attribute, in the order in which they take their colours.
    values: (K,) of the attribute.
    """
    figure = Figure(figsize=(12.4, 5.2), dpi=150, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 2, sharey=True)
    figure.subplots_adjust(left=0.062, right=0.82, top=0.85, bottom=0.13, wspace=0.68)
    for panel, sign, colours, end in zip(axes, (-1, 1), (REDS, BLUES), words.ends(attribute), strict=True):
        side = [curve for curve in curves if np.sign(curve.row["slope"]) == sign]
        _panel(panel, side, values, attribute, colours, f"More often the more {end} the face looks")
    axes[0].set_ylabel("photos with the label, relative to the centre", color=INK)
    _name_lines(axes, curves, values)
    photos = int(curves[0].row["n"]) if curves else 0
    title = f"{words.shorten(words.printable(classifier), 60)}  ·  {words.perceived(attribute)}  ·  {photos:,} photos"
    figure.text(0.062, 0.945, title, fontsize=13, weight="bold", color=INK, parse_math=False)
    return figure


def to_png(figure: Figure) -> bytes:
    """Render a figure as PNG; see ``render``."""
    return render(figure, "png")


def render(figure: Figure, form: Form) -> bytes:
    """The bytes of a figure; the same figure gives the same bytes, which name no program and no date.

    In PDF and SVG texts stay texts, of fonts that are embedded (PDF) or named (SVG).
    """
    buffer = io.BytesIO()
    fonts: dict[Any, Any] = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "gslopes"}
    with warnings.catch_warnings(), rc_context(fonts):
        # a label may be in a script that the font lacks: a box in the picture, the right name in the tables
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*missing from")
        figure.savefig(buffer, format=form, metadata=_NAMELESS[form])
    return buffer.getvalue()


def _panel(
    axes: Axes, curves: list[Curve], values: NDArray[np.float64], attribute: str, colours: tuple[str, ...], title: str
) -> None:
    axes.axvspan(-1, 1, color=SHADE, zorder=0, linewidth=0)
    axes.axhline(1, color=FAINT, linewidth=1, zorder=1)
    for index, curve in enumerate(curves):
        axes.plot(
            values,
            curve.z,
            color=colours[index % len(colours)],
            marker=_MARKERS[index % len(_MARKERS)],
            markersize=5,
            linewidth=2 if curve.past else 1.2,
            linestyle="-" if curve.past else (0, (4, 2)),
            zorder=3,
        )
    negative, positive = words.ends(attribute)
    axes.set_xticks(values, [f"{value:.3g}".replace("-", "−") for value in values])
    axes.set_xlabel(
        f"←  {negative}          {words.perceived(attribute)}          {positive}  →", color=INK, parse_math=False
    )
    axes.set_title(
        title if curves else "No label in this direction", loc="left", fontsize=11, color=colours[0], parse_math=False
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, labelsize=9)
    axes.grid(axis="y", color="#dfe3e8", linewidth=0.7)
    axes.set_xlim(values[0] - 0.03 * np.ptp(values), values[-1] + 0.03 * np.ptp(values))


def _name_lines(axes: NDArray[np.object_], curves: list[Curve], values: NDArray[np.float64]) -> None:
    """Name every curve beside its last point, pushed apart where names would overlap."""
    low, high = axes[0].get_ylim()
    gap = (high - low) * 0.088
    for panel, sign, colours in zip(axes, (-1, 1), (REDS, BLUES), strict=True):
        side = [curve for curve in curves if np.sign(curve.row["slope"]) == sign]
        heights = spread([float(curve.z[-1]) for curve in side], gap, low + gap / 2, high - gap / 2)
        edge = panel.get_xlim()[1]
        for index, (curve, height) in enumerate(zip(side, heights, strict=True)):
            colour, row = colours[index % len(colours)], curve.row
            name = words.shorten(words.printable(row["label"]), 26)
            number = f"{words.signed(row['slope'])} [{words.signed(row['ci_low'])}, {words.signed(row['ci_high'])}]"
            ends = ([values[-1], edge + 0.06 * np.ptp(values)], [curve.z[-1], height])
            panel.plot(*ends, color=colour, linewidth=0.6, clip_on=False, alpha=0.6)
            panel.text(
                edge + 0.08 * np.ptp(values),
                height,
                f"{name}\n{number.replace('-', '−')}",
                color=colour,
                fontsize=8.5,
                va="center",
                linespacing=1.1,
                weight="bold" if curve.past else "normal",
                parse_math=False,
            )
    axes[0].set_ylim(low, high)


def spread(heights: list[float], gap: float, low: float, high: float) -> list[float]:
    """Heights moved as little as needed to lie ``gap`` apart and, if there is room, between ``low`` and ``high``.

    >>> spread([1.0, 1.0, 3.0], 0.5, 0.0, 4.0)
    [0.75, 1.25, 3.0]
    """
    order = sorted(range(len(heights)), key=lambda index: heights[index])
    groups: list[tuple[float, int]] = []  # (lowest place, members), from the bottom up
    for index in order:
        start, size = max(heights[index], low), 1
        # A group that reaches into the one below joins it, and both are centred on where their members want to be.
        while groups and groups[-1][0] + groups[-1][1] * gap > start:
            below, members = groups.pop()
            middle = (below + (members - 1) * gap / 2) * members + (start + (size - 1) * gap / 2) * size
            size += members
            start = max(middle / size - (size - 1) * gap / 2, low)
        groups.append((start, size))
    places = [start + offset * gap for start, size in groups for offset in range(size)]
    for index in range(len(places) - 1, -1, -1):
        ceiling = high if index == len(places) - 1 else places[index + 1] - gap
        places[index] = min(places[index], ceiling)
    result = [0.0] * len(heights)
    for index, place in zip(order, places, strict=True):
        result[index] = place
    return result
