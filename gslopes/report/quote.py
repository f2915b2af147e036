"""What others may say of a run: a sentence to quote and a model card snippet, with n, interval, date and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import pandas as pd

from gslopes.core import runfolder, summary
from gslopes.report import decisions, numbers, paper, units, words
from gslopes.report.decisions import Decision
from gslopes.report.headline import Headline
from gslopes.report.loading import Finding

MOST_ROWS = 8
LIMITS = (
    "An association under this edit of these photos, about how faces are perceived: not who anybody is.",
    "Other photos, another editor or another version of the classifier may give another number.",
    "A slope near 0 does not say that the classifier is fair.",
)
SOURCE = "Joo and Kärkkäinen 2020, doi 10.1145/3422841.3423533"


@dataclass(frozen=True, slots=True)
class Part:
    """What one classifier's answers along one attribute come to."""

    finding: Finding
    decided: Mapping[str, Decision]
    headline: Headline


@dataclass(frozen=True, slots=True)
class Quote:
    """sentence: of the finding that leads the page.  card: Markdown of all of them."""

    sentence: str
    card: str


def quote(manifest: Mapping[str, Any], parts: Sequence[Part]) -> Quote | None:
    """The sentence and the snippet of a run; None without any label.

    manifest: the content of run.json.  parts: the one that leads the page first.
    """
    if not parts:
        return None
    first = parts[0]
    lead = (
        f"{words.printable(first.finding.classifier)}, asked about {_photos(first.finding)} with the face edited from "
        f"{' to '.join(words.ends(first.finding.attribute))}-looking: {first.headline.sentence}"
    )
    about = f"{_program(manifest)}, {_editors(manifest, [first])}, on {_day(manifest)}; slopes with 95 % intervals"
    return Quote(f"{lead} ({about}. {LIMITS[0]})", _card(manifest, parts))


def _card(manifest: Mapping[str, Any], parts: Sequence[Part]) -> str:
    attributes = list(dict.fromkeys(words.perceived(one.finding.attribute) for one in parts))
    lines = [f"## Answers and {' and '.join(attributes)} of the face", ""]
    for one in parts:
        name, attribute = words.printable(one.finding.classifier), one.finding.attribute
        title = f"{name} along {words.perceived(attribute)}, {_photos(one.finding)}."
        lines += [f"{title} {one.headline.sentence}", ""]
        rows = _rows(one)
        if len(rows):
            lines += [paper.to_markdown(rows, "Findings: slope per unit of the attribute."), ""]
    lines += [
        f"- Measured with {_program(manifest)}, {_editors(manifest, parts)}, on {_day(manifest)}; method: {SOURCE}."
    ]
    lines += [f"- {limit}" for limit in LIMITS]
    return "\n".join(lines) + "\n"


def _rows(one: Part) -> pd.DataFrame:
    """The steepest findings as texts."""
    found = one.finding.read
    sure = found[found["label"].map(lambda label: one.decided[str(label)].code == decisions.FINDING).astype(bool)]
    named = sure["label"].map(lambda label: one.decided[str(label)].expected).astype(bool)
    order = sure.assign(_named=named, _size=-sure["slope"].abs()).sort_values(["_named", "_size", "label"])[:MOST_ROWS]
    rows = []
    for row in order.to_dict("records"):
        write = units.writer(units.measure_of(row))
        ends = numbers.interval(row["ci_low"], row["ci_high"], write)
        name = words.label(row["label"]) + " (expected)" * one.decided[str(row["label"])].expected
        rows.append([name, write(row["slope"]), ends, units.unit_of(row), f"{row['n']:,}"])
    return pd.DataFrame(rows, columns=["Label", "Slope", "95 % interval", "unit", "photos"], dtype=object)


def _photos(finding: Finding) -> str:
    many = int(finding.read["n"].max()) if len(finding.read) else 0
    return f"{many:,} photo{'s' * (many != 1)}"


def _program(manifest: Mapping[str, Any]) -> str:
    return f"gslopes {words.printable(manifest.get('gslopes', '')) or 'of an unknown version'}"


def _editors(manifest: Mapping[str, Any], parts: Sequence[Part]) -> str:
    """The models that edited, each with the first digits of its checksum."""
    models, config = (manifest.get(name) for name in ("models", "config"))
    edit = config.get("edit") if isinstance(config, Mapping) else None
    own = str(edit.get("model") or "") if isinstance(edit, Mapping) else ""
    starts = tuple(f"{one.finding.attribute}-" for one in parts)
    found = []
    for name, facts in models.items() if isinstance(models, Mapping) else ():
        if str(name).startswith(starts) or (own and PurePath(own).name == PurePath(str(name)).name):
            digest = str(facts.get("sha256", ""))[:8] if isinstance(facts, Mapping) else ""
            found.append(words.printable(f"{name} {digest}".strip()))
    return f"editor {', '.join(found)}" if found else "an editor that run.json does not name"


def _day(manifest: Mapping[str, Any]) -> str:
    return words.printable(str(manifest.get("created", "")))[:10] or "an unknown day"


# -- the sibling audits -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class About:
    """What a sibling audit says of itself.

    title: heading of the card.  things: what n counts, one and several.  compared: what was varied, or compared.
    limits: sentences.  source: of the method.
    """

    title: str
    things: tuple[str, str]
    compared: str
    limits: tuple[str, ...]
    source: str


def of_findings(
    run: Path, findings: pd.DataFrame, headline: str, about: About, first: tuple[str, str] = ("", "")
) -> Quote | None:
    """The sentence and the snippet of a sibling audit; None where nothing could be judged.

    run: its folder, whose ``run.json`` says version and day.  findings: columns of ``core.summary.FINDINGS``.
    headline: the page's first sentence.  first: of the rows that it is about, how the label begins, and the contrast.

    Raises: UsageError if there is no ``run.json``.
    """
    judged = findings[findings["decision"] != summary.UNJUDGED]
    if judged.empty:
        return None
    sure = judged[judged["decision"] == summary.FINDING]
    among = sure if len(sure) else judged
    label, contrast = first
    own = among[among["label"].str.startswith(label)]
    own = own[own["contrast"] == contrast] if contrast else own
    cells = _cells((own if len(own) else among).to_dict("records")[0], about)
    what = "In numbers" if len(sure) else "Nothing is a finding; the largest difference"
    also = f"; one of {len(sure)} findings" if len(sure) > 1 else ""
    made = f"{_program(runfolder.read_manifest(run))}, on {summary.began_on(run)}"
    number = f"{what}: {cells[0]}, {cells[1]}: {cells[2]} {cells[4]}, 95 % interval {cells[3]}, {cells[5]}{also}"
    sentence = f"{headline} {number} ({about.compared}; {made}. {about.limits[0]})"
    lines = [f"## {about.title}", "", headline, ""]
    if len(sure):
        rows = [_cells(row, about) for row in sure[:MOST_ROWS].to_dict("records")]
        frame = pd.DataFrame(rows, columns=["Of", "What", "Difference", "95 % interval", "unit", "n"], dtype=object)
        lines += [
            paper.to_markdown(frame, f"Findings: {min(len(sure), MOST_ROWS)} of {len(sure)}, largest first.").rstrip(),
            "",
        ]
    lines += [
        f"- {about.compared[:1].upper()}{about.compared[1:]}.",
        f"- Measured with {made}; method: {about.source}.",
    ]
    lines += [f"- {limit}" for limit in about.limits]
    return Quote(sentence, "\n".join(lines) + "\n")


def write_card(report: Path, quoted: Quote | None) -> None:
    """Write ``model_card.md`` into a report's folder.  Raises: StorageError."""
    if quoted is not None:
        runfolder.write_bytes(report / "model_card.md", quoted.card.encode("utf-8", "backslashreplace"))


def _cells(row: Mapping[Any, Any], about: About) -> list[str]:
    write = numbers.ratio if row["unit"] == "log odds" else numbers.points
    ends = numbers.interval(row["ci_low"], row["ci_high"], write)
    of, what = words.printable(f"{row['model']}, {row['label']}"), words.printable(row["contrast"])
    many = words.many(int(row["n"]), *about.things)
    return [of, what, write(row["value"]), "unknown" if ends == numbers.NONE else ends, row["unit"], many]
