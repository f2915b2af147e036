"""The page of a captions audit, and its terminal: every number with its reading and its truth, no total, no ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from gslopes.captions.lead import GENDERS, SENTENCES, findings
from gslopes.captions.review import HARMS, confirmed, mask, masked
from gslopes.frame.page import Page, chart, sure
from gslopes.frame.shown import grid_of
from gslopes.frame.spec import Section
from gslopes.report import numbers, words
from gslopes.report.charts import Mark, panel
from gslopes.report.units import writer_in

MOST = 60
READINGS = {"face": "at face value", "look": "to be read"}
PLAIN = ("harm", "technique", "reading", "origin", "lists", "estimator", "null_hypothesis", "p", "kept", "_order")


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
    """The numbers of every technique, by harm; listed words are masked."""
    measures, titles = _named(page.tables["measures"]), _titles(page)
    ran = page.tables["techniques"].query("ran == 'yes'")
    unjudged = dict(zip(ran["technique"], ran["why"], strict=True))
    inclusions, salience = page.tables["inclusions"], page.tables["salience"]
    refused = [f"{words.printable(row.concept)}: {row.note}" for row in salience[~salience["eligible"]].itertuples()]
    rows = []
    for harm, (title, text) in HARMS.items():
        grids = []
        for name, part in measures[measures["harm"] == harm].groupby("technique", sort=True):
            some = _grids(f"{name} {titles.get(str(name), '')} ({READINGS[part['reading'].iloc[0]]})", part)
            grids += [{**grid, "above": unjudged.pop(str(name), "")} for grid in some]
        rows += [{"title": title, "text": text, "grids": grids, "refused": refused * (harm == "stereotyping")}]
        if harm == "stereotyping":
            grids += _grid("S1 words wrongly included, by false positive rate", inclusions[inclusions["kept"]], "rank")
            held = "S2 objects rightly mentioned or not, size and place held fixed: log odds"
            grids += _grid(held, salience[salience["eligible"]], "q")
    return {"harms": [row for row in rows if row["grids"] or row["refused"]]}


def read(page: Page) -> dict[str, Any]:
    """Notes, and the lists that were used."""
    lists = sorted({name for text in page.tables["measures"]["lists"] for name in text.split(", ") if name})
    return {"notes": page.notes, "lists": lists}


def techniques(page: Page) -> dict[str, Any]:
    """What each technique needs, whether it ran, and what could be changed."""
    rows = page.tables["techniques"]
    changed = {"reading": rows["reading"].map(READINGS), "could_be_changed": rows["stage"].map(SENTENCES["changeable"])}
    changed |= {"why": rows["why"].where(rows["ran"] == "no", "")}  # what was not judged stands above the numbers
    return {"grid": grid_of("Techniques", rows.assign(**changed), ("harm", "origin", "parameters"))}


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


def _named(measures: pd.DataFrame) -> pd.DataFrame:
    """The measures with their concepts as the page names them: words of the lists masked, rules in words."""

    def name(technique: str, concept: str) -> str:
        if technique == "D1":
            bound, colon, word = concept.partition(":")
            return f"{bound}{colon}{mask(word)}"
        return GENDERS.get(concept, ("", concept))[1] if technique == "I2" else concept

    pairs = zip(measures["technique"], measures["concept"], strict=True)
    return measures.assign(concept=[name(*pair) for pair in pairs])


def _grids(title: str, rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The differences between groups of a technique, and its counts and shares over all images."""
    rare = rows["note"].str.contains("too few images have it|fewer than 10", regex=True)
    overall = rows[(rows["group"] == "") & rows["unit"].isin(["share", "count", "per 1,000 captions"])]
    differences = rows[(rows["unit"] == "pp") & rows["value"].notna() & ~rare]
    out = f"{words.many(int(rare.sum()), 'comparison')} not judged: too few images" if rare.any() else ""
    return [
        *_grid("; ".join(filter(None, [f"{title}: differences in points", out])), differences, "q"),
        *_grid(f"{title}: counts and shares over all images", overall.assign(_order=-overall["active"]), "_order"),
    ]


def _grid(caption: str, rows: pd.DataFrame, order: str) -> list[dict[str, Any]]:
    """The first rows as a table, if there are any."""
    first = rows.sort_values(order, kind="stable", na_position="last").head(MOST)
    more = f"; {len(rows) - MOST:,} more in the tables" if len(rows) > MOST else ""
    return [grid_of(caption + more, first, PLAIN)] if len(first) else []
