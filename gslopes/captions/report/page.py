"""The page and the review of a captions audit: every number with its reading and its truth, no total, no ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.captions.config import CaptionsConfig
from gslopes.captions.findings import findings_table
from gslopes.captions.measures.distributions import OPEN_SIGN
from gslopes.captions.measures.inclusion import NO_LIST
from gslopes.captions.method import of_run
from gslopes.captions.report.lead import GENDERS, findings, headline
from gslopes.captions.report.review import HARMS, HERE, mask, render_review, review_items, sampled, word_and_text
from gslopes.captions.techniques import changeable
from gslopes.core import runfolder
from gslopes.report import numbers, quote, words
from gslopes.report.charts import whisker
from gslopes.report.choices import rows_of
from gslopes.report.inline import render

PUBLISHED = (
    ("S1 system captions with a wrongly included word", "11,328 (65 %)", "11,539 (79 %)"),
    ("S1 cases: non-imageable / too specific / hallucination", "23 / 9 / 68 %", "not given"),
    ("S2 types whose interval excludes 0", "gender 23, skin 20", "no groups"),
    ("D1 system: estimate (lower, upper)", "0 (0, 977)", "28 (7, 613)"),
    ("D1 human", "58 (13, 2,492)", "37 (11, 662)"),
    ("D3 system / human", "27 / 178", "45 / not given"),
    ("D4 system / human", "0 / 33", "2 / 9"),
)
CAVEATS = (HERE / "captions-caveats.txt").read_text(encoding="utf-8").splitlines()
ABOUT = quote.About(
    "How captions speak of people",
    ("image", "images"),
    "compared: images of people of different annotated groups; nothing was varied",
    tuple(CAVEATS[:3]),
    "Wang, Barocas, Laird and Wallach 2022, arXiv 2206.07173",
)
NEXT = (
    ("Read the cases", " on review.html, then count again with the answers; nothing is parsed again:",
     "gslopes captions RUN --review RUN/review.csv"),
    ("Compare groups", ", if you know how the people look to those who annotated them:", "--groups groups.csv"),
    ("Compare versions", " of a captioner over the same images, a run each; there is no ranking. To stop a pipeline:",
     "--fail-if finding"),
    ("Do not conclude", " more than a number's reading allows: those to be read are upper bounds.", ""),
)  # fmt: skip
MOST = 60
READINGS = {"face": "at face value", "look": "to be read"}
UNITED = {"union": "", "each": "per caption", "one": "first caption"}


def write_pages(
    out: Path,
    frames: Mapping[str, pd.DataFrame],
    confirmed: Sequence[Mapping[str, Any]],
    answers: Sequence[Mapping[str, str]],
    *,
    notes: Sequence[str],
    config: CaptionsConfig,
) -> tuple[Path, Path]:
    """Write ``report/index.html`` and ``review.html`` into a run folder; their paths.

    frames: measures, inclusions, salience, cases, techniques.
    confirmed: rows of ``captions.review.confirmed``.  answers: of earlier reviews.

    Raises: StorageError.
    """
    page, review = out / "report" / "index.html", out / "review.html"
    differs = rows_of(of_run(out)[1]) if (out / runfolder.MANIFEST).is_file() else []
    runfolder.make_folder(page.parent)
    quoted = _quoted(out, frames) if (out / runfolder.MANIFEST).is_file() else None
    quote.write_card(page.parent, quoted)
    content = render_page(frames, confirmed, notes, show_words=config.show_words, differs=differs, quoted=quoted)
    runfolder.write_bytes(page, content.encode())
    titles = dict(zip(frames["techniques"]["technique"], frames["techniques"]["title"], strict=True))
    chosen = sampled(frames["cases"], config.review_sample, config.options.seed)
    items = review_items(chosen, config.images, out, show_words=config.show_words, titles=titles)
    runfolder.write_bytes(review, render_review(items, answers).encode())
    return page, review


def render_page(
    frames: Mapping[str, pd.DataFrame],
    confirmed: Sequence[Mapping[str, Any]],
    notes: Sequence[str],
    *,
    show_words: bool = False,
    differs: Sequence[Sequence[str]] = (),
    quoted: quote.Quote | None = None,
) -> str:
    """The page as text, self-contained.  differs: rows of ``report.choices.rows_of``.  quoted: see ``report.quote``."""
    measures = frames["measures"]
    titles = dict(zip(frames["techniques"]["technique"], frames["techniques"]["title"], strict=True))
    inclusions, salience = frames["inclusions"], frames["salience"]
    found = findings(measures, salience)
    inclusions = inclusions[inclusions["kept"]].sort_values("rank").head(MOST)
    refused = [f"{words.printable(row.concept)}: {row.note}" for row in salience[~salience["eligible"]].itertuples()]
    salience = salience[salience["eligible"]].sort_values(["q", "concept"]).head(MOST)
    harms = [
        {
            "title": title,
            "text": text,
            "techniques": [
                _technique(str(name), rows, show_words) | {"title": titles.get(name, "")}
                for name, rows in measures[measures["harm"] == harm].groupby("technique", sort=True)
            ],
            "cases": _case_groups(frames["cases"][frames["cases"]["harm"] == harm], show_words),
        }
        for harm, (title, text) in HARMS.items()
    ]
    return render(
        "captions.html.j2",
        house=HERE,
        styles=("captions.css",),
        readings=READINGS,
        headline=headline(found, measures, len(frames["cases"])),
        findings=found,
        waiting=len(frames["cases"]),
        harms=harms,
        techniques=[
            _safe(row) | {"changeable": changeable(row["stage"])} for row in frames["techniques"].to_dict("records")
        ],
        inclusions=[_safe(row) for row in inclusions.to_dict("records")],
        salience=[_salience(row) for row in salience.to_dict("records")],
        refused=refused,
        confirmed=[_confirmed(row) | {"title": titles.get(row["technique"], "")} for row in confirmed],
        notes=[words.printable(note) for note in notes],
        published=PUBLISHED,
        differs=differs,
        steps=NEXT,
        quote=quoted,
        columns=[words.printable(name) for name in measures["column"].drop_duplicates() if name],
        caveats=CAVEATS,
        lists=sorted({name for text in measures["lists"] for name in text.split(", ") if name}),
    )


def _quoted(out: Path, frames: Mapping[str, pd.DataFrame]) -> quote.Quote | None:
    measures, salience = frames["measures"], frames["salience"]
    found = findings(measures, salience)
    first = headline(found, measures, len(frames["cases"]))
    technique = f"{found[0]['technique']} " if found else ""
    return quote.of_findings(out, findings_table(measures, salience), first, ABOUT, (technique, ""))


def _technique(name: str, rows: pd.DataFrame, show_words: bool) -> dict[str, Any]:
    """Differences as a forest, the rest as a table; what was too rare is counted."""
    rare = rows["note"].str.contains("too rare|fewer than 10", regex=True)
    differences = rows[rows["unit"].isin(["pp", "pp wider"]) & rows["value"].notna() & ~rare]
    differences = differences.sort_values(["q", "value"], na_position="last")
    said = {note for note in rows["note"] if "permutations" in note}
    if open_signs := int((rows["note"] == OPEN_SIGN).sum()):
        said.add(f"whether it widens the difference: not for {words.many(open_signs, 'concept')}, since {OPEN_SIGN}")
    overall = rows[(rows["group"] == "") & rows["unit"].isin(["share", "count", "per 1,000 captions", "bits"])]
    overall = overall.sort_values("active", ascending=False, kind="stable")
    return {
        "name": name,
        "forest": _forest(differences.head(MOST), show_words),
        "hidden": max(0, len(differences) - MOST),
        "rare": int(rare.sum()),
        "said": sorted(said),
        "rows": [cells(row, show_words) for row in overall.head(MOST).to_dict("records")],
        "more": max(0, len(overall) - MOST),
    }


def _forest(rows: pd.DataFrame, show_words: bool) -> list[dict[str, Any]]:
    """Differences with the places of value and interval in a strip."""
    low, high = (rows[f"ci_{end}"].fillna(rows[f"boot_{end}"]).fillna(rows["value"]) for end in ("low", "high"))
    ends = rows[["ci_low", "ci_high", "boot_low", "boot_high", "value"]].abs().fillna(0)
    scale = float(ends.to_numpy().max(initial=1.0))
    return [
        {**cells(row, show_words), "place": whisker(*place, scale), "found": row["q"] < 0.05}
        for row, place in zip(rows.to_dict("records"), zip(low, rows["value"], high, strict=True), strict=True)
    ]


def cells(row: Mapping[Any, Any], show_words: bool) -> dict[str, str]:
    """One row of the measures table as it is printed."""
    concept = str(row["concept"])
    if row["technique"] == "D1" and not show_words:
        bound, colon, word = concept.partition(":")
        concept = f"{bound}{colon}{mask(word)}" if colon else concept
    concept = GENDERS.get(concept, ("", concept))[1] if row["technique"] == "I2" else concept
    kind = "" if row["kind"] == "rule" else str(row["kind"])
    wider = "wider than at truth" if row["unit"] == "pp wider" else ""
    return {
        "concept": words.printable(concept) or "all",
        "pair": " − ".join(words.printable(row[name]) for name in ("group", "other") if row[name]),
        "column": words.printable(row["column"]),
        "stage": row["stage"],
        "truth": row["truth"] or "–",
        "about": ", ".join(filter(None, (kind, UNITED.get(row["captions"], row["captions"]), wider))),
        "value": "not run, no list" if row["note"] == NO_LIST else _format_value(row["value"], row["unit"]),
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
    if unit == "share":
        return numbers.share(value)
    if unit == "count":
        return numbers.NONE if math.isnan(value) else f"{value:,.0f}"
    return numbers.points(value) if unit.startswith("pp") else numbers.value(value)


def _interval(low: float, high: float, unit: str) -> str:
    if math.isnan(low) or math.isnan(high):
        return ""
    return numbers.interval(low, high, lambda end: _format_value(end, unit))


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else numbers.decimal(value, 3)


def _salience(row: Mapping[Any, Any]) -> dict[str, Any]:
    shown = {name: words.printable(row[name]) for name in ("stage", "column", "group", "other", "concept")}
    coefficients = ("coefficient", "ci_low", "ci_high", "split_low", "split_high")
    shown |= {name: numbers.ratio(row[name]) for name in coefficients}
    shown |= {name: _p(row[name]) for name in ("p", "q")}
    return shown | {name: row[name] for name in ("n", "mentioned", "held", "finding", "finding_paper")}


def _confirmed(row: Mapping[str, Any]) -> dict[str, Any]:
    read = int(row["read"])
    text = f"upper bound {row['cases']:,}, none read yet"
    if read:
        ends = numbers.interval(100 * row["low"], 100 * row["high"], lambda end: numbers.decimal(end, 0))
        text = f"upper bound {row['cases']:,}, of {read:,} read {numbers.share(row['share'], 0)} {ends} confirmed"
        causes = ", ".join(f"{name} {count}" for name, count in row["causes"].items())
        text += f"; the others: {causes}" if causes else ""
        text += "" if math.isnan(row["kappa"]) else f"; Cohen's kappa {numbers.decimal(row['kappa'])}"
    return {"technique": row["technique"], "text": text}


def _case_groups(cases: pd.DataFrame, show_words: bool) -> list[dict[str, Any]]:
    groups = []
    for (technique, rule), rows in cases.groupby(["technique", "rule"], sort=True):
        shown = []
        for row in rows.head(10).to_dict("records"):
            word, text = word_and_text(row, show_words)
            image, truth = words.printable(row["image"]), words.printable(row["truth_text"])
            case = {"image": words.shorten(image, 60), "truth": words.shorten(truth, 200)}
            shown.append({**case, "word": word, "text": words.shorten(text, 200)})
        groups.append({"technique": technique, "rule": rule, "count": len(rows), "cases": shown})
    return groups


def _safe(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): words.printable(value) if isinstance(value, str) else value for name, value in row.items()}
