"""Masks of the editable region from a face parser's 19 classes (CelebAMask-HQ).

Source of the idea: Joo & Kärkkäinen 2020, §3.3: only changes on the skin of the face are kept.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import local
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import interpolate

from gslopes.core import ModelError, Names, UnknownName, read_beside, serving
from gslopes.core.records import Array, ByteArray, Face, FloatArray, Photo, floats, slices
from gslopes.core.runtime import batch_size
from gslopes.faces.compose.masks import SIDE, Head, bust_matrix, head_mask, soft_mask
from gslopes.faces.networks.tagger import folded
from gslopes.faces.zoo import LoadedModel, load
from gslopes.faces.zoo.checkpoint import load_bisenet
from gslopes.faces.zoo.framing import after, carried, crop_matrix, framed
from gslopes.faces.zoo.reader import on_device, standardised

_FORM = read_beside(__file__, "skin.toml")
CLASSES = tuple(_FORM["classes"])
REGIONS = {region: tuple(names) for region, names in _FORM["regions"].items()}

# Pixels that the parser sees at once on the CPU, on which more are not faster: 2 pictures of 256 pixels, 8 of 128;
# and the bytes for each.
BATCH_SIZE = 135_000
PIXEL = 60

PLANES = [*REGIONS]  # regions whose classes are summed where the parser is
LIPS = 0.75  # share of the skin's tone that lips have
# Sigma of the Gaussian between skin and eyes, brows and lips, in units of the chip's side.
EDGE = 1 / 128


def region_classes(region: str, labels: Names = CLASSES) -> tuple[int, ...]:
    """Indices of the classes that make up a region, ascending.

    region: ``face``, ``skin`` or ``head``.  labels: the parser's class names, in order.

    Raises: UnknownName for a class that the parser lacks.

    >>> [CLASSES[index] for index in region_classes("skin")]
    ['skin', 'nose']
    """
    for name in REGIONS[region]:
        if name not in labels:
            raise UnknownName("face parser class", name, labels)
    return tuple(index for index, label in enumerate(labels) if label in REGIONS[region])


class ParserMasker:
    """A records.Masker on a face parser.

    parser: from the zoo. One that sees another crop than the chip sees the photo's own pixels.
    region: as in ``region_classes``.
    size: side of the chips and of the masks, pixels.  device: where the parser is, as torch names it.
    file: of a parser that is not the zoo's.

    Raises: UnknownName as ``region_classes``.
    """

    def __init__(
        self,
        parser: LoadedModel,
        region: str = "face",
        size: int = 128,
        device: str | torch.device = "cpu",
        file: Path | None = None,
    ) -> None:
        self.parser = replace(parser, module=folded(parser.module))
        self.size = size
        self.device = torch.device(device)
        region_classes(region, parser.spec.labels)
        self.region = region
        self.file = file
        self.crop = (
            None
            if parser.spec.crop == "chip"
            else crop_matrix(parser.spec.crop, parser.spec.size, size)
        )
        self._memory = local()  # each thread's own: no rounding depends on other threads

    def __call__(
        self, photos: list[Photo], faces: list[Face], chips: ByteArray, border: float | None = None
    ) -> FloatArray:
        """(B, size, size) float32 in [0, 1]; a parser of chips does not look at the photos and faces."""
        return self._masks(self.parse(photos, faces, chips), border, self.region)

    def _masks(self, parsed: Sequence[Tensor], border: float | None, region: str) -> FloatArray:
        return np.stack([soft_mask(plane, border=border) for plane in self._likely(parsed, region)])

    def _likely(self, parsed: Sequence[Tensor], region: str) -> FloatArray:
        """How likely each pixel of the chips is of a region, (B, size, size).  parsed: as ``parse`` gives it."""
        with torch.inference_mode():
            likely = torch.cat([part[:, [PLANES.index(region)]] for part in parsed])
            if self.crop is None:
                likely = resized(likely, self.size)
            maps = likely[:, 0].clamp(0, 1).cpu().numpy()
        if self.crop is None:
            return maps
        return np.stack([carried(plane, self.crop, self.size) for plane in maps])

    def parse(self, photos: list[Photo], faces: list[Face], chips: ByteArray) -> list[Tensor]:
        """How likely each pixel is of each region, a tensor for each few chips; masks and heads need it of the same."""
        if getattr(self._memory, "chips", None) is not chips:
            pictures = chips
            if self.crop is not None:
                pictures = self._cut(photos, [after(self.crop, face.matrix) for face in faces])
            self._memory.seen = self.seen(pictures)
            self._memory.chips = chips
        return self._memory.seen

    def _cut(self, photos: list[Photo], matrices: list[Array]) -> ByteArray:
        """(B, s, s, 3), what the parser sees of each photo.  matrices: (2, 3), photo frame to its pictures' frame."""
        side = self.parser.spec.size
        pairs = zip(photos, matrices, strict=True)
        return np.stack([framed(photo.pixels, matrix, side) for photo, matrix in pairs])

    def seen(self, pictures: ByteArray) -> list[Tensor]:
        """Pictures to how likely each pixel is of each of ``PLANES``, few by few."""
        if serving.line:
            return [torch.from_numpy(np.stack(serving.ask(pictures, (parsing, self.file))))]
        step = max(1, batch_size(str(self.device), PIXEL, BATCH_SIZE) // self.parser.spec.size**2)
        sums = [list(region_classes(region, self.parser.spec.labels)) for region in PLANES]
        return [
            torch.stack([shares[:, classes].sum(1) for classes in sums], 1)
            for part in slices(len(pictures), step)
            for shares in [class_probabilities(self.parser, pictures[part], self.device)]
        ]

    def heads(
        self, photos: list[Photo], faces: list[Face], chips: ByteArray, border: float | None = None
    ) -> list[Head]:
        """Where face, ears and neck are, whatever the masker's own region is; arguments as in a call."""
        parsed = self.parse(photos, faces, chips)
        mouth = LIPS * self._likely(parsed, "lips")
        tones = self._likely(parsed, "skin") + mouth
        # where an eye ends the parser's has lids
        most = 1 - (3 * self._likely(parsed, "eyes") - 2).clip(0) - mouth
        scale = self.parser.spec.size / (SIDE * self.size)
        smaller = np.array([(scale, 0, (scale - 1) / 2), (0, scale, (scale - 1) / 2)])
        # the parser sees the bust, see ``masks.Head``
        busts = [after(smaller, bust_matrix(face.matrix, self.size)) for face in faces]
        with torch.inference_mode():
            answers = self.seen(self._cut(photos, busts))
            maps = torch.cat([part[:, PLANES.index("head")] for part in answers]).cpu().numpy()
        planes = zip(
            self._masks(parsed, border, "head"),
            maps,
            self._masks(parsed, border, "face"),
            tones,
            most,
            strict=True,
        )
        heads = []
        for mask, likely, inner, tone, bound in planes:
            around = carried(likely, smaller, round(SIDE * self.size))
            smooth = cv2.GaussianBlur(tone, (0, 0), EDGE * self.size)
            heads.append(Head(head_mask(mask, around, border), inner, floats(smooth), bound))
        return heads


def parsing(device: str, file: Path | None) -> Any:
    """For ``core.serving``: pictures to how likely each pixel is of each of ``PLANES``."""
    parser = load("face-parser", device) if file is None else load_bisenet(file, device)
    masker = ParserMasker(parser, device=device)
    return lambda pictures: [*torch.cat(masker.seen(np.stack(pictures))).cpu().numpy()]


# --- Ask a face parser of the zoo what each pixel of a picture shows --------------------------------------------------
# One whose spec has ``mirrored`` sees the picture and its mirror image; its answers are averaged.


def class_probabilities(parser: LoadedModel, pictures: ByteArray, device: torch.device) -> Tensor:
    """Pictures (B, s, s, 3) uint8 RGB, in the parser's crop, to (B, classes, S, S) that sum to 1 over the classes.

    parser: its network takes (B, 3, S, S) float32, (rgb - mean) / std of its spec, and gives logits
        (B, classes, S, S), classes as the spec's labels. Its S may differ from s.
    device: where it is.

    Raises: ModelError if it does not give one channel per class of its spec.
    """
    spec = parser.spec
    with torch.inference_mode():
        chips = resized(standardised(on_device(pictures, device), spec.mean, spec.std), spec.size)
        shares: Tensor = parser.module(chips).float().softmax(1)
        if shares.shape[1] != len(spec.labels):
            gives = f"The face parser {spec.name} gives {shares.shape[1]} classes"
            raise ModelError(f"{gives}, its spec names {len(spec.labels)}.")
        if spec.mirrored:
            mirrored = parser.module(chips.flip(3)).float().softmax(1).flip(3)
            shares = shares.add_(mirrored[:, mirrored_classes(spec.labels).to(device)]).div_(2)
        return shares


def mirrored_classes(labels: Names) -> Tensor:
    """For every class the class that it becomes in a mirror, (classes,): left and right change places."""
    mirror = {
        name: name.replace("left", "@").replace("right", "left").replace("@", "right")
        for name in labels
    }
    return torch.tensor([labels.index(mirror[name]) for name in labels])


def resized(pictures: Tensor, size: int) -> Tensor:
    """Pictures (B, C, s, s) at another side; smoothed first if that is smaller."""
    if pictures.shape[-2:] == (size, size):
        return pictures
    return interpolate(
        pictures, size=(size, size), mode="bilinear", align_corners=False, antialias=True
    )
