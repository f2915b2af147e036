"""An audit as a notebook shows it: the finding in a sentence, the funnel, the labels with their decisions."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pandas as pd

from gslopes.core import placebo
from gslopes.report import decisions, words
from gslopes.report.findings import READING
from gslopes.report.funnel import Funnel, funnels
from gslopes.report.headline import headline

MOST_ROWS = 30


def audit_html(run: Path, slopes: pd.DataFrame | None, page: Path | None) -> str:
    """HTML without scripts, everything escaped.

    run: the run folder.  slopes: the slopes table, None before the fit.  page: the report, None before it.
    """
    if slopes is None:
        return f"<p>Run folder {escape(str(run))}, not fitted yet.</p>"
    reading = slopes[slopes["estimator"] == READING]
    fake = reading["attribute"].map(lambda name: bool(placebo.split(name)[1])).astype(bool)
    by_pair = {(one.classifier, one.attribute): one for one in funnels(run)}
    parts = []
    for (classifier, attribute), rows in reading[~fake].groupby(["classifier", "attribute"], sort=True):
        beside = (reading["classifier"] == classifier) & reading["attribute"].isin(placebo.names(str(attribute)))
        name = words.printable(classifier)
        parts.append(_finding(name, str(attribute), rows, reading[fake & beside], by_pair.get((name, str(attribute)))))
    link = f'<p>Report: <a href="{escape(page.resolve().as_uri())}">{escape(str(page))}</a></p>' if page else ""
    return "".join(parts) + link


def _finding(classifier: str, attribute: str, rows: pd.DataFrame, floor: pd.DataFrame, funnel: Funnel | None) -> str:
    found = decisions.decide(rows, floor)
    judged = rows[[found[str(label)].code != decisions.UNJUDGED for label in rows["label"]]]
    order = judged.assign(
        _plain=[not found[str(label)].moves for label in judged["label"]], _flat=-judged["slope"].abs()
    )
    cells = [
        (
            words.printable(row["label"]),
            words.points(row["slope"]),
            words.points_interval(row["ci_low"], row["ci_high"]),
            decisions.SHOWN[found[str(row["label"])].code],
            words.probability(row["q"]),
        )
        for _, row in order.sort_values(["_plain", "_flat", "label"])[:MOST_ROWS].iterrows()
    ]
    head = "".join(f"<th>{title}</th>" for title in ("label", "points per unit", "95 % interval", "decision", "q"))
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in cells)
    photos = f"<p>Photos: {escape(funnel.text())}</p>" if funnel else ""
    title = f"{classifier} along {words.perceived(attribute)}"
    sentence = headline(rows, found, attribute).sentence
    return (
        f"<h4>{escape(title)}</h4><p><b>{escape(sentence)}</b></p>{photos}"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
