"""An audit as a notebook shows it: the finding in a sentence, the funnel, the labels with their decisions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.core import tables
from gslopes.core.result import page_link
from gslopes.report import numbers, units, words
from gslopes.report.layouts import to_html
from gslopes.slopes.report import decisions
from gslopes.slopes.report.funnel import Funnel, funnels
from gslopes.slopes.report.headline import headline
from gslopes.slopes.report.recommended import findings_table
from gslopes.slopes.report.tables import no_label
from gslopes.slopes.report.tally import unanswered

MOST_ROWS = 30


def audit_html(run: Path, slopes: pd.DataFrame | None, page: Path | None) -> str:
    """HTML without scripts, everything escaped.

    run: the run folder.  slopes: the slopes table, None before the fit.  page: the report, None before it.
    """
    if slopes is None:
        return f"<p>Run folder {escape(str(run))}, not fitted yet.</p>"
    by_pair = {(one.classifier, one.attribute): one for one in funnels(run)}
    parts = []
    table = findings_table(slopes)
    for classifier, attribute, rows, floor in decisions.by_pair(tables.reading(slopes)):
        name = words.printable(classifier)
        of_pair = table[(table["classifier"] == classifier) & (table["attribute"] == attribute)]
        parts.append(_finding(name, attribute, rows, floor, by_pair.get((name, attribute)), of_pair))
    silent = unanswered(run)
    if not parts:
        return f"<p>{escape(no_label(silent))}</p>{page_link(page)}"
    return "".join([*parts, *(f"<p>{escape(one)}</p>" for one in silent)]) + page_link(page)


def summary(run: Path, slopes: pd.DataFrame) -> str:
    """The finding in a sentence for each classifier and attribute.  slopes: as in core.tables.SLOPES."""
    silent = unanswered(run)
    found = [
        f"{words.printable(classifier)}: {headline(rows, decisions.decide(rows, floor), attribute).sentence}"
        for classifier, attribute, rows, floor in decisions.by_pair(tables.reading(slopes))
    ]
    return " ".join([*found, *silent]) if found else no_label(silent)


def _finding(
    classifier: str,
    attribute: str,
    rows: pd.DataFrame,
    floor: pd.DataFrame,
    funnel: Funnel | None,
    table: pd.DataFrame,
) -> str:
    judged = table[table["decision"] != decisions.UNJUDGED]
    cells = [
        (
            words.label(row["label"]),
            *_with_unit(row),
            decisions.Decision(row["decision"], "", row["expected"]).shown,
            numbers.probability(row["q"]),
            words.printable(row["detail"]),
        )
        for row in judged[:MOST_ROWS].to_dict("records")
    ]
    heads = ("label", "slope", "95 % interval", "unit", "decision", "q", "why")
    left = [f"{words.many(len(judged) - len(cells), 'more label')}"] if len(judged) > len(cells) else []
    rare = len(table) - len(judged)
    left += [f"{words.many(rare, 'label')} not judged"] if rare else []
    rest = f"<p>Not shown: {' and '.join(left)}; see <code>audit.findings</code>.</p>" if left else ""
    photos = f"<p>Photos: {escape(funnel.text())}</p>" if funnel else ""
    title = f"{classifier} along {words.perceived(attribute)}"
    sentence = headline(rows, decisions.decide(rows, floor), attribute).sentence
    return f"<h4>{escape(title)}</h4><p><b>{escape(sentence)}</b></p>{photos}{to_html(heads, cells)}{rest}"


def _with_unit(row: Mapping[Hashable, Any]) -> tuple[str, str, str]:
    """Slope, interval and unit as they are shown."""
    unit = words.printable(row["unit"]) if isinstance(row["unit"], str) else ""
    write = units.writer_in(unit)
    return write(row["slope"]), numbers.interval(row["ci_low"], row["ci_high"], write), unit
