"""The context audit's page: one sentence, one picture, one plot; then the paper's tables in the paper's layout."""

from __future__ import annotations

import math
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from gslopes.core import tables
from gslopes.core.runfolder import write_bytes
from gslopes.report import context_figures, context_tables, words
from gslopes.report.inline import csp_hash

_TEMPLATES = Path(__file__).parent / "templates"
MOST_PEOPLE = 8


def write_contexts(run: Path, found: dict[str, pd.DataFrame], notes: list[str]) -> Path:
    """RUN/report/index.html with its tables (CSV, Markdown, LaTeX) and figures (PNG, PDF, SVG); cutouts.html beside.

    found: tables by name, as ``studies.contexts.analysing`` makes them.  notes: sentences for people.
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
    cutouts = _cutouts(run, found["cutouts"])
    write_bytes(folder / "cutouts.html", cutouts.encode())
    path = folder / "index.html"
    write_bytes(path, _page(run, found, notes, papers, list(figures)).encode())
    return path


def headline(found: dict[str, pd.DataFrame]) -> str:
    """The sentence of the result, with its interval: the congruence slope of the first classifier, gross.

    Its unit: points per unit of congruence; a context that fits wholly is 1, one that does not fit at all -1.
    """
    rows = found.get("congruence", pd.DataFrame())
    if len(rows):
        at = (rows["measure"] == "correct") & (rows["gender"] == "all") & (rows["group"] == "all")
        rows = rows[at & (rows["tags"] == "gross") & (rows["estimator"] == "person")]
    known = rows[rows["slope"].notna()] if len(rows) else rows
    if not len(known):
        return "The contexts have no two ratings that differ, so that there is no slope on congruence."
    row = known.iloc[0]
    moves = "more" if row["slope"] >= 0 else "less"
    found_it = math.isfinite(row["ci_low"]) and (row["ci_low"] > 0 or row["ci_high"] < 0)
    lead = f"{words.printable(row['classifier'])} infers the self-reported gender"
    span = f"[{row['ci_low']:+.1f}, {row['ci_high']:+.1f}]"
    if not found_it:
        return f"{lead} neither more nor less often where the context fits it: {row['slope']:+.1f} points {span}."
    return f"{lead} {moves} often where the context fits it: {row['slope']:+.1f} points per unit of congruence {span}."


def _page(
    run: Path, found: dict[str, pd.DataFrame], notes: list[str], papers: dict[str, pd.DataFrame], figures: list[str]
) -> str:
    people, backgrounds = found["people"], found["backgrounds"]
    used = backgrounds[backgrounds["status"] == "used"]
    contexts = used["context"].nunique()
    each = len(used) / max(contexts, 1)
    parts = [
        f"<p class='lede'>{escape(headline(found))}</p>",
        f"<p>{people['person'].nunique():,} people before {contexts} contexts, {each:.1f} backgrounds each. Inferred "
        "gender is what a tagger's words say; it is compared with what people say of themselves. The pictures are "
        "staged, light and colour of the people untouched; with one background a context, intervals are about people, "
        "not about such rooms. An association with these pictures, not a measure of anybody.</p>",
        _grid(run, found),
        *(_figure(name) for name in figures),
    ]
    if notes:
        parts.append(
            "<section><h2>Notes</h2><ul>" + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul></section>"
        )
    for name, table in papers.items():
        title = context_tables.TITLES.get(name, name)
        parts.append(f"<section><h2>{escape(title)}</h2>{_table(table)}</section>")
    parts.append(_credits(backgrounds))
    parts.append(
        "<section><h2>Cut-outs</h2><p><a href='cutouts.html'>All cut-outs with their checks</a>: accept or exclude the "
        "flagged ones.</p></section><section><h2>Source</h2><p>Barlas, Kyriakou, Guest, Kleanthous, Otterbacher 2020, "
        "doi 10.1145/3432931. Estimators, null hypotheses and intervals stand with each table's columns.</p></section>"
    )
    return _html("Does the background decide who is seen?", "".join(parts))


def _grid(run: Path, found: dict[str, pd.DataFrame]) -> str:
    """People across contexts with the tags that each composite got; people chosen evenly, never for what they show."""
    composites = found["composites"]
    shown = composites[composites["kind"].isin(["original", "canvas", "context"]) & (composites["step"] == 0)]
    shown = shown[~shown["attribute"].str.contains("~")]
    photos = sorted(set(shown["photo"]))
    photos = photos[:: max(1, len(photos) // MOST_PEOPLE)][:MOST_PEOPLE]
    firsts = shown.groupby("context")["attribute"].min()
    conditions = [name for name in ("original", "canvas") if name in set(shown["attribute"])]
    conditions += [str(name) for context, name in firsts.items() if context]
    described = found["described"]
    described = described[(described["tags"] == "gross") & (described["step"] == 0)]
    classifier = described["classifier"].min() if len(described) else ""
    subset = described[described["classifier"] == classifier].set_index(["photo", "attribute"])
    tags_of = _tags(run, classifier)
    file = shown.set_index(["photo", "attribute"])["file"]
    genders = dict(zip(found["people"]["photo"], found["people"]["gender"], strict=True))
    rows = []
    for photo in photos:
        cells = []
        for condition in conditions:
            if (photo, condition) not in file.index:
                cells.append("<td></td>")
                continue
            inferred = subset.loc[(photo, condition), "inferred"] if (photo, condition) in subset.index else ""
            tags = ", ".join(tags_of.get((photo, condition), []))
            src = quote(f"../{file[photo, condition]}")
            alt = escape(f"{condition}: {tags}", quote=True)
            cells.append(
                f"<td class='c {inferred}'><details><summary><img loading='lazy' src='{src}' alt='{alt}'>"
                f"<b>{escape(str(inferred))}</b></summary><p>{escape(tags)}</p></details></td>"
            )
        rows.append(f"<tr><th>says: {escape(genders.get(photo, ''))}</th>{''.join(cells)}</tr>")
    head = "".join(f"<th>{escape(condition)}</th>" for condition in conditions)
    legend = f"What {escape(words.printable(classifier))} infers; open a picture for its tags."
    return (
        f"<section><h2>People in front of contexts</h2><p>{legend}</p><div class='scroll' tabindex='0' role='region' "
        f"aria-label='People by context'><table class='grid'><thead><tr><th></th>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div></section>"
    )


def _tags(run: Path, classifier: str) -> dict[tuple[str, str], list[str]]:
    if not (run / "scores.parquet").is_file():
        return {}
    scores = tables.read(tables.SCORES, run / "scores.parquet")
    subset = scores[(scores["classifier"] == classifier) & (scores["step"] == 0)].sort_values("score", ascending=False)
    found: dict[tuple[str, str], list[str]] = {}
    for photo, attribute, label in zip(subset["photo"], subset["attribute"], subset["label"], strict=True):
        found.setdefault((photo, attribute), []).append(words.printable(label))
    return found


def _figure(name: str) -> str:
    title = escape(context_figures.TITLES.get(name, name), quote=True)
    return f"<section><h2>{title}</h2><img class='wide' src='figures/{name}.png' alt='{title}'></section>"


def _table(frame: pd.DataFrame) -> str:
    head = "".join(f"<th>{escape(str(column))}</th>" for column in frame.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(words.printable(value))}</td>" for value in row) + "</tr>"
        for row in frame.itertuples(index=False)
    )
    return (
        "<div class='scroll' tabindex='0' role='region' aria-label='table'><table><thead>"
        f"<tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _credits(backgrounds: pd.DataFrame) -> str:
    names = ["key", "status", "reason", "detail", "rating", "label", "licence", "creator", "source"]
    return f"<section><h2>Backgrounds</h2>{_table(backgrounds[names].fillna(''))}</section>"


def _cutouts(run: Path, cutouts: pd.DataFrame) -> str:
    """The contact sheet on magenta and on gray, answered by keyboard: a accept, x exclude; saves review.csv."""
    cells = []
    for row in cutouts.sort_values(["status", "photo"]).to_dict("records"):
        if not row["file"]:
            continue
        src = quote(f"../{row['file']}")
        text = escape(
            f"{row['method']}, {row['status']}: {row['detail'] or row['reason']}"
            if row["reason"]
            else f"{row['method']}, used"
        )
        cells.append(
            f"<figure tabindex='0' data-photo='{row['photo']}' class='{row['status']}'><img loading='lazy' src='{src}' "
            f"alt='cut-out on magenta'><img loading='lazy' class='gray' src='{src}' alt='cut-out on gray'>"
            f"<figcaption>{text}</figcaption></figure>"
        )
    skipped = int((cutouts["file"] == "").sum())
    body = (
        "<p>Press <kbd>a</kbd> to accept and <kbd>x</kbd> to exclude the cut-out in focus, then save review.csv into "
        f"the run folder and run the same command in a new folder with --review. {skipped} photos have no cut-out.</p>"
        f"<p><button id='save'>Save review.csv</button></p><div class='sheet'>{''.join(cells)}</div>"
    )
    script = (
        "const said={};for(const f of document.querySelectorAll('figure'))f.addEventListener('keydown',e=>{"
        "const d={a:'accept',x:'exclude'}[e.key];if(!d)return;said[f.dataset.photo]=d;f.dataset.said=d;"
        "if(f.nextElementSibling)f.nextElementSibling.focus()});"
        "document.getElementById('save').onclick=()=>{const t='photo,decision\\n'+Object.entries(said).map("
        "([p,d])=>p+','+d+'\\n').join('');const a=document.createElement('a');a.href=URL.createObjectURL("
        "new Blob([t],{type:'text/csv'}));a.download='review.csv';a.click()};"
    )
    return _html("Cut-outs", body, script)


def _html(title: str, body: str, script: str = "") -> str:
    css = (_TEMPLATES / "page.css").read_text("utf-8") + _CSS
    policy = f"default-src 'none'; img-src 'self' data: file:; style-src 'sha256-{csp_hash(css)}'"
    policy += f"; script-src 'sha256-{csp_hash(script)}'" if script else ""
    tail = f"<script>{script}</script>" if script else ""
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><title>{escape(title)}</title>'
        f"<style>{css}</style></head><body><main><p class='kicker'>gslopes contexts</p><h1>{escape(title)}</h1>{body}"
        f"</main>{tail}</body></html>\n"
    )


_CSS = """
.grid img { width: 9.5rem; display: block; border-radius: 6px; }
.grid td.c { vertical-align: top; padding: .3rem; white-space: normal; max-width: 10.5rem; }
.grid summary { cursor: pointer; list-style: none; }
.grid td.woman b { color: var(--neg); }
.grid td.man b { color: var(--pos); }
.grid td p { font-size: .75rem; }
img.wide { max-width: 100%; background: #fff; border-radius: 12px; }
.sheet { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .8rem; }
.sheet figure { margin: 0; border: 2px solid var(--line); }
.sheet figure.flagged { border-color: var(--neg); }
.sheet figure[data-said=accept] { outline: 4px solid #2b8a3e; }
.sheet figure[data-said=exclude] { outline: 4px solid #b3261a; opacity: .5; }
.sheet img { width: 50%; background: #f0f; float: left; }
.sheet img.gray { background: #777; }
.sheet figcaption { clear: both; font-size: .8rem; padding: .3rem; }
"""


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
