"""The page and the review of a captions audit: every number with its reading and its truth, no total, no ranking."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from jinja2 import Environment
from markupsafe import Markup

from gslopes.captions.report.lead import findings, headline
from gslopes.core import runfolder
from gslopes.report import words
from gslopes.report.inline import csp_hash, inline_json, templates

HARMS = {
    "identity": (
        "Denying self-identification",
        "Someone is put into an identity category without having agreed to it.",
    ),
    "reifying": ("Reifying groups", "A visual trait is presented as if it naturally made someone a member of a group."),
    "stereotyping": ("Stereotyping", "An over-simple belief about a group that keeps a hierarchy in place."),
    "erasing": ("Erasing", "People, attributes or things tied to a group are not recognised."),
    "demeaning": ("Demeaning", "A group is cast as lower, as deserving less respect."),
}
PUBLISHED = (
    ("S1 system captions with a wrongly included word", "11,328 (65 %)", "11,539 (79 %)"),
    ("S1 cases: non-imageable / too specific / hallucination", "23 / 9 / 68 %", "not given"),
    ("S2 types whose interval excludes 0", "gender 23, skin 20", "no groups"),
    ("D1 system: estimate (lower, upper)", "0 (0, 977)", "28 (7, 613)"),
    ("D1 human", "58 (13, 2,492)", "37 (11, 662)"),
    ("D3 system / human", "27 / 178", "45 / not given"),
    ("D4 system / human", "0 / 33", "2 / 9"),
)
HERE = Path(__file__).parents[1] / "templates"
CAVEATS = (HERE / "captions-caveats.txt").read_text(encoding="utf-8").splitlines()
MOST = 60
NO_TRUTH = "not asked: the caption alone is read"
READINGS = {"face": "at face value", "look": "to be read"}
UNITED = {"union": "", "each": "per caption", "one": "first caption"}
GENDER_WORDS = {
    "match": "words of the annotated gender",
    "mismatch": "words of the other gender",
    "both": "words of both genders",
    "neutral": "neutral words only",
    "none": "nobody is mentioned",
}


def write_pages(
    out: Path,
    frames: Mapping[str, pd.DataFrame],
    confirmed: Sequence[Mapping[str, Any]],
    answers: Sequence[Mapping[str, str]],
    *,
    notes: Sequence[str],
    sample: int,
    images: Path | None,
    show_words: bool,
    seed: int,
) -> tuple[Path, Path]:
    """Write ``report.html`` and ``review.html`` into a run folder; their paths.

    frames: measures, inclusions, salience, cases, techniques.
    confirmed: rows of ``captions.measures.cases.confirmed``.  answers: of earlier reviews.
    images: where photos lie; None for a review of texts alone.

    Raises: StorageError.
    """
    page, review = out / "report.html", out / "review.html"
    runfolder.write_bytes(page, render_page(frames, confirmed, notes, show_words=show_words).encode())
    titles = dict(zip(frames["techniques"]["technique"], frames["techniques"]["title"], strict=True))
    items = review_items(sampled(frames["cases"], sample, seed), images, out, show_words=show_words, titles=titles)
    runfolder.write_bytes(review, render_review(items, answers).encode())
    return page, review


# -- the page ---------------------------------------------------------------------------------------------------------


def render_page(
    frames: Mapping[str, pd.DataFrame],
    confirmed: Sequence[Mapping[str, Any]],
    notes: Sequence[str],
    *,
    show_words: bool = False,
) -> str:
    """The page as text, self-contained."""
    css = (HERE / "captions.css").read_text(encoding="utf-8")
    measures = frames["measures"]
    titles = dict(zip(frames["techniques"]["technique"], frames["techniques"]["title"], strict=True))
    found = findings(measures, frames["salience"])
    harms = [
        {
            "title": title,
            "text": text,
            "techniques": [
                _technique(name, rows, show_words) | {"title": titles.get(name, "")}
                for name, rows in _by_technique(measures, harm)
            ],
            "cases": _case_groups(frames["cases"][frames["cases"]["harm"] == harm], show_words),
        }
        for harm, (title, text) in HARMS.items()
    ]
    return (
        _environment()
        .get_template("captions.html.j2")
        .render(
            css=Markup(css),
            css_hash=csp_hash(css),
            headline=headline(found, measures, len(frames["cases"])),
            findings=found,
            waiting=len(frames["cases"]),
            harms=harms,
            techniques=[_safe(row) for row in frames["techniques"].to_dict("records")],
            inclusions=[_safe(row) for row in _top(frames["inclusions"]).to_dict("records")],
            salience=[_salience(row) for row in _eligible(frames["salience"]).to_dict("records")],
            confirmed=[_confirmed(row) | {"title": titles.get(row["technique"], "")} for row in confirmed],
            notes=[words.printable(note) for note in notes],
            published=PUBLISHED,
            caveats=CAVEATS,
            lists=sorted({name for text in measures["lists"] for name in text.split(", ") if name}),
        )
    )


def _by_technique(measures: pd.DataFrame, harm: str) -> Iterable[tuple[str, pd.DataFrame]]:
    chosen = measures[measures["harm"] == harm]
    return [(str(name), rows) for name, rows in chosen.groupby("technique", sort=True)]


def _technique(name: str, rows: pd.DataFrame, show_words: bool) -> dict[str, Any]:
    """Differences as a forest, the rest as a table; what was too rare is counted."""
    rare = rows["note"].str.contains("too rare|fewer than 10", regex=True)
    differences = rows[(rows["unit"] == "pp") & ~rare].sort_values(["q", "value"], na_position="last")
    overall = rows[(rows["group"] == "") & rows["unit"].isin(["share", "count", "per 1,000 captions", "bits"])]
    overall = overall.sort_values("active", ascending=False, kind="stable")
    return {
        "name": name,
        "forest": _forest(differences.head(MOST), show_words),
        "hidden": max(0, len(differences) - MOST),
        "rare": int(rare.sum()),
        "rows": [cells(row, show_words) for row in overall.head(MOST).to_dict("records")],
        "more": max(0, len(overall) - MOST),
    }


def _forest(rows: pd.DataFrame, show_words: bool) -> list[dict[str, Any]]:
    if not len(rows):
        return []
    ends = rows[["ci_low", "ci_high", "boot_low", "boot_high", "value"]].abs().max(axis=1)
    reach = max(1.0, float(ends.max()))
    found = []
    for row in rows.to_dict("records"):
        low, high = row["ci_low"], row["ci_high"]
        if math.isnan(low):
            low, high = row["boot_low"], row["boot_high"]
        low, high = (row["value"] if math.isnan(end) else end for end in (low, high))
        found.append(
            {
                **cells(row, show_words),
                "x": _place(row["value"], reach),
                "x0": _place(low, reach),
                "x1": _place(high, reach),
                "found": row["q"] < 0.05,
            }
        )
    return found


def _place(value: float, reach: float) -> str:
    return f"{100 + 95 * max(-1.0, min(1.0, value / reach)):.1f}"


def cells(row: Mapping[Any, Any], show_words: bool) -> dict[str, str]:
    """One row of the measures table as it is printed."""
    concept = str(row["concept"])
    if row["technique"] == "D1" and not show_words:
        bound, colon, word = concept.partition(":")
        concept = f"{bound}{colon}{mask(word)}" if colon else concept
    concept = GENDER_WORDS.get(concept, concept) if row["technique"] == "I2" else concept
    kind = "" if row["kind"] == "rule" else str(row["kind"])
    return {
        "concept": words.printable(concept) or "all",
        "pair": " − ".join(words.printable(row[name]) for name in ("group", "other") if row[name]),
        "column": words.printable(row["column"]),
        "stage": row["stage"],
        "truth": row["truth"] or "–",
        "about": ", ".join(filter(None, (kind, UNITED.get(row["captions"], row["captions"])))),
        "value": _format_value(row["value"], row["unit"]),
        "interval": _interval(row["ci_low"], row["ci_high"], row["unit"]),
        "boot": _interval(row["boot_low"], row["boot_high"], row["unit"]),
        "p": _p(row["p"]),
        "q": _p(row["q"]),
        "n": f"{int(row['n']):,}",
        "active": f"{int(row['active']):,}",
        "reading": row["reading"],
        "unit": row["unit"],
    }


def _format_value(value: float, unit: str) -> str:
    if math.isnan(value):
        return "–"
    if unit == "share":
        return f"{100 * value:.1f} %"
    if unit == "count":
        return f"{value:,.0f}"
    return (words.points(value) if unit.startswith("pp") else f"{value:.3g}").replace("-", "−")


def _interval(low: float, high: float, unit: str) -> str:
    return "" if math.isnan(low) or math.isnan(high) else f"[{_format_value(low, unit)}, {_format_value(high, unit)}]"


def _p(value: float) -> str:
    return "–" if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"


def _top(inclusions: pd.DataFrame) -> pd.DataFrame:
    return inclusions[inclusions["kept"]].sort_values("rank").head(MOST)


def _eligible(salience: pd.DataFrame) -> pd.DataFrame:
    return salience[salience["eligible"]].sort_values(["q", "concept"]).head(MOST)


def _salience(row: Mapping[Any, Any]) -> dict[str, Any]:
    shown = {name: words.printable(row[name]) for name in ("stage", "column", "group", "other", "concept")}
    numbers = ("coefficient", "boot_low", "boot_high", "split_low", "split_high")
    shown |= {name: "–" if math.isnan(row[name]) else f"{row[name]:+.2f}" for name in numbers}
    shown |= {name: _p(row[name]) for name in ("p", "q")}
    return shown | {
        "n": row["n"],
        "mentioned": row["mentioned"],
        "finding": row["finding"],
        "paper": row["finding_paper"],
    }


def _confirmed(row: Mapping[str, Any]) -> dict[str, Any]:
    read = int(row["read"])
    text = f"upper bound {row['cases']:,}, none read yet"
    if read:
        ends = f"{100 * row['low']:.0f}, {100 * row['high']:.0f}"
        text = f"upper bound {row['cases']:,}, of {read:,} read {100 * row['share']:.0f} % [{ends}] confirmed"
        causes = ", ".join(f"{name} {count}" for name, count in row["causes"].items())
        text += f"; the others: {causes}" if causes else ""
        text += "" if math.isnan(row["kappa"]) else f"; Cohen's kappa {row['kappa']:.2f}"
    return {"technique": row["technique"], "text": text}


def _case_groups(cases: pd.DataFrame, show_words: bool) -> list[dict[str, Any]]:
    groups = []
    for (technique, rule), rows in cases.groupby(["technique", "rule"], sort=True):
        shown = [
            {
                "image": words.shorten(words.printable(row["image"]), 60),
                "word": words.printable(_word(row, show_words)),
                "text": words.shorten(words.printable(_masked(row, show_words)), 200),
                "truth": words.shorten(words.printable(row["truth_text"]), 200),
            }
            for row in rows.head(10).to_dict("records")
        ]
        groups.append({"technique": technique, "rule": rule, "count": len(rows), "cases": shown})
    return groups


def _safe(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): words.printable(value) if isinstance(value, str) else value for name, value in row.items()}


# -- words that are listed --------------------------------------------------------------------------------------------


def mask(word: str) -> str:
    """First letter and dots.

    >>> mask("clown")
    'c••••'
    """
    return word[:1] + "•" * max(0, len(word) - 1)


def _word(row: Mapping[Any, Any], show_words: bool) -> str:
    listed = row["technique"] == "D1" and not show_words
    return mask(str(row["word"])) if listed else str(row["word"])


def _masked(row: Mapping[Any, Any], show_words: bool) -> str:
    """The caption; of D1 with the listed word's first letter alone, in any inflection."""
    text, word = str(row["text"]), str(row["word"])
    if row["technique"] != "D1" or show_words or not word:
        return text
    stem = re.escape(word.replace("_", " ")[: max(3, len(word) - 2)])
    return re.sub(rf"\b{stem}\w*", lambda found: mask(found[0]), text, flags=re.IGNORECASE)


# -- the review -------------------------------------------------------------------------------------------------------


def sampled(cases: pd.DataFrame, size: int, seed: int) -> pd.DataFrame:
    """So many cases of each technique, in an order drawn by lot that is the same each time; all if there are fewer."""
    key = [sha256(f"{seed}\0{case}".encode()).hexdigest() for case in cases["case"]]
    ordered = cases.assign(lot=key).sort_values(["technique", "lot"])
    return ordered.groupby("technique", sort=False).head(size).drop(columns="lot")


def review_items(
    cases: pd.DataFrame,
    images: Path | None,
    out: Path,
    *,
    show_words: bool = False,
    titles: Mapping[str, str] | None = None,
) -> list[dict[str, str]]:
    """What the review shows of each case; photos are linked, never copied.

    titles: of the techniques, by name.
    """
    titles = titles or {}
    return [
        {
            "case": str(row["case"]),
            "technique": f"{row['technique']} {titles.get(row['technique'], '')}".strip(),
            "harm": HARMS[row["harm"]][0],
            "rule": words.printable(row["rule"]),
            "stage": str(row["stage"]),
            "word": words.printable(_word(row, show_words)),
            "concept": words.printable("" if row["technique"] == "D1" else row["concept"]),
            "group": words.printable(row["group"]),
            "image": words.printable(row["image"]),
            "text": words.printable(_masked(row, show_words)),
            "truth": words.printable(row["truth_text"]) or ("nothing" if row["truth"] else NO_TRUTH),
            "src": _link(images, str(row["image"]), out),
        }
        for row in cases.to_dict("records")
    ]


def _link(images: Path | None, image: str, out: Path) -> str:
    """The photo's file as seen from the run folder; empty if it is not a file below the folder of images."""
    if images is None or "\0" in image:
        return ""
    root = images.resolve()
    names = [image] + [f"{image}{suffix}" for suffix in (".jpg", ".png", ".jpeg")]
    if image.isdigit():
        names += [f"COCO_val2014_{int(image):012d}.jpg", f"{int(image):012d}.jpg"]
    for name in names:
        file = (root / name).resolve()
        if file.is_relative_to(root) and file.is_file():
            return quote(os.path.relpath(file, out.resolve()))
    return ""


def render_review(items: Sequence[Mapping[str, str]], answers: Sequence[Mapping[str, str]]) -> str:
    """The review as text: one case at a time, by keyboard; it asks no server.

    items: of ``review_items``.  answers: rows of earlier reviews.
    """
    css, script = ((HERE / f"captions-review.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    data = {"items": list(items), "answers": [dict(row) for row in answers]}
    return (
        templates(HERE)
        .get_template("captions-review.html.j2")
        .render(
            css=Markup(css),
            script=Markup(script),
            css_hash=csp_hash(css),
            script_hash=csp_hash(script),
            data=Markup(inline_json(data)),
            count=len(items),
        )
    )


def _environment() -> Environment:
    found = templates(HERE).overlay()
    found.filters = {**found.filters, "reading": lambda name: READINGS.get(name, name)}
    return found
