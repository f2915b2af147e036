"""The parts of a stage: which of them are missing, doing these, and the tables of all of them.

RUN/parts/<stage>, or of each name RUN/parts/<stage>/<name>, holds the tables of a part and its notes; its last table
commits it. ``made-from.json`` names what the parts were made from, and their number. Parts stay if a run is
stopped, by Ctrl-C, a power cut or ``kill -9``, and the same command goes on from there.
"""

import shutil
from collections import UserDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame

from gslopes.core import (
    ConfigError,
    JsonObject,
    ModelError,
    TableError,
    Tick,
    UsageError,
    Work,
    frozen,
    kill_point,
    read_json,
    runfolder,
    show,
    tables,
)
from gslopes.core.config import convert
from gslopes.core.executor import RemoteTask
from gslopes.core.runfolder import part_path
from gslopes.core.storage import raise_if_refused
from gslopes.frame.result import AUDITS, find_audit
from gslopes.frame.spec import INPUTS, Audit, Made, Run, Stage, Tables
from gslopes.frame.stamps import made_from, reads_of, tables_of
from gslopes.photos.folder import PhotoFile

Name = str | None  # of those that a stage declares with ``each``


def do_parts(run: Run, stage: Stage) -> Made:
    """Do the parts that are missing or damaged, then join the tables and notes of all of them."""
    names: list[Name] = [None] if stage.each is None else list(stage.each(run))
    if not names:  # which may be an error
        stage.begin(run, {})
    sizes = _sizes(run, stage)
    _discard_others(run, stage, names, len(sizes))
    parts = missing_of(run, stage, names)
    stage.begin(run, {name: sum(due.values()) for name, due in parts.missing.items()})
    if stage.streams:
        stage.work(run, parts)
    else:
        for name, due in parts.missing.items():
            done = sum(sizes.values()) - sum(due.values())
            if due:
                work = Parts(run, stage, name)
                run.executor(work, due, label=stage.name, unit=stage.unit, done=done)
    return _joined(run, stage, names, len(sizes))


@frozen
class Missing:
    """The parts of a stage.

    sizes: of every part, in items.  missing: of each name, the parts that are to be done, with their sizes.
    """

    run: Run
    stage: Stage
    sizes: Mapping[int, int]
    missing: dict[Name, dict[int, int]]

    def piece(self, part: int) -> Tables:
        """What ``Stage.along`` gives as the items of a part."""
        return _piece(self.run, self.stage, part)

    def folder(self, name: Name) -> Path:
        """The folder of a name's parts."""
        return self.run.folder / "parts" / _folder(self.stage, name)

    def commit(self, name: Name, part: int, rows: Made) -> None:
        """As ``commit``, without notes."""
        commit(replace(self.run, notes=[]), self.stage, name, part, rows)

    def lacks(self, name: Name, part: int) -> bool:
        """Whether a part is to be done: it never was, is damaged, or has failed rows that are tried again."""
        run = self.run
        stage = self.stage
        folder = _folder(stage, name)
        marker = part_path(run.folder, folder, _part_tables(run.audit, stage)[-1], part)
        if not marker.exists():
            return True
        try:
            frames = _checked(run, stage, folder, part)
        except (TableError, ConfigError, OSError, ValueError) as error:
            raise_if_refused(error, marker)
            marker.unlink(missing_ok=True)
            return True
        statuses = {status for rows in frames for status in rows.get("status", ())}
        if statuses == {"failed"} or ("failed" in statuses and stage.due(run)):
            return True
        return stage.lacks(run, name, self.piece(part), frames[-1])


def missing_of(run: Run, stage: Stage, names: Sequence[Name]) -> Missing:
    """The parts that are to be done, if nothing is done meanwhile; all of them if what they are made from changed."""
    sizes = _sizes(run, stage)
    *_, changed = _sources(run, stage, len(sizes))
    parts = Missing(run, stage, sizes, {name: {} for name in names})
    for name in names:
        due = {part: sizes[part] for part in sizes if changed or parts.lacks(name, part)}
        parts.missing[name] = due
    return parts


def commit(
    run: Run,
    stage: Stage,
    name: Name,
    part: int,
    rows: Made,
) -> None:
    """Write a part that is done: its notes and pictures first, its last table at the end.  Raises: StorageError."""
    folder = _folder(stage, name)
    notes = _notes_file(run, folder, part)
    if run.notes or notes.exists():
        runfolder.write_json(notes, run.notes)
    part_tables = _part_tables(run.audit, stage)
    made = [table for table in part_tables if table.name in rows]
    frames = {table: tables.frame_of(table, rows[table.name]) for table in made}
    for frame in frames.values():
        runfolder.settle(_pictures(run, stage, frame))
    for table, frame in frames.items():
        if table is part_tables[-1]:
            kill_point("part:whole")
        runfolder.write_table(table, frame, part_path(run.folder, folder, table, part))


def _checked(run: Run, stage: Stage, folder: str, part: int) -> list[DataFrame]:
    """The tables of a part.  Raises: TableError, ConfigError, OSError, ValueError unless all of it is there."""
    notes = _notes_file(run, folder, part)
    if notes.exists():
        _sentences(notes)
    frames = []
    for table in _part_tables(run.audit, stage):
        path = part_path(run.folder, folder, table, part)
        if not path.exists() and stage.keep(run, table.name) is None:
            continue
        frames.append(tables.read(table, path))
        for picture in _pictures(run, stage, frames[-1]):
            picture.stat()
    return frames


def _pictures(run: Run, stage: Stage, rows: DataFrame) -> list[Path]:
    """The files that a table names, of a stage that makes pictures."""
    if "file" in rows and any(name.endswith("/") for name in stage.makes):
        return [run.folder / file for file in rows["file"] if isinstance(file, str) and file]
    return []


# -- which parts there are --------------------------------------------------------------------------------------------


def _sizes(run: Run, stage: Stage) -> dict[int, int]:
    """Items of each part.  Raises: UsageError if those along which it is done are not complete."""
    if stage.items is not None:
        total = len(stage.items(run))
        size = _part(run, stage)
        return {part: min(size, total - part * size) for part in range(-(-total // size))}
    maker = maker_of(run.audit, stage.along)
    table = run.audit.tables[stage.along]
    missing, count = missing_parts(run.folder, run.audit, stage.along)
    if not has_all_parts(run, maker):
        lacks = "it has no parts, or a damaged one"
        if missing:
            lacks = f"{len(missing)} of its {count} parts are missing"
        raise UsageError(
            f"{show(run.folder)} is not complete: of the stage {maker.name}, {lacks}.",
            "Finish it first: repeat the command that started it, without --only.",
        )
    paths = (part_path(run.folder, maker.name, table, part) for part in range(count))
    return {part: pq.read_metadata(path).num_rows for part, path in enumerate(paths)}


def has_all_parts(run: Run, stage: Stage) -> bool:
    """Whether the tables of all parts of a stage are there and can be opened."""
    made = _part_tables(run.audit, stage)
    missing, count = missing_parts(run.folder, run.audit, made[-1].name)
    made = [table for table in made if stage.keep(run, table.name) is not None]
    paths = (
        part_path(run.folder, stage.name, table, part) for table in made for part in range(count)
    )
    try:
        for path in paths:
            pq.read_metadata(path)
    except (OSError, pa.ArrowException):
        return False
    return count > 0 and not missing


def maker_of(audit: Audit, table: str) -> Stage:
    """The stage that makes a table in parts, not of each name.  Raises: RuntimeError for others."""
    for stage in audit.stages:
        in_parts = stage.items is not None or stage.along
        if table in stage.makes and in_parts and stage.each is None:
            return stage
    raise RuntimeError(f"no stage makes {table} in parts that another may follow")


def missing_parts(folder: Path, audit: Audit, table: str) -> tuple[list[int], int]:
    """Numbers of the parts of a table that a run lacks, and how many it has in all: none if it was not begun."""
    stage = maker_of(audit, table)
    marker = _part_tables(audit, stage)[-1]
    count = 0
    with suppress(FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
        count = int(read_json(made_from(folder, stage))["parts"])
    return runfolder.missing_parts(folder, stage.name, marker, count), count


def _discard_others(run: Run, stage: Stage, names: Sequence[Name], count: int) -> None:
    """Remove parts that were made from something else; what they are made from is kept next to them."""
    now, used, changed = _sources(run, stage, count)
    made_with = stage.uses(run)
    uses = {"": made_with}
    if stage.each is not None:
        uses = {str(name): (made_with or {}).get(name) for name in names}
    record = made_from(run.folder, stage)
    if changed:
        used = {}
        shutil.rmtree(record.parent, ignore_errors=True)
    for name, value in uses.items():
        if name in used and used[name] != value:
            shutil.rmtree(run.folder / "parts" / _folder(stage, name or None), ignore_errors=True)
    runfolder.write_json(record, {**now, "uses": used | uses})


def _sources(run: Run, stage: Stage, count: int) -> tuple[JsonObject, JsonObject, bool]:
    """What the parts are made from, the models of those that are there, and whether these were made from others."""
    reads = reads_of(run, stage)
    now: JsonObject = {"parts": count}
    for kind in ("tables", "options", "files"):
        now[kind] = {
            name: value for name, value in reads[kind].items() if name not in stage.merging
        }
    before = {}
    with suppress(FileNotFoundError, NotADirectoryError, ValueError, TypeError):
        before = dict(read_json(made_from(run.folder, stage)))
    changed = any(before.get(kind) != value for kind, value in now.items())
    return now, before.get("uses", {}), changed


def _part(run: Run, stage: Stage) -> int:
    if isinstance(stage.part, int):
        return stage.part
    return stage.part(run)


def _part_tables(audit: Audit, stage: Stage) -> list[tables.Table]:
    return [table for table in tables_of(audit, stage) if table.name not in stage.splits]


def _folder(stage: Stage, name: Name) -> str:
    """The folder of a stage's parts below RUN/parts."""
    if name is None:
        return stage.name
    return f"{stage.name}/{runfolder.slug(name)}"


def _notes_file(run: Run, folder: str, part: int) -> Path:
    """What a part tells the user, next to its tables."""
    return run.folder / "parts" / folder / f"notes-{part:06d}.json"


def _sentences(notes: Path) -> list[str]:
    """The notes of a part.  Raises: OSError, ValueError, ConfigError for a file that holds anything else."""
    return convert(list[str], read_json(notes), show(notes))


# -- tables of all parts ----------------------------------------------------------------------------------------------


class _Read(UserDict[str, Any]):
    """Tables by name, each read, by the function that it holds, whenever it is asked for."""

    def __getitem__(self, name: str) -> DataFrame:
        return self.data[name]()


def _piece(run: Run, stage: Stage, part: int) -> Tables:
    """The tables of one part of the stage along which this one is done."""
    if not stage.along:
        return {}
    maker = maker_of(run.audit, stage.along)
    return _Read(
        {
            table.name: partial(tables.read, table, part_path(run.folder, maker.name, table, part))
            for table in _part_tables(run.audit, maker)
        }
    )


def _joined(run: Run, stage: Stage, names: list[Name], count: int) -> Made:
    """The tables that are joined; all others are merged here, and the notes of all parts are taken."""
    marker = _part_tables(run.audit, stage)[-1]
    earlier = sorted({*read_json(made_from(run.folder, stage))["uses"]} - {"", *names})
    folders = [
        folder
        for name in (*names, *earlier)
        if not runfolder.missing_parts(run.folder, folder := _folder(stage, name), marker, count)
    ]
    notes = [_notes_file(run, folder, part) for folder in folders for part in range(count)]
    run.notes.extend(
        dict.fromkeys(note for path in notes if path.is_file() for note in _sentences(path))
    )

    own_tables = tables_of(run.audit, stage)
    read = {
        table.name: partial(runfolder.read_parts, run.folder, table, folders, count)
        for table in own_tables
    }
    joined = stage.join(run, _Read(read)) or {}
    for table in own_tables:
        if table.name in joined:
            continue
        keep = stage.keep(run, table.name)
        if keep is None:
            (run.folder / f"{table.name}.parquet").unlink(missing_ok=True)
            continue
        source = run.audit.tables[stage.splits.get(table.name, table.name)]
        runfolder.merge(run.folder, source, folders, count, keep, table.name)
    return joined


# -- doing them -------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Parts:
    """The work of a stage's parts, here or in other processes."""

    run: Run
    stage: Stage
    name: Name

    def __post_init__(self) -> None:
        threads = self.stage.threads
        self.in_threads = threads(self.run) if callable(threads) else threads
        self._items: Any = ()
        if self.stage.items is not None:
            self._items = self.stage.items(self.run)

    def items(self, part: int) -> Any:
        """What a part is made from."""
        if self.stage.along:
            return _piece(self.run, self.stage, part)
        size = _part(self.run, self.stage)
        return self._items[part * size : (part + 1) * size]

    def __call__(self, part: int, tick: Tick) -> None:
        """Do one part and write it."""
        run = replace(self.run, tick=tick, notes=[])
        rows = self.stage.work(run, self.items(part), *([] if self.name is None else [self.name]))
        commit(run, self.stage, self.name, part, rows)

    def remote_task(self) -> RemoteTask:
        """The same work in another process.  Raises: UsageError if the stage is done here."""
        if self.stage.here:
            raise UsageError(
                f"The stage {self.stage.name} works with objects that cannot be sent to other processes.",
                "Use the engine one, or name them in the configuration.",
            )
        run = self.run
        folder = run.folder.absolute()
        uses = self.stage.uses(run)
        audit: str | Audit = run.audit
        if run.audit.name in AUDITS:  # lambdas of a declaration do not travel
            audit = run.audit.name
        content = None
        if INPUTS in self.stage.reads:
            content = run.inputs
        facts = (folder, run.config, content, self.stage.name, self.name, uses)
        needs = [folder]
        if run.plan is not None and run.plan.source.exists():
            needs.append(run.plan.source)
        return RemoteTask(partial(_elsewhere, audit, *facts), tuple(needs), self._described)

    def _described(self, part: int) -> str:
        """A part in words."""
        items = self.items(part)
        if not isinstance(items, Mapping) and isinstance(items[0], PhotoFile):
            first = items[0].relative
            if len(items) == 1:
                return str(first)
            return f"the {len(items)} photos from {first} to {items[-1].relative}"
        return f"part {part + 1} of {self.run.audit.name} {self.stage.name}"


def _elsewhere(
    sent: str | Audit,
    folder: Path,
    config: Any,
    content: Any,
    stage_name: str,
    name: Name,
    uses: Any,
    device: str,
) -> Work:
    """The work in another process.  Raises: ModelError if other models are there."""
    audit = sent
    if isinstance(audit, str):
        audit = find_audit(audit)
    stage = next(stage for stage in audit.stages if stage.name == stage_name)
    if hasattr(config, "device"):
        config = replace(config, device=device)
    run = Run(audit, folder, config, content=content)
    if (uses_here := stage.uses(run)) != uses:
        differing = "; ".join(runfolder.differences(uses, uses_here, stage_name))
        raise ModelError(
            f"A worker has other models: {differing}.", "Install the same models on every machine."
        )
    return Parts(run, stage, name)
