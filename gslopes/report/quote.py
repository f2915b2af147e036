"""What others may quote of a run: a sentence to quote and a model card snippet, with n, interval, date and limits."""

from pathlib import Path
from typing import Any

from pandas import DataFrame, Series

from gslopes.core import frozen, runfolder, summary
from gslopes.core.tables import Record
from gslopes.report import inline, layouts, numbers, units, words

MOST_ROWS = 8
_HEAD = ["Of", "What", "Difference", "95 % interval", "unit", "n"]
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
    limits: tuple[str, ...]
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
    judged = findings[findings["decision"] != summary.UNJUDGED]
    if judged.empty:
        return None
    sure = judged[judged["decision"] == summary.FINDING]
    led = judged[leading.reindex(judged.index)]
    surest = led[led["decision"] == summary.FINDING]
    first = next(part for part in (surest, led, sure, judged) if len(part)).to_dict("records")[0]
    version = words.printable(runfolder.read_manifest(run)["gslopes"])
    rows = [_cells(row, about) for row in sure[:MOST_ROWS].to_dict("records")]
    frame = DataFrame(rows, columns=_HEAD, dtype=object)
    facts: dict[str, Any] = {
        "about": about,
        "headline": headline,
        "cells": _cells(first, about),
        "is_finding": first["decision"] == summary.FINDING,
        "findings": len(sure),
        "maker": f"gslopes {version or 'of an unknown version'}, on {summary.began_on(run)}",
        "table": layouts.to_markdown(
            frame, f"Findings: {len(rows)} of {len(sure)}, largest first."
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


def _cells(row: Record, about: About) -> list[str]:
    """A finding under ``_HEAD``."""
    write = units.writer_in(row["unit"])
    return [
        words.printable(f"{row['model']}, {row['label']}"),
        words.printable(row["contrast"]),
        write(row["value"]),
        numbers.ends_of(row, write).replace(numbers.NONE, "unknown"),
        row["unit"],
        words.many(int(row["n"]), *about.things),
    ]
