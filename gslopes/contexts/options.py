"""The choices of the analysis, each with its default; where the paper is silent or contradicts itself they decide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gslopes.core.errors import ConfigError

Baseline = Literal["canvas", "original"]


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """How answers become tables.  None of it needs a classifier to be asked again.

    typology: names or files, merged left to right; empty: ``celeba`` for celeba-tagger and ``starter`` for all others.
    ratings: a CSV of crowd answers, see ``ratings``.  baseline: what differences are taken from.
    vector: which proportions make the vector of a description.  denominator: all tags, or those in some cluster.
    zero: the distance where one vector is 0: not a number, or 1.  recognised_at: context tags needed.
    min_score: tags below it do not count.  top: only the best so many tags; None for all.
    f1_on: F1 over pictures whose context was recognised, or over all.
    recognised_share: below it a context has no F1.
    ss: type of the sums of squares.  tukey: variance of one factor alone, or the residual one of both.
    alpha, family: of the paper's Bonferroni: alpha divided by the number of contexts, or of tests.
    strong: contexts rated further than this from 5 are strongly gendered.
    min_group: people that a cell of gender and group needs.  group_column: of the people; ``a + b`` crosses two.
    bootstrap, permutations: how many draws.  mixed: also fit a mixed linear model.  seed: of everything drawn by lot.

    Raises: ConfigError for a value out of its range.
    """

    typology: tuple[str, ...] = ()
    ratings: Path | None = None
    baseline: Baseline = "canvas"
    vector: Literal["super", "sub", "super+other", "both"] = "super"
    denominator: Literal["all", "assigned"] = "all"
    zero: Literal["nan", "one"] = "nan"
    recognised_at: int = 1
    min_score: float = 0.0
    top: int | None = None
    f1_on: Literal["recognised", "all"] = "recognised"
    recognised_share: float = 0.1
    ss: Literal[1, 2, 3] = 2
    tukey: Literal["one-way", "residual"] = "one-way"
    alpha: float = 0.05
    family: Literal["contexts", "tests"] = "contexts"
    strong: float = 3.0
    min_group: int = 3
    group_column: str = ""
    bootstrap: int = 2000
    permutations: int = 9999
    mixed: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        _between("min_score", self.min_score, 0, 1)
        _between("recognised_share", self.recognised_share, 0, 1)
        _between("alpha", self.alpha, 0, 1)
        _between("strong", self.strong, 0, 5)
        for name in ("recognised_at", "min_group", "bootstrap", "permutations"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least 1.")
        if self.top is not None and self.top < 1:
            raise ConfigError(f"top is {self.top}; it must be at least 1.")


def _between(name: str, value: float, low: float, high: float) -> None:
    if not (math.isfinite(value) and low <= value <= high):
        raise ConfigError(f"{name} is {value}; it must be between {low:g} and {high:g}.")
