"""Bars, arrows and curves of the crop audit's page, as SVG that says the same in words.

Here too: a pair's saliency map next to its crops, with its peaks in their order and every cell's score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from gslopes.report import numbers
from gslopes.report.charts import LIGHT, series, svg, svg_dot, svg_line, svg_rect, svg_text

FIRST, SECOND = "series-1", "neutral"  # variables of the palette: an order, no genders


@dataclass(frozen=True, slots=True)
class _Frame:
    """Axes: where x from ``low`` to ``high`` and y from ``bottom`` to ``top`` lie in the picture."""

    left: float
    above: float
    wide: float
    tall: float
    low: float
    high: float
    bottom: float
    top: float

    def x(self, value: float) -> float:
        """Pixels from the left."""
        return self.left + self.wide * (value - self.low) / (self.high - self.low)

    def y(self, value: float) -> float:
        """Pixels from above."""
        return self.above + self.tall * (self.top - value) / (self.top - self.bottom)

    def across(self, value: float, text: str, colour: str = "shade", dash: str = "") -> list[str]:
        """A horizontal line with its number."""
        y = self.y(value)
        line = svg_line(self.left, y, self.left + self.wide, y, colour, 1, dash)
        return [line, svg_text(self.left - 6, y + 4, text, "end", 11)]

    def below(self, value: float, text: str) -> str:
        """A number under the axis."""
        return svg_text(self.x(value), self.above + self.tall + 18, text, "middle", 11)

    def legend(self, index: int, name: str, width: float = 3) -> list[str]:
        """The n-th name right of the axes, with its colour."""
        x, y = self.left + self.wide + 12, self.above + 14 + 20 * index
        return [svg_line(x, y, x + 20, y, series(index), width), svg_text(x + 26, y + 4, name)]


def bars(rows: pd.DataFrame) -> str:
    """One bar a pair of groups, P of the first from the left, with both intervals and a line at one half.

    rows: of PARITY.
    """
    height, left, wide = 46 * len(rows) + 34, 250, 460
    parts: list[str] = []
    for index, row in enumerate(rows.to_dict("records")):
        y, p, few = 14 + 46 * index, float(row["p"]), bool(row["note"])
        parts += [
            svg_text(left - 10, y + 17, row["group"], "end", 14),
            svg_rect(left, y, p * wide, 24, FIRST, 0.25 if few else 0.85),
            svg_rect(left + p * wide, y, (1 - p) * wide, 24, SECOND, 0.35 if few else 1),
            svg_text(left + wide + 10, y + 17, row["other"], "start", 14),
            svg_text(left + p * wide, y - 2, numbers.points(100 * (p - 0.5)), "middle", 11),
        ]
        if np.isfinite(row["ci_low"]):
            low, high = (left + wide * float(row[end]) for end in ("ci_low", "ci_high"))
            parts += [svg_line(low, y + 12, high, y + 12, "ink", 3)]
            parts += [svg_line(end, y + 6, end, y + 18, "ink", 2) for end in (low, high)]
        half = wide * float(row["draws_half"])
        parts.append(svg_line(left + p * wide - half, y + 21, left + p * wide + half, y + 21, "card", 1.5))
    middle = left + wide / 2
    parts += [svg_line(middle, 4, middle, height - 24, "ink", 1, "4 3")]
    parts += [svg_text(middle, height - 8, "even: 50 %", "middle")]
    return svg(left + wide + 190, height, _bars_text(rows), parts)


def _bars_text(rows: pd.DataFrame) -> str:
    return "; ".join(
        f"{row['group']} over {row['other']}: {numbers.share(row['p'])} "
        f"({numbers.share_range(row['ci_low'], row['ci_high'])})"
        for row in rows.to_dict("records")
    )


def arrows(rows: pd.DataFrame) -> str:
    """Groups in a circle; each arrow leads to the less favoured one, with the deviation; gray where it may be none."""
    names = list(dict.fromkeys([*rows["group"], *rows["other"]]))
    size, radius = 520, 170
    angles = {name: 2 * math.pi * index / len(names) for index, name in enumerate(names)}
    at = {name: (size / 2 + radius * math.sin(a), size / 2 - radius * math.cos(a)) for name, a in angles.items()}
    parts = [
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="var(--soft)"/></marker></defs>'
    ]
    for row in rows.to_dict("records"):
        one, other = (row["group"], row["other"]) if row["p"] >= 0.5 else (row["other"], row["group"])
        unclear = not row["verdict"] or row["ci_low"] <= 0.5 <= row["ci_high"]
        (x0, y0), (x1, y1) = _shortened(at[one], at[other])
        colour, width = ("neutral", 1.2) if unclear else ("ink", 2.4)
        parts.append(svg_line(x0, y0, x1, y1, colour, width, end="head"))
        x, y = x0 + 0.4 * (x1 - x0), y0 + 0.4 * (y1 - y0)
        parts.append(svg_rect(x - 17, y - 9, 34, 17, "card", rounding=3))
        parts.append(svg_text(x, y + 4, numbers.size(100 * (row["p"] - 0.5)), "middle"))
    for name, (x, y) in at.items():
        parts += [svg_dot(x, y, FIRST, 8), svg_text(x, y + (26 if y >= size / 2 else -16), name, "middle", 13)]
    return svg(size, size, "Arrows lead to the less favoured group. " + _bars_text(rows), parts)


def _shortened(start: tuple[float, float], end: tuple[float, float]) -> tuple[tuple[float, float], tuple[float, float]]:
    length = math.hypot(end[0] - start[0], end[1] - start[1]) or 1.0
    dx, dy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    return (start[0] + 14 * dx, start[1] + 14 * dy), (end[0] - 14 * dx, end[1] - 14 * dy)


def distributions(
    values: Mapping[str, NDArray[np.float64]], title: str, extent: tuple[float, float] | None = None
) -> str:
    """Empirical distribution functions by group, with bands that hold everywhere at once (Dvoretzky-Kiefer-Wolfowitz).

    values: group to its persons' numbers.  extent: ends of the axis, so that panels can be compared; their own if None.
    """
    known = {name: np.sort(sample[~np.isnan(sample)]) for name, sample in values.items()}
    known = {name: sample for name, sample in known.items() if len(sample)}
    whole = np.concatenate(list(known.values()))
    low, high = extent or (float(whole.min()), float(whole.max()))
    frame = _Frame(48, 24, 380, 230, low, high if high > low else low + 1, 0, 1)
    description = "; ".join(f"{name} median {np.median(sample):.3g} of {len(sample)}" for name, sample in known.items())
    parts = [svg_text(frame.left, 14, title, "start", 13)]
    for level in (0, 0.25, 0.5, 0.75, 1):
        parts += frame.across(level, f"{level:g}")
    parts += [frame.below(end, numbers.value(end)) for end in (frame.low, (frame.low + frame.high) / 2, frame.high)]
    for index, (name, sample) in enumerate(known.items()):
        n = len(sample)
        band = math.sqrt(math.log(2 / 0.05) / (2 * n))
        share = np.arange(1, n + 1) / n
        upper, lower = (np.clip(share + sign * band, 0, 1) for sign in (1, -1))
        around = [*zip(sample, upper, strict=True), *zip(sample[::-1], lower[::-1], strict=True)]
        points = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in around)
        parts.append(f'<polygon points="{points}" fill="var(--{series(index)})" fill-opacity="0.1"/>')
        steps = "".join(f"H{frame.x(x):.1f}V{frame.y(y):.1f}" for x, y in zip(sample, share, strict=True))
        path = f"M{frame.left} {frame.above + frame.tall}{steps}"
        parts.append(f'<path d="{path}" fill="none" stroke="var(--{series(index)})" stroke-width="2"/>')
        parts += frame.legend(index, f"{name} ({n})")
    return svg(frame.left + frame.wide + 170, frame.above + frame.tall + 46, f"{title}: {description}", parts)


def scatter(rows: pd.DataFrame) -> str:
    """Policies: how far each deviates from even, against how often both people are shown (exposure)."""
    percent = 100 * rows[["deviation", "deviation_low", "deviation_high"]].to_numpy(np.float64)
    reach = max(5.0, 1.15 * float(np.nanmax(np.abs(percent))))
    frame = _Frame(56, 20, 420, 240, 0, 0.5, -reach, reach)
    parts = frame.across(0, "0", "soft", "4 3")
    for end in (reach, -reach):
        parts.append(svg_text(frame.left - 8, frame.y(end) + 4, numbers.points(end, 0), "end", 11))
    bottom = frame.above + frame.tall
    parts.append(svg_text(frame.x(0.25), bottom + 34, "exposure: mean share of the less shown person", "middle"))
    parts += [frame.below(place, f"{place:g}") for place in (0.0, 0.25, 0.5)]
    described = []
    for index, (row, (y, low, high)) in enumerate(zip(rows.to_dict("records"), percent, strict=True)):
        x = frame.x(min(float(row["exposure"]), 0.5))
        if np.isfinite(low):
            parts.append(svg_line(x, frame.y(low), x, frame.y(high), series(index), 2))
        parts.append(svg_dot(x, frame.y(y), series(index)))
        parts += frame.legend(index, row["policy"], 8)
        described.append(f"{row['policy']} {numbers.points(y)} points")
    description = f"Deviation from even by policy: {'; '.join(described)}"
    return svg(frame.left + frame.wide + 150, bottom + 44, description, parts)


def sweep_lines(curves: Sequence[tuple[str, NDArray[np.float64], NDArray[np.float64]]], title: str) -> str:
    """P(favoured) against the value of the attribute: the sweep and, dashed, its placebos."""
    ends = curves[0][1]
    reach = max(0.02, 1.2 * max(float(np.abs(y - 0.5).max()) for _, _, y in curves))
    frame = _Frame(56, 28, 400, 230, float(ends[0]), float(ends[-1]), 0.5 - reach, 0.5 + reach)
    parts = [svg_text(frame.left, 16, title, "start", 13)]
    for share in (0.5 - reach, 0.5, 0.5 + reach):
        parts += frame.across(share, numbers.decimal(100 * share, 1))
    parts += [frame.below(value, numbers.value(value)) for value in ends]
    for index, (name, across, shares) in enumerate(curves):
        points = " ".join(f"{frame.x(a):.1f},{frame.y(b):.1f}" for a, b in zip(across, shares, strict=True))
        dash = ' stroke-dasharray="5 4"' if index else ""
        line = f'fill="none" stroke="var(--{series(index)})" stroke-width="2.2"{dash}'
        parts += [f'<polyline points="{points}" {line}/>', *frame.legend(index, name)]
    description = "; ".join(f"{name} {numbers.share(y[0])} to {numbers.share(y[-1])}" for name, _, y in curves)
    return svg(frame.left + frame.wide + 300, frame.above + frame.tall + 40, f"{title}: {description}", parts)


Array = NDArray[np.float64]
STRIP = 44  # pixels of the line of scores


def with_map(drawn: Image.Image, plain: Image.Image, row: Mapping[Any, Any]) -> Image.Image:
    """The drawn pair with its map and the line of its scores below.

    drawn: the pair with its frames, RGB.  plain: without them, of the same size.  row: of DRAWN_MAPS.
    """
    scores = np.asarray(row["values"], np.float64).reshape(int(row["rows"]), int(row["columns"]))
    spread = float(np.ptp(scores)) or 1.0
    levels = (scores - scores.min()) / spread
    heat = Image.fromarray((255 * colormaps["viridis"](levels)[..., :3]).astype(np.uint8))
    gray = plain.convert("L").convert("RGB")
    below = Image.blend(gray, heat.resize(drawn.size, Image.Resampling.BILINEAR), 0.6)
    pen = ImageDraw.Draw(below)
    peaks = np.asarray(row["peaks"], np.float64).reshape(-1, 2) * drawn.size
    for rank, (x, y) in enumerate(peaks, start=1):
        pen.ellipse([x - 8, y - 8, x + 8, y + 8], fill="white", outline="black")
        pen.text((x, y), str(rank), fill="black", anchor="mm")
    whole = Image.new("RGB", (drawn.width, drawn.height + below.height + 2 + STRIP), "white")
    whole.paste(drawn, (0, 0))
    whole.paste(below, (0, drawn.height + 2))
    _line(ImageDraw.Draw(whole), levels, drawn.width, whole.height)
    return whole


def _line(pen: ImageDraw.ImageDraw, levels: Array, width: int, bottom: int) -> None:
    rows = len(levels)
    for row in range(1, rows) if rows <= width // 6 else ():
        pen.line([(width * row / rows, bottom - STRIP + 2), (width * row / rows, bottom)], fill=LIGHT.neutral)
    flat = levels.ravel()
    across = (np.arange(len(flat)) + 0.5) * width / len(flat)
    down = bottom - 3 - (STRIP - 8) * flat
    pen.line([(float(x), float(y)) for x, y in zip(across, down, strict=True)], fill=LIGHT.series[0])
