"""The page of a captions audit: what is judged, what comes first, every number with its reading and its truth.

The surest finding of each concept comes first, then those that repeat it; changes of a difference (S4), and what the
photos themselves may explain (S3), come last.  There is no total, and no ranking of captioners.
"""

import pandas as pd
from pandas import DataFrame

from gslopes.captions.config import HOME, SENTENCES
from gslopes.captions.page.review import HARMS, confirmed, link_of, mask, masked
from gslopes.core import Record, Row
from gslopes.core.summary import FINDING
from gslopes.core.tables import lookup, records
from gslopes.frame.findings import decide, surest
from gslopes.frame.page import Content, Page, chart, sure
from gslopes.frame.shown import grid_of, written
from gslopes.frame.spec import Headline, Section, Tables
from gslopes.report import inline, numbers
from gslopes.report.headline import MATTERS, Nothing, Sentences, points
from gslopes.report.units import writer_in
from gslopes.report.words import many, printable
from gslopes.stats.rounding import ranked, sort_key
from gslopes.words.wordlists import shipped

MOST = 60
EXAMPLES = 10  # findings of S2 whose captions are shown
READINGS = {"face": "at face value", "look": "to be read"}

# -- sections ---------------------------------------------------------------------------------------------------------


def _case(row: Record) -> Row:
    """A case as it is quoted: listed words are masked."""
    word, text = masked(row)
    return {**row, "word": word, "text": text}


def _titles(page: Page) -> dict[str, str]:
    return lookup(page.tables["techniques"], "technique", "title")


def typical(page: Page) -> Content | None:
    """One case, of what leads the findings if there is any: of the cases in order the one in the middle."""
    cases = page.tables["cases"]
    label = page.headline.label
    named = cases[[bool(word) and word in label for word in cases["concept"]]]
    alike = cases[cases["technique"] == label[:2]]
    for part in filter(len, (named, alike, cases)):
        return {"case": _case(part.iloc[len(part) // 2].to_dict()), "titles": _titles(page)}
    return None


def certain(page: Page) -> Content:
    """Who was compared, how numbers are to be read, and what waits to be read."""
    columns = filter(None, page.tables["measures"]["column"].unique())
    names = ", ".join(map(printable, columns))
    line = f"Groups are those of {names}: how people look to those who made the table, not who they are."
    return {
        **sure(page, *[line] * bool(names)),
        "waiting": len(page.tables["cases"]),
        "notes": page.notes,
    }


def reviewed(page: Page) -> Content | None:
    """What waits to be read by technique, and what reviewers confirmed."""
    rows = confirmed(page.tables["cases"], page.tables["reviews"])
    if rows:
        return {"rows": rows, "titles": _titles(page)}
    return None


def show(page: Page) -> Content | None:
    """Cases of each harm, by technique and rule; of S1 the highest rank first."""
    cases = _ranked(page.tables["cases"], page.tables["inclusions"])
    groups = cases.groupby(["harm", "technique", "rule"])
    first = cases.assign(count=groups["case"].transform("size"))[groups.cumcount() < 10]
    if len(first):
        shown = list(map(_case, records(first)))
        return {"cases": shown, "harms": HARMS, "titles": _titles(page)}
    return None


def _ranked(cases: DataFrame, inclusions: DataFrame) -> DataFrame:
    """The cases, first of words that S1 ranks, in its order; of several pairs of groups the highest rank counts."""
    named = inclusions.rename(columns={"scenario": "rule"}).dropna(subset="rank")
    ranks = named.groupby(["stage", "rule", "concept"], as_index=False)["rank"].min()
    of_s1 = ranks.assign(technique="S1", rank=ranks["rank"].astype(float))
    return cases.merge(of_s1, "left").sort_values("rank", kind="stable")


def examples(page: Page) -> Content | None:
    """Captions behind what S2 found, of each group's images with the mention and without; Figure 5 of the paper."""
    rows = page.tables["examples"]
    salience = page.tables["salience"]
    leading = salience[salience["finding"] | salience["finding_paper"]].sort_values(["rank", "q"])
    key = ["stage", "column", "group", "other", "concept"]
    images = page.run.config.images
    folder = page.run.folder / "report"
    contents = [
        {
            "row": finding,
            "cells": [
                [row | {"href": link_of(images, row["image"], folder)} for row in records(cell)]
                for _, cell in rows.merge(DataFrame([finding])[key]).groupby(["mentioned", "of"])
            ],
        }
        for finding in records(leading.head(EXAMPLES))
    ]
    if contents:
        more = len(leading) - len(contents)
        return {"findings": contents, "more": more, "stages": STAGES}
    return None


def harms(page: Page) -> Content:
    """The numbers of every technique, by harm; listed words are masked."""
    measures = _named(page.tables["measures"])
    titles = _titles(page)
    unjudged = lookup(page.tables["techniques"].query("ran == 'yes'"), "technique", "why")
    contents = []
    for harm, texts in HARMS.items():
        refused = []
        grids = []
        for technique, part in measures.query("harm == @harm").groupby("technique"):
            name = str(technique)
            caption = f"{name} {titles.get(name, '')} ({READINGS[part['reading'].iloc[0]]})"
            grids += [{**grid, "above": unjudged.pop(name, "")} for grid in _grids(caption, part)]
        if harm == "stereotyping":
            inclusions = page.tables["inclusions"]
            salience = page.tables["salience"]
            eligible = salience["eligible"]
            refused = records(salience[~eligible])
            caption = "S1 words wrongly included, by false positive rate"
            grids += _grid(caption, inclusions[inclusions["kept"]], "rank")
            caption = "S2 objects rightly mentioned or not, size and place held fixed: log odds"
            grids += _grid(caption, salience[eligible], "q")
        if grids or refused:
            contents.append((*texts, grids, refused))
    return {"harms": contents}


def read(page: Page) -> Content:
    """Notes, and the lists that were used."""
    lists = sorted(
        {name for text in page.tables["measures"]["lists"] for name in text.split(", ") if name}
    )
    return {"notes": page.notes, "lists": lists}


def techniques(page: Page) -> Content:
    """What each technique needs, whether it ran, and what could be changed."""
    rows = page.tables["techniques"]
    named = rows.assign(
        reading=rows["reading"].map(READINGS),
        could_be_changed=rows["stage"].map(SENTENCES["changeable"]),
        why=rows["why"].where(rows["ran"] == "no", ""),  # what was not judged is above the numbers
    )
    return {"grid": grid_of("Techniques", named, ("harm", "origin", "parameters"))}


SECTIONS = (
    Section("typical", "", typical),
    Section("differently", "", chart),
    Section("sure", "", certain),
    Section("reviewed", "What is to be read, and what reviewers confirmed", reviewed),
    Section("show", "Cases", show),
    Section("examples", "Captions behind what S2 found", examples),
    Section("harms", "", harms),
    Section("read", "What was read", read),
    Section("techniques", "Techniques", techniques),
)


# -- rows -------------------------------------------------------------------------------------------------------------


def _named(measures: DataFrame) -> DataFrame:
    """The measures with their concepts as the page names them: words of the lists masked, rules in words."""

    def name(technique: str, concept: str) -> str:
        if technique == "D1":
            bound, colon, word = concept.partition(":")
            return f"{bound}{colon}{mask(word)}"
        if technique == "I2":
            return CONCEPTS.get(concept, ("", concept))[1]
        return concept

    return measures.assign(concept=[*map(name, measures["technique"], measures["concept"])])


def _grids(title: str, rows: DataFrame) -> list[Content]:
    """The differences between groups of a technique, and its counts and shares over all images."""
    rare = rows["note"].str.contains("too few images have it|fewer than 10", regex=True)
    overall = (rows["group"] == "") & rows["unit"].isin(["share", "count", "per 1,000 captions"])
    differences = (rows["unit"] == "pp") & rows["value"].notna() & ~rare
    caption = f"{title}: differences in points"
    if rare.any():
        caption += f"; {many(rare.sum(), 'comparison')} not judged: too few images"
    return [
        *_grid(caption, rows[differences], "q"),
        *_grid(
            f"{title}: counts and shares over all images",
            rows.assign(_order=-rows["active"])[overall],
            "_order",
        ),
    ]


def _grid(caption: str, rows: DataFrame, order: str) -> list[Content]:
    """The first rows as a table, if it has any."""
    first = rows.sort_values(order, kind="stable", key=sort_key).head(MOST)
    if len(rows) > MOST:
        caption += f"; {len(rows) - MOST:,} more in the tables"
    if len(first):
        return [grid_of(caption, first.rename(columns=SENTENCES["columns"]), SENTENCES["plain"])]
    return []


# -- findings in sentences ---------------------------------------------------------------------------------------------

STAGES = SENTENCES["stages"]
HEADLINES = Sentences(SENTENCES["headline"])
CONCEPTS = SENTENCES["concepts"]
LAST = {"S4": 1, "S3": 2}
WORDS = {"sentences": SENTENCES, "mask": mask, "readings": READINGS}
POINTS = "percentage points"
ODDS = "log odds"


def tested(measures: DataFrame, salience: DataFrame) -> DataFrame:
    """Differences between groups that have a q, in points, and of S2 in log odds.

    Words for people of a gender are left out of S1, S3 and S4 if genders are compared: that is what they are for.
    """
    rows = measures[(measures["unit"] == "pp") & measures["q"].notna()]
    gendered = rows["column"].str.contains("gender") & rows["technique"].isin(["S1", "S3", "S4"])
    people = {word for group in shipped()["gender-words"].groups.values() for word in group}
    named = rows["concept"].map(lambda concept: str(concept).rpartition(":")[2].partition(".")[0])
    rows = rows[~(gendered & named.isin(people))].assign(unit=POINTS)
    odds = salience[salience["eligible"]]
    odds = odds.assign(
        value=odds["coefficient"],
        kind="",
        captions="",
        truth="",
        technique="S2",
        unit=ODDS,
        reading="look",
    )
    return pd.concat([part for part in (rows, odds) if len(part)] or [rows], ignore_index=True)


def judged(tables: Tables) -> DataFrame:
    """Differences between groups of every technique, stage and concept, as ``frame.findings.decide`` takes them.

    Of the system's captions first, and so on down the stages. n are images.
    """
    rows = tested(tables["measures"], tables["salience"])
    if rows.empty:
        return rows
    texts = inline.listed(SENTENCES["judged"], records(rows), HOME, section="names", **WORDS)
    texts = texts.set_axis(rows.index)
    rows = rows.assign(model=rows["stage"], reason=rows["note"], **texts)
    later = rows["technique"].map(LAST).fillna(0).astype(int)
    order = ranked(rows, later, surest(rows), -rows["value"].abs(), "label")
    repeated = order.groupby(["stage", "contrast", "noun"]).cumcount()
    stages = rows["stage"].map([*STAGES][::-1].index)
    return rows.assign(rank=100 * stages + 30 * later + repeated)


def headline_of(tables: Tables) -> Headline:
    """The first finding, and what it is about."""
    measures = tables["measures"]
    salience = tables["salience"]
    rows = records(decide(judged(tables)))
    if rows and rows[0]["decision"] == FINDING:
        first = rows[0]
        n = many(first["n"], "image")
        text = HEADLINES.say("found", row=_sentence(first), n=n)
        return Headline(text, first["label"], first["contrast"], first["model"])
    if rows:
        return Headline(HEADLINES.nothing(list(map(_nothing, rows)), "image"))
    begin = HEADLINES.say("ungrouped" if len(measures) else "nothing")
    notes = pd.concat([measures.loc[measures["unit"] == "pp", "note"], salience["note"]])
    for why in notes[notes != ""].mode().head(1):
        begin = HEADLINES.say("unjudged", why=why)
    cases = len(tables["cases"])
    return Headline(HEADLINES.say("cases" if cases else "empty", cases, begin=begin))


def _nothing(row: Record) -> Nothing:
    """A difference between groups whose q is not below 0.05."""
    low = row["ci_low"]
    high = row["ci_high"]
    n = int(row["n"])
    unit = row["unit"]
    shown = f"{numbers.ends_of(row, writer_in(unit))} {unit.removeprefix('percentage ')}"
    matters = MATTERS["log-odds"]
    if unit == POINTS:
        matters = points(row["active"] / max(n, 1))
    why = f"q {row['q']:.2g}, adjusted for the number of tests" * (low > 0 or high < 0)
    return Nothing(row["said"], low, high, n, matters, shown, why)


def _sentence(row: Record) -> Content:
    """A finding in words: its text without a full stop, its number with interval and unit, and q."""
    text = inline.plain("said.txt.j2", HOME, section="findings", **WORDS, **row)
    return {
        "text": f"{text[:1].upper()}{text[1:]}",
        "number": f"{written(row)} {row['unit']}",
        "q": "q < 0.001" if row["q"] < 0.001 else f"q = {numbers.decimal(row['q'], 3)}",
    }
