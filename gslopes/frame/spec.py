"""What an audit declares. Plan, order, parts, resume, stamps, findings, page, result and verb follow from it.

An audit is *stimuli, ask, outcomes, contrasts, findings, page*: stages make tables, the last ones are judged and shown.
Its folder holds, next to the functions named here, ``tables.toml`` (see ``core.tables``), ``method.toml`` (see
``report.choices``), ``sentences.toml`` (see ``frame.page``) and ``sections.html.j2``.
Read ``gslopes/captions/audit.py``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple, TypeVar

from numpy.typing import NDArray
from pandas import DataFrame

from gslopes.ask.scoring.cost import Price
from gslopes.core import (
    ConfigError,
    Executor,
    Facts,
    JsonObject,
    Names,
    Texts,
    Tick,
    UsageError,
    from_dict,
    frozen,
    read_toml,
    runfolder,
    runtime,
    show,
    tables,
    to_dict,
)
from gslopes.core.summary import FINDINGS
from gslopes.core.tables import Table, Tables as Opened
from gslopes.frame.executors import OneProcess
from gslopes.frame.sources import check_files, look_through
from gslopes.report.choices import Choice

T = TypeVar("T")
Tables = Mapping[str, DataFrame]
Made = Mapping[str, DataFrame | Sequence[Facts]]  # table to its rows
INPUTS = "inputs"
NOTES = "notes"  # what a stage may read next to tables: what the user gave; sentences of all stages


@frozen
class Inputs:
    """What is audited, looked at and checked before any work.

    content: for the stages that read ``inputs``.  facts: by name in run.json; a folder with others holds another run.
    records: are there, too, and may change.  notes: sentences for the user.
    """

    content: Any
    facts: Facts
    records: Facts = field(default_factory=dict)
    notes: Names = ()


# What a stage does that does not declare a function; lambdas would not travel to other processes.


def _nothing(*_: Any) -> Any:
    """No price to confirm, no version, nothing to check, to join or to do again."""


def _every_row(run: Run, table: str) -> Callable[[DataFrame], DataFrame]:
    return lambda rows: rows


@frozen
class Stage:
    """One step on a run folder. It is done again if what it reads, its options or the program changed, else skipped.

    reads, makes: tables; files and folders of pictures by their path below the run folder, with a dot or a slash in
        it (``review.html``, ``edits/``), which ``work`` writes before it gives its rows. A folder is known by its
        files' names, sizes and times. ``reads`` may also hold ``inputs`` and ``notes``.
    work: gives the tables' rows; called with the run, the items of a part if there are ``items``, and the name if
        there is ``each``. The pictures that a column ``file`` of its tables names are made durable with the part.
    items: what is cut into parts of ``part`` items, each committed by itself; units of progress are called ``unit``.
    along: in place of ``items``: a table that an earlier stage makes in parts. This stage has as many; the items of a
        part are a mapping that reads the earlier stage's tables of that part by name.
    part: items of a part, or a function of the run that gives their number.
    each: names for which all parts are done, such as models' names; names of earlier runs stay in the tables.
    streams: ``work`` does the missing parts of all names itself, side by side. It is called with the run and
        ``frame.parts.Missing``, and commits each part as it is finished.
    join: what becomes of the tables of all parts, by name; a table that it does not give is merged part by part.
    splits: tables that take rows from the parts of another one, to its name.
    keep: which rows of the parts go into a table, by its name; None to leave the table out, of the parts as well.
    merging: reads and options on which only ``join`` and ``keep`` depend: a change leaves the parts as they are.
    threads: whether its parts may be done side by side in threads; or a function of the run that tells.
    here: its parts are only done in this process, such as those that ask models.
    networks: whether its parts take most of their time in networks, which a device of the machine computes faster.
    sends: whether its parts are made from no more than photos, ``run.json`` and the parts of the stage along which it
        is done, so that machines that do not see them can be sent it.
    when: whether the options have it; if not, what it made before is removed, but for its parts.
    goes_with: the stage with which ``--only`` does this one.
    uses: what else it is made from, as JSON has it, such as the versions of models; by name if there is ``each``.
        Parts that were made from another are done again, and workers elsewhere must have the same.
    due: whether something is left to do although nothing changed, such as what failed: parts with failed rows.
    lacks: whether a part is to be done again, by its name, its items and the rows of its last table.
    prices: what is still to be asked for it, by whom, and what that costs at most; called with the run and the stage.
    begin: called before any part is done, with each name's number of missing items, such as to confirm their price.
    check: raises if the tables of all parts are of no use.
    options: names of the configuration on which it depends, such as ``seed`` or ``fit.seed``; all if None.
    """

    name: str
    reads: Names
    makes: Names
    work: Callable[..., Made]
    items: Callable[[Run], Sequence[Any] | NDArray[Any]] | None = None
    along: str = ""
    part: int | Callable[[Run], int] = 32
    unit: str = "photos"
    each: Callable[[Run], Sequence[str]] | None = None
    streams: bool = False
    join: Callable[[Run, Tables], Made | None] = _nothing
    splits: Texts = field(default_factory=dict)
    keep: Callable[[Run, str], Callable[[DataFrame], DataFrame] | None] = _every_row
    merging: Names = ()
    here: bool = False
    networks: bool = False
    sends: Callable[[Run], bool] = _nothing
    threads: bool | Callable[[Run], bool] = False
    when: Callable[[Run], bool] | None = None
    goes_with: str = ""
    uses: Callable[[Run], Any] = _nothing
    due: Callable[[Run], bool] = _nothing
    lacks: Callable[..., bool] = _nothing
    prices: Callable[[Run, Stage], Sequence[Price]] = _nothing
    begin: Callable[[Run, Mapping[str | None, int]], None] = _nothing
    check: Callable[[Run], None] = _nothing
    options: Names | None = None


class Headline(NamedTuple):
    """The finding in a sentence: the heading, and in further lines its numbers, and what is undecided.

    label: how the label of the row begins that it is about.  contrast, model: of the row.  Empty: of any row.
    """

    sentence: str
    label: str = ""
    contrast: str = ""
    model: str = ""

    @property
    def line(self) -> str:
        """All of it in one line."""
        return " ".join(self.sentence.split())


@frozen
class Section:
    """Part of a page: the macro ``name`` of the audit's sections.html.j2, or of parts.html.j2, called with ``data``.

    data: of a ``frame.page.Page``; None leaves the part out.  title: its heading; empty for a part that brings its own.
    first: before what is folded away; see ``frame.page`` for names that have a place of their own.
    """

    name: str
    title: str
    data: Callable[[Any], Facts | None]
    first: bool = False


@frozen
class Assets:
    """How a page is made that has more than sections, such as figures and data for scripts.

    page: makes the ``frame.page.Page`` of a ``Run`` whose tables are made.
    options, reads, makes: of the stage that writes it, next to all tables and the page; see ``Stage``.
    """

    page: Callable[[Any], Any]
    options: Names | None = None
    reads: Names = ()
    makes: Names = ()


def _always(config: Any) -> bool:
    """A lambda would not travel to other processes."""
    return True


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What is done in stages on a run folder; plan, result, page and verb follow from what it declares.

    name: of the verb, and ``kind`` in run.json.  home: its folder.
    config: dataclass of all options, see ``core.options``.
    tables: of its stages, by name.
    inputs: looks at the source of a plan, after the frame has looked for photos there.
    photos: whether a folder that is given is one of photos, by the configuration; by default it is.
    outline: what an audit would do, as lines and as JSON, for ``--dry-run``.
    judged: the numbers that are judged, in the columns of ``core.summary.FINDINGS`` but for the decision, and more:
        what ``frame.findings.decide`` takes; ``said``, what a row is about in words.  A table that has decisions is
        shown with them.
    counts: things found, used; files that could not be read and questions that failed, which give exit code 3.
    terminal: what is printed of a result; None: its findings.  shown: tables that ``--json`` prints.
    page: its sections.  assets: if it has more than these.
    models: name to what is asked, found before any work.
    more: whether more models may be asked later; else their versions identify the run.
    before: called once before the first stage that is not up to date: credentials, prices, a first question.
    configure: makes the configuration of a new run of source, options, stages to do, ready objects and run folder,
        if options depend on one another or the source is one of them.
    fixed: facts that only follow from the options, and stay the same if a run is done again.
    looked_at: options that only ``inputs`` reads: given to a run, they are looked at with its source before all else.
    alone: stages that ``--only`` can name, with what is printed of a ``Result`` after each, as text and as JSON.
    result: the class of its result, if it tells more than others.
    form: of its findings: their columns and types, which ``--fail-if`` can name.
    differences: how a run in a folder, or these options, differ from the paper, as ``--method`` prints it.
    """

    name: str
    home: Path
    config: type
    tables: Mapping[str, Table]
    inputs: Callable[[Plan], Inputs]
    outline: Callable[[Plan], tuple[list[str], Any]]
    stages: tuple[Stage, ...]
    judged: Callable[[Opened], DataFrame]
    headline: Callable[[Opened], Headline]
    counts: Callable[[Opened], tuple[int, int, int]]
    shown: Names
    terminal: Callable[[Opened], str] | None = None
    page: tuple[Section, ...] = ()
    assets: Assets | None = None
    photos: Callable[[Any], bool] = _always
    models: Callable[[Plan], Facts] | None = None
    more: bool = False
    before: Callable[[Run, Executor], None] | None = None
    configure: Callable[..., Any] | None = None  # photos, options, only, given, out
    fixed: Callable[[Any], Facts] | None = None
    looked_at: Names = ()
    alone: Mapping[str, Callable[[Any], tuple[str, Facts]]] = field(default_factory=dict)
    result: type[Any] | None = None
    form: Table = FINDINGS
    differences: Callable[[Path | None, Facts], tuple[Any, list[Choice]]] | None = None

    @cached_property
    def sentences(self) -> JsonObject:
        """The content of sentences.toml.

        Of it the help takes ``about``, ``examples`` and ``source``, what is given: an option of the configuration that
        is positional may name it instead.  ``question`` heads the page, see ``frame.page`` for the others.
        """
        return read_toml(self.home / "sentences.toml")


# -- what the declared functions are given ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """An audit that is checked and not done yet.

    folder: the run folder; None if only the plan is asked for.  source: what is audited.
    again: whether ``source`` was the run folder itself, whose stages are done again as far as its options changed.
    looks: whether the inputs are looked at before that, as an option was given that they depend on.
    trust: whether programs in files may be run.  given: ready objects that the audit's ``models`` takes.
    only: the stages to do; all that the options have if empty.
    """

    audit: Audit
    config: Any
    source: Path
    folder: Path | None
    again: bool = False
    looks: bool = True
    trust: bool = False
    given: Any = None
    only: Names = ()

    @cached_property
    def inputs(self) -> Inputs:
        """The source, looked at.  Raises: whatever is wrong with it."""
        notes: Names = ()
        if self.source.is_dir() and self.audit.photos(self.config):
            notes = look_through(self.source, getattr(self.config, "limit", None))
        elif self.source.is_dir():
            check_files(self.source)
        looked = self.audit.inputs(self)
        return replace(looked, notes=(*filter(None, notes), *looked.notes))

    @cached_property
    def models(self) -> Facts:
        """Name to what is asked.  Raises: whatever is wrong with one of them."""
        if self.audit.models is None:
            return {}
        return self.audit.models(self)

    @cached_property
    def manifest(self) -> JsonObject:
        """The content of run.json: what the run is, its resolved options, and which facts identify it."""
        content = runfolder.Manifest()
        if self.folder is not None and (self.folder / runfolder.MANIFEST).is_file():
            content = runfolder.read_manifest(self.folder)  # with what stages have written into it
        if self.looks:
            content |= {"kind": self.audit.name, "source": show(self.source), **self._looked_at()}
        elif self.audit.fixed is not None:
            content |= self.audit.fixed(self.config)
        content |= {"config": lasting(to_dict(self.config)), "gslopes": runtime.gslopes_version()}
        content.setdefault("created", datetime.now(UTC).isoformat(timespec="seconds"))
        return content

    @property
    def facts(self) -> JsonObject:
        """What identifies the run."""
        return {name: self.manifest[name] for name in self.manifest["facts"]}

    def _looked_at(self) -> JsonObject:
        """What the inputs tell of themselves, as JSON has it."""
        inputs = self.inputs
        facts = dict(inputs.facts)
        if self.audit.models is not None and not self.audit.more:
            facts["asked"] = {name: model.version for name, model in self.models.items()}
        content = {**facts, **inputs.records, "facts": list(facts), "notes": list(inputs.notes)}
        return json.loads(json.dumps(content, default=str))

    def check(self) -> None:
        """Raises: RunFolderMismatch, UsageError if the folder holds another run, or something else."""
        if self.folder is None:
            return
        if not self.again and (self.folder / runfolder.MANIFEST).is_file():
            refuse_older(self.folder, self.audit, goes_on=True)
        runfolder.compare(self.folder, self.manifest, ("kind", *self.facts))


def refuse_older(run: Path, audit: Audit, goes_on: bool = False) -> JsonObject:
    """The manifest of a run.

    Raises: UsageError for a run of this audit by a version that kept other facts and other tables.

    goes_on: the run is to go on, for which its options must be known to this version.
    """
    old = runfolder.read_manifest(run)
    if old.get("kind", audit.name) != audit.name:
        return old
    needed = {"kind", "source", "facts", "notes", "config", *map(str, old.get("facts") or ())}
    is_older = not needed <= old.keys()
    try:
        if goes_on and not is_older:
            from_dict(audit.config, old["config"])
    except ConfigError:
        is_older = True
    if is_older:
        version = f"gslopes {old['gslopes']}" if old.get("gslopes") else "an older gslopes"
        raise UsageError(
            f"{show(run)} was made by {version}, whose runs this version cannot open.",
            "Choose a new folder with --out; the version that made it opens this one.",
        )
    return old


_PASSING = ("yes", "retry_failed", "confirm_above")  # options that hold for one command


def lasting(config: Any, text: Callable[[str], str] = str) -> Any:
    """A configuration as ``run.json`` has it, without the options that only hold for one command.

    text: what becomes of its texts.
    """
    if isinstance(config, dict):
        return {
            name: lasting(value, text) for name, value in config.items() if name not in _PASSING
        }
    if isinstance(config, list):
        return [lasting(value, text) for value in config]
    return text(config) if isinstance(config, str) else config


_MAKING = RLock()  # parts in several threads make a model once


@dataclass(frozen=True)
class Run:
    """One audit at work, as its stages see it.

    config: its options.  tick: counts what is done of a part.
    executor: shows progress, and carries out parts.
    notes: sentences for the user, of the stage in hand or of its part, with which they are kept.
    digests: of files that were looked at since a stage was done.
    plan: knows inputs and models; None in other processes.  content: of the inputs, in other processes.
    """

    audit: Audit
    folder: Path
    config: Any
    plan: Plan | None = None
    executor: Executor = field(default_factory=OneProcess)
    tick: Tick = _nothing
    notes: list[str] = field(default_factory=list)
    digests: dict[Path, str] = field(default_factory=dict)
    content: Any = None
    _made: dict[Any, Any] = field(default_factory=dict)

    @property
    def inputs(self) -> Any:
        """What the audit is about, as its ``inputs`` function looked at it.  Raises: UsageError if it has changed."""
        if self.plan is None:
            return self.content
        now = self.plan.inputs
        facts = json.loads(json.dumps(now.facts, default=str))
        known = self.plan.facts
        if changed := runfolder.differences(known, known | facts):
            raise UsageError(
                f"What {show(self.folder)} was made from has changed: {'; '.join(changed)}.",
                "Restore it, or choose a new folder with --out.",
            )
        return now.content

    @property
    def models(self) -> Facts:
        """Name to what is asked by this command."""
        if self.plan is None:
            return {}
        return self.plan.models

    def table(self, name: str) -> DataFrame:
        """A table of the run, checked.  Raises: TableError."""
        return tables.read(self.audit.tables[name], self.folder / f"{name}.parquet")

    def has(self, name: str) -> bool:
        """Whether the run has a table: a stage may be left out."""
        return (self.folder / f"{name}.parquet").is_file()

    def once(self, make: Callable[[Run], T]) -> T:
        """What a function makes of the run, made once a process, such as a model or an index."""
        with _MAKING:
            if make not in self._made:
                self._made[make] = make(self)
            return self._made[make]

    def note(self, text: str) -> None:
        """A sentence for the user, on the page and the terminal."""
        self.notes.append(text)


def declared_stages(home: Path) -> dict[str, JsonObject]:
    """Name to the fields of ``frame.spec.Stage`` that are texts, numbers, flags or lists of texts.

    home: the folder of the audit.
    """
    declared = {}
    for name, facts in read_toml(home / "stages.toml").items():
        lists = {key: tuple(value) for key, value in facts.items() if isinstance(value, list)}
        declared[name] = {"name": name, **facts, **lists}
    return declared
