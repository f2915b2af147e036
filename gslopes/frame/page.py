"""The page of an audit: one shell for all, the sections of each, and the summary next to it.

Sections called ``title``, ``kicker``, ``headline``, ``lede``, ``nav`` and ``footer`` take that place of the shell;
those called ``typical``, ``differently`` and ``sure`` come first, like those declared so; ``quote`` takes the place
of the card at the end of the page.

sentences.toml of the audit holds ``limits``, the assumptions at the page's end; ``next``, the steps to do: what, text,
command; ``quote``, what the card for others to quote says, see ``report.quote.About``, with the first three limits;
``published``, figures of the paper; ``links``, further parts of the page that its first lines lead to;
``folded``, what is folded away, in words; ``question``, its heading.  An audit may have none of the first three.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
from markupsafe import Markup

from gslopes.core import Facts, Names, Watch, counted, csv_bytes, from_dict, runfolder, summary
from gslopes.core.tables import Tables as Opened, typed
from gslopes.frame.findings import decide
from gslopes.frame.result import notes_of
from gslopes.frame.shown import arranged, charted, count_decisions, leads
from gslopes.frame.spec import Assets, Audit, Headline, Made, Run
from gslopes.report import inline, quote, words
from gslopes.report.choices import Choice, read_choices, rows_of

Content = dict[str, Any]  # what the macro of a section is called with
QUESTIONS = {"differently": "Does it answer differently?", "sure": "How sure?"}
FIRST = {"typical", *QUESTIONS}


@dataclass(eq=False)
class Page:
    """What the sections of a page are made from; an audit may declare another one with more, see ``spec.Assets``.

    run: whose tables are made: the folder, and the options.
    styles, scripts: files in the audit's folder; scripts bring the plotting library, and read ``data`` as JSON.
    """

    run: Run
    styles: ClassVar[Names] = ("sections.css",)
    scripts: ClassVar[Names] = ()

    @property
    def audit(self) -> Audit:
        """The audit."""
        return self.run.audit

    @property
    def folder(self) -> Path:
        """The folder of the page."""
        return self.run.folder / "report"

    @cached_property
    def tables(self) -> Opened:
        """The tables of the audit, each checked when it is read."""
        return Opened(self.run.folder, self.audit.tables)

    @cached_property
    def findings(self) -> pd.DataFrame:
        """What is judged, decided."""
        return decide(self.audit.judged(self.tables))

    @cached_property
    def headline(self) -> Headline:
        """The finding in a sentence."""
        return self.audit.headline(self.tables)

    @cached_property
    def notes(self) -> list[str]:
        """What users should know of the inputs and of each stage."""
        return [words.printable(note) for note in notes_of(self.audit, self.run.folder)]

    @cached_property
    def quoted(self) -> quote.Quote | None:
        """What others may say of the run."""
        sentences = self.audit.sentences
        card = from_dict(quote.About, sentences["quote"] | {"limits": sentences["limits"][:3]})
        return quote.of_findings(
            self.run.folder,
            self.findings,
            self.headline.line,
            card,
            leads(self.findings, self.headline),
        )

    @property
    def data(self) -> Content | None:
        """What the page's scripts read."""
        return None

    @property
    def summary(self) -> Content:
        """What ``summary.json`` has in addition, see ``core.summary.write``."""
        return {}

    def draw(self, watch: Watch) -> None:
        """Write what lies next to the page: the table of findings.  Raises: StorageError."""
        rows = typed(self.audit.form, self.findings)
        rows = rows.map(lambda cell: float(f"{cell:.10g}") if isinstance(cell, float) else cell)
        runfolder.write_bytes(self.folder / "findings.csv", csv_bytes(rows))


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
    held = f"Of 100 such intervals about 95 hold the number that all {others} from the same source would give."
    undecided = page.headline.sentence.splitlines()[2:]
    return {"lines": [*undecided, *lines, held, count_decisions(page.findings)]}


def noted(page: Page) -> Content:
    """What a section says of how the run was made: its notes."""
    return {"notes": page.notes}


def write_page(run: Run) -> Made:
    """Summary, page and card of a run, from its tables.  Raises: StorageError."""
    assets = run.audit.assets or Assets(Page)
    page = assets.page(run)
    file = write(page, counted(run.executor, "report", "steps"))
    facts = {"audit": run.audit.name, **page.summary}
    summary.write(
        run.folder,
        findings=page.findings,
        counts=run.audit.counts(page.tables)[:2],
        headline=page.headline.line,
        page=file,
        **facts,
    )
    return {}


def write(page: Page, watch: Watch) -> Path:
    """Write a page with its card and what lies next to it; its file.

    watch: shows progress, if the page has many steps.

    Raises: StorageError.
    """
    page.draw(watch)
    file = page.folder / "index.html"
    runfolder.write_bytes(file, render(page).encode("utf-8", "backslashreplace"))
    quote.write_card(page.folder, page.quoted)
    return file


def render(page: Page) -> str:
    """The page as text, self-contained."""
    audit = page.audit
    sections = list(_sections(page))
    differs = []
    if audit.differences is None:
        differs = rows_of(choices_of(audit, runfolder.read_manifest(page.run.folder))[1])
    return inline.render(
        "audit.html.j2",
        house=audit.home,
        styles=page.styles,
        scripts=page.scripts,
        plots=bool(page.scripts),
        data=page.data,
        page=page,
        fewest=page.findings["n"][page.findings["decision"] != summary.UNJUDGED].min(),
        sections=sections,
        bodies={section["name"]: section["body"] for section in sections},
        differs=differs,
    )


def choices_of(audit: Audit, manifest: Facts) -> tuple[str, list[Choice]]:
    """The paper, and its choices next to those of a run.  manifest: the content of run.json."""
    config = manifest["config"]
    flat = dict(config)
    for section in config.values():
        flat |= section if isinstance(section, dict) else {}
    return read_choices(audit.home / "method.toml", flat)


def _sections(page: Page) -> Iterator[Content]:
    """Name, title, place and HTML of every section that has something to show."""
    templates = inline.templates(page.audit.home)
    own, shared = (
        templates.get_template(f"{name}.html.j2").module for name in ("sections", "parts")
    )
    for section in page.audit.page:
        if (content := section.data(page)) is not None:
            macro = getattr(own, section.name, None) or getattr(shared, section.name)
            yield {
                "name": section.name,
                "title": section.title or QUESTIONS.get(section.name, ""),
                "first": section.first or section.name in FIRST,
                "body": Markup(macro(**content)),
            }
