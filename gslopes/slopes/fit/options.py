"""What a fit computes in addition to the paper's estimator, and how hard it tries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gslopes.core.errors import ConfigError, UnknownName

ESTIMATORS = ("paper", "photo-rate", "photo-measure", "photo-score", "photo-z", "photo-logodds")
MEASURES = ("presence", "log-odds", "score", "value")
RARE = "too rare to judge"
LEAST_KEPT = 0.8  # share of sweeps; below it the gated slope alone is not to be trusted
Correction = Literal["bh", "by", "holm"]


@dataclass(frozen=True, slots=True)
class FitOptions:
    """Settings of ``slopes.fit.analysis.analyse``.

    estimators: which rows the table of slopes has; see ``slopes.fit.estimators``.
    measure: how labels are judged: ``auto``, or one of ``slopes.fit.measures.MEASURES`` for all of them.
    bootstrap: resamples of photos, B; 0 for none.  permutations: within photos, m; 0 for none.
    correction: how q is made of the p-values of a family (one classifier, attribute and estimator): Benjamini-Hochberg,
        Benjamini-Yekutieli or Holm.
    min_varying: a label whose answers vary on fewer photos (units, with clusters) is listed as too rare to judge and
        not tested: photos that have it at every value, or at none, say nothing about the slope.
    level: of q, at which a label is a finding.
    confidence: coverage of every interval.  alpha: the level at which the paper's p and the permutations' are compared.
    bundles: photos are permuted in this many bundles at most, see ``stats.permutation``.
    seed: of resamples and permutations.
    """

    estimators: tuple[str, ...] = ESTIMATORS
    measure: str = "auto"
    bootstrap: int = 2000
    permutations: int = 10_000
    correction: Correction = "bh"
    min_varying: int = 10
    level: float = 0.05
    confidence: float = 0.95
    alpha: float = 0.001
    bundles: int = 1024
    seed: int = 0

    def __post_init__(self) -> None:
        for name in self.estimators:
            if name not in ESTIMATORS:
                raise UnknownName("estimator", name, ESTIMATORS)
        if self.measure not in ("auto", *MEASURES):
            raise UnknownName("measure", self.measure, ("auto", *MEASURES))
        if not self.estimators:
            raise ConfigError("No estimator is given.", f"Name one of {', '.join(ESTIMATORS)}.")
        for name, least in (("bootstrap", 0), ("permutations", 0), ("min_varying", 0), ("bundles", 2), ("seed", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least {least}.")
        for name in ("confidence", "alpha", "level"):
            if not 0 < getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must lie between 0 and 1.")
