"""The tables of the fit: slopes and what stands beside them."""

from __future__ import annotations

import pyarrow as pa

from gslopes.core.tables.schema import ATTRIBUTE, CLASSIFIER, LABEL, Table, column, number

SLOPES = Table(
    "slopes",
    pa.schema(
        [
            CLASSIFIER,
            ATTRIBUTE,
            LABEL,
            column("n", pa.int64(), "photos answered at all K values"),
            column("active", pa.int64(), "photos with the label at one value at least"),
            column("y_centre", pa.float64(), "share of photos with the label at the centre"),
            column("slope", pa.float64(), "change of y/y_centre per unit of the attribute", null=True),
            column("intercept", pa.float64(), "y/y_centre at value 0 on the fitted line", null=True),
            column("se", pa.float64(), "standard error of the slope", null=True),
            column("t", pa.float64(), "slope / se", null=True),
            column("p", pa.float64(), "two-sided, t with K-2 degrees of freedom, null: slope 0", null=True),
            column("ci_low", pa.float64(), "lower end of the slope's 95 % interval", null=True),
            column("ci_high", pa.float64(), "upper end of the slope's 95 % interval", null=True),
            column("p_perm", pa.float64(), "permutation within photos; null if not run", null=True),
            column("q", pa.float64(), "p adjusted over the classifier's labels", null=True),
            column("estimator", pa.string(), "paper, or another one by name"),
            column("unit", pa.string(), "of slope, intercept, se and all intervals", null=True),
            column("boot_low", pa.float64(), "95 % percentile bootstrap over units, lower end", null=True),
            column("boot_high", pa.float64(), "95 % percentile bootstrap over units, upper end", null=True),
            column("bca_low", pa.float64(), "95 % BCa bootstrap over units, lower end", null=True),
            column("bca_high", pa.float64(), "95 % BCa bootstrap over units, upper end", null=True),
            column("p_max", pa.float64(), "max-T over the classifier's labels, from permutations", null=True),
            column("agreement", pa.string(), "p and p_perm below alpha: both, paper only, ...", null=True),
            column("note", pa.string(), "why there is no test, if there is none", null=True),
            column(
                "varying",
                pa.int64(),
                "units (photos, clusters) whose answers are not the same at all values",
                null=True,
            ),
            number("p_test", "the p that q adjusts"),
            column("p_source", pa.string(), "of p_test: permutation, t or t below the permutations' floor", null=True),
            number("q_placebo", "largest p of the own test and of every placebo difference, adjusted over the labels"),
            column("decision", pa.string(), "finding, placebo, open, none or unjudged; see fit.decision", null=True),
            column("reason", pa.string(), "code of why it is no finding; empty if it is one", null=True),
            column("detail", pa.string(), "the same with its numbers", null=True),
            number("worst_low", "slope over all photos asked, every lost answer against it (Manski), lower end"),
            number("worst_high", "the same, upper end"),
            number(
                "trimmed_low", "slope of the photos answered at every value, if refusals are monotone (Lee), lower end"
            ),
            number("trimmed_high", "the same, upper end"),
            column("cut", pa.string(), "what counted as present, in words; see fit.presence", null=True),
            number("slope_lower", "slope at a lower cut; see fit.sensitivity; null where there is no cut"),
            number("slope_higher", "the same, at a higher cut"),
        ]
    ),
    ("classifier", "attribute", "estimator", "label"),
)

COUNTS = [
    column("n", pa.int64(), "photos answered at all K values"),
    column("active", pa.int64(), "photos with the label at one value at least"),
]
ESTIMATOR = column("estimator", pa.string(), "by name; the slopes table has its unit")


GROUPS = Table(
    "groups",
    pa.schema(
        [
            CLASSIFIER,
            ATTRIBUTE,
            ESTIMATOR,
            column("column", pa.string(), "of the photos CSV; a + b crosses two"),
            column("group", pa.string(), "the column's value"),
            LABEL,
            *COUNTS,
            number("y_centre", "share of the group's photos with the label at the centre"),
            number("slope", "of the group's photos, in the estimator's unit"),
            number("se", "standard error of the slope"),
            number("p", "two-sided one-sample t, null: the group's mean slope is 0"),
            number("ci_low", "lower end of the slope's 95 % t interval"),
            number("ci_high", "upper end of the slope's 95 % t interval"),
            number("q", "p adjusted over the group's labels"),
            column("note", pa.string(), "why there is no test, if there is none"),
            column("varying", pa.int64(), "units of the group whose answers are not the same at all values", null=True),
        ]
    ),
    ("classifier", "attribute", "estimator", "column", "group", "label"),
)

DIFFERENCES = Table(
    "differences",
    pa.schema(
        [
            CLASSIFIER,
            ATTRIBUTE,
            ESTIMATOR,
            column("column", pa.string(), "of the photos CSV; a + b crosses two"),
            column("group", pa.string(), "the one"),
            column("other", pa.string(), "the other"),
            LABEL,
            number("difference", "slope of group minus slope of other, in the estimator's unit"),
            number("se", "standard error of the difference"),
            number("p", "two-sided Welch t, null: both groups have the same mean slope"),
            number("p_perm", "permutation of membership, the same null; null for photo-z and photo-logodds"),
            number("ci_low", "lower end of the difference's 95 % interval"),
            number("ci_high", "upper end of the difference's 95 % interval"),
            number("q", "p adjusted over the pair's labels"),
            column("note", pa.string(), "why there is no test, if there is none"),
        ]
    ),
    ("classifier", "attribute", "estimator", "column", "group", "other", "label"),
)

SHAPE = Table(
    "shape",
    pa.schema(
        [
            CLASSIFIER,
            ATTRIBUTE,
            LABEL,
            *COUNTS,
            column("varying", pa.int64(), "units (photos, clusters) with the label at some values, not at all"),
            number("slope", "photo-rate over all values, percentage points per unit"),
            number("ci_low", "lower end of its 95 % t interval"),
            number("ci_high", "upper end of its 95 % t interval"),
            number("inner_slope", "photo-rate over the values in [-1, 1] alone"),
            number("inner_low", "lower end of its 95 % t interval"),
            number("inner_high", "upper end of its 95 % t interval"),
            number("inner_p", "two-sided one-sample t, null: inner slope 0"),
            number("curvature", "quadratic coefficient, percentage points per unit squared"),
            number("curvature_low", "lower end of its 95 % t interval"),
            number("curvature_high", "upper end of its 95 % t interval"),
            number("curvature_p", "two-sided one-sample t, null: no curvature"),
            number("lack_of_fit", "Hotelling's T squared of all departures from a line, as F"),
            number("lack_of_fit_p", "null: the K mean answers lie on a line"),
            number("within", "correlation between a photo's answers at two values"),
            column("reading", pa.string(), "whether the inner range carries the finding"),
        ]
    ),
    ("classifier", "attribute", "label"),
)

JOINT = Table(
    "joint",
    pa.schema(
        [
            CLASSIFIER,
            column("attribute", pa.string(), "the one"),
            column("other", pa.string(), "the other"),
            LABEL,
            *COUNTS,
            number("slope", "photo-rate along attribute, percentage points per unit"),
            number("slope_other", "photo-rate along other, percentage points per unit"),
            number("correlation", "over photos, of a photo's two slopes"),
            number("difference", "slope minus slope_other"),
            number("ci_low", "lower end of the difference's 95 % paired t interval"),
            number("ci_high", "upper end of the difference's 95 % paired t interval"),
            number("t_squared", "Hotelling's T squared of both slopes, as F"),
            number("p", "null: both mean slopes are 0"),
            number("q", "p adjusted over the classifier's labels"),
            column("note", pa.string(), "why there is no test, if there is none"),
        ]
    ),
    ("classifier", "attribute", "other", "label"),
)

BALANCE = Table(
    "balance",
    pa.schema(
        [
            CLASSIFIER,
            ATTRIBUTE,
            column("used", pa.int64(), "photos answered at all K values"),
            column("units", pa.int64(), "independent units: those photos, or clusters of them"),
            column("refused", pa.int64(), "photos dropped: refused at one value at least"),
            column("failed", pa.int64(), "photos dropped: never refused, failed at one value at least"),
            column("missing", pa.int64(), "photos dropped: not asked about at some value"),
            number("largest", "share of the photos that the largest unit holds"),
            number("effective_units", "units of equal size that would carry as much; below 10 t is not to be trusted"),
            number("refusal_slope", "refused pictures, percentage points per unit of the attribute"),
            number("refusal_low", "lower end of its 95 % t interval"),
            number("refusal_high", "upper end of its 95 % t interval"),
            number("refusal_p", "two-sided one-sample t, null: refusals do not depend on the value"),
            column("warning", pa.string(), "what a reader must know first; empty if nothing", null=True),
        ]
    ),
    ("classifier", "attribute"),
)
