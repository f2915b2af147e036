"""The tables of the context audit: people, cut-outs, composites, what was said of them, and what follows.

Estimators, null hypotheses and intervals are told where the rows are made: ``contexts.measures``.
"""

from __future__ import annotations

import pyarrow as pa

from gslopes.core.tables.schema import ATTRIBUTE, CLASSIFIER, DETAIL, PHOTO, Table, column, number

STRING, INT, FLAG = pa.string(), pa.int64(), pa.bool_()
CONTEXT = column("context", STRING, "name of the context; original or canvas for the baselines")
TAGS = column("tags", STRING, "gross, or net of what the empty background was called")
PLACE_STEP = column("step", INT, "0 to K-1 of a sweep; 0 otherwise")
NOTE = column("note", STRING, "why there is no test, if there is none")
GENDER = column("gender", STRING, "self-reported: woman, man or another word; all")
GROUP = column("group", STRING, "of the people; empty if none, all for everybody")
N = column("n", INT, "pictures; people in tables by person")
COUNT = column("count", INT, "of them")
Q = number("q", "p after Benjamini-Hochberg, over this table's tests of one kind of tags")
Q_RUN = number("q_run", "the same over all tests of the run of one kind of tags")


def _interval(of: str, low: str = "ci_low", high: str = "ci_high") -> tuple[pa.Field, pa.Field]:
    return number(low, f"lower end of the 95 % interval of {of}"), number(high, f"upper end of the same of {of}")


def _table(name: str, key: tuple[str, ...], *columns: pa.Field) -> Table:
    return Table(name, pa.schema(list(columns)), key)


BACKGROUNDS = _table(
    "backgrounds",
    ("key",),
    column("key", STRING, "context and number of the picture: nursery.1"),
    PHOTO,
    CONTEXT,
    column("path", STRING, "where it was read from"),
    column("status", STRING, "used or skipped"),
    column("reason", STRING, "why it was skipped, a core.reasons.Reason; empty if used"),
    DETAIL,
    column("width", INT, "pixels"),
    column("height", INT, "pixels"),
    number("scale", "canvas pixels per pixel of the picture"),
    column("faces", INT, "faces found in it"),
    number("rating", "0 feminine, 5 neutral, 10 masculine"),
    column("label", STRING, "the literature's stereotype: feminine, masculine, none"),
    column("licence", STRING, "of the picture"),
    column("creator", STRING, "of the picture"),
    column("source", STRING, "of the picture"),
)
PEOPLE = _table(
    "people",
    ("photo",),
    PHOTO,
    column("person", STRING, "who; the unit of all statistics"),
    GENDER,
    GROUP,
    number("age", "years"),
)
CUTOUTS = _table(
    "cutouts",
    ("photo",),
    PHOTO,
    column("method", STRING, "alpha, eraser, studio, parser or folder"),
    column("status", STRING, "used, flagged or skipped"),
    column("reason", STRING, "why it was flagged or skipped, a core.reasons.Reason; empty if used"),
    DETAIL,
    number("share", "of the photo that is person"),
    number("bottom", "share of the bottom row that is person"),
    number("holes", "share of the photo in holes, before filling"),
    number("solidity", "area over that of the convex hull"),
    number("covered", "share of the face box that is person"),
    number("residual", "median ΔE of the backdrop from its fitted surface"),
    number("edge", "mean |alpha - reference| along the edge, the backdrop's colour model alone as reference"),
    number("halo", "backdrop left in the colours of the edge, 0 to 1"),
    column("backdrop", STRING, "its median colour, #rrggbb"),
    column("face", STRING, "x0,y0,x1,y1 of the face box, pixels of the photo"),
    column("file", STRING, "the cut-out, relative to the run folder; empty if skipped"),
)
COMPOSITES = _table(
    "composites",
    ("photo", "attribute", "step"),
    PHOTO,
    ATTRIBUTE,
    PLACE_STEP,
    column("kind", STRING, "original, canvas, context, empty or silhouette"),
    CONTEXT,
    number("scale", "of the cut-out's pixels"),
    column("x", INT, "left edge on the canvas, pixels"),
    column("y", INT, "upper edge on the canvas, pixels"),
    number("person_share", "opaque pixels over those of the canvas"),
    number("face_height", "of the face box, share of the picture's height"),
    column("file", STRING, "relative to the run folder"),
)
_SHARES = ("demographics", "concrete", "abstract", "other", "judgement", "traits", "emotion", "occupation")
DESCRIBED = _table(
    "described",
    ("classifier", "photo", "attribute", "step", "tags"),
    CLASSIFIER,
    PHOTO,
    ATTRIBUTE,
    PLACE_STEP,
    TAGS,
    column("n_tags", INT, "different tags"),
    column("masculine", INT, "masculine tags"),
    column("feminine", INT, "feminine tags"),
    column("context_tags", INT, "tags of the context's dictionary"),
    column("inferred", STRING, "woman, man or neutral"),
    column("silent", FLAG, "no gendered tag at all"),
    column("recognised", FLAG, "enough tags of the context"),
    *(number(name, "share of the tags") for name in _SHARES),
    number("distance", "1 - cosine from the same photo's baseline"),
)
INFERRED = _table(
    "inferred",
    ("classifier", "context", "tags", "gender", "inferred"),
    CLASSIFIER,
    CONTEXT,
    TAGS,
    GENDER,
    column("inferred", STRING, "woman, man or neutral"),
    N,
    COUNT,
    number("share", "count over n"),
    *_interval("the share, Wilson"),
    number("change", "share minus the baseline's, over the same people"),
    *_interval("the change, bootstrap over people", "change_low", "change_high"),
    column("discordant", INT, "people whose answer changes"),
    number("p", "exact McNemar, or sign flips by person"),
    Q,
    Q_RUN,
    column("congruent_rise", FLAG, "more of the congruent gender than at the baseline: the mark of table 7"),
    NOTE,
)
RECOGNISED = _table(
    "recognised",
    ("classifier", "context", "tags", "given"),
    CLASSIFIER,
    CONTEXT,
    TAGS,
    column("given", STRING, "all, woman, man, neutral, or gendered - neutral"),
    N,
    COUNT,
    number("share", "recognised; for gendered - neutral the difference"),
    *_interval("the share, Wilson; of the difference, Newcombe"),
    number("p", "Pearson's X² of recognised against inferred"),
    number("p_perm", "the same by dealing anew"),
    number("v", "Cramér's V"),
    Q,
    Q_RUN,
    NOTE,
)
ACCURACY = _table(
    "accuracy",
    ("classifier", "context", "tags", "gender"),
    CLASSIFIER,
    CONTEXT,
    TAGS,
    GENDER,
    N,
    column("tp", INT, "self-report and inferred gender are this one"),
    column("fp", INT, "inferred alone"),
    column("fn", INT, "self-report alone"),
    number("f1", "against self-report"),
    *_interval("F1, bootstrap over people"),
    number("paired_change", "F1 minus the baseline's over the same pictures"),
    *_interval("the change, bootstrap over people", "change_low", "change_high"),
    number("p", "by exchanging each person's two answers"),
    Q,
    column("congruent_rise", FLAG, "F1 of the congruent gender above the baseline's: the mark of table 9"),
    NOTE,
)
DISTANCES = _table(
    "distances",
    ("classifier", "context", "tags", "gender", "group"),
    CLASSIFIER,
    CONTEXT,
    TAGS,
    GENDER,
    GROUP,
    N,
    column("undefined", INT, "pictures whose distance is undefined"),
    number("mean", "distance"),
    number("sd", "of people"),
    *_interval("the mean, bootstrap over people"),
)
ANOVA = _table(
    "anova",
    ("classifier", "context", "tags", "measure", "term"),
    CLASSIFIER,
    CONTEXT,
    TAGS,
    column("measure", STRING, "distance"),
    column("term", STRING, "gender, group, gender:group, residual"),
    column("df", INT, "degrees of freedom"),
    number("sum_sq", "sum of squares"),
    number("F", "statistic"),
    number("p", "of F"),
    number("eta_sq", "partial eta squared"),
    Q,
    column("paper_significant", FLAG, "p below alpha over the paper's family"),
    NOTE,
)
TUKEY = _table(
    "tukey",
    ("classifier", "context", "tags", "measure", "factor", "one", "other"),
    CLASSIFIER,
    CONTEXT,
    TAGS,
    column("measure", STRING, "distance"),
    column("factor", STRING, "gender or group"),
    column("one", STRING, "level"),
    column("other", STRING, "level"),
    number("difference", "of means, one minus other"),
    *_interval("the difference, Tukey-Kramer"),
    number("p", "Tukey-Kramer"),
    column("paper_significant", FLAG, "p below alpha over the paper's family"),
)
CHANGES = _table(
    "changes",
    ("classifier", "context", "tags", "analysis", "super"),
    CLASSIFIER,
    CONTEXT,
    TAGS,
    column("analysis", STRING, "within: change from the baseline; between: the share itself"),
    column("super", STRING, "demographics, concrete or abstract"),
    number("women", "mean of women"),
    number("men", "mean of men"),
    number("difference", "women minus men"),
    number("t", "Welch"),
    number("df", "Welch"),
    *_interval("the difference, Welch"),
    number("p", "Welch"),
    Q,
    column("consistent", FLAG, "found, with the sign of linguistic expectancy bias"),
    NOTE,
)
CONGRUENCE = _table(
    "congruence",
    ("classifier", "tags", "measure", "gender", "group", "estimator"),
    CLASSIFIER,
    TAGS,
    column("measure", STRING, "correct, distance, n_tags, demographics, concrete or abstract"),
    GENDER,
    GROUP,
    N,
    number("slope", "points per unit of congruence; tags per unit for n_tags"),
    number("se", "standard error"),
    *_interval("the slope, t over people"),
    number("p", "t over people; Welch for differences"),
    number("p_perm", "by dealing each person's answers to the contexts"),
    Q,
    column("estimator", STRING, "person, difference or mixed"),
    NOTE,
)
INTERACTION = _table(
    "interaction",
    ("classifier", "tags", "background", "label"),
    CLASSIFIER,
    TAGS,
    column("background", STRING, "key of the background"),
    column("label", STRING, "inferred woman, inferred man, recognised, or a tag"),
    N,
    number("slope", "in front of the background, points per unit of the attribute"),
    number("baseline", "on the plain canvas, points per unit"),
    number("difference", "slope minus baseline, points per unit"),
    *_interval("the difference, paired t"),
    number("p", "paired t"),
    number("p_perm", "sign flips by person"),
    number("face", "from value -1 to 1 on the plain canvas, points"),
    *_interval("the same, t", "face_low", "face_high"),
    number("effect", "of the background at the middle value, points"),
    *_interval("the same, paired t", "effect_low", "effect_high"),
    number("effect_p", "paired t"),
    Q,
    NOTE,
)
CONFUSION = _table(
    "confusion",
    ("classifier", "dictionary", "shown"),
    CLASSIFIER,
    column("dictionary", STRING, "whose tags are looked for"),
    column("shown", STRING, "the context or baseline of the pictures"),
    N,
    COUNT,
    number("share", "that the dictionary would have recognised"),
)
RATINGS = _table(
    "ratings",
    ("context",),
    CONTEXT,
    N,
    column("dropped", INT, "answers coded incorrect"),
    number("median", "0 feminine to 10 masculine"),
    number("q1", "lower quartile"),
    number("q3", "upper quartile"),
    *_interval("the median, bootstrap over raters"),
    number("women", "median of women who rated"),
    number("men", "median of men who rated"),
    column("category", STRING, "feminine, neutral or masculine"),
    number("alpha", "Krippendorff's, of all contexts"),
)
BALANCE_CONTEXTS = _table(
    "balance_contexts",
    ("measure", "one", "other"),
    column("measure", STRING, "face_height or person_share"),
    column("one", STRING, "gender or group"),
    column("other", STRING, "gender or group"),
    number("mean_one", "share of the canvas"),
    number("mean_other", "share of the canvas"),
    number("difference", "one minus other"),
    number("p", "Welch"),
)

CONTEXT_TABLES = (
    *(BACKGROUNDS, PEOPLE, CUTOUTS, COMPOSITES, DESCRIBED, INFERRED, RECOGNISED, ACCURACY, DISTANCES, ANOVA, TUKEY),
    *(CHANGES, CONGRUENCE, INTERACTION, CONFUSION, RATINGS, BALANCE_CONTEXTS),
)
