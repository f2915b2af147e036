"""The context audit's page: one sentence, one plot, one person across contexts; then the paper's tables and figures."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from gslopes.contexts.report import figures as context_figures
from gslopes.contexts.report import tables as context_tables
from gslopes.contexts.report.cutouts import cutouts_page
from gslopes.contexts.report.grid import Grid, make_grid
from gslopes.contexts.report.hero import slopes_plot
from gslopes.contexts.report.words import LIMITS, beside, counts, credit_line, headline, typologies
from gslopes.core import tables
from gslopes.core.runfolder import write_bytes
from gslopes.report import words
from gslopes.report.inline import TEMPLATES, csp_hash, inline_json, render

HERE = Path(__file__).parents[1] / "templates"
_PARTS = (
    ("RQ1: who is inferred where",
     "The share of each inferred gender, and its paired change from the baseline over the same people; p: exact "
     "McNemar or sign flips by person, null hypothesis: a person's two answers are exchangeable; q: Benjamini and "
     "Hochberg.",
     ("inferred", "changes"), ("table7", "errors")),
    ("RQ2: is the context recognised",
     "Pearson's X² with R permuted over people; null hypothesis: recognition is independent of the inferred gender.",
     ("recognised",), ("table8", "confusion")),
    ("RQ3: is the inference right more often where the context fits",
     "F1 against self-report over recognised pictures. The congruence slope is each person's least squares slope over "
     "contexts; p permutes a person's answers.",
     ("accuracy", "congruence"), ("table9", "congruence")),
    ("RQ4: how much do descriptions change, and alike for all groups",
     "Cosine distance of the shares of tags from the same person's baseline; two-way analysis of variance, Tukey's "
     "differences, Welch's t.",
     ("distances", "shares"), ("table10", "table11", "anova", "tukey")),
    ("Context beside face",
     "The sweep: the same people with only the perceived gender of the face edited, before each background.",
     ("interaction", "sweep"), ("interaction",)),
    ("Backgrounds, sizes and raters", "", (), ("backgrounds", "balance", "ratings")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the page: title, heads, rows of text."""

    title: str
    head: list[str]
    rows: list[list[str]]


@dataclass(slots=True)
class Section:
    """A part of the page with its figures and tables."""

    title: str
    text: str
    figures: list[dict[str, str]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)


def write_contexts(
    run: Path,
    found: dict[str, pd.DataFrame],
    notes: list[str],
    *,
    embed: str = "thumbs",
    facts: Sequence[tuple[str, str]] = (),
    command: str = "",
) -> Path:
    """RUN/report/index.html with its tables (CSV, Markdown, LaTeX) and figures (PNG, PDF, SVG); cutouts.html beside.

    found: tables by name, as ``contexts.analysis`` makes them.  notes: sentences for people.
    embed: ``thumbs`` and ``full`` put pictures into the page, ``none`` links them.
    facts, command: how the run was made.

    Raises: ConfigError for another ``embed``.
    """
    folder = run / "report"
    for name in ("tables", "figures"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    papers = context_tables.papers(found)
    for name, table in papers.items():
        for ending, text in context_tables.forms(table).items():
            write_bytes(folder / "tables" / f"{name}.{ending}", text.encode())
    figures = context_figures.draw_all(found)
    for name, forms in figures.items():
        for form, data in forms.items():
            write_bytes(folder / "figures" / f"{name}.{form}", data)
    pictures = {name: _address(name, forms["png"], embed) for name, forms in figures.items()}
    write_bytes(folder / "cutouts.html", cutouts_page(found["cutouts"], _names(run)).encode())
    grid = make_grid(run, found, embed)
    path = folder / "index.html"
    write_bytes(path, _page(found, notes, papers, pictures, grid, facts, command).encode())
    return path


def _names(run: Path) -> dict[str, str]:
    """Photo to the name of its file."""
    path = run / "photos.parquet"
    if not path.is_file():
        return {}
    photos = tables.read(tables.PHOTOS, path)
    return dict(zip(photos["photo"], photos["path"], strict=True))


def _address(name: str, png: bytes, embed: str) -> str:
    return f"figures/{name}.png" if embed == "none" else f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _page(
    found: Mapping[str, pd.DataFrame],
    notes: Sequence[str],
    papers: Mapping[str, pd.DataFrame],
    pictures: Mapping[str, str],
    grid: Grid,
    facts: Sequence[tuple[str, str]],
    command: str,
) -> str:
    js = (HERE / "contexts.js").read_text("utf-8")
    said = {f"{index}-{column}": cell.answers for index, person in enumerate(grid.people)
            for column, cell in enumerate(person.cells) if cell}  # fmt: skip
    said |= {f"empty-{column}": cell.answers for column, cell in enumerate(grid.empty) if cell}
    return render(
        "contexts.html.j2",
        (TEMPLATES / "page.css", HERE / "contexts.css"),
        HERE,
        js=Markup(js),
        js_hash=csp_hash(js),
        headline=headline(found),
        beside=beside(found),
        counts=counts(found),
        hero=Markup(slopes_plot(found)),
        strip=grid.people[len(grid.people) // 2] if grid.people else None,
        grid=grid,
        genders=sorted({person.gender for person in grid.people}),
        groups=sorted({person.group for person in grid.people if person.group}),
        answers=Markup(inline_json(said)),
        credits=credit_line(found),
        limits=LIMITS,
        notes=[*typologies(found), *(words.printable(note) for note in notes)],
        sections=_sections(papers, pictures),
        facts=facts,
        command=command,
    )


def _sections(papers: Mapping[str, pd.DataFrame], pictures: Mapping[str, str]) -> list[Section]:
    """Parts of the page that have something to show."""
    sections = []
    for title, text, figures, names in _PARTS:
        section = Section(title, text)
        for name in figures:
            if name in pictures:
                section.figures.append({"name": name, "src": pictures[name], "title": context_figures.TITLES[name]})
        for name in names:
            if name in papers:
                frame = papers[name]
                rows = [[words.printable(value) for value in row] for row in frame.itertuples(index=False)]
                section.tables.append(Table(context_tables.TITLES[name], [str(head) for head in frame.columns], rows))
        if section.figures or section.tables:
            sections.append(section)
    return sections


def text_table(found: dict[str, pd.DataFrame]) -> str:
    """Table 7 and the congruence slopes as aligned text, for a terminal."""
    lines = [headline(found), ""]
    papers = context_tables.papers(found)
    for name in ("table7", "congruence"):
        if name in papers:
            lines += [context_tables.TITLES[name], papers[name].to_string(index=False), ""]
    return "\n".join(lines)


def as_numbers(found: dict[str, pd.DataFrame]) -> dict[str, list[dict[Any, Any]]]:
    """The tables of results as plain rows, NaN as None, for JSON."""
    names = ("inferred", "recognised", "accuracy", "congruence", "interaction", "changes")
    clean = {name: found[name].astype(object).where(found[name].notna(), None) for name in names if name in found}
    return {name: frame.to_dict("records") for name, frame in clean.items()}
