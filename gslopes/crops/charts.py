"""Curves of the crop audits' pages, which curves.html.j2 draws."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from markupsafe import Markup

from gslopes.core.arrays import Array
from gslopes.report import numbers
from gslopes.report.inline import templates

LEFT, ABOVE, WIDE, TALL = 40, 12, 304, 200  # of the axes, pixels: with their legend below curves fit a phone


def distributions(values: Mapping[str, Array], title: str, extent: tuple[float, float]) -> Markup:
    """Empirical distribution functions by group, with bands that hold everywhere at once (Dvoretzky-Kiefer-Wolfowitz).

    values: group to its persons' numbers.  extent: ends of the axis, the same for panels that are compared.
    """
    low, high = extent if extent[1] > extent[0] else (extent[0], extent[0] + 1)

    def points(line: Array) -> str:
        across, up = (line - [[low], [0]]) / [[high - low], [1]]
        return " ".join(f"{LEFT + WIDE * a:.1f},{ABOVE + TALL * (1 - b):.1f}" for a, b in zip(across, up, strict=True))

    curves, said = [], []
    for name, every in values.items():
        sample = np.sort(every[~np.isnan(every)])
        if not (n := len(sample)):
            continue
        share, half = np.arange(n + 1) / n, math.sqrt(math.log(2 / 0.05) / (2 * n))
        upper, lower = (np.clip(share[1:] + side * half, 0, 1) for side in (1, -1))
        around = np.array([np.r_[sample, sample[::-1]], np.r_[upper, lower[::-1]]])
        line = np.array([np.repeat(sample, 2), np.repeat(share, 2)[1:-1]])
        curves.append((name, points(line), points(around)))
        said.append(f"{name} median {np.median(sample):.3g} of {n}")
    drawn = templates(Path(__file__).parent).get_template("curves.html.j2").render(
        left=LEFT, above=ABOVE, wide=WIDE, tall=TALL, levels=["0", "0.25", "0.5", "0.75", "1"],
        ticks=[numbers.value(end) for end in (low, (low + high) / 2, high)],
        curves=curves, description=f"{title}: {'; '.join(said)}",
    )  # fmt: skip
    return Markup(drawn)
