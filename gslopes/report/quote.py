"""What others may say of a run: a sentence to quote and a model card snippet, with n, interval, date and limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.core import runfolder, summary
from gslopes.report import numbers, words
from gslopes.report.layouts import to_markdown
from gslopes.report.units import writer_in

MOST_ROWS = 8
LIMITS = (
    "An association under this edit of these photos, about how faces are perceived: not who anybody is.",
    "Other photos, another editor or another version of the classifier may give another number.",
    "A slope near 0 does not say that the classifier is fair.",
)
SOURCE = "Joo and Kärkkäinen 2020, doi 10.1145/3422841.3423533"


@dataclass(frozen=True, slots=True)
class Quote:
    """sentence: of the finding that leads the page.  card: Markdown of all of them."""

    sentence: str
    card: str


@dataclass(frozen=True, slots=True)
class About:
    """What an audit says of itself.

    title: heading of the card.  things: what n counts, one and several.  compared: what was varied, or compared.
    limits: sentences.  source: of the method.
    """

    title: str
    things: tuple[str, str]
    compared: str
    limits: tuple[str, ...]
    source: str


def of_findings(
    run: Path, findings: pd.DataFrame, headline: str, about: About, first: pd.Series | None = None
) -> Quote | None:
    """The sentence and the snippet of an audit; None where nothing could be judged.

    run: its folder, whose ``run.json`` says version and day.  findings: columns of ``core.summary.FINDINGS``.
    headline: the page's first sentence.  first: which of the rows it is about; all if None.

    Raises: UsageError if there is no ``run.json``.
    """
    judged = findings[findings["decision"] != summary.UNJUDGED]
    if judged.empty:
        return None
    sure = judged[judged["decision"] == summary.FINDING]
    own = judged if first is None else judged[first.reindex(judged.index)]
    own = own if len(own) else judged
    found = own[own["decision"] == summary.FINDING]
    cells = _cells((found if len(found) else own).to_dict("records")[0], about)
    what = "Not a finding" if len(sure) else "Nothing is a finding; the largest difference"
    what = "In numbers" if len(found) else what
    also = f"; one of {len(sure)} findings" if len(found) and len(sure) > 1 else ""
    version = (
        words.printable(runfolder.read_manifest(run).get("gslopes", "")) or "of an unknown version"
    )
    made = f"gslopes {version}, on {summary.began_on(run)}"
    number = f"{what}: {cells[0]}, {cells[1]}: {cells[2]} {cells[4]}, 95 % interval {cells[3]}, {cells[5]}{also}"
    sentence = f"{headline} {number} ({about.compared}; {made}. {about.limits[0]})"
    lines = [f"## {about.title}", "", headline, ""]
    if len(sure):
        rows = [_cells(row, about) for row in sure[:MOST_ROWS].to_dict("records")]
        frame = pd.DataFrame(
            rows, columns=["Of", "What", "Difference", "95 % interval", "unit", "n"], dtype=object
        )
        lines.append(to_markdown(frame, f"Findings: {len(rows)} of {len(sure)}, largest first."))
    said = (
        f"{about.compared[:1].upper()}{about.compared[1:]}.",
        f"Measured with {made}; method: {about.source}.",
    )
    lines += [f"- {text}" for text in (*said, *about.limits)]
    return Quote(sentence, "\n".join(lines) + "\n")


def write_card(report: Path, quoted: Quote | None) -> None:
    """Write ``model_card.md`` into a report's folder; remove an earlier one where nothing is to say.

    Raises: StorageError.
    """
    file = report / "model_card.md"
    with runfolder.storage(report):
        file.unlink(missing_ok=True)
    if quoted is not None:
        runfolder.write_bytes(file, quoted.card.encode("utf-8", "backslashreplace"))


def _cells(row: Mapping[Any, Any], about: About) -> list[str]:
    write = writer_in(row["unit"])
    ends = numbers.ends_of(row, write)
    of = words.printable(f"{row['model']}, {row['label']}")
    what = words.printable(row["contrast"])
    many = words.many(int(row["n"]), *about.things)
    return [
        of,
        what,
        write(row["value"]),
        "unknown" if ends == numbers.NONE else ends,
        row["unit"],
        many,
    ]
