"""How much of a slope goes with what else moved: age, smile, light, background, as an independent reader sees them.

Pictures that others made may differ in more than the attribute.  Per label, least squares over all photos and values,
with a level for each photo: slope, of the answer on the value; adjusted, of the answer on the value and the other
readings: the slope if none of them moves; share, 1 - adjusted / slope.  Named is the reading that has the greatest
share if it is the only one.

Intervals are t's over units, corrected for skewness, each unit's influence by leaving it out (jackknife); of the share,
Fieller's: one that takes the slope for known holds too rarely where the slope is weak. There is no share if the slope
is less than ``SURE`` standard errors, nor if the readings move in step with the value, so that the two cannot be
separated: a variance inflation factor above 10 (Marquardt 1970). Then the one most like it is named.

Of our own edits nothing else is regressed on: along race skin darkens in step with the value. If a run also has the
sweep of the tone of skin alone, what goes with tone follows from both: the slope of the measured step along the
attribute, times the tone's slope a step, over the slope; all over the same photos. It takes that a step of tone
moves the answer as much on the attribute's pictures as alone.

It does not show whether the reading is the cause, and nothing of what no reader reads.  Readings err: the share is
rather too small.  Identity and sharpness have no direction in which a label could follow, and are left out.

Sources: Miller 1974, The jackknife, Biometrika 61, 1-15; Marquardt 1970, Technometrics 12, 591-612; Fieller 1954,
Journal of the Royal Statistical Society B 16, 175-185.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from pandas import DataFrame, Series
from scipy import sparse

from gslopes.core import Row
from gslopes.core.geometry import TONE
from gslopes.core.records import Array, Objects, doubles
from gslopes.core.tables import EXPLAINED
from gslopes.faces.gate.verdict import JUDGED
from gslopes.slopes.measures import kinds, reach
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.options import RARE, FitOptions
from gslopes.stats.intervals import Estimate, fieller, linearised, t_quantile
from gslopes.stats.ols import line_slopes
from gslopes.stats.rounding import STORED, highest, settled

SPARE = 10  # units more than readings
# Of a slope that is solved for: what is left of the rounding of answers and readings.
_SOLVED = 2.0**-14
INFLATED = 10.0  # variance inflation factor of the adjusted slope
ALIKE = "moves in step with the attribute: the two cannot be separated"
NOT_APART = "its slope may be 0"
SURE = 3.0  # standard errors of a slope, below which no share of it is told
VAGUE = "cannot be told: the slope is less than three times its standard error"
FEW = "too few units were read"
STILL = "no other reading moves"


def explained_rows(answers: Answers, moved: DataFrame, options: FitOptions) -> DataFrame:
    """Rows of core.tables.EXPLAINED of one classifier and attribute.

    moved: columns photo, attribute, step, reading and score, without the readings of the attribute; probabilities are
        taken as log-odds.
    """
    moved = moved.query("attribute == @answers.attribute")
    odds = moved["reading"].isin(JUDGED)
    moved = moved.assign(score=moved["score"].mask(odds, reach.log_odds(moved["score"])))
    read = moved.pivot(index="photo", columns=["reading", "step"], values="score")
    read = read.reindex(answers.photos)
    complete = read.notna().all(axis=1).to_numpy()
    part = answers.only(complete)
    names, z = _moves(part.values, read[complete], sorted({*moved["reading"]}))
    member = _members(part)
    note = "" if names else STILL
    if member.shape[0] < len(names) + SPARE:
        note = FEW
    # sums over all units, and over all but each: of products within, and per label with its answers
    squares = np.einsum("nkp,nkq->npq", z, z)
    products = member @ squares.reshape(len(z), -1)
    within = _left_out(products.reshape(-1, *squares.shape[1:]))
    inverse = doubles(np.linalg.pinv(within))
    like = np.abs(within[0, 0, 1:]) / np.sqrt(np.diag(within[0])[1:])
    alike = names[highest(like)] if names and within[0, 0, 0] * inverse[0, 0, 0] > INFLATED else ""
    rows = []
    for row, numbers in _by_label(part, part.labels, note, options):
        if not row["note"]:
            has = numbers.any(axis=1)
            of_photo = np.zeros_like(z[:, 0])
            of_photo[has] = np.einsum("nkp,nk->np", z[has], numbers[has])
            of_label = _left_out(doubles(member @ of_photo))
            row |= _attributed(within, inverse[:, 0], of_label, names, alike)
        rows.append(row)
    return _framed(part, rows)


def mediated_rows(answers: Answers, tone: Answers, steps: Series, options: FitOptions) -> DataFrame:
    """Rows of core.tables.EXPLAINED of one classifier and attribute of our own edits: what goes with the tone of skin.

    tone: answers along the tone alone.  steps: photo to the slope of the measured step along the attribute.
    """
    read = np.intersect1d(steps.index, tone.photos)
    part = answers.among(read)
    alone = replace(tone.among(part.photos), measures=part.measures)
    labels = np.union1d(part.labels, alone.labels)
    member = _members(part)
    note = FEW if member.shape[0] < SPARE else ""

    def mean(of_photos: Array) -> Array:
        columns = np.column_stack([of_photos, np.ones(len(of_photos))])
        sums, counts = _left_out(doubles(member @ columns)).T
        return sums / counts

    rows = []
    both = zip(
        _by_label(part, labels, note, options), _by_label(alone, labels, "", options), strict=True
    )
    for (row, along), (_, by_tone) in both:
        if not row["note"]:
            slopes = mean(line_slopes(along, part.values))
            moves = mean(steps.loc[part.photos.tolist()].to_numpy(float))
            row |= _shared(slopes, slopes - moves * mean(line_slopes(by_tone, alone.values)))
        if "share" in row:
            row |= {"reading": TONE, "most": row["share"]}
        rows.append(row)
    frame = _framed(part, rows)
    return frame.query("label in @part.labels")


def _members(part: Answers) -> sparse.csr_array:
    """(units, n) 1 where a photo belongs to a unit."""
    n = len(part.photos)
    shape = int(part.codes.max(initial=-1)) + 1, n
    return sparse.csr_array((np.ones(n), (part.codes, np.arange(n))), shape)


def _by_label(
    part: Answers, labels: Objects, note: str, options: FitOptions
) -> Iterator[tuple[Row, Array]]:
    """The beginning of each label's row, and its answers by its measure, (n, K).  note: on all of them."""
    by_step = [
        kinds.answers_by_measure(part.at_step(k), labels).sums for k in range(len(part.values))
    ]
    measures = part.measures_of(labels)
    for index, label in enumerate(labels):
        numbers = np.zeros((len(part.photos), len(by_step)))
        for column, sums in zip(numbers.T, by_step, strict=True):
            cells = slice(*sums.indptr[index : index + 2])
            column[sums.indices[cells]] = sums.data[cells]
        rare = int((np.ptp(numbers, 1) > 0).sum()) < options.min_varying
        row = {"label": label, "measure": measures[index], "note": RARE if rare else note}
        yield row, numbers


def _framed(part: Answers, rows: list[Row]) -> DataFrame:
    frame = DataFrame(rows, columns=EXPLAINED.columns, dtype=object).fillna({"reading": ""})
    return frame.assign(classifier=part.classifier, attribute=part.attribute, n=len(part.photos))


def _moves(values: Array, read: DataFrame, names: list[str]) -> tuple[list[str], Array]:
    """Names of the readings that move, and (n, K, 1 + readings) the value and these, less each photo's mean.

    Readings are in units of their spread.
    """
    n = len(read)
    z = np.array(
        [np.broadcast_to(values, (n, len(values))), *(read[name].to_numpy(float) for name in names)]
    )
    level = z.mean(2, keepdims=True)
    z = np.moveaxis(settled(z - level, np.abs(z) + np.abs(level), STORED), 0, 2)
    spread = np.zeros(1 + len(names))
    if n:
        spread = np.sqrt(np.square(z).mean((0, 1)))
    wide = spread > 0
    z = z[:, :, wide]
    z[:, :, 1:] /= spread[wide][1:]
    return np.array(names)[wide[1:]].tolist(), z


def _left_out(products: Array) -> Array:
    """(1 + U, ...) the sum over all units, and over all but each.  products: (U, ...)."""
    return products.sum(0) - np.concatenate([np.zeros_like(products[:1]), products])


def _attributed(
    within: Array,
    inverse: Array,
    answers: Array,
    names: list[str],
    alike: str,
) -> Row:
    """The columns of one label; its answers, (1 + U, 1 + readings), as the rest.

    inverse: (1 + U, 1 + readings), its first rows.  alike: a reading, or empty.
    """
    fitted = np.einsum("uq,uq->u", inverse, answers)
    slopes = answers[:, 0] / within[:, 0, 0]
    row = _shared(slopes, fitted)
    if alike and row.get("note") != NOT_APART:
        return {"slope": row["slope"], "reading": alike, "note": ALIKE}
    if "share" not in row:
        return row
    squares = np.diag(within[0])[1:]
    shared = within[0, 0, 1:]
    rest = answers[0, 0] - shared * answers[0, 1:] / squares
    by_one = 1 - rest / (within[0, 0, 0] - shared**2 / squares) / row["slope"]
    return row | {"reading": names[highest(by_one)], "most": float(by_one.max())}


def _shared(slopes: Array, fitted: Array) -> Row:
    """The columns of one label but for the reading.

    slopes, fitted: (1 + U,) of all units, and of all but each: the slope, and the adjusted one.
    """
    slope = _jackknifed(slopes, slopes[0])
    adjusted = _jackknifed(fitted, slopes[0])
    row = {
        "slope": slope.value,
        "adjusted": adjusted.value,
        "adjusted_low": adjusted.low,
        "adjusted_high": adjusted.high,
    }
    if not slope.low * slope.high > 0:
        return row | {"note": NOT_APART}
    if not abs(slope.value) > SURE * slope.se:
        return row | {"note": VAGUE}
    share = _ratio(settled(slopes - fitted, np.abs(slopes) + np.abs(fitted), _SOLVED), slopes)
    return row | dict(zip(("share", "share_low", "share_high"), share, strict=True))


def _ratio(top: Array, bottom: Array) -> tuple[float, float, float]:
    """A ratio with Fieller's interval.  top, bottom: (1 + U,) of all units, and of all but each."""
    freedom = len(top) - 2
    (spread, shared), (_, of_bottom) = freedom * np.cov(top[1:], bottom[1:], ddof=0)
    limit = float(t_quantile(freedom))
    low, high = fieller(top[0], bottom[0], spread, of_bottom, shared, limit)
    return top[0] / bottom[0], float(low), float(high)


def _jackknifed(values: Array, size: float) -> Estimate:
    """values: (1 + U,) of all units, and of all but each.  size: of what they were computed from."""
    units = len(values) - 1
    moves = (values[1:].mean() - values[1:]) * (units - 1) / units
    return linearised(float(settled(values[0], size, _SOLVED)), moves, size / units, _SOLVED)
