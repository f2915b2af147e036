"""The page of an audit: one shell for all, the sections of each, and the summary next to it.

sentences.toml of the audit holds ``limits``, the assumptions at the page's end; ``next``, the steps to do: what, text,
command; ``quote``, what the card for others to quote says, see ``report.quote.About``, with the first three limits;
``published``, figures of the paper; ``links``, further parts of the page that its first lines lead to;
``question``, its heading.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd
from markupsafe import Markup

from gslopes.core import runfolder, summary
from gslopes.core.result import Tables as Opened
from gslopes.frame.findings import decide
from gslopes.frame.result import notes_of
from gslopes.frame.shown import arranged, charted, counted, leads
from gslopes.frame.spec import Audit, Headline, Tables
from gslopes.report import inline, quote, words
from gslopes.report.choices import Choice, read_choices, rows_of

if TYPE_CHECKING:
    from gslopes.frame.spec import Made, Run

Content = dict[str, Any]  # what the macro of a section is called with


@dataclass(frozen=True)
class Page:
    """What the sections of a page are made from.

    run: the folder, and the options.  tables: all of them.  findings: what is judged, decided.
    """

    run: Run
    tables: Tables
    findings: pd.DataFrame
    headline: Headline

    @property
    def audit(self) -> Audit:
        """The audit."""
        return self.run.audit

    @cached_property
    def notes(self) -> list[str]:
        """What users should know of the inputs and of each stage."""
        return [words.printable(note) for note in notes_of(self.audit, self.run.folder)]

    @cached_property
    def quoted(self) -> quote.Quote | None:
        """What others may say of the run."""
        about = self.audit.sentences["quote"]
        limits = tuple(self.audit.sentences["limits"][:3])
        card = quote.About(
            about["title"], tuple(about["things"]), about["compared"], limits, about["source"]
        )
        return quote.of_findings(
            self.run.folder,
            self.findings,
            self.headline.sentence,
            card,
            leads(self.findings, self.headline),
        )


def chart(page: Page) -> Content | None:
    """The section with the one chart, see ``shown.arranged``; None where nothing is judged."""
    panels = charted(arranged(page.findings, page.headline))
    judged = int((page.findings["decision"] != summary.UNJUDGED).sum())
    if panels:
        return {"panels": panels, "more": judged - sum(len(one["rows"]) for one in panels)}
    return None


def sure(page: Page, *lines: str) -> Content:
    """The section on how sure the numbers are: the audit's own lines, what an interval holds, how many findings."""
    others = page.audit.sentences["quote"]["things"][1]
    held = f"Of a hundred such intervals 95 hold the number that other {others} from the same source would give."
    return {"lines": [*lines, held, counted(page.findings)]}


def noted(page: Page) -> Content:
    """What a section says of how the run was made: its notes."""
    return {"notes": page.notes}


def write_page(run: Run) -> Made:
    """Summary, page and card of a run, from its tables.  Raises: StorageError."""
    names = [
        name
        for stage in run.audit.stages
        for name in stage.makes
        if name in run.audit.tables and run.has(name)
    ]
    tables = Opened(run.folder, {name: run.table(name) for name in names})
    page = Page(run, tables, decide(run.audit.judged(tables)), run.audit.headline(tables))
    file = run.folder / "report" / "index.html"
    runfolder.make_folder(file.parent)
    runfolder.write_bytes(file, render(page).encode())
    quote.write_card(file.parent, page.quoted)
    counts = run.audit.counts(tables)[:2]
    sentence = page.headline.sentence
    summary.write(run.folder, run.audit.name, page.findings, counts, headline=sentence, page=file)
    return {}


def render(page: Page) -> str:
    """The page as text, self-contained."""
    audit = page.audit
    return inline.render(
        "audit.html.j2",
        house=audit.home,
        styles=("sections.css",),
        audit=audit,
        headline=page.headline.sentence,
        sections=list(_sections(page)),
        steps=[
            (step["what"], step["text"], step.get("command", ""))
            for step in audit.sentences["next"]
        ],
        differs=rows_of(choices_of(audit, runfolder.read_manifest(page.run.folder))[1]),
        quote=page.quoted,
    )


def choices_of(audit: Audit, manifest: Mapping[str, Any]) -> tuple[str, list[Choice]]:
    """The paper, and its choices next to those of a run.  manifest: the content of run.json."""
    config = manifest.get("config") or {}
    flat = dict(config)
    for section in config.values():
        flat |= section if isinstance(section, dict) else {}
    return read_choices(audit.home / "method.toml", flat)


def _sections(page: Page) -> Iterator[dict[str, Any]]:
    """Name, title and HTML of every section that has something to show."""
    templates = inline.templates(page.audit.home)
    own, shared = (
        templates.get_template(f"{name}.html.j2").module for name in ("sections", "parts")
    )
    for section in page.audit.page:
        if (content := section.data(page)) is not None:
            macro = getattr(own, section.name, None) or getattr(shared, section.name)
            yield {"name": section.name, "title": section.title, "body": Markup(macro(**content))}
