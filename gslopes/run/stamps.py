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

from gslopes.core import runfolder, runtime, summary, tables
from gslopes.core.config import to_dict
from gslopes.core.files import inside, is_file, read_json, sha256_of
from gslopes.run.config import FitConfig, GateConfig
from gslopes.run.plan import SYNTHESIS, Plan, identity
from gslopes.run.sources import manifests

PROGRAM = Path(__file__).resolve().parents[1]
DRAWS = ("matplotlib", "jinja2")  # in addition to runtime.PACKAGES
FITTED = (
    *(tables.SLOPES, tables.SHAPE, tables.GROUPS, tables.DIFFERENCES, tables.BALANCE),
    *(tables.PLACEBOS, tables.REFUSALS, tables.REACH, tables.GATING, tables.ERROR_RATES, tables.ERROR_SLOPES),
    tables.OBSERVED,
)
READ = (
    "scores",
    "asked",
    "photos",
    "dropped-scores",
    "dropped-asked",
    "verdicts",
    "readings",
    "unedited/scores",
    "unedited/asked",
)


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


def synthesis_reads(plan: Plan, models: Mapping[str, Any]) -> dict[str, Any]:
    """What the tables of photos and pictures follow from: the run's identity, and who made the photos."""
    return {
        **_program(),
        "run": identity(plan, dict(models)),
        "sources": list(map(_digest, manifests(plan.config.photos))),
    }


def gate_reads(run: Path, config: GateConfig, reader: str) -> dict[str, Any]:
    """What the verdicts of a run follow from, and the thresholds that ``run.json`` tells.

    reader: the sha256 of who reads the pictures.
    """
    sentence = runfolder.read_manifest(run).get("gate", {}).get("thresholds")
    pictures = _listed(run, run / "parts" / SYNTHESIS)
    return {**_program(), "gate": to_dict(config), "reader": reader, "thresholds": sentence, "parts": pictures}


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
    parts = [_listed(run, run / "parts" / stage) for stage in (SYNTHESIS, "score")]
    return {**_program(), **known, "verdicts": _digest(run / "verdicts.parquet"), "parts": parts}


def fit_reads(run: Path, config: FitConfig, values: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """What the slopes of a run follow from.

    values, seed: of the run.
    """
    files = {name: _digest(run / f"{name}.parquet") for name in READ}
    about = None if config.photos_csv is None else _digest(config.photos_csv)
    return {**_program(), "files": files, "about": about, "fit": to_dict(config), "values": values, "seed": seed}


def fit_made(run: Path) -> list[Path]:
    """The tables that the fit writes."""
    return [run / f"{table.name}.parquet" for table in FITTED]


def report_reads(run: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the report of a run follows from: every table, ``run.json`` and the files next to them; the pictures
    by their names, sizes and times, since each is written once and they may be half a million; the models' cards.

    options: thresholds and what is embedded.
    """
    from gslopes.report.provenance import cards

    names = sorted(path.name for path in run.iterdir() if path.is_file() and path.name[0] != ".")
    files = {name: _digest(run / name) for name in names if name != summary.NAME}  # which the report makes
    pictures = _listed(run, run / "edits")
    known = [list(card) for card in cards(runfolder.read_manifest(run))]
    return {**_program(), "files": files, "pictures": pictures, "cards": known, "options": dict(options)}


def report_made(run: Path) -> list[Path]:
    """The files of the report, and the summary."""
    return [run / summary.NAME, *(path for path in (run / "report").rglob("*") if path.is_file())]


def _path(run: Path, stage: str) -> Path:
    return run / "parts" / f"{stage}.json"


def _plain(content: Any) -> Any:
    """As JSON will give it back."""
    return json.loads(json.dumps(content, default=str))


def _program() -> dict[str, Any]:
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


def _listed(run: Path, folder: Path) -> str:
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


def _digest(path: Path) -> str:
    """Of a file that may be missing: then it is empty."""
    return sha256_of(path) if path.is_file() else ""
