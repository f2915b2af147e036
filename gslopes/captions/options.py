"""Every choice that the paper leaves open, and what it is here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PerImage = Literal["union", "each", "one"]


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """Options of all techniques.

    captions_per_image: the union of an image's captions, each of them as a share, or the first one.
    bootstrap, permutations: resamples and rearrangements.  min_active: concepts in fewer images are not tested.
    association, associate_in, threshold: of S1's heuristic.  lch: least similarity at which objects are the same.
    min_truth_depth: how far below the root a concept of truth must lie to make a concept of the target too specific.
    prepositions: whether others than *in* must be listed to be imageable.
    types, splits, ridge, valid_share, match, exact: of S2.  split_interval: percentiles of the coefficients over
    splits, or their mean ± 1.96 standard deviations.  absent_location: of a type that is not in the image.
    min_people_area: of D2, a share of the image.  mentioned_as: whether a mention of anybody counts, or of the group.
    age: ``require-adult`` (truth must say an adult word), ``assume-adult``, or a column of the groups, where 18 and
    more, or ``adult``, is an adult.
    bound_senses: which senses D1's bounds run over.  nouns: D4's words.  seed: of everything drawn by lot.
    """

    captions_per_image: PerImage = "union"
    bootstrap: int = 2000
    permutations: int = 10_000
    correction: Literal["bh", "by", "holm"] = "bh"
    min_active: int = 10
    association: Literal["cov", "phi", "diff"] = "cov"
    associate_in: Literal["target", "truth", "human-captions"] = "target"
    threshold: float = 0.005
    lch: float = 2.25
    min_truth_depth: int = 0
    prepositions: Literal["exempt", "listed"] = "exempt"
    types: int = 100
    splits: int = 1000
    ridge: float = 1.0
    valid_share: float = 0.9
    match: Literal["exact", "kind"] = "exact"
    exact: bool = False
    split_interval: Literal["percentile", "normal"] = "percentile"
    absent_location: float = 1.0
    salience_bootstrap: int = 1000
    min_people_area: float = 0.1
    mentioned_as: Literal["any", "group"] = "any"
    age: str = "require-adult"
    bound_senses: Literal["role", "all"] = "role"
    nouns: tuple[str, ...] = ("female",)
    seed: int = 0
