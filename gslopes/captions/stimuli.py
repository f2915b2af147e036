"""What is audited: the stages' files, whose form is found in their content, as rows and tables; groups of the depicted.

Zhao et al.'s demographics of COCO go under our names: annotators' perception of the largest person; it is not who a
person is.  Source: Zhao, Wang & Russakovsky 2021, Understanding and Evaluating Racial Biases in Image Captioning.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.captions import TABLES, readers
from gslopes.captions.config import STAGES, CaptionsConfig
from gslopes.captions.material import MOST_VALUES, Coverage, Groups
from gslopes.captions.measures.people import covered
from gslopes.captions.readers import LARGEST, StageRows, read_table
from gslopes.core.csv_table import unmatched
from gslopes.core.errors import DataMissing, UnknownName, UsageError
from gslopes.core.files import parse_json, read_named
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.runfolder import show
from gslopes.core.tables import lookup
from gslopes.core.text import plain
from gslopes.photos.people import People, read_people
from gslopes.words.graph import Mentions
from gslopes.words.pos_tagger import LONGEST
from gslopes.words.wordnet import WordNet

LABELS = ("human-labels", "system-labels")
_TABLES = (".csv", ".parquet")
_LOOKED_FOR = (
    "Looked for: COCO instances (images, annotations, categories), COCO captions (annotations with caption), COCO "
    "results (a list of image_id and caption), Visual Genome (a list with objects, attributes or relationships)."
)


@dataclass(slots=True)
class Read:
    """All stages as rows.  digests: stage to one sha256 over its files' bytes."""

    stages: dict[str, StageRows] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)

    def images(self, stage: str) -> set[str]:
        """Ids of the images that a stage has."""
        rows = self.stages[stage]
        return {image for image, _ in rows.captions} | rows.images

    @property
    def has_boxes(self) -> bool:
        """Whether the human labels say where things are."""
        labels = self.stages.get("human-labels")
        return labels is not None and any(row.corners for row in labels.labels)


def find_stages(source: Path, others: Collection[Path] = ()) -> dict[str, list[Path]]:
    """Stage to its files, of a folder whose entries are called after the stages.

    others: files that the command names for something else, such as the groups; in the folder they are no stage.

    Raises: UsageError if there is none; UnknownName for a file that is called after no stage.
    """
    if not source.is_dir():
        raise UsageError(f"There is no folder {show(source)}.", "Give a folder of stages.")
    files_of: dict[str, list[Path]] = {}
    excluded = {path.resolve() for path in others}
    for entry in sorted(source.iterdir()):
        if entry.name.startswith(".") or entry.resolve() in excluded:
            continue
        name = entry.name if entry.is_dir() else entry.stem
        if name in STAGES:
            files = (
                sorted(f for f in entry.rglob("*") if f.is_file()) if entry.is_dir() else [entry]
            )
            files_of[name] = files_of.get(name, []) + files
        elif entry.is_dir() or entry.suffix in (".json", *_TABLES):
            raise UnknownName("stage", name, STAGES)
    if not files_of:
        raise UsageError(
            f"{show(source)} holds no stage.", f"Name files or folders {', '.join(STAGES)}."
        )
    return {stage: files_of[stage] for stage in STAGES if stage in files_of}


def examples(ids: Iterable[str]) -> str:
    """Three ids, for messages."""
    return show(", ".join(map(repr, sorted(ids)[:3])))


def read_stages(stages: Mapping[str, Iterable[Path]], wordnet: WordNet) -> Read:
    """The rows and digests of all stages.

    Raises: DataMissing if a file is missing, broken or of no known form; UsageError if a stage has no image, or two
        stages share none (with three ids of each).
    """
    read = Read()
    for stage, files in stages.items():
        digest = sha256()
        read.stages[stage] = _read_stage(files, wordnet, digest)
        read.digests[stage] = digest.hexdigest()
        if not read.images(stage):
            raise UsageError(f"The stage {stage} has no image.", "Check its files.")
    for first, second in pairwise(read.stages):
        first_ids = read.images(first)
        second_ids = read.images(second)
        if not first_ids & second_ids:
            ids = f"{examples(first_ids)} there, {examples(second_ids)} here"
            raise UsageError(
                f"{first} and {second} share no image: {ids}.", "Use the same ids in both."
            )
    return read


def _read_stage(files: Iterable[Path], wordnet: WordNet, digest: Any) -> StageRows:
    rows = StageRows()
    forms: list[
        tuple[Path, str, Any]
    ] = []  # of Visual Genome, read when all of its files are known
    data: readers.ImageData = {}
    synsets: dict[str, str] = {}
    for file in files:
        bytes_read = read_named(file, LARGEST, raises=DataMissing, hint="Check the path.")
        digest.update(bytes_read)
        with _damaged_file(file):
            if file.suffix in _TABLES:
                rows.take(read_table(file))
                continue
            content = _json(file, bytes_read)
            form = readers.form_of(content)
            if form == "instances":
                rows.take(readers.read_instances(content))
            elif form == "captions":
                rows.take(readers.read_captions(content))
            elif form == "image_data":
                data = readers.read_image_data(content)
            elif form == "attribute_synsets":
                synsets = content
            elif form:
                forms.append((file, form, content))
            else:
                raise DataMissing(f"{show(file)} is of no known form.", _LOOKED_FOR)
    for file, form, content in forms:
        with _damaged_file(file):
            rows.take(readers.read_form(content, form, data, synsets, wordnet.known))
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
        problem = f"{show(file)} is not of the form that it begins with ({what})."
        raise DataMissing(problem, "Check the file.") from error


def _json(file: Path, content: bytes) -> Any:
    try:
        return parse_json(content)
    except ValueError as error:  # also other bytes than UTF-8, a key twice, a number that is none
        raise DataMissing(f"{show(file)} is not JSON: {error}.", _LOOKED_FOR) from error


# -- as tables --------------------------------------------------------------------------------------------------------


def images_table(read: Read, mentions: Mentions, limit: int | None) -> pd.DataFrame:
    """One row for each image of any stage, sorted by id."""
    have: dict[str, list[str]] = {}
    for stage in (stage for stage in STAGES if stage in read.stages):
        for name in read.images(stage):
            have.setdefault(name, []).append(stage)
    labels = read.stages.get("human-labels", StageRows())
    people: dict[
        str, list[tuple[float, float, float, float]]
    ] = {}  # corners; COCO's where there are any
    for row in labels.labels:
        if row.corners and (
            row.word == "person" if labels.closed else mentions.is_person(row.word, row.synset)
        ):
            people.setdefault(row.image, []).append(row.corners)
    unusable = dict.fromkeys(labels.unsized)
    areas = {image: covered(boxes) for image, boxes in people.items()} | unusable
    records = [(image, ",".join(have[image]), areas.get(image)) for image in sorted(have)[:limit]]
    return pd.DataFrame(records, columns=TABLES["images"].columns)


def sentences_table(
    stages: Mapping[str, StageRows], images: Iterable[str]
) -> tuple[pd.DataFrame, int]:
    """One row for each caption, numbered within image and stage; and the number of repeated ones that are left out."""
    wanted = set(images)
    records: list[tuple[str, str, int, str, str, str, str]] = []
    repeated = 0
    for stage, rows in stages.items():
        texts_of: dict[str, list[str]] = {}
        for image, caption in rows.captions:
            if image not in wanted:
                continue
            text, status, why = judge_text(caption)
            texts = texts_of.setdefault(image, [])
            if text and text in texts:
                repeated += 1
                continue
            records.append((image, stage, len(texts), text, status, why.reason.value, why.detail))
            texts.append(text)
    return pd.DataFrame(records, columns=TABLES["sentences"].columns), repeated


def judge_text(caption: Any) -> tuple[str, str, SkipReason]:
    """A caption's text, as ``plain`` writes it, its status (parsed, empty, failed) and why.

    >>> judge_text("  "), judge_text(3.5)
    (('', 'empty', 'no text'), ('', 'failed', 'not a text (float)'))
    """
    if caption is not None and not isinstance(caption, str):
        return "", "failed", SkipReason(Reason.NOT_A_TEXT, type(caption).__name__)
    text = plain((caption or "").encode("utf-8", "replace").decode()).strip()
    if not text:
        return "", "empty", SkipReason(Reason.NO_TEXT)
    cut = (
        SkipReason(Reason.CUT_FOR_PARSING, f"at {LONGEST:,} characters")
        if len(text) > LONGEST
        else SkipReason()
    )
    return text, "parsed", cut


def coverage_of(read: Read) -> dict[str, Coverage]:
    """The coverage of each stage, by what it holds: captions may name anything, labels what they were made for."""
    coverage = {stage: Coverage() for stage in read.stages}
    for stage, rows in read.stages.items():
        if stage in LABELS:
            objects = "closed" if rows.closed and "object" not in rows.kinds else "open"
            attributes, relations = (
                "open" if kind in rows.kinds else "none" for kind in ("attribute", "relation")
            )
            coverage[stage] = Coverage(objects, attributes, relations, rows.closed)
    return coverage


# -- groups -----------------------------------------------------------------------------------------------------------


GENDER = {"female": "female", "male": "male"}
SKIN = {"dark": "darker", "darker": "darker", "light": "lighter", "lighter": "lighter"}


def read_groups(file: Path, columns: Sequence[str] = ()) -> Groups:
    """Column to image to value; empty where a value is unknown.

    columns: of the file, ``a + b`` crosses two; all but the image's by default.

    Raises: DataMissing without a column of images, or if an image has two different values; UnknownName for an
        unknown column.
    """
    people = _zhao(read_people(file, raises=DataMissing, limit=LARGEST))
    image = people.photo_column()
    groups: Groups = {}
    for name in columns or [column for column in people.columns if column != image]:
        values = people.groups(name)
        groups[name] = {
            photo: values[row] for photo, row in people.by_photo({name: values}).items()
        }
    return groups


def _zhao(people: People) -> People:
    """Zhao et al.'s columns under our names; another table stays."""
    columns = {}
    for name, source, values in (("gender", "bb_gender", GENDER), ("skin", "bb_skin", SKIN)):
        if source in people.columns:
            columns[name] = [
                values.get(str(cell).strip().lower(), "") for cell in people.columns[source]
            ]
    if not columns:
        return people
    image = people.photo_column(("id",))
    return replace(people, columns={image: people.columns[image], **columns})


def groups_of(config: CaptionsConfig) -> tuple[Groups, list[str]]:
    """Column to image to value, of the columns that are compared, and a sentence on each that has too many values.

    Raises: DataMissing, UnknownName as ``read_groups``; UsageError if a chosen column, or every column, has more than
        ``MOST_VALUES`` values, as identifiers have.
    """
    chosen: Groups = {}
    notes = []
    for name, values in (
        read_groups(config.groups, config.columns) if config.groups else {}
    ).items():
        count = len(set(values.values()) - {""})
        if count <= MOST_VALUES:
            chosen[name] = values
        elif config.columns:
            problem = f"The column {name} of {show(config.groups)} has {count:,} values"
            raise UsageError(
                f"{problem}, and at most {MOST_VALUES} are compared.",
                "Choose others with --column.",
            )
        else:
            notes.append(
                f"The column {name} is not compared: it has {count:,} values, and at most {MOST_VALUES} are."
            )
    if notes and not chosen:
        raise UsageError(
            f"{show(config.groups)} has no column of groups. {notes[0]}", "Add a column of groups."
        )
    return chosen, notes


def notes_on_groups(read: Read, config: CaptionsConfig) -> list[str]:
    """Sentences on columns with too many values, and on images that the table of groups names and no stage has.

    Raises: UsageError with three ids of each side if the groups name none of the images; as ``groups_of``.
    """
    groups, notes = groups_of(config)
    grouped = {image for values in groups.values() for image in values}
    images = {image for stage in read.stages for image in read.images(stage)}
    if grouped and not grouped & images:
        theirs = examples(grouped)
        ours = examples(images)
        problem = (
            f"{config.groups} names none of the images: it has {theirs}, the captions have {ours}."
        )
        raise UsageError(problem, "Use the same ids in both.")
    text = unmatched(config.groups, sorted(grouped - images), "images") if config.groups else ""
    if text:
        return [*notes, text]
    return notes


def people_table(config: CaptionsConfig) -> pd.DataFrame:
    """The people table: groups by image."""
    groups, _ = groups_of(config)
    rows = [
        (image, name, value, "annotation")
        for name, values_of in groups.items()
        for image, value in values_of.items()
    ]
    return pd.DataFrame(rows, columns=TABLES["people"].columns)


def groups_of_table(people: pd.DataFrame) -> Groups:
    """Column to image to value, of the people table."""
    return {
        str(column): lookup(rows, "image", "value")
        for column, rows in people.groupby("column", sort=False)
    }
