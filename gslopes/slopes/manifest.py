"""What ``run.json`` says of a run of the walk, and what must be in its folder before a stage begins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gslopes.core import runfolder, tables
from gslopes.core.errors import RunFolderMismatch, UsageError
from gslopes.core.records import Classifier
from gslopes.core.runfolder import SYNTHESIS, show
from gslopes.photos.folder import count_parts

_MOST_PARTS = 1_000_000  # more is no run of anybody: it would take hours to see that they are not there


def read(run: Path) -> dict[str, Any]:
    """The content of ``run.json``.  Raises: UsageError unless it is there and is that of a run."""
    content = runfolder.read_manifest(run)
    try:
        numbers = content["inputs"]["photos"], content["config"]["part"], content["seed"]
        content["values"].items()
        if min(map(int, numbers)) < 0 or int(numbers[1]) < 1 or int(numbers[0]) > _MOST_PARTS * int(numbers[1]):
            raise ValueError("a number out of its range")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        message = f"{show(run / runfolder.MANIFEST)} is damaged: it lacks what every run has."
        raise UsageError(message, "Make the run again in a new folder.") from error
    return content


def complete_parts(run: Path) -> int:
    """How many parts the run has.  Raises: UsageError unless the pictures of all of them are there."""
    parts, missing = _parts(run), len(missing_parts(run))
    if missing:
        hint = "Finish it first: repeat the command that started it."
        raise UsageError(f"{show(run)} is not complete: {missing} of its {parts} parts have no pictures yet.", hint)
    return parts


def missing_parts(run: Path) -> list[int]:
    """The parts of the run that have no pictures yet.  Raises: as ``read``."""
    return runfolder.missing_parts(run, SYNTHESIS, tables.PHOTOS, _parts(run))


def _parts(run: Path) -> int:
    content = read(run)
    return count_parts(int(content["inputs"]["photos"]), int(content["config"]["part"]))


def check_versions(run: Path, classifiers: Sequence[Classifier]) -> None:
    """Raises: RunFolderMismatch if one was asked in another version before: answers of two cannot be mixed."""
    if not (run / runfolder.MANIFEST).exists():
        return
    known = runfolder.read_manifest(run).get("classifiers", {})
    for classifier in classifiers:
        old = known.get(classifier.name, {}).get("version", classifier.version)
        if old != classifier.version:
            raise RunFolderMismatch(
                f"{show(run)} has answers of {classifier.name} in version {old or 'unknown'}; "
                f"it is {classifier.version or 'unknown'} now.",
                "Make the pictures again in a new folder, or restore that version of the classifier.",
            )
