"""The saliency models that come with OpenCV (its contrib build): nothing to download, no weights, no torch.

Both see only a small version of the picture. ``view`` gives the (width, height) to which photos are shrunk before they
are joined side by side, None if that differs from shrinking the joined picture; ``shrink`` does it to one photo, and
``maps_of_shrunk`` takes the shrunk photos put together.
"""

from abc import ABC, abstractmethod
from typing import Any

import cv2
import numpy as np

from gslopes.ask.boxes import Size, Sizes, fitted, grid_map, resized
from gslopes.ask.croppers import Plain
from gslopes.core import UsageError
from gslopes.core.records import ByteArray, FloatArray, SaliencyMap

GRID = 64
FITTED = 320  # pixels: a large photo is not to be judged by finer detail than a small one


def saliency_models() -> Any:
    """OpenCV's module of them.  Raises: UsageError if another build of OpenCV lies over the contrib build."""
    if not hasattr(cv2, "saliency"):
        hint = "pip uninstall -y opencv-python opencv-python-headless opencv-contrib-python && "
        hint += "pip install --force-reinstall --no-deps opencv-contrib-python-headless"
        why = "another build of it lies over the contrib build"
        raise UsageError(f"This OpenCV has no saliency models: {why}.", hint)
    return cv2.saliency


class _OfOpenCV(Plain, ABC):
    """What both have.  Raises: UsageError as ``saliency_models``, before any work."""

    def __post_init__(self) -> None:
        self.version = f"opencv {cv2.__version__}"
        saliency_models()

    def maps(self, pictures: list[ByteArray]) -> list[SaliencyMap]:
        """(H, W, 3) uint8 RGB pictures to maps."""
        return [
            grid_map(self.maps_of_shrunk(self._whole(picture)[None])[0], picture, self.name)
            for picture in pictures
        ]

    @abstractmethod
    def maps_of_shrunk(self, shrunk: ByteArray) -> FloatArray:
        """Pictures as the model sees them to (B, rows, columns) float32."""

    @abstractmethod
    def _whole(self, picture: ByteArray) -> ByteArray:
        """A whole picture as the model sees it."""


class SpectralResidual(_OfOpenCV):
    """Spectral residual, by OpenCV: what of a picture's spectrum departs from the average of its neighbourhood.

    It sees the picture as 64 x 64 gray pixels and works on the whole of them at once. But its own shrink (bilinear, in
    whole numbers) takes only the pixels next to each sample: two photos of one size, shrunk to 64 x 32 each and
    joined, are bit for bit the joined photos shrunk.

    Maps have 64 x 64 cells; a picture of one colour gives a constant map.

    Source: Hou & Zhang 2007, doi 10.1109/CVPR.2007.383267.
    """

    def _whole(self, picture: ByteArray) -> ByteArray:
        return self.shrink(picture, GRID, GRID)

    def view(self, sizes: Sizes) -> Size | None:
        """A size if all photos have one size, the grid can be shared out, and nothing is enlarged."""
        people = len(sizes)
        if len(set(sizes)) > 1 or GRID % people or min(sizes[0]) * people < GRID:
            return None
        return GRID // people, GRID

    def shrink(self, picture: ByteArray, width: int, height: int) -> ByteArray:
        """(height, width) uint8 gray of a picture, as the model shrinks it."""
        gray = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY) if picture.ndim == 3 else picture
        return np.asarray(
            cv2.resize(gray, (width, height), interpolation=cv2.INTER_LINEAR_EXACT), np.uint8
        )

    def maps_of_shrunk(self, shrunk: ByteArray) -> FloatArray:
        """(B, 64, 64) uint8 gray to (B, 64, 64) float32 in [0, 1]."""
        model = saliency_models().StaticSaliencySpectralResidual.create()
        result = np.zeros(shrunk.shape, np.float32)
        for index, picture in enumerate(shrunk):
            if np.ptp(picture):  # not the spectrum of nothing: rounding would decide
                result[index] = model.computeSaliency(picture)[1]
        return result


class FineGrained(_OfOpenCV):
    """Fine-grained saliency, by OpenCV: differences between centre and surround on several scales.

    Neighbourhoods are counted in pixels, so the picture is fitted into 320 x 320 first. A cell of the map is the mean
    of 4 x 4 of these pixels: single edge pixels would decide otherwise. Scores lie in [0, 1].

    Source: Montabone & Soto 2010, doi 10.1016/j.imavis.2009.06.006.
    """

    def _whole(self, picture: ByteArray) -> ByteArray:
        return fitted(picture, FITTED, "area")

    def view(self, sizes: Sizes) -> Size | None:
        """A size if all photos have one size and share the fitted pixels out evenly.

        A fitted pixel is the mean of a rectangle: then no rectangle reaches over a seam.
        """
        people = len(sizes)
        width, height = sizes[0]
        joined = width * people, height
        scale = FITTED / max(joined)
        wide, tall = (max(1, round(side * scale)) for side in joined)
        if len(set(sizes)) > 1 or scale > 1 or wide % people:
            return None
        return wide // people, tall

    def shrink(self, picture: ByteArray, width: int, height: int) -> ByteArray:
        """(height, width, 3) uint8 RGB of a picture, as the model's own fitting shrinks it."""
        return resized(picture, width, height, "area")

    def maps_of_shrunk(self, shrunk: ByteArray) -> FloatArray:
        """(B, h, w, 3) uint8 RGB fitted pictures to (B, h // 4, w // 4) float32 in [0, 1]."""
        model = saliency_models().StaticSaliencyFineGrained.create()
        columns = max(1, shrunk.shape[2] // 4)
        rows = max(1, shrunk.shape[1] // 4)
        result = np.empty((len(shrunk), rows, columns), np.float32)
        for index, picture in enumerate(shrunk):
            scores = model.computeSaliency(np.ascontiguousarray(picture[..., ::-1]))[1]
            result[index] = cv2.resize(scores, (columns, rows), interpolation=cv2.INTER_AREA)
        return result
