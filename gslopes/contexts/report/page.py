"""The context audit's page: one sentence, one plot, one person across contexts; then the paper's tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from markupsafe import Markup

from gslopes.contexts.findings import ANSWERS, findings_table
from gslopes.contexts.method import of_run
from gslopes.contexts.people import DECISIONS
from gslopes.contexts.report import figures, tables
from gslopes.contexts.report.answers import sentences
from gslopes.contexts.report.hero import slopes_plot
from gslopes.contexts.report.picture_grid import picture_grid
from gslopes.contexts.report.rating import rating_page
from gslopes.contexts.report.words import LIMITS, context_and_face, counts, credit_line, headline, typologies
from gslopes.core import tables as files
from gslopes.core.files import inside, is_file
from gslopes.core.runfolder import MANIFEST, make_folder, write_bytes
from gslopes.report import quote as quotes
from gslopes.report import words
from gslopes.report.choices import rows_of
from gslopes.report.inline import data_uri, render
from gslopes.report.review import review_data

HERE = Path(__file__).parents[1] / "templates"
EVERYBODY = "congruence, everybody"
ABOUT = quotes.About(
    "Answers about people before other backgrounds",
    ("person", "people"),
    "varied: the background behind the same cut-out of each person",
    LIMITS,
    "Barlas et al. 2020, doi 10.1145/3432931",
)
NEXT = (
    (
        "Look at the cut-outs",
        " and exclude those that a cutter spoiled, on cutouts.html; then:",
        "gslopes contexts RUN",
    ),
    ("Take more rooms", ": two of a context tell little of any such rooms:", "--backgrounds DIR"),
    ("Ask people", " how the rooms look, with rating.html:", "gslopes contexts RUN --ratings ratings.csv"),
    ("Compare versions", " of a tagger over the same pictures:", "--classifier OLD --classifier NEW"),
    ("Do not conclude", " who anybody is, nor that a tagger is fair where no context changed its answers.", ""),
)
_SECTIONS = (
    ("RQ1: who is inferred where",
     "The share of each inferred gender, and its paired change from the baseline over the same people; p: exact "
     "McNemar or sign flips by person, null hypothesis: a person's two answers are exchangeable; q: Benjamini and "
     "Hochberg. Intervals of shares: Wilson's, with a design effect for people with several pictures; of changes: t "
     "over people. All of it is about people before these rooms; what is said of any such rooms takes people and rooms "
     "as samples, null hypothesis: rooms of such a context change nothing on average.",
     ("inferred", "changes"), ("table7", "errors")),
    ("RQ2: is the context recognised",
     "Pearson's X² with R permuted over people (in the table also with Rao and Scott's correction where people have "
     "several pictures); null hypothesis: recognition is independent of the inferred gender.",
     ("recognised",), ("table8",)),
    ("RQ3: is the inference right more often where the context fits",
     "F1 against self-report over recognised pictures, with Wilson's interval and a design effect. The congruence "
     "slope is each person's least squares slope over contexts; p permutes a person's answers; interval: t over people "
     "before these rooms.",
     ("accuracy", "congruence"), ("table9", "congruence")),
    ("RQ4: how much do descriptions change, and alike for all groups",
     "Cosine distance of the shares of tags from the same person's baseline, mean with t over people; two-way analysis "
     "of variance, Tukey's differences, Welch's t.",
     ("distances", "shares"), ("table10", "table11", "anova", "tukey")),
    ("The trade-off, and the four answers",
     "How often a tagger is right over all contexts, against how much that hangs on the context: the paper's accuracy "
     "and fairness. An answer counts what is found in the tables above.",
     ("tradeoff",), ("table14",)),
    ("Context and face",
     "The sweep: the same people with only the perceived gender of the face edited, before each background.",
     ("interaction", "sweep"), ("interaction",)),
    ("Colours within one context",
     "The same drawn rooms in several palettes: the share of pictures with a label in one palette, minus that in the "
     "other, paired by person and room. Interval: t over people; p: sign flips by person, or exact McNemar; "
     "null hypothesis: a person's answers before a room in two palettes are exchangeable.",
     ("palettes",), ("palettes",)),
    ("Backgrounds and raters", "", (), ("backgrounds", "ratings")),
)  # fmt: skip


def write_page(
    run: Path,
    results: dict[str, pd.DataFrame],
    notes: Sequence[str],
    *,
    embed: str = "thumbs",
    facts: Sequence[tuple[str, str]] = (),
    command: str = "",
) -> Path:
    """Write RUN/report: index.html, cutouts.html, rating.html, tables (CSV, Markdown, LaTeX), figures (all forms).

    results: tables by name, as ``contexts.analysis`` makes them.  notes: sentences for people.
    embed: ``thumbs`` and ``full`` put pictures into the page, ``none`` links them.
    facts, command: how the run was made.

    Raises: ConfigError for another ``embed``.
    """
    folder = run / "report"
    for name in ("tables", "figures"):
        make_folder(folder / name)
    papers = tables.paper_tables(results)
    for name, table in papers.items():
        for ending, text in tables.forms(table).items():
            write_bytes(folder / "tables" / f"{name}.{ending}", text.encode())
    pictures = {}
    for name, forms in figures.draw_all(results).items():
        for form, data in forms.items():
            write_bytes(folder / "figures" / f"{name}.{form}", data)
        pictures[name] = f"figures/{name}.png" if embed == "none" else data_uri(forms["png"], "png")
    write_bytes(folder / "cutouts.html", _cutouts(run, results["cutouts"], _names(run)).encode())
    rating = rating_page(run, results["composites"])
    if rating:
        write_bytes(folder / "rating.html", rating.encode())
    quoted = None
    if (run / MANIFEST).is_file():
        quoted = quotes.of_findings(
            run, findings_table(results), headline(results), ABOUT, (ANSWERS["correct"], EVERYBODY)
        )
        quotes.write_card(folder, quoted)
    known = {
        "rating": bool(rating),
        **_pictures(run, results, embed),
        "hero": Markup(slopes_plot(results)),
        "answer": headline(results),
        "context_and_face": context_and_face(results),
        "counts": counts(results),
        "answers": sentences(results),
        "credits": credit_line(results),
        "limits": [*LIMITS, *typologies(results), *(words.printable(note) for note in notes)],
        "sections": _sections(papers, pictures),
        "steps": NEXT,
        "quote": quoted,
        "facts": facts,
        "differs": rows_of(of_run(run)[1]) if (run / MANIFEST).is_file() else [],
        "command": command,
    }
    text = render("contexts.html.j2", house=HERE, styles=("contexts.css",), scripts=("contexts.js",), **known)
    write_bytes(folder / "index.html", text.encode())
    return folder / "index.html"


def _names(run: Path) -> dict[str, str]:
    """Photo to the name of its file."""
    path = run / "photos.parquet"
    if not path.is_file():
        return {}
    photos = files.read(files.PHOTOS, path)
    return dict(zip(photos["photo"], photos["path"], strict=True))


def _cutouts(run: Path, cutouts: pd.DataFrame, names: Mapping[str, str]) -> str:
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
        house=HERE,
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


def _pictures(run: Path, results: Mapping[str, pd.DataFrame], embed: str) -> dict[str, Any]:
    """What the template needs for the grid of people, its filters, and the one person shown first."""
    grid = picture_grid(run, results, embed)
    lines = {**{str(index): person.cells for index, person in enumerate(grid.people)}, "empty": grid.empty}
    answers = {f"{line}-{at}": cell.answers for line, cells in lines.items() for at, cell in enumerate(cells) if cell}
    return {
        "grid": grid,
        "strip": grid.people[len(grid.people) // 2] if grid.people else None,
        "genders": sorted({person.gender for person in grid.people}),
        "groups": sorted({person.group for person in grid.people if person.group}),
        "data": answers,
    }


def _sections(papers: Mapping[str, pd.DataFrame], pictures: Mapping[str, str]) -> list[dict[str, Any]]:
    """Parts of the page that have something to show: title, text, figures and tables."""
    sections = []
    for title, text, figure_names, table_names in _SECTIONS:
        drawn = [
            {"name": name, "src": pictures[name], "title": figures.TITLES[name]}
            for name in figure_names
            if name in pictures
        ]
        listed = [
            {
                "title": tables.TITLES[name],
                "head": list(papers[name].columns),
                "rows": [[words.printable(value) for value in row] for row in papers[name].itertuples(index=False)],
            }
            for name in table_names
            if name in papers
        ]
        if drawn or listed:
            sections.append({"title": title, "text": text, "figures": drawn, "tables": listed})
    return sections


def text_table(results: Mapping[str, pd.DataFrame]) -> str:
    """Table 7 and the congruence slopes as aligned text, for a terminal."""
    lines = [headline(results), ""]
    papers = tables.paper_tables(results)
    for name in ("table7", "congruence"):
        if name in papers:
            lines += [tables.TITLES[name], papers[name].to_string(index=False), ""]
    return "\n".join(lines)


def as_numbers(results: Mapping[str, pd.DataFrame]) -> dict[str, list[dict[Any, Any]]]:
    """The tables of results as plain rows, NaN as None, for JSON."""
    names = ("inferred", "recognised", "accuracy", "congruence", "interaction", "palettes", "changes")
    clean = {name: results[name].astype(object).where(results[name].notna(), None) for name in names if name in results}
    return {name: frame.to_dict("records") for name, frame in clean.items()}
