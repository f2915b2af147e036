"""What a fit computes next to the paper's estimator, and how hard it tries."""

from dataclasses import dataclass

from gslopes.core.errors import ConfigError, UnknownName

ESTIMATORS = ("paper", "photo-rate", "photo-measure")
RARE = "too few photos change their answer"
NEVER = " never returns "  # between a classifier and a label that is true of photos
LEAST_KEPT = 0.8  # share of sweeps; below it the gated slope alone is not to be trusted


@dataclass(frozen=True, slots=True)
class FitOptions:
    """Settings of ``slopes.measures.analysis.analyse``.

    estimators: which rows the table of slopes has; see ``slopes.measures.estimators``.
    permutations: within photos, m; 0 for none.
    min_varying: a label whose answers vary on fewer photos (units, with clusters) is listed as not judged and
        not tested: photos that have it at every value, or at none, say nothing about the slope.
    seed: of the permutations.
    """

    estimators: tuple[str, ...] = ESTIMATORS
    permutations: int = 10_000
    min_varying: int = 10
    seed: int = 0

    @property
    def of_photos(self) -> tuple[str, ...]:
        """The estimators whose unit is the photo: all but the paper's."""
        return tuple(name for name in self.estimators if name != "paper")

    def __post_init__(self) -> None:
        for name in self.estimators:
            if name not in ESTIMATORS:
                raise UnknownName("estimator", name, ESTIMATORS)
        for name in ("permutations", "min_varying", "seed"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be 0 or more.")
