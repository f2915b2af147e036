"""The stages, as files and folders: each file is read by its form, which its content shows, to rows and tables."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from pandas import DataFrame

from gslopes.ask.classifiers.problems import PATTERNS
from gslopes.captions.config import HOME, STAGES, TABLES
from gslopes.captions.stimuli import groups, readers
from gslopes.captions.stimuli.corpus import Coverage, covered, mentions_of
from gslopes.captions.stimuli.readers import LARGEST, StageRows, examples, read_table
from gslopes.core import (
    DataMissing,
    Reason,
    SkipReason,
    UnknownName,
    UsageError,
    open_regular,
    parse_json,
    read_text,
    show,
)
from gslopes.core.runfolder import write_json
from gslopes.frame.spec import Made, Run
from gslopes.report import inline
from gslopes.words.graph import Mentions
from gslopes.words.language import other_languages
from gslopes.words.pos_tagger import LONGEST
from gslopes.words.reading import read_words
from gslopes.words.wordnet import WordNet

LABELS = ("human-labels", "system-labels")
Stages = Mapping[str, StageRows]
_TABLES = (".csv", ".parquet")
_NOT_JUDGED = "of which nothing is judged: only English is read"
_LOOKED_FOR = (
    "Looked for: COCO instances (images, annotations, categories), COCO captions (annotations with caption), COCO "
    "results (a list of image_id and caption), Visual Genome (a list with objects, attributes or relationships)."
)


def find_stages(source: Path, others: Collection[Path] = ()) -> dict[str, list[Path]]:
    """Stage to its files, of a folder whose entries are called after the stages.

    others: files that the command names for something else, such as the groups; in the folder they are not stages.

    Raises: UsageError without a stage; UnknownName for a file that is called after no stage.
    """
    if not source.is_dir():
        raise UsageError(f"There is no folder {show(source)}.", "Give a folder of stages.")
    files_of: defaultdict[str, list[Path]] = defaultdict(list)
    excluded = {path.resolve() for path in others}
    for entry in sorted(source.iterdir()):
        if entry.name.startswith(".") or entry.resolve() in excluded:
            continue
        name = entry.name if entry.is_dir() else entry.stem
        if name in STAGES:
            files_of[name] += sorted(f for f in (entry, *entry.rglob("*")) if f.is_file())
        elif entry.is_dir() or entry.suffix in (".json", *_TABLES):
            raise UnknownName("stage", name, STAGES)
    if not files_of:
        raise UsageError(
            f"{show(source)} holds no stage.", f"Name files or folders {', '.join(STAGES)}."
        )
    return {stage: files_of[stage] for stage in STAGES if stage in files_of}


def read_stages(files: Mapping[str, Iterable[Path]], wordnet: WordNet) -> Stages:
    """The rows of all stages.  files: stage to its files.

    Raises: DataMissing if a file is missing, broken or of no known form; UsageError if a stage has no image, or two
        stages share none (with three ids of each).
    """
    stages = {stage: _read_stage(paths, wordnet) for stage, paths in files.items()}
    for stage, rows in stages.items():
        if not rows.ids:
            raise UsageError(f"The stage {stage} has no image.", "Check its files.")
    for first, second in pairwise(stages):
        if not stages[first].ids & stages[second].ids:
            ids = f"{examples(stages[first].ids)} there, {examples(stages[second].ids)} here"
            raise UsageError(
                f"{first} and {second} share no image: {ids}.", "Use the same ids in both."
            )
    for stage, rows in stages.items():
        _keep_english(rows, refusing=stage == "system-captions")
    return stages


def _keep_english(rows: StageRows, refusing: bool) -> None:
    """Read the words of captions, and leave out what is in another language, labels as a whole, and what only refuses.

    An image without any other caption is not of this stage: nothing is judged of it.
    """
    read = [read_words(str(text)) for _, text in rows.captions]
    languages = other_languages([text for text, _ in read])
    captions = []
    for (image, caption), (text, notes), other in zip(rows.captions, read, languages, strict=True):
        rows.told.update(notes)
        if other:
            rows.drop(f"captions in {other}, {_NOT_JUDGED}")
        elif refusing and PATTERNS["apology"].match(text):
            rows.drop("captions that only refuse, of which nothing is judged")
        else:
            captions.append((image, text if isinstance(caption, str) else caption))
    rows.captions = captions
    (other,) = other_languages([" ".join(sorted({row.word for row in rows.labels}))])
    if other:
        rows.dropped[f"labels in {other}, {_NOT_JUDGED}"] += len(rows.labels)
        rows.labels = []
        rows.images = set()


def _read_stage(files: Iterable[Path], wordnet: WordNet) -> StageRows:
    rows = StageRows()
    digest = hashlib.sha256()
    forms = []  # of Visual Genome, read when all of its files are known
    data = {}
    synsets = {}
    for file in files:
        with _damaged_file(file):
            is_table = file.suffix in _TABLES
            content: Any = None if is_table else _json(file)
            form = readers.form_of(content)
            if is_table:
                rows.take(read_table(file))
            elif form == "instances":
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
        with open_regular(file) as opened:
            hashlib.file_digest(opened, lambda: digest)
    for file, form, content in forms:
        with _damaged_file(file):
            rows.take(readers.read_form(content, form, data, synsets, wordnet.known))
    rows.digest = digest.hexdigest()
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


def _json(file: Path) -> Any:
    text = read_text(file, LARGEST, raises=DataMissing, hint="Check the path.")
    try:
        return parse_json(text)
    except ValueError as error:  # also other bytes than UTF-8, a key twice, not a number
        raise DataMissing(f"{show(file)} is not JSON: {error}.", _LOOKED_FOR) from error


# -- as tables --------------------------------------------------------------------------------------------------------


def read(run: Run) -> Made:
    """What was read as tables, with notes on what is incomplete."""
    stages = run.inputs
    config = run.config
    images = images_table(stages, mentions_of(config), config.limit)
    sentences, repeated = sentences_table(stages, images["image"])
    status = sentences["status"]
    notes = inline.plain(
        "read.txt.j2",
        HOME,
        stages=stages,
        images=len(images),
        partial=(images["stages"].str.count(",") + 1 < len(stages)).sum(),
        repeated=repeated,
        bad=status[status != "parsed"].value_counts().sort_index(),
    )
    run.notes.extend(notes.splitlines())
    plain = {
        name: coverage._asdict() | {"types": sorted(coverage.types)}
        for name, coverage in coverage_of(stages).items()
    }
    write_json(run.folder / "coverage.json", plain)
    return {"images": images, "sentences": sentences, "people": groups.people_table(config)}


def images_table(stages: Stages, mentions: Mentions, limit: int | None) -> DataFrame:
    """One row for each image of any stage, sorted by id.  stages: in their order."""
    have = defaultdict(list)
    for stage, rows in stages.items():
        for name in rows.ids:
            have[name].append(stage)
    labels = stages.get("human-labels", StageRows())
    people = defaultdict(list)  # image to corners; COCO's if it has any
    for row in labels.labels:
        if row.corners and (
            row.word == "person" if labels.closed else mentions.is_person(row.word, row.synset)
        ):
            people[row.image].append(row.corners)
    unusable = dict.fromkeys(labels.unsized)
    areas = {image: covered(boxes) for image, boxes in people.items()} | unusable
    records = [(image, ",".join(have[image]), areas.get(image)) for image in sorted(have)[:limit]]
    return DataFrame(records, columns=TABLES["images"].columns)


def sentences_table(stages: Stages, images: Iterable[str]) -> tuple[DataFrame, int]:
    """One row for each caption, numbered within image and stage; and the number of repeated ones that are left out."""
    chosen = set(images)
    records = []
    repeated = 0
    for stage, rows in stages.items():
        texts_of: dict[str, list[str]] = {}
        for image, caption in rows.captions:
            if image not in chosen:
                continue
            text, status, why = judge_text(caption)
            texts = texts_of.setdefault(image, [])
            if text and text in texts:
                repeated += 1
                continue
            records.append((image, stage, len(texts), text, status, why.reason.value, why.detail))
            texts.append(text)
    return DataFrame(records, columns=TABLES["sentences"].columns), repeated


def judge_text(caption: Any) -> tuple[str, str, SkipReason]:
    """A caption's text, as ``read_words`` has it, its status (parsed, empty, failed) and why.

    >>> judge_text("  "), judge_text(3.5)
    (('', 'empty', 'no text'), ('', 'failed', 'not a text (float)'))
    """
    if caption is not None and not isinstance(caption, str):
        return "", "failed", SkipReason(Reason.NOT_A_TEXT, type(caption).__name__)
    text = read_words((caption or "").encode("utf-8", "replace").decode())[0]
    if not text:
        return "", "empty", SkipReason(Reason.NO_TEXT)
    cut = (
        SkipReason(Reason.CUT_FOR_PARSING, f"at {LONGEST:,} characters")
        if len(text) > LONGEST
        else SkipReason()
    )
    return text, "parsed", cut


def coverage_of(stages: Stages) -> dict[str, Coverage]:
    """The coverage of each stage, by what it holds: captions may name anything, labels what they were made for."""
    coverage = {stage: Coverage() for stage in stages}
    for stage, rows in stages.items():
        if stage in LABELS:
            objects = "closed" if rows.closed and "object" not in rows.kinds else "open"
            kinds = {
                kind: "open" if kind in rows.kinds else "none" for kind in ("attribute", "relation")
            }
            coverage[stage] = Coverage(objects, **kinds, types=rows.closed)
    return coverage
