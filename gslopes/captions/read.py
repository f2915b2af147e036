"""Reading the stages: the form of a file is found in its content, not in its name."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from gslopes.captions.techniques import STAGES
from gslopes.core.config import read_toml
from gslopes.core.errors import ConfigError, DataMissing, UnknownName, UsageError
from gslopes.core.files import parse_json, read_named
from gslopes.core.runfolder import show
from gslopes.datasets import coco, visual_genome
from gslopes.datasets.caption_tables import LARGEST, StageRows, read_table
from gslopes.language.wordnet import WordNet

COVERAGES = ("open", "closed", "none")
_TABLES = (".csv", ".tsv", ".parquet")
_LOOKED_FOR = (
    "COCO instances (images, annotations, categories), COCO captions (annotations with caption), COCO results "
    "(a list of image_id and caption), Visual Genome (a list with objects, attributes or relationships)"
)


@dataclass(slots=True)
class StageFiles:
    """The files of one stage, and how much they cover where the user says so."""

    files: list[Path]
    coverage: str = ""


@dataclass(slots=True)
class Read:
    """All stages as rows.  digests: stage to one sha256 over its files' bytes."""

    stages: dict[str, StageRows] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    coverage: dict[str, str] = field(default_factory=dict)

    def images(self, stage: str) -> set[str]:
        """Ids of the images that a stage has."""
        rows = self.stages[stage]
        return {row.image for row in rows.captions} | set(rows.images)

    def all_images(self) -> set[str]:
        """Ids of the images that any stage has."""
        return set().union(*(self.images(stage) for stage in self.stages))


def find_stages(source: Path, others: Iterable[Path] = ()) -> dict[str, StageFiles]:
    """Stage to its files: of a folder whose entries are called after the stages, or of a TOML file.

    others: files that the command names for something else, such as the groups; in the folder they are no stage.

    Raises: UsageError if there is none; UnknownName for a file that is called after no stage.
    """
    if source.is_file() and source.suffix == ".toml":
        found = _from_toml(source)
    elif source.is_dir():
        found = _from_folder(source, {path.resolve() for path in others})
    else:
        raise UsageError(f"There is no folder {show(source)}.", "Give a folder of stages, or a TOML file.")
    if not found:
        raise UsageError(f"{show(source)} holds no stage.", f"Name files, folders or sections {', '.join(STAGES)}.")
    return {stage: found[stage] for stage in STAGES if stage in found}


def _from_folder(folder: Path, others: Collection[Path]) -> dict[str, StageFiles]:
    found: dict[str, StageFiles] = {}
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or entry.resolve() in others:
            continue
        name = entry.name if entry.is_dir() else entry.stem
        files = sorted(f for f in entry.rglob("*") if f.is_file()) if entry.is_dir() else [entry]
        if name in STAGES:
            found.setdefault(name, StageFiles([])).files += files
        elif entry.is_dir() or entry.suffix in (".json", *_TABLES):
            raise UnknownName("stage", name, STAGES)
    return found


def _from_toml(file: Path) -> dict[str, StageFiles]:
    found = {}
    for name, section in read_toml(file).items():
        if name not in STAGES:
            raise UnknownName("stage", name, STAGES)
        files, coverage = section.get("files", []), str(section.get("coverage", ""))
        unknown = set(section) - {"files", "coverage"}
        if unknown or not isinstance(files, list) or (coverage and coverage not in COVERAGES):
            hint = f"A stage has files (a list) and coverage ({', '.join(COVERAGES)})."
            raise ConfigError(f"{show(file)}: the section {name} is not valid.", hint)
        found[name] = StageFiles([file.parent / one for one in files], coverage)
    return found


def check_shared_images(read: Read) -> None:
    """Raises: UsageError if a stage has no image, or two stages share none (with three ids of each)."""
    for stage in read.stages:
        if not read.images(stage):
            raise UsageError(f"The stage {stage} has no image.", "Check its files.")
    for one, other in pairwise(read.stages):
        there, here = read.images(one), read.images(other)
        if not there & here:
            ids = f"{examples(there)} there, {examples(here)} here"
            raise UsageError(f"{one} and {other} share no image: {ids}.", "Use the same ids in both.")


def examples(ids: Iterable[str]) -> str:
    """Three ids, for messages."""
    return show(", ".join(map(repr, sorted(ids)[:3])))


def read_stages(stages: Mapping[str, StageFiles], wordnet: WordNet) -> Read:
    """The rows and digests of all stages.

    Raises: DataMissing if a file is missing, broken or of no known form.
    """
    read = Read()
    for stage, found in stages.items():
        digest = sha256()
        read.stages[stage] = _read_stage(found.files, wordnet, digest)
        read.digests[stage] = digest.hexdigest()
        read.coverage[stage] = found.coverage
    return read


def _read_stage(files: Iterable[Path], wordnet: WordNet, digest: Any) -> StageRows:
    rows = StageRows()
    forms: list[tuple[Path, str, Any]] = []
    data = visual_genome.ImageData()
    synsets: dict[str, str] = {}
    for file in files:
        if file.suffix in _TABLES:
            digest.update(_bytes(file))
            with _damaged_file(file):
                rows.take(read_table(file))
            continue
        content = _json(file, digest)
        known = True
        with _damaged_file(file):
            form = visual_genome.form_of(content)
            if coco.is_instances(content):
                rows.take(coco.read_instances(content))
            elif (captions := coco.caption_entries(content)) is not None:
                rows.take(coco.read_captions(captions))
            elif form == "image_data":
                data = visual_genome.read_image_data(content)
            elif form == "attribute_synsets":
                synsets = content
            elif form:
                forms.append((file, form, content))
            else:
                known = False
        if not known:
            raise DataMissing(f"{show(file)} is of no known form.", f"Looked for: {_LOOKED_FOR}.")
    for file, form, content in forms:
        with _damaged_file(file):
            rows.take(visual_genome.read_form(content, form, data, synsets, wordnet.known))
    return rows


@contextmanager
def _damaged_file(file: Path) -> Iterator[None]:
    """Turn errors inside a file of a known form into DataMissing, and name the file."""
    try:
        yield
    except DataMissing as error:
        if show(file) in error.message:
            raise
        raise DataMissing(f"{show(file)}: {error.message}", error.hint) from error
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        what = f"{type(error).__name__}: {str(error)[:200]}"
        raise DataMissing(
            f"{show(file)} is not of the form that it begins with ({what}).", "Check the file."
        ) from error


def _json(file: Path, digest: Any) -> Any:
    content = _bytes(file)
    digest.update(content)
    try:
        return parse_json(content)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise DataMissing(f"{show(file)} is broken JSON at {where}.", f"Looked for: {_LOOKED_FOR}.") from error
    except ValueError as error:  # other bytes than UTF-8, a key twice, a number that is none
        why = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise DataMissing(f"{show(file)} is no JSON: {why}.", f"Looked for: {_LOOKED_FOR}.") from error


def _bytes(file: Path) -> bytes:
    return read_named(file, LARGEST, raises=DataMissing, hint="Check the path.")
