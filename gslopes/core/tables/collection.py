"""Tables about collections of photos: what was found where, how faces are read, and who is shown.

Their rules are those of ``core.tables``.
"""

from __future__ import annotations

import pyarrow as pa

from gslopes.core.tables import Table
from gslopes.core.tables.schema import DETAIL


def _text(name: str, unit: str) -> pa.Field:
    return pa.field(name, pa.string(), nullable=False, metadata={"unit": unit})


def _whole(name: str, unit: str) -> pa.Field:
    return pa.field(name, pa.int64(), nullable=False, metadata={"unit": unit})


def _number(name: str, unit: str) -> pa.Field:
    return pa.field(name, pa.float64(), nullable=True, metadata={"unit": unit})


# One row a search result, in the order of the searches and of the ranks: kept, and also what was not and why.
MANIFEST = Table(
    "manifest",
    pa.schema(
        [
            _text("photo", "sha256 of the file's bytes, hex; of a duplicate, that of the photo it repeats; or empty"),
            _text("path", "relative to the collection; of a duplicate, that of the photo it repeats; or empty"),
            _text("status", "kept, duplicate, refused or failed"),
            _text("reason", "why it was not kept, a core.reasons.Reason; empty if it was"),
            DETAIL,
            _text("occupation", "as searched for"),
            _text("soc", "code in the 2018 SOC; empty if unknown"),
            _text("keyword", "demographic keyword of the search; empty if none"),
            _text("query", "what was searched for, in full"),
            _whole("rank", "place among the results, from 1"),
            _text("source", "who was asked"),
            _text("url", "of the file"),
            _text("page", "where the source shows it; empty if it does not say"),
            _text("title", "as the source says; empty if it does not"),
            _text("creator", "as the source says; empty if it does not"),
            _text("creator_url", "as the source says; empty if it does not"),
            _text("licence", "as the source says; empty if it does not: then it gives no permission"),
            _text("licence_url", "as the source says; empty if it does not"),
            _whole("width", "pixels; 0 if not kept"),
            _whole("height", "pixels; 0 if not kept"),
            _whole("bytes", "of the file; 0 if not kept"),
            _text("phash", "perceptual hash, 16 hex digits; empty if not decoded"),
            _text("retrieved", "UTC, ISO 8601"),
        ]
    ),
    ("query", "rank"),
)

# What the manifest says of a run's photos, copied into the run folder: a report is drawn from that folder alone.
SOURCES = Table(
    "sources",
    pa.schema(
        [
            _text("photo", "sha256 of the file's bytes, hex"),
            _text("title", "as the source says; empty if it does not"),
            _text("creator", "as the source says; empty if it does not"),
            _text("creator_url", "as the source says; empty if it does not"),
            _text("licence", "as the source says; empty if it does not: then it gives no permission"),
            _text("licence_url", "as the source says; empty if it does not"),
            _text("page", "where the source shows it; empty if it does not say"),
            _text("source", "who was asked"),
        ]
    ),
    ("photo",),
)

CENSUS = Table(
    "census",
    pa.schema(
        [
            _text("photo", "sha256 of the file's bytes, hex; empty if unreadable"),
            _text("path", "relative to the photos folder; undecodable bytes as \\xNN"),
            _text("occupation", "of the manifest, else the first folder of the path; empty if there is none"),
            _text("status", "read or skipped"),
            _text("reason", "why there is no reading, a core.reasons.Reason; empty if there is one"),
            DETAIL,
            _whole("faces", "faces found"),
            pa.field("box", pa.list_(pa.float32()), nullable=True, metadata={"unit": "x0 y0 x1 y1, share of the side"}),
            _number("masculine", "the reader's calibrated probability"),
            *(
                _number(name, "the reader's probability, of five that sum to 1")
                for name in ("white", "black", "asian", "indian", "other")
            ),
            _number("young", "the reader's calibrated probability of under 35"),
        ]
    ),
    ("path",),
)

COMPOSITION = Table(
    "composition",
    pa.schema(
        [
            _text("occupation", "as searched for; empty: all"),
            _text("keyword", "demographic keyword; 'any' for all searches together, 'none' for that without one"),
            _text("reading", "gender, race or age, as perceived"),
            _text("value", "such as female"),
            _whole("n", "photos with a reading or an answer, without those that were excluded"),
            _whole("answered", "of them, photos whose answer a person gave"),
            _number("share", "of n: the answers where there are any, else the reader's probabilities"),
            _number("ci_low", "lower end of its 95 % Wilson interval, widened by unanswered readings"),
            _number("ci_high", "upper end of its 95 % Wilson interval, widened by unanswered readings"),
        ]
    ),
    ("reading", "occupation", "keyword", "value"),
)
