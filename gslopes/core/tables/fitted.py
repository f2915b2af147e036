"""The tables of the fit: slopes, and what is read with them: groups, shapes, placebos, refusals, gated and ungated."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from gslopes.core.tables.schema import (
    ATTRIBUTE,
    CLASSIFIER,
    LABEL,
    NOTE,
    STEP,
    VALUE,
    column,
    ends,
    number,
    table,
    text,
    whole,
)

EVERY = "every label that was returned"  # in the column cut of SLOPES: nothing is cut

SLOPES = table(
    "slopes",
    ("classifier", "attribute", "estimator", "label"),
    CLASSIFIER,
    ATTRIBUTE,
    LABEL,
    whole("n", "photos answered at all K values"),
    whole("active", "photos with the label at one value at least"),
    column("y_centre", pa.float64(), "share of photos with the label at the centre"),
    number("slope", "change of y/y_centre per unit of the attribute"),
    number("intercept", "y/y_centre at value 0 on the fitted line"),
    number("se", "standard error of the slope"),
    number("t", "slope / se"),
    number("p", "two-sided, t with K-2 degrees of freedom, null: slope 0"),
    *ends("ci", "the slope's 95 % interval"),
    number("p_perm", "permutation within photos; null if not run"),
    number("q", "p adjusted over the classifier's labels"),
    text("estimator", "paper, or another one by name"),
    text("unit", "of slope, intercept, se and all intervals", null=True),
    number("boot_low", "95 % percentile bootstrap over units, lower end"),
    number("boot_high", "95 % percentile bootstrap over units, upper end"),
    number("bca_low", "95 % BCa bootstrap over units, lower end"),
    number("bca_high", "95 % BCa bootstrap over units, upper end"),
    text("agreement", "p and p_perm below alpha: both, paper only, ...", null=True),
    text("note", "why there is no test, if there is none", null=True),
    whole(
        "varying",
        "units (photos, clusters) whose answers are not the same at all values",
        null=True,
    ),
    number("p_test", "the p that q adjusts"),
    text("p_source", "of p_test: permutation, t or t below the permutations' floor", null=True),
    number("q_placebo", "largest p of the own test and of every placebo difference, adjusted over the labels"),
    text("decision", "finding, placebo, open, none or unjudged; see fit.decision", null=True),
    text("reason", "code of why it is no finding; empty if it is one", null=True),
    text("detail", "the same with its numbers", null=True),
    number("worst_low", "slope over all photos asked, every lost answer against it (Manski), lower end"),
    number("worst_high", "the same, upper end"),
    number("trimmed_low", "the same over the photos answered at the value where most are lost, lower end"),
    number("trimmed_high", "the same, upper end"),
    text("cut", "what counted as present, in words; see fit.presence", null=True),
    number("sd", "standard deviation among photos at the centre of what photo-measure fits; null in other rows"),
    text("measure", "in the row to read: presence, log-odds, score or value, see fit.measures; else null", null=True),
    column("expected", pa.bool_(), "whether the label names the attribute, see core.expected; or null", null=True),
)

COUNTS = [
    whole("n", "photos answered at all K values"),
    whole("active", "photos with the label at one value at least"),
]
ESTIMATOR = text("estimator", "by name; the slopes table has its unit")


GROUPS = table(
    "groups",
    ("classifier", "attribute", "estimator", "column", "group", "label"),
    CLASSIFIER,
    ATTRIBUTE,
    ESTIMATOR,
    text("column", "of the photos CSV; a + b crosses two"),
    text("group", "the column's value"),
    LABEL,
    *COUNTS,
    number("y_centre", "share of the group's photos with the label at the centre"),
    number("slope", "of the group's photos, in the estimator's unit"),
    number("se", "standard error of the slope"),
    number("p", "two-sided one-sample t, null: the group's mean slope is 0"),
    *ends("ci", "the slope's 95 % t interval"),
    number("q", "p adjusted over the group's labels"),
    NOTE,
    whole("varying", "units of the group whose answers are not the same at all values", null=True),
)

DIFFERENCES = table(
    "differences",
    ("classifier", "attribute", "estimator", "column", "group", "other", "label"),
    CLASSIFIER,
    ATTRIBUTE,
    ESTIMATOR,
    text("column", "of the photos CSV; a + b crosses two"),
    text("group", "the one"),
    text("other", "the other"),
    LABEL,
    number("difference", "slope of group minus slope of other, in the estimator's unit"),
    number("se", "standard error of the difference"),
    number("p", "two-sided Welch t, null: both groups have the same mean slope"),
    number("p_perm", "permutation of membership, the same null; null for photo-z and photo-logodds"),
    number("p_test", "the p that q adjusts: p_perm, or Welch's below its floor or without it"),
    *ends("ci", "the difference's 95 % interval"),
    number("q", "p adjusted over the pair's labels"),
    NOTE,
)

SHAPE = table(
    "shape",
    ("classifier", "attribute", "label"),
    CLASSIFIER,
    ATTRIBUTE,
    LABEL,
    *COUNTS,
    whole("varying", "units (photos, clusters) with the label at some values, not at all"),
    number("slope", "by the label's measure over all values, in its unit"),
    *ends("ci", "its 95 % t interval"),
    number("inner_slope", "the same over the values in [-1, 1] alone"),
    *ends("inner", "its 95 % t interval"),
    number("inner_p", "two-sided one-sample t, null: inner slope 0"),
    number("curvature", "quadratic coefficient, in its unit per unit"),
    *ends("curvature", "its 95 % t interval"),
    number("curvature_p", "two-sided one-sample t, null: no curvature"),
    number("lack_of_fit", "Hotelling's T squared of all departures from a line, as F"),
    number("lack_of_fit_p", "null: the K mean answers lie on a line"),
    number("within", "correlation between a photo's answers at two values"),
    text("reading", "whether the inner range carries the finding"),
)

BALANCE = table(
    "balance",
    ("classifier", "attribute"),
    CLASSIFIER,
    ATTRIBUTE,
    whole("used", "photos answered at all K values"),
    whole("units", "independent units: those photos, or clusters of them"),
    whole("refused", "photos dropped: refused at one value at least"),
    whole("failed", "photos dropped: never refused, failed at one value at least"),
    whole("missing", "photos dropped: not asked about at some value"),
    number("largest", "share of the photos that the largest unit holds"),
    number("effective_units", "units of equal size that would carry as much; below 10 t is not to be trusted"),
    number("refusal_slope", "refused pictures, percentage points per unit of the attribute"),
    *ends("refusal", "its 95 % t interval"),
    number("refusal_p", "two-sided one-sample t, null: refusals do not depend on the value"),
    text("warning", "what a reader must know first; empty if nothing", null=True),
)

PLACEBOS = table(
    "placebos",
    ("classifier", "attribute", "estimator", "placebo", "label"),
    CLASSIFIER,
    ATTRIBUTE,
    ESTIMATOR,
    text("placebo", "kind of placebo sweep: same, light or random"),
    LABEL,
    whole("n", "photos answered at all values of both sweeps"),
    whole("varying", "units whose two slopes differ"),
    number("slope", "of the edit over those photos, in the estimator's unit"),
    number("placebo_slope", "of the placebo over the same photos"),
    number("difference", "slope minus placebo_slope, paired photo by photo"),
    number("se", "standard error of the difference"),
    *ends("ci", "the difference's 95 % t interval"),
    number("p", "one-sample t over units, null: edit and placebo have the same slope; see fit.decision"),
    number("p_perm", "the same null, by changing the signs of the units' differences"),
    NOTE,
)

REFUSALS = table(
    "refusals",
    ("classifier", "attribute", "step"),
    CLASSIFIER,
    ATTRIBUTE,
    STEP,
    VALUE,
    whole("asked", "pictures asked about at this value"),
    whole("answered", "of them, those answered"),
    whole("refused", "of them, those refused"),
    whole("failed", "of them, those that failed"),
    number("lost", "share of the pictures asked about that has no answer"),
)

REACH = table(
    "reach",
    ("classifier", "attribute", "estimator", "reading", "column", "group", "label"),
    CLASSIFIER,
    ATTRIBUTE,
    ESTIMATOR,
    text("reading", "what the independent reader reads"),
    text("column", "of the photos CSV; empty for all photos"),
    text("group", "the column's value; empty for all photos"),
    LABEL,
    whole("n", "photos answered at all values and read at all values"),
    number("slope", "mean slope of the label over those photos, in the estimator's unit"),
    number("reach", "mean slope of the reader's log-odds per unit of the attribute"),
    *ends("reach", "its 95 % t interval"),
    number("ratio", "slope / reach: per unit of the reader's log-odds"),
    *ends("ratio", "Fieller's 95 % interval"),
    text("note", "why there is no ratio, if there is none"),
)

GATING = table(
    "gating",
    ("classifier", "attribute", "estimator", "label"),
    CLASSIFIER,
    ATTRIBUTE,
    ESTIMATOR,
    LABEL,
    whole("n", "photos of the gated estimate"),
    whole("dropped", "sweeps that the gate dropped"),
    whole("sampled", "of them, those that the classifier was asked about"),
    number("kept", "share of sweeps that the gate kept"),
    number("gated", "slope over the kept sweeps, in the estimator's unit"),
    *ends("gated", "its 95 % interval"),
    number("ungated", "slope over all sweeps, the dropped ones from their sample"),
    *ends("ungated", "its 95 % interval"),
    text("note", "what to make of the difference; empty if nothing"),
)

ERROR_HEAD = (
    CLASSIFIER,
    ATTRIBUTE,
    text("column", "of the photos CSV, which says what is true"),
    text("label", "the true label, or: all labels"),
    text("measure", "error, miss or false alarm, see fit.truth"),
    whole("n", "photos that it is about, answered at all values, whose truth is known"),
)

ERROR_RATES = table(
    "error_rates",
    ("classifier", "attribute", "column", "label", "measure", "step"),
    *ERROR_HEAD,
    STEP,
    VALUE,
    whole("wrong", "of them, those with a wrong answer at this value"),
    number("rate", "wrong / n"),
    *ends("ci", "the rate's 95 % interval, Wilson's over photos or clusters"),
)

ERROR_SLOPES = table(
    "error_slopes",
    ("classifier", "attribute", "column", "label", "measure"),
    *ERROR_HEAD,
    whole("varying", "units (photos, clusters) that are wrong at some values, not at all"),
    number("centre", "rate at the centre"),
    number("slope", "of the rate, percentage points per unit of the attribute; above 0: more errors towards the end +"),
    number("se", "standard error of the slope"),
    *ends("ci", "the slope's 95 % t interval"),
    number("p", "two-sided one-sample t, null: errors do not depend on the value"),
    number("q", "p adjusted over the classifier's rows along the attribute"),
    number("q_placebo", "largest p of the own test and of every placebo difference, adjusted alike"),
    text("decision", "finding, placebo, open, none or unjudged; see fit.decision; null along a placebo", null=True),
    text("reason", "code of why it is no finding; empty if it is one", null=True),
    number("away", "of the rate, percentage points per unit of distance from the centre"),
    *ends("away", "its 95 % t interval"),
    number("away_p", "two-sided one-sample t, null: errors do not depend on the distance"),
    NOTE,
)

OBSERVED = table(
    "observed",
    ("classifier", "attribute", "column", "group", "other", "label"),
    CLASSIFIER,
    ATTRIBUTE,
    text("column", "of the photos CSV; a + b crosses two"),
    text("group", "the one; of the two the reader sees it nearer the attribute's end +, if it read them"),
    text("other", "the other"),
    LABEL,
    text("measure", "presence, log-odds, score or value: the label's own, see fit.measures"),
    whole("n", "photos of the group, answered unedited and at all values"),
    whole("n_other", "the same of the other"),
    number("mean", "of the group's unedited photos: % with the label, or the mean of its measure"),
    number("mean_other", "the same of the other"),
    number("observed", "mean minus mean_other: percentage points, or the measure's unit"),
    *ends("ci", "its 95 % interval: Newcombe's of shares, Welch's t of means"),
    number("p", "two-sided Welch t, null: both groups have the same mean"),
    number("q", "p adjusted over the pair's labels"),
    number("slope", "of the label over these photos, by its measure, per unit of the attribute"),
    number("distance", "between the groups, in the reader's log-odds, in the unedited photos"),
    *ends("distance", "its 95 % Welch t interval"),
    number("explained", "slope / reach x distance: what the edits explain of the observed difference, in its unit"),
    *ends("explained", "its 95 % t interval, linearised"),
    number("share", "explained / observed; null where one of its parts may be 0"),
    *ends("share", "Fieller's 95 % interval"),
    text("agreement", "same sign, opposite signs, observed only, edit only, neither; empty where it cannot be said"),
    NOTE,
)

READING, MEASURED = "photo-rate", "photo-measure"
"""Estimators to read: of labels judged by presence, and of those judged by their number; see ``fit.measures``."""


def reading(slopes: pd.DataFrame) -> pd.DataFrame:
    """The row of each label that is to be read: by its measure, or, of tables without one, by photo-rate.

    slopes: with the columns of ``SLOPES``.
    """
    if "measure" in slopes and slopes["measure"].notna().any():
        return slopes[slopes["measure"].notna()]
    return slopes[slopes["estimator"] == READING]
