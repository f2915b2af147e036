"""Carrying an audit out: stages in order, parts with commit markers, and nothing is done twice.

A stage has a stamp, RUN/parts/<stage>.json: what it was made from (tables, files, options, program) and the sha256 of
every file that it made. If all of that is the same now, the stage is up to date. Its parts stay where a run was
stopped, by Ctrl-C, a power cut or ``kill -9``, and the same command goes on from there.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, partial, reduce
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from gslopes.core import runfolder, runtime, tables
from gslopes.core.config import to_dict
from gslopes.core.errors import UsageError
from gslopes.core.executor import Executor, RemoteTask, Work
from gslopes.core.files import inside, is_file, read_json, sha256_of, show
from gslopes.core.progress import Tick
from gslopes.core.tables import Table
from gslopes.frame.executors import OneProcess, engine
from gslopes.frame.page import Page, write_page
from gslopes.frame.plan import Plan
from gslopes.frame.result import Result, notes_of, result_of
from gslopes.frame.spec import INPUTS, NOTES, Assets, Audit, Made, Stage

T = TypeVar("T")
PROGRAM = Path(__file__).resolve().parents[1]
ENGINE: Mapping[str, Any] = {
    "engine": "one",
    "workers": None,
    "device": "cpu",
}  # options of a configuration that has them
DRAWS = ("matplotlib", "jinja2")  # in addition to runtime.PACKAGES


def _no_tick(count: int) -> None:
    """Nothing is shown."""


@dataclass(frozen=True)
class Run:
    """One audit at work, as its stages see it.

    config: its options.  tick: counts what is done of a part.
    executor: does the work of a stage that cuts its own parts.
    notes: sentences for the user, of the stage in hand or of its part, with which they are kept.
    digests: of files that were looked at since a stage was done.
    plan: knows the inputs; None in other processes, which read tables alone and have no models.
    """

    audit: Audit
    folder: Path
    config: Any
    plan: Plan | None = None
    executor: Executor = field(default_factory=OneProcess)
    tick: Tick = _no_tick
    notes: list[str] = field(default_factory=list)
    digests: dict[Path, str] = field(default_factory=dict)
    _made: dict[Any, Any] = field(default_factory=dict)

    @property
    def inputs(self) -> Any:
        """What the audit is about, as its ``inputs`` function looked at it.  Raises: UsageError if it has changed."""
        if self.plan is None:
            raise RuntimeError(
                "a part reads tables alone: its stage may be done in another process"
            )
        now = self.plan.inputs
        facts = self.plan.facts
        if any(
            facts.get(name) != value
            for name, value in json.loads(json.dumps(now.facts, default=str)).items()
        ):
            raise UsageError(
                f"{show(self.plan.source)} has changed.", "Choose a new folder with --out."
            )
        return now.content

    @property
    def models(self) -> Mapping[str, Any]:
        """Name to what is asked by this command."""
        if self.plan is None:
            return {}
        return self.plan.models

    def table(self, name: str) -> pd.DataFrame:
        """A table of the run, checked.  Raises: TableError."""
        return tables.read(self.audit.tables[name], self.folder / f"{name}.parquet")

    def has(self, name: str) -> bool:
        """Whether the run has a table: a stage may be left out."""
        return (self.folder / f"{name}.parquet").is_file()

    def once(self, make: Callable[["Run"], T]) -> T:
        """What a function makes of the run, made once a process, such as a model or an index."""
        if make not in self._made:
            self._made[make] = make(self)
        return self._made[make]

    def note(self, text: str) -> None:
        """A sentence for the user, on the page and the terminal."""
        self.notes.append(text)


def carry_out(plan: Plan, executor: Executor) -> Result:
    """Do each stage, or those that the plan names, unless it is up to date; the result.

    Raises: RunFolderMismatch, StorageError, UsageError, and whatever a stage raises; KeyboardInterrupt at Ctrl-C.
    """
    if plan.folder is None:
        raise UsageError("No run folder is given.", "Write --out RUN.")
    executor = engine(
        executor, *(getattr(plan.config, name, default) for name, default in ENGINE.items())
    )
    run = Run(plan.audit, plan.folder, plan.config, plan, executor)
    begun = not (run.folder / runfolder.MANIFEST).is_file()
    if begun and plan.audit.before is not None:  # what is refused leaves no folder
        plan.audit.before(run, executor)
    with runfolder.locked(run.folder):
        plan.check()
        runfolder.write_json(run.folder / runfolder.MANIFEST, plan.manifest)
        for stage in _chosen(run, plan.only):
            if not plan.only and stage.when is not None and not stage.when(run):
                _leave_out(run, stage)
            elif is_current(run, stage, reads_of(run, stage)):
                executor.note(f"{stage.name:<10} up to date")
            else:
                if plan.audit.before is not None and not begun:
                    plan.audit.before(run, executor)
                begun = True
                _do(replace(run, notes=[]), stage)
    return result_of(plan.audit, plan.folder)


def stages_of(audit: Audit) -> tuple[Stage, ...]:
    """Its stages, with the one that writes the page."""
    if audit.page:
        return (*audit.stages, page_stage(audit))
    return audit.stages


def _chosen(run: Run, only: Sequence[str]) -> list[Stage]:
    """The stages to do.  Raises: UsageError for an unknown name, or if tables of a stage before are missing."""
    stages = {stage.name: stage for stage in stages_of(run.audit)}
    if unknown := [name for name in only if name not in stages]:
        raise UsageError(f"There is no stage {unknown[0]!r}.", f"There are {', '.join(stages)}.")
    needs = {name for stage in stages.values() if stage.name in only for name in stage.reads}
    for stage in stages.values():
        lacks = [
            name for name in _tables(run, stage) if name.name in needs and not run.has(name.name)
        ]
        if lacks and stage.when is None and stage.name not in only:
            hint = f"Run: gslopes {run.audit.name} {show(run.folder)} --only {stage.name}."
            raise UsageError(f"{show(run.folder)} has no table {lacks[0].name} yet.", hint)
    return [stage for stage in stages.values() if not only or stage.name in only]


def _do(run: Run, stage: Stage) -> None:
    reads = reads_of(run, stage)
    for name in stage.makes:
        if name.endswith("/"):
            runfolder.make_folder(run.folder / name)
    made = stage.work(run) if stage.items is None else _in_parts(run, stage)
    run.digests.clear()
    stamp(run, stage, reads, write(run, stage, made))


def _leave_out(run: Run, stage: Stage) -> None:
    for path in (
        _stamp(run, stage),
        *(_file(run, name) for name in stage.makes if not name.endswith("/")),
    ):
        path.unlink(missing_ok=True)
        run.digests.pop(path, None)


def page_stage(audit: Audit) -> Stage:
    """The last stage of every audit: findings, summary and page, from all tables."""
    assets = audit.assets or Assets(Page)
    names = dict.fromkeys(
        name for stage in audit.stages for name in stage.makes if name in audit.tables
    )
    return Stage(
        "report",
        (*names, NOTES, *assets.reads),
        ("summary.json", "report/index.html", "report/model_card.md", *assets.makes),
        write_page,
        options=assets.options,
    )


# -- doing a stage ----------------------------------------------------------------------------------------------------


def _in_parts(run: Run, stage: Stage) -> Made:
    """Do the parts that are missing or damaged; the tables of all of them, merged or joined, and their notes."""
    assert stage.items is not None
    made = _tables(run, stage)
    total = len(stage.items(run))
    count = -(-total // stage.part)
    _discard_others(run, stage)
    names = [None] if stage.each is None else list(stage.each(run))
    missing: dict[str | None, dict[int, int]] = {}  # of each name, the parts and their sizes
    for name in names:
        folder = _parts_of(stage, name)
        runfolder.discard_damaged(run.folder, folder, made, count)
        _discard_unreadable_notes(run, folder, made[-1], count)
        if stage.due is not None and stage.due(run):
            _discard_failed(run, folder, made[-1])
        parts = runfolder.missing_parts(run.folder, folder, made[-1], count)
        missing[name] = {part: min(stage.part, total - part * stage.part) for part in parts}
    if stage.confirm is not None:
        stage.confirm(run, {name: sum(sizes.values()) for name, sizes in missing.items()})
    for name, sizes in missing.items():
        if sizes:
            done = total - sum(sizes.values())
            run.executor(
                Parts(run, stage, name), sizes, label=stage.name, unit=stage.unit, done=done
            )
    folders = [_parts_of(stage, name) for name in names]
    if stage.each is not None:
        folders += _finished_before(run, stage, made[-1], count, folders)
    run.notes.extend(_noted_in_parts(run, folders, count))
    if stage.join is not None:
        return stage.join(
            run,
            {table.name: runfolder.read_parts(run.folder, table, folders, count) for table in made},
        )
    for table in made:
        runfolder.merge(run.folder, table, folders, count)
    if stage.check is not None:
        stage.check(run)
    return {}


def _discard_failed(run: Run, folder: str, marker: Table) -> None:
    for path in (run.folder / "parts" / folder).glob(f"{marker.name}-*.parquet"):
        if "failed" in set(tables.read_columns(marker, path, ["status"])["status"]):
            path.unlink()


def _discard_unreadable_notes(run: Run, folder: str, marker: Table, count: int) -> None:
    for part in range(count):
        notes = _notes_file(run, folder, part)
        try:
            if notes.exists():
                read_json(notes)
        except (OSError, ValueError):
            notes.unlink(missing_ok=True)
            runfolder.part_path(run.folder, folder, marker, part).unlink(missing_ok=True)


def _parts_of(stage: Stage, name: str | None) -> str:
    """The folder of a stage's parts below RUN/parts."""
    if name is None:
        return stage.name
    return f"{stage.name}/{runfolder.slug(name)}"


def _finished_before(
    run: Run, stage: Stage, marker: Table, count: int, folders: Sequence[str]
) -> list[str]:
    """Folders of names that an earlier run finished, sorted."""
    home = run.folder / "parts" / stage.name
    others = sorted(f"{stage.name}/{path.name}" for path in home.iterdir() if path.is_dir())
    complete = (
        folder
        for folder in others
        if not runfolder.missing_parts(run.folder, folder, marker, count)
    )
    return [folder for folder in complete if folder not in folders]


def _notes_file(run: Run, folder: str, part: int) -> Path:
    """What a part said to the user, next to its tables."""
    return run.folder / "parts" / folder / f"notes-{part:06d}.json"


def _noted_in_parts(run: Run, folders: Sequence[str], count: int) -> list[str]:
    """The notes of all parts, whenever and wherever they were done, each sentence once."""
    paths = (_notes_file(run, folder, part) for folder in folders for part in range(count))
    return list(dict.fromkeys(note for path in paths if path.is_file() for note in read_json(path)))


def _discard_others(run: Run, stage: Stage) -> None:
    """Remove parts that were made from other tables or options; what they are made from is kept next to them."""
    folder = run.folder / "parts" / stage.name
    runfolder.make_folder(folder)
    reads = reads_of(run, stage)
    now = {}
    record = folder / "made-from.json"
    before = None
    for kind in ("tables", "options", "files"):
        now[kind] = {
            name: value for name, value in reads[kind].items() if name not in stage.merging
        }
    with suppress(OSError, ValueError):
        before = read_json(record)
    if before != now:
        for path in folder.rglob("*.parquet"):
            path.unlink()
    runfolder.write_json(record, now)


def write(run: Run, stage: Stage, made: Made) -> list[Path]:
    """Write the tables of a stage; all files that it made."""
    for table in _tables(run, stage):
        if table.name in made:
            runfolder.write_table(table, _frame(table, made[table.name]), _file(run, table.name))
    return [path for name in stage.makes if (path := _file(run, name)).exists()]


def _file(run: Run, name: str) -> Path:
    return run.folder / (f"{name}.parquet" if name in run.audit.tables else name)


def _tables(run: Run, stage: Stage) -> list[Table]:
    return [run.audit.tables[name] for name in stage.makes if name in run.audit.tables]


def _frame(table: Table, rows: pd.DataFrame | Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    if isinstance(rows, pd.DataFrame):
        return rows
    return tables.frame_of(table, rows)


class Parts:
    """The work of a stage's parts, here or in other processes; the last table that it makes commits a part."""

    def __init__(self, run: Run, stage: Stage, name: str | None = None) -> None:
        assert stage.items is not None
        self.in_threads = stage.threads
        self.run, self.stage, self.name, self.items = run, stage, name, stage.items(run)

    def __call__(self, part: int, tick: Tick) -> None:
        """Do one part and write it: what it notes first, since its last table commits it."""
        size = self.stage.part
        items = self.items[part * size : (part + 1) * size]
        run = replace(self.run, tick=tick, notes=[])
        made = self.stage.work(run, items, *([] if self.name is None else [self.name]))
        folder = _parts_of(self.stage, self.name)
        notes = _notes_file(run, folder, part)
        if run.notes or notes.exists():
            runfolder.make_folder(notes.parent)
            runfolder.write_json(notes, run.notes)
        for table in _tables(run, self.stage):
            path = runfolder.part_path(run.folder, folder, table, part)
            runfolder.write_table(table, _frame(table, made[table.name]), path)

    def remote_task(self) -> RemoteTask:
        """The same work in another process.  Raises: UsageError if the stage is done here."""
        if self.stage.here:
            raise UsageError(
                f"The stage {self.stage.name} asks models of this process.", "Use the engine one."
            )
        run = Run(self.run.audit, self.run.folder, self.run.config)
        name = f"{self.run.audit.name} {self.stage.name}"
        return RemoteTask(
            partial(_elsewhere, run, self.stage, self.name),
            (run.folder,),
            lambda part: f"part {part + 1} of {name}",
        )


def _elsewhere(run: Run, stage: Stage, name: str | None, device: str) -> Work:
    del device
    return Parts(run, stage, name)


# -- stamps -----------------------------------------------------------------------------------------------------------


def reads_of(run: Run, stage: Stage) -> dict[str, Any]:
    """What a stage is made from, as JSON has it: facts of the inputs, tables, options and the files they name, program.

    Tables are known by the sha256 of their files; one that is missing has an empty one.
    """
    names = to_dict(run.config) if stage.options is None else stage.options
    values = {name: reduce(getattr, name.split("."), run.config) for name in names}
    options = {name: to_dict(value) for name, value in values.items()}
    files = {show(path): _digest(path) for path in sorted(_paths(values))}
    read = {
        name: _known(run, _file(run, name)) for name in stage.reads if name not in (INPUTS, NOTES)
    }
    facts = run.plan.facts if run.plan is not None and INPUTS in stage.reads else None
    notes = notes_of(run.audit, run.folder) if NOTES in stage.reads else None
    made_from = {
        "inputs": facts,
        "tables": read,
        "options": options,
        "files": files,
        "notes": notes,
    }
    made_from |= {"uses": None if stage.uses is None else stage.uses(run)}
    return made_from | {
        "each": None if stage.each is None else list(stage.each(run)),
        "program": _program(),
    }


def is_current(run: Run, stage: Stage, reads: Mapping[str, Any]) -> bool:
    """Whether a stage was made from this, and all that it made is still as it left it.

    Where a run is done again, its inputs need not be there: a newer program alone does not look at them.
    """
    try:
        old = read_json(_stamp(run, stage))
        ignored = (
            {"program"}
            if run.plan is not None and run.plan.again and INPUTS in stage.reads
            else set()
        )
        if stage.due is not None and stage.due(run):
            return False
        same = all(
            old["reads"][name] == value for name, value in reads.items() if name not in ignored
        )
        return (
            same
            and bool(old["made"])
            and all(_is_intact(run, name, old["made"][name]) for name in old["made"])
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def stamp(run: Run, stage: Stage, reads: Mapping[str, Any], made: Sequence[Path]) -> None:
    """Write down what a stage was made from, the files that it made, and its notes.  Raises: StorageError."""
    with runfolder.storage(run.folder):
        digests = {path.relative_to(run.folder).as_posix(): _digest(path) for path in sorted(made)}
        runfolder.make_folder(_stamp(run, stage).parent)
    runfolder.write_json(_stamp(run, stage), {"reads": reads, "made": digests, "notes": run.notes})


def _stamp(run: Run, stage: Stage) -> Path:
    return run.folder / "parts" / f"{stage.name}.json"


def _is_intact(run: Run, name: str, digest: str) -> bool:
    path = run.folder / name
    return (
        inside(run.folder, path)
        and (path.is_dir() or is_file(path))
        and _known(run, path) == digest
    )


def _paths(value: Any) -> Iterator[Path]:
    """The files that options name."""
    if isinstance(value, Path):
        if value.is_file():
            yield value
    elif is_dataclass(value):
        yield from _paths([getattr(value, field.name) for field in fields(value)])
    elif isinstance(value, Mapping):
        yield from _paths(list(value.values()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _paths(item)


def _digest(path: Path) -> str:
    """Of a file its sha256, of a folder the sha256 of its files' names, sizes and times; empty if it is missing."""
    if path.is_dir():
        return hashlib.sha256(repr(sorted(_listing(str(path), ""))).encode()).hexdigest()
    if path.is_file():
        return sha256_of(path)
    return ""


def _known(run: Run, path: Path) -> str:
    """``_digest`` of a file of the run, which several stages ask for."""
    if path not in run.digests:
        run.digests[path] = _digest(path)
    return run.digests[path]


def _listing(folder: str, below: str) -> Iterator[tuple[str, int, int]]:
    """(name, bytes, nanoseconds) of every file below a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _listing(entry.path, f"{below}{entry.name}/")
            else:
                about = entry.stat()
                yield below + entry.name, about.st_size, about.st_mtime_ns


@cache  # what runs is what was read when the process began
def _program() -> dict[str, Any]:
    """The version, and a digest of the program's files, which in a checkout change without it; what it builds on."""
    code = hashlib.sha256()
    for path in sorted(PROGRAM.rglob("*")):
        if path.is_file() and not {"__pycache__", "_assets"} & set(path.parts):
            code.update(f"{path.relative_to(PROGRAM)}\0".encode() + path.read_bytes() + b"\0")
    versions = runtime.versions() | {name: metadata.version(name) for name in DRAWS}
    return {"gslopes": runtime.gslopes_version(), "code": code.hexdigest(), "versions": versions}
