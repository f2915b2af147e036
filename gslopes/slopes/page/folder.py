"""The page of a run folder: its parts, and the tables, pictures, figures and data that lie next to it."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path, PurePath
from types import SimpleNamespace
from typing import Any, TypeVar

from pandas import DataFrame

from gslopes.core import Watch, explained, files, placebo, runfolder, tables
from gslopes.core.reasons import listed
from gslopes.frame.page import Content, Page
from gslopes.report import choices, quote, words
from gslopes.slopes import method
from gslopes.slopes.page import (
    ReportConfig,
    answers as matrix,
    decisions,
    loading,
    observed,
    occupations,
    page_data,
    paper,
    paper_figures,
    switches,
    tasks,
    validity,
)
from gslopes.slopes.page.lead import headline
from gslopes.slopes.page.screen import about, chart, strip

Part = TypeVar("Part")
_STEPS = 20  # of progress: a finding takes about as long as the pictures of this many sweeps
_SCRIPTS = ("base", "plots", "findings", "compare", "label", "explorer", "start")


# -- facts of run.json, in which anything may be written --------------------------------------------------------------


def _hidden(value: Any, photos: str) -> Any:
    """A value without the names of folders and files on the machine: absolute paths, and the folder of the photos."""
    if isinstance(value, Mapping):
        return {name: _hidden(inner, photos) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden(inner, photos) for inner in value]
    if not isinstance(value, str):
        return value
    if photos and value == photos:
        return "PHOTOS"
    if PurePath(value).is_absolute() or "\\" in value:
        return "FILE"
    return value


def _told(kind: str) -> property:
    """A part of run.json; without pictures no file of the machine is named."""

    def of_page(page: "WalkPage") -> Any:
        manifest = page.source.manifest
        if page.pictured:
            return manifest[kind]
        return _hidden(manifest[kind], str(manifest["config"].get("photos", "")))

    return property(of_page)


def _read(part: Callable[[Path], Part]) -> "cached_property[Part]":
    """What a function reads from the run folder, once."""
    return cached_property(lambda page: part(page.run.folder))


# -- the page ---------------------------------------------------------------------------------------------------------


class WalkPage(Page):
    """The parts of the page by the names that its sections ask for, see ``sections``.

    Those that are set by ``draw`` are files, or come with them.
    """

    styles = ()
    scripts = tuple(f"templates/page-{name}.js" for name in _SCRIPTS)
    steps = loading.STEPS
    meanings = decisions.MEANINGS

    @property
    def config(self) -> ReportConfig:
        """The options of the report."""
        return self.run.config.report

    @property
    def pictured(self) -> bool:
        """Whether photos and their names may be shown."""
        return self.config.embed != "none"

    # -- tables -------------------------------------------------------------------------------------------------------

    @cached_property
    def source(self) -> loading.RunTables:
        """The run folder, read.  Raises: UsageError, TableError."""
        return loading.load(self.run.folder)

    @cached_property
    def slopes(self) -> DataFrame:
        """The table of findings, see ``decisions.findings_table``."""
        errors = tables.read_rows(tables.ERROR_SLOPES, self.run.folder)
        return decisions.findings_table(self.source.slopes, errors)

    @cached_property
    def findings(self) -> DataFrame:
        """What is judged, decided."""
        return decisions.summary_rows(self.slopes)

    @property
    def summary(self) -> Content:
        """Observed differences and drawing effects, if the run has them."""
        makers = {
            "observed": observed.summary_rows,
            "drawing": decisions.drawing_rows,
            "editing": validity.counts,
        }
        more = {
            name: rows(self.tables[name]) for name, rows in makers.items() if name in self.tables
        }
        return {"audit": "photos", "more": more}

    # -- parts of the page --------------------------------------------------------------------------------------------

    @property
    def pairs(self) -> bool:
        """Whether others made the pictures."""
        return placebo.of_a_set(self.source.manifest)

    @property
    def created(self) -> str:
        """When the run began: to the minute, in UTC; anything but an ISO date and time unchanged."""
        created = words.printable(self.source.manifest["created"])
        try:
            moment = datetime.fromisoformat(created)
        except ValueError:
            return created
        if moment.tzinfo:
            return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        return f"{moment:%Y-%m-%d %H:%M}"

    @property
    def album(self) -> int:
        """How many photos the explorer has."""
        if any(len(finding.values) for finding in self.source.findings):
            return len(self.pictures.photos)
        return 0

    @cached_property
    def notes(self) -> list[str]:
        """What users should know, a sentence each."""
        run = self.run.folder
        return [*loading.unanswered(run), *loading.cautions(run), *loading.notes(run)]

    @cached_property
    def credited(self) -> Mapping[str, dict[str, str]]:
        """Photo to credit."""
        if self.pictured:
            return loading.read_credits(self.run.folder)
        return {}

    # See the functions that read them.
    funnels = _read(loading.funnels)
    edited = _read(lambda run: list(validity.editor_panels(run)))
    soundness = _read(observed.soundness)
    errors = _read(observed.error_panels)

    @cached_property
    def crossed(self) -> list[SimpleNamespace]:
        """See ``page_data.crossed_panels``."""
        return page_data.crossed_panels(self.source, self.pictures, self.credited)

    @property
    def tasks(self) -> list[str]:
        """See ``tasks``."""
        return tasks.sentences([screen.scale for screen in self.screens])

    @cached_property
    def sweeps(self) -> list[Content]:
        """See ``validity``."""
        return validity.sweeps(self.run.folder, self.source.manifest["values"], self.pairs)

    @cached_property
    def explained(self) -> list[Content]:
        """See ``validity``."""
        return validity.explained(self.run.folder, tables.reading(self.source.real))

    @cached_property
    def observed(self) -> list[Content]:
        """See ``observed``."""
        return observed.panels(self.run.folder)

    @cached_property
    def photos(self) -> Content:
        """What became of the photos; without pictures none is named.

        found, used: how many.  several: how many of those used show several faces.
        reasons: with their counts, the most frequent first.  skipped: path and reason of each one.
        dropped: how many sweeps the gate kept from the classifiers.
        """
        run = self.run.folder
        columns = ["path", "status", "reason", "detail", "faces"]
        photos = tables.read_rows(tables.PHOTOS, run, columns)
        skipped = photos.query("status == 'skipped'")
        used = photos.query("status == 'used'")
        reasons = listed(skipped["reason"], skipped["detail"])
        whys = map(explained, skipped["reason"], skipped["detail"])
        return {
            "found": len(photos),
            "used": len(used),
            "several": int((used["faces"] > 1).sum()),
            "reasons": sorted(reasons.items(), key=lambda item: (-item[1], item[0])),
            "skipped": sorted(zip(skipped["path"], whys, strict=True)) * self.pictured,
            "dropped": int((~runfolder.verdicts(run)["kept"]).sum()),
        }

    @cached_property
    def quoted(self) -> quote.Quote | None:
        """What others may quote of the run."""
        if not self.screens:
            return None
        first: Any = [*self.crossed, *self.screens][0]
        rows = self.findings
        leading = rows["model"].map(words.printable) == first.classifier
        leading &= rows["contrast"] == first.attribute
        if first.headline.strongest:
            leading &= rows["label"] == first.headline.strongest
        attributes = list(dict.fromkeys(screen.attribute for screen in self.screens))
        return quote.of_findings(
            self.run.folder,
            rows,
            f"{words.model(first.classifier)}: {first.headline.sentence}",
            about(self.source.manifest, attributes),
            leading,
        )

    @cached_property
    def differs(self) -> list[choices.Choice]:
        """How the run differs from the paper."""
        if self.pairs:
            return []
        return method.of_run(self.run.folder, (self.config.p, self.config.slope))

    # the models that made the pictures, the classifiers, the editor of others by attribute, with their facts
    models, classifiers, editors = map(_told, ("models", "classifiers", "editor"))

    @property
    def data(self) -> Content:
        """What the page's scripts read."""
        return {
            "sections": [self.entries[screen.key] for screen in self.screens],
            "perFile": page_data.PHOTOS_A_FILE,
            "decisions": self.meanings,
            "p": self.config.p,
            "slope": self.config.slope,
            "readings": [
                {name: sweep[name] for name in ("values", "curves")} for sweep in self.sweeps
            ],
        }

    # -- files next to the page ---------------------------------------------------------------------------------------

    def draw(self, watch: Watch) -> None:
        """Write tables, pictures, figures and data.  Raises: UnknownName for a label of no classifier; StorageError."""
        run, source = self.run.folder, self.source
        paper_figures.check_labels(source, self.config.labels)
        sweeps = page_data.count_sweeps(run, source.steps) if self.pictured else 0
        with watch(sweeps + _STEPS * len(source.findings)) as tick:
            _clear(self.folder)
            self.papers = self._write_tables()
            self.pictures = page_data.build_album(
                run, self.folder, source.steps, self.config.embed, tick
            )
            self.entries: dict[str, Content] = {}
            screens = []
            for finding in source.findings:
                screens.append(self._draw_finding(finding))
                tick(_STEPS)
        self.screens = _ranked(screens)
        self._write_explorer()
        self.numbered = paper_figures.write(
            self.folder, source, pictures=self.pictured, labels=self.config.labels
        )
        if self.differs:
            text = choices.to_markdown(self.differs)
            runfolder.write_bytes(self.folder / "method.md", text.encode())
        self.switches = switches.write(self.folder, run, source.findings)
        self.occupations = occupations.panels(self.folder, source)

    def _write_tables(self) -> list[str]:
        """Write the findings, the slopes and the paper's tables; the names of the latter."""
        decisions.write_findings(self.folder, self.slopes)
        slopes = self.source.slopes.reindex(columns=decisions.TIDY.columns)
        runfolder.write_bytes(self.folder / "slopes.csv", files.csv_bytes(slopes))
        real = self.source.real
        published = real.query("estimator == @loading.PAPER")
        thresholds = {"p": self.config.p, "slope": self.config.slope}
        return paper.write(self.folder, self.run.folder, published, self.slopes, **thresholds)

    def _draw_finding(self, finding: loading.Finding) -> SimpleNamespace:
        """Write the data files of one finding; its first screen.

        counts: (decision in words, labels with it), those that occur.  decided: label to decision.
        headline: see ``lead``.  chart, strip: see ``screen``.  steps: of the funnel, (what, how many).
        scale: of a language model's task.
        """
        run = self.run.folder
        decided = decisions.decide(finding.read)
        answers = finding.answers
        content = page_data.finding(finding, answers, self.pictures.index, decided)
        page_data.write_script(self.folder, finding.key, content)
        classifier = words.printable(finding.classifier)
        head = {
            "key": finding.key,
            "classifier": classifier,
            "attribute": finding.attribute,
            "ends": words.ends(finding.attribute),
            "perceived": words.perceived(finding.attribute),
            "labels": finding.rows["label"].nunique(),
        }
        self.entries[finding.key] = {
            **head,
            "named": placebo.ends_of(finding.attribute) is not None,
            "values": finding.values.tolist(),
            "clusters": page_data.clusters(run, finding.classifier, finding.attribute),
            **page_data.write_comparisons(self.folder, run, finding),
        }
        lead = headline(finding.read, decided, finding.attribute, finding.drawn)
        label = lead.strongest or matrix.steepest(answers)
        named = loading.PAIRED if self.pairs else loading.STEPS
        funnel = self.funnels.get((classifier, finding.attribute), {})
        counts = decisions.counts(decided)
        return SimpleNamespace(
            **head,
            finding=finding,
            decided=decided,
            counts=[(decisions.SHOWN[code], many) for code, many in counts.items() if many],
            headline=lead,
            chart=chart(finding, decided, answers),
            strip=strip(finding, label, answers, self.pictures, self.credited),
            steps=[(named[step], many) for step, many in funnel.items()],
            scale=tasks.scale_of(finding, decided, self.source.manifest),
        )

    def _write_explorer(self) -> None:
        columns = ["photo", "attribute", "kept", "reason", "detail"]
        verdicts = runfolder.verdicts(self.run.folder, columns)
        dropped = verdicts.query("not kept")
        why = map(explained, dropped["reason"], dropped["detail"])
        reasons = zip(dropped["photo"], dropped["attribute"], why, strict=True)
        content = page_data.photo_listing(
            self.pictures, list(self.source.steps), reasons, self.credited
        )
        page_data.write_script(self.folder, "photos", content)
        sweeps = {finding.key: finding.answers for finding in self.source.findings}
        for number, chunk in enumerate(page_data.scores_files(self.pictures, sweeps)):
            page_data.write_script(self.folder, f"scores-{number}", chunk)


def _clear(report: Path) -> None:
    """Remove what an earlier report drew and handed to its page: it may show photos that this one may not."""
    with runfolder.storage(report):
        for old in [*report.glob("figure[123]*.*"), *report.glob("data/*.js")]:
            old.unlink()


def _ranked(screens: list[SimpleNamespace]) -> list[SimpleNamespace]:
    """The classifier with most labels that move first, then the one whose label goes furthest; expected ones aside."""

    def rank(screen: SimpleNamespace) -> tuple[int, float, str]:
        far = max(
            (
                abs(row["last"] - row["first"])
                for row in screen.chart
                if not row["decision"].expected
            ),
            default=0.0,
        )
        return screen.headline.expected - screen.headline.moves, -far, screen.key

    return sorted(screens, key=rank)
