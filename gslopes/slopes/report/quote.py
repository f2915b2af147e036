"""What others may say of a run of the walk: a sentence and a model card snippet, with n, interval, date and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import pandas as pd

from gslopes.report import numbers, units, words
from gslopes.report.layouts import to_markdown
from gslopes.report.quote import LIMITS, MOST_ROWS, SOURCE, Quote, day, program
from gslopes.slopes.report import decisions
from gslopes.slopes.report.decisions import Decision
from gslopes.slopes.report.headline import Headline
from gslopes.slopes.report.loading import Finding


@dataclass(frozen=True, slots=True)
class Part:
    """What one classifier's answers along one attribute come to."""

    finding: Finding
    decided: Mapping[str, Decision]
    headline: Headline


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
    about = f"{program(manifest)}, {_editors(manifest, [first])}, on {day(manifest)}; slopes with 95 % intervals"
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
            lines += [to_markdown(rows, "Findings: slope per unit of the attribute."), ""]
    lines += [
        f"- Measured with {program(manifest)}, {_editors(manifest, parts)}, on {day(manifest)}; method: {SOURCE}."
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
