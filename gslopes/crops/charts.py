"""Bars and curves of the crop audit's page, as SVG that says the same in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.report import numbers
from gslopes.report.charts import series, svg, svg_line, svg_rect, svg_text

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

    def across(self, value: float, text: str) -> list[str]:
        """A horizontal line with its number."""
        y = self.y(value)
        line = svg_line(self.left, y, self.left + self.wide, y, "shade", 1)
        return [line, svg_text(self.left - 6, y + 4, text, "end", 11)]

    def below(self, value: float, text: str) -> str:
        """A number under the axis."""
        return svg_text(self.x(value), self.above + self.tall + 18, text, "middle", 11)

    def legend(self, index: int, name: str) -> list[str]:
        """The n-th name right of the axes, with its colour."""
        x, y = self.left + self.wide + 12, self.above + 14 + 20 * index
        return [svg_line(x, y, x + 20, y, series(index), 3), svg_text(x + 26, y + 4, name)]


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
    description = "; ".join(
        f"{row['group']} over {row['other']}: {numbers.share(row['p'])} "
        f"({numbers.share_range(row['ci_low'], row['ci_high'])})"
        for row in rows.to_dict("records")
    )
    return svg(left + wide + 190, height, description, parts)


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
