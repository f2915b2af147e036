"""Error rates by value, for page and terminal: does the classifier get worse as the face changes?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.core import tables
from gslopes.report import numbers, words
from gslopes.report.terminal import Column, table, wrap
from gslopes.slopes.report import decisions, tally

MOST_ROWS = 40
NAMES = {"error": "wrong", "miss": "missed", "false alarm": "false alarm"}
NOTE = """\
Rate: share of photos with a wrong answer. Slope: percentage points per unit; interval: 95 %, t over
the photos' own lines; null hypothesis: errors do not depend on the value. The rates' intervals, and
the same slope by distance from the centre: error_rates.parquet, error_slopes.parquet."""


@dataclass(frozen=True, slots=True)
class Panel:
    """The error rates of one classifier along one attribute.

    heads: the values.  rows: cells as texts, see ``_row``.  left: rows that are left out.
    """

    classifier: str
    perceived: str
    ends: tuple[str, str]
    sentence: str
    heads: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    left: int


def panels(run: Path) -> list[Panel]:
    """One panel a classifier and attribute, placebos aside; none without a truth.

    Raises: TableError if a table is damaged.
    """
    slopes = tally.read(tables.ERROR_SLOPES, run, tables.ERROR_SLOPES.columns)
    rates = tally.read(tables.ERROR_RATES, run, tables.ERROR_RATES.columns)
    found = []
    for classifier, attribute, part, fake in decisions.by_pair(slopes):
        here = rates[(rates["classifier"] == classifier) & (rates["attribute"] == attribute)]
        found.append(_panel(classifier, attribute, part, here, fake))
    return found


def print_errors(run: Path) -> str:
    """The same for a terminal: rates at both ends and the centre, slopes with intervals."""
    parts = []
    for one in panels(run):
        middle = len(one.heads) // 2
        places = sorted({0, middle, len(one.heads) - 1})
        heads = [
            "wrong about",
            *(f"at {one.heads[place]}" for place in places),
            "slope",
            "95 % interval",
            "decision",
            "n",
        ]
        columns = [Column(head, number=bool(at), fold=not at) for at, head in enumerate(heads)]
        rows = [
            [
                row["name"],
                *(row["rates"][place] for place in places),
                *(row[key] for key in ("slope", "ends", "decision", "n")),
            ]
            for row in one.rows
        ]
        left = f"\n  and {one.left:,} more, see error_slopes.parquet" if one.left else ""
        title = f"{one.classifier} along {one.perceived}: errors"
        parts.append(f"{title}\n{wrap(one.sentence)}\n\n{table(columns, rows)}{left}")
    return "\n\n".join([*parts, NOTE]) if parts else ""


def _panel(classifier: str, attribute: str, slopes: pd.DataFrame, rates: pd.DataFrame, fake: pd.DataFrame) -> Panel:
    order = {"error": 0, "miss": 1, "false alarm": 2}
    by = slopes.assign(_place=slopes["measure"].map(order), _steep=-slopes["slope"].abs())
    shown = by.sort_values(["column", "_place", "_steep", "label"])[:MOST_ROWS]
    values = rates.drop_duplicates("step").sort_values("step")["value"]
    rows = [_row(row, _of(rates, row).sort_values("step"), _of(fake, row)) for row in shown.to_dict("records")]
    first = shown[shown["measure"] == "error"].sort_values("q", kind="stable").to_dict("records")[0]
    sentence = _sentence(first, _of(rates, first).sort_values("step"), words.ends(attribute))
    heads = tuple(numbers.value(value, sign=True) for value in values)
    name, along = words.printable(classifier), words.perceived(attribute)
    return Panel(name, along, words.ends(attribute), sentence, heads, tuple(rows), len(slopes) - len(shown))


def _of(frame: pd.DataFrame, row: dict[Any, Any]) -> pd.DataFrame:
    keep = (frame["column"] == row["column"]) & (frame["label"] == row["label"]) & (frame["measure"] == row["measure"])
    return frame[keep]


def _row(row: dict[Any, Any], rates: pd.DataFrame, fake: pd.DataFrame) -> dict[str, Any]:
    known = fake["slope"].tolist()
    return {
        "name": f"{words.label(row['label'])}: {NAMES[row['measure']]}",
        "rates": [numbers.share(rate) for rate in rates["rate"]],
        "ranges": [numbers.share_range(*ends) for ends in zip(rates["ci_low"], rates["ci_high"], strict=True)],
        "slope": numbers.points(row["slope"]),
        "ends": numbers.interval(row["ci_low"], row["ci_high"]),
        "q": numbers.probability(row["q"]),
        "away": numbers.with_interval(row["away"], row["away_low"], row["away_high"]),
        "placebos": ", ".join(map(numbers.points, known)) or numbers.NONE,
        "n": f"{row['n']:,}",
        "note": words.printable(row["note"]),
        "decision": decisions.SHOWN[row["decision"]],
    }


def _sentence(row: dict[Any, Any], rates: pd.DataFrame, ends: Sequence[str]) -> str:
    first, last = (
        f"{numbers.share(one['rate'])} ({numbers.share_range(one['ci_low'], one['ci_high'])})"
        for one in (rates.iloc[0], rates.iloc[-1])
    )
    size = f"{numbers.with_interval(row['slope'], row['ci_low'], row['ci_high'])} points per unit"
    about = "" if row["label"] == "all labels" else f" about “{words.label(row['label'])}”"
    said = (
        f"Wrong{about} on {first} of {row['n']:,} photos at the {ends[0]} end, on {last} at the {ends[1]} end: {size}."
    )
    if row["note"]:
        return f"{said} Not judged: {words.printable(row['note'])}."
    if row["decision"] == decisions.NONE:
        return f"{said} It cannot be said from these photos whether errors depend on the face (q {row['q']:.2g})."
    if row["decision"] == decisions.PLACEBO:
        return f"{said} A placebo, in which the attribute does not change, may move the errors as far."
    return said if row["decision"] == decisions.FINDING else f"{said} Not settled: some placebo sweeps are missing."
