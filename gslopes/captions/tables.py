"""The tables of a captions audit."""

from __future__ import annotations

import pyarrow as pa

from gslopes.core.tables.schema import DETAIL, column, number, table

_TEXT = pa.string()


def _columns(kind: pa.DataType, unit: str, *names: str, null: bool = False) -> list[pa.Field]:
    return [column(name, kind, unit, null=null) for name in names]


def _text(*names: str) -> list[pa.Field]:
    return _columns(_TEXT, "text", *names)


def _numbers(unit: str, *names: str) -> list[pa.Field]:
    return [number(name, unit) for name in names]


_IMAGE = _columns(_TEXT, "id; COCO's integer as text, or a path below a folder of photos", "image")
_STAGE = _columns(_TEXT, "human-labels, system-labels, human-captions or system-captions", "stage")
_SOURCE = _columns(pa.int16(), "number of the caption; -1 for labels", "source")
_GROUPS = _text("column", "group", "other")

IMAGES = table(
    "images",
    ("image",),
    *_IMAGE,
    *_columns(_TEXT, "sha256 of the file's bytes, hex", "photo", null=True),
    *_columns(pa.int32(), "px", "width", "height", null=True),
    *_columns(_TEXT, "those that have it, comma-separated", "stages"),
    *_columns(pa.float32(), "share of the image under the union of person boxes", "person_area", null=True),
    *_columns(pa.int32(), "person boxes", "persons"),
    *_columns(_TEXT, "used or skipped", "status"),
    *_columns(_TEXT, "why it was skipped, a core.reasons.Reason; empty if used", "reason"),
    DETAIL,
)
PEOPLE = table("people", ("image", "column"), *_IMAGE, *_text("column", "value", "source"))
SENTENCES = table(
    "sentences",
    ("image", "stage", "source"),
    *(*_IMAGE, *_STAGE, *_SOURCE, *_text("text", "status", "reason"), DETAIL),
)
TUPLES = table(
    "tuples",
    ("image", "stage", "source", "kind", "word", "subject", "object"),
    *(*_IMAGE, *_STAGE, *_SOURCE),
    *_text("kind", "word", "subject", "object"),
    *_columns(_TEXT, "WordNet synset", "synset", "subject_synset", "object_synset", null=True),
    *_columns(pa.bool_(), "synset of another part of speech than the role's", "relaxed"),
    *_columns(_TEXT, "first, override, given, none", "sense_rule"),
    *_columns(pa.bool_(), "the caption denies it", "negated"),
    *_columns(pa.bool_(), "the object is in the plural", "plural"),
    *_columns(pa.float32(), "share of the side", "x0", "y0", "x1", "y1", null=True),
    *_columns(pa.float32(), "0 to 1", "score", null=True),
)
MEASURES = table(
    "measures",
    ("harm", "technique", "stage", "truth", "captions", "kind", "concept", "column", "group", "other", "unit"),
    *(*_text("harm", "technique", "stage", "truth", "captions", "kind", "concept"), *_GROUPS),
    *_columns(pa.int64(), "images", "n"),
    *_columns(pa.int64(), "images with it", "active"),
    *_numbers("see unit", "value"),
    *_text("unit", "estimator"),
    *_numbers("see unit", "ci_low", "ci_high", "boot_low", "boot_high"),
    *_numbers("probability", "p", "q"),
    *_text("null_hypothesis", "reading", "origin", "lists", "note"),
)
INCLUSIONS = table(
    "inclusions",
    ("stage", "truth", "column", "scenario", "kind", "concept"),
    *_text("stage", "truth", "scenario", "kind", "concept", "column"),
    *_columns(pa.int64(), "images", "flagged", "negatives", "mentions"),
    *_numbers("share", "fpr", "fpr_low", "fpr_high", "fdr"),
    *_numbers("see options", "association", "phi"),
    *_columns(_TEXT, "group", "towards"),
    *_columns(pa.bool_(), "association above the threshold", "kept"),
    *_columns(pa.int32(), "1 the highest false positive rate", "rank", null=True),
)
SALIENCE = table(
    "salience",
    ("stage", "column", "group", "other", "concept"),
    *(*_text("stage"), *_GROUPS, *_text("concept")),
    *_columns(pa.int64(), "images", "n", "mentioned"),
    *_columns(pa.int32(), "columns of other types held fixed", "held", null=True),
    *_columns(pa.int32(), "as published: splits that count", "valid", null=True),
    *_columns(pa.bool_(), "an interval is given", "eligible"),
    *_numbers("log odds", "coefficient", "ci_low", "ci_high", "split_low", "split_high"),
    *_numbers("probability", "p", "q"),
    *_numbers("share", "accuracy", "balanced", "majority"),
    *_columns(pa.bool_(), "the published interval excludes 0", "finding_paper"),
    *_columns(pa.bool_(), "q < 0.05", "finding"),
    *_columns(pa.int32(), "1 the highest test accuracy", "rank", null=True),
    *_text("note"),
)
CASES = table(
    "cases",
    ("harm", "technique", "rule", "stage", "image", "source", "word", "case"),
    *_text("case", "harm", "technique", "rule", "stage", "truth", "image"),
    *_SOURCE,
    *_text("word", "concept", "bound", "group", "text", "truth_text", "reading"),
)
REVIEWS = table("reviews", ("case", "reviewer"), *_text("case", "answer", "reviewer", "note"))
TECHNIQUES = table(
    "techniques",
    ("technique", "stage"),
    *_text(
        *("technique", "harm", "title", "stage", "truth", "needs", "reading", "origin", "ran", "why"),
        *("not_the_fault_of", "assumptions", "parameters"),
    ),
)
