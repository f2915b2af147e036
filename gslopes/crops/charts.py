"""Bars and curves of the crop audits' pages, as SVG that says the same in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.report import numbers
from gslopes.report.charts import series, svg, svg_line, svg_rect, svg_text

Array = NDArray[np.float64]
FIRST, SECOND = "series-1", "neutral"  # variables of the palette: an order, no genders
LEFT, ABOVE, WIDE, TALL = 56, 26, 400, 230  # where the axes of curves lie, pixels


def bars(rows: pd.DataFrame) -> str:
    """One bar a pair of groups, P of the first from the left, with both intervals and a line at one half.

    rows: of PARITY.
    """
    height, left, wide = 46 * len(rows) + 34, 250, 460
    parts: list[str] = []
    texts: list[str] = []
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
        ends = numbers.share_range(row["ci_low"], row["ci_high"])
        texts.append(f"{row['group']} over {row['other']}: {numbers.share(row['p'])} ({ends})")
    middle = left + wide / 2
    parts += [svg_line(middle, 4, middle, height - 24, "ink", 1, "4 3")]
    parts += [svg_text(middle, height - 8, "even: 50 %", "middle")]
    return svg(left + wide + 190, height, "; ".join(texts), parts)


@dataclass(frozen=True, slots=True)
class _Axes:
    """Axes: x from ``low`` to ``high``, y from ``bottom`` to ``top``."""

    low: float
    high: float
    bottom: float
    top: float

    def points(self, x: Array, y: Array) -> str:
        """Points of a line."""
        across = LEFT + WIDE * (x - self.low) / (self.high - self.low)
        down = ABOVE + TALL * (self.top - y) / (self.top - self.bottom)
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))

    def drawn(self, title: str, levels: Mapping[float, str], names: Mapping[str, str], lines: Sequence[str]) -> str:
        """The whole picture.  levels: y to what is written there.  names: of the curves, to what is said of each."""
        parts = [svg_text(LEFT, 14, title, "start", 13)]
        for level, text in levels.items():
            y = ABOVE + TALL * (self.top - level) / (self.top - self.bottom)
            parts += [svg_line(LEFT, y, LEFT + WIDE, y, "shade", 1), svg_text(LEFT - 6, y + 4, text, "end", 11)]
        for share in (0, 0.5, 1):
            value = numbers.value(self.low + share * (self.high - self.low))
            parts.append(svg_text(LEFT + share * WIDE, ABOVE + TALL + 18, value, "middle", 11))
        parts += lines
        for index, name in enumerate(names):
            x, y = LEFT + WIDE + 12, ABOVE + 14 + 20 * index
            parts += [svg_line(x, y, x + 20, y, series(index), 3), svg_text(x + 26, y + 4, name)]
        description = "; ".join(f"{name} {text}" for name, text in names.items())
        return svg(LEFT + WIDE + 300, ABOVE + TALL + 40, f"{title}: {description}", parts)


def distributions(values: Mapping[str, Array], title: str, extent: tuple[float, float]) -> str:
    """Empirical distribution functions by group, with bands that hold everywhere at once (Dvoretzky-Kiefer-Wolfowitz).

    values: group to its persons' numbers.  extent: ends of the axis, the same for panels that are compared.
    """
    samples = {name: np.sort(sample[~np.isnan(sample)]) for name, sample in values.items()}
    samples = {name: sample for name, sample in samples.items() if len(sample)}
    axes = _Axes(extent[0], extent[1] if extent[1] > extent[0] else extent[0] + 1, 0, 1)
    names, lines = {}, []
    for index, (name, sample) in enumerate(samples.items()):
        n = len(sample)
        band = math.sqrt(math.log(2 / 0.05) / (2 * n))
        share = np.arange(1, n + 1) / n
        upper, lower = (np.clip(share + sign * band, 0, 1) for sign in (1, -1))
        around = axes.points(np.concatenate([sample, sample[::-1]]), np.concatenate([upper, lower[::-1]]))
        steps = axes.points(np.repeat(sample, 2), np.repeat(np.arange(n + 1) / n, 2)[1:-1])
        colour = f"var(--{series(index)})"
        lines.append(f'<polygon points="{around}" fill="{colour}" fill-opacity="0.1"/>')
        lines.append(f'<polyline points="{steps}" fill="none" stroke="{colour}" stroke-width="2"/>')
        names[name] = f"median {np.median(sample):.3g} of {n}"
    return axes.drawn(title, {level: f"{level:g}" for level in (0, 0.25, 0.5, 0.75, 1)}, names, lines)


def sweep_lines(curves: Sequence[tuple[str, Array, Array]], title: str) -> str:
    """P(favoured) against the value of the attribute: the sweep and, dashed, its placebos."""
    ends = curves[0][1]
    reach = max(0.02, 1.2 * max(float(np.abs(y - 0.5).max()) for _, _, y in curves))
    axes = _Axes(float(ends[0]), float(ends[-1]), 0.5 - reach, 0.5 + reach)
    names, lines = {}, []
    for index, (name, values, shares) in enumerate(curves):
        dash = ' stroke-dasharray="5 4"' if index else ""
        stroke = f'fill="none" stroke="var(--{series(index)})" stroke-width="2.2"{dash}'
        lines.append(f'<polyline points="{axes.points(values, shares)}" {stroke}/>')
        names[name] = f"{numbers.share(shares[0])} to {numbers.share(shares[-1])}"
    levels = {share: numbers.decimal(100 * share, 1) for share in (0.5 - reach, 0.5, 0.5 + reach)}
    return axes.drawn(title, levels, names, lines)
