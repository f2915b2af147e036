"""The tables of a crop audit. Their rules are those of ``core.tables``; photo is the sha256 of the file's bytes.

``left`` and ``right`` are the photos of a joined picture; of photos one below the other, ``left`` is the upper one.
"""

from __future__ import annotations

import pyarrow as pa

from gslopes.core.tables.schema import DETAIL, PHOTO, Table, column, number
from gslopes.crops.tables.measures import DUELS, GAZE, GAZE_GAPS, GLANCES, KINDS, REGIONS, SHARES, STABILITY, TOGETHER

_CROPPER = column("cropper", pa.string(), "name with parameters")
_VARIANT = column("variant", pa.string(), "how photos are joined, such as native or height 256")
_POLICY = column("policy", pa.string(), "what is done with a map; rectangle for croppers that give no map")
_PAIR = [
    column("left", pa.string(), "photo, sha256 of the file's bytes"),
    column("right", pa.string(), "photo, sha256 of the file's bytes"),
]
_GROUPS = [
    column("column", pa.string(), "of people.csv; a + b crosses two"),
    column("group", pa.string(), "the one"),
    column("other", pa.string(), "the other"),
]
_BOX = pa.list_(pa.float32())


def _single(name: str, unit: str) -> pa.Field:
    return column(name, pa.float32(), unit, null=True)


PEOPLE = Table(
    "people",
    pa.schema(
        [
            column("photo", pa.string(), "sha256 of the file's bytes, hex; empty if unreadable"),
            column("person", pa.string(), "as people.csv names it"),
            column("path", pa.string(), "relative to the photos folder"),
            column("width", pa.int32(), "pixels; 0 if unreadable"),
            column("height", pa.int32(), "pixels; 0 if unreadable"),
            column("status", pa.string(), "used or skipped"),
            column("reason", pa.string(), "why it was skipped, or a note, a core.reasons.Reason; empty if nothing"),
            DETAIL,
            column("faces", pa.int32(), "faces found"),
            column("box", _BOX, "x0 y0 x1 y1 of the face, pixels", null=True),
            column("head", _BOX, "x0 y0 x1 y1 of the head, pixels", null=True),
            column("points", _BOX, "five x y pairs, pixels", null=True),
        ]
    ),
    ("path",),
)

TRAITS = Table(
    "traits",
    pa.schema(
        [
            column("person", pa.string(), "as people.csv names it"),
            column("column", pa.string(), "of people.csv"),
            column("value", pa.string(), "as written there"),
            column("source", pa.string(), "how it is known: given, self-reported, wikidata, perceived"),
        ]
    ),
    ("person", "column"),
)

SALIENCY = Table(
    "saliency",
    pa.schema(
        [
            _CROPPER,
            PHOTO,
            column("scale", pa.string(), "own: the photo alone; matched: reduced as when joined"),
            column("columns", pa.int16(), "of the map"),
            column("rows", pa.int16(), "of the map"),
            column("x", pa.int32(), "focal point, pixels"),
            column("y", pa.int32(), "focal point, pixels"),
            *(
                _single(name, "of the map, the model's units")
                for name in ("max", "p95", "p90", "p75", "median", "p25", "mean")
            ),
            column("symmetric", pa.bool_(), "whether the photo counts as its own mirror image"),
            column("on_head", pa.bool_(), "whether the focal point lies in the head's box", null=True),
            column("values", _BOX, "the map, row by row; null unless kept", null=True),
        ]
    ),
    ("cropper", "scale", "photo"),
)

PAIRS = Table(
    "pairs",
    pa.schema(
        [
            _CROPPER,
            _VARIANT,
            *_PAIR,
            column("width", pa.int32(), "of the joined picture, pixels"),
            column("height", pa.int32(), "of the joined picture, pixels"),
            column("x", pa.int32(), "focal point, pixels; -1 if there is none"),
            column("y", pa.int32(), "focal point, pixels; -1 if there is none"),
            _single("max_left", "highest score on the left photo, the model's units"),
            _single("max_right", "highest score on the right photo, the model's units"),
            _single("mass_left", "share of the softmax on the left photo, in [0, 1]"),
            _single("won", "1 the left photo is favoured, 0 the right one, 1/2 a tie"),
            column("on_padding", pa.bool_(), "whether the focal point lies on no photo"),
            column("status", pa.string(), "answered, refused or failed"),
            column("reason", pa.string(), "why not, or a note, a core.reasons.Reason; empty if nothing"),
            DETAIL,
        ]
    ),
    ("cropper", "variant", "left", "right"),
)

OUTCOMES = Table(
    "outcomes",
    pa.schema(
        [
            _CROPPER,
            _VARIANT,
            _POLICY,
            *_PAIR,
            column("share_left", pa.float32(), "chance that the left photo is shown, in [0, 1]"),
            column("share_right", pa.float32(), "the same of the right photo; both may be 1"),
            _single("low", "chance that the focal point scores below the map's median"),
        ]
    ),
    ("cropper", "variant", "policy", "left", "right"),
)

CROPS = Table(
    "crops",
    pa.schema(
        [
            _CROPPER,
            _VARIANT,
            _POLICY,
            column("ratio", pa.float64(), "height/width asked for"),
            *_PAIR,
            column("left_px", pa.int32(), "of the crop, pixels of the joined picture"),
            column("top", pa.int32(), "of the crop, pixels of the joined picture"),
            column("crop_width", pa.int32(), "pixels"),
            column("crop_height", pa.int32(), "pixels"),
            column("other_ratio", pa.bool_(), "whether the cropper gave another ratio than asked"),
            _single("kept_left", "share of the left head inside; null without a head"),
            _single("kept_right", "share of the right head inside; null without a head"),
        ]
    ),
    ("cropper", "variant", "policy", "ratio", "left", "right"),
)

_ESTIMATE = [
    column("persons", pa.int32(), "of group"),
    column("other_persons", pa.int32(), "of other"),
    column("pairs", pa.int64(), "pairs of persons asked about"),
    number("p", "P(group over other), mean over pairs of persons; U-statistic"),
    number("se", "standard error over people, DeLong"),
    number("df", "degrees of freedom, Brunner and Munzel"),
    number("ci_low", "lower end of the 95 % interval over people, logit scale"),
    number("ci_high", "upper end of the 95 % interval over people, logit scale"),
    number("boot_low", "lower end, percentile bootstrap over people"),
    number("boot_high", "upper end, percentile bootstrap over people"),
    number("sim_low", "lower end, holding for all pairs of groups at once"),
    number("sim_high", "upper end, holding for all pairs of groups at once"),
    number("p_value", "two-sided t, null: P = 1/2"),
    number("q", "p_value after Benjamini and Hochberg over the pairs of groups"),
    number("ratio", "disparate impact, the smaller direction"),
    number("ratio_low", "lower end of its 95 % interval"),
    number("ratio_high", "upper end of its 95 % interval"),
    number("epsilon", "parity is lacking if ratio <= 1 - epsilon"),
    column("verdict", pa.string(), "of a lack of parity: shown, ruled out, open; empty if not judged"),
    column("note", pa.string(), "why it is not judged; empty if it is"),
    number("draws_half", "half-width by the draws alone, the published kind"),
    number("kept", "share of group whose head is kept"),
    number("other_kept", "share of other whose head is kept"),
    number("both", "share of pairs of which both heads are kept"),
    number("neither", "share of pairs of which neither head is kept"),
]
_OUTCOME = column("outcome", pa.string(), "favoured, or kept@RATIO")

PARITY = Table(
    "parity",
    pa.schema([_CROPPER, _VARIANT, _POLICY, _OUTCOME, *_GROUPS, *_ESTIMATE]),
    ("cropper", "variant", "policy", "outcome", "column", "group", "other"),
)

AGGREGATES = Table(
    "aggregates",
    pa.schema(
        [
            _CROPPER,
            _VARIANT,
            _POLICY,
            _OUTCOME,
            *_GROUPS,
            column(
                "weighting", pa.string(), "of the pairs of cells: equal (as published), size; pooled: one U-statistic"
            ),
            column("cells", pa.int16(), "pairs of cells averaged"),
            column("cells_missing", pa.int16(), "pairs of cells that are not there"),
            number("p", "P(group over other)"),
            number("boot_low", "lower end of the 95 % bootstrap interval over people"),
            number("boot_high", "upper end of the 95 % bootstrap interval over people"),
        ]
    ),
    ("cropper", "variant", "policy", "outcome", "column", "group", "other", "weighting"),
)

POSITIONS = Table(
    "positions",
    pa.schema(
        [
            _CROPPER,
            _VARIANT,
            column("pictures", pa.int64(), "answered"),
            number("left", "share of wins of the left photo, minus 1/2"),
            number("ci_low", "lower end of the 95 % bootstrap interval over people"),
            number("ci_high", "upper end of the 95 % bootstrap interval over people"),
            column("ties", pa.int64(), "pictures without a winner"),
            number("on_padding", "share of focal points on no photo"),
            column("refused", pa.int64(), "pictures"),
            column("failed", pa.int64(), "pictures"),
        ]
    ),
    ("cropper", "variant"),
)


def _with_ends(name: str, unit: str) -> list[pa.Field]:
    ends = (number(f"{name}_{end}", f"{end} end of its 95 % bootstrap interval over people") for end in ("low", "high"))
    return [number(name, unit), *ends]


POLICIES = Table(
    "policies",
    pa.schema(
        [
            _CROPPER,
            _VARIANT,
            _POLICY,
            *_GROUPS,
            *_with_ends("deviation", "P(group over other) - 1/2"),
            *_with_ends("difference", "|deviation of argmax| - |deviation|"),
            *_with_ends("amplification", "deviation of argmax over deviation; null where that may be 0"),
            number("exposure", "mean of the smaller share in a picture: 0, everybody sees the same person"),
            number("low_focus", "share of focal points below the map's median"),
            number("instability", "mean move of the crop under three small edits, share of the longer side"),
            number("whole", "share of pictures with both heads in the crop of the ratio nearest to 1"),
            column("agency", pa.string(), "of the user, in the paper's Table 1"),
            column("automation", pa.string(), "in the paper's Table 1"),
            column("coverage", pa.string(), "in the paper's Table 1"),
            column("risk", pa.string(), "where several points are salient, in the paper's Table 1"),
        ]
    ),
    ("cropper", "variant", "policy", "column", "group", "other"),
)

SPREAD = Table(
    "spread",
    pa.schema(
        [
            _CROPPER,
            column("scale", pa.string(), "own or matched"),
            column("statistic", pa.string(), "of a photo's map: max, p95, median, mean, spread (max - median)"),
            *_GROUPS,
            column("persons", pa.int32(), "of group"),
            column("other_persons", pa.int32(), "of other"),
            number("p", "P(group's is larger), ties half"),
            number("se", "standard error over people, DeLong"),
            number("ci_low", "lower end of the 95 % interval, logit scale"),
            number("ci_high", "upper end of the 95 % interval, logit scale"),
            number("ks", "largest distance of the two empirical distribution functions"),
        ]
    ),
    ("cropper", "scale", "statistic", "column", "group", "other"),
)

STRENGTHS = Table(
    "strengths",
    pa.schema(
        [
            _CROPPER,
            _VARIANT,
            column("column", pa.string(), "of people.csv; a + b crosses two"),
            column("group", pa.string(), "whose"),
            number("strength", "Bradley-Terry, sum 1: predicted share where all groups stand in one picture"),
            number("observed", "share with one person of each group in one picture; null if not asked"),
            number("chi2", "departure of the pairs from the strengths, of draws alone"),
            column("df", pa.int32(), "its degrees of freedom"),
        ]
    ),
    ("cropper", "variant", "column", "group"),
)

COVARIATES = Table(
    "covariates",
    pa.schema([PHOTO, column("name", pa.string(), "what"), number("value", "see crops.pictures.covariates.UNITS")]),
    ("photo", "name"),
)

EXPLAINED = Table(
    "explained",
    pa.schema(
        [
            _CROPPER,
            _VARIANT,
            *_GROUPS,
            column("covariates", pa.string(), "held alike in beta_after"),
            *(
                number(
                    f"beta_{when}{end}", f"log-odds of group over other {word} covariates; ends: bootstrap over people"
                )
                for when, word in (("before", "without"), ("after", "with"))
                for end in ("", "_low", "_high")
            ),
        ]
    ),
    ("cropper", "variant", "column", "group", "other", "covariates"),
)

ALL = (
    *(PEOPLE, TRAITS, SALIENCY, PAIRS, OUTCOMES, CROPS),
    *(PARITY, AGGREGATES, POSITIONS, POLICIES, SPREAD, STRENGTHS),
    *(TOGETHER, SHARES, STABILITY),
    *(GLANCES, GAZE_GAPS, KINDS),
    *(REGIONS, GAZE, COVARIATES, EXPLAINED, DUELS),
)
