"""The tables beside those of the pairs: many people at once, small edits, where photos are looked at, and sweeps."""

from __future__ import annotations

import pyarrow as pa

from gslopes.core.tables.schema import DETAIL, PHOTO, Table, column, number

_CROPPER = column("cropper", pa.string(), "name with parameters")
_VARIANT = column("variant", pa.string(), "how photos are joined, such as native or height 256")
_POLICY = column("policy", pa.string(), "what is done with a map; rectangle for croppers that give no map")


def _single(name: str, unit: str) -> pa.Field:
    return column(name, pa.float32(), unit, null=True)


TOGETHER = Table(
    "together",
    pa.schema(
        [
            _CROPPER,
            _VARIANT,
            column("picture", pa.int32(), "number of a picture with one person of each group"),
            column("place", pa.int16(), "of the person, 0 the leftmost"),
            PHOTO,
            column("group", pa.string(), "the person's"),
            _single("share", "1 favoured, 0 not, 1/k shared with others; null without an answer"),
            _single("kept", "share of the head in the crop of the ratio nearest to 1; null without a head"),
            column("status", pa.string(), "of the picture: answered, refused or failed"),
            column("reason", pa.string(), "why not, a core.reasons.Reason; empty if answered"),
            DETAIL,
        ]
    ),
    ("cropper", "variant", "picture", "place"),
)

SHARES = Table(
    "shares",
    pa.schema(
        [
            _CROPPER,
            _VARIANT,
            column("column", pa.string(), "of people.csv; a + b crosses two"),
            column("group", pa.string(), "whose"),
            column("persons", pa.int32(), "of the group"),
            column("pictures", pa.int64(), "answered, one person of each group on it"),
            number("share", "of the pictures in which the group's person is favoured"),
            number("ci_low", "lower end of the 95 % bootstrap interval over people"),
            number("ci_high", "upper end of the 95 % bootstrap interval over people"),
            number("even", "1 over the number of groups"),
            number("kept", "share of the pictures that keep the person's head, at the ratio nearest to 1"),
            number("predicted", "by the Bradley-Terry strengths of the pairs"),
            column("left_out", pa.int64(), "pictures refused or failed"),
        ]
    ),
    ("cropper", "variant", "column", "group"),
)

STABILITY = Table(
    "stability",
    pa.schema(
        [
            _CROPPER,
            _VARIANT,
            _POLICY,
            column("edit", pa.string(), "of the picture: jpeg 75, 2 px to the right, 5 % brighter"),
            column("pictures", pa.int32(), "drawn by lot, each asked about before and after"),
            number("move", "mean move of the crop of the ratio nearest to 1, share of the picture's longer side"),
            number("moved", "share of the pictures whose crop moved by more than a hundredth of it"),
        ]
    ),
    ("cropper", "variant", "policy", "edit"),
)

REGIONS = Table(
    "regions",
    pa.schema(
        [
            _CROPPER,
            PHOTO,
            column("region", pa.int16(), "from the largest, 0 on"),
            *(column(name, pa.int32(), "pixels") for name in ("x0", "y0", "x1", "y1")),
            number("area", "pixels"),
            column("cells", pa.int32(), "of the map; 0 of a pixel mask"),
            _single("on_head", "share of the region's box on the head; null without one"),
            column("kind", pa.string(), "text, number, badge, skin, clothing, background; empty if nobody said"),
            column("by", pa.string(), "who said so; empty if nobody"),
        ]
    ),
    ("cropper", "photo", "region"),
)

GAZE = Table(
    "gaze",
    pa.schema(
        [
            _CROPPER,
            column("column", pa.string(), "of people.csv"),
            column("group", pa.string(), "whose"),
            column("photos", pa.int32(), "with a face, a map and the height asked for"),
            column("off_head", pa.int32(), "focal point outside of the head's box"),
            column("crop_off_head", pa.int32(), "crop of ratio 1 with less than half of the head"),
            *(number(f"{name}_{end}", "share, and its 95 % Wilson ends") for name in ("off", "crop_off")
              for end in ("share", "low", "high")),
        ]
    ),
    ("cropper", "column", "group"),
)  # fmt: skip

GLANCES = Table(
    "glances",
    pa.schema(
        [
            _CROPPER,
            PHOTO,
            column("x", pa.int32(), "focal point, pixels; -1 if it tells none"),
            column("y", pa.int32(), "focal point, pixels; -1 if it tells none"),
            *(column(name, pa.int32(), "of the crop of ratio 1, pixels")
              for name in ("left", "top", "crop_width", "crop_height")),
            column("off_head", pa.bool_(), "whether the focal point lies outside of the head's box", null=True),
            _single("kept", "share of the head in the crop of ratio 1"),
            column("regions", pa.int16(), "salient regions"),
            column("status", pa.string(), "answered, refused or failed"),
            column("reason", pa.string(), "why not, a core.reasons.Reason; empty if answered"),
            DETAIL,
        ]
    ),
    ("cropper", "photo"),
)  # fmt: skip

GAZE_GAPS = Table(
    "gaze_gaps",
    pa.schema(
        [
            _CROPPER,
            column("column", pa.string(), "of people.csv; a + b crosses two"),
            column("group", pa.string(), "the one"),
            column("other", pa.string(), "the other"),
            column("what", pa.string(), "off: focal point outside of the head; crop_off: crop without half of it"),
            number("difference", "of the shares of photos, group less other"),
            number("ci_low", "lower end of its 95 % interval, Newcombe"),
            number("ci_high", "upper end of its 95 % interval, Newcombe"),
        ]
    ),
    ("cropper", "column", "group", "other", "what"),
)

KINDS = Table(
    "kinds",
    pa.schema(
        [
            _CROPPER,
            column("column", pa.string(), "of people.csv; a + b crosses two"),
            column("group", pa.string(), "whose"),
            column("kind", pa.string(), "what people marked, or off the head, or not marked"),
            column("regions", pa.int32(), "salient regions of that kind"),
            column("of_regions", pa.int32(), "salient regions of the group"),
            column("photos", pa.int32(), "with such a region"),
            column("of_photos", pa.int32(), "of the group"),
            number("share", "of the photos, with such a region"),
            number("ci_low", "lower end of its 95 % interval, Wilson"),
            number("ci_high", "upper end of its 95 % interval, Wilson"),
        ]
    ),
    ("cropper", "column", "group", "kind"),
)

DUELS = Table(
    "duels",
    pa.schema(
        [
            _CROPPER,
            column("attribute", pa.string(), "name of the edited attribute"),
            number("low", "the smaller value; null: the mean over all pairs of values"),
            number("high", "the larger value"),
            column("persons", pa.int32(), "whose two pictures were joined"),
            number("p", "chance that the picture at the larger value is favoured; of the mean: D in [-1, 1]"),
            number("ci_low", "lower end of the 95 % t interval over persons"),
            number("ci_high", "upper end of the 95 % t interval over persons"),
        ]
    ),
    ("cropper", "attribute", "low", "high"),
)

DRAWN_MAPS = Table(
    "drawn_maps",
    pa.schema(
        [
            _CROPPER,
            column("left", pa.string(), "photo, sha256 of the file's bytes, hex"),
            column("right", pa.string(), "photo, sha256 of the file's bytes, hex"),
            column("rows", pa.int16(), "cells; of a larger map the highest of each block"),
            column("columns", pa.int16(), "cells"),
            column("peaks", pa.list_(pa.float32()), "x and y of each, the highest first, shares of width and height"),
            column("values", pa.list_(pa.float32()), "row by row, in the model's units"),
        ]
    ),
    ("cropper", "left", "right"),
)

OPPONENTS = Table(
    "opponents",
    pa.schema(
        [
            column("classifier", pa.string(), "crop: and the cropper's name"),
            column("attribute", pa.string(), "name of the edited attribute"),
            PHOTO,
            column("opponent", pa.string(), "photo, at its unedited value, that stands beside it"),
            column("step", pa.int16(), "of the edited picture, 0 to K-1"),
            column("label", pa.string(), "favoured, or kept@RATIO"),
            number(
                "share", "of both orders in which the edited picture is favoured, or its head is kept; null: unknown"
            ),
        ]
    ),
    ("classifier", "attribute", "photo", "opponent", "step", "label"),
)

SWEEP_SLOPES = Table(
    "sweep_slopes",
    pa.schema(
        [
            column("classifier", pa.string(), "crop: and the cropper's name"),
            column("attribute", pa.string(), "name of the edited attribute"),
            column("label", pa.string(), "favoured, or kept@RATIO"),
            column("photos", pa.int32(), "with an answer at every value"),
            column("people", pa.int32(), "on them, or beside them"),
            column("pairs", pa.int32(), "of a photo and an opponent"),
            number("slope", "mean over photos of the least squares slope of the share, per unit of the attribute"),
            number("t_low", "lower end of the 95 % t interval over people"),
            number("t_high", "upper end of the 95 % t interval over people"),
            number("boot_low", "lower end of the 95 % bootstrap interval over people and opponents"),
            number("boot_high", "upper end of the 95 % bootstrap interval over people and opponents"),
            number("ci_low", "lower end of the wider of the two"),
            number("ci_high", "upper end of the wider of the two"),
            number("p", "the larger of theirs; null hypothesis: slope 0"),
        ]
    ),
    ("classifier", "attribute", "label"),
)
