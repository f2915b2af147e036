"""The saliency models that come with OpenCV (its contrib build): nothing to download, no weights, no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from gslopes.ask.croppers import NoOptions, Setting
from gslopes.ask.croppers.records import SaliencyMap
from gslopes.ask.croppers.resizing import fitted, resized
from gslopes.core.errors import AnswerError, ConfigError, UsageError
from gslopes.core.records import ByteArray, FloatArray

GRID = 64
Sizes = tuple[tuple[int, int], ...]  # (width, height) of photos that are joined, pixels


def saliency_models() -> Any:
    """OpenCV's module of them.  Raises: UsageError if another build of OpenCV lies over the contrib build."""
    if not hasattr(cv2, "saliency"):
        raise UsageError(
            "This OpenCV has no saliency models: another build of it lies over the contrib build.",
            "pip uninstall -y opencv-python opencv-python-headless opencv-contrib-python && "
            "pip install --force-reinstall --no-deps opencv-contrib-python-headless",
        )
    return cv2.saliency


class SpectralResidual:
    """Spectral residual, by OpenCV: what of a picture's spectrum departs from the average of its neighbourhood.

    It sees the picture as 64 x 64 gray pixels and works on the whole of them at once. But its own
    shrink (bilinear, in whole numbers) takes the pixels next to each sample alone: two photos of one size, shrunk to
    64 x 32 each and joined, are bit for bit the joined photos shrunk. Hence ``shrink`` and ``maps_of_shrunk``.

    Source: Hou & Zhang 2007, doi 10.1109/CVPR.2007.383267.
    """

    def __init__(self, name: str, options: NoOptions, setting: Setting) -> None:
        del options, setting
        self.name = name
        self.version = f"opencv {cv2.__version__}"
        saliency_models()  # before any work

    def maps(self, pictures: list[ByteArray]) -> list[SaliencyMap]:
        """(H, W, 3) uint8 RGB pictures to maps of 64 x 64 cells; a picture of one colour gives a constant map."""
        return [
            grid_map(self.maps_of_shrunk(self.shrink(picture, GRID, GRID)[None])[0], picture) for picture in pictures
        ]

    def view(self, sizes: Sizes, *, vertical: bool = False) -> tuple[int, int] | None:
        """(width, height) to which photos are shrunk that are joined side by side; None if that is not the same.

        It is where all have one size, the grid can be shared out, and nothing is enlarged.
        """
        people = len(sizes)
        if len(set(sizes)) > 1 or GRID % people or min(sizes[0]) * people < GRID:
            return None
        return (GRID, GRID // people) if vertical else (GRID // people, GRID)

    def shrink(self, picture: ByteArray, width: int, height: int) -> ByteArray:
        """(height, width) uint8 gray of a picture, as the model shrinks it."""
        gray = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY) if picture.ndim == 3 else picture
        return np.asarray(cv2.resize(gray, (width, height), interpolation=cv2.INTER_LINEAR_EXACT), np.uint8)

    def maps_of_shrunk(self, shrunk: ByteArray) -> FloatArray:
        """(B, 64, 64) uint8 gray to (B, 64, 64) float32 in [0, 1]."""
        model = saliency_models().StaticSaliencySpectralResidual.create()
        result = np.empty(shrunk.shape, dtype=np.float32)
        for index, picture in enumerate(shrunk):
            if np.ptp(picture) == 0:  # the spectrum of nothing: rounding would decide
                result[index] = 0.0
                continue
            result[index] = model.computeSaliency(picture)[1]
        return result


@dataclass(frozen=True, slots=True)
class FineGrainedOptions:
    """size: side of the square that the picture is fitted into first, pixels.

    Neighbourhoods are counted in pixels: without this a large photo would be judged by finer detail than a small one.
    """

    size: int = 320

    def __post_init__(self) -> None:
        if not 32 <= self.size <= 4096:
            raise ConfigError(f"size of fine-grained is {self.size}; it must lie between 32 and 4096.")


class FineGrained:
    """Fine-grained saliency, by OpenCV: differences between centre and surround on several scales.

    Source: Montabone & Soto 2010, doi 10.1016/j.imavis.2009.06.006.
    """

    Options = FineGrainedOptions

    def __init__(self, name: str, options: FineGrainedOptions, setting: Setting) -> None:
        del setting
        self.name, self.size = name, options.size
        self.version = f"opencv {cv2.__version__}"
        saliency_models()  # before any work

    def maps(self, pictures: list[ByteArray]) -> list[SaliencyMap]:
        """(H, W, 3) uint8 RGB pictures to maps of a quarter of the fitted size, scores in [0, 1].

        A cell is the mean of 4 x 4 pixels: single edge pixels would decide otherwise.
        """
        return [
            grid_map(self.maps_of_shrunk(fitted(picture, self.size, "area")[None])[0], picture) for picture in pictures
        ]

    def view(self, sizes: Sizes, *, vertical: bool = False) -> tuple[int, int] | None:
        """(width, height) to which photos are shrunk that are joined side by side; None if that is not the same.

        A pixel of the fitted picture is the mean of a rectangle. Where all photos have one size and share the fitted
        pixels out evenly, no rectangle reaches over a seam.
        """
        people, (width, height) = len(sizes), sizes[0]
        whole = (width, height * people) if vertical else (width * people, height)
        scale = min(self.size / side for side in whole)
        wide, tall = (max(1, round(side * scale)) for side in whole)
        if len(set(sizes)) > 1 or scale > 1 or (tall if vertical else wide) % people:
            return None
        return (wide, tall // people) if vertical else (wide // people, tall)

    def shrink(self, picture: ByteArray, width: int, height: int) -> ByteArray:
        """(height, width, 3) uint8 RGB of a picture, as the model's own fitting shrinks it."""
        return resized(picture, width, height, "area")

    def maps_of_shrunk(self, shrunk: ByteArray) -> FloatArray:
        """(B, h, w, 3) uint8 RGB fitted pictures to (B, h // 4, w // 4) float32 in [0, 1]."""
        model = saliency_models().StaticSaliencyFineGrained.create()
        columns, rows = max(1, shrunk.shape[2] // 4), max(1, shrunk.shape[1] // 4)
        result = np.empty((len(shrunk), rows, columns), dtype=np.float32)
        for index, picture in enumerate(shrunk):
            scores = model.computeSaliency(np.ascontiguousarray(picture[..., ::-1]))[1]
            result[index] = cv2.resize(scores, (columns, rows), interpolation=cv2.INTER_AREA)
        return result


def grid_map(scores: FloatArray, picture: ByteArray) -> SaliencyMap:
    """Scores of a grid over the whole of a picture as its map.  scores: (rows, columns)."""
    return SaliencyMap(scores, *centres(picture.shape[1], picture.shape[0], *scores.shape[::-1]))


def answered_map(answer: Any, picture: ByteArray, cropper: str) -> SaliencyMap:
    """A cropper's answer as the map of a picture.  Raises: AnswerError if it has other axes than rows and columns."""
    scores = np.asarray(answer, dtype=np.float32)
    if scores.ndim != 2:
        raise AnswerError(f"{cropper} answers with an array of shape {scores.shape}: a map is rows, columns.")
    return grid_map(scores, picture)


def centres(width: int, height: int, columns: int, rows: int) -> tuple[FloatArray, FloatArray]:
    """Centres of the cells of a grid over a picture, (columns,) and (rows,), pixels."""
    x = (np.arange(columns) + 0.5) * width / columns - 0.5
    y = (np.arange(rows) + 0.5) * height / rows - 0.5
    return np.clip(x, 0, width - 1).astype(np.float32), np.clip(y, 0, height - 1).astype(np.float32)
