"""The page: one HTML file that asks nothing of any server; every label and file name in it is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

from gslopes.report import inline, numbers, units, words
from gslopes.slopes.report import ReportConfig, decisions
from gslopes.slopes.report.loading import STEPS, Finding

HERE = Path(__file__).parents[1] / "templates"

_MOST_FILES, _MOST_REASONS = 200, 12
_SCRIPTS = ("base", "plots", "findings", "compare", "label", "explorer", "start")
# What a page has in addition to its sections, and what replaces each part that is missing.
# data: for the scripts.  sweeps: see ``validity``.  errors, observed: see there.  quote: see ``screen``.
# papers: tables of the paper, without ending.  numbered, prints: its figures, and those for print.
# album: number of photos in the explorer.  screens: see ``screen``, the strongest first.
# method: how the run differs from the paper.  unanswered: see ``loading.unanswered``.
_PARTS: Mapping[str, Any] = {
    "data": {},
    "quote": None,
    "album": 0,
    **dict.fromkeys(("sweeps", "errors", "observed", "papers", "prints", "screens", "method"), ()),
    **dict.fromkeys(("numbered", "unanswered"), ()),
}
_NOTES = {
    "thumbs": "",
    "none": " The report was made without pictures, and photos are named by the first digits of their checksum.",
}


@dataclass(frozen=True, slots=True)
class Photos:
    """What became of the photos.

    found, used: how many.  several: how many of those used show several faces.
    reasons: with their counts, the most frequent first.  skipped: path and reason of each one.
    dropped: why the gate kept sweeps from the classifiers, and how many each time.
    """

    found: int
    used: int
    several: int
    reasons: tuple[tuple[str, int], ...]
    skipped: tuple[tuple[str, str], ...]
    dropped: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """What the page says about one classifier and attribute, in addition to the scripts' table of all labels.

    measures: of its labels.  values, asked: as texts.  steps: K.  labels: how many.
    """

    key: str
    classifier: str
    perceived: str
    ends: tuple[str, str]
    measures: frozenset[str]
    values: str
    steps: int
    asked: str
    labels: int


def section(finding: Finding) -> Section:
    """One section of the page."""
    outcomes = finding.outcomes.items()
    asked = [f"{number:,} {words.printable(status)}{f' ({why})' if why else ''}" for status, (number, why) in outcomes]
    return Section(
        key=finding.key,
        classifier=words.printable(finding.classifier),
        perceived=words.perceived(finding.attribute),
        ends=words.ends(finding.attribute),
        measures=frozenset(map(units.measure_of, finding.read[finding.read["slope"].notna()].to_dict("records"))),
        values=", ".join(map(numbers.value, finding.values)),
        steps=len(finding.values),
        asked=", ".join(asked),
        labels=finding.rows["label"].nunique(),
    )


def render(
    manifest: Mapping[str, Any], photos: Photos, sections: Sequence[Section], *, options: ReportConfig, **parts: Any
) -> str:
    """The page as text.

    manifest: the content of run.json; whatever it lacks, the page leaves out.  parts: see ``_PARTS``.
    """
    given = {**_PARTS, **parts}
    method = given.pop("method")
    return inline.render(
        "page.html.j2",
        house=HERE,
        scripts=[f"page-{name}.js" for name in _SCRIPTS],
        plots=True,
        data={"sections": [], "readings": [], **given.pop("data")},
        decisions=[(decisions.SHOWN[code], decisions.ABOUT[code]) for code in decisions.CODES],
        embed_note=_NOTES[options.embed],
        steps=STEPS,
        differs=[choice for choice in method if not choice.same],
        alike=[choice for choice in method if choice.same],
        created=words.printable(_moment(manifest.get("created", ""))),
        models=_facts(manifest.get("models")),
        classifiers=_facts(manifest.get("classifiers")),
        photos=photos,
        reasons=photos.reasons[:_MOST_REASONS],
        other_reasons=sum(number for _, number in photos.reasons[_MOST_REASONS:]),
        skipped=photos.skipped[:_MOST_FILES],
        sections=sections,
        ends=list(dict.fromkeys(section.ends for section in sections)),
        measures=sorted(set().union(*(section.measures for section in sections))) or ["presence"],
        p=f"{options.p:g}",
        slope=f"{options.slope:g}",
        **given,
    )


def _moment(created: object) -> str:
    """An ISO date and time to the minute, in UTC; anything else unchanged."""
    try:
        moment = datetime.fromisoformat(str(created))
    except ValueError:
        return str(created)
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if moment.tzinfo else f"{moment:%Y-%m-%d %H:%M}"


def _mapping(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    return {words.printable(key): words.printable(item) for key, item in value.items()}


def _facts(value: object) -> dict[str, dict[str, str]]:
    """Name to facts, from {name: {fact: value}} or {name: version} alike."""
    if not isinstance(value, Mapping):
        return {}
    facts = {}
    for name, item in value.items():
        facts[words.printable(name)] = (
            _mapping(item) if isinstance(item, Mapping) else {"version": words.printable(item)}
        )
    return facts


def anonymous(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without the names of folders and files on the machine: absolute paths, and where the photos lie."""
    config = manifest.get("config")
    photos = str(config.get("photos", "")) if isinstance(config, Mapping) else ""
    return {name: _hidden(value, photos) for name, value in manifest.items()}


def _hidden(value: Any, photos: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _hidden(inner, photos) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_hidden(inner, photos) for inner in value]
    if not isinstance(value, str):
        return value
    if photos and value == photos:
        return "PHOTOS"
    return "FILE" if PurePath(value).is_absolute() or "\\" in value else value
