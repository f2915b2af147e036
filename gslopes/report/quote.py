"""What others may quote of a run: a sentence to quote and a model card snippet, with n, interval, date and limits."""

from pathlib import Path

import pandas as pd
from pandas import DataFrame, Series

from gslopes.core import JsonObject, Names, frozen, read_beside, runfolder, summary
from gslopes.core.tables import records
from gslopes.report import inline, layouts, units, words

MOST_ROWS = 8
_CELLS = read_beside(__file__, "quote.toml")
SOURCE = "Joo and Kärkkäinen 2020, doi 10.1145/3422841.3423533"


@frozen
class Quote:
    """sentence: of the finding that leads the page.  card: Markdown of all of them."""

    sentence: str
    card: str


@frozen
class About:
    """How an audit describes itself.

    title: heading of the card.  things: what n counts, one and several.  compared: what was varied, or compared.
    limits: sentences.  source: of the method.
    """

    title: str
    things: tuple[str, str]
    compared: str
    limits: Names
    source: str


def of_findings(
    run: Path,
    findings: DataFrame,
    headline: str,
    about: About,
    leading: Series,
) -> Quote | None:
    """The sentence and the snippet of an audit; None if nothing could be judged.

    run: its folder, whose ``run.json`` has version and day.  findings: columns of ``core.summary.FINDINGS``.
    headline: the page's first sentence.  leading: which of the rows it is about.

    Raises: UsageError if there is no ``run.json``.
    """
    judged = findings.query("decision != @summary.UNJUDGED")
    if judged.empty:
        return None
    sure = judged.query("decision == @summary.FINDING")
    led = judged[leading.reindex(judged.index)]
    surest = led.query("decision == @summary.FINDING")
    first = next(part for part in (surest, led, sure, judged) if len(part))[:1]
    version = words.printable(runfolder.read_manifest(run)["gslopes"])
    rows = records(pd.concat([first, sure[:MOST_ROWS]]))
    cells = inline.listed(_CELLS, rows, about=about, units=units)
    facts: JsonObject = {
        "about": about,
        "headline": headline,
        "cells": cells.iloc[0],
        "is_finding": rows[0]["decision"] == summary.FINDING,
        "findings": len(sure),
        "maker": f"gslopes {version or 'of an unknown version'}, on {summary.began_on(run)}",
        "table": layouts.to_markdown(
            cells[1:], f"Findings: {len(cells) - 1} of {len(sure)}, largest first."
        ),
    }
    return Quote(inline.plain("quoted.txt.j2", **facts), inline.plain("card.md.j2", **facts) + "\n")


def write_card(report: Path, quoted: Quote | None) -> None:
    """Write ``model_card.md`` into a report's folder; remove an earlier one if nothing is quoted.

    Raises: StorageError.
    """
    file = report / "model_card.md"
    with runfolder.storage(report):
        file.unlink(missing_ok=True)
    if quoted is not None:
        runfolder.write_bytes(file, quoted.card.encode("utf-8", "backslashreplace"))
