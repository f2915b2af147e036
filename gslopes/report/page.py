"""The page: one HTML file that asks nothing of any server; every label and file name in it is escaped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment
from markupsafe import Markup

from gslopes.report import words
from gslopes.report.credit import Credit
from gslopes.report.findings import READING
from gslopes.report.glossary import GLOSSARY
from gslopes.report.inline import TEMPLATES, csp_hash, inline_json, templates
from gslopes.report.loading import Finding, ReportOptions
from gslopes.report.method import Choice
from gslopes.report.planted import planted
from gslopes.report.provenance import citation
from gslopes.report.screen import Screen
from gslopes.report.tables import pulled, why_no_slope
from gslopes.report.validity import NAMES

_MOST_ROWS, _MOST_FILES, _MOST_REASONS = 100, 200, 12
_SCRIPTS = ("base", "plots", "findings", "compare", "label", "explorer", "start")
_VENDOR = Path(__file__).parent / "vendor"
# The style that Observable Plot puts into each of its plots, so that the policy can let it in.
_PLOT_STYLE = """\
:where(.chart) {
  --plot-background: white;
  display: block;
  height: auto;
  height: intrinsic;
  max-width: 100%;
}
:where(.chart text),
:where(.chart tspan) {
  white-space: pre;
}"""
_HALF = 58.0  # half the width of the drawn interval, in the units of its picture


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
class Whisker:
    """An interval drawn in a strip 120 wide, 0 in the middle: left and right end, the slope, whether an end is cut."""

    low: float
    high: float
    at: float
    cut: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One label of a table, as text; ``whisker`` is None where it has no slope, and ``reason`` says why."""

    label: str
    slope: str
    interval: str
    p: str
    q: str
    n: str
    active: str
    centre: str
    side: str
    reason: str
    whisker: Whisker | None


@dataclass(frozen=True, slots=True)
class Section:
    """All that the page says about one classifier and attribute."""

    classifier: str
    attribute: str
    perceived: str
    ends: tuple[str, str]
    values: str
    steps: int
    photos: int
    asked: str
    labels: int
    judged: int
    pulled: tuple[tuple[Row, ...], tuple[Row, ...]]
    cut: bool
    found: tuple[int, int]
    reading: bool
    disagree: tuple[str, ...]
    figures: Mapping[str, str]
    key: str
    suffix: str
    credits: tuple[tuple[str, Credit], ...] = ()


@dataclass(frozen=True, slots=True)
class Extras:
    """What the page has beside its sections; every part may be missing.

    data: for the scripts, see ``folder``.  sweeps, floors, dropped: see ``validity``.  calibration: see ``planted``.
    papers: tables of the paper, without ending.  prints: figures for print.  commands, cards: see ``provenance``.
    album: photos in the explorer.  embed: which pictures the report has.  screens: see ``screen``, the strongest first.
    method: how the run differs from the paper, see ``method``.  numbered: its figures, see ``paper_figures``.
    """

    data: Mapping[str, Any] = field(default_factory=dict)
    sweeps: Sequence[Mapping[str, Any]] = ()
    floors: Sequence[Mapping[str, Any]] = ()
    dropped: tuple[Sequence[tuple[str, str, str]], int] = ((), 0)
    calibration: Mapping[str, Any] | None = None
    papers: Sequence[str] = ()
    prints: Sequence[str] = ()
    commands: Sequence[str] = ()
    cards: Sequence[tuple[str, str]] = ()
    album: int = 0
    embed: str = "none"
    screens: Sequence[Screen] = ()
    method: Sequence[Choice] = ()
    numbered: Sequence[str] = ()


NOTHING = Extras()
_NOTES = {
    "full": " The pictures are whole copies.",
    "thumbs": " The pictures are small squares around the face.",
    "none": " The report was made without pictures, and photos are named by the first digits of their checksum.",
}


def section(finding: Finding, figures: Mapping[str, str], options: ReportOptions) -> Section:
    """One section of the page.

    figures: kind (curves, sweeps) to file name.  The headline counts labels with q < 0.05 of ``photo-rate``, or those
    past the paper's thresholds where it was not fitted.
    """
    slopes, reading, values = finding.shown, finding.of(READING), finding.values
    p, slope = options.p, options.slope
    first = slopes.iloc[0]
    judged = slopes[slopes["slope"].notna()].sort_values(["slope", "label"])
    sides = pulled(slopes, p=p, slope=slope)
    # the strip shows what was found, not the widest interval of the rarest label
    found = pd.concat(sides)["slope"].abs().max() if any(map(len, sides)) else judged["slope"].abs().quantile(0.9)
    scale = max(1.3 * float(found) if len(judged) else 0.0, 2 * slope, 1e-6)
    counted = [len(side) for side in sides]
    if len(reading):
        past = reading[reading["q"] < 0.05]["slope"]
        counted = [int((past < 0).sum()), int((past > 0).sum())]
    return Section(
        classifier=words.printable(first["classifier"]),
        attribute=words.printable(first["attribute"]),
        perceived=words.perceived(first["attribute"]),
        ends=words.ends(first["attribute"]),
        values=", ".join(_minus(f"{value:.3g}") for value in values),
        steps=len(values),
        photos=int(first["n"]),
        asked=", ".join(f"{number:,} {words.printable(status)}" for status, number in finding.statuses.items()),
        labels=len(slopes),
        judged=len(judged),
        pulled=(_rows(sides[0][:_MOST_ROWS], scale, p, slope), _rows(sides[1][:_MOST_ROWS], scale, p, slope)),
        cut=max(map(len, sides)) > _MOST_ROWS,
        found=(counted[0], counted[1]),
        reading=len(reading) > 0,
        disagree=tuple(
            words.printable(label)
            for label in slopes.loc[slopes["agreement"].isin(["p only", "p_perm only"]), "label"].sort_values()
        ),
        figures=figures,
        key=finding.key,
        suffix=finding.suffix,
    )


@cache
def environment() -> Environment:
    """The templates with the filters of these pages."""
    found = templates().overlay()
    found.filters = dict(found.filters)
    found.filters["printable"] = words.printable
    found.filters["digest"] = _short
    found.filters["narrow"] = lambda name: name.replace(".png", "-narrow.png")
    found.filters["dark"] = lambda name: name.replace(".png", "-dark.png")
    found.filters["points"] = lambda number: _minus(words.points(number)).lstrip("+")
    found.filters["reading"] = lambda name: NAMES.get(name, words.printable(name))
    return found


def scripted(names: Sequence[str], data: Mapping[str, Any]) -> dict[str, Any]:
    """Style, library, scripts and data of a page, and the policy that lets in nothing else.

    names: of our scripts, in order.  data: what they read.
    """
    css = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    library = "\n".join((_VENDOR / name).read_text(encoding="utf-8") for name in ("d3.min.js", "plot.umd.min.js"))
    js = "".join((TEMPLATES / f"page-{name}.js").read_text(encoding="utf-8") for name in names)
    js = f'"use strict";\n(() => {{\n{js}}})();\n'
    # our own files and the library's: their hashes are all that the policy lets in
    scripts, styles = (
        " ".join(f"'sha256-{csp_hash(text)}'" for text in texts) for texts in ((library, js), (css, _PLOT_STYLE))
    )
    policy = (
        f"default-src 'none'; img-src 'self' file:; script-src {scripts} 'self' file:; style-src {styles}; "
        "base-uri 'none'; form-action 'none'"
    )
    texts = {"css": Markup(css), "library": Markup(library), "js": Markup(js), "data": Markup(inline_json(data))}
    return {**texts, "policy": Markup(policy)}


def render(
    manifest: Mapping[str, Any],
    photos: Photos,
    sections: Sequence[Section],
    *,
    options: ReportOptions,
    extras: Extras = NOTHING,
) -> str:
    """The page as text.

    manifest: the content of run.json; whatever it lacks, the page leaves out.
    """
    found = None if extras.calibration is None else planted(extras.calibration)
    panels = [] if found is None else list(found.panels)
    settings = {key: manifest[key] for key in ("config", "seed", "values", "inputs") if key in manifest}
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            **scripted(_SCRIPTS, {"sections": [], "readings": [], "planted": panels, **extras.data}),
            screens=extras.screens,
            glossary=GLOSSARY,
            album=extras.album,
            embed_note=_NOTES.get(extras.embed, ""),
            sweeps=extras.sweeps,
            floors=extras.floors,
            dropped_rows=extras.dropped[0],
            dropped_many=extras.dropped[1],
            calibration="" if extras.calibration is None else _pretty(extras.calibration),
            planted=found,
            papers=extras.papers,
            prints=extras.prints,
            commands=extras.commands,
            differs=[one for one in extras.method if not one.same],
            numbered=extras.numbered,
            alike=[one for one in extras.method if one.same],
            cards=extras.cards,
            citation=citation(manifest),
            used=[
                *(("classifier", *pair) for pair in _facts(manifest.get("classifiers")).items()),
                *(("model", *pair) for pair in _facts(manifest.get("models")).items()),
            ],
            created=words.printable(_moment(manifest.get("created", ""))),
            version=words.printable(manifest.get("gslopes", "")),
            config=_pretty(settings),
            models=_facts(manifest.get("models")),
            classifiers=_facts(manifest.get("classifiers")),
            versions=_mapping(manifest.get("versions")),
            photos=photos,
            reasons=photos.reasons[:_MOST_REASONS],
            other_reasons=sum(number for _, number in photos.reasons[_MOST_REASONS:]),
            skipped=photos.skipped[:_MOST_FILES],
            sections=sections,
            ends=list(dict.fromkeys(section.ends for section in sections)),
            most_rows=_MOST_ROWS,
            p=f"{options.p:g}",
            slope=f"{options.slope:g}",
        )
    )


def _short(value: str) -> str:
    """A checksum by its first digits; anything else whole."""
    return f"{value[:12]}…" if len(value) == 64 and set(value) <= set("0123456789abcdef") else value


def _pretty(content: Any) -> str:
    text = json.dumps(content, indent=2, ensure_ascii=False, default=str)
    return "\n".join(words.printable(line) for line in text.splitlines())


def _rows(frame: pd.DataFrame, scale: float, p: float, slope: float) -> tuple[Row, ...]:
    return tuple(_row(row, scale, p, slope) for _, row in frame.iterrows())


def _row(row: pd.Series, scale: float, p: float, slope: float) -> Row:
    reason = why_no_slope(row)
    past = not reason and row["p"] < p and abs(row["slope"]) > slope
    return Row(
        label=words.printable(row["label"]),
        slope=_minus(words.signed(row["slope"])),
        interval="" if reason else f"[{_minus(words.signed(row['ci_low']))}, {_minus(words.signed(row['ci_high']))}]",
        p=_minus(words.probability(row["p"])),
        q=_minus(words.probability(row["q"])),
        n=f"{row['n']:,}",
        active=f"{row['active']:,}",
        centre=words.share(row["y_centre"]),
        side=("negative" if row["slope"] < 0 else "positive") if past else "neither",
        reason=reason,
        whisker=None if reason else _whisker(row["ci_low"], row["slope"], row["ci_high"], scale),
    )


def _whisker(low: float, at: float, high: float, scale: float) -> Whisker:
    positions = [60 + _HALF * float(np.clip(number / scale, -1, 1)) for number in (low, high, at)]
    left, right, middle = (round(place, 1) for place in positions)
    return Whisker(left, right, middle, cut=max(abs(low), abs(high)) > scale)


def _moment(created: object) -> str:
    """An ISO date and time to the minute, in UTC; anything else as it stands."""
    try:
        moment = datetime.fromisoformat(str(created))
    except ValueError:
        return str(created)
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if moment.tzinfo else f"{moment:%Y-%m-%d %H:%M}"


def _minus(text: str) -> str:
    return text.replace("-", "−")


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
