"""Curves of the crop audits' pages, which curves.html.j2 draws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from gslopes.core.arrays import Array
from gslopes.report import numbers
from gslopes.report.inline import templates

LEFT, ABOVE, WIDE, TALL = 40, 12, 304, 200  # of the axes, pixels: with their legend below curves fit a phone


class Curve(NamedTuple):
    """A line with what is said of it, and the outline of the band around it, (2, points) x and y; empty for none."""

    name: str
    said: str
    line: Array
    around: Array


def distributions(values: Mapping[str, Array], title: str, extent: tuple[float, float]) -> Markup:
    """Empirical distribution functions by group, with bands that hold everywhere at once (Dvoretzky-Kiefer-Wolfowitz).

    values: group to its persons' numbers.  extent: ends of the axis, the same for panels that are compared.
    """
    curves = []
    for name, every in values.items():
        sample = np.sort(every[~np.isnan(every)])
        if not (n := len(sample)):
            continue
        share, half = np.arange(n + 1) / n, math.sqrt(math.log(2 / 0.05) / (2 * n))
        upper, lower = (np.clip(share[1:] + side * half, 0, 1) for side in (1, -1))
        around = np.array([np.r_[sample, sample[::-1]], np.r_[upper, lower[::-1]]])
        line = np.array([np.repeat(sample, 2), np.repeat(share, 2)[1:-1]])
        curves.append(Curve(name, f"median {np.median(sample):.3g} of {n}", line, around))
    low, high = extent if extent[1] > extent[0] else (extent[0], extent[0] + 1)
    return _drawn(title, (low, high), (0, 1), ["0", "0.25", "0.5", "0.75", "1"], curves)


def sweep_lines(lines: Sequence[tuple[str, Array, Array]], title: str) -> Markup:
    """P(favoured) against the value of the attribute: the sweep and, dashed, its placebos."""
    reach = max(0.02, 1.2 * max(float(np.abs(shares - 0.5).max()) for _, _, shares in lines))
    curves = [
        Curve(name, f"{numbers.share(y[0])} to {numbers.share(y[-1])}", np.array([x, y]), np.empty((2, 0)))
        for name, x, y in lines
    ]
    ends, along = (0.5 - reach, 0.5 + reach), lines[0][1]
    levels = [numbers.decimal(100 * share, 1) for share in (ends[0], 0.5, ends[1])]
    return _drawn(title, (float(along[0]), float(along[-1])), ends, levels, curves)


def _drawn(
    title: str, x: tuple[float, float], y: tuple[float, float], levels: Sequence[str], curves: Sequence[Curve]
) -> Markup:
    """The picture.  x, y: ends of the axes.  levels: what stands along y, from below."""

    def points(line: Array) -> str:
        across, up = (line - [[x[0]], [y[0]]]) / [[x[1] - x[0]], [y[1] - y[0]]]
        return " ".join(f"{LEFT + WIDE * a:.1f},{ABOVE + TALL * (1 - b):.1f}" for a, b in zip(across, up, strict=True))

    drawn = templates(Path(__file__).parent).get_template("curves.html.j2").render(
        left=LEFT, above=ABOVE, wide=WIDE, tall=TALL, levels=levels,
        ticks=[numbers.value(end) for end in (x[0], (x[0] + x[1]) / 2, x[1])],
        curves=[(curve.name, points(curve.line), points(curve.around)) for curve in curves],
        dashed=not curves or not curves[0].around.size,
        description=f"{title}: {'; '.join(f'{curve.name} {curve.said}' for curve in curves)}",
    )  # fmt: skip
    return Markup(drawn)
