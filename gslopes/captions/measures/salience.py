"""S2: objects rightly mentioned or not, with size and place held fixed.

Source: Wang et al. 2022, after Berg et al. 2012, for the question and for ``fit_published``, whose ridge over all
columns pulls the coefficient towards 0 and whose interval over splits is not a sampling interval. Estimator, interval
and p otherwise are ours, by double selection and a score test.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil, hypot, isnan, nan, sqrt
from typing import NamedTuple

import numpy as np

from gslopes.captions.config import AuditOptions
from gslopes.captions.measures.rows import Recorder, rank
from gslopes.captions.stimuli.corpus import Instance, Pair
from gslopes.core import Row, hexdigest
from gslopes.core.records import Array, Flags, doubles
from gslopes.core.tables import ends
from gslopes.stats import clusters, multiplicity, resampling, rounding
from gslopes.stats.logistic import choose_columns, fit_ridge, informative_units, score_interval

RIDGE = 1.0
VALID = 0.9  # as published: penalty, and share of the splits of which more must count
CLOSE = 0.003  # how near a split's fit comes to its optimum, see ``fit_ridge``
SHOWN = 3  # images of each group with the mention, and without, that a finding comes with
EXPECTED = 5  # images that must be expected in each cell of group by mentioned
IMAGES_A_COLUMN = 10  # of the rarer answer, for each column of another type that is held fixed
GROUP_LEVEL = 0.01
MENTION_LEVEL = 0.05  # of choosing a column for the group, and any column for the mention


class Salience(NamedTuple):
    """One type and pair, in the columns of the salience table.

    coefficient: of the group, log odds.  ci_low, ci_high, p: by the score test; NaN as published.  held: columns of
    other types that were held fixed.  eligible: an interval is given, else ``note`` tells why not.
    Only as published: valid, splits whose training part has both answers.  splits: (valid,) coefficients.  accuracy:
    mean over splits, of the test parts.
    """

    n: int
    mentioned: int
    eligible: bool
    coefficient: float = nan
    ci_low: float = nan
    ci_high: float = nan
    p: float = nan
    held: int | None = None
    note: str = ""
    valid: int | None = None
    splits: Array = np.empty(0)
    accuracy: float = nan


def fit(
    features: Array,
    tested: int,
    group: Array,
    mentioned: Flags,
) -> Salience:
    """The coefficient of the group in a logistic regression of being mentioned.

    Held fixed: the type's own size and place, always; of the other types' sizes, places and presences those that go
    with the group (p < 0.01) or with the mention (p < 0.05 over all of them), at most one for every ten images of the
    rarer answer.  Interval and p: the score test over images, inverted.  Null hypothesis: the coefficient
    is 0.  A column that goes with both but too weakly to be chosen still pulls the coefficient.

    features: (n, 2 T) as of ``layout``.  tested: the type's place among the T.  group: (n,) +½ or −½.  mentioned: (n,).
    """
    n = len(group)
    y = doubles(mentioned)
    counts = (n, int(y.sum()))
    sizes, places = np.hsplit(features, 2)
    design = np.column_stack(
        [np.ones(n), _standard(features[:, [tested, tested + sizes.shape[1]]])]
    )
    if why := _constant(mentioned) or _lacking(design, group, y):
        return Salience(*counts, False, note=why)
    candidates = _standard(
        np.delete(np.stack([sizes, places, sizes > 0], 2), tested, 1).reshape(n, -1)
    )
    limit = int(min(y.sum(), n - y.sum())) // IMAGES_A_COLUMN
    for_group = choose_columns(design, candidates, doubles(group > 0), GROUP_LEVEL, limit)
    level = MENTION_LEVEL / max(candidates.shape[1], 1)
    fixed = np.column_stack([design, candidates[:, for_group]])
    for_mention = choose_columns(
        np.column_stack([fixed, group]), candidates, y, level, limit - len(for_group)
    )
    fixed = np.column_stack([fixed, candidates[:, for_mention]])
    interval = score_interval(group, fixed, y)
    chosen = fixed.shape[1] - design.shape[1]
    if isnan(interval.p):
        apart = "size and place alone tell the groups, or the images that mention it, apart"
        return Salience(
            *counts,
            False,
            held=chosen,
            note=apart if isnan(interval.value) else "the fit reached no maximum",
        )
    return Salience(*counts, True, *interval, held=chosen)


def _constant(mentioned: Flags) -> str:
    """Whether all images mention it, or none, in words; empty if some do."""
    if mentioned.all():
        return "always mentioned"
    if not mentioned.any():
        return "never mentioned"
    return ""


def _lacking(design: Array, group: Array, y: Array) -> str:
    """Why n does not allow an interval, and how many images would; empty if it does.

    Counted are the images expected in the rarest cell, and those that the information is worth.
    """
    groups, answers = (
        min(np.count_nonzero(part), np.count_nonzero(~part)) for part in (group > 0, y > 0)
    )
    if not groups:
        return "shown with one of the groups only"
    worth = informative_units(group, design, y) / (clusters.FEW + design.shape[1] + 1)
    share = min(groups * answers / len(y) / EXPECTED, worth)
    if share >= 1:
        return ""
    if not share > 0:
        return "size and place alone tell the groups apart"
    return f"too few images to tell: of {len(y)}, {int(y.sum())} mention it; about {ceil(len(y) / share)} would do"


def fit_published(
    features: Array,
    group: Array,
    mentioned: Flags,
    options: AuditOptions,
    ridge: float = RIDGE,
) -> Salience:
    """As published: a ridge logistic regression on all types' columns, over random splits.  Its interval does not hold.

    Estimator: log odds of group +½ minus −½; penalty λ/2 Σ b², intercept free; features standardised once a
    type, constant ones dropped, the group not.  A split trains on 70 % of the images, rounded down.

    ridge: λ.  features: (n, F) sizes and locations.  group: (n,) +½ or −½.  mentioned: (n,).
    """
    n = len(group)
    y = doubles(mentioned)
    masks = _splits(n, options.splits, np.random.default_rng([options.seed, 6]))
    mentions = masks.T @ y
    masks = masks[:, (mentions > 0) & (mentions < masks.sum(0))]
    counts = (n, int(y.sum()))
    valid = masks.shape[1]
    if constant := _constant(mentioned):
        return Salience(*counts, False, valid=valid, note=constant)
    rotated, back = _rotate(_standard(features), group)
    coefficient = float(back @ fit_ridge(rotated, y, np.ones((n, 1)), ridge)[1:, 0])
    if not rounding.exceeds(valid, VALID * options.splits):
        return Salience(
            *counts, False, coefficient, valid=valid, note="too few splits have both answers"
        )
    fitted = fit_ridge(rotated, y, masks, ridge, tolerance=CLOSE)
    right = ((rotated @ fitted[1:] + fitted[0] > 0) == (y[:, None] > 0)) * (1 - masks)
    accuracy = float(np.nanmean(right.sum(0) / (1 - masks).sum(0)))
    return Salience(
        *counts, True, coefficient, valid=valid, splits=back @ fitted[1:], accuracy=accuracy
    )


def _splits(n: int, count: int, generator: np.random.Generator) -> Array:
    """(n, R) 1 in the training part."""
    masks = np.zeros((n, count))
    for column in range(count):
        masks[generator.permutation(n)[: int(0.7 * n)], column] = 1
    return masks


def _standard(features: Array) -> Array:
    away = rounding.gap(features, features.mean(0))
    spread = np.sqrt(np.square(away).mean(0))
    return np.asarray(away[:, spread > 0] / spread[spread > 0])


def _rotate(features: Array, group: Array) -> tuple[Array, Array]:
    """(n, r) features and group in their principal directions, and the group's row of the way back (r,).

    A ridge with one λ does not change under a rotation, so that no more than n directions need be fitted.
    """
    columns = np.column_stack([features, group])
    values, vectors = np.linalg.eigh(columns.T @ columns)
    keep = rounding.settled(values, values[-1]) > 0
    return columns @ vectors[:, keep], np.ascontiguousarray(vectors[-1, keep])


# -- over all types ---------------------------------------------------------------------------------------------------


def objects_mentioned(recorder: Recorder) -> None:
    """S2 at one stage: rows of the salience table with q, ranks by accuracy if the published interval finds.

    Of the commonest types, by images that show them plus images whose captions name them.  Findings have examples.
    """
    corpus = recorder.corpus
    options = recorder.options
    images = [image for image in recorder.images if image in corpus.boxes]
    boxes = [corpus.boxes[image] for image in images]
    named = [[fact for fact in recorder.facts(image) if fact.kind == "object"] for image in images]
    shown = [{box.synset for box in instances} for instances in boxes]
    told = [{fact.synset for fact in facts if fact.synset} for facts in named]
    every = sorted(name for names in [*shown, *told] for name in names)
    types = [name for name, _ in Counter(every).most_common(options.types)]
    features = layout(boxes, types)
    concepts = [{fact.concept for fact in facts} for facts in named]
    for pair in corpus.pairs:
        sides = corpus.sides(pair, images)
        rows = []
        mentions = {}
        for column, name in enumerate(types):
            chosen = np.flatnonzero((sides != 0) & (features[:, column] > 0))
            mentioned = np.array([name in concepts[image] for image in chosen], bool)
            if len(chosen) < options.min_active:
                continue
            if options.as_published:
                fitted = fit_published(features[chosen], sides[chosen] / 2, mentioned, options)
            else:
                fitted = fit(features[chosen], column, sides[chosen] / 2, mentioned)
            rows.append(_row(fitted, name, recorder.stage, pair))
            mentions[name] = {images[image]: name in concepts[image] for image in chosen}
        multiplicity.adjust(rows)
        rank([row for row in rows if row["finding_paper"]], "accuracy")
        recorder.salience += rows
        for row in rows:
            row["finding"] = bool(multiplicity.are_findings(row))
            if row["finding"] or row["finding_paper"]:
                _add_examples(recorder, row, mentions[row["concept"]])


def _row(
    fitted: Salience,
    concept: str,
    stage: str,
    pair: Pair,
) -> Row:
    low, high = resampling.percentile(fitted.splits)
    return {
        **fitted._asdict(),
        **pair._asdict(),
        "stage": stage,
        "concept": concept,
        **ends((low, high), "split"),
        "finding_paper": bool(fitted.eligible and (low > 0 or high < 0)),
        "rank": None,
    }


def _add_examples(recorder: Recorder, finding: Row, mentioned: Mapping[str, bool]) -> None:
    """Images of each group with and without the mention, ``SHOWN`` each: drawn by their ids, never for what they show.

    finding: a row of the salience table.  mentioned: images that show its type to whether it is mentioned.
    """
    group_of = recorder.corpus.groups[finding["column"]]
    key = {name: finding[name] for name in ("stage", "column", "group", "other", "concept")}
    drawn: Counter[tuple[str, bool]] = Counter()
    lots = {hexdigest(image.encode("utf-8", "surrogatepass")): image for image in mentioned}
    for _, image in sorted(lots.items()):
        group = group_of[image]
        drawn[group, mentioned[image]] += 1
        if drawn[group, mentioned[image]] <= SHOWN:
            text = recorder.corpus.text_of(recorder.stage, image)
            row = {"of": group, "mentioned": mentioned[image], "image": image, "text": text}
            recorder.examples.append({**key, **row})


def layout(boxes: Sequence[Sequence[Instance]], types: Sequence[str]) -> Array:
    """(U, 2 T): per type the largest instance's share of the image and its distance from the centre.

    The distance is in half diagonals: 0 the centre, 1 a corner.  A type that is missing has size 0 and the distance
    of a corner.
    """
    column_of = {name: column for column, name in enumerate(types)}
    features = np.zeros((len(boxes), 2 * len(types)))
    features[:, len(types) :] = 1.0
    for row, instances in enumerate(boxes):
        for box in instances:
            column = column_of.get(box.synset)
            if column is not None and box.area > features[row, column]:
                features[row, column] = box.area
                away = hypot(box.x0 + box.x1 - 1, box.y0 + box.y1 - 1)
                features[row, len(types) + column] = away / sqrt(2)
    return features
