"""How much of a slope goes with what else moved: age, smile, light, background, as an independent reader sees them.

Pictures that others made may differ in more than the attribute.  Per label, least squares over all photos and values,
each photo with its own level: slope, of the answer on the value; adjusted, of the answer on the value and the other
readings: the slope where none of them moves; share, 1 - adjusted / slope.  Named is the reading that has the greatest
share if it is the only one.

Intervals are t's over units, corrected for skewness, each unit's influence by leaving it out (jackknife). There is no
share where the slope's own interval contains 0, nor where the readings move in step with the value, so that the two
cannot be separated: a variance inflation factor above 10 (Marquardt 1970). Then the one most like it is named.

It does not say whether the reading is the cause, and nothing of what no reader reads.  Readings err: the share is
rather too small.  Identity and sharpness have no direction in which a label could follow, and are left out.

Sources: Miller 1974, The jackknife, Biometrika 61, 1-15; Marquardt 1970, Technometrics 12, 591-612.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from gslopes.core.arrays import Array
from gslopes.core.tables import EXPLAINED
from gslopes.faces.gate.verdict import JUDGED
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.kinds import answers_by_measure
from gslopes.slopes.measures.options import RARE, FitOptions
from gslopes.slopes.measures.reach import log_odds
from gslopes.stats.clusters import codes_of
from gslopes.stats.intervals import Estimate, linearised
from gslopes.stats.rounding import STORED, highest, settled

SPARE = 10  # units more than readings
_SOLVED = (
    2.0**-14
)  # of a slope that is solved for: what is left of the rounding of answers and readings
INFLATED = 10.0  # variance inflation factor of the adjusted slope
ALIKE = "moves in step with the attribute: the two cannot be separated"
NOT_APART = "its slope may be 0"
FEW = "too few units were read"
STILL = "no other reading moves"


def explained_rows(answers: Answers, moved: pd.DataFrame, options: FitOptions) -> pd.DataFrame:
    """Rows of core.tables.EXPLAINED of one classifier and attribute.

    moved: columns photo, attribute, step, reading and score, without the readings of the attribute; probabilities are
        taken as log-odds.
    """
    count = len(answers.values)
    moved = moved[moved["attribute"] == answers.attribute]
    moved = moved.assign(
        score=moved["score"].mask(moved["reading"].isin(JUDGED), log_odds(moved["score"]))
    )
    read = moved.pivot(index="photo", columns=["reading", "step"], values="score").reindex(
        answers.photos
    )
    whole = read.notna().all(axis=1).to_numpy()
    part = answers.only(whole)
    n = int(whole.sum())
    names = sorted(set(moved["reading"]))
    z = np.array(
        [
            np.broadcast_to(part.values, (n, count)),
            *(read.loc[whole, name].to_numpy(float) for name in names),
        ]
    )
    level = z.mean(axis=2, keepdims=True)
    z = np.moveaxis(
        settled(z - level, np.abs(z) + np.abs(level), STORED), 0, 2
    )  # (n, K, 1 + readings)
    spread = np.sqrt(np.square(z).mean(axis=(0, 1))) if n else np.zeros(1 + len(names))
    wide = spread > 0
    z = z[:, :, wide]
    names = [name for name, kept in zip(names, wide[1:], strict=True) if kept]
    z[:, :, 1:] /= spread[wide][1:]
    units = codes_of(part.units, n)
    member = sparse.csr_array((np.ones(n), (units, np.arange(n))))
    steps = [
        replace(part, present=part.present[:, [k]], score=part.score[:, [k]]) for k in range(count)
    ]
    each = [answers_by_measure(step, part.labels).sums for step in steps]
    note = FEW if member.shape[0] < len(names) + SPARE else "" if names else STILL
    # sums over all units, and over all but each: of products within, and per label with its answers
    products = np.einsum("un,npq->upq", member.toarray(), np.einsum("nkp,nkq->npq", z, z))
    within = products.sum(axis=0) - np.concatenate([np.zeros_like(products[:1]), products])
    inverse = np.linalg.pinv(within)
    like = np.abs(within[0, 0, 1:]) / np.sqrt(np.diag(within[0])[1:])
    alike = names[highest(like)] if names and within[0, 0, 0] * inverse[0, 0, 0] > INFLATED else ""
    rows: list[dict[str, Any]] = []
    for place, label in enumerate(part.labels.tolist()):
        numbers = np.stack([step[[place]].toarray()[0] for step in each], axis=1)
        rare = int((np.ptp(numbers, axis=1) > 0).sum()) < options.min_varying
        row = {
            "label": label,
            "measure": part.measures.get(label, "presence"),
            "note": RARE if rare else note,
        }
        if not rare and not note:
            products = member @ np.einsum("nkp,nk->np", z, numbers)
            row |= _attributed(
                within,
                inverse,
                products.sum(axis=0) - np.pad(products, ((1, 0), (0, 0))),
                names,
                alike,
            )
        rows.append(row)
    frame = pd.DataFrame(rows, columns=EXPLAINED.columns, dtype=object).fillna({"reading": ""})
    return frame.assign(classifier=answers.classifier, attribute=answers.attribute, n=n)


def _attributed(
    within: Array, inverse: Array, answers: Array, names: list[str], alike: str
) -> dict[str, Any]:
    """The columns of one label; its answers, (1 + U, 1 + readings), as the rest.  alike: a reading, or empty."""
    fitted = np.einsum("upq,uq->up", inverse, answers)
    alone = answers[:, 0] / within[:, 0, 0]
    parts = (alone, alone[0]), (fitted[:, 0], alone[0]), (1 - fitted[:, 0] / alone, 1.0)
    slope, adjusted, share = (_jackknifed(*part) for part in parts)
    row = {
        "slope": slope.value,
        "adjusted": adjusted.value,
        "adjusted_low": adjusted.low,
        "adjusted_high": adjusted.high,
    }
    if not slope.low * slope.high > 0:
        return row | {"note": NOT_APART}
    if alike:
        return {"slope": slope.value, "reading": alike, "note": ALIKE}
    own = np.diag(within[0])[1:]
    both = within[0, 0, 1:]
    lone = (
        1
        - (answers[0, 0] - both * answers[0, 1:] / own)
        / (within[0, 0, 0] - both**2 / own)
        / slope.value
    )
    row |= {"share": share.value, "share_low": share.low, "share_high": share.high}
    return row | {"reading": names[highest(lone)], "most": float(lone.max())}


def _jackknifed(values: Array, size: float) -> Estimate:
    """values: (1 + U,) of all units, and of all but each.  size: of what they were computed from."""
    units = len(values) - 1
    moves = (values[1:].mean() - values[1:]) * (units - 1) / units
    return linearised(float(settled(values[0], size, _SOLVED)), moves, size / units, _SOLVED)
