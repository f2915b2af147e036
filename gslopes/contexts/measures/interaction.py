"""The controlled version, by counterfactuals of each person in each context: does context or face move answers more?"""

import math

import numpy as np
import pandas as pd
from pandas import DataFrame

from gslopes.contexts import filled
from gslopes.contexts.measures import describe, paired
from gslopes.core import Row
from gslopes.core.records import AnyArray, Array
from gslopes.stats import intervals, ols, rounding

CANVAS = "canvas"


def interaction_table(
    described: DataFrame, values: Array, people: DataFrame, attribute: str = "gender"
) -> DataFrame:
    """Rows of the ``interaction`` table without q: slopes on the plain canvas and in front of each background.

    Estimator: mean over people of the slope of presence on the value, in points per unit (``photo-rate``), over
    people answered at all K values under both conditions.  difference: of the two slopes, paired by person; interval
    and p of its t.  context: what the background itself does at the middle value, in
    points, with its paired interval.  Null hypotheses: the context does not move the slope; it does not move the
    answer.  What fewer than ten people show has neither interval nor p.

    described: rows of one classifier and kind of tags.  values: (K,).  people: the table of that name.
    """
    rows = described.query("photo in @people.photo")
    condition = rows["attribute"].str.removesuffix(f"~{attribute}")
    rows = rows.assign(condition=condition)[condition != rows["attribute"]]
    if rows.empty:
        return DataFrame()
    photos = sorted(set(rows["photo"]))
    conditions = [CANVAS, *sorted(set(rows["condition"]) - {CANVAS})]
    cells = (
        pd.Categorical(rows["photo"], photos).codes,
        pd.Categorical(rows["condition"], conditions).codes,
        rows["step"].to_numpy(int),
    )
    answered = np.zeros((len(photos), len(conditions), len(values)), bool)
    answered[cells] = True
    person = people.set_index("photo")["person"][photos].to_numpy(str)
    head = {name: str(rows[name].iloc[0]) for name in ("classifier", "tags")}
    compared = []
    for label, flags in (
        ("inferred woman", rows["inferred"] == "woman"),
        ("inferred man", rows["inferred"] == "man"),
        ("recognised", rows["recognised"]),
    ):
        present = np.zeros(answered.shape)
        present[cells] = flags
        for index, background in enumerate(conditions[1:], 1):
            use = answered[:, [0, index]].all((1, 2))
            row = compare(present[use, 0], present[use, index], values, person[use])
            compared.append({**head, "background": background, "label": label, **row})
    return filled("interaction", compared)


def compare(canvas: Array, condition: Array, values: Array, person: AnyArray) -> Row:
    """One label on the canvas and in front of a background.

    canvas, condition: (P, K) of 0 and 1.  person: (P,) whose photos they are.
    """
    codes = np.unique(person, return_inverse=True)[1]
    middle = len(values) // 2

    def by_person(numbers: Array) -> Array:
        return rounding.levelled(describe.means_of(100 * numbers[:, None], codes))

    base = by_person(ols.line_slopes(canvas, values))
    slope = by_person(ols.line_slopes(condition, values))
    effect = by_person(condition[:, middle] - canvas[:, middle])
    varied = ((canvas > 0) | (condition > 0)).any(1)
    rare = len(np.unique(codes[varied])) < paired.FEW
    most = 50 * float(abs(ols.line_weights(values)).sum())  # the steepest slope of a person
    row: Row = {"n": len(base)}
    numbers = {
        "slope": (slope, most),
        "baseline": (base, most),
        "face": (2 * base, 2 * most),  # from value -1 to 1
        "effect": (effect, 100.0),
        "ci": (rounding.gap(slope, base), 2 * most),
    }
    means = {name: intervals.mean_t(each, (-far, far)) for name, (each, far) in numbers.items()}
    for name, mean in means.items():
        ends = dict.fromkeys(("low", "high", "p"), math.nan) if rare else mean._asdict()
        row |= {name: mean.value, **{f"{name}_{end}": ends[end] for end in ("low", "high", "p")}}
    row |= {"difference": row["ci"], "p": row["ci_p"]}
    return {**row, "note": paired.noted(paired.RARE * rare, paired.ALIKE * (means["ci"].se == 0))}
