"""The tables of a crop audit. Their rules are those of ``core.tables``; photo is the sha256 of the file's bytes.

``left`` and ``right`` are the photos of a joined picture; of photos one below the other, ``left`` is the upper one.
"""

from __future__ import annotations

import pyarrow as pa

from gslopes.core.tables.schema import ATTRIBUTE, DETAIL, PHOTO, Table, column, ends, number, text, whole

FLOATS = pa.list_(pa.float32())


def _table(name: str, key: str, *columns: pa.Field) -> Table:
    """A table of these columns; key: names with spaces between them."""
    return Table(name, pa.schema(columns), tuple(key.split()))


def _count(name: str, unit: str) -> pa.Field:
    return column(name, pa.int32(), unit)


def _small(name: str, unit: str) -> pa.Field:
    return column(name, pa.int16(), unit)


def _counts(unit: str, *names: str) -> list[pa.Field]:
    return [_count(name, unit) for name in names]


def _single(name: str, unit: str) -> pa.Field:
    return column(name, pa.float32(), unit, null=True)


_BOOTSTRAP = "the 95 % bootstrap interval over people"
_CROPPER = text("cropper", "name with parameters")
_VARIANT = text("variant", "how photos are joined, such as native or height 256")
_POLICY = text("policy", "what is done with a map; rectangle for croppers that give no map")
_OUTCOME = text("outcome", "favoured, or kept@RATIO")
_COLUMN = text("column", "of people.csv; a + b crosses two")
_GROUP = [_COLUMN, text("group", "the one described")]
_GROUPS = [_COLUMN, text("group", "the one"), text("other", "the other")]
_PAIR = [text(side, "photo, sha256 of the file's bytes") for side in ("left", "right")]
_STATUS = [
    text("status", "answered, refused or failed"),
    text("reason", "why there is no answer, or a note, a core.reasons.Reason; empty if nothing"),
    DETAIL,
]
_CLASSIFIER = text("classifier", "crop: and the cropper's name")
_LABEL = text("label", "favoured, or kept@RATIO")

# -- answers ----------------------------------------------------------------------------------------------------------

PEOPLE = _table(
    "people",
    "path",
    text("photo", "sha256 of the file's bytes, hex; empty if unreadable"),
    text("person", "as people.csv names it"),
    text("path", "relative to the photos folder"),
    *_counts("pixels; 0 if unreadable", "width", "height"),
    text("status", "used or skipped"),
    text("reason", "why it was skipped, or a note, a core.reasons.Reason; empty if nothing"),
    DETAIL,
    _count("faces", "faces found"),
    column("box", FLOATS, "x0 y0 x1 y1 of the face, pixels", null=True),
    column("head", FLOATS, "x0 y0 x1 y1 of the head, pixels", null=True),
    column("points", FLOATS, "five x y pairs, pixels", null=True),
)

TRAITS = _table(
    "traits",
    "person column",
    text("person", "as people.csv names it"),
    text("column", "of people.csv"),
    text("value", "as written there"),
    text("source", "how it is known: given, self-reported, wikidata, perceived"),
)

SALIENCY = _table(
    "saliency",
    "cropper scale photo",
    _CROPPER,
    PHOTO,
    text("scale", "own: the photo alone; matched: reduced as when joined"),
    *(_small(name, "of the map") for name in ("columns", "rows")),
    *_counts("focal point, pixels", "x", "y"),
    *(_single(name, "of the map, the model's units") for name in ["max", "p95", "p90", "p75", "median", "p25", "mean"]),
    column("symmetric", pa.bool_(), "whether the photo counts as its own mirror image"),
    column("on_head", pa.bool_(), "whether the focal point lies in the head's box", null=True),
    column("values", FLOATS, "the map, row by row; null unless kept", null=True),
)

PAIRS = _table(
    "pairs",
    "cropper variant left right",
    *(_CROPPER, _VARIANT, *_PAIR),
    *_counts("of the joined picture, pixels", "width", "height"),
    *_counts("focal point, pixels; -1 if there is none", "x", "y"),
    _single("max_left", "highest score on the left photo, the model's units"),
    _single("max_right", "highest score on the right photo, the model's units"),
    _single("mass_left", "share of the softmax on the left photo, in [0, 1]"),
    _single("won", "1 the left photo is favoured, 0 the right one, 1/2 a tie"),
    column("on_padding", pa.bool_(), "whether the focal point lies on no photo"),
    *_STATUS,
)

OUTCOMES = _table(
    "outcomes",
    "cropper variant policy left right",
    *(_CROPPER, _VARIANT, _POLICY, *_PAIR),
    column("share_left", pa.float32(), "chance that the left photo is shown, in [0, 1]"),
    column("share_right", pa.float32(), "the same of the right photo; both may be 1"),
    _single("low", "chance that the focal point scores below the map's median"),
)

CROPS = _table(
    "crops",
    "cropper variant policy ratio left right",
    *(_CROPPER, _VARIANT, _POLICY),
    column("ratio", pa.float64(), "height/width asked for"),
    *_PAIR,
    *_counts("of the crop, pixels of the joined picture", "left_px", "top"),
    *_counts("pixels", "crop_width", "crop_height"),
    column("other_ratio", pa.bool_(), "whether the cropper gave another ratio than asked"),
    _single("kept_left", "share of the left head inside; null without a head"),
    _single("kept_right", "share of the right head inside; null without a head"),
)

TOGETHER = _table(
    "together",
    "cropper variant picture place",
    *(_CROPPER, _VARIANT),
    _count("picture", "number of a picture with one person of each group"),
    _small("place", "of the person, 0 the leftmost"),
    PHOTO,
    text("group", "the person's"),
    _single("share", "1 favoured, 0 not, 1/k shared with others; null without an answer"),
    _single("kept", "share of the head in the crop of the ratio nearest to 1; null without a head"),
    *_STATUS,
)

STABILITY = _table(
    "stability",
    "cropper variant policy edit",
    *(_CROPPER, _VARIANT, _POLICY),
    text("edit", "of the picture: jpeg 75, 2 px to the right, 5 % brighter"),
    _count("pictures", "drawn at random, each asked about before and after"),
    number("move", "mean move of the crop of the ratio nearest to 1, share of the picture's longer side"),
    number("moved", "share of the pictures whose crop moved by more than a hundredth of it"),
)

COVARIATES = _table(
    "covariates", "photo name", PHOTO, text("name", "what"), number("value", "see crops.pictures.covariates.UNITS")
)

DRAWN_MAPS = _table(
    "drawn_maps",
    "cropper left right",
    *(_CROPPER, *_PAIR),
    _small("rows", "cells; of a larger map the highest of each block"),
    _small("columns", "cells"),
    column("peaks", FLOATS, "x and y of each, the highest first, shares of width and height"),
    column("values", FLOATS, "row by row, in the model's units"),
)

# -- measures ---------------------------------------------------------------------------------------------------------

_PERSONS = [_count("persons", "of group"), _count("other_persons", "of other")]
_FOUR = (_CROPPER, _VARIANT, _POLICY, _OUTCOME)

PARITY = _table(
    "parity",
    "cropper variant policy outcome column group other",
    *(*_FOUR, *_GROUPS, *_PERSONS),
    whole("pairs", "pairs of persons asked about"),
    number("p", "P(group over other), mean over pairs of persons; U-statistic"),
    number("se", "standard error over people, DeLong"),
    number("df", "degrees of freedom, Brunner and Munzel"),
    *ends("ci", "the 95 % interval over people, logit scale"),
    *ends("boot", "the percentile bootstrap over people"),
    *ends("sim", "the interval that holds for all pairs of groups at once"),
    number("p_value", "two-sided t, null: P = 1/2"),
    number("q", "p_value after Benjamini and Hochberg over the pairs of groups"),
    number("ratio", "disparate impact, the smaller direction"),
    *ends("ratio", "its 95 % interval"),
    number("epsilon", "parity is lacking if ratio <= 1 - epsilon"),
    text("verdict", "of a lack of parity: shown, ruled out, open; empty if not judged"),
    text("note", "why it is not judged; empty if it is"),
    number("draws_half", "half-width by the draws alone, the published kind"),
    number("kept", "share of group whose head is kept"),
    number("other_kept", "share of other whose head is kept"),
    number("both", "share of pairs of which both heads are kept"),
    number("neither", "share of pairs of which neither head is kept"),
)

AGGREGATES = _table(
    "aggregates",
    "cropper variant policy outcome column group other weighting",
    *(*_FOUR, *_GROUPS),
    text("weighting", "of the pairs of cells: equal (as published), size; pooled: one U-statistic"),
    _small("cells", "pairs of cells averaged"),
    _small("cells_missing", "pairs of cells that are missing"),
    number("p", "P(group over other)"),
    *ends("boot", _BOOTSTRAP),
)

POSITIONS = _table(
    "positions",
    "cropper variant",
    *(_CROPPER, _VARIANT),
    whole("pictures", "answered"),
    number("left", "share of wins of the left photo, minus 1/2"),
    *ends("ci", _BOOTSTRAP),
    whole("ties", "pictures without a winner"),
    number("on_padding", "share of focal points on no photo"),
    *(whole(name, "pictures") for name in ("refused", "failed")),
)

POLICIES = _table(
    "policies",
    "cropper variant policy column group other",
    *(_CROPPER, _VARIANT, _POLICY, *_GROUPS),
    number("deviation", "P(group over other) - 1/2"),
    *ends("deviation", _BOOTSTRAP),
    number("difference", "|deviation of argmax| - |deviation|"),
    *ends("difference", _BOOTSTRAP),
    number("amplification", "deviation of argmax over deviation; null where that may be 0"),
    *ends("amplification", _BOOTSTRAP),
    number("exposure", "mean of the smaller share in a picture: 0, everybody sees the same person"),
    number("low_focus", "share of focal points below the map's median"),
    number("instability", "mean move of the crop under three small edits, share of the longer side"),
    number("whole", "share of pictures with both heads in the crop of the ratio nearest to 1"),
    text("agency", "of the user, in the paper's Table 1"),
    text("automation", "in the paper's Table 1"),
    text("coverage", "in the paper's Table 1"),
    text("risk", "where several points are salient, in the paper's Table 1"),
)

SPREAD = _table(
    "spread",
    "cropper scale statistic column group other",
    _CROPPER,
    text("scale", "own or matched"),
    text("statistic", "of a photo's map: max, p95, median, mean, spread (max - median)"),
    *(*_GROUPS, *_PERSONS),
    number("p", "P(group's is larger), ties half"),
    number("se", "standard error over people, DeLong"),
    *ends("ci", "the 95 % interval, logit scale"),
    number("ks", "largest distance of the two empirical distribution functions"),
)

STRENGTHS = _table(
    "strengths",
    "cropper variant column group",
    *(_CROPPER, _VARIANT, *_GROUP),
    number("strength", "Bradley-Terry, sum 1: predicted share where all groups stand in one picture"),
    number("observed", "share with one person of each group in one picture; null if not asked"),
    number("chi2", "departure of the pairs from the strengths, of draws alone"),
    _count("df", "its degrees of freedom"),
)

SHARES = _table(
    "shares",
    "cropper variant column group",
    *(_CROPPER, _VARIANT, *_GROUP),
    _count("persons", "of the group"),
    whole("pictures", "answered, one person of each group on it"),
    number("share", "of the pictures in which the group's person is favoured"),
    *ends("ci", _BOOTSTRAP),
    number("even", "1 over the number of groups"),
    number("kept", "share of the pictures that keep the person's head, at the ratio nearest to 1"),
    number("predicted", "by the Bradley-Terry strengths of the pairs"),
    whole("left_out", "pictures refused or failed"),
)

EXPLAINED = _table(
    "explained",
    "cropper variant column group other covariates",
    *(_CROPPER, _VARIANT, *_GROUPS),
    text("covariates", "held equal in beta_after"),
    number("beta_before", "log-odds of group over other without covariates"),
    *ends("beta_before", _BOOTSTRAP),
    number("beta_after", "log-odds of group over other with covariates"),
    *ends("beta_after", _BOOTSTRAP),
)

# -- regions ----------------------------------------------------------------------------------------------------------

GLANCES = _table(
    "glances",
    "cropper photo",
    *(_CROPPER, PHOTO),
    *_counts("focal point, pixels; -1 if there is none", "x", "y"),
    *_counts("of the crop of ratio 1, pixels", "left", "top", "crop_width", "crop_height"),
    column("off_head", pa.bool_(), "whether the focal point lies outside of the head's box", null=True),
    _single("kept", "share of the head in the crop of ratio 1"),
    _small("regions", "salient regions"),
    *_STATUS,
)

REGIONS = _table(
    "regions",
    "cropper photo region",
    *(_CROPPER, PHOTO),
    _small("region", "from the largest, 0 on"),
    *_counts("pixels", "x0", "y0", "x1", "y1"),
    number("area", "pixels"),
    _count("cells", "of the map; 0 of a pixel mask"),
    _single("on_head", "share of the region's box on the head; null without one"),
    text("kind", "text, number, badge, skin, clothing, background; empty if not marked"),
    text("by", "who marked it; empty if not marked"),
)

GAZE = _table(
    "gaze",
    "cropper column group",
    *(_CROPPER, *_GROUP),
    _count("photos", "with a face, a map and the height asked for"),
    _count("off_head", "focal point outside of the head's box"),
    _count("crop_off_head", "crop of ratio 1 with less than half of the head"),
    number("off_share", "of the photos"),
    *ends("off", "its 95 % Wilson interval"),
    number("crop_off_share", "of the photos"),
    *ends("crop_off", "its 95 % Wilson interval"),
)

GAZE_GAPS = _table(
    "gaze_gaps",
    "cropper column group other what",
    *(_CROPPER, *_GROUPS),
    text("what", "off: focal point outside of the head; crop_off: crop without half of it"),
    number("difference", "of the shares of photos, group less other"),
    *ends("ci", "its 95 % interval, Newcombe"),
)

KINDS = _table(
    "kinds",
    "cropper column group kind",
    *(_CROPPER, *_GROUP),
    text("kind", "what people marked, or off the head, or not marked"),
    _count("regions", "salient regions of that kind"),
    _count("of_regions", "salient regions of the group"),
    _count("photos", "with such a region"),
    _count("of_photos", "of the group"),
    number("share", "of the photos, with such a region"),
    *ends("ci", "its 95 % interval, Wilson"),
)

# -- sweeps -----------------------------------------------------------------------------------------------------------

DUELS = _table(
    "duels",
    "cropper attribute low high",
    *(_CROPPER, ATTRIBUTE),
    number("low", "the smaller value; null: the mean over all pairs of values"),
    number("high", "the larger value"),
    _count("persons", "whose two pictures were joined"),
    number("p", "chance that the picture at the larger value is favoured; of the mean: D in [-1, 1]"),
    *ends("ci", "the 95 % t interval over persons"),
)

OPPONENTS = _table(
    "opponents",
    "classifier attribute photo opponent step label",
    *(_CLASSIFIER, ATTRIBUTE, PHOTO),
    text("opponent", "photo next to it, at its unedited value"),
    _small("step", "of the edited picture, 0 to K-1"),
    _LABEL,
    number("share", "of both orders in which the edited picture is favoured, or its head is kept; null: unknown"),
)

SWEEP_SLOPES = _table(
    "sweep_slopes",
    "classifier attribute label",
    *(_CLASSIFIER, ATTRIBUTE, _LABEL),
    _count("photos", "with an answer at every value"),
    _count("people", "on them, or next to them"),
    _count("pairs", "of a photo and an opponent"),
    number("slope", "mean over photos of the least squares slope of the share, per unit of the attribute"),
    *ends("t", "the 95 % t interval over people"),
    *ends("boot", "the 95 % bootstrap interval over people and opponents"),
    *ends("ci", "the wider of the two"),
    number("p", "the larger of theirs; null hypothesis: slope 0"),
)

MEASURES = (PARITY, AGGREGATES, POSITIONS, POLICIES, SPREAD, STRENGTHS, SHARES, EXPLAINED)
REGION_TABLES = (GLANCES, REGIONS, GAZE, GAZE_GAPS, KINDS)
ALL = (
    *(PEOPLE, TRAITS, SALIENCY, PAIRS, OUTCOMES, CROPS, TOGETHER, STABILITY, COVARIATES, DRAWN_MAPS),
    *(*MEASURES, *REGION_TABLES, DUELS),
)
