"""From the rows that were read to the run's tables, and from those to captions, boxes and coverage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

import pandas as pd

from gslopes.captions import tables
from gslopes.captions.material import Box, Caption, Coverage
from gslopes.captions.measures.people import covered
from gslopes.captions.techniques import STAGES
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.text import plain
from gslopes.datasets.caption_tables import StageRows
from gslopes.language.graph import ROLES, Fact, Sense, Senses, overrides
from gslopes.language.mentions import Mentions
from gslopes.language.pos_tagger import LONGEST

LABELS = ("human-labels", "system-labels")
SIDES = ["x0", "y0", "x1", "y1", "score"]
_KEY_AND_FACT = tables.TUPLES.columns[: -len(SIDES)]
_values = attrgetter(*(one.name for one in fields(Fact)))  # in the order of those columns
_TUPLE_TYPES: Any = {"source": "int16", "relaxed": bool, "negated": bool, "plural": bool}


def images_table(stages: Mapping[str, StageRows], mentions: Mentions, limit: int | None) -> pd.DataFrame:
    """One row for each image of any stage, sorted by id."""
    have: dict[str, list[str]] = {}
    sizes: dict[str, tuple[int | None, int | None]] = {}
    for stage, rows in stages.items():
        names = {row.image for row in rows.captions} | set(rows.images)
        for name in names:
            have.setdefault(name, []).append(stage)
        sizes |= {row.image: (row.width, row.height) for row in rows.images.values() if row.width and row.height}
    people = person_boxes(stages.get("human-labels", StageRows()), mentions)
    unsized = stages["human-labels"].unsized if "human-labels" in stages else set()
    records = []
    for image in sorted(have)[:limit]:
        boxes = people.get(image, [])
        area = covered(boxes) if boxes and image not in unsized else None
        there = ",".join(stage for stage in STAGES if stage in have[image])
        records.append((image, None, *sizes.get(image, (None, None)), there, area, len(boxes), "used", "", ""))
    frame = pd.DataFrame(records, columns=tables.IMAGES.columns)
    return frame.astype({"width": "Int32", "height": "Int32", "persons": "int32"})


def person_boxes(rows: StageRows, mentions: Mentions) -> dict[str, list[tuple[float, float, float, float]]]:
    """Image to boxes of people, x, y, width, height as shares; COCO's where there are any in the stage."""
    found: dict[str, list[tuple[float, float, float, float]]] = {}
    for row in rows.objects:
        person = row.word == "person" if rows.closed else mentions.is_person(row.word, row.synset)
        if person and not math.isnan(row.x0):
            found.setdefault(row.image, []).append((row.x0, row.y0, row.x1 - row.x0, row.y1 - row.y0))
    return found


def sentences_table(stages: Mapping[str, StageRows], images: Iterable[str]) -> tuple[pd.DataFrame, int]:
    """One row for each caption, numbered within image and stage; and the number of repeated ones that are left out."""
    wanted = set(images)
    records: list[tuple[str, str, int, str, str, str, str]] = []
    repeated = 0
    for stage, rows in stages.items():
        kept: dict[str, list[str]] = {}
        for row in rows.captions:
            if row.image not in wanted:
                continue
            text, status, why = judge_text(row.caption)
            texts = kept.setdefault(row.image, [])
            if text and text in texts:
                repeated += 1
                continue
            records.append((row.image, stage, len(texts), text, status, why.reason.value, why.detail))
            texts.append(text)
    return pd.DataFrame(records, columns=tables.SENTENCES.columns).astype({"source": "int16"}), repeated


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
    cut = SkipReason(Reason.CUT_FOR_PARSING, f"at {LONGEST:,} characters") if len(text) > LONGEST else SkipReason()
    return text, "parsed", cut


def label_facts(stages: Mapping[str, StageRows], senses: Senses) -> pd.DataFrame:
    """The tuples of labels; instances of one word by their corners, so that the order of the files changes nothing."""
    records: list[tuple[Any, ...]] = []
    for stage in (stage for stage in LABELS if stage in stages):
        for row in stages[stage].objects:
            sense = label_sense(row.word, row.synset, "object", senses)
            fact = Fact("object", row.word, synset=sense.synset, relaxed=sense.relaxed, rule=sense.rule)
            records.append((row.image, stage, -1, *_values(fact), row.x0, row.y0, row.x1, row.y1, row.score))
        for link in stages[stage].links:
            sense = label_sense(link.word, link.synset, link.kind, senses)
            subject = label_sense(link.subject, link.subject_synset, "object", senses).synset
            other = label_sense(link.object, link.object_synset, "object", senses).synset if link.object else None
            meanings = (sense.synset, subject, other, sense.relaxed, sense.rule)
            fact = Fact(link.kind, link.word, link.subject, link.object, *meanings)
            records.append((link.image, stage, -1, *_values(fact), *(math.nan,) * len(SIDES)))
    frame = pd.DataFrame(records, columns=tables.TUPLES.columns).sort_values(SIDES, kind="stable")
    return frame.astype(_TUPLE_TYPES)


def label_sense(word: str, synset: str | None, role: str, senses: Senses) -> Sense:
    """The sense of a label: the synset as given, unless the sense rule has another one for that word.

    Under ``overrides`` a first sense that no photo shows is replaced in labels as in captions; under ``paper`` the
    first sense is taken in both.
    """
    if synset is None:
        return senses.of(word, role)
    override = overrides().get((word, ROLES[role]))
    first = next(iter(senses.wordnet.synsets(word, ROLES[role])), None)
    if override is not None and first is not None:
        if senses.rule == "paper" and synset == override:
            return Sense(first, rule="first")
        if senses.rule == "overrides" and synset == first:
            return Sense(override, rule="override")
    return Sense(synset, rule="given")


def caption_tuples(rows: Iterable[tuple[str, str, int, Sequence[Fact]]]) -> pd.DataFrame:
    """The tuples of captions: image, stage, number and facts of each."""
    records = [(*key, *_values(fact)) for *key, facts in rows for fact in facts]
    frame = pd.DataFrame(records, columns=_KEY_AND_FACT).assign(**dict.fromkeys(SIDES, math.nan))
    return frame.astype(_TUPLE_TYPES)


def captions_of(
    tuples: pd.DataFrame, sentences: pd.DataFrame, images: Iterable[str], stages: Iterable[str]
) -> dict[str, dict[str, list[Caption]]]:
    """Stage to image to captions; an image whose captions have no facts is included."""
    known: dict[tuple[Any, ...], Fact] = {}
    facts: dict[tuple[str, str, int], list[Fact]] = {}
    parts = [tuples[name].tolist() for name in _KEY_AND_FACT]
    for image, stage, source, *values in zip(*parts, strict=True):
        key: tuple[Any, ...] = tuple(None if value is None or value != value else value for value in values)
        fact = known[key] if key in known else known.setdefault(key, Fact(*key))
        facts.setdefault((image, stage, source), []).append(fact)
    wanted = set(images)
    found: dict[str, dict[str, list[Caption]]] = {stage: {} for stage in stages}
    rows = zip(*(sentences[name].tolist() for name in ("image", "stage", "source", "text")), strict=True)
    for image, stage, source, text in sorted(rows):
        if image in wanted:
            caption = Caption(source, tuple(facts.get((image, stage, source), ())), text)
            found[stage].setdefault(image, []).append(caption)
    for (image, stage, source), labelled in sorted(facts.items(), key=lambda item: item[0]):
        if source == -1 and image in wanted:
            found[stage].setdefault(image, []).append(Caption(-1, tuple(dict.fromkeys(labelled))))
    return {stage: captions for stage, captions in found.items() if captions}


def boxes_of(tuples: pd.DataFrame) -> dict[str, list[Box]]:
    """Image to the instances of stage 1 that have a box and a synset."""
    chosen = tuples[(tuples["stage"] == "human-labels") & (tuples["kind"] == "object")]
    chosen = chosen[chosen["x0"].notna() & chosen["synset"].notna()]
    found: dict[str, list[Box]] = {}
    names = ("image", "synset", "x0", "y0", "x1", "y1")
    for image, *values in zip(*(chosen[name].tolist() for name in names), strict=True):
        found.setdefault(image, []).append(Box(*values))
    return found


def coverage_of(stages: Mapping[str, StageRows], chosen: Mapping[str, str]) -> dict[str, Coverage]:
    """The coverage of each stage: as chosen by the user, else by what the stage holds."""
    found: dict[str, Coverage] = {}
    for stage, rows in stages.items():
        if chosen.get(stage):
            found[stage] = Coverage(*(chosen[stage],) * 3, rows.closed)
        elif stage not in LABELS:
            found[stage] = Coverage()
        else:
            objects = "closed" if rows.closed and "object" not in rows.kinds else "open"
            attributes, relations = ("open" if kind in rows.kinds else "none" for kind in ("attribute", "relation"))
            found[stage] = Coverage(objects, attributes, relations, rows.closed)
    return found
