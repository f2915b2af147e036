"""The tables of the context audit: people, cut-outs, composites, descriptions, and what is computed from them.

Estimators, null hypotheses and intervals are stated where the rows are made: ``contexts.measures``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from gslopes.core.tables.schema import ATTRIBUTE, CLASSIFIER, DETAIL, PHOTO, Table, column, number

_KINDS = {"text": pa.string(), "int": pa.int64(), "flag": pa.bool_()}
_SHARED = {
    field.name: field
    for field in (
        *(CLASSIFIER, PHOTO, ATTRIBUTE, DETAIL),
        column("context", pa.string(), "name of the context; original or canvas for the baselines"),
        column("tags", pa.string(), "gross, or net of the tags of the empty background"),
        column("step", pa.int64(), "0 to K-1 of a sweep; 0 otherwise"),
        column("note", pa.string(), "why there is no test or no interval, if there is none"),
        column("gender", pa.string(), "self-reported: woman, man or another word; all"),
        column("group", pa.string(), "of the people; empty if none, all for everybody"),
        column("n", pa.int64(), "pictures; people in tables by person"),
        column("count", pa.int64(), "of them"),
        column("measure", pa.string(), "distance"),
        number("q", "p after Benjamini-Hochberg, over this table's tests of one kind of tags"),
        number("q_run", "the same over all tests of the run of one kind of tags"),
        column("paper_significant", pa.bool_(), "p below alpha over the paper's family"),
    )
}


def _table(name: str, key: str, columns: str) -> Table:
    """A table from its columns: lines of ``names kind: unit``, or names of shared columns alone."""
    fields: list[pa.Field] = []
    for line in filter(None, map(str.strip, columns.splitlines())):
        head, colon, unit = line.partition(": ")
        names = head.replace(",", "").split()
        kind = names.pop() if colon else ""
        if not colon:
            fields += [_SHARED[shared] for shared in names]
        elif kind == "interval":
            low, high = names
            fields.append(number(low, f"lower end of the 95 % interval of {unit}"))
            fields.append(number(high, f"upper end of the 95 % interval of {unit}"))
        else:
            fields += [number(one, unit) if kind == "float" else column(one, _KINDS[kind], unit) for one in names]
    return Table(name, pa.schema(fields), tuple(key.split()))


def filled(table: Table, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a frame of the table; what a row lacks is NaN, 0, False or empty."""
    empty = {pa.float64(): math.nan, pa.int64(): 0, pa.bool_(): False}
    default = {field.name: empty.get(field.type, "") for field in table.schema}
    return pd.DataFrame([{**default, **row} for row in rows], columns=table.columns) if rows else table.empty()


BACKGROUNDS = _table("backgrounds", "key", """
    key text: context and number of the picture: nursery.1; with its palette, if it has one: nursery.1.pink
    photo, context
    path text: where it was read from
    status text: used or skipped
    reason text: why it was skipped, a core.reasons.Reason; empty if used
    detail
    width, height int: pixels
    scale float: canvas pixels per pixel of the picture
    faces int: faces found in it
    palette text: of a drawn room that stands in several; else empty
    rating float: 0 feminine, 5 neutral, 10 masculine
    label text: the literature's stereotype: feminine, masculine, none
    licence, creator, source text: of the picture
""")  # fmt: skip
PEOPLE = _table("people", "photo", """
    photo
    person text: who; the unit of all statistics
    gender, group
    age float: years
""")  # fmt: skip
CUTOUTS = _table("cutouts", "photo", """
    photo
    method text: alpha, eraser, studio, parser or folder
    status text: used, flagged or skipped
    reason text: why it was flagged or skipped, a core.reasons.Reason; empty if used
    detail
    share float: of the photo that is person
    bottom float: share of the bottom row that is person
    holes float: share of the photo in holes, before filling
    solidity float: area over that of the convex hull
    covered float: share of the face box that is person
    residual float: median ΔE of the backdrop from its fitted surface
    edge float: mean |alpha - reference| along the edge, the backdrop's colour model alone as reference
    halo float: backdrop left in the colours of the edge, 0 to 1
    backdrop text: its median colour, #rrggbb
    face text: x0,y0,x1,y1 of the face box, pixels of the photo
    file text: the cut-out, relative to the run folder; empty if skipped
""")  # fmt: skip
COMPOSITES = _table("composites", "photo attribute step", """
    photo, attribute, step
    kind text: original, canvas, context, empty or silhouette
    context
    scale float: of the cut-out's pixels
    x, y int: left and upper edge on the canvas, pixels
    person_share float: opaque pixels over those of the canvas
    face_height float: of the face box, share of the picture's height
    file text: relative to the run folder
""")  # fmt: skip
DESCRIBED = _table("described", "classifier photo attribute step tags", """
    classifier, photo, attribute, step, tags
    n_tags int: different tags
    masculine, feminine int: tags of that cluster
    context_tags int: tags of the context's dictionary
    inferred text: woman, man or neutral
    silent flag: no gendered tag at all
    recognised flag: enough tags of the context
    demographics, concrete, abstract, other, judgement, traits, emotion, occupation float: share of the tags
    distance float: 1 - cosine from the same photo's baseline
""")  # fmt: skip
INFERRED = _table("inferred", "classifier context tags gender inferred", """
    classifier, context, tags, gender
    inferred text: woman, man or neutral
    n, count
    share float: count over n
    ci_low, ci_high interval: the share, Wilson over people
    rooms_low, rooms_high interval: the share, people and rooms as samples of both
    change float: share minus the baseline's, over the same people
    change_low, change_high interval: the change, t over people
    change_rooms_low, change_rooms_high interval: the change, people and rooms as samples of both
    discordant int: people whose answer changes
    p float: exact McNemar, or sign flips by person
    p_rooms float: of the change, people and rooms as samples of both
    q, q_run
    congruent_rise flag: more of the congruent gender than at the baseline: the mark of table 7
    note
""")  # fmt: skip
RECOGNISED = _table("recognised", "classifier context tags given", """
    classifier, context, tags
    given text: all, woman, man, neutral, or gendered - neutral
    n, count
    share float: recognised; for gendered - neutral the difference
    ci_low, ci_high interval: the share, Wilson over people; of the difference, Newcombe
    rooms_low, rooms_high interval: the share, people and rooms as samples of both
    p float: Pearson's X² of recognised against inferred; Rao and Scott's with several pictures a person
    p_perm float: the same by permutation
    v float: Cramér's V
    q, q_run, note
""")  # fmt: skip
ACCURACY = _table("accuracy", "classifier context tags gender", """
    classifier, context, tags, gender, n
    tp int: self-report and inferred gender are this one
    fp int: inferred alone
    fn int: self-report alone
    f1 float: against self-report
    ci_low, ci_high interval: F1, Wilson over people
    paired_change float: F1 minus the baseline's over the same pictures
    change_low, change_high interval: the change, Newcombe over people
    p float: by exchanging each person's two answers
    q
    congruent_rise flag: F1 of the congruent gender above the baseline's: the mark of table 9
    note
""")  # fmt: skip
DISTANCES = _table("distances", "classifier context tags gender group", """
    classifier, context, tags, gender, group, n
    undefined int: pictures whose distance is undefined
    mean float: distance
    sd float: of people
    ci_low, ci_high interval: the mean, t over people
    note
""")  # fmt: skip
ANOVA = _table("anova", "classifier context tags measure term", """
    classifier, context, tags, measure
    term text: gender, group, gender:group, residual
    df int: degrees of freedom
    sum_sq float: sum of squares
    F float: statistic
    p float: of F
    eta_sq float: partial eta squared
    q, paper_significant, note
""")  # fmt: skip
TUKEY = _table("tukey", "classifier context tags measure factor one other", """
    classifier, context, tags, measure
    factor text: gender or group
    one, other text: level
    difference float: of means, one minus other
    ci_low, ci_high interval: the difference, Tukey-Kramer
    p float: Tukey-Kramer
    paper_significant
""")  # fmt: skip
CHANGES = _table("changes", "classifier context tags analysis super", """
    classifier, context, tags
    analysis text: within: change from the baseline; between: the share itself
    super text: demographics, concrete or abstract
    women, men float: their mean
    difference float: women minus men
    t, df float: Welch
    ci_low, ci_high interval: the difference, Welch
    p float: Welch
    q
    consistent flag: found, with the sign of linguistic expectancy bias
    note
""")  # fmt: skip
CONGRUENCE = _table("congruence", "classifier tags measure gender group estimator", """
    classifier, tags
    measure text: correct, distance, n_tags, demographics, concrete or abstract
    gender, group, n
    slope float: points per unit of congruence; tags per unit for n_tags
    se float: standard error
    ci_low, ci_high interval: the slope, t over people
    p float: t over people; Welch for differences
    p_perm float: by permuting each person's answers over the contexts
    rooms_low, rooms_high interval: the slope, people and rooms as samples of both
    p_rooms float: the same
    q
    estimator text: person or difference
    note
""")  # fmt: skip
INTERACTION = _table("interaction", "classifier tags background label", """
    classifier, tags
    background text: key of the background
    label text: inferred woman, inferred man, recognised, or a tag
    n
    slope float: in front of the background, points per unit of the attribute
    baseline float: on the plain canvas, points per unit
    difference float: slope minus baseline, points per unit
    ci_low, ci_high interval: the difference, paired t
    p float: paired t
    p_perm float: sign flips by person
    face float: from value -1 to 1 on the plain canvas, points
    face_low, face_high interval: face, t
    effect float: of the background at the middle value, points
    effect_low, effect_high interval: the effect, paired t
    effect_p float: paired t
    q, note
""")  # fmt: skip
PALETTES = _table("palettes", "classifier tags context label palette other", """
    classifier, tags
    context text: name of the context, or all
    label text: inferred woman, inferred man, recognised, or a tag
    palette, other text: colours of the same drawn rooms
    n int: pairs of pictures: a person before a room in both
    share, share_other float: of pictures with the label, in each palette
    change float: share minus share_other
    change_low, change_high interval: the change, t over people
    change_rooms_low, change_rooms_high interval: the change, people and rooms as samples of both
    discordant int: people whose answer changes
    p float: exact McNemar, or sign flips by person
    p_rooms float: of the change, people and rooms as samples of both
    q, note
""")  # fmt: skip
RATINGS = _table("ratings", "context", """
    context, n
    dropped int: answers coded incorrect
    median float: 0 feminine to 10 masculine
    q1, q3 float: lower and upper quartile
    ci_low, ci_high interval: the median, bootstrap over raters
    women, men float: median of those who rated
    category text: feminine, neutral or masculine
    alpha float: Krippendorff's, of all contexts
""")  # fmt: skip

CONTEXT_TABLES = (
    *(BACKGROUNDS, PEOPLE, CUTOUTS, COMPOSITES, DESCRIBED, INFERRED, RECOGNISED, ACCURACY, DISTANCES, ANOVA, TUKEY),
    *(CHANGES, CONGRUENCE, INTERACTION, PALETTES, RATINGS),
)
