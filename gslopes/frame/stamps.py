"""Stamps: what a stage was made from and what it made, so that a rerun does it again only if either has changed.

A stamp holds the sha256 of everything that the stage reads, of the program itself and of every file that it wrote. It
is believed only if all of that is as it was; whatever cannot be read is another reason to do the stage again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from gslopes.core import runfolder, runtime
from gslopes.core.files import inside, is_file, read_json, sha256_of
from gslopes.core.runfolder import SYNTHESIS

PROGRAM = Path(__file__).resolve().parents[1]
DRAWS = ("matplotlib", "jinja2")  # in addition to runtime.PACKAGES


def is_current(run: Path, stage: str, reads: Mapping[str, Any]) -> bool:
    """Whether a stage was made from this, and all that it made is still as it left it.

    reads: as ``fit_reads`` or ``report_reads`` say now.
    """
    try:
        stamp = read_json(_path(run, stage))
        return bool(
            stamp["reads"] == _plain(reads)
            and stamp["made"]
            and all(
                inside(run, run / name) and is_file(run / name) and sha256_of(run / name) == digest
                for name, digest in stamp["made"].items()
            )
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def stamp(run: Path, stage: str, reads: Mapping[str, Any], made: Iterable[Path]) -> None:
    """Write down what a stage was made from, as that was before it began, and the files that it made.

    Raises: StorageError.
    """
    with runfolder.storage(run):
        digests = {path.relative_to(run).as_posix(): sha256_of(path) for path in sorted(made)}
        runfolder.make_folder(_path(run, stage).parent)
    runfolder.write_json(_path(run, stage), {"reads": _plain(reads), "made": digests})


def score_reads(run: Path, *, gate: bool, dropped: int = 0) -> dict[str, Any]:
    """What the merged answers of a run follow from.

    gate: whether sweeps that it dropped are left out.  dropped: how many of them are asked about.
    """
    content = runfolder.read_manifest(run)
    known = {
        "classifiers": content.get("classifiers"),
        "applied": content.get("gate", {}).get("applied"),
        "gate": gate,
        "dropped": dropped,
    }
    parts = [listed(run, run / "parts" / stage) for stage in (SYNTHESIS, "score")]
    return {**program(), **known, "verdicts": digest(run / "verdicts.parquet"), "parts": parts}


def _path(run: Path, stage: str) -> Path:
    return run / "parts" / f"{stage}.json"


def _plain(content: Any) -> Any:
    """As JSON will give it back."""
    return json.loads(json.dumps(content, default=str))


def program() -> dict[str, Any]:
    """The version, and the very text of the program, which in a checkout changes without it; what it stands on."""
    versions = runtime.versions() | {name: metadata.version(name) for name in DRAWS}
    return {"gslopes": runtime.gslopes_version(), "code": _code(PROGRAM), "versions": versions}


@cache  # what runs is what was read when the process began
def _code(program: Path) -> str:
    """A digest of the names and texts of all files of a program."""
    code = hashlib.sha256()
    for path in sorted(program.rglob("*")):
        if path.is_file() and not {"__pycache__", "_assets"} & set(path.parts):
            code.update(f"{path.relative_to(program)}\0".encode() + path.read_bytes() + b"\0")
    return code.hexdigest()


def listed(run: Path, folder: Path) -> str:
    """A digest of the names, sizes and times of every file below a folder of the run."""
    found = hashlib.sha256()
    for name, size, time in sorted(_listing(folder)):
        found.update(os.fsencode(f"{name.removeprefix(str(run))}\0{size}\0{time}\n"))
    return found.hexdigest()


def _listing(folder: Path) -> Iterator[tuple[str, int, int]]:
    """(path, bytes, nanoseconds) of every file below a folder."""
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _listing(Path(entry.path))
            else:
                about = entry.stat()
                yield entry.path, about.st_size, about.st_mtime_ns


def digest(path: Path) -> str:
    """Of a file that may be missing: then it is empty."""
    return sha256_of(path) if path.is_file() else ""
