"""The page of a context audit; next to it the paper's tables, the sheet of cut-outs, and the crowd's page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from markupsafe import Markup

from gslopes.contexts.lead import context_and_face, counts, credit_line, headline_of, results_of
from gslopes.contexts.people import DECISIONS
from gslopes.contexts.report import charts, figures, tables
from gslopes.contexts.report.picture_grid import PictureGrid, picture_grid
from gslopes.core import runfolder
from gslopes.core.files import LARGEST_TABLE, inside, is_file, read_named, read_regular
from gslopes.frame.page import Page
from gslopes.frame.run import Run
from gslopes.frame.spec import Made, Section, Tables
from gslopes.report import words
from gslopes.report.inline import data_uri, render
from gslopes.report.review import review_data

HOME = Path(__file__).parent
TEMPLATES = HOME / "templates"
RATED = ("context", "rater", "gender", "rating", "text")  # of the CSV that the crowd's page saves
SHARES = Path("report", "figures", "shares.png")


# -- sections ---------------------------------------------------------------------------------------------------------


def lede(page: Page) -> dict[str, Any]:
    """Which moves the answer more, context or face, if there is a sweep."""
    return {"context_and_face": context_and_face(results_of(page.tables))}


def differently(page: Page) -> dict[str, Any]:
    """The slopes of each tagger, and the paper's four questions."""
    results = results_of(page.tables)
    return {
        "hero": Markup(charts.hero(results)),
        "answers": tables.sentences(results),
        "headline": page.headline.sentence,
    }


def sure(page: Page) -> dict[str, Any]:
    """How many people, contexts and backgrounds there are."""
    return {"counts": counts(results_of(page.tables))}


def show(page: Page) -> dict[str, Any] | None:
    """One person across contexts, and the grid of people with its filters."""
    results = results_of(page.tables)
    grid = picture_grid(page.run.folder, results)
    if not grid.people:
        return None
    return {
        "grid": grid,
        "strip": grid.people[len(grid.people) // 2],
        "genders": sorted({person.gender for person in grid.people}),
        "groups": sorted({person.group for person in grid.people if person.group}),
        "credits": credit_line(results),
    }


def said(page: Page) -> dict[str, Any] | None:
    """What each tagger says of each picture of the grid, for the page's script."""
    grid: PictureGrid = picture_grid(page.run.folder, results_of(page.tables))
    lines = {**{str(index): person.cells for index, person in enumerate(grid.people)}, "empty": grid.empty}
    answers = {f"{line}-{at}": cell.answers for line, cells in lines.items() for at, cell in enumerate(cells) if cell}
    return answers if grid.people else None


def paper(page: Page) -> dict[str, Any] | None:
    """The paper's questions with charts and tables."""
    results = results_of(page.tables)
    papers, drawn = tables.paper_tables(results), charts.charts_of(results)
    file = page.run.folder / SHARES
    picture = data_uri(read_regular(file, LARGEST_TABLE), "png") if is_file(file) else ""
    parts = []
    for part in page.audit.sentences["part"]:
        shown = [{"title": charts.TITLES[name], "svg": Markup(drawn[name])} for name in part["charts"] if name in drawn]
        listed = [
            {
                "title": tables.TITLES[name],
                "head": list(papers[name].columns),
                "rows": [[words.printable(cell) for cell in row] for row in papers[name].itertuples(index=False)],
            }
            for name in part["tables"]
            if name in papers
        ]
        figure = picture if "shares" in part["charts"] else ""
        if shown or listed or figure:
            parts.append({**part, "charts": shown, "tables": listed, "figure": figure})
    return {"parts": parts, "figure_title": figures.TITLE} if parts else None


def source(page: Page) -> dict[str, Any]:
    """The sheet of cut-outs, the crowd's page, and notes."""
    return {"rating": (page.run.folder / "report" / "rating.html").is_file(), "lines": page.notes}


SECTIONS = (
    Section("lede", "", lede),
    Section("differently", "", differently),
    Section("sure", "", sure),
    Section("show", "", show),
    Section("paper", "", paper),
    Section("source", "How this was made", source),
)


# -- next to the page -------------------------------------------------------------------------------------------------


def write_sheets(run: Run) -> Made:
    """RUN/report: tables (CSV, Markdown, LaTeX), the paper's figure, cutouts.html and rating.html."""
    results = results_of({name: run.table(name) for name in run.audit.tables if run.has(name)})
    folder = run.folder / "report"
    for name, table in tables.paper_tables(results).items():
        for ending, text in tables.forms(table).items():
            runfolder.write_bytes(folder / "tables" / f"{name}.{ending}", text.encode())
    for form, data in figures.draw_shares(results).items():
        runfolder.write_bytes(run.folder / SHARES.with_suffix(f".{form}"), data)
    photos = run.table("photos")
    names = dict(zip(photos["photo"], photos["path"], strict=True))
    runfolder.write_bytes(folder / "cutouts.html", cutouts_page(run.folder, results["cutouts"], names).encode())
    rating = rating_page(run.folder, results["composites"])
    if rating:
        runfolder.write_bytes(folder / "rating.html", rating.encode())
    return {}


def cutouts_page(run: Path, cutouts: pd.DataFrame, names: Mapping[str, str]) -> str:
    """The contact sheet of all cut-outs, flagged ones first, on magenta and gray; its buttons and keys save review.csv.

    cutouts: the table of that name.  names: photo to the name of its file.
    """
    there = [bool(name) and inside(run, run / name) and is_file(run / name) for name in cutouts["file"]]
    shown = cutouts[there].sort_values(["status", "photo"])
    cells = []
    for row in shown.to_dict("records"):
        why = f": {row['detail'] or row['reason']}" if row["reason"] else ""
        name = f"{names[row['photo']]}: " if row["photo"] in names else ""
        text = words.printable(f"{name}{row['method']}, {row['status']}{why}")
        cells.append({"photo": row["photo"], "status": row["status"], "src": quote(f"../{row['file']}"), "text": text})
    flagged, missing = int((shown["status"] == "flagged").sum()), len(cutouts) - len(shown)
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
            keys={key: {"set": {"decision": word}, "next": True} for key, word in DECISIONS.items()},
            values={"decision": tuple(DECISIONS.values())},
        ),
        shown=cells,
        flagged=flagged,
        missing=missing,
    )


def rating_page(run: Path, composites: pd.DataFrame) -> str:
    """The crowd task: empty backgrounds with the paper's questions; its CSV is what ``--ratings`` reads.  Empty: none.

    One file without a server, to be sent to raters as it is.  Each sees one background of each context, in an order of
    their own; neither name nor stereotype is shown.

    Source: Barlas et al. 2020, section 4.2.
    """
    rows = composites[composites["kind"] == "empty"].drop_duplicates("photo").sort_values("photo")
    items = []
    for row in rows.to_dict("records"):
        path = run / row["file"]
        if row["file"] and inside(run, path) and is_file(path):
            kind = "png" if path.suffix.lower() == ".png" else "jpeg"
            items.append({"context": row["context"], "src": data_uri(read_named(row["file"], folder=run), kind)})
    if not items:
        return ""
    styles, scripts, data = ("rating.css",), ("rating.js",), {"items": items, "columns": RATED}
    return render("rating.html.j2", house=TEMPLATES, styles=styles, scripts=scripts, data=data)


# -- a terminal -------------------------------------------------------------------------------------------------------


def text_table(found: Tables) -> str:
    """The finding, Table 7 and the congruence slopes as aligned text."""
    lines = [headline_of(found).sentence, ""]
    papers = tables.paper_tables(results_of(found))
    for name in ("table7", "congruence"):
        if name in papers:
            lines += [tables.TITLES[name], papers[name].to_string(index=False), ""]
    return "\n".join(lines)
