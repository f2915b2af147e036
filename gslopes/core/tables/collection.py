"""Tables about collections of photos: what was found where, how faces are read, and who is shown.

Their rules are those of ``core.tables``.
"""

from __future__ import annotations

import pyarrow as pa

from gslopes.core.tables.schema import DETAIL, column, ends, number, table, text, whole

# One row a search result, in the order of the searches and of the ranks: kept, and also what was not and why.
MANIFEST = table(
    "manifest",
    ("query", "rank"),
    text("photo", "sha256 of the file's bytes, hex; of a duplicate, that of the photo it repeats; or empty"),
    text("path", "relative to the collection; of a duplicate, that of the photo it repeats; or empty"),
    text("status", "kept, duplicate, refused or failed"),
    text("reason", "why it was not kept, a core.reasons.Reason; empty if it was"),
    DETAIL,
    text("occupation", "as searched for"),
    text("soc", "code in the 2018 SOC; empty if unknown"),
    text("keyword", "demographic keyword of the search; empty if none"),
    text("query", "what was searched for, in full"),
    whole("rank", "place among the results, from 1"),
    text("source", "who was asked"),
    text("url", "of the file"),
    text("page", "where the source shows it; empty if it does not say"),
    text("title", "as the source says; empty if it does not"),
    text("creator", "as the source says; empty if it does not"),
    text("creator_url", "as the source says; empty if it does not"),
    text("licence", "as the source says; empty if it does not: then it gives no permission"),
    text("licence_url", "as the source says; empty if it does not"),
    whole("width", "pixels; 0 if not kept"),
    whole("height", "pixels; 0 if not kept"),
    whole("bytes", "of the file; 0 if not kept"),
    text("phash", "perceptual hash, 16 hex digits; empty if not decoded"),
    text("retrieved", "UTC, ISO 8601"),
)

# What the manifest says of a run's photos, copied into the run folder: a report is drawn from that folder alone.
SOURCES = table(
    "sources",
    ("photo",),
    text("photo", "sha256 of the file's bytes, hex"),
    text("title", "as the source says; empty if it does not"),
    text("creator", "as the source says; empty if it does not"),
    text("creator_url", "as the source says; empty if it does not"),
    text("licence", "as the source says; empty if it does not: then it gives no permission"),
    text("licence_url", "as the source says; empty if it does not"),
    text("page", "where the source shows it; empty if it does not say"),
    text("source", "who was asked"),
)

CENSUS = table(
    "census",
    ("path",),
    text("photo", "sha256 of the file's bytes, hex; empty if unreadable"),
    text("path", "relative to the photos folder; undecodable bytes as \\xNN"),
    text("occupation", "of the manifest, else the first folder of the path; empty if there is none"),
    text("status", "read or skipped"),
    text("reason", "why there is no reading, a core.reasons.Reason; empty if there is one"),
    DETAIL,
    whole("faces", "faces found"),
    column("box", pa.list_(pa.float32()), "x0 y0 x1 y1, share of the side", null=True),
    number("masculine", "the reader's calibrated probability"),
    *(
        number(name, "the reader's probability, of five that sum to 1")
        for name in ("white", "black", "asian", "indian", "other")
    ),
    number("young", "the reader's calibrated probability of under 35"),
)

COMPOSITION = table(
    "composition",
    ("reading", "occupation", "keyword", "value"),
    text("occupation", "as searched for; empty: all"),
    text("keyword", "demographic keyword; 'any' for all searches together, 'none' for that without one"),
    text("reading", "gender, race or age, as perceived"),
    text("value", "such as female"),
    whole("n", "photos with a reading or an answer, without those that were excluded"),
    whole("answered", "of them, photos whose answer a person gave"),
    number("share", "of n: the answers where there are any, else the reader's probabilities"),
    *ends("ci", "its 95 % Wilson interval, widened by unanswered readings"),
)
