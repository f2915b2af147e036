"""Masks of the editable region from a face parser's 19 classes (CelebAMask-HQ).

Source of the idea: Joo & Kärkkäinen 2020, §3.3, "segment the facial skin region and only retain changes within".
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from torch.nn.functional import interpolate

from gslopes.compose.masks import soft_mask
from gslopes.core.errors import ConfigError, ModelError, UnknownName
from gslopes.core.records import ByteArray, Face, FloatArray, Photo
from gslopes.datasets.celebamask import CLASSES
from gslopes.zoo import LoadedModel

# Hair, ears, neck, spectacles and background are in neither. By name alone: CelebAMask-HQ and the parsers trained on it
# are around with several numberings, and a wrong one would edit hair without anybody noticing.
REGIONS: dict[str, tuple[str, ...]] = {
    "face": (
        "skin", "left brow", "right brow", "left eye", "right eye", "nose", "mouth", "upper lip", "lower lip",
    ),
    "skin": ("skin", "nose"),
}  # fmt: skip


def region_classes(region: str | Iterable[str | int], labels: tuple[str, ...] = CLASSES) -> tuple[int, ...]:
    """Indices of the classes that make up a region, ascending.

    region: ``face``, ``skin``, or any classes by name or index.
    labels: the parser's class names, in order.

    Raises: UnknownName for a region or class that there is not; ConfigError for no class at all.

    >>> [CLASSES[index] for index in region_classes("skin")]
    ['skin', 'nose']
    """
    if isinstance(region, str) and region not in REGIONS:
        raise UnknownName("region", region, REGIONS)
    classes = {_class(item, labels) for item in (REGIONS[region] if isinstance(region, str) else region)}
    if not classes:
        raise ConfigError("A region needs at least one class.", f"The classes are {', '.join(labels)}.")
    return tuple(sorted(classes))


def _class(item: str | int, labels: tuple[str, ...]) -> int:
    if isinstance(item, str):
        if item.replace("_", " ") not in labels:
            raise UnknownName("face parser class", item, labels)
        return labels.index(item.replace("_", " "))
    if not 0 <= item < len(labels):
        raise ConfigError(f"There is no face parser class {item}: they run from 0 to {len(labels) - 1}.")
    return int(item)


class ParserMasker:
    """A records.Masker on a face parser.

    parser: from the zoo; its network takes (B, 3, S, S) float32, (rgb - mean) / std of its spec, and gives logits
        (B, classes, S, S), classes as the spec's labels. Its S may differ from the chip's.
    region: as in ``region_classes``.
    size: side of the chips and of the masks, pixels.
    device: where the parser is, as torch names it.
    sigma, border: of the mask's edge, in chip pixels; see ``soft_mask``.

    Raises: UnknownName or ConfigError as ``region_classes``.
    """

    def __init__(
        self,
        parser: LoadedModel,
        region: str | Iterable[str | int] = "face",
        size: int = 128,
        device: str | torch.device = "cpu",
        *,
        sigma: float | None = None,
        border: float | None = None,
    ) -> None:
        self.parser = parser
        self.size = size
        self.device = torch.device(device)
        self.classes = region_classes(region, parser.spec.labels)
        self.sigma, self.border = sigma, border

    def __call__(self, photos: list[Photo], faces: list[Face], chips: ByteArray) -> FloatArray:
        """(B, size, size) float32 in [0, 1]; the photos and faces are not looked at, the chips hold it all."""
        if len(chips) == 0:
            return np.zeros((0, self.size, self.size), np.float32)
        return np.stack([soft_mask(p, self.sigma, self.border) for p in self.likelihood(chips)])

    def likelihood(self, chips: ByteArray) -> FloatArray:
        """How likely each pixel is in the region, (B, size, size) float32 in [0, 1].

        chips: (B, size, size, 3) uint8 RGB.

        Raises: ModelError if the parser's output does not have one channel per class of its spec.
        """
        spec = self.parser.spec
        with torch.inference_mode():
            rgb = torch.from_numpy(np.ascontiguousarray(chips)).to(self.device).permute(0, 3, 1, 2).float() / 255
            mean, std = (torch.tensor(v, device=self.device).view(1, 3, 1, 1) for v in (spec.mean, spec.std))
            logits = self.parser.module(_resize((rgb - mean) / std, spec.size))
            if logits.shape[1] != len(spec.labels):
                raise ModelError(
                    f"The face parser {spec.name} gives {logits.shape[1]} classes, its spec names {len(spec.labels)}."
                )
            likely = logits.float().softmax(1)[:, list(self.classes)].sum(1, keepdim=True)
            result: FloatArray = _resize(likely, self.size)[:, 0].clamp(0, 1).cpu().numpy()
        return result


def _resize(pictures: torch.Tensor, size: int) -> torch.Tensor:
    if pictures.shape[-2:] == (size, size):
        return pictures
    return interpolate(pictures, size=(size, size), mode="bilinear", align_corners=False, antialias=True)
