"""What an audit returns, and any finished run folder as that."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name

from pandas import DataFrame

from gslopes.core import JsonObject, Names, UsageError, read_json, runfolder, show
from gslopes.core.tables import Tables, typed
from gslopes.frame.findings import decide
from gslopes.frame.shown import printed
from gslopes.frame.spec import Audit, refuse_older
from gslopes.photos.decode import named_picture
from gslopes.report.inline import jpeg_uri, plain, templates

# Kind in run.json to the audit that carries it out.
AUDITS = {
    "audit": "gslopes.slopes.audit:SLOPES",
    "captions": "gslopes.captions.audit:CAPTIONS",
    "contexts": "gslopes.contexts.audit:CONTEXTS",
    "crops": "gslopes.crops.audit:CROPS",
}


@dataclass(frozen=True, eq=False)
class Result:
    """What an audit found; its tables.toml names the tables. Printed, it shows what matters.

    folder: the run folder.  page: the report, None before it.  summary: the finding in a sentence, empty before it.
    found, used: things that were looked at, and those that the numbers are about.  damaged: files that could
    not be read, and questions that failed.  notes: sentences that a user should know.
    """

    folder: Path
    page: Path | None
    summary: str
    audit: Audit = field(repr=False)
    found: int
    used: int
    damaged: int
    notes: Names

    @cached_property
    def tables(self) -> Mapping[str, DataFrame]:
        """The tables of the run folder by name, read lazily."""
        return Tables(self.folder)

    @property
    def findings(self) -> DataFrame:
        """What is judged, one row each, in the order of ``frame.findings``: columns and types of the audit's form."""
        return typed(self.audit.form, self._decided)

    @property
    def _decided(self) -> DataFrame:
        return decide(self.audit.judged(Tables(self.folder)))

    @property
    def review(self) -> Path | None:
        """The page on which people answer; None if the audit has none."""
        return _found(self.folder / "review.html")

    @property
    def facts(self) -> JsonObject:
        """As JSON has it: the findings, and the tables that the audit shows, as far as the run has them."""
        from gslopes.frame.commands import rows

        there = [name for name in self.audit.shown if name in self.tables]
        listed = {name: rows(self.tables[name]) for name in there}
        return {
            "run": str(self.folder),
            "page": str(self.page) if self.page else None,
            "notes": [*self.notes],
            "findings": rows(self.findings),
            **listed,
        }

    @property
    def places(self) -> list[str]:
        """What a user should know, and the place of every file, a line each."""
        findings = _found(self.folder / "report" / "findings.csv")
        told = plain("places.txt.j2", __file__, result=self, findings=findings, show=show)
        return [*self.notes, *told.split("\n")]

    def __str__(self) -> str:
        tables = Tables(self.folder)
        terminal = self.audit.terminal
        if terminal:
            return terminal(tables)
        return printed(self.audit.headline(tables), self._decided)

    def _repr_html_(self) -> str:
        """For a notebook: the finding, what is judged, the pictures of one photo, and a link to the page."""
        template = templates(__file__).get_template("notebook.html.j2")
        return template.render(result=self, named_picture=named_picture, jpeg_uri=jpeg_uri)


def _found(page: Path) -> Path | None:
    if page.is_file():
        return page
    return None


def load(run: str | Path) -> Result:
    """Open a run folder again: the result that its audit returned, by the kind that its ``run.json`` names.

    run: of ``audit``, ``audit_contexts``, ``audit_crops`` or ``audit_captions``. Nothing is computed or written.

    Raises: UsageError if it is not such a folder, is not finished, or is of an older version; TableError if a table is
        damaged.

        audit = gslopes.load("RUN")
        audit.findings, audit.summary, audit.page
    """
    folder = Path(run)
    kind = str(
        runfolder.read_manifest(folder).get("kind") or "audit"
    )  # older runs of gslopes audit name none
    if kind not in AUDITS:
        raise UsageError(
            f"{show(folder)} is a run of the kind {kind!r}.",
            f"Kinds that open: {', '.join(AUDITS)}.",
        )
    audit = find_audit(kind)
    refuse_older(folder, audit)
    return result_of(audit, folder)


def result_of(audit: Audit, folder: Path) -> Result:
    """The result of an audit's run folder.  Raises: as ``load``."""
    tables = Tables(folder)
    try:
        counts = audit.counts(tables)
        headline = audit.headline(tables).line
    except KeyError as error:
        raise UsageError(
            f"{show(folder)} is not finished: a table is missing.",
            "Repeat the command that began it: it goes on from where it was.",
        ) from error
    page = _found(folder / "report" / "index.html")
    notes = tuple(notes_of(audit, folder))
    return (audit.result or Result)(folder, page, headline, audit, *counts, notes)


def find_audit(name: str) -> Audit:
    """The audit of a name in ``AUDITS``, imported."""
    return resolve_name(AUDITS[name])


def notes_of(audit: Audit, folder: Path) -> list[str]:
    """The sentences for the user of the inputs, and of all stages whose stamps can be read, in their order."""
    notes = list(runfolder.read_manifest(folder).get("notes", []))
    for stage in audit.stages:
        with suppress(OSError, ValueError, KeyError, TypeError):
            notes += [
                str(note) for note in read_json(folder / "parts" / f"{stage.name}.json")["notes"]
            ]
    return notes
