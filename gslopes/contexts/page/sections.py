"""The page of a context audit; next to it the paper's tables and the sheet of cut-outs."""

from contextlib import suppress
from pathlib import Path

from pandas import DataFrame
from PIL import Image

from gslopes.contexts import HOME, rows_of
from gslopes.contexts.page import charts, tables
from gslopes.contexts.page.lead import counts, results_of
from gslopes.contexts.stimuli.people import DECISIONS
from gslopes.core import LARGEST_TABLE, PhotoError, Texts, inside, is_file, read_regular, runfolder
from gslopes.core.tables import lookup, records
from gslopes.frame.page import Content, Page, chart, noted, sure
from gslopes.frame.spec import Made, Run, Section
from gslopes.photos.folder import photo_bytes, photo_of
from gslopes.report import fonts, review
from gslopes.report.inline import data_uri, jpeg_uri, render

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
    drawn = charts.charts_of(results)
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
        named = {"titles": tables.TITLES, "figure_title": charts.FIGURE}
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
    for form, data in charts.draw_shares(results).items():
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
