"""Captions and labels as tuples: objects, attributes and relations; made in parts, and read back as captions."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from math import nan

import pandas as pd
from pandas import DataFrame

from gslopes.captions.config import TABLES, CaptionsConfig
from gslopes.captions.stimuli import readers
from gslopes.captions.stimuli.corpus import Caption, Instance, senses_of
from gslopes.captions.stimuli.readers import LARGEST, StageRows
from gslopes.captions.stimuli.stages import LABELS
from gslopes.core import DataMissing, files, hexdigest, many, tables
from gslopes.frame.spec import Made, Run, Tables
from gslopes.words.chunks import standard
from gslopes.words.graph import OVERRIDES, ROLES, Fact, Sense, Senses, with_synsets

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
