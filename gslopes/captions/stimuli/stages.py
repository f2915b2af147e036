"""The stages, as files and folders: each file is read by its form, which its content shows, to rows and tables.

Captions and labels become tuples: objects, attributes and relations; made in parts, and read back as captions.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd
from pandas import DataFrame

from gslopes.ask.classifiers.problems import PATTERNS
from gslopes.captions.config import HOME, STAGES, TABLES, CaptionsConfig
from gslopes.captions.stimuli import groups, readers
from gslopes.captions.stimuli.corpus import (
    Caption,
    Coverage,
    Instance,
    covered,
    mentions_of,
    senses_of,
)
from gslopes.captions.stimuli.readers import LARGEST, StageRows, examples, read_table
from gslopes.core import (
    DataMissing,
    Reason,
    SkipReason,
    UnknownName,
    UsageError,
    files,
    hexdigest,
    many,
    open_regular,
    parse_json,
    read_text,
    show,
    tables,
)
from gslopes.core.runfolder import write_json
from gslopes.frame.spec import Made, Run, Tables
from gslopes.report import inline
from gslopes.words.chunks import standard
from gslopes.words.graph import OVERRIDES, ROLES, Fact, Mentions, Sense, Senses, with_synsets
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


TUPLES = TABLES["tuples"]
SIDES = [*readers.SIDES, "score"]
_KEY_AND_FACT = TUPLES.columns[
    : -len(SIDES)
]  # the fields of a Fact are the last of them, in their order


def parser_name(config: CaptionsConfig) -> str:
    """The parser of the captions, with its version or digest.  Raises: DataMissing, and as ``HanTa``."""
    if config.tuples is None:
        return standard().name
    content = files.read_named(
        config.tuples, LARGEST, raises=DataMissing, hint="Name a table of tuples."
    )
    return f"tuples-{hexdigest(content)[:16]}"


# -- the stage --------------------------------------------------------------------------------------------------------


def parsed_images(run: Run) -> Sequence[str]:
    """The images whose captions are parsed; none if the user gives tuples."""
    if run.config.tuples:
        return []
    return run.table("images")["image"].tolist()


def parse(run: Run, images: Sequence[str]) -> Made:
    """The tuples of the captions of some images; each distinct caption is parsed once a process."""
    captions = run.once(_captions)
    facts = run.once(_reader)
    records = []
    for image in images:
        for stage, source, text in captions.get(image, ()):
            records += [(image, stage, source, *fact) for fact in facts(text)]
        run.tick(1)
    return {"tuples": DataFrame(records, columns=_KEY_AND_FACT).assign(**dict.fromkeys(SIDES, nan))}


def with_labels(run: Run, parts: Tables) -> Made:
    """The tuples of captions and of labels.  Raises: TableError if the user's table has other columns."""
    captions = tables.read(TUPLES, run.config.tuples) if run.config.tuples else parts.get("tuples")
    labels = label_facts(run.inputs, senses_of(run.config))
    frames = [frame for frame in (labels, captions) if frame is not None and len(frame)]
    rows = pd.concat(frames, ignore_index=True) if frames else TUPLES.empty()
    once = rows.drop_duplicates(
        list(TUPLES.key), keep="last"
    )  # of labels the one with the highest score
    if repeated := len(rows) - len(once):
        run.note(f"{many(repeated, 'label')} or facts stood twice for an image and were kept once.")
    return {"tuples": once}


def _captions(run: Run) -> dict[str, list[tuple[str, int, str]]]:
    """Image to its captions that can be parsed: stage, number and text."""
    frame = run.table("sentences")
    frame = frame.query("status == 'parsed'")
    captions = defaultdict(list)
    rows = frame[["image", "stage", "source", "text"]].itertuples(index=False, name=None)
    for image, *caption in rows:
        captions[image].append(tuple(caption))
    return captions


def _reader(run: Run) -> Callable[[str], tuple[Fact, ...]]:
    """A caption's facts with synsets, by a parser that remembers what it parsed."""
    parser = standard()
    senses = senses_of(run.config)
    return cache(lambda text: tuple(with_synsets(fact, senses) for fact in parser.parse(text)))


# -- tuples -----------------------------------------------------------------------------------------------------------


def label_facts(stages: Mapping[str, StageRows], senses: Senses) -> DataFrame:
    """The tuples of labels; instances of one word by their corners, so that the order of the files changes nothing."""
    records = []
    for stage in (stage for stage in LABELS if stage in stages):
        for row in stages[stage].labels:
            sense = label_sense(row.word, row.synset, row.kind, senses)
            ends = ((row.subject, row.subject_synset), (row.object, row.object_synset))
            subject, target = (
                label_sense(word, synset, "object", senses).synset if word else None
                for word, synset in ends
            )
            meanings = (sense.synset, subject, target, sense.relaxed, sense.rule)
            fact = Fact(row.kind, row.word, row.subject, row.object, *meanings)
            records.append((row.image, stage, -1, *fact, *(row.corners or (nan,) * 4), row.score))
    return DataFrame(records, columns=TUPLES.columns).sort_values(SIDES)


def label_sense(
    word: str,
    synset: str | None,
    role: str,
    senses: Senses,
) -> Sense:
    """The sense of a label: the synset as given, unless the sense rule has another one for that word.

    Under ``overrides`` a first sense that no photo shows is replaced in labels as in captions; under ``paper`` the
    first sense is taken in both.
    """
    if synset is None:
        return senses.of(word, role)
    override = OVERRIDES.get(f"{word}.{ROLES[role]}")
    first = next(iter(senses.wordnet.synsets(word, ROLES[role])), None)
    if override and first:
        if senses.rule == "paper" and synset == override:
            return Sense(first, rule="first")
        if senses.rule == "overrides" and synset == first:
            return Sense(override, rule="override")
    return Sense(synset, rule="given")


def captions_of(
    tuples: DataFrame,
    sentences: DataFrame,
    images: Iterable[str],
    stages: Iterable[str],
) -> dict[str, dict[str, list[Caption]]]:
    """Stage to image to captions; an image whose captions have no facts is included."""
    fact_of = cache(Fact)
    facts = defaultdict(list)
    for image, stage, source, *values in tuples[_KEY_AND_FACT].itertuples(index=False, name=None):
        fact = fact_of(*(None if value != value else value for value in values))
        facts[image, stage, source].append(fact)
    rows = sentences[["image", "stage", "source", "text"]].itertuples(index=False, name=None)
    captions = [
        (image, stage, Caption(source, tuple(facts.get((image, stage, source), ())), text))
        for image, stage, source, text in sorted(rows)
    ]
    captions += [
        (image, stage, Caption(-1, tuple(dict.fromkeys(labelled))))
        for (image, stage, source), labelled in sorted(facts.items())
        if source == -1
    ]
    chosen = set(images)
    images_of: dict[str, dict[str, list[Caption]]] = {stage: {} for stage in stages}
    for image, stage, caption in captions:
        if image in chosen:
            images_of[stage].setdefault(image, []).append(caption)
    return {stage: some for stage, some in images_of.items() if some}


def boxes_of(tuples: DataFrame) -> dict[str, list[Instance]]:
    """Image to the instances of stage 1 that have a box and a synset."""
    chosen = tuples[(tuples["stage"] == "human-labels") & (tuples["kind"] == "object")]
    chosen = chosen[chosen["x0"].notna() & chosen["synset"].notna()]
    boxes = defaultdict(list)
    names = ["image", "synset", "x0", "y0", "x1", "y1"]
    for image, *values in chosen[names].itertuples(index=False, name=None):
        boxes[image].append(Instance(*values))
    return boxes
