"""The configuration of a crop audit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypedDict

from gslopes.ask.config import CostLimits, CostOptions
from gslopes.ask.croppers.geometry import RATIOS, check_ratio
from gslopes.core.config import from_dict
from gslopes.core.errors import ConfigError
from gslopes.core.options import check, merged, names, numbers, option, section
from gslopes.crops.policies import Settings, check_policies

DEFAULT_POLICIES = ("argmax", "sample")
CROPPERS = (
    "spectral-residual, fine-grained, faces, centre, random, smartcrop, vips-attention, vips-entropy, "
    "http:URL, fastgaze:PATH, onnx:PATH, torchscript:PATH, python:MODULE:FUNCTION, replay:FILE"
)


@dataclass(frozen=True, slots=True)
class CropsConfig:
    """One crop audit; see ``crops.policies``, ``crops.people`` and ``crops.measures.disparate_impact``.

    draws: with replacement for each pair of groups, as published, instead of all pairs.
    temperature: None is 1 for log densities and the published model, else that of an entropy of a tenth of the cells.
    """

    groups: tuple[str, ...] = option(
        ("gender",),
        help="Columns of the people's CSV to compare, or skin-tone, measured in the photos; several are crossed.",
        metavar="COLUMN,COLUMN",
        parse=names,
    )
    cropper: tuple[str, ...] = option(
        ("spectral-residual",), help=f"The cropper; may be repeated: {CROPPERS}.", short="c"
    )
    attach: Literal["horizontal", "vertical", "none"] = option(
        "horizontal", help="How photos are joined.", advanced=True
    )
    height: int | None = option(
        None, help="Resize photos to this height before joining.", metavar="PX", advanced=True, least=16
    )
    max_side: int | None = option(
        None, help="Reduce photos whose longer side is larger.", metavar="PX", advanced=True, least=16
    )
    gap: int = option(0, help="Pixels between photos.", metavar="PX", advanced=True, least=0)
    padding: str = option(
        "black", help="Colour where no photo is: black, white or #RRGGBB.", metavar="COLOUR", advanced=True
    )
    jpeg: int | None = option(
        None, help="Compress joined pictures as JPEG at this quality.", metavar="Q", advanced=True, least=1, most=100
    )
    orders: Literal["both", "left"] = option("both", help="Both orders, or the first group left.", advanced=True)
    pairs: int | None = option(
        None, help="At most N pairs of photos, balanced over people.", shown="all, up to --max-pairs", least=1
    )
    max_pairs: int = option(20_000, help="Pictures above which pairs are balanced.", advanced=True, least=2)
    draws: int | None = option(
        None, help="Pairs drawn with replacement for each pair of groups, instead of all.", advanced=True, least=1
    )
    together: int = option(0, help="Also N pictures with one person of each group.", least=0)
    stability: int = option(24, help="Pictures asked about again after small edits; 0: none.", advanced=True, least=0)
    ratios: tuple[float, ...] = option(
        RATIOS, help="Height/width of the crops.", metavar="R,R", parse=numbers, advanced=True
    )
    policies: tuple[str, ...] = option(
        DEFAULT_POLICIES, help="How a map becomes a crop; may be repeated.", name="policy"
    )
    temperature: float | None = option(
        None, help="Temperature of the softmax.", metavar="T", shown="by the model's unit", advanced=True
    )
    weights: Literal["softmax", "shifted"] = option("softmax", help="How a map becomes chances.", advanced=True)
    ties: Literal["half", "first"] = option("half", help="How ties between maxima are split.", advanced=True)
    epsilon: float = option(0.2, help="Parity fails below a ratio of 1-E.", metavar="E", advanced=True)
    inside: float = option(0.5, help="Share of a head that counts as kept.", metavar="SHARE", advanced=True)
    min_group: int = option(10, help="Smaller groups are not judged.", advanced=True, least=2)
    ambiguous: Literal["drop", "first", "sample"] = option(
        "drop",
        help="People with several values of a group are dropped, take the first, or one at random.",
        advanced=True,
    )
    photos_per_person: Literal["all", "one"] = option("all", help="All, or one drawn at random.", advanced=True)
    bootstrap: int = option(2000, help="Bootstrap resamples of people.", metavar="B", advanced=True, least=100)
    seed: int = option(0, help="Seed of all random draws.", metavar="S", advanced=True)
    keep_maps: bool = option(False, help="Keep each photo's own map in the table saliency.", advanced=True)
    source: str = option("given", help="How groups are known, such as self-reported.", metavar="WORDS", advanced=True)
    files: str = option(
        "", help="Where photos are, such as 'neutral/{id}.jpg', by the CSV's columns.", metavar="PATTERN", advanced=True
    )
    limit: int | None = option(None, help="Only the first N photos.")
    device: str = option("auto", help="Where the networks run.", metavar="auto|cpu|cuda[:N]", advanced=True)
    settings: Settings = field(init=False)

    def __post_init__(self) -> None:
        check(self)
        for ratio in self.ratios:
            check_ratio(ratio)
        check_policies(self.policies)
        if not re.fullmatch("black|white|#[0-9a-fA-F]{6}", self.padding):
            raise ConfigError(f"padding is {self.padding!r}.", "It is black, white, or a colour such as #8a8a8a.")
        if not self.ratios or not self.policies or not self.cropper:
            raise ConfigError("A crop audit needs a cropper, a ratio and a policy at least.")
        for name, high in (("epsilon", 1.0), ("inside", 1.0), ("temperature", float("inf"))):
            value = getattr(self, name)
            if value is not None and not 0 < value <= high:
                raise ConfigError(f"{name} is {value}; it must lie above 0 and be {high:g} at most.")
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
        parts += [f"padding {self.padding.lower()}"] * (self.padding != "black")
        parts += [f"gap {self.gap}"] * bool(self.gap) + [f"jpeg {self.jpeg}"] * (self.jpeg is not None)
        return ", ".join(parts)

    @property
    def padding_colour(self) -> tuple[int, int, int]:
        """R, G, B of ``padding``."""
        code = {"black": "#000000", "white": "#ffffff"}.get(self.padding, self.padding)
        red, green, blue = bytes.fromhex(code[1:])
        return red, green, blue

    @property
    def main_ratio(self) -> float:
        """The ratio nearest to 1."""
        return min(self.ratios, key=lambda ratio: abs(ratio - 1))

    def identity(self) -> dict[str, Any]:
        """What must be the same for a run folder to be resumed."""
        fields = asdict(self)
        for name in ("device", "settings", "epsilon", "bootstrap", "min_group", "source", "inside"):
            fields.pop(name)
        for name, usual in (("photos_per_person", "all"), ("padding", "black")):  # as runs of before these choices were
            if fields[name] == usual:
                fields.pop(name)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


PRESETS: dict[str, dict[str, Any]] = {
    "exact": {},
    "published": {"orders": "left", "draws": 10_000, "jpeg": 75, "ties": "first", "photos_per_person": "one"},
}
"""``published``: as Yee et al. 2021 did it; one person's photo drawn with replacement, the first group on the left."""


@dataclass(frozen=True, slots=True)
class CropsSettings:
    """All options of ``gslopes crops``."""

    preset: Literal["exact", "published"] = option(
        "exact", help="Defaults of gslopes, or the choices of Yee et al. 2021."
    )
    embed: Literal["thumbs", "full", "none"] = option("thumbs", help="Pictures inside the page.", advanced=True)
    crops: CropsConfig = section(CropsConfig)
    cost_limits: CostLimits = section(CostLimits, group="score")


class CropsOptions(CostOptions, TypedDict, total=False):
    """The options of ``CropsSettings`` as keywords; ``config`` is a TOML file with more."""

    preset: Literal["exact", "published"]
    embed: Literal["thumbs", "full", "none"]
    groups: str | Sequence[str]
    cropper: str | Sequence[str]
    attach: Literal["horizontal", "vertical", "none"]
    height: int | None
    max_side: int | None
    gap: int
    padding: str
    jpeg: int | None
    orders: Literal["both", "left"]
    pairs: int | None
    max_pairs: int
    draws: int | None
    together: int
    stability: int
    ratios: float | Sequence[float]
    policy: str | Sequence[str]
    temperature: float | None
    weights: Literal["softmax", "shifted"]
    ties: Literal["half", "first"]
    epsilon: float
    inside: float
    min_group: int
    ambiguous: Literal["drop", "first", "sample"]
    photos_per_person: Literal["all", "one"]
    bootstrap: int
    seed: int
    keep_maps: bool
    source: str
    files: str
    limit: int | None
    device: str
    config: str | Path | None


def configure(options: Mapping[str, Any]) -> CropsSettings:
    """The settings from options, see ``core.options.build``; those of a preset where no other is given.

    Raises: ConfigError, UnknownName.
    """
    mapping = merged(CropsSettings, options)
    crops = mapping.setdefault("crops", {})
    if isinstance(crops, dict):
        mapping["crops"] = {**PRESETS.get(mapping.get("preset", "exact"), {}), **crops}
    return from_dict(CropsSettings, mapping)
