"""The tables that stand beside the slopes: placebos, refusals, slopes per unit of what is seen, gated and ungated."""

from __future__ import annotations

import pyarrow as pa

from gslopes.core.tables.fitted import ESTIMATOR
from gslopes.core.tables.schema import ATTRIBUTE, CLASSIFIER, LABEL, STEP, VALUE, Table, column, number

PLACEBOS = Table(
    "placebos",
    pa.schema(
        [
            CLASSIFIER,
            ATTRIBUTE,
            ESTIMATOR,
            column("placebo", pa.string(), "kind of placebo sweep: same, light or random"),
            LABEL,
            column("n", pa.int64(), "photos answered at all values of both sweeps"),
            column("varying", pa.int64(), "units whose two slopes differ"),
            number("slope", "of the edit over those photos, in the estimator's unit"),
            number("placebo_slope", "of the placebo over the same photos"),
            number("difference", "slope minus placebo_slope, paired photo by photo"),
            number("se", "standard error of the difference"),
            number("ci_low", "lower end of the difference's 95 % t interval"),
            number("ci_high", "upper end of the difference's 95 % t interval"),
            number("p", "one-sample t over units, null: edit and placebo have the same slope; see fit.decision"),
            number("p_perm", "the same null, by changing the signs of the units' differences"),
            column("note", pa.string(), "why there is no test, if there is none"),
        ]
    ),
    ("classifier", "attribute", "estimator", "placebo", "label"),
)

REFUSALS = Table(
    "refusals",
    pa.schema(
        [
            CLASSIFIER,
            ATTRIBUTE,
            STEP,
            VALUE,
            column("asked", pa.int64(), "pictures asked about at this value"),
            column("answered", pa.int64(), "of them, those answered"),
            column("refused", pa.int64(), "of them, those refused"),
            column("failed", pa.int64(), "of them, those that failed"),
            number("lost", "share of the pictures asked about that has no answer"),
        ]
    ),
    ("classifier", "attribute", "step"),
)

REACH = Table(
    "reach",
    pa.schema(
        [
            CLASSIFIER,
            ATTRIBUTE,
            ESTIMATOR,
            column("reading", pa.string(), "what the independent reader reads"),
            column("column", pa.string(), "of the photos CSV; empty for all photos"),
            column("group", pa.string(), "the column's value; empty for all photos"),
            LABEL,
            column("n", pa.int64(), "photos answered at all values and read at all values"),
            number("slope", "mean slope of the label over those photos, in the estimator's unit"),
            number("reach", "mean slope of the reader's log-odds per unit of the attribute"),
            number("reach_low", "lower end of its 95 % t interval"),
            number("reach_high", "upper end of its 95 % t interval"),
            number("ratio", "slope / reach: per unit of the reader's log-odds"),
            number("ratio_low", "lower end of Fieller's 95 % interval"),
            number("ratio_high", "upper end of Fieller's 95 % interval"),
            column("note", pa.string(), "why there is no ratio, if there is none"),
        ]
    ),
    ("classifier", "attribute", "estimator", "reading", "column", "group", "label"),
)

GATING = Table(
    "gating",
    pa.schema(
        [
            CLASSIFIER,
            ATTRIBUTE,
            ESTIMATOR,
            LABEL,
            column("n", pa.int64(), "photos of the gated estimate"),
            column("dropped", pa.int64(), "sweeps that the gate dropped"),
            column("sampled", pa.int64(), "of them, those that the classifier was asked about"),
            number("kept", "share of sweeps that the gate kept"),
            number("gated", "slope over the kept sweeps, in the estimator's unit"),
            number("gated_low", "lower end of its 95 % interval"),
            number("gated_high", "upper end of its 95 % interval"),
            number("crossfit", "slope with each half of the values fitted on photos gated on the other half"),
            number("crossfit_low", "lower end of its 95 % interval"),
            number("crossfit_high", "upper end of its 95 % interval"),
            number("ungated", "slope over all sweeps, the dropped ones from their sample"),
            number("ungated_low", "lower end of its 95 % interval"),
            number("ungated_high", "upper end of its 95 % interval"),
            column("note", pa.string(), "what to make of the difference; empty if nothing"),
        ]
    ),
    ("classifier", "attribute", "estimator", "label"),
)
