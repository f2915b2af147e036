"""Findings as a terminal and the one chart of a page show them, the same for every audit."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from gslopes.core.summary import FINDING
from gslopes.frame.spec import Headline
from gslopes.report import numbers, terminal, words
from gslopes.report.charts import Mark, panel
from gslopes.report.inline import plain
from gslopes.report.units import writer_in

MOST = 6  # rows of a terminal, which has fifteen lines with them, and of a chart


def count_decisions(rows: DataFrame) -> str:
    """How many numbers there are of each decision, and why most of those that are not judged are not.

    >>> count_decisions(DataFrame({"decision": ["finding", "none", "unjudged"], "reason": ["", "q 1", "too few"]}))
    '1 of 2 numbers that can be judged is a finding; 1 more cannot, mostly because of this: too few.'
    """
    reasons = rows.query("decision == 'unjudged'")["reason"]
    return plain(
        "decisions.txt.j2",
        __file__,
        decisions=rows["decision"].tolist(),
        why=reasons.mode().tolist(),
    )


def leads(rows: DataFrame, lead: Headline) -> Series:
    """Which of the findings a headline is about."""
    first = rows["label"].astype(str).str.startswith(lead.label)
    for name, text in (("contrast", lead.contrast), ("model", lead.model)):
        first &= (rows[name] == text) | (text == "")
    return first


def arranged(rows: DataFrame, lead: Headline) -> DataFrame:
    """What the headline is about, what has its label, then all other findings."""
    alike = rows["label"].astype(str).str.startswith(lead.label)
    order = rows.assign(_order=2 - alike.astype(int) - leads(rows, lead).astype(int))
    return order[alike | (rows["decision"] == FINDING)].sort_values("_order", kind="stable")


def _first(rows: DataFrame) -> tuple[DataFrame, Series, str]:
    """The first judged rows; what each is about, for people; and what all of them have in common."""
    shown = rows.query("decision != 'unjudged'").head(MOST)
    told = shown.assign(label=shown.get("said", shown["label"]))
    told = told[["model", "label", "contrast"]].map(words.readable)
    varied = told.nunique() > 1
    if not varied.any():
        varied["contrast"] = True
    said = [", ".join(row) for row in told.loc[:, varied].to_numpy()]
    common = ", ".join(told.loc[:, ~varied].head(1).to_numpy().ravel())
    return shown, Series(said, shown.index, dtype=object), common


def written(row: Mapping[Any, Any]) -> str:
    """A row's number with its interval, in its unit."""
    return numbers.of_row(row, "value", writer_in(row["unit"]))


def printed(lead: Headline, rows: DataFrame) -> str:
    """What a terminal shows of an audit: its headline, the first judged rows, and how many there are of each decision.

    rows: as ``decide`` gives them.
    """
    told = "\n".join(map(terminal.wrap, lead.sentence.splitlines()))
    if rows.empty:
        return told
    shown, names, common = _first(arranged(rows, lead))
    units = shown["unit"].unique()
    cells = []
    for name, row in zip(names, shown.to_dict("records"), strict=True):
        sign = "●" if row["decision"] == FINDING else "○"
        name = words.shorten(name, 60 if len(units) == 1 else 46)
        cells.append([f"{sign} {name}", written(row), *[row["unit"]] * (len(units) > 1)])
    heads = ["95 % interval", "unit"] if len(units) > 1 else units
    columns = [
        terminal.Column(words.shorten(common, 60), False),
        *(terminal.Column(head) for head in heads),
    ]
    table = [terminal.table(columns, cells), ""] if cells else []
    counted = "● finding. " * any(shown["decision"] == FINDING) + count_decisions(rows)
    return "\n".join([told, "", *table, terminal.wrap(counted)])


def charted(rows: DataFrame) -> list[dict[str, Any]]:
    """The first ``MOST`` judged rows as a chart: a panel a unit, see ``report.charts.panel``.

    rows: as ``decide`` gives them, in the order of the chart.
    """
    shown, names, common = _first(rows)
    panels = []
    for unit, part in shown.assign(name=names).groupby("unit", sort=False):
        marks = []
        for row in part.to_dict("records"):
            colour = "" if row["decision"] != FINDING else "pos" if row["value"] > 0 else "neg"
            title = ", ".join(words.printable(row[name]) for name in ("model", "label", "contrast"))
            marks.append(
                Mark(
                    row["name"],
                    written(row),
                    (row["value"], row["ci_low"], row["ci_high"]),
                    colour,
                    title,
                )
            )
        panels.append(panel(marks, str(unit), common))
    return panels


def grid_of(caption: str, rows: DataFrame, leave_out: Collection[str] = ()) -> dict[str, Any]:
    """A table as a page lists it: caption, head, rows of texts; both ends of an interval stand in one cell.

    What is the same in all rows stands in the caption.  leave_out: columns.
    """
    cells = {}
    for name in [str(name) for name in rows if name not in leave_out]:
        base, _, end = name.rpartition("_")
        if end == "low":
            ends = zip(rows[name], rows[f"{base}_high"], strict=True)
            texts = [numbers.interval(low, high, numbers.value) for low, high in ends]
            cells["95 %" if base == "ci" else f"{base}, 95 %"] = texts
        elif end != "high":
            cells[name.replace("_", " ")] = [_cell(value) for value in rows[name]]
    same = [title for title, texts in cells.items() if len(texts) > 1 and len(set(texts)) == 1]
    said = [
        f"{title} {cells[title][0]}" for title in same if cells[title][0] not in ("", numbers.NONE)
    ]
    columns = {title: texts for title, texts in cells.items() if title not in same}
    return {
        "caption": "; ".join([caption, *said]),
        "head": list(columns),
        "rows": [list(row) for row in zip(*columns.values(), strict=True)],
    }


def _cell(value: Any) -> str:
    if isinstance(value, str | bool | np.bool_):
        return words.printable(str(value))
    if pd.isna(value):
        return numbers.NONE
    if isinstance(value, float | np.floating):
        return numbers.value(float(value) + 0.0)
    return f"{value:,}"
