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
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame

from gslopes.core import (
    LARGEST_TABLE,
    ConfigError,
    JsonObject,
    ModelError,
    TableError,
    Tick,
    UsageError,
    Work,
    frozen,
    kill_point,
    raise_if_refused,
    read_json,
    read_regular,
    runfolder,
    show,
    tables,
)
from gslopes.core.config import convert
from gslopes.core.executor import RemoteTask
from gslopes.core.runfolder import part_path
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
                run.executor(parts.of(name), due, label=stage.name, unit=stage.unit, done=done)
    return _joined(run, stage, names, len(sizes))


@dataclass(eq=False)
class Parts:
    """The parts of a stage, or those of one name: where they are, and their work, here or in other processes."""

    run: Run
    stage: Stage
    name: Name = None

    @cached_property
    def stem(self) -> str:
        """Their folder below RUN/parts."""
        if self.name is None:
            return self.stage.name
        return f"{self.stage.name}/{runfolder.slug(self.name)}"

    @property
    def folder(self) -> Path:
        """Their folder."""
        return self.run.folder / "parts" / self.stem

    @cached_property
    def made(self) -> list[tables.Table]:
        """The tables that each part has, of which the last one commits it."""
        every = tables_of(self.run.audit, self.stage)
        return [table for table in every if table.name not in self.stage.splits]

    def file(self, table: tables.Table, part: int) -> Path:
        """A table of a part."""
        return part_path(self.run.folder, self.stem, table, part)

    def notes(self, part: int) -> Path:
        """What a part tells the user, next to its tables."""
        return self.folder / f"notes-{part:06d}.json"

    def missing(self, count: int) -> list[int]:
        """Those of the first ``count`` that were never committed."""
        return runfolder.missing_parts(self.run.folder, self.stem, self.made[-1], count)

    def lacks(self, part: int) -> bool:
        """Whether a part is to be done: it never was, is damaged, or has failed rows that are tried again."""
        marker = self.file(self.made[-1], part)
        if not marker.exists():
            return True
        try:
            frames = self._checked(part)
        except (TableError, ConfigError, OSError, ValueError) as error:
            raise_if_refused(error, marker)
            marker.unlink(missing_ok=True)
            return True
        statuses = {status for rows in frames for status in rows.get("status", ())}
        if statuses == {"failed"} or ("failed" in statuses and self.stage.due(self.run)):
            return True
        return self.stage.lacks(self.run, self.name, self.piece(part), frames[-1])

    def commit(self, part: int, rows: Made, notes: Sequence[str] = ()) -> None:
        """Write a part that is done: notes and pictures first, its last table at the end.  Raises: StorageError."""
        if notes or self.notes(part).exists():
            runfolder.write_json(self.notes(part), notes)
        made = [table for table in self.made if table.name in rows]
        frames = {table: tables.frame_of(table, rows[table.name]) for table in made}
        for frame in frames.values():
            runfolder.settle(self._pictures(frame))
        for table, frame in frames.items():
            if table is self.made[-1]:
                kill_point("part:whole")
            runfolder.write_table(table, frame, self.file(table, part))

    def _checked(self, part: int) -> list[DataFrame]:
        """The tables of a part.  Raises: TableError, ConfigError, OSError, ValueError unless all of it is there."""
        notes = self.notes(part)
        if notes.exists():
            _sentences(notes)
        frames = []
        for table in self.made:
            path = self.file(table, part)
            if not path.exists() and self.stage.keep(self.run, table.name) is None:
                continue
            frames.append(tables.read(table, path))
            for picture in self._pictures(frames[-1]):
                picture.stat()
        return frames

    def _pictures(self, rows: DataFrame) -> list[Path]:
        """The files that a table names, of a stage that makes pictures."""
        if "file" in rows and any(name.endswith("/") for name in self.stage.makes):
            files = rows["file"]
            return [self.run.folder / file for file in files if isinstance(file, str) and file]
        return []

    # -- doing them ---------------------------------------------------------------------------------------------------

    @cached_property
    def in_threads(self) -> bool:
        """Whether they may be done side by side in threads."""
        threads = self.stage.threads
        return threads(self.run) if callable(threads) else threads

    @property
    def networks(self) -> bool:
        """Whether they are mostly networks, and may be done side by side."""
        return self.stage.networks and self.in_threads

    @cached_property
    def _items(self) -> Any:
        assert self.stage.items is not None
        return self.stage.items(self.run)

    def items(self, part: int) -> Any:
        """What a part is made from."""
        if self.stage.along:
            return self.piece(part)
        size = _part(self.run, self.stage)
        return self._items[part * size : (part + 1) * size]

    def piece(self, part: int) -> Tables:
        """The tables of one part of the stage along which this one is done."""
        if not self.stage.along:
            return {}
        maker = Parts(self.run, maker_of(self.run.audit, self.stage.along))
        return _Read(
            {
                table.name: partial(tables.read, table, maker.file(table, part))
                for table in maker.made
            }
        )

    def __call__(self, part: int, tick: Tick) -> None:
        """Do one part and write it."""
        run = replace(self.run, tick=tick, notes=[])
        rows = self.stage.work(run, self.items(part), *([] if self.name is None else [self.name]))
        self.commit(part, rows, run.notes)

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
        make = partial(_elsewhere, audit, *facts)
        sends = self._sends if self.stage.sends(run) else None
        return RemoteTask(make, tuple(needs), self._described, sends)

    def files(self, part: int) -> list[Path]:
        """All that a part made, in the order of ``commit``."""
        pictures = [file for rows in self._checked(part) for file in self._pictures(rows)]
        tables_made = [self.file(table, part) for table in self.made]
        return [path for path in (*pictures, self.notes(part), *tables_made) if path.exists()]

    def _sends(self, part: int) -> dict[str, bytes]:
        """All that a part reads.  Raises: OSError."""
        run = self.run
        items = self.items(part)
        paths = [run.folder / runfolder.MANIFEST]
        if self.stage.along:
            paths += Parts(run, maker_of(run.audit, self.stage.along)).files(part)
            names = items["photos"].query("status == 'used'")["path"]
            paths += [run.config.photos / name for name in names]
        else:
            paths += [file.path for file in items]
        return {str(path.absolute()): read_regular(path, LARGEST_TABLE) for path in paths}

    def _described(self, part: int) -> str:
        """A part in words."""
        items = self.items(part)
        if not isinstance(items, Mapping) and isinstance(items[0], PhotoFile):
            first = items[0].relative
            if len(items) == 1:
                return str(first)
            return f"the {len(items)} photos from {first} to {items[-1].relative}"
        return f"part {part + 1} of {self.run.audit.name} {self.stage.name}"


class _Read(UserDict[str, Any]):
    """Tables by name, each read, by the function that it holds, whenever it is asked for."""

    def __getitem__(self, name: str) -> DataFrame:
        return self.data[name]()


# -- which parts there are --------------------------------------------------------------------------------------------


@frozen
class Missing:
    """The parts of a stage.

    sizes: of every part, in items.  missing: of each name, the parts that are to be done, with their sizes.
    """

    run: Run
    stage: Stage
    sizes: Mapping[int, int]
    missing: dict[Name, dict[int, int]]

    def of(self, name: Name) -> Parts:
        """Those of a name."""
        return Parts(self.run, self.stage, name)


def missing_of(run: Run, stage: Stage, names: Sequence[Name]) -> Missing:
    """The parts that are to be done, if nothing is done meanwhile; all of them if what they are made from changed."""
    sizes = _sizes(run, stage)
    *_, changed = _sources(run, stage, len(sizes))
    parts = Missing(run, stage, sizes, {})
    for name in names:
        lacks = parts.of(name).lacks
        parts.missing[name] = {part: sizes[part] for part in sizes if changed or lacks(part)}
    return parts


def _sizes(run: Run, stage: Stage) -> dict[int, int]:
    """Items of each part.  Raises: UsageError if those along which it is done are not complete."""
    if stage.items is not None:
        total = len(stage.items(run))
        size = _part(run, stage)
        return {part: min(size, total - part * size) for part in range(-(-total // size))}
    maker = Parts(run, maker_of(run.audit, stage.along))
    table = run.audit.tables[stage.along]
    missing, count = missing_parts(run.folder, run.audit, stage.along)
    if not has_all_parts(run, maker.stage):
        lacks = "it has no parts, or a damaged one"
        if missing:
            lacks = f"{len(missing)} of its {count} parts are missing"
        raise UsageError(
            f"{show(run.folder)} is not complete: of the stage {maker.stage.name}, {lacks}.",
            "Finish it first: repeat the command that started it, without --only.",
        )
    return {part: pq.read_metadata(maker.file(table, part)).num_rows for part in range(count)}


def has_all_parts(run: Run, stage: Stage) -> bool:
    """Whether the tables of all parts of a stage are there and can be opened."""
    parts = Parts(run, stage)
    missing, count = missing_parts(run.folder, run.audit, parts.made[-1].name)
    try:
        for table in parts.made:
            if stage.keep(run, table.name) is not None:
                for part in range(count):
                    pq.read_metadata(parts.file(table, part))
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
    count = 0
    with suppress(FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
        count = int(read_json(made_from(folder, stage))["parts"])
    return Parts(Run(audit, folder, None), stage).missing(count), count


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
            shutil.rmtree(Parts(run, stage, name or None).folder, ignore_errors=True)
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


def _sentences(notes: Path) -> list[str]:
    """The notes of a part.  Raises: OSError, ValueError, ConfigError for a file that holds anything else."""
    return convert(list[str], read_json(notes), show(notes))


# -- tables of all parts ----------------------------------------------------------------------------------------------


def _joined(run: Run, stage: Stage, names: list[Name], count: int) -> Made:
    """The tables that are joined; all others are merged here, and the notes of all parts are taken."""
    earlier = sorted({*read_json(made_from(run.folder, stage))["uses"]} - {"", *names})
    every = [Parts(run, stage, name) for name in (*names, *earlier)]
    whole = [parts for parts in every if not parts.missing(count)]
    folders = [parts.stem for parts in whole]
    notes = [parts.notes(part) for parts in whole for part in range(count)]
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
