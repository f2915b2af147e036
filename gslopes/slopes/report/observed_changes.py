"""Two versions and real people: the observed differences of both next to their slopes, for page and terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from gslopes.core import summary
from gslopes.report import numbers, words
from gslopes.report.terminal import Column, table, wrap
from gslopes.slopes.report.observed import name_of, writer

MOST_ROWS = 40
HEADS = ("slope, first", "second", "observed, first", "second", "change", "95 % interval", "q")
NOTE = """\
Observed: mean answer about one group's unedited photos minus the other's, by the label's own measure.
Change: second minus first over the same photos; interval and p: Welch's t over the photos' own changes,
null hypothesis: nothing changed; q: over the labels."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of groups by one pair of classifiers.  rows: cells as texts, the label first."""

    title: str
    sentences: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str


def panels(observed: pd.DataFrame | None) -> list[Panel]:
    """One panel a pair of classifiers, attribute and pair of groups.  observed: of ``slopes.compare_observed``."""
    if observed is None:
        return []
    keys = ["first_classifier", "classifier", "attribute", "column", "group", "other"]
    return [_panel(part) for _, part in observed.groupby(keys, sort=True)]


def print_observed(observed: pd.DataFrame) -> str:
    """The same for a terminal."""
    columns = [Column(head, number="interval" not in head and head != "label") for head in ("label", *HEADS)]
    parts = []
    for one in panels(observed):
        said = "\n".join(map(wrap, one.sentences))
        parts.append(f"real photos, {one.title}\n{said}\n\n{table(columns, [list(row) for row in one.rows])}")
    return "\n\n".join([*parts, NOTE])


def summary_rows(observed: pd.DataFrame | None) -> pd.DataFrame | None:
    """The same as the rows of ``core.summary.OBSERVED``, those whose slope alone shrank first."""
    if observed is None:
        return None
    order = observed.assign(_none=observed["agreement"] == "").sort_values(["_none", "q", "label"])
    frame = order.rename(columns={"classifier": "model", "attribute": "contrast", "change": "value"})
    nothing = dict.fromkeys(("share", "share_low", "share_high"), float("nan"))
    return frame.assign(**nothing)[summary.OBSERVED.columns]


def sentence(row: dict[Any, Any]) -> str:
    """That a slope shrank and the observed difference did not; else empty."""
    if not row["agreement"]:
        return ""
    write = writer(row)
    label, one, other = (words.printable(str(row[name])) for name in ("label", "group", "other"))
    change = numbers.with_interval(row["change"], row["ci_low"], row["ci_high"], write)
    return (
        f"“{label}”: its slope went from {write(row['slope'])} to {write(row['other_slope'])}; between real {one} and "
        f"{other} the difference went from {write(row['first'])} to {write(row['second'])} (change {change}). "
        f"{row['agreement'][0].upper()}{row['agreement'][1:]}: the second version may have been tuned to the audit."
    )


def _panel(part: pd.DataFrame) -> Panel:
    flat = part.assign(_none=part["agreement"] == "", _flat=part["slope_q"].fillna(1), _less=part["q"].fillna(1))
    shown = flat.sort_values(["_none", "_flat", "_less", "label"])[:MOST_ROWS].to_dict("records")
    first = shown[0]
    one, other = (words.printable(str(first[name])) for name in ("group", "other"))
    name = words.both(str(first["first_classifier"]), str(first["classifier"]))
    title = f"{name} along {words.perceived(str(first['attribute']))}: {one} minus {other}"
    kept = [text for text in map(sentence, shown) if text]
    count = int((part["agreement"] != "").sum())
    lead = f"Of {len(part):,} labels, {count:,} whose slope shrank and whose observed difference is not shown to."
    return Panel(title, (lead, *kept[:3]), HEADS, tuple(map(_cells, shown)), NOTE)


def _cells(row: dict[Any, Any]) -> tuple[str, ...]:
    write = writer(row)
    numbers_of = [write(row[name]) for name in ("slope", "other_slope", "first", "second", "change")]
    ends = numbers.interval(row["ci_low"], row["ci_high"], write)
    return (words.shorten(name_of(row), 24), *numbers_of, ends, numbers.probability(row["q"]))
