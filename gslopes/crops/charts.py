"""Curves of the crop audits' pages, as SVG that says the same in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gslopes.report import numbers
from gslopes.report.charts import series, svg, svg_line, svg_text

Array = NDArray[np.float64]
LEFT, ABOVE, WIDE, TALL = 40, 12, 304, 200  # of the axes, pixels: with their legend below curves fit a phone


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
        parts = list[str]()
        for level, text in levels.items():
            y = ABOVE + TALL * (self.top - level) / (self.top - self.bottom)
            parts += [svg_line(LEFT, y, LEFT + WIDE, y, "shade", 1), svg_text(LEFT - 6, y + 4, text, "end", 11)]
        for share in (0, 0.5, 1):
            value = numbers.value(self.low + share * (self.high - self.low))
            parts.append(svg_text(LEFT + share * WIDE, ABOVE + TALL + 18, value, "middle", 11))
        parts += lines
        for index, name in enumerate(names):
            y = ABOVE + TALL + 40 + 20 * index
            parts += [svg_line(LEFT, y, LEFT + 20, y, series(index), 3), svg_text(LEFT + 26, y + 4, name)]
        description = "; ".join(f"{name} {text}" for name, text in names.items())
        return svg(LEFT + WIDE + 14, ABOVE + TALL + 40 + 20 * len(names), f"{title}: {description}", parts)


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
