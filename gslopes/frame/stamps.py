"""What a stage was made from, and whether that is still the same.

A stage has a stamp, RUN/parts/<stage>.json: what it was made from (tables, files, options, program) and the sha256 of
every file that it made. If all of that is the same now, the stage is up to date.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, reduce
from importlib import metadata
from pathlib import Path
from typing import Any

from gslopes.core import (
    Facts,
    JsonObject,
    hexdigest,
    inside,
    is_file,
    read_json,
    runfolder,
    runtime,
    sha256_of,
    show,
    to_dict,
)
from gslopes.core.tables import Table
from gslopes.frame.result import notes_of
from gslopes.frame.spec import INPUTS, NOTES, Audit, Run, Stage

PROGRAM = Path(__file__).resolve().parents[1]
DRAWS = ("matplotlib", "jinja2")  # in addition to runtime.PACKAGES


def reads_of(run: Run, stage: Stage) -> JsonObject:
    """What a stage is made from, as JSON has it: facts of the inputs, tables, options and the files they name, program.

    Tables are known by the sha256 of their files; one that is missing has an empty one.
    """
    names = to_dict(run.config) if stage.options is None else stage.options
    values = {name: reduce(getattr, name.split("."), run.config) for name in names}
    options = {name: to_dict(value) for name, value in values.items()}
    files = {show(path): _digest(path) for path in sorted(_paths(values))}
    read = {
        name: _known(run, file_of(run, name)) for name in stage.reads if name not in (INPUTS, NOTES)
    }
    facts = None
    notes = None
    if run.plan is not None and INPUTS in stage.reads:
        facts = run.plan.facts
    if NOTES in stage.reads:
        notes = notes_of(run.audit, run.folder)
    return {
        "inputs": facts,
        "tables": read,
        "options": options,
        "files": files,
        "notes": notes,
        "uses": stage.uses(run),
        "each": None if stage.each is None else list(stage.each(run)),
        "program": _program(),
    }


def is_current(run: Run, stage: Stage, reads: Facts) -> bool:
    """Whether a stage was made from this, and all that it made is still as it left it.

    If a run is done again, its inputs may be gone: a newer program is no reason to look at them.
    """
    try:
        old = read_json(stamp_of(run, stage))
        ignored = {"program"}
        if run.plan is None or not run.plan.again or INPUTS not in stage.reads:
            ignored = set()
        in_parts = stage.items is not None or stage.along
        if in_parts and not made_from(run.folder, stage).is_file():  # of an older version
            return False
        if stage.due(run):
            return False
        same = all(
            old["reads"][name] == value for name, value in reads.items() if name not in ignored
        )
        return same and all(_is_intact(run, name, old["made"][name]) for name in old["made"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def stamp(run: Run, stage: Stage, reads: Facts, files: Sequence[Path]) -> None:
    """Write down what a stage was made from, the files that it made, and its notes.  Raises: StorageError."""
    with runfolder.storage(run.folder):
        digests = {path.relative_to(run.folder).as_posix(): _digest(path) for path in sorted(files)}
    runfolder.write_json(
        stamp_of(run, stage), {"reads": reads, "made": digests, "notes": run.notes}
    )


def file_of(run: Run, name: str) -> Path:
    """The file of a table, or what else a stage reads or makes."""
    return run.folder / (f"{name}.parquet" if name in run.audit.tables else name)


def tables_of(audit: Audit, stage: Stage) -> list[Table]:
    """The tables that a stage makes."""
    return [audit.tables[name] for name in stage.makes if name in audit.tables]


def made_from(folder: Path, stage: Stage) -> Path:
    """What a stage's parts were made from, as JSON."""
    return folder / "parts" / stage.name / "made-from.json"


def stamp_of(run: Run, stage: Stage) -> Path:
    """The file of a stage's stamp."""
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
        return hexdigest(repr(sorted(_listing(str(path), ""))))
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
def _program() -> JsonObject:
    """The version, and a digest of the program's files, which in a checkout change without it; what it builds on."""
    code = hashlib.sha256()
    for name, _, _ in sorted(_listing(str(PROGRAM), "")):
        if not {"__pycache__", "_assets"} & set(name.split("/")):
            code.update(f"{name}\0".encode() + (PROGRAM / name).read_bytes() + b"\0")
    versions = runtime.versions() | {name: metadata.version(name) for name in DRAWS}
    return {"gslopes": runtime.gslopes_version(), "code": code.hexdigest(), "versions": versions}
