"""The page: one HTML file that asks nothing of any server; every label and file name in it is escaped."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from numpy.typing import NDArray

from gslopes.report import words
from gslopes.report.tables import pulled, why_no_slope

_TEMPLATES = Path(__file__).parent / "templates"
_MOST_ROWS, _MOST_FILES, _MOST_REASONS = 500, 200, 12
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
    rows: tuple[Row, ...]
    figures: Mapping[str, str]


def section(
    slopes: pd.DataFrame,
    values: NDArray[np.float64],
    statuses: Mapping[str, int],
    figures: Mapping[str, str],
    *,
    p: float,
    slope: float,
) -> Section:
    """One section of the page.

    slopes: rows of one classifier, attribute and estimator.  values: (K,), or none if unknown.
    statuses: how many pictures were answered, refused, failed.  figures: kind (curves, sweeps) to file name.
    """
    first = slopes.iloc[0]
    judged = slopes[slopes["slope"].notna()].sort_values(["slope", "label"])
    sides = pulled(slopes, p=p, slope=slope)
    # the strip shows what was found, not the widest interval of the rarest label
    found = pd.concat(sides)["slope"].abs().max() if any(map(len, sides)) else judged["slope"].abs().quantile(0.9)
    scale = max(1.3 * float(found) if len(judged) else 0.0, 2 * slope, 1e-6)
    ordered = pd.concat([judged, slopes[slopes["slope"].isna()].sort_values("label")])
    return Section(
        classifier=words.printable(first["classifier"]),
        attribute=words.printable(first["attribute"]),
        perceived=words.perceived(first["attribute"]),
        ends=words.ends(first["attribute"]),
        values=", ".join(_minus(f"{value:.3g}") for value in values),
        steps=len(values),
        photos=int(first["n"]),
        asked=", ".join(f"{number:,} {words.printable(status)}" for status, number in statuses.items()),
        labels=len(slopes),
        judged=len(judged),
        pulled=(_rows(sides[0], scale, p, slope), _rows(sides[1], scale, p, slope)),
        rows=_rows(ordered[:_MOST_ROWS], scale, p, slope),
        figures=figures,
    )


def render(manifest: Mapping[str, Any], photos: Photos, sections: list[Section], *, p: float, slope: float) -> str:
    """The page as text.

    manifest: the content of run.json; whatever it lacks, the page leaves out.
    """
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["printable"] = words.printable
    css = (_TEMPLATES / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(sha256(css.encode()).digest()).decode()
    settings = {key: manifest[key] for key in ("config", "seed", "values", "inputs") if key in manifest}
    config = json.dumps(settings, indent=2, ensure_ascii=False, default=str)
    return environment.get_template(
        "page.html.j2"
    ).render(
        css=Markup(css),  # our own file; its hash is all that the policy lets in
        css_hash=digest,
        created=words.printable(_moment(manifest.get("created", ""))),
        version=words.printable(manifest.get("gslopes", "")),
        config="\n".join(words.printable(line) for line in config.splitlines()),
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
        p=f"{p:g}",
        slope=f"{slope:g}",
    )


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
        centre=f"{row['y_centre']:.1%}",
        side=("negative" if row["slope"] < 0 else "positive") if past else "neither",
        reason=reason,
        whisker=None if reason else _whisker(row["ci_low"], row["slope"], row["ci_high"], scale),
    )


def _whisker(low: float, at: float, high: float, scale: float) -> Whisker:
    places = [60 + _HALF * float(np.clip(number / scale, -1, 1)) for number in (low, high, at)]
    left, right, middle = (round(place, 1) for place in places)
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
