"""What a crop audit can be told."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from gslopes.core.errors import ConfigError
from gslopes.crops.pictures.geometry import RATIOS, check_ratio
from gslopes.crops.policies import Settings, check_policies

DEFAULT_POLICIES = ("argmax", "sample")


@dataclass(frozen=True, slots=True)
class CropsConfig:
    """One crop audit.

    groups: columns of people.csv, crossed if several.  cropper: names, see ``crops.croppers``.
    attach: ``horizontal``, ``vertical``, or ``none``: each photo alone.  height: photos resized to it first.
    max_side: longer side of a photo, larger ones are reduced first.  gap: black pixels between photos.
    jpeg: quality of a JPEG file between joining and cropping; None: none.
    orders: ``both``, or ``left``: the first group always on the left, as published.
    pairs: at most so many pairs of photos, balanced over people; None: all, up to ``max_pairs`` pictures.
    draws: with replacement for each pair of groups, as published, instead.
    together: pictures with one person of each group; 0: none.
    stability: pictures, drawn by lot, that are asked about again after three small edits; 0: none.
    ratios: height/width.  policies, temperature (None: 1 for log densities and the published model, else that of an
    entropy of a tenth of the cells), weights, ties: see ``crops.policies``.
    symmetry: version of the test.  epsilon: see ``crops.measures.disparate_impact``.
    inside: share of a head that counts as kept.
    ambiguous, photos_per_person: see ``crops.people``.
    min_group: groups of fewer persons are listed but not judged.  bootstrap: draws of people.  seed: of all lots.
    keep_maps: keep each photo's own map.  source: how groups are known.  limit: first photos only.
    """

    groups: tuple[str, ...] = ("gender",)
    cropper: tuple[str, ...] = ("spectral-residual",)
    attach: Literal["horizontal", "vertical", "none"] = "horizontal"
    height: int | None = None
    max_side: int | None = None
    gap: int = 0
    jpeg: int | None = None
    orders: Literal["both", "left"] = "both"
    pairs: int | None = None
    max_pairs: int = 20_000
    draws: int | None = None
    together: int = 0
    stability: int = 24
    ratios: tuple[float, ...] = RATIOS
    policies: tuple[str, ...] = DEFAULT_POLICIES
    temperature: float | None = None
    weights: Literal["softmax", "shifted"] = "softmax"
    ties: Literal["half", "first"] = "half"
    symmetry: Literal["program", "notebook", "saliency", "off"] = "program"
    epsilon: float = 0.2
    inside: float = 0.5
    min_group: int = 10
    ambiguous: Literal["drop", "first", "sample"] = "drop"
    photos_per_person: Literal["all", "one"] = "all"
    bootstrap: int = 2000
    seed: int = 0
    keep_maps: bool = False
    source: str = "given"
    files: str = ""
    limit: int | None = None
    device: str = "auto"
    settings: Settings = field(init=False)

    def __post_init__(self) -> None:
        for ratio in self.ratios:
            check_ratio(ratio)
        check_policies(self.policies)
        if not self.ratios or not self.policies or not self.cropper:
            raise ConfigError("A crop audit needs a cropper, a ratio and a policy at least.")
        for name, value, low, high in (
            ("epsilon", self.epsilon, 0.0, 1.0),
            ("inside", self.inside, 0.0, 1.0),
            ("temperature", 1.0 if self.temperature is None else self.temperature, 0.0, float("inf")),
        ):
            if not low < value <= high:
                raise ConfigError(f"{name} is {value}; it must lie above {low:g} and be {high:g} at most.")
        for name, least, number in (
            ("height", 16, self.height),
            ("max_side", 16, self.max_side),
            ("gap", 0, self.gap),
            ("pairs", 1, self.pairs),
            ("draws", 1, self.draws),
            ("min_group", 2, self.min_group),
            ("bootstrap", 100, self.bootstrap),
            ("max_pairs", 2, self.max_pairs),
            ("together", 0, self.together),
            ("stability", 0, self.stability),
        ):
            if number is not None and number < least:
                raise ConfigError(f"{name} is {number}; it must be {least} at least.")
        if self.jpeg is not None and not 1 <= self.jpeg <= 100:
            raise ConfigError(f"jpeg is {self.jpeg}; the quality of a JPEG file lies between 1 and 100.")
        policies = tuple(dict.fromkeys(("argmax", *self.policies)))
        object.__setattr__(self, "policies", policies)
        object.__setattr__(self, "settings", Settings(self.temperature or 1.0, self.weights, self.ties))

    @property
    def variant(self) -> str:
        """How photos are joined, in words: part of the tables' keys."""
        parts = ["alone" if self.attach == "none" else "native"]
        if self.height:
            parts[0] = f"height {self.height}"
        parts += [self.attach] * (self.attach == "vertical")
        parts += [f"at most {self.max_side} px"] * bool(self.max_side)
        parts += [f"gap {self.gap}"] * bool(self.gap) + [f"jpeg {self.jpeg}"] * (self.jpeg is not None)
        return ", ".join(parts)

    @property
    def main_ratio(self) -> float:
        """The ratio nearest to 1."""
        return min(self.ratios, key=lambda ratio: abs(ratio - 1))

    def identity(self) -> dict[str, Any]:
        """What must be the same for a run folder to be gone on with."""
        fields = asdict(self)
        for name in ("device", "settings", "epsilon", "bootstrap", "min_group", "source", "inside"):
            fields.pop(name)
        if self.photos_per_person == "all":  # as runs of before that choice were
            fields.pop("photos_per_person")
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


PRESETS: dict[str, dict[str, Any]] = {
    "exact": {},
    "published": {"orders": "left", "draws": 10_000, "jpeg": 75, "ties": "first", "photos_per_person": "one"},
}
"""``published``: as Yee et al. 2021 did it; one person's photo drawn with replacement, the first group on the left."""
