"""The page of a context audit; next to it the paper's tables and the sheet of cut-outs."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pandas as pd
from PIL import Image

from gslopes.contexts.page import charts, tables
from gslopes.contexts.page.lead import counts, credit_line, results_of
from gslopes.contexts.people import DECISIONS
from gslopes.contexts.tables import TABLES
from gslopes.core import runfolder
from gslopes.core.errors import PhotoError
from gslopes.core.files import LARGEST_TABLE, inside, is_file, read_regular
from gslopes.core.tables import Record, lookup
from gslopes.frame.page import Content, Page, chart, noted, sure
from gslopes.frame.spec import Made, Run, Section
from gslopes.photos.folder import photo_bytes, photo_of
from gslopes.report import fonts, words
from gslopes.report.inline import data_uri, jpeg_uri, render
from gslopes.report.review import review_data

HOME = Path(__file__).parents[1]
TEMPLATES = HOME / "templates"
THUMB = 240  # pixels of a picture on the page
WRAPPED = ("table4", "table14")  # whose cells are long
SHARES = Path("report", "figures", "shares.png")


# -- sections ---------------------------------------------------------------------------------------------------------


def differently(page: Page) -> Content | None:
    """The chart, and what congruence is."""
    drawn = chart(page)
    return drawn and {**drawn, "method": page.audit.sentences["method"]}


def typical(page: Page) -> Content | None:
    """A background alone, one person as photographed, and both together, from the most feminine room to the most
    masculine; Figure 3 of the paper.
    """
    shown = show(page)
    if shown is None or not shown["strips"][0]["tiles"]:
        return None
    strip = shown["strips"][0]
    photo = strip["tiles"][0]
    rooms = [tile for tile in strip["tiles"] if tile["room"]]
    places = dict.fromkeys((0, len(rooms) // 2, len(rooms) - 1))
    alone = _alone(page, rooms[0]["at"]) if rooms else []
    return {
        **shown,
        "strips": [{**strip, "tiles": [*alone, photo, *(rooms[place] for place in places)]}],
    }


def _alone(page: Page, key: str) -> list[Content]:
    """The tile of a background without a person, if it can be read.  key: of the background."""
    backgrounds = page.tables["backgrounds"]
    composites = page.tables["composites"]
    photos = backgrounds.loc[backgrounds["key"] == key, "photo"]
    rows = composites[(composites["kind"] == "empty") & composites["photo"].isin(photos)]
    return [
        tile
        for row in rows.to_dict("records")
        for tile in _tiles(row, f"{key} alone", "", page.run.folder)
    ]


def _tiles(row: Record, at: str, inferred: str, run: Path) -> list[Content]:
    """The tile of a row of the composites table; none if its picture cannot be read."""
    with suppress(PhotoError):
        small = Image.fromarray(photo_of(photo_bytes(row["file"], run), Path(row["file"])).pixels)
        small.thumbnail((THUMB, THUMB), Image.Resampling.LANCZOS)
        room = row["kind"] == "context"
        return [{"src": jpeg_uri(small, 82), "at": at, "inferred": inferred, "room": room}]
    return []


def show(page: Page) -> Content | None:
    """A person of each gender across contexts by their rating, with what the first tagger infers.

    Of the photos' ids in order the one in the middle, never for what it shows.
    """
    results = results_of(page.tables)
    run = page.run.folder
    ratings = results["backgrounds"].set_index("key")["rating"].astype(float)
    plain = results["composites"].query("step == 0 and kind in ('original', 'canvas', 'context')")
    plain = plain[~plain["attribute"].str.contains("~")]
    plain = plain.assign(
        place=plain["attribute"].map(ratings).fillna(-1) - (plain["kind"] == "original")
    )
    pictures = plain.sort_values(["place", "attribute"])
    people = results["people"][
        results["people"]["photo"].isin(pictures.loc[pictures["kind"] == "context", "photo"])
    ]
    described = results.get("described", TABLES["described"].empty()).query(
        "tags == 'gross' and step == 0"
    )
    tagger = described["classifier"].min() if len(described) else ""
    inferred_of = (
        described[described["classifier"] == tagger]
        .set_index(["photo", "attribute"])["inferred"]
        .to_dict()
    )
    strips = []
    for gender, photos in people.sort_values("photo").groupby("gender")["photo"]:
        photo = photos.iloc[len(photos) // 2]
        tiles = []
        for row in (
            pictures[pictures["photo"] == photo]
            .drop_duplicates(["kind", "context"])
            .to_dict("records")
        ):
            place = row["attribute"]
            tiles += _tiles(row, place, inferred_of.get((photo, place), ""), run)
        strips.append({"gender": gender, "tiles": tiles})
    if strips:
        return {"strips": strips[:4], "tagger": tagger, "credits": credit_line(results)}
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
        panels = [one for name in part["charts"] for one in drawn.get(name, ())]
        listed = [
            {
                "title": tables.TITLES[name],
                "wrapped": name in WRAPPED,
                "head": list(papers[name].columns),
                "rows": [
                    [words.printable(cell) for cell in row]
                    for row in papers[name].itertuples(index=False)
                ],
            }
            for name in part["tables"]
            if name in papers
        ]
        figure = picture if "shares" in part["charts"] else ""
        if panels or listed or figure:
            parts.append({**part, "charts": panels, "tables": listed, "figure": figure})
    if parts:
        return {"parts": parts, "figure_title": charts.FIGURE}
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
    photos = run.table("photos")
    names = lookup(photos, "photo", "path")
    runfolder.write_bytes(
        folder / "cutouts.html", cutouts_page(run.folder, results["cutouts"], names).encode()
    )
    return {}


def cutouts_page(run: Path, cutouts: pd.DataFrame, names: Mapping[str, str]) -> str:
    """The contact sheet of all cut-outs, flagged ones first, on magenta and gray; its buttons and keys save review.csv.

    cutouts: the table of that name.  names: photo to the name of its file.
    """
    on_disk = [
        bool(name) and inside(run, run / name) and is_file(run / name) for name in cutouts["file"]
    ]
    listed = cutouts[on_disk].sort_values(["status", "photo"])
    cells = []
    for row in listed.to_dict("records"):
        why = f": {row['detail'] or row['reason']}" if row["reason"] else ""
        name = f"{names[row['photo']]}: " if row["photo"] in names else ""
        text = words.printable(f"{name}{row['method']}, {row['status']}{why}")
        cells.append(
            {
                "photo": row["photo"],
                "status": row["status"],
                "src": quote(f"../{row['file']}"),
                "text": text,
            }
        )
    flagged = int((listed["status"] == "flagged").sum())
    missing = len(cutouts) - len(listed)
    return render(
        "cutouts.html.j2",
        house=TEMPLATES,
        styles=("review.css", "cutouts.css"),
        scripts=("review.js",),
        data=review_data(
            [{"photo": cell["photo"]} for cell in cells],
            [],
            ("photo", "decision"),
            copied=("photo",),
            done=({"decision": "*"},),
            keys={
                key: {"set": {"decision": word}, "next": True} for key, word in DECISIONS.items()
            },
            values={"decision": tuple(DECISIONS.values())},
        ),
        shown=cells,
        flagged=flagged,
        missing=missing,
    )
