"""Photos of several people side by side in one picture, and whose part of it is whose.

Source: Yee et al. 2021, section 4: pasted at the top, left to right, at native size, on black.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gslopes.ask.croppers.geometry import Box
from gslopes.core.errors import ConfigError
from gslopes.core.records import ByteArray

SEAM = 1e-6  # of the longer side: points as near to a seam belong to both sides
Attach = Literal["horizontal", "vertical"]
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the photos lie in a joined picture.

    width, height: of the joined picture, pixels.  photos: one box a photo.
    territories: one box a photo: the photo with its padding and half of the gaps next to it; together they are the
        picture.
    """

    width: int
    height: int
    photos: tuple[Box, ...]
    territories: tuple[Box, ...]

    def shares(self, x: Array, y: Array) -> Array:
        """(n, people) 1 in whose territory each point lies, 1/2 each where it lies on the seam between two.

        x, y: (n,) pixels from the picture's left and upper edge.
        """
        close = SEAM * max(self.width, self.height)
        across = [(x >= box.x0 - close) & (x <= box.x1 + close) for box in self.territories]
        down = [(y >= box.y0 - close) & (y <= box.y1 + close) for box in self.territories]
        inside = (np.stack(across, axis=1) & np.stack(down, axis=1)).astype(np.float64)
        return np.asarray(inside / inside.sum(axis=1, keepdims=True))

    def on_padding(self, x: float, y: float) -> bool:
        """Whether the pixel lies on no photo."""
        return not any(box.holds(x, y) for box in self.photos)


def layout(sizes: Sequence[tuple[int, int]], attach: Attach = "horizontal", gap: int = 0) -> Layout:
    """Where photos of these sizes lie.

    sizes: (width, height) of each, pixels.  attach: side by side or one below the other.  gap: black pixels between.

    Raises: ConfigError for no photo or a negative gap.

    >>> layout([(3, 2), (4, 5)]).territories[1]
    Box(x0=3, y0=0, x1=7, y1=5)
    """
    if not sizes or gap < 0:
        raise ConfigError("Joining needs a photo at least, and a gap of 0 or more pixels.")
    if attach == "vertical":
        turned = layout([(height, width) for width, height in sizes], gap=gap)
        photos, territories = (
            tuple(Box(box.y0, box.x0, box.y1, box.x1) for box in boxes) for boxes in (turned.photos, turned.territories)
        )
        return Layout(turned.height, turned.width, photos, territories)
    height = max(size[1] for size in sizes)
    photos_, territories_, left = [], [], 0
    for index, (wide, tall) in enumerate(sizes):
        before, after = (gap / 2 if inner else 0 for inner in (index > 0, index < len(sizes) - 1))
        photos_.append(Box(left, 0, left + wide, tall))
        territories_.append(Box(left - before, 0, left + wide + after, height))
        left += wide + gap * (index < len(sizes) - 1)
    return Layout(left, height, tuple(photos_), tuple(territories_))


def join(
    photos: Sequence[ByteArray],
    attach: Attach = "horizontal",
    *,
    gap: int = 0,
    jpeg: int | None = None,
    padding: tuple[int, int, int] = (0, 0, 0),
) -> tuple[ByteArray, Layout]:
    """The joined picture and its layout.

    photos: (H, W, 3) uint8 RGB each, or (H, W) gray.  jpeg: quality of a JPEG file that it goes through, as the
        published pictures did (75); None: it does not.  padding: R, G, B of what no photo covers (of gray photos R).
    """
    plan = layout([(photo.shape[1], photo.shape[0]) for photo in photos], attach, gap)
    picture = np.empty((plan.height, plan.width, *photos[0].shape[2:]), dtype=np.uint8)
    picture[:] = padding if picture.ndim == 3 else padding[0]
    for photo, box in zip(photos, plan.photos, strict=True):
        picture[int(box.y0) : int(box.y1), int(box.x0) : int(box.x1)] = photo
    return (picture if jpeg is None else through_jpeg(picture, jpeg)), plan


def through_jpeg(picture: ByteArray, quality: int) -> ByteArray:
    """The picture after a JPEG file of this quality."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "JPEG", quality=quality)
    return np.asarray(Image.open(buffer))
