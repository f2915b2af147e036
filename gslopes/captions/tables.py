"""The tables of a captions audit."""

from __future__ import annotations

import pyarrow as pa

from gslopes.core.tables.schema import DETAIL, Table, column, number

_TEXT = pa.string()
_IMAGE = column("image", _TEXT, "id; COCO's integer as text, or a path below a folder of photos")
_STAGE = column("stage", _TEXT, "human-labels, system-labels, human-captions or system-captions")
_SOURCE = column("source", pa.int16(), "number of the caption; -1 for labels")


def _text(*names: str) -> list[pa.Field]:
    return [column(name, _TEXT, "text") for name in names]


def _maybe(name: str, kind: pa.DataType, unit: str) -> pa.Field:
    return column(name, kind, unit, null=True)


IMAGES = Table(
    "images",
    pa.schema(
        [
            _IMAGE,
            _maybe("photo", _TEXT, "sha256 of the file's bytes, hex"),
            _maybe("width", pa.int32(), "px"),
            _maybe("height", pa.int32(), "px"),
            column("stages", _TEXT, "those that have it, comma-separated"),
            _maybe("person_area", pa.float32(), "share of the image under the union of person boxes"),
            column("persons", pa.int32(), "person boxes"),
            column("status", _TEXT, "used or skipped"),
            column("reason", _TEXT, "why it was skipped, a core.reasons.Reason; empty if used"),
            DETAIL,
        ]
    ),
    ("image",),
)
PEOPLE = Table("people", pa.schema([_IMAGE, *_text("column", "value", "source")]), ("image", "column"))
SENTENCES = Table(
    "sentences",
    pa.schema([_IMAGE, _STAGE, _SOURCE, *_text("text", "status", "reason"), DETAIL]),
    ("image", "stage", "source"),
)
TUPLES = Table(
    "tuples",
    pa.schema(
        [
            *(_IMAGE, _STAGE, _SOURCE),
            *_text("kind", "word", "subject", "object"),
            *(_maybe(name, _TEXT, "WordNet synset") for name in ("synset", "subject_synset", "object_synset")),
            column("relaxed", pa.bool_(), "synset of another part of speech than the role's"),
            column("sense_rule", _TEXT, "first, override, given, none"),
            column("negated", pa.bool_(), "the caption denies it"),
            column("plural", pa.bool_(), "the object stands in the plural"),
            *(_maybe(name, pa.float32(), "share of the side") for name in ("x0", "y0", "x1", "y1")),
            _maybe("score", pa.float32(), "0 to 1"),
        ]
    ),
    ("image", "stage", "source", "kind", "word", "subject", "object"),
)
MEASURES = Table(
    "measures",
    pa.schema(
        [
            *_text("harm", "technique", "stage", "truth", "captions", "kind", "concept", "column", "group", "other"),
            column("n", pa.int64(), "images"),
            column("active", pa.int64(), "images with it"),
            number("value", "see unit"),
            *_text("unit", "estimator"),
            *(number(name, "see unit") for name in ("ci_low", "ci_high", "boot_low", "boot_high")),
            *(number(name, "probability") for name in ("p", "q")),
            *_text("null_hypothesis", "reading", "origin", "lists", "note"),
        ]
    ),
    ("harm", "technique", "stage", "truth", "captions", "kind", "concept", "column", "group", "other", "unit"),
)
INCLUSIONS = Table(
    "inclusions",
    pa.schema(
        [
            *_text("stage", "truth", "scenario", "kind", "concept", "column"),
            *(column(name, pa.int64(), "images") for name in ("flagged", "negatives", "mentions")),
            *(number(name, "share") for name in ("fpr", "fpr_low", "fpr_high", "fdr")),
            *(number(name, "see options") for name in ("association", "phi")),
            column("towards", _TEXT, "group"),
            column("kept", pa.bool_(), "association above the threshold"),
            _maybe("rank", pa.int32(), "1 the highest false positive rate"),
        ]
    ),
    ("stage", "truth", "column", "scenario", "kind", "concept"),
)
SALIENCE = Table(
    "salience",
    pa.schema(
        [
            *_text("stage", "column", "group", "other", "concept"),
            *(column(name, pa.int64(), "images") for name in ("n", "mentioned")),
            column("valid", pa.int32(), "splits that count"),
            column("eligible", pa.bool_(), "enough of them"),
            *(number(name, "log odds") for name in ("coefficient", "split_low", "split_high", "boot_low", "boot_high")),
            *(number(name, "probability") for name in ("p", "q")),
            *(number(name, "share") for name in ("accuracy", "balanced", "majority")),
            column("finding_paper", pa.bool_(), "the published interval excludes 0"),
            column("finding", pa.bool_(), "q < 0.05 of the bootstrap"),
            _maybe("rank", pa.int32(), "1 the highest test accuracy"),
            column("note", _TEXT, "text"),
        ]
    ),
    ("stage", "column", "group", "other", "concept"),
)
CASES = Table(
    "cases",
    pa.schema(
        [
            *_text("case", "harm", "technique", "rule", "stage", "truth", "image"),
            _SOURCE,
            *_text("word", "concept", "bound", "group", "text", "truth_text", "reading"),
        ]
    ),
    ("harm", "technique", "rule", "stage", "image", "source", "word", "case"),
)
REVIEWS = Table("reviews", pa.schema(_text("case", "answer", "reviewer", "note")), ("case", "reviewer"))
TECHNIQUES = Table(
    "techniques",
    pa.schema(
        _text(
            *("technique", "harm", "title", "stage", "truth", "needs", "reading", "origin", "ran", "why"),
            *("not_the_fault_of", "assumptions", "parameters"),
        )
    ),
    ("technique", "stage"),
)
