"""The person by the face parser: for backdrops whose colour says nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import cv2
import numpy as np

from gslopes.contexts.pictures.cutout import Mask, trapezoid
from gslopes.core.records import FloatArray, Photo

if TYPE_CHECKING:
    from gslopes.faces.compose.skin import ParserMasker

PersonMask = Callable[[Photo, FloatArray, FloatArray], Mask]
LIKELY = 0.5


class PersonParser:
    """A photo to what the face parser takes for the person: every class but the background, and shoulders below it.

    The parser sees the head in CelebA-HQ's framing (hair, neck); the body under that frame has no class, so the
    shape of shoulders stands for it. GrabCut decides from there.

    device: where the parser runs, as torch names it.  It is loaded at the first call.

    Raises: ModelError or DataMissing, when called, if the parser is not there.
    """

    def __init__(self, device: str) -> None:
        self.device = device

    @cached_property
    def masker(self) -> ParserMasker:
        """The parser itself."""
        from gslopes.faces import zoo
        from gslopes.faces.compose.skin import ParserMasker

        parser = zoo.load("face-parser", self.device)
        labels = [label for label in parser.spec.labels if label != "background"]
        return ParserMasker(parser, labels, parser.spec.size, self.device)

    def __call__(self, photo: Photo, points: FloatArray, face: FloatArray) -> Mask:
        """(H, W) bool.  points: (5, 2) of the face, photo frame.  face: (4,) its box."""
        from gslopes.core.geometry import similarity
        from gslopes.faces.compose.skin import framed
        from gslopes.faces.zoo.framing import HEADSHOT

        height, width = photo.pixels.shape[:2]
        side = self.masker.parser.spec.size
        matrix = similarity(np.asarray(points, np.float64), HEADSHOT * side - 0.5)
        if matrix is None:
            return shoulders((height, width), face)
        likely = self.masker.likelihood(framed(photo.pixels, matrix, side)[None])[0]
        back = np.asarray(cv2.invertAffineTransform(matrix), np.float64)
        whole = cv2.warpAffine(likely, back, (width, height), flags=cv2.INTER_LINEAR)
        return np.asarray((whole > LIKELY) | shoulders((height, width), face))


def shoulders(shape: tuple[int, int], face: FloatArray) -> Mask:
    """(H, W) bool: a trapezoid that opens downwards under a face box x0 y0 x1 y1."""
    x0, _, x1, chin = (float(number) for number in face)
    y, x = np.mgrid[0 : shape[0], 0 : shape[1]].astype(np.float32)
    return trapezoid(x, y, x0, x1, chin)
