"""Masks of the editable region from a face parser's 19 classes (CelebAMask-HQ).

Source of the idea: Joo & Kärkkäinen 2020, §3.3, "segment the facial skin region and only retain changes within".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import cv2
import numpy as np
import torch
from numpy.typing import NDArray

from gslopes.core.errors import ConfigError, UnknownName
from gslopes.core.geometry import similarity, warp
from gslopes.core.records import ByteArray, Face, FloatArray, Photo
from gslopes.core.runtime import batch_size
from gslopes.faces.compose.masks import SIDE, Head, bust_matrix, head_mask, soft_mask
from gslopes.faces.zoo import LoadedModel
from gslopes.faces.zoo.framing import CHIP, FRAMES
from gslopes.faces.zoo.parsing import CLASSES, FACE, SKIN, probabilities_at_hand, resized

# By name alone: CelebAMask-HQ and the parsers trained on it are around with several numberings, and a wrong one would
# edit hair unnoticed.
REGIONS: dict[str, tuple[str, ...]] = {
    "face": FACE,
    "skin": SKIN,
    "head": (*FACE, "left ear", "right ear", "neck"),
}


# Pixels that the parser sees at once on the CPU, where more is no faster: 2 pictures of 256 pixels, 8 of 128; and the
# bytes for each.
BATCH_SIZE = 135_000
PIXEL = 60

# Beyond the photo, in units of the picture's side: sigma of the blur, and the length over which it sets in.
BLUR, FADE = 1 / 16, 1 / 24


def region_classes(region: str | Iterable[str | int], labels: tuple[str, ...] = CLASSES) -> tuple[int, ...]:
    """Indices of the classes that make up a region, ascending.

    region: ``face``, ``skin``, ``head``, or any classes by name or index.  labels: the parser's class names, in order.

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

    parser: from the zoo, see ``faces.zoo.parsing``.  region: as in ``region_classes``.
    size: side of the chips and of the masks, pixels.  device: where the parser is, as torch names it.

    A parser sees what it was trained on. One whose spec says ``chip`` gets the chips. Any other gets its own framing,
    cut from the photo at its own resolution along the face's matrix: the chip ends at the chin, where a
    parser of whole heads expects a neck. What it says is then cut back to the chip. Where that framing goes beyond the
    photo, the photo is mirrored and blurred, as the pictures of CelebA-HQ were made (see ``framed``).

    Raises: UnknownName or ConfigError as ``region_classes``.
    """

    def __init__(
        self,
        parser: LoadedModel,
        region: str | Iterable[str | int] = "face",
        size: int = 128,
        device: str | torch.device = "cpu",
    ) -> None:
        self.parser = parser
        parser.module.to(memory_format=torch.channels_last)
        self.size = size
        self.device = torch.device(device)
        self.classes = region_classes(region, parser.spec.labels)
        self.frame = _frame(parser.spec.crop, size, parser.spec.size)

    def __call__(
        self, photos: list[Photo], faces: list[Face], chips: ByteArray, border: float | None = None
    ) -> FloatArray:
        """(B, size, size) float32 in [0, 1]; a parser of chips does not look at the photos and faces."""
        return self._masks(photos, faces, chips, border, self.classes)

    def _masks(
        self,
        photos: list[Photo],
        faces: list[Face],
        chips: ByteArray,
        border: float | None,
        classes: tuple[int, ...],
    ) -> FloatArray:
        masks = np.zeros((len(chips), self.size, self.size), np.float32)
        step = max(1, batch_size(str(self.device), PIXEL, BATCH_SIZE) // self.parser.spec.size**2)
        for part in (slice(start, start + step) for start in range(0, len(chips), step)):
            if self.frame is None:
                likely = self.likelihood(chips[part], classes)
            else:
                likely = self.around(photos[part], faces[part], classes)
            masks[part] = [soft_mask(one, border=border) for one in likely]
        return masks

    def heads(
        self, photos: list[Photo], faces: list[Face], chips: ByteArray, border: float | None = None
    ) -> list[Head]:
        """Where face, ears and neck are, whatever the masker's own region is; arguments as in a call."""
        head, face = (region_classes(region, self.parser.spec.labels) for region in ("head", "face"))
        inside, alone = (self._masks(photos, faces, chips, border, classes) for classes in (head, face))
        side, busts = self.parser.spec.size, round(SIDE * self.size)
        frames = [_bust_frame(face, self.size, side, self.frame) for face in faces]
        seen = [framed(photo.pixels, matrix, side) for photo, (matrix, _) in zip(photos, frames, strict=True)]
        step = max(1, batch_size(str(self.device), PIXEL, BATCH_SIZE) // side**2)
        parts = [slice(start, start + step) for start in range(0, len(seen), step)]
        asked = np.concatenate([self._ask(np.stack(seen[part]), head)[:, 0].cpu().numpy() for part in parts])
        likely = [
            np.clip(warp(cast(ByteArray, one), back, busts), 0, 1).astype(np.float32)
            for one, (_, back) in zip(asked, frames, strict=True)
        ]
        return [
            Head(head_mask(mask, one, border), inner) for mask, one, inner in zip(inside, likely, alone, strict=True)
        ]

    def around(self, photos: list[Photo], faces: list[Face], classes: tuple[int, ...] | None = None) -> FloatArray:
        """As ``likelihood``, (B, size, size), of the parser's own framing of each face, cut back to the chip."""
        assert self.frame is not None
        side, back = self.parser.spec.size, np.asarray(cv2.invertAffineTransform(self.frame), np.float64)
        heads = [
            framed(photo.pixels, self.frame @ np.vstack([face.matrix, (0, 0, 1)]), side)
            for photo, face in zip(photos, faces, strict=True)
        ]
        likely = self._ask(np.stack(heads), classes)[:, 0].cpu().numpy()
        # a map of one channel is carried like a picture
        chips = [warp(cast(ByteArray, one), back, self.size) for one in likely]
        return np.clip(np.stack(chips), 0, 1).astype(np.float32)

    def likelihood(self, chips: ByteArray, classes: tuple[int, ...] | None = None) -> FloatArray:
        """How likely each pixel is in the region, (B, size, size) float32 in [0, 1].

        chips: (B, size, size, 3) uint8 RGB, seen by the parser as they are.  classes: others than the masker's own.

        Raises: ModelError if the parser's output does not have one channel per class of its spec.
        """
        with torch.inference_mode():
            result: FloatArray = resized(self._ask(chips, classes), self.size)[:, 0].clamp(0, 1).cpu().numpy()
        return result

    def _ask(self, pictures: ByteArray, classes: tuple[int, ...] | None = None) -> torch.Tensor:
        """Pictures (B, s, s, 3) uint8 RGB to (B, 1, S, S): how likely each of the parser's pixels is in the region."""
        with torch.inference_mode():
            seen = probabilities_at_hand(self.parser, pictures, self.device)
            return seen[:, list(classes or self.classes)].sum(1, keepdim=True)


def framed(pixels: ByteArray, matrix: NDArray[np.float64], side: int) -> ByteArray:
    """A picture that may go far beyond the photo, (side, side, 3) uint8 RGB, for a parser alone, never for a result.

    pixels: (H, W, 3) uint8 RGB.  matrix: (2, 3), photo frame to the picture's.

    Beyond the photo stands its mirror image, more and more blurred: a tight photo must not be ringed by faces.

    Source: Karras, Aila, Laine, Lehtinen 2018, Progressive Growing of GANs, appendix C.
    """
    picture = warp(pixels, matrix, side)
    scale = float(np.sqrt(abs(np.linalg.det(matrix[:, :2]))))
    y, x = np.mgrid[:side, :side].astype(np.float32)
    back = cv2.invertAffineTransform(matrix).astype(np.float32)
    u, v = (row[0] * x + row[1] * y + row[2] for row in back)
    height, width = pixels.shape[:2]
    beyond = scale * -np.minimum(np.minimum(u, width - 1 - u), np.minimum(v, height - 1 - v))
    blurred = np.clip(beyond / (FADE * side), 0, 1)[..., None]
    if not blurred.any():
        return picture
    smooth = cv2.GaussianBlur(picture, (0, 0), BLUR * side, borderType=cv2.BORDER_REPLICATE)
    return np.rint(picture + blurred * (smooth.astype(np.float32) - picture)).astype(np.uint8)


def _bust_frame(
    face: Face, chip: int, side: int, frame: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(2, 3) twice: from the photo to the picture in which a parser sees the bust, and from there to the bust's frame.

    frame: from the chip's frame to that of the parser's own pictures; None for a parser of chips, which sees the bust.
    """
    bust = bust_matrix(face.matrix, chip)
    if frame is None:
        scale = side / (SIDE * chip)
        shown = np.array([(scale, 0, (scale - 1) / 2), (0, scale, (scale - 1) / 2)])
        shown = shown @ np.vstack([bust, (0, 0, 1)])
    else:
        shown = frame @ np.vstack([face.matrix, (0, 0, 1)])
    back = np.vstack([bust, (0, 0, 1)]) @ np.linalg.inv(np.vstack([shown, (0, 0, 1)]))
    return shown, back[:2]


def _frame(crop: str, chip: int, side: int) -> NDArray[np.float64] | None:
    """(2, 3), the similarity from the chip's frame to that of a parser's pictures; None if they are the chips."""
    if crop == "chip":
        return None
    frame = similarity(CHIP * chip - 0.5, FRAMES[crop] * side - 0.5)
    assert frame is not None  # the templates span planes
    return frame
