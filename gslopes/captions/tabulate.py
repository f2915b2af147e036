"""Rows that were read become the run's tables, and tables become what the techniques work on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import pandas as pd

from gslopes.captions import tables as tables
from gslopes.captions.material import STAGES, Box, Caption, Coverage
from gslopes.captions.measures.people import covered
from gslopes.core.reasons import Reason, SkipReason
from gslopes.datasets.caption_tables import StageRows
from gslopes.language.graph import Fact
from gslopes.language.mentions import Mentions
from gslopes.language.senses import ROLES, Senses, overrides
from gslopes.language.tagger import LONGEST

LABELS = ("human-labels", "system-labels")
SIDES = ["x0", "y0", "x1", "y1", "score"]


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
        known = bool(boxes) and image not in unsized
        width, height = sizes.get(image, (None, None))
        records.append(
            {
                "image": image,
                "photo": None,
                "width": width,
                "height": height,
                "stages": ",".join(stage for stage in STAGES if stage in have[image]),
                "person_area": covered(boxes) if known else None,
                "persons": len(boxes),
                "status": "used",
                "reason": "",
                "detail": "",
            }
        )
    frame = pd.DataFrame(records, columns=tables.IMAGES.columns)
    return frame.astype({"width": "Int32", "height": "Int32", "persons": "int32"})


def person_boxes(rows: StageRows, mentions: Mentions) -> dict[str, list[tuple[float, float, float, float]]]:
    """Image to boxes of people, x, y, width, height as shares; COCO's where there are any in the stage."""
    found: dict[str, list[tuple[float, float, float, float]]] = {}
    for row in rows.objects:
        if math.isnan(row.x0):
            continue
        person = row.word == "person" if rows.closed else mentions.is_person(row.word, row.synset)
        if person:
            found.setdefault(row.image, []).append((row.x0, row.y0, row.x1 - row.x0, row.y1 - row.y0))
    return found


def sentences_table(stages: Mapping[str, StageRows], images: Iterable[str]) -> tuple[pd.DataFrame, int]:
    """One row for each caption, numbered within image and stage; and how many stood there twice."""
    wanted = set(images)
    records: list[tuple[str, str, int, str, str, str, str]] = []
    twice = 0
    for stage, rows in stages.items():
        seen: dict[str, set[str]] = {}
        numbers: dict[str, int] = {}
        for row in rows.captions:
            if row.image not in wanted:
                continue
            text, status, why = judge_text(row.caption)
            known = seen.setdefault(row.image, set())
            if text and text in known:
                twice += 1
                continue
            known.add(text)
            number = numbers.get(row.image, 0)
            numbers[row.image] = number + 1
            records.append((row.image, stage, number, text, status, why.reason.value, why.detail))
    frame = pd.DataFrame(records, columns=tables.SENTENCES.columns)
    return frame.astype({"source": "int16"}), twice


def judge_text(caption: Any) -> tuple[str, str, SkipReason]:
    """A caption's text, its status (parsed, empty, failed) and why.

    >>> judge_text("  "), judge_text(3.5)
    (('', 'empty', 'no text'), ('', 'failed', 'not a text (float)'))
    """
    if caption is None:
        return "", "empty", SkipReason(Reason.NO_TEXT)
    if not isinstance(caption, str):
        return "", "failed", SkipReason(Reason.NOT_A_TEXT, type(caption).__name__)
    text = caption.encode("utf-8", "replace").decode().strip()
    if not text:
        return "", "empty", SkipReason(Reason.NO_TEXT)
    return (
        text,
        "parsed",
        SkipReason(Reason.CUT_FOR_PARSING, f"at {LONGEST:,} characters") if len(text) > LONGEST else SkipReason(),
    )


def label_facts(stages: Mapping[str, StageRows], senses: Senses) -> pd.DataFrame:
    """The tuples of labels; instances of one word by their corners, so that the order of the files changes nothing."""
    records: list[dict[str, Any]] = []
    for stage in LABELS:
        rows = stages.get(stage)
        if rows is None:
            continue
        for row in rows.objects:
            synset, relaxed, rule = given(row.word, row.synset, "object", senses)
            record = _record(row.image, stage, "object", row.word, synset, relaxed, rule)
            records.append(record | {"x0": row.x0, "y0": row.y0, "x1": row.x1, "y1": row.y1, "score": row.score})
        for link in rows.links:
            synset, relaxed, rule = given(link.word, link.synset, link.kind, senses)
            record = _record(link.image, stage, link.kind, link.word, synset, relaxed, rule)
            ends: dict[str, str | None] = {"subject": link.subject, "object": link.object}
            ends["subject_synset"] = given(link.subject, link.subject_synset, "object", senses)[0]
            if link.object:
                ends["object_synset"] = given(link.object, link.object_synset, "object", senses)[0]
            records.append(record | ends)
    frame = pd.DataFrame(records, columns=tables.TUPLES.columns).sort_values(SIDES, kind="stable")
    return frame.astype({"source": "int16", "relaxed": bool, "negated": bool, "plural": bool})


def given(word: str, synset: str | None, role: str, senses: Senses) -> tuple[str | None, bool, str]:
    """The synset of a label: as given, unless the sense rule has another one for that word.

    Under ``overrides`` a first sense that no photo shows is replaced in labels as in captions; under ``paper`` the
    first sense is taken in both.
    """
    if synset is None:
        inferred = senses.of(word, role)
        return inferred.synset, inferred.relaxed, inferred.rule
    listed = senses.wordnet.synsets(word, ROLES[role])
    if senses.rule == "paper" and listed and overrides().get((word, ROLES[role])) == synset:
        return listed[0], False, "first"
    if senses.rule == "overrides" and listed and synset == listed[0] and (word, ROLES[role]) in overrides():
        return overrides()[word, ROLES[role]], False, "override"
    return synset, False, "given"


def _record(
    image: str, stage: str, kind: str, word: str, synset: str | None, relaxed: bool, rule: str
) -> dict[str, Any]:
    record: dict[str, Any] = {"image": image, "stage": stage, "source": -1, "kind": kind, "word": word}
    record |= {"subject": "", "object": "", "synset": synset, "subject_synset": None, "object_synset": None}
    record |= {"relaxed": relaxed, "sense_rule": rule, "negated": False, "plural": False}
    return record | dict.fromkeys(("x0", "y0", "x1", "y1", "score"), math.nan)


def caption_tuples(rows: Iterable[tuple[str, str, int, Sequence[Fact]]]) -> pd.DataFrame:
    """The tuples of captions: image, stage, number and facts of each."""
    lists: dict[str, list[Any]] = {name: [] for name in tables.TUPLES.columns[:14]}
    for image, stage, source, facts in rows:
        for fact in facts:
            values = (image, stage, source, fact.kind, fact.word, fact.subject, fact.object)
            more = (fact.synset, fact.subject_synset, fact.object_synset, fact.relaxed, fact.rule)
            for column, value in zip(lists.values(), (*values, *more, fact.negated, fact.plural), strict=True):
                column.append(value)
    frame = pd.DataFrame(lists)
    for name in ("x0", "y0", "x1", "y1", "score"):
        frame[name] = math.nan
    types: Any = {"source": "int16", "relaxed": bool, "negated": bool, "plural": bool}
    return frame[tables.TUPLES.columns].astype(types)


def captions_of(
    tuples: pd.DataFrame, sentences: pd.DataFrame, images: Iterable[str], stages: Iterable[str]
) -> dict[str, dict[str, list[Caption]]]:
    """Stage to image to captions, every image of a stage there even if nothing was said of it."""
    known: dict[tuple[Any, ...], Fact] = {}
    facts: dict[tuple[str, str, int], list[Fact]] = {}
    columns = ["kind", "word", "subject", "object", "synset", "subject_synset", "object_synset", "relaxed"]
    columns += ["sense_rule", "negated", "plural"]
    parts = [tuples[name].tolist() for name in ("image", "stage", "source", *columns)]
    for image, stage, source, *values in zip(*parts, strict=True):
        key = tuple(None if value is None or value != value else value for value in values)
        if key not in known:
            known[key] = Fact(*cast("tuple[Any, ...]", key))
        facts.setdefault((image, stage, source), []).append(known[key])
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
    return {stage: having for stage, having in found.items() if having}


def boxes_of(tuples: pd.DataFrame) -> dict[str, list[Box]]:
    """Image to the instances of stage 1 that have a box and a synset."""
    chosen = tuples[(tuples["stage"] == "human-labels") & (tuples["kind"] == "object")]
    chosen = chosen[chosen["x0"].notna() & chosen["synset"].notna()]
    found: dict[str, list[Box]] = {}
    names = ("image", "synset", "x0", "y0", "x1", "y1")
    for image, *values in zip(*(chosen[name].tolist() for name in names), strict=True):
        found.setdefault(image, []).append(Box(*values))
    return found


def coverage_of(stages: Mapping[str, StageRows], said: Mapping[str, str]) -> dict[str, Coverage]:
    """Per stage, as the user says, else by what it holds."""
    found: dict[str, Coverage] = {}
    for stage, rows in stages.items():
        if said.get(stage):
            found[stage] = Coverage(said[stage], said[stage], said[stage], rows.closed)
        elif stage not in LABELS:
            found[stage] = Coverage()
        else:
            objects = "closed" if rows.closed and "object" not in rows.kinds else "open"
            attributes, relations = ("open" if kind in rows.kinds else "none" for kind in ("attribute", "relation"))
            found[stage] = Coverage(objects, attributes, relations, rows.closed)
    return found
