"""The page of a context audit and its finding; next to it the paper's tables and the sheet of cut-outs."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
from pandas import DataFrame, Series
from PIL import Image

from gslopes.contexts import HOME, SENTENCES, TABLES, rows_of
from gslopes.contexts.measures import paired, ratings
from gslopes.contexts.page import tables
from gslopes.contexts.stimuli.people import DECISIONS
from gslopes.core import (
    LARGEST_TABLE,
    PhotoError,
    Record,
    Texts,
    inside,
    is_file,
    read_regular,
    runfolder,
    summary,
)
from gslopes.core.tables import lookup, records
from gslopes.frame.findings import decision
from gslopes.frame.page import Content, Page, chart, noted, sure
from gslopes.frame.spec import Headline, Made, Run, Section, Tables
from gslopes.photos.folder import photo_bytes, photo_of
from gslopes.report import fonts, inline, numbers, review
from gslopes.report.headline import Nothing, Sentences, points
from gslopes.report.inline import data_uri, jpeg_uri, render
from gslopes.report.words import many, printable
from gslopes.stats.multiplicity import LEVEL, are_findings
from gslopes.stats.rounding import highest

TEMPLATES = HOME / "templates"
THUMB = 240  # pixels of a picture on the page
SHARES = Path("report", "figures", "shares.png")


# -- sections ---------------------------------------------------------------------------------------------------------


def differently(page: Page) -> Content | None:
    """The chart, and what congruence is."""
    drawn = chart(page)
    return drawn and {**drawn, "method": page.audit.sentences["method"]}


def typical(page: Page) -> Content | None:
    """A background without a person, one person as photographed, and both together, from the most feminine room to the
    most masculine; Figure 3 of the paper.
    """
    content = show(page)
    if content is None or not content["strips"][0]["tiles"]:
        return None
    strip = content["strips"][0]
    rooms = [tile["at"] for tile in strip["tiles"] if tile["room"]]
    alone = _without_person(page, rooms[0]) if rooms else []
    return {**content, "strips": [strip], "alone": alone}


def _without_person(page: Page, key: str) -> list[Content]:
    """The tile of a background without a person, if it can be read.  key: of the background."""
    photo = lookup(page.tables["backgrounds"], "key", "photo")[key]
    rows = page.tables["composites"].query("kind == 'empty'")
    rows = rows[rows["photo"] == photo]
    return _tiles(rows.assign(attribute=f"{key} alone"), {}, page.run.folder)


def _tiles(composites: DataFrame, inferred: Texts, run: Path) -> list[Content]:
    """The tiles of rows of the composites table, of the pictures that can be read.  inferred: by attribute."""
    tiles = []
    for row in composites.to_dict("records"):
        with suppress(PhotoError):
            photo = photo_of(photo_bytes(row["file"], run), Path(row["file"]))
            small = Image.fromarray(photo.pixels)
            small.thumbnail((THUMB, THUMB), Image.Resampling.LANCZOS)
            at = row["attribute"]
            tiles.append(
                {
                    "src": jpeg_uri(small, 82),
                    "at": at,
                    "room": row["kind"] == "context",
                    "inferred": inferred.get(at, ""),
                }
            )
    return tiles


def show(page: Page) -> Content | None:
    """A person of each gender across contexts by their rating, with what the first tagger infers.

    Of the photos' ids in order the one in the middle, never for what it shows.
    """
    results = results_of(page.tables)
    ratings = results["backgrounds"].set_index("key")["rating"].astype(float)
    plain = results["composites"].query("kind != 'empty'")
    plain = plain[~plain["attribute"].str.contains("~")]
    order = plain["attribute"].map(ratings).fillna(-1) - (plain["kind"] == "original")
    pictures = plain.assign(place=order).sort_values(["place", "attribute"])
    composed = pictures.query("kind == 'context'")["photo"]
    people = results["people"].sort_values("photo")
    people = people[people["photo"].isin(composed)]
    described = rows_of(results, "described").query("tags == 'gross'")
    tagger = described["classifier"].min() if len(described) else ""
    answers = described.query("classifier == @tagger and step == 0")
    strips = []
    for gender, photos in people.groupby("gender")["photo"]:
        photo = photos.iloc[len(photos) // 2]
        composites = pictures[pictures["photo"] == photo].drop_duplicates(["kind", "context"])
        inferred = lookup(answers.query("photo == @photo"), "attribute", "inferred")
        strips.append({"gender": gender, "tiles": _tiles(composites, inferred, page.run.folder)})
    credited = results["backgrounds"].query("status == 'used' and creator not in ('', 'gslopes')")
    if strips:
        return {"strips": strips[:4], "tagger": tagger, "credits": credited.to_dict("records")}
    return None


def paper(page: Page) -> Content | None:
    """The paper's questions with charts and tables."""
    results = results_of(page.tables)
    papers = tables.paper_tables(results, is_published(page.run))
    drawn = tables.charts_of(results)
    file = page.run.folder / SHARES
    picture = data_uri(read_regular(file, LARGEST_TABLE), "png") if is_file(file) else ""
    parts = []
    for part in page.audit.sentences["part"]:
        panels = [panel for name in part["charts"] for panel in drawn.get(name, ())]
        names = [name for name in part["tables"] if name in papers]
        figure = picture if "shares" in part["charts"] else ""
        if panels or names or figure:
            parts.append(part | {"charts": panels, "tables": names, "figure": figure})
    if parts:
        named = {"titles": tables.TITLES, "figure_title": tables.FIGURE}
        return {"parts": parts, "papers": papers, **named}
    return None


SECTIONS = (
    Section("typical", "", typical),
    Section("differently", "", differently),
    Section("sure", "", lambda page: sure(page, counts(results_of(page.tables)))),
    Section("show", "A person of each gender before every context", show),
    Section("paper", "", paper),
    Section("source", "How this was made", noted),
)


def is_published(run: Run) -> bool:
    """Whether the run has the choices of the paper."""
    return bool(run.config.preset == "published")


# -- next to the page -------------------------------------------------------------------------------------------------


def write_sheets(run: Run) -> Made:
    """RUN/report: tables (CSV, Markdown, LaTeX), the paper's figure, and cutouts.html."""
    results = results_of({name: run.table(name) for name in run.audit.tables if run.has(name)})
    folder = run.folder / "report"
    for name, table in tables.paper_tables(results, is_published(run)).items():
        for ending, text in tables.forms(table).items():
            runfolder.write_bytes(folder / "tables" / f"{name}.{ending}", text.encode())
    for form, data in tables.draw_shares(results).items():
        runfolder.write_bytes(run.folder / SHARES.with_suffix(f".{form}"), data)
    run.notes.extend(
        fonts.advice({*results["backgrounds"]["context"], *results["people"]["group"]})
    )
    names = lookup(run.table("photos"), "photo", "path")
    sheet = cutouts_page(run.folder, results["cutouts"], names)
    runfolder.write_bytes(folder / "cutouts.html", sheet.encode())
    return {}


def cutouts_page(run: Path, cutouts: DataFrame, names: Texts) -> str:
    """The contact sheet of all cut-outs, flagged ones first, on magenta and gray; its buttons and keys save review.csv.

    cutouts: the table of that name.  names: photo to the name of its file.
    """

    def on_disk(name: str) -> bool:
        return bool(name) and inside(run, run / name) and is_file(run / name)

    listed = cutouts[cutouts["file"].map(on_disk)].sort_values(["status", "photo"])
    return render(
        "cutouts.html.j2",
        house=TEMPLATES,
        styles=("review.css", "cutouts.css"),
        scripts=("review.js",),
        data=review.review_data(
            [{"photo": photo} for photo in listed["photo"]],
            [],
            ("photo", "decision"),
            copied=("photo",),
            done=({"decision": "*"},),
            keys={
                key: {"set": {"decision": word}, "next": True} for key, word in DECISIONS.items()
            },
            values={"decision": tuple(DECISIONS.values())},
        ),
        shown=records(listed),
        names=names,
        flagged=int((listed["status"] == "flagged").sum()),
        missing=len(cutouts) - len(listed),
    )


# -- headline ---------------------------------------------------------------------------------------------------------

ANSWERS = SENTENCES["answers"]
HEADLINES = Sentences(SENTENCES["headline"])
EVERYBODY = "congruence, everybody"
_ALWAYS = ("backgrounds", "people", "cutouts", "composites", "described")


def results_of(tables: Tables) -> dict[str, DataFrame]:
    """Name to table of results, if it has rows; the backgrounds with the ratings of the user's raters."""
    results = {
        name: tables[name]
        for name in (*TABLES, "scores")
        if name in tables and (len(tables[name]) or name in _ALWAYS)
    }
    if "ratings" in results:
        results["backgrounds"] = ratings.rated(results["backgrounds"], results["ratings"])
    return results


def headline_of(tables: Tables) -> Headline:
    """The finding in a sentence."""
    if "described" not in tables:
        return Headline(HEADLINES.say("not_asked"))
    results = results_of(tables)
    rows = main_rows(results)
    model = str(_leading(rows)["classifier"]) if len(rows) else ""
    return Headline(headline(results), ANSWERS["correct"], EVERYBODY, model)


def main_rows(results: Tables) -> DataFrame:
    """The congruence slopes of the share of right answers, of gross tags, that are known: a row a classifier."""
    rows = rows_of(results, "congruence")
    of_everybody = "gender == 'all' and group == 'all' and estimator == 'person'"
    rows = rows.query(f"measure == 'correct' and tags == 'gross' and {of_everybody}")
    return rows.dropna(subset="slope")


def headline(results: Tables) -> str:
    """The sentence of the result with its interval: the steepest congruence slope, and how many taggers have one.

    First from end to end, then in points per unit of congruence: 1 if a context fits wholly, -1 if it does not fit at
    all.
    """
    if not len(results.get("described", (None,))):
        return HEADLINES.say("no_answer")
    rows = main_rows(results)
    if not len(rows):
        return HEADLINES.say("no_slope")
    name = printable(rows["classifier"].iloc[0])
    if not rows["slope"].any() and not rows["se"].any():
        return HEADLINES.say("constant", len(rows), name=name)
    tested = rows.dropna(subset="q")
    row = _leading(rows)
    facts = {
        "effect": _effect(row, results),
        "name": printable(row["classifier"]),
        "slope": numbers.points(row["slope"]),
        "unit": HEADLINES.texts["unit"],
    }
    if not len(tested):
        case = "everybody" if row["note"] == paired.ALIKE else "too_few"
        return HEADLINES.say(case, len(rows), why=row["note"], **facts)
    text = HEADLINES.say(
        "found",
        len(tested),
        **facts,
        interval=numbers.ends_of(row),
        n=many(int(row["n"]), "person", "people"),
        found=are_findings(tested).sum(),
    )
    if not are_findings(row):
        estimates = [_nothing(each, results) for each in tested.to_dict("records")]
        text = HEADLINES.nothing(estimates, "person", "people")
    for each in rows[rows["q"].isna()].to_dict("records"):
        text += HEADLINES.say("unjudged", name=printable(each["classifier"]), why=each["note"])
    return text


def _leading(rows: DataFrame) -> Series:
    """The steepest of the findings; without one, of those that are judged; else of all."""
    parts = rows[are_findings(rows)], rows.dropna(subset="q"), rows
    leading = next(part for part in parts if len(part))
    return leading.iloc[highest(leading["slope"].abs())]


def _effect(row: Series, results: Tables) -> str:
    """A slope from end to end: of 100 people, as far as the share of right answers leaves room."""
    right = 100 * _right(results, row["classifier"])
    least, most = np.clip([right - row["slope"], right + row["slope"]], 0, 100)
    return HEADLINES.say(
        "effect",
        people=numbers.size(most - least, 0),
        more="more" if row["slope"] > 0 else "fewer",
    )


def _right(results: Tables, classifier: str) -> float:
    """The share of right answers over all contexts, of gross tags; a half if it is unknown."""
    rows = rows_of(results, "inferred")
    own = rows.query("classifier == @classifier and tags == 'gross' and gender == inferred")
    if own["n"].sum():
        return float(own["count"].sum() / own["n"].sum())
    return 0.5


def _nothing(row: Record, results: Tables) -> Nothing:
    """A slope of right answers that is no finding."""
    _, why = decision({**row, "reason": ""})
    return Nothing(
        printable(row["classifier"]),
        row["ci_low"],
        row["ci_high"],
        int(row["n"]),
        points(_right(results, row["classifier"])),
        f"{numbers.ends_of(row)} points per unit of congruence",
        f"{why} is not below {LEVEL}" * (row["ci_low"] > 0 or row["ci_high"] < 0),
    )


def counts(results: Tables) -> str:
    """How many people, contexts and backgrounds there are, and what was left out."""
    people = results["people"]
    used = results["backgrounds"].query("status == 'used'")
    composites = results["composites"].query("kind == 'context'")
    composed = people[people["photo"].isin(composites["photo"])]
    return inline.plain(
        "counts.txt.j2",
        HOME / "templates",
        people=composed["person"].nunique(),
        contexts=used["context"].nunique(),
        used=len(used),
        out=people["photo"].nunique() - composed["photo"].nunique(),
        skipped=len(results["backgrounds"]) - len(used),
    )


def judged(tables: Tables) -> DataFrame:
    """Columns of ``core.summary.FINDINGS`` but for the decision: slopes on congruence, and what each context changes of
    inferred gender.

    Of gross tags. A slope's unit is points (of tags: tags) per unit of congruence, 1 if a context fits the person's
    gender wholly, -1 if not at all; a change is in points. q belongs to the row's table.

    Right answers of everybody, which the heading is about, have the first rank. Without answers it has no rows.
    """
    parts = []
    for part in SENTENCES["judged"]:
        rows = rows_of(tables, part["table"]).query(part["query"])
        if len(rows):
            texts = inline.listed(part["cells"], records(rows), answers=ANSWERS)
            values = part["scale"] * rows[part["columns"]]
            values.columns = ["value", "ci_low", "ci_high"]
            parts.append(rows.assign(**texts.set_axis(rows.index), **values))
    found = pd.concat(parts, ignore_index=True) if parts else summary.FINDINGS.empty()
    others = (found["label"] != ANSWERS["correct"]) | (found["contrast"] != EVERYBODY)
    return found.rename(columns={"classifier": "model", "note": "reason"}).assign(rank=others)
