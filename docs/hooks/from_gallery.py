"""Pages of the gallery, from the JSON files that notebooks/gallery/make.py wrote and the facts in models.toml."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from from_code import table

from gslopes.report import numbers, units, words
from gslopes.slopes.page import decisions

GALLERY = Path(__file__).resolve().parents[1] / "gallery"
EVERYWHERE = (
    "It is an association under this edit, which also moves what the run's page lists under validity.",
    "It is not a gap between people, and it says nothing about photos of another kind.",
)

# Of a slope, in few words: after its number, per unit of the attribute.
UNITS = {units.UNITS["presence"]: "points", units.UNITS["log-odds"]: "of the odds"}


@cache
def models() -> dict[str, dict[str, Any]]:
    """Name to facts, of those that were run, in the order of the index."""
    facts = tomllib.loads((GALLERY / "models.toml").read_text("utf-8"))
    return {name: one for name, one in facts.items() if (GALLERY / f"{name}.json").is_file()}


def titles() -> dict[str, str]:
    """Page to its title in the navigation."""
    return {f"gallery/{name}.md": str(one["title"]) for name, one in models().items()}


def pages() -> dict[str, str | bytes]:
    """Page, or picture, to its content."""
    made: dict[str, str | bytes] = {f"gallery/{name}.md": page(name) for name in models()}
    return made | {f"gallery/{path.name}": path.read_bytes() for path in GALLERY.glob("*.jpg")}


def page(name: str) -> str:
    """One classifier: the finding, the first screen of its page, what it is, every slope, the command, the limits."""
    facts, runs = models()[name], results(name)
    parts = [f"# {facts['title']}", f"**{first_sentence(runs)}**"]
    if (GALLERY / f"{name}.jpg").is_file():
        shown = facts.get("drawn", "without photos")
        parts.append(f"![The first screen of the page, {shown}]({name}.jpg)")
    parts.append(facts["about"])
    for photos, run in runs.items():
        parts += [f"## {photos}", f"Region of the edits: {run['region']}."]
        for attribute, found in run["attributes"].items():
            parts += along(attribute, found)
        parts += paper(name, photos, run)
    kept = {key: facts[key] for key in ("model", "package", "licence")}
    parts += ["## The model", table(("", ""), kept.items()), "## The command", command(facts)]
    return "\n\n".join(
        [*parts, "## What it does not show", bullets([*facts["limits"], *EVERYWHERE])]
    )


def along(attribute: str, found: Mapping[str, Any]) -> list[str]:
    """One attribute: its sentence, how many photos, and its labels."""
    photos = found["photos"]
    about = (
        f"{photos['judged']:,} of {photos['found']:,} photos are in the slopes. {found['sentence']}"
    )
    parts = [f"### Along {words.perceived(attribute)}", about]
    rows = [
        (
            f"`{one['label']}`",
            slope(one),
            numbers.probability(one["q"]),
            decisions.SHOWN[one["decision"]],
            placebo(one),
        )
        for one in found["labels"]
    ]
    if rows:
        parts.append(
            table(("label", "slope, 95 % interval", "q", "decision", "furthest placebo"), rows)
        )
    parts += moves_too(found)
    if found["judged"] > len(rows):
        parts.append(
            f"{found['judged'] - len(rows):,} more labels are judged; the run's `findings.csv` has them all."
        )
    return parts


def paper(name: str, photos: str, run: Mapping[str, Any]) -> list[str]:
    """The tables and figures of Joo and Kärkkäinen of a run, where they were made."""
    if "tables" not in run:
        return []
    label = models()[name]["figure2"][0]
    parts = ["### As Joo and Kärkkäinen print it"]
    for number, text in run["tables"].items():
        caption, _, rows = text.partition("\n\n")
        about = f"**Table {number.removeprefix('table')}.** {caption}"
        parts += [about, rows] if rows.count("\n") > 2 else [f"{about} There is none."]
    for attribute in dict.fromkeys(key.partition(",")[0] for key in run["attributes"]):
        file = f"{name}-{photos.lower().replace(' ', '-')}-{attribute}.jpg"
        if (GALLERY / file).is_file():
            text = f"Figure 2. The share of photos with {label} along {words.perceived(attribute)}"
            parts.append(f"![{text}]({file})")
    return parts


def moves_too(found: Mapping[str, Any]) -> list[str]:
    """What the edit moves next to the attribute: readings whose interval does not hold 0."""
    told = [
        f"{name} {numbers.with_interval(one['value'], one['low'], one['high'], numbers.ratio)}"
        for name, one in found["moves_too"].items()
        if one["low"] * one["high"] > 0
    ]
    return (
        [f"The edit moves other readings too, as shares of its own slope: {', '.join(told)}."]
        if told
        else []
    )


def command(facts: Mapping[str, Any]) -> str:
    """What makes the run, in notebooks/gallery of a checkout."""
    options = facts.get("options", "--attribute gender --attribute race")
    audit = f"gslopes audit PHOTOS {options} --out RUN \\\n    --classifier {facts['classifier']}"
    setup = [facts["setup"].strip()] if facts["setup"] else []
    return "\n".join(["```bash", *setup, audit, "```"])


def pictures() -> str:
    """All classifiers: the first screen of each one's page, which leads there, and one sentence."""
    cards = []
    for name, facts in models().items():
        picture = f"[![The first screen of the page about {facts['title']}]({name}.jpg)]({name}.md)"
        sentence = f"**[{facts['title']}]({name}.md)**, {first_sentence(results(name))}"
        cards.append(f"<div markdown>\n{picture}\n\n{sentence}\n</div>")
    return "\n".join(['<div class="gallery" markdown>', *cards, "</div>"])


def gallery() -> str:
    """All classifiers next to each other: the first label of each run and attribute."""
    rows = []
    for name, facts in models().items():
        for photos, run in results(name).items():
            for attribute, found in run["attributes"].items():
                title = f"[{facts['title']}]({name}.md)"
                rows.append((title, photos, attribute, *first(found)))
    heads = (
        "classifier",
        "photos",
        "perceived",
        "label",
        "slope, 95 % interval",
        "decision",
        "findings",
    )
    return table(heads, rows)


def first(found: Mapping[str, Any]) -> Iterable[str]:
    """The first label of a run: the steepest finding, or the steepest of the labels that are judged."""
    if not found["labels"]:
        return "–", "–", decisions.SHOWN[decisions.UNJUDGED], "0 of 0"
    one = found["labels"][0]
    decision = decisions.SHOWN[one["decision"]]
    return f"`{one['label']}`", slope(one), decision, f"{found['findings']} of {found['judged']}"


def first_sentence(runs: Mapping[str, Any]) -> str:
    """The sentence about the first photos, along the attribute with most findings."""
    photos, run = next(iter(runs.items()))
    most = max(run["attributes"].values(), key=lambda found: found["findings"])
    return f"{photos}: {most['sentence']}"


def results(name: str) -> dict[str, Any]:
    """Photos to what the audit of them found."""
    return dict(json.loads((GALLERY / f"{name}.json").read_text("utf-8"))["runs"])


def slope(one: Mapping[str, Any]) -> str:
    """A slope with its interval and the unit of its measure."""
    write = units.writer(one["measure"])
    unit = UNITS.get(one["unit"], one["unit"])
    ends = numbers.interval(one["ci_low"], one["ci_high"], write).replace(" ", "\N{NO-BREAK SPACE}")
    return f"{write(one['slope'])} {ends} {unit}".replace(" %", "\N{NO-BREAK SPACE}%")


def placebo(one: Mapping[str, Any]) -> str:
    """The slope of the placebo that goes furthest from 0."""
    return numbers.NONE if one["placebo"] is None else units.writer(one["measure"])(one["placebo"])


def bullets(lines: Iterable[str]) -> str:
    """A Markdown list."""
    return "\n".join(f"- {line}" for line in lines)


MACROS: dict[str, Callable[..., str]] = {"gallery": gallery, "pictures": pictures}
