"""The tables of the walk: photos, their pictures, what is seen in them, what classifiers say."""

from __future__ import annotations

import pyarrow as pa

from gslopes.core.tables.schema import (
    ATTRIBUTE,
    CLASSIFIER,
    DETAIL,
    LABEL,
    PHOTO,
    STEP,
    VALUE,
    column,
    number,
    table,
    text,
)

PHOTOS = table(
    "photos",
    ("path",),
    text("photo", "sha256 of the file's bytes, hex; empty if unreadable"),
    text("path", "relative to the photos folder; undecodable bytes as \\xNN"),
    column("width", pa.int32(), "pixels; 0 if unreadable"),
    column("height", pa.int32(), "pixels; 0 if unreadable"),
    text("status", "used or skipped"),
    text("reason", "why it was skipped, a core.reasons.Reason; empty if used"),
    DETAIL,
    column("faces", pa.int32(), "faces found"),
    column("box", pa.list_(pa.float32()), "x0 y0 x1 y1, pixels, photo frame", null=True),
    column("points", pa.list_(pa.float32()), "five x y pairs, pixels, photo frame", null=True),
    column("detection", pa.float32(), "the detector's confidence in [0, 1]", null=True),
)

EDITS = table(
    "edits",
    ("photo", "attribute", "step"),
    PHOTO,
    ATTRIBUTE,
    STEP,
    VALUE,
    text("file", "relative to the run folder"),
    column("mask_area", pa.float32(), "share of the photo's pixels that may change"),
)

ASKED = table(
    "asked",
    ("classifier", "photo", "attribute", "step"),
    PHOTO,
    ATTRIBUTE,
    STEP,
    CLASSIFIER,
    text("status", "answered, refused or failed"),
    text("reason", "why not, a core.reasons.Reason; empty if answered"),
    DETAIL,
)

SCORES = table(
    "scores",
    ("classifier", "photo", "attribute", "step", "label"),
    PHOTO,
    ATTRIBUTE,
    STEP,
    VALUE,
    CLASSIFIER,
    LABEL,
    column("score", pa.float32(), "the classifier's confidence in [0, 1], or its number in a unit of its own"),
)

VERDICTS = table(
    "verdicts",
    ("photo", "attribute"),
    PHOTO,
    ATTRIBUTE,
    column("kept", pa.bool_(), "whether classifiers are asked about this sweep"),
    text("reason", "the first check that it failed, a core.reasons.Reason; empty if kept"),
    DETAIL,
    column("looked", pa.int16(), "values at which the face was looked for; 0 if at none"),
    column("found", pa.int16(), "of them, those at which it was found again"),
    number("tau", "Kendall's tau-b of the target's reading with the values, to two hundredths"),
    number("shift", "the target's reading at the last value minus that at the first"),
    number("off_target", "steepest slope of another reading, of 1, per unit; it has a sign"),
    text("off_target_reading", "whose that is; empty if none was read"),
    column("mask_area", pa.float32(), "share of the photo's pixels that may change"),
    number("mask_share", "the same pixels over the area of the face's box"),
    number("change", "mean difference from the centre within the box, most over values, of 255"),
)

READINGS = table(
    "readings",
    ("photo", "attribute", "reading", "step"),
    PHOTO,
    ATTRIBUTE,
    column("step", pa.int16(), "0 to K-1; -1 is the photo as it was, unedited"),
    text("reading", "gender, race, young, smiling (the reader's), luminance, sharpness"),
    column("score", pa.float32(), "probability, L* in 0 to 100, log variance of the Laplacian"),
)
