"""Measures of captions in a terminal."""

from __future__ import annotations

import pandas as pd

from gslopes.captions.report.page import cells
from gslopes.captions.report.review import HARMS
from gslopes.report import words


def print_measures(measures: pd.DataFrame, most: int = 4) -> str:
    """A short table: of each technique and target the differences with the smallest q, else the commonest values."""
    lines = [f"{'':<4}{'concept':<34}{'groups':<22}{'value':>10}  {'95 % interval':<20}{'q':>8}  reading"]
    for (harm, technique, stage), rows in measures.groupby(["harm", "technique", "stage"], sort=False):
        lines.append(f"{HARMS[str(harm)][0]} · {technique} · {stage}")
        tested = rows[(rows["unit"] == "pp") & rows["q"].notna()].sort_values(["q", "concept"])
        rest = rows[(rows["group"] == "") & (rows["unit"] != "count")].sort_values("active", ascending=False)
        for row in (tested if len(tested) else rest).head(most).to_dict("records"):
            found = cells(row, False)
            interval = found["interval"] or found["boot"]
            name, pair = words.shorten(found["concept"], 32), words.shorten(found["pair"], 20)
            line = f"    {name:<34}{pair:<22}{found['value']:>10}  {interval:<20}{found['q']:>8}  {found['reading']}"
            lines.append(line)
    return "\n".join(lines)


def print_rows(measures: pd.DataFrame) -> str:
    """Every row in a line: technique, attribute, concept, value, interval, q, note."""
    lines = []
    for row in measures.to_dict("records"):
        found = cells(row, False)
        interval, concept = found["interval"] or found["boot"], words.shorten(found["concept"], 30)
        start = f"{row['technique']}  {row['column']:<8} {concept:<30} {found['value']:>9} {row['unit']:<22}"
        lines.append(f"{start} {interval:<18} q {found['q']:<8} {words.printable(row['note'])}".rstrip())
    return "\n".join(lines)
