"""After Figure 2 of the paper, in points: how often labels appear along the sweep.  Matplotlib without a display."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
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
from gslopes.report.decisions import Decision

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of a figure; in each row of labels they differ by lightness too, and by marker."""

    ink: str
    faint: str
    shade: str
    ground: str
    negative: tuple[str, ...]
    positive: tuple[str, ...]


# Red for the labels pulled to the negative end, blue for the positive.
LIGHT = Theme(
    ink="#1d2430",
    faint="#8a93a1",
    shade="#f1f3f6",
    ground="white",
    negative=("#8f1414", "#c8371f", "#e0762f", "#a8516e", "#d9908a", "#6b4a3a"),
    positive=("#123f7a", "#1f6fc0", "#1b97a6", "#5a5fb8", "#7fb2dc", "#3c5a66"),
)
DARK = Theme(
    ink="#e7e9ee",
    faint="#77818f",
    shade="#262b34",
    ground="#1c2027",
    negative=("#ff8f80", "#ffb199", "#f0a35e", "#e58fb0", "#ffc9c2", "#c79a85"),
    positive=("#82b9ff", "#5fd0dd", "#a9acff", "#b9dcff", "#8fb6c4", "#6aa5ff"),
)
REDS, BLUES, INK, FAINT, SHADE = LIGHT.negative, LIGHT.positive, LIGHT.ink, LIGHT.faint, LIGHT.shade
WIDTHS = {"": 7.0, "-narrow": 3.3}  # inches: two columns of a journal, and one
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
    """One label of the figure, everything in per cent of the photos.

    share, low, high: (K,) with the ends of the 95 % interval.  line: intercept and slope of the fitted line.
    slope, ends: as the table of slopes has them, percentage points per unit.  moves: whether it is a finding.
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
    """The labels to draw: those that move, the steepest first, ``most`` for each end.

    Where an end has fewer than ``least``, the ones with the smallest p-values of its other labels fill it up.

    rows: photo-rate rows of one classifier and attribute.  decided: label to decision.

    Returns those rows with a column ``moves``, the negative end first.
    """
    judged = rows[rows["slope"].notna()]
    moves = [str(label) in decided and decided[str(label)].moves for label in judged["label"]]
    judged = judged.assign(moves=np.array(moves, dtype=bool), _flat=-judged["slope"].abs())
    sides = []
    for side in (judged[judged["slope"] < 0], judged[judged["slope"] > 0]):
        first = side[side["moves"]].sort_values(["_flat", "label"])[:most]
        others = side[~side["moves"]].sort_values(["p", "_flat", "label"])[: max(0, least - len(first))]
        sides.append(pd.concat([first, others]))
    return pd.concat(sides).drop(columns="_flat")


def curves_figure(
    curves: list[Curve],
    values: Array,
    *,
    classifier: str,
    attribute: str,
    photos: int,
    theme: Theme = LIGHT,
    width: float = WIDTHS[""],
) -> Figure:
    """Draw the shares over the values with bands and fitted lines, one panel for each end, each label named beside it.

    curves: of one classifier and attribute, in the order in which they take their colours.  values: (K,).
    photos: over which the shares are.  width: inches; below 5 the panels stand one above the other.
    """
    narrow = width < 5
    figure = Figure(figsize=(width, 5.2 if narrow else 3.3), dpi=200, facecolor=theme.ground)
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 1) if narrow else figure.subplots(1, 2, sharey=True)
    wide = {"left": 0.075, "right": 0.8, "top": 0.78, "bottom": 0.19, "wspace": 0.75}
    room = {"left": 0.15, "right": 0.6, "top": 0.84, "bottom": 0.11, "hspace": 0.55} if narrow else wide
    figure.subplots_adjust(**room)
    for axis, sign, colours in zip(axes, (-1, 1), (theme.negative, theme.positive), strict=True):
        side = [curve for curve in curves if np.sign(curve.slope) == sign]
        end = words.ends(attribute)[0 if sign < 0 else 1]
        _panel(axis, side, values, attribute, colours, f"More often toward {end}", theme)
    for axis in axes if narrow else axes[:1]:
        axis.set_ylabel("photos with the label (%)", color=theme.ink, fontsize=7)
    for axis, sign, colours in zip(axes, (-1, 1), (theme.negative, theme.positive), strict=True):
        _name_lines(axis, [curve for curve in curves if np.sign(curve.slope) == sign], values, colours, narrow, theme)
    name = words.shorten(words.printable(classifier), 38 if narrow else 60)
    about = f"{words.perceived(attribute)}, {photos:,} photos"
    title = name if narrow else f"{name} · {about}"
    note = "slopes in percentage points per unit, 95 % intervals"
    lines = [(title, "bold", 8.0, theme.ink), *([(about, "normal", 7.0, theme.ink)] if narrow else [])]
    for place, (text, weight, size, colour) in enumerate([*lines, (note, "normal", 6.5, theme.faint)]):
        height = 1 - (0.17 + 0.15 * place) / figure.get_figheight()
        figure.text(room["left"], height, text, fontsize=size, weight=weight, color=colour, parse_math=False)
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
    axes: Axes, curves: list[Curve], values: Array, attribute: str, colours: tuple[str, ...], title: str, theme: Theme
) -> None:
    axes.set_facecolor(theme.ground)
    axes.axvspan(-1, 1, color=theme.shade, zorder=0, linewidth=0)
    ends = np.array([values[0], values[-1]])
    for index, curve in enumerate(curves):
        colour = colours[index % len(colours)]
        axes.fill_between(values, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0, zorder=2)
        axes.plot(
            ends, curve.line[0] + curve.line[1] * ends, color=colour, linewidth=0.9, linestyle=(0, (4, 2)), zorder=3
        )
        axes.plot(
            values,
            curve.share,
            color=colour,
            marker=_MARKERS[index % len(_MARKERS)],
            markersize=2.6,
            linewidth=1.2 if curve.moves else 0.7,
            markerfacecolor=colour if curve.moves else theme.ground,
            zorder=4,
        )
    negative, positive = words.ends(attribute)
    ticks = _ticks(values)
    axes.set_xticks(ticks, [f"{value:.3g}".replace("-", "−") for value in ticks])
    axes.set_xlabel(words.perceived(attribute), color=theme.ink, fontsize=7, parse_math=False)
    for text, place, align in ((f"← {negative}", 0.0, "left"), (f"{positive} →", 1.0, "right")):
        at: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "ha": align, "va": "top"}
        axes.annotate(
            text, (place, 0), (0, -11), **at, fontsize=6.5, color=theme.faint, parse_math=False, annotation_clip=False
        )
    heading = title if curves else "No label in this direction"
    axes.set_title(heading, loc="left", fontsize=7.5, color=colours[0], parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    for spine in axes.spines.values():
        spine.set_color(theme.faint)
    axes.tick_params(colors=theme.ink, labelsize=6.5, width=0.6, length=2.5)
    axes.tick_params(axis="x", pad=1.5)
    axes.grid(axis="y", color=theme.shade, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlim(values[0] - 0.03 * np.ptp(values), values[-1] + 0.03 * np.ptp(values))
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]) if curves else 0.0)
    axes.xaxis.labelpad = 10  # below the names of the ends


def _ticks(values: Array) -> Array:
    """Whole numbers if the sweep has three of them at least, else its values: more would lie on one another."""
    whole = np.arange(np.ceil(values[0]), np.floor(values[-1]) + 1)
    return whole if 3 <= len(whole) <= len(values) else values


def _name_lines(
    axes: Axes, curves: list[Curve], values: Array, colours: tuple[str, ...], narrow: bool, theme: Theme
) -> None:
    """Name every curve beside its last point, pushed apart where names would overlap."""
    low, high = axes.get_ylim()
    gap = (high - low) * (0.19 if narrow else 0.14)
    heights = spread([float(curve.share[-1]) for curve in curves], gap, low + gap / 2, high - gap / 2)
    edge = axes.get_xlim()[1]
    for index, (curve, height) in enumerate(zip(curves, heights, strict=True)):
        colour = colours[index % len(colours)]
        name = words.shorten(words.printable(curve.label), 22)
        number = f"{words.points(curve.slope)} {words.points_interval(*curve.ends)}"
        ends = ([values[-1], edge + 0.05 * np.ptp(values)], [curve.share[-1], height])
        axes.plot(*ends, color=colour, linewidth=0.6, clip_on=False)
        mark: dict[str, Any] = {"marker": _MARKERS[index % len(_MARKERS)], "markersize": 3.0, "clip_on": False}
        axes.plot([edge + 0.07 * np.ptp(values)], [height], color=colour, **mark)
        axes.text(
            edge + 0.1 * np.ptp(values),
            height,
            f"{name}\n{number.replace('-', '−')}",
            color=theme.ink,
            fontsize=6.2,
            va="center",
            linespacing=1.1,
            weight="bold" if curve.moves else "normal",
            parse_math=False,
        )
    axes.set_ylim(low, high)


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
    positions = [start + offset * gap for start, size in groups for offset in range(size)]
    for index in range(len(positions) - 1, -1, -1):
        ceiling = high if index == len(positions) - 1 else positions[index + 1] - gap
        positions[index] = min(positions[index], ceiling)
    result = [0.0] * len(heights)
    for index, place in zip(order, positions, strict=True):
        result[index] = place
    return result
