"""The page of a captions audit, and its terminal: every number with its reading and its truth, no total, no ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from gslopes.captions.lead import GENDERS, SENTENCES, findings
from gslopes.captions.measures.inclusion import NO_LIST
from gslopes.captions.review import HARMS, confirmed, mask, masked
from gslopes.frame.findings import is_significant
from gslopes.frame.page import Page, chart, sure
from gslopes.frame.spec import Section
from gslopes.report import numbers, words
from gslopes.report.charts import Mark, panel, whisker
from gslopes.report.units import writer_in

MOST = 60
READINGS = {"face": "at face value", "look": "to be read"}
UNITED = {"union": "", "each": "per caption"}


# -- sections ---------------------------------------------------------------------------------------------------------


def _case(row: Mapping[Any, Any]) -> dict[str, str]:
    """A case as it is quoted; listed words are masked."""
    word, text = masked(row)
    image, truth = words.printable(row["image"]), words.printable(row["truth_text"])
    case = {"technique": row["technique"], "image": words.shorten(image, 60), "truth": words.shorten(truth, 200)}
    return {**case, "word": word, "text": words.shorten(text, 200)}


def _titles(page: Page) -> dict[str, str]:
    return dict(zip(page.tables["techniques"]["technique"], page.tables["techniques"]["title"], strict=True))


def typical(page: Page) -> dict[str, Any] | None:
    """One case, of the technique that leads if it has any: of the cases in order the one in the middle."""
    cases = page.tables["cases"]
    own = cases[cases["technique"] == page.headline.label.strip()]
    own = own if len(own) else cases
    return {"case": _case(own.iloc[len(own) // 2].to_dict()), "titles": _titles(page)} if len(own) else None


def differently(page: Page) -> dict[str, Any] | None:
    """Of each technique the difference with the smallest q; where none is a finding, the largest differences."""
    marks: dict[str, list[Mark]] = {}
    for row in findings(page.tables):
        number = value, low, high = row["number"]
        text = numbers.with_interval(value, low, high, writer_in(row["unit"]))
        text += f" · {row['technique']} {READINGS[row['reading']]}"
        mark = Mark(row["text"], text, number, "pos" if value > 0 else "neg", row["n"])
        marks.setdefault(row["unit"], []).append(mark)
    return {"panels": [panel(some, unit) for unit, some in marks.items()]} if marks else chart(page)


def certain(page: Page) -> dict[str, Any]:
    """Who was compared, how numbers are to be read, and what waits to be read."""
    columns = [words.printable(name) for name in page.tables["measures"]["column"].drop_duplicates() if name]
    known = f"Groups are those of {', '.join(columns)}: how people look to those who made the table, not who they are."
    return {**sure(page, *[known] * bool(columns)), "waiting": len(page.tables["cases"])}


def reviewed(page: Page) -> dict[str, Any] | None:
    """What waits to be read by technique, and what reviewers confirmed."""
    cases, titles, texts = page.tables["cases"], _titles(page), []
    for row in confirmed(cases, page.tables["reviews"]):
        text = f"upper bound {row['cases']:,}, none read yet"
        if row["read"]:
            ends = numbers.interval(100 * row["low"], 100 * row["high"], lambda end: numbers.decimal(end, 0))
            ends = f" {ends}" if row["read"] < row["cases"] else ""  # all that there are: nothing is estimated
            share = f"{numbers.share(row['share'], 0)}{ends} confirmed"
            text = f"upper bound {row['cases']:,}, of {row['read']:,} read {share}"
            causes = ", ".join(f"{name} {count}" for name, count in row["causes"].items())
            text += f"; the others: {causes}" if causes else ""
            text += "" if math.isnan(row["kappa"]) else f"; Cohen's kappa {numbers.decimal(row['kappa'])}"
        texts.append(f"{row['technique']} {titles.get(row['technique'], '')}: {text}")
    return {"lines": texts} if texts else None


def show(page: Page) -> dict[str, Any] | None:
    """Cases of each harm, by technique and rule."""
    cases = page.tables["cases"]
    sections = []
    for harm, (title, _) in HARMS.items():
        groups = []
        for (technique, rule), rows in cases[cases["harm"] == harm].groupby(["technique", "rule"], sort=True):
            some = [_case(row) for row in rows.head(10).to_dict("records")]
            groups.append({"technique": technique, "rule": rule, "count": len(rows), "cases": some})
        sections += [{"title": title, "cases": groups}] if groups else []
    return {"harms": sections} if sections else None


def harms(page: Page) -> dict[str, Any]:
    """The numbers of every technique, by harm."""
    measures, titles = page.tables["measures"], _titles(page)
    inclusions, salience = page.tables["inclusions"], page.tables["salience"]
    inclusions = inclusions[inclusions["kept"]].sort_values("rank").head(MOST)
    refused = [f"{words.printable(row.concept)}: {row.note}" for row in salience[~salience["eligible"]].itertuples()]
    salience = salience[salience["eligible"]].sort_values(["q", "concept"]).head(MOST)
    rows = [
        {
            "title": title,
            "text": text,
            "techniques": [
                _technique(str(name), part) | {"title": titles.get(str(name), "")}
                for name, part in measures[measures["harm"] == harm].groupby("technique", sort=True)
            ],
        }
        for harm, (title, text) in HARMS.items()
        if (measures["harm"] == harm).any()
    ]
    return {
        "harms": rows,
        "inclusions": [_safe(row) for row in inclusions.to_dict("records")],
        "salience": [_salience(row) for row in salience.to_dict("records")],
        "refused": refused,
        "readings": READINGS,
    }


def read(page: Page) -> dict[str, Any]:
    """Notes, and the lists that were used."""
    lists = sorted({name for text in page.tables["measures"]["lists"] for name in text.split(", ") if name})
    return {"notes": page.notes, "lists": lists}


def techniques(page: Page) -> dict[str, Any]:
    """What each technique needs, whether it ran, and what could be changed."""
    rows = page.tables["techniques"].to_dict("records")
    changeable = SENTENCES["changeable"]
    return {"rows": [_safe(row) | {"changeable": changeable[row["stage"]]} for row in rows], "readings": READINGS}


SECTIONS = (
    Section("typical", "", typical),
    Section("differently", "", differently),
    Section("sure", "", certain),
    Section("reviewed", "What is to be read, and what reviewers confirmed", reviewed),
    Section("show", "Cases", show),
    Section("harms", "", harms),
    Section("read", "What was read", read),
    Section("techniques", "Techniques", techniques),
)


# -- rows -------------------------------------------------------------------------------------------------------------


def _technique(name: str, rows: pd.DataFrame) -> dict[str, Any]:
    """Differences, each with its place in a strip, and the rest as a table; what too few have is counted."""
    rare = rows["note"].str.contains("too few images have it|fewer than 10", regex=True)
    differences = rows[(rows["unit"] == "pp") & rows["value"].notna() & ~rare]
    differences = differences.sort_values(["q", "value"], na_position="last")
    first = differences.head(MOST)
    low, high = (first[f"ci_{end}"].fillna(first["value"]) for end in ("low", "high"))
    scale = float(first[["ci_low", "ci_high", "value"]].abs().fillna(0).to_numpy().max(initial=1.0))
    places = [whisker(*mark, scale) for mark in zip(low, first["value"], high, strict=True)]
    overall = rows[(rows["group"] == "") & rows["unit"].isin(["share", "count", "per 1,000 captions"])]
    overall = overall.sort_values("active", ascending=False, kind="stable")
    return {
        "name": name,
        "forest": [
            {**cells(row), "place": mark, "found": is_significant(row["q"])}
            for row, mark in zip(first.to_dict("records"), places, strict=True)
        ],
        "hidden": max(0, len(differences) - MOST),
        "rare": int(rare.sum()),
        "rows": [cells(row) for row in overall.head(MOST).to_dict("records")],
        "more": max(0, len(overall) - MOST),
    }


def cells(row: Mapping[Any, Any]) -> dict[str, str]:
    """One printed row of the measures table."""
    concept = str(row["concept"])
    if row["technique"] == "D1":
        bound, colon, word = concept.partition(":")
        concept = f"{bound}{colon}{mask(word)}"
    concept = GENDERS.get(concept, ("", concept))[1] if row["technique"] == "I2" else concept
    ends = (
        ""
        if math.isnan(row["ci_low"])
        else numbers.interval(row["ci_low"], row["ci_high"], lambda end: _format_value(end, row["unit"]))
    )
    return {
        "concept": words.printable(concept) or "all",
        "pair": " − ".join(words.printable(row[name]) for name in ("group", "other") if row[name]),
        "stage": row["stage"],
        "truth": row["truth"] or "–",
        "about": ", ".join(filter(None, ("" if row["kind"] == "rule" else str(row["kind"]), UNITED[row["captions"]]))),
        "value": "not run, no list" if row["note"] == NO_LIST else _format_value(row["value"], row["unit"]),
        "interval": ends,
        "q": p_text(row["q"]),
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
    return numbers.points(value) if unit == "pp" else numbers.value(value)


def p_text(value: float) -> str:
    """A p or a q of three digits."""
    return "< 0.001" if value < 0.001 else numbers.decimal(value, 3)


def _salience(row: Mapping[Any, Any]) -> dict[str, Any]:
    texts = {name: words.printable(row[name]) for name in ("stage", "group", "other", "concept")}
    coefficients = ("coefficient", "ci_low", "ci_high", "split_low", "split_high")
    texts |= {name: numbers.ratio(row[name]) for name in coefficients} | {"q": p_text(row["q"])}
    return texts | {name: row[name] for name in ("n", "mentioned", "finding", "finding_paper")}


def _safe(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): words.printable(value) if isinstance(value, str) else value for name, value in row.items()}
