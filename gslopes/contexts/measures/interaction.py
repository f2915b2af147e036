"""The controlled version, by counterfactuals of each person in each context: does context or face move answers more?"""

import math

import numpy as np
import pandas as pd

from gslopes.contexts.measures.describe import means_of
from gslopes.contexts.measures.paired import ALIKE, FEW, RARE, noted
from gslopes.contexts.tables import filled
from gslopes.core.arrays import Array, Integers
from gslopes.core.tables import Row
from gslopes.stats.intervals import mean_t
from gslopes.stats.ols import line_slopes
from gslopes.stats.rounding import levelled, settled

CANVAS = "canvas"


def interaction_table(
    described: pd.DataFrame, values: Array, people: pd.DataFrame, attribute: str = "gender"
) -> pd.DataFrame:
    """Rows of the ``interaction`` table without q: slopes on the plain canvas and in front of each background.

    Estimator: mean over people of the slope of presence on the value, in points per unit (``photo-rate``), over
    people answered at all K values under both conditions.  difference: of the two slopes, paired by person; interval
    and p of its t.  context: what the background itself does at the middle value, in
    points, with its paired interval.  Null hypotheses: the context does not move the slope; it does not move the
    answer.  What fewer than ten people show has neither interval nor p.

    described: rows of one classifier and kind of tags.  values: (K,).  people: the table of that name.
    """
    rows = described[
        described["attribute"].str.endswith(f"~{attribute}")
        & described["photo"].isin(people["photo"])
    ]
    if rows.empty:
        return pd.DataFrame()
    photos = sorted(set(rows["photo"]))
    backgrounds = sorted({name.partition("~")[0] for name in set(rows["attribute"])} - {CANVAS})
    at = (
        pd.Index(photos).get_indexer(pd.Index(rows["photo"])),
        pd.Index([CANVAS, *backgrounds]).get_indexer(
            pd.Index(rows["attribute"].str.partition("~")[0])
        ),
        rows["step"].to_numpy(int),
    )
    shape = (len(photos), len(backgrounds) + 1, len(values))
    answered = np.zeros(shape, bool)
    answered[at] = True
    person_of = people.set_index("photo")["person"]
    person = np.unique(person_of[photos].to_numpy(str), return_inverse=True)[1].astype(np.int64)
    made = []
    for label, flags in (
        ("inferred woman", rows["inferred"] == "woman"),
        ("inferred man", rows["inferred"] == "man"),
        ("recognised", rows["recognised"]),
    ):
        present = np.zeros(shape)
        present[at] = flags
        for index, background in enumerate(backgrounds, start=1):
            use = answered[:, [0, index]].all(axis=(1, 2))
            head = {name: str(rows[name].iloc[0]) for name in ("classifier", "tags")}
            row = compare(present[use, 0], present[use, index], values, person[use])
            made.append({**head, "background": background, "label": label, **row})
    return filled("interaction", made)


def compare(canvas: Array, condition: Array, values: Array, person: Integers) -> Row:
    """One label on the canvas and in front of a background.

    canvas, condition: (P, K) of 0 and 1.  person: (P,) codes.
    """
    names, codes = np.unique(person, return_inverse=True)
    middle = len(values) // 2

    def by_person(numbers: Array) -> Array:
        return levelled(means_of(numbers[:, None], codes, len(names)))

    base, slope = (by_person(100 * line_slopes(answers, values)) for answers in (canvas, condition))
    effect = by_person(100 * (condition[:, middle] - canvas[:, middle]))
    shown = ((canvas > 0) | (condition > 0)).any(axis=1)
    rare = len(np.unique(person[shown])) < FEW
    face = mean_t(base)
    row: Row = {"n": len(base)}
    for name, estimate in (("slope", mean_t(slope)), ("baseline", face)):
        row[name], _, row[f"{name}_low"], row[f"{name}_high"], _ = estimate
    row["difference"], se, row["ci_low"], row["ci_high"], row["p"] = mean_t(
        settled(slope - base, np.abs(slope) + np.abs(base))
    )
    row["effect"], _, row["effect_low"], row["effect_high"], row["effect_p"] = mean_t(effect)
    row |= {
        "face": 2 * face.value,
        "face_low": 2 * face.low,
        "face_high": 2 * face.high,
    }  # from value -1 to 1
    row["note"] = noted(RARE * rare, ALIKE * (se == 0))
    if rare:
        row |= {name: math.nan for name in row if name.endswith(("p", "low", "high"))}
    return row
