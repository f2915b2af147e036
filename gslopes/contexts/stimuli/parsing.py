"""Where a portrait shows a person, and where hair, by the face parser: near by for the head, from afar for the body."""

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import cv2
import numpy as np
import torch

from gslopes.core.geometry import similarity
from gslopes.core.records import ByteArray, FloatArray, floats
from gslopes.faces import zoo
from gslopes.faces.compose.skin import class_probabilities
from gslopes.faces.networks.tagger import folded
from gslopes.faces.zoo.framing import CHIP, framed


class View(NamedTuple):
    """A square around the face: pixels of its side, its side in chips, and how far its middle lies below the chip's."""

    size: int
    side: float
    down: float


HEAD = View(256, 2.0, 0.16)
BODY = View(128, 2.4, -0.12)
AGAIN = View(192, 1.6, 0.08)


class Parsed(NamedTuple):
    """How likely each pixel of a photo is, (H, W) float32 in [0, 1]; -1 beyond the view.

    person: all but the parser's background.  hair: and hats.
    """

    person: FloatArray
    hair: FloatArray


@cache
def _parser() -> zoo.LoadedModel:
    parser = zoo.load("face-parser", "cpu")
    return replace(parser, module=folded(parser.module))


def parsed(pixels: ByteArray, points: FloatArray, view: View) -> Parsed:
    """One view of a portrait.  pixels: (H, W, 3) uint8 RGB in sRGB.  points: (5, 2) of the face, pixels.

    Raises: ModelError.
    """
    frame = (CHIP - (0.5, 0.5 + view.down)) * view.size / view.side + view.size / 2 - 0.5
    matrix = similarity(points, frame)
    if matrix is None:  # points that span no plane
        nothing = np.full(pixels.shape[:2], -1, np.float32)
        return Parsed(nothing, nothing)
    parser = _parser()
    labels = parser.spec.labels
    picture = framed(pixels, matrix, view.size)[None]
    seeing = replace(parser, spec=replace(parser.spec, size=view.size))
    shares = class_probabilities(seeing, picture, torch.device("cpu"))[0].numpy()
    hair = shares[labels.index("hair")] + shares[labels.index("hat")]
    planes = np.dstack([1 - shares[labels.index("background")], hair])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    size = pixels.shape[1::-1]
    seen = floats(cv2.warpAffine(planes, matrix, size, flags=flags, borderValue=(-1, -1)))
    return Parsed(seen[..., 0], seen[..., 1])
