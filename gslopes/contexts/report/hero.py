"""The first screen's plot: the congruence slope of each tagger with its interval, drawn in the page's own colours."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np
import pandas as pd

from gslopes.contexts.report.words import main_rows, number, span
from gslopes.report import words

WIDTH, LEFT, RIGHT, ROW, TOP = 760, 190, 150, 24, 26
MOST = 8
WHO = (("all", "everybody", "ink"), ("woman", "women", "neg"), ("man", "men", "pos"))


def slopes_plot(results: Mapping[str, pd.DataFrame]) -> str:
    """An SVG: a row for everybody, women and men of each tagger, at most eight taggers; empty if no slope is known."""
    every = {gender: main_rows(results, gender) for gender, _, _ in WHO}
    tables = {gender: rows.set_index("classifier") for gender, rows in every.items() if len(rows)}
    if "all" not in tables:
        return ""
    names = list(tables["all"]["slope"].abs().sort_values(ascending=False).index[:MOST])
    rows = [
        (name, label, colour, tables[gender].loc[name])
        for name in names
        for gender, label, colour in WHO
        if gender in tables and name in tables[gender].index
    ]
    ends = np.array([[row["ci_low"], row["ci_high"]] for *_, row in rows], float)
    low, high = min(0.0, float(np.nanmin(ends))), max(0.0, float(np.nanmax(ends)))
    pad = 0.06 * max(high - low, 1.0)
    low, high = low - pad, high + pad

    def at(value: float) -> str:
        return f"{LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT):.1f}"

    height = TOP + ROW * len(rows) + 30
    parts = [f"<line class='zero' x1='{at(0)}' x2='{at(0)}' y1='{TOP - 12}' y2='{height - 24}'/>"]
    for index, (name, label, colour, row) in enumerate(rows):
        y = TOP + ROW * index
        head = words.shorten(words.printable(name), 18) if label == "everybody" else ""
        parts.append(f"<text class='name' x='0' y='{y + 4}'>{escape(head)}</text>")
        parts.append(f"<text class='who' x='{LEFT - 10}' y='{y + 4}' text-anchor='end'>{label}</text>")
        if np.isfinite(row["ci_low"]):
            x1, x2 = at(row["ci_low"]), at(row["ci_high"])
            parts.append(f"<line class='{colour}' x1='{x1}' x2='{x2}' y1='{y}' y2='{y}'/>")
        parts.append(f"<circle class='{colour}' cx='{at(row['slope'])}' cy='{y}' r='4.5'/>")
        text = f"{number(row['slope'])} {span(row['ci_low'], row['ci_high'])}"
        parts.append(f"<text class='value' x='{WIDTH}' y='{y + 4}' text-anchor='end'>{text}</text>")
    foot = "0: the context makes no difference"
    parts.append(f"<text class='who' x='{at(0)}' y='{height - 6}' text-anchor='middle'>{foot}</text>")
    label = "Points per unit of congruence by which the share of right answers changes, with 95 % intervals"
    return f"<svg class='hero' viewBox='0 0 {WIDTH} {height}' role='img' aria-label='{label}'>{''.join(parts)}</svg>"
