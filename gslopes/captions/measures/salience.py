"""S2: objects rightly mentioned or not, with size and place held fixed; ranked, to be read.

Source: Wang et al. 2022, after Berg et al. 2012. Splits share most of their images, so that the published interval is
no sampling interval: a bootstrap over images with its p and q is given with it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Box, Pair
from gslopes.captions.measures.rows import Recorder, Row
from gslopes.stats.clusters import codes_of
from gslopes.stats.intervals import percentile
from gslopes.stats.multiplicity import adjust
from gslopes.stats.resampling import multinomial_counts
from gslopes.stats.ridge_logistic import fit_ridge

Array = NDArray[np.float64]
CLOSE = 0.02  # of a standard error: how near a coefficient of a split or resample is to its optimum


@dataclass(frozen=True, slots=True, eq=False)
class Salience:
    """One type and pair.

    valid: splits whose training part has both answers.  coefficient: of the group on all images, log odds.
    splits: (valid,) coefficients.  boot: (B,) of resamples.  accuracy, balanced, majority: means over splits, of the
    test parts.
    """

    n: int
    mentioned: int
    valid: int
    eligible: bool
    coefficient: float
    splits: Array = field(default_factory=lambda: np.empty(0))
    boot: Array = field(default_factory=lambda: np.empty(0))
    accuracy: float = math.nan
    balanced: float = math.nan
    majority: float = math.nan

    @property
    def p(self) -> float:
        """2 min(share ≤ 0, share ≥ 0) of the bootstrap, with + 1."""
        if not len(self.boot):
            return math.nan
        below, above = (self.boot <= 0).sum(), (self.boot >= 0).sum()
        return min(1.0, 2 * (min(below, above) + 1) / (len(self.boot) + 1))


def normal_interval(values: Array) -> tuple[float, float]:
    """The mean ± 1.96 standard deviations; NaN of fewer than two values.

    >>> normal_interval(np.array([1.0, 2.0, 3.0]))
    (0.04, 3.96)
    """
    if len(values) < 2:
        return math.nan, math.nan
    centre, half = float(values.mean()), 1.96 * float(values.std(ddof=1))
    return round(centre - half, 12), round(centre + half, 12)


def is_eligible(valid: int, splits: int, share: float = 0.9) -> bool:
    """Whether more than that share of the splits count, strictly.

    >>> is_eligible(900, 1000), is_eligible(901, 1000)
    (False, True)
    """
    return valid > share * splits * (1 + 1e-12)


def fit(
    features: Array,
    group: Array,
    mentioned: NDArray[np.bool_],
    options: AuditOptions,
    clusters: NDArray[np.int64] | None = None,
) -> Salience:
    """The coefficient of the group in a ridge logistic regression of being mentioned, over random splits.

    Estimator: log odds of group +½ minus −½; penalty λ/2 Σ b², intercept free; features standardised (once a type, or
    on every training part with ``exact``), constant ones dropped, the group not.  Null hypothesis of p: the coefficient
    is 0 in resamples of the images.

    features: (n, F) sizes and locations.  group: (n,) +½ or −½.  mentioned: (n,).
    """
    n, y = len(group), mentioned.astype(np.float64)
    generator = np.random.default_rng([options.seed, 6])
    masks = _splits(n, options.splits, generator)
    masks = masks[:, _has_both(masks, y)]
    counts = n, int(y.sum()), masks.shape[1]
    if not 0 < y.sum() < n:
        return Salience(*counts, False, math.nan)
    rotated, back = _rotate(_standard(features), group)
    coefficient = float(back @ fit_ridge(rotated, y, np.ones((n, 1)), options.ridge)[1:, 0])
    if not is_eligible(masks.shape[1], options.splits, options.valid_share):
        return Salience(*counts, False, coefficient)
    if options.exact:
        betas, logits = _exact(features, group, y, masks, options.ridge)
    else:
        fitted = fit_ridge(rotated, y, masks, options.ridge, tolerance=CLOSE)
        betas, logits = back @ fitted[1:], rotated @ fitted[1:] + fitted[0]
    draws = _draws(n, options.salience_bootstrap, generator, clusters)
    draws = draws[:, _has_both(draws, y)]
    boot = back @ fit_ridge(rotated, y, draws, options.ridge, tolerance=CLOSE)[1:]
    return Salience(*counts, True, coefficient, betas, np.asarray(boot), *_accuracy(logits, y, masks))


def _has_both(weights: Array, y: Array) -> NDArray[np.bool_]:
    """(R,) whether images of both answers have weight."""
    mentions = weights.T @ y
    return np.asarray((mentions > 0) & (mentions < weights.sum(axis=0)))


def _draws(n: int, count: int, generator: np.random.Generator, clusters: NDArray[np.int64] | None) -> Array:
    """(n, B) how often each image is in each resample; whole clusters if there are any."""
    codes = codes_of(clusters, n)
    return multinomial_counts(int(codes.max()) + 1, count, generator).T[codes]


def _splits(n: int, count: int, generator: np.random.Generator) -> Array:
    """(n, R) 1 in the training part: 70 % of the images, rounded down."""
    size = int(0.7 * n)
    masks = np.zeros((n, count))
    for column in range(count):
        masks[generator.permutation(n)[:size], column] = 1
    return masks


def _standard(features: Array, weight: NDArray[np.bool_] | None = None) -> Array:
    part = features if weight is None else features[weight]
    if not features.shape[1]:
        return features
    spread = part.std(axis=0)
    keep = spread > 1e-12
    return np.asarray((features[:, keep] - part[:, keep].mean(axis=0)) / spread[keep])


def _rotate(features: Array, group: Array) -> tuple[Array, Array]:
    """(n, r) features and group in their principal directions, and the group's row of the way back (r,).

    A ridge with one λ does not change under a rotation, so that no more than n directions need be fitted.
    """
    columns = np.column_stack([features, group])
    n, count = columns.shape
    if count == 1:
        return columns, np.ones(1)
    if n < count:
        values, vectors = np.linalg.eigh(columns @ columns.T)
        keep = values > 1e-12 * values[-1]
        lengths, vectors = np.sqrt(values[keep]), vectors[:, keep]
        return vectors * lengths, group @ vectors / lengths
    values, vectors = np.linalg.eigh(columns.T @ columns)
    keep = values > 1e-12 * values[-1]
    return columns @ vectors[:, keep], np.ascontiguousarray(vectors[-1, keep])


def _exact(features: Array, group: Array, y: Array, masks: Array, ridge: float) -> tuple[Array, Array]:
    betas, logits = np.empty(masks.shape[1]), np.empty(masks.shape)
    for column in range(masks.shape[1]):
        rotated, back = _rotate(_standard(features, masks[:, column] > 0), group)
        fitted = fit_ridge(rotated, y, masks[:, [column]], ridge)[:, 0]
        betas[column], logits[:, column] = back @ fitted[1:], rotated @ fitted[1:] + fitted[0]
    return betas, logits


def _accuracy(logits: Array, y: Array, masks: Array) -> tuple[float, float, float]:
    """Of the test parts: accuracy, balanced accuracy, and that of always answering as most of the training part."""
    test = 1 - masks
    right = ((logits > 0) == (y[:, None] > 0)) * test
    size = test.sum(axis=0)
    positive, negative = y @ test, (1 - y) @ test
    with np.errstate(invalid="ignore", divide="ignore"):
        sensitivity, specificity = (y @ right) / positive, ((1 - y) @ right) / negative
        most = (y @ masks) > masks.sum(axis=0) / 2
        majority = np.where(most, positive, negative) / size
        return (
            float(np.nanmean(right.sum(axis=0) / size)),
            float(np.nanmean(np.nanmean([sensitivity, specificity], axis=0))),
            float(np.nanmean(majority)),
        )


# -- over all types ---------------------------------------------------------------------------------------------------


def objects_mentioned(recorder: Recorder) -> None:
    """S2 at one stage: rows of the salience table."""
    material, options = recorder.material, recorder.options
    images = [image for image in recorder.images if image in material.boxes]
    synsets = [{box.synset for box in material.boxes[image]} for image in images]
    named = [[fact for fact in recorder.facts(image) if fact.kind == "object"] for image in images]
    named_synsets = [{fact.synset for fact in facts if fact.synset} for facts in named]
    types = common_types(synsets, named_synsets, options.types)
    features = layout([material.boxes[image] for image in images], types, options.absent_location)
    concepts = [{fact.concept for fact in facts} for facts in named]
    if options.match == "kind":
        above = material.mentions.wordnet.above
        concepts = [{name for one in some for name in (one, *above(one))} for some in concepts]
    for pair in material.pairs:
        sides = material.sides(pair, images)
        rows: list[Row] = []
        for name in types:
            chosen = np.array([index for index in np.flatnonzero(sides) if name in synsets[index]], dtype=np.int64)
            if len(chosen) >= options.min_active:
                y = np.array([name in concepts[index] for index in chosen])
                clusters = material.cluster_numbers([images[index] for index in chosen])
                fitted = fit(features[chosen], sides[chosen] / 2, y, options, clusters)
                rows.append(_row(fitted, name, recorder.stage, pair, options.split_interval))
        recorder.salience += _ranked(rows, options)


def common_types(shown: Iterable[set[str]], named: Iterable[set[str]], count: int) -> list[str]:
    """The commonest synsets by images that show them plus images whose captions name them; ties by name."""
    counts = Counter(name for synsets in (*shown, *named) for name in synsets)
    return sorted(counts, key=lambda name: (-counts[name], name))[:count]


def layout(boxes: Sequence[Sequence[Box]], types: Sequence[str], absent: float = 1.0) -> Array:
    """(U, 2 T): per type the largest instance's share of the image and its distance from the centre.

    The distance is in half diagonals: 0 the centre, 1 a corner.  A type that is not there has size 0 and the distance
    ``absent``, 1 by default.
    """
    column_of = {name: column for column, name in enumerate(types)}
    found = np.zeros((len(boxes), 2 * len(types)))
    found[:, len(types) :] = absent
    for row, instances in enumerate(boxes):
        for box in instances:
            column = column_of.get(box.synset)
            if column is not None and box.area > found[row, column]:
                found[row, column] = box.area
                centre = (box.x0 + box.x1 - 1) / 2, (box.y0 + box.y1 - 1) / 2
                found[row, len(types) + column] = math.hypot(*centre) / math.hypot(0.5, 0.5)
    return found


def _row(result: Salience, concept: str, stage: str, pair: Pair, interval: str) -> Row:
    low, high = (percentile if interval == "percentile" else normal_interval)(result.splits)
    boot_low, boot_high = percentile(result.boot)
    note = "" if result.eligible else "too few splits have both answers"
    if result.mentioned in (0, result.n):
        note = "always mentioned" if result.mentioned else "never mentioned"
    names = ("n", "mentioned", "valid", "eligible", "coefficient", "p", "accuracy", "balanced", "majority")
    row = {"stage": stage, **pair.columns, "concept": concept} | {name: getattr(result, name) for name in names}
    row |= {"split_low": low, "split_high": high, "boot_low": boot_low, "boot_high": boot_high, "note": note}
    return row | {"finding_paper": bool(result.eligible and (low > 0 or high < 0)), "rank": None}


def _ranked(rows: list[Row], options: AuditOptions) -> list[Row]:
    """The rows with q, findings, and ranks by accuracy of those that the published interval finds."""
    q = adjust(np.array([row["p"] for row in rows], dtype=np.float64), options.correction)
    for row, value in zip(rows, q, strict=True):
        row |= {"q": float(value), "finding": bool(value < 0.05)}
    ranked = sorted((r for r in rows if r["finding_paper"]), key=lambda r: (-r["accuracy"], r["concept"]))
    for rank, row in enumerate(ranked, 1):
        row["rank"] = rank
    return rows
