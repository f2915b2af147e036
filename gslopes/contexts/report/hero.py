"""The first screen's plot: the congruence slope of each tagger with its interval, drawn in the page's own colours."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from gslopes.contexts.report.words import main_rows
from gslopes.report import numbers, words
from gslopes.report.charts import svg, svg_dot, svg_line, svg_text

WIDTH, LEFT, RIGHT, ROW, TOP = 760, 190, 150, 24, 26
MOST = 8
WHO = (("all", "everybody", "ink"), ("woman", "women", "neg"), ("man", "men", "pos"))


def slopes_plot(results: Mapping[str, pd.DataFrame]) -> str:
    """An SVG: a row for everybody, women and men of each tagger, at most eight taggers; empty if no slope is known."""
    known = {gender: main_rows(results, gender) for gender, _, _ in WHO}
    slopes = {gender: rows.set_index("classifier") for gender, rows in known.items() if len(rows)}
    if "all" not in slopes:
        return ""
    names = list(slopes["all"]["slope"].abs().sort_values(ascending=False).index[:MOST])
    rows = [
        (name, label, colour, slopes[gender].loc[name])
        for name in names
        for gender, label, colour in WHO
        if gender in slopes and name in slopes[gender].index
    ]
    ends = np.array([[row["slope"], row["ci_low"], row["ci_high"]] for *_, row in rows], float)
    low, high = min(0.0, float(np.nanmin(ends))), max(0.0, float(np.nanmax(ends)))
    pad = 0.06 * max(high - low, 1.0)

    def at(value: float) -> float:
        return LEFT + (value - low + pad) / (high - low + 2 * pad) * (WIDTH - LEFT - RIGHT)

    height = TOP + ROW * len(rows) + 30
    parts = [svg_line(at(0), TOP - 12, at(0), height - 24, "edge", 1, "3 3")]
    for index, (name, label, colour, row) in enumerate(rows):
        y = TOP + ROW * index
        head = words.shorten(words.printable(name), 18) if label == "everybody" else ""
        parts += [svg_text(10, y + 4, head, size=13), svg_text(LEFT - 10, y + 4, label, "end", 13, "soft")]
        if np.isfinite(row["ci_low"]):
            parts.append(svg_line(at(row["ci_low"]), y, at(row["ci_high"]), y, colour, 2))
        parts.append(svg_dot(at(row["slope"]), y, colour, 4.5))
        value = numbers.with_interval(row["slope"], row["ci_low"], row["ci_high"])
        parts.append(svg_text(WIDTH - 10, y + 4, value, "end", 13))
    parts.append(svg_text(at(0), height - 6, "0: the context makes no difference", "middle", 13, "soft"))
    label = "Points per unit of congruence by which the share of right answers changes, with 95 % intervals"
    return svg(WIDTH, height, label, parts)
