"""The page: one HTML file that asks nothing of any server; every label and file name in it is escaped."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

import pandas as pd

from gslopes.faces.zoo import home
from gslopes.report import inline, numbers, units, words
from gslopes.report.charts import whisker
from gslopes.slopes.report import decisions
from gslopes.slopes.report.loading import STEPS, Credit, Finding, ReportOptions
from gslopes.slopes.report.paper import pulled, why_no_slope

HERE = Path(__file__).parents[1] / "templates"

_CONFIGURATION = ("seed", "values", "inputs")
_MOST_ROWS, _MOST_FILES, _MOST_REASONS = 100, 200, 12
_SCRIPTS = ("base", "plots", "findings", "compare", "label", "explorer", "start")
# What a page has in addition to its sections, and what stands for each part that is missing.
# data: for the scripts.  sweeps, floors, dropped: see ``validity``.
# papers: tables of the paper, without ending.  prints: figures for print.  commands, cards: see there.
# album: number of photos in the explorer.  screens: see ``screen``, the strongest first.
# method: how the run differs from the paper.  numbered: the paper's figures.  errors, observed: see there.
# quote, truth: see there.  unanswered: see ``loading.unanswered``.
_PARTS: Mapping[str, Any] = {
    "data": {},
    "dropped": ((), 0),
    "quote": None,
    "truth": None,
    "album": 0,
    **dict.fromkeys(("sweeps", "floors", "errors", "observed", "papers", "prints", "commands", "cards"), ()),
    **dict.fromkeys(("screens", "method", "numbered", "unanswered"), ()),
}
_NOTES = {
    "full": " The pictures are whole copies.",
    "thumbs": " The pictures are small squares around the face.",
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
    """All that the page says about one classifier and attribute.

    pulled: rows of the labels past the paper's thresholds, for each end.  cut: whether rows are left out.
    disagree: labels on which the paper's p and the permutations differ.  measures: of its labels.
    figures: kind to file name.
    """

    classifier: str
    attribute: str
    perceived: str
    ends: tuple[str, str]
    measures: frozenset[str]
    values: str
    steps: int
    asked: str
    labels: int
    judged: int
    pulled: tuple[list[dict[str, Any]], list[dict[str, Any]]]
    cut: bool
    disagree: tuple[str, ...]
    figures: Mapping[str, str]
    key: str
    suffix: str
    credits: tuple[tuple[str, Credit], ...] = ()


def section(finding: Finding, figures: Mapping[str, str], options: ReportOptions) -> Section:
    """One section of the page.  figures: kind (curves, sweeps) to file name."""
    slopes, values = finding.shown, finding.values
    judged = slopes[slopes["slope"].notna()]
    sides = pulled(slopes, p=options.p, slope=options.slope)
    # the strip shows what was found, not the widest interval of the rarest label
    found = pd.concat(sides)["slope"].abs().max() if any(map(len, sides)) else judged["slope"].abs().quantile(0.9)
    scale = max(1.3 * float(found) if len(judged) else 0.0, 2 * options.slope, 1e-6)
    disagree = slopes.loc[slopes["agreement"].isin(["p only", "p_perm only"]), "label"].sort_values()
    attribute = str(slopes["attribute"].iloc[0])
    negative, positive = ([_row(row, scale) for _, row in side[:_MOST_ROWS].iterrows()] for side in sides)
    return Section(
        classifier=words.printable(slopes["classifier"].iloc[0]),
        attribute=words.printable(attribute),
        perceived=words.perceived(attribute),
        ends=words.ends(attribute),
        measures=frozenset(map(units.measure_of, finding.read[finding.read["slope"].notna()].to_dict("records"))),
        values=", ".join(map(numbers.value, values)),
        steps=len(values),
        asked=", ".join(_asked(finding, status, number) for status, number in finding.statuses.items()),
        labels=len(slopes),
        judged=len(judged),
        pulled=(negative, positive),
        cut=max(map(len, sides)) > _MOST_ROWS,
        disagree=tuple(map(words.printable, disagree)),
        figures=figures,
        key=finding.key,
        suffix=finding.suffix,
    )


def _asked(finding: Finding, status: str, number: int) -> str:
    why = f" ({finding.why[status]})" if status in finding.why else ""
    return f"{number:,} {words.printable(status)}{why}"


def _row(row: pd.Series, scale: float) -> dict[str, Any]:
    """One label of a table of the paper, as text.  scale: of the drawn intervals."""
    reason = why_no_slope(row)
    return {
        "label": words.label(row["label"]),
        "slope": numbers.signed(row["slope"]),
        "interval": numbers.interval(row["ci_low"], row["ci_high"], numbers.signed),
        "p": numbers.probability(row["p"]),
        "q": numbers.probability(row["q"]),
        "n": f"{row['n']:,}",
        "active": f"{row['active']:,}",
        "centre": numbers.share(row["y_centre"]),
        "side": "negative" if row["slope"] < 0 else "positive",
        "reason": reason,
        "whisker": None
        if reason or math.isnan(row["ci_low"])
        else whisker(row["ci_low"], row["slope"], row["ci_high"], scale),
    }


def render(
    manifest: Mapping[str, Any], photos: Photos, sections: Sequence[Section], *, options: ReportOptions, **parts: Any
) -> str:
    """The page as text.

    manifest: the content of run.json; whatever it lacks, the page leaves out.  parts: see ``_PARTS``.
    """
    known = {**_PARTS, **parts}
    dropped = known.pop("dropped")
    method = known.pop("method")
    return inline.render(
        "page.html.j2",
        house=HERE,
        scripts=[f"page-{name}.js" for name in _SCRIPTS],
        plots=True,
        data={"sections": [], "readings": [], **known.pop("data")},
        decisions=[(decisions.SHOWN[code], decisions.ABOUT[code]) for code in decisions.CODES],
        embed_note=_NOTES[options.embed],
        steps=STEPS,
        dropped_rows=dropped[0],
        dropped_many=dropped[1],
        differs=[one for one in method if not one.same],
        alike=[one for one in method if one.same],
        citation=citation(manifest),
        created=words.printable(_moment(manifest.get("created", ""))),
        config=_pretty(_short(_configuration(manifest))),
        models=_facts(manifest.get("models")),
        classifiers=_facts(manifest.get("classifiers")),
        versions=_mapping(manifest.get("versions")),
        photos=photos,
        reasons=photos.reasons[:_MOST_REASONS],
        other_reasons=sum(number for _, number in photos.reasons[_MOST_REASONS:]),
        skipped=photos.skipped[:_MOST_FILES],
        sections=sections,
        ends=list(dict.fromkeys(section.ends for section in sections)),
        measures=sorted(set().union(*(section.measures for section in sections))) or ["presence"],
        most_rows=_MOST_ROWS,
        p=f"{options.p:g}",
        slope=f"{options.slope:g}",
        **known,
    )


def _configuration(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What the run is; older manifests call it ``config``."""
    known = {"config": manifest.get("identity", manifest.get("config"))}
    known |= {key: manifest[key] for key in _CONFIGURATION if key in manifest}
    return {key: value for key, value in known.items() if value is not None}


def _short(content: Any) -> Any:
    """The same with numbers of four digits: values are kept as float32, whose last digits say nothing."""
    if isinstance(content, Mapping):
        return {key: _short(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_short(value) for value in content]
    return float(f"{content:.4g}") if isinstance(content, float) else content


def _pretty(content: Any) -> str:
    text = json.dumps(content, indent=2, ensure_ascii=False, default=str)
    return "\n".join(words.printable(line) for line in text.splitlines())


def _moment(created: object) -> str:
    """An ISO date and time to the minute, in UTC; anything else as it stands."""
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


# -- where the numbers come from --------------------------------------------------------------------------------------

BIBTEX = """\
@inproceedings{joo2020gender,
  author    = {Joo, Jungseock and K{\\"a}rkk{\\"a}inen, Kimmo},
  title     = {Gender Slopes: Counterfactual Fairness for Computer Vision Models by Attribute Manipulation},
  booktitle = {Proceedings of the 2nd International Workshop on Fairness, Accountability, Transparency and Ethics
               in Multimedia (FATE/MM '20)},
  year      = {2020},
  doi       = {10.1145/3422841.3423533}
}

@inproceedings{lample2017fader,
  author    = {Lample, Guillaume and Zeghidour, Neil and Usunier, Nicolas and Bordes, Antoine and Denoyer, Ludovic
               and Ranzato, Marc'Aurelio},
  title     = {Fader Networks: Manipulating Images by Sliding Attributes},
  booktitle = {Advances in Neural Information Processing Systems 30},
  year      = {2017}
}"""

# Where an option's value stands in the configuration of run.json, and what it is if it was not given.
_OPTIONS = (
    (("edit", "steps"), "--steps", None),
    (("edit", "model"), "--editor", ""),
    (("find", "min_face"), "--min-face", 32),
    (("find", "landmarks"), "--landmarks", None),
    (("compose", "region"), "--region", "auto"),
    (("compose", "blend"), "--blend", "auto"),
    (("compose", "format"), "--format", "jpeg"),
    (("compose", "masks"), "--masks", None),
    (("limit",), "--limit", None),
)


def citation(manifest: Mapping[str, Any]) -> str:
    """BibTeX of the method, of the editor's architecture, and of the program in the version that was used."""
    version = words.printable(manifest.get("gslopes", "")) or "unknown"
    software = (
        f"@software{{gslopes,\n  title   = {{gslopes}},\n  version = {{{version}}},\n  license = {{Apache-2.0}}\n}}"
    )
    return f"{BIBTEX}\n\n{software}"


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


def commands(manifest: Mapping[str, Any], p: float, slope: float) -> list[str]:
    """The commands that make the run again, from its own configuration; none if run.json does not say."""
    config = manifest.get("config")
    if not isinstance(config, Mapping) or not isinstance(config.get("edit"), Mapping):
        return []
    parts: list[str] = ["gslopes", "audit", str(config.get("photos", "PHOTOS"))]
    for attribute in _listed(config["edit"].get("attributes")):
        parts += ["--attribute", attribute]
    classifiers = manifest.get("classifiers")
    for classifier in classifiers if isinstance(classifiers, Mapping) else ():
        parts += ["--classifier", str(classifier)]
    ends = config["edit"].get("range")
    if isinstance(ends, list) and len(ends) == 2:
        parts += [f"--range={ends[0]},{ends[1]}"]
    for path, option, default in _OPTIONS:
        value = _at(config, path)
        if value not in (default, None):
            parts += [option, str(value)]
    if _at(config, ("compose", "placebo")) is False:
        parts.append("--no-placebo")
    if manifest.get("seed"):
        parts += ["--seed", str(manifest["seed"])]
    again = [shlex.join([words.printable(word) for word in [*parts, "--out", "RUN"]])]
    return [*again, f"gslopes audit RUN --only report --set report.p={p:g} --set report.slope={slope:g}"]


def cards(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(name, card as Markdown) of the run's models, where this installation has the very same weights."""
    models = manifest.get("models")
    found = []
    for name, facts in models.items() if isinstance(models, Mapping) else ():
        digest = str(facts.get("sha256", "")) if isinstance(facts, Mapping) else ""
        text = _card(str(name), digest)
        if text:
            found.append((words.printable(name), text))
    return found


def _card(name: str, digest: str) -> str:
    if not digest or not name.replace("-", "").isalnum():
        return ""
    folder, weights = home.find("models", name), home.find("weights", name)
    try:
        if folder is None or weights is None or digest not in (weights / "sha256").read_text(encoding="ascii"):
            return ""
        card = (folder / "card.md").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
    return "\n".join(words.printable(line) for line in card.splitlines())


def _at(config: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = config
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _listed(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []
