"""What all charts share: the palette, which is the page's own, axes, and dots with intervals."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gslopes.core import frozen, runfolder
from gslopes.core.records import Array, ByteArray, doubles
from gslopes.report import fonts, inline, numbers, words

if TYPE_CHECKING:  # matplotlib takes its time, and pages of SVG do without
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Form = Literal["png", "pdf"]
FORMS: tuple[Form, ...] = ("png", "pdf")
MARKERS = "osD^vPX*"
WIDEST = 3
DASHED = (0, (4, 2))
# Frames on photos: bright, whatever lies below them.
FRAMES = ("#ffcc33", "#33ddff", "#ff66cc", "#66ff66", "#ff8844", "#bb99ff")
FOCUS = "#d0021b"
_NAMELESS: dict[Form, dict[str, None]] = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
}


# -- the palette ------------------------------------------------------------------------------------------------------


_ROOT = re.findall(
    r":root \{(.*?)\}", (inline.TEMPLATES / "page.css").read_text("utf-8"), re.DOTALL
)[0]  # of light pages
_COLOURS = dict(re.findall(r"--([\w-]+): (#\w+)", _ROOT))


def _ramp(name: str) -> list[str]:
    return [colour for key, colour in _COLOURS.items() if re.fullmatch(rf"{name}-\d", key)]


# negative, positive: of labels pulled to either end, orange and teal; they differ by lightness too.
# series: of things without a direction.
LIGHT = SimpleNamespace(
    **_COLOURS,
    negative=_ramp("neg"),
    positive=_ramp("pos"),
    series=_ramp("series"),
)


# -- figures ----------------------------------------------------------------------------------------------------------


def new_figure(width: float, height: float, *, dpi: int = 150, layout: Any = None) -> Figure:
    """An empty figure that needs no display.  width, height: inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=dpi, facecolor=LIGHT.card, layout=layout)
    FigureCanvasAgg(figure)
    return figure


def new_sheet(across: float, down: float, inches: float, *, dpi: int = 150) -> tuple[Figure, Axes]:
    """A figure whose only axes fill it, without ticks, y downwards.  across, down: in units of ``inches``."""
    figure = new_figure(across * inches, down * inches, dpi=dpi)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, across)
    axes.set_ylim(down, 0)
    return figure, axes


def render(figure: Figure, form: Form = "png") -> bytes:
    """The bytes of a figure; the same figure gives the same bytes, which name no program and no date.

    In PDF texts stay texts, of fonts that are embedded. Letters that no font here has are boxes, see ``fonts.advice``.
    """
    from matplotlib import rc_context

    buffer = io.BytesIO()
    fonts.fit(figure)
    embedded: dict[Any, Any] = {"pdf.fonttype": 42}
    with warnings.catch_warnings(), rc_context(embedded):
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*missing from")
        figure.savefig(buffer, format=form, metadata=_NAMELESS[form])
    return buffer.getvalue()


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure in all forms.  Raises: StorageError."""
    for form in FORMS:
        runfolder.write_bytes(folder / f"{name}.{form}", render(figure, form))


def tidy(axes: Axes, *, size: float = 8) -> None:
    """Two spines, small ticks, the theme's colours.  size: of tick labels, points."""
    axes.set_facecolor(LIGHT.card)
    axes.spines[["top", "right"]].set_visible(False)
    for spine in axes.spines.values():
        spine.set_color(LIGHT.edge)
    axes.tick_params(colors=LIGHT.ink, labelsize=size, width=0.6, length=2.5)


def text(axes: Axes, x: float, y: float, content: str, **style: Any) -> None:
    """Untrusted text, middle line at y; nothing in it is taken for mathematics.  style: as ``Axes.text`` takes it."""
    usual: dict[str, Any] = {"va": "center", "color": LIGHT.ink, "parse_math": False}
    axes.text(x, y, content, **(usual | style))


def sweep_axis(axes: Axes, values: Array, ticks: Array) -> None:
    """The values of an attribute along x; shaded: the range that the editor saw in training."""
    axes.axvspan(-1, 1, color=LIGHT.shade, zorder=0, linewidth=0)
    axes.set_xticks(ticks, [numbers.value(tick) for tick in ticks])
    reach = 0.03 * float(np.ptp(values))
    axes.set_xlim(values[0] - reach, values[-1] + reach)


def fitted_line(
    axes: Axes,
    values: Array,
    intercept: float,
    slope: float,
    colour: str,
) -> None:
    """A dashed line over the whole sweep."""
    ends = np.array([values[0], values[-1]])
    axes.plot(
        ends, intercept + slope * ends, color=colour, linewidth=0.9, linestyle=DASHED, zorder=3
    )


def sweep_heads(axes: Axes, values: Array, attribute: str, middles: Sequence[float]) -> None:
    """Above the columns of a sheet, whose middles are (K,): each value, and what both ends and the middle are."""
    negative, positive = words.ends(attribute)
    notes = {int(step): "neutral" for step in np.flatnonzero(values == 0)}
    notes |= {0: f"← {negative}", len(values) - 1: f"{positive} →"}
    for step, (value, middle) in enumerate(zip(values, middles, strict=True)):
        text(axes, middle, 0.13, notes.get(step, ""), size=9, ha="center", color=LIGHT.edge)
        text(axes, middle, 0.29, numbers.value(value), size=9.5, ha="center", weight="bold")


def picture(
    axes: Axes,
    pixels: ByteArray | None,
    left: float,
    top: float,
    side: float = 1.0,
) -> None:
    """A square picture (S, S, 3) uint8 RGB on a sheet; a grey square with a note if it is missing."""
    from matplotlib.patches import Rectangle

    if pixels is None:
        axes.add_patch(Rectangle((left, top), side, side, facecolor=LIGHT.shade, edgecolor="none"))
        middle = left + side / 2, top + side / 2
        text(axes, *middle, "no picture", size=8, ha="center", color=LIGHT.edge)
    else:
        axes.imshow(
            pixels,
            extent=(left, left + side, top + side, top),
            aspect="auto",
            interpolation="antialiased",
        )


# -- SVG in a page: colours are the page's variables, so that it follows light and dark -------------------------------


def whisker(low: float, value: float, high: float, scale: float) -> dict[str, float]:
    """The positions of an interval and its value in a strip 120 wide, -scale to scale, and which ends are cut."""
    left, right, middle = (
        round(60 + 58 * float(np.clip(x / scale, -1, 1)), 1) for x in (low, high, value)
    )
    cut = {"cut_low": bool(-low > scale), "cut_high": bool(high > scale)}
    return {"low": left, "high": right, "at": middle, **cut}


@frozen
class Mark:
    """A row of a chart in HTML: a name, a number as text, and its interval in a strip.

    number: the value and both ends of its interval, NaN for none.
    colour: neg, pos, or empty for the soft one.  title: the exact name, shown on hover.
    """

    name: str
    text: str
    number: tuple[float, float, float]
    colour: str = ""
    title: str = ""


def panel(marks: Sequence[Mark], unit: str, title: str = "", middle: float = 0) -> dict[str, Any]:
    """Marks on one scale, as the macro ``chart`` of parts.html.j2 draws them.  middle: what lies in their middle.

    An interval that holds the middle and is ``WIDEST`` times as long as a usual one, as of a group of two, stretches
    no axis: it is cut.
    """
    numbers = doubles([mark.number for mark in marks]) - middle
    value, low, high = np.where(np.isnan(numbers), numbers[:, :1], numbers).T
    reach = np.abs([value, low, high]).max(axis=0)
    usual = np.sort(reach[reach > 0])
    limit = WIDEST * usual[(len(usual) - 1) // 2] if len(usual) else 0.0
    apart = (numbers[:, 1] > 0) | (numbers[:, 2] < 0)
    reach[~apart & (reach > limit)] = limit
    scale = float(reach[np.isfinite(reach)].max(initial=0.0)) or 1.0
    places = [whisker(*row, scale) for row in zip(low, value, high, strict=True)]
    return {
        "unit": unit,
        "title": title,
        "middle": middle,
        "cut": any(place["cut_low"] or place["cut_high"] for place in places),
        "rows": list(zip(marks, places, strict=True)),
    }
