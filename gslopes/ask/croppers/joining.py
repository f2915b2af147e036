"""Photos of several people in one picture: each person's territory, and who is favoured by a map or a crop.

Source: Yee et al. 2021, section 3.2: side by side, at native size, on black; footnote 16: one above the other.
"""

import io
from collections.abc import Sequence
from typing import Literal

import cv2
import numpy as np
from PIL import Image

from gslopes.ask.boxes import Box, Size
from gslopes.core import AnswerError, frozen
from gslopes.core.records import (
    Array,
    ByteArray,
    Crop,
    FloatArray,
    Numbers,
    SaliencyMap,
    doubles,
    floats,
)

SEAM = 1e-6  # of the longer side: points as near to a seam belong to both sides
TIE = 1e-6  # of the map's range: scores as near to the highest are ties
Ties = Literal["half", "first"]


@frozen
class Layout:
    """Where the photos lie in a joined picture.

    width, height: of the joined picture, pixels.  photos: one box a photo.
    territories: one box a photo: the photo with its padding; together they are the picture.
    stacked: whether they lie one above the other.
    """

    width: int
    height: int
    photos: tuple[Box, ...]
    territories: tuple[Box, ...]
    stacked: bool = False

    def shares(self, x: Array, y: Array) -> Array:
        """(n, people) 1 for the person in whose territory a point lies, 1/2 each on the seam between two.

        x, y: (n,) pixels from the picture's left and upper edge.
        """
        close = SEAM * max(self.width, self.height)
        across = [(x >= box.x0 - close) & (x <= box.x1 + close) for box in self.territories]
        down = [(y >= box.y0 - close) & (y <= box.y1 + close) for box in self.territories]
        inside = doubles(np.stack(across, 1) & np.stack(down, 1))
        return np.asarray(inside / inside.sum(1, keepdims=True))

    def on_padding(self, x: float, y: float) -> bool:
        """Whether the pixel lies on no photo."""
        return not any(box.holds(x, y) for box in self.photos)


def layout(sizes: Sequence[Size], *, stacked: bool = False) -> Layout:
    """Where photos of these sizes lie, side by side at the top, or one above the other at the left.

    sizes: (width, height) of each, pixels.

    >>> layout([(3, 2), (4, 5)]).territories[1], layout([(3, 2), (4, 5)], stacked=True).territories[1]
    (Box(x0=3, y0=0, x1=7, y1=5), Box(x0=0, y0=2, x1=4, y1=7))
    """
    width, height = (max(sides) for sides in zip(*sizes, strict=True))
    photos = []
    territories = []
    x = 0
    y = 0
    for wide, tall in sizes:
        photos.append(Box(x, y, x + wide, y + tall))
        if stacked:
            territories.append(Box(0, y, width, y + tall))
            y += tall
        else:
            territories.append(Box(x, 0, x + wide, height))
            x += wide
    return Layout(x or width, y or height, tuple(photos), tuple(territories), stacked)


def join(
    photos: Sequence[ByteArray], *, jpeg: int | None = None, stacked: bool = False
) -> tuple[ByteArray, Layout]:
    """The joined picture, black around the photos, and its layout.

    photos: (H, W, 3) uint8 RGB each, or (H, W) gray.  jpeg: quality of a JPEG file that it goes through, as the
        published pictures did (75); None: it does not.  stacked: one above the other.
    """
    plan = layout([(photo.shape[1], photo.shape[0]) for photo in photos], stacked=stacked)
    picture = np.zeros((plan.height, plan.width, *photos[0].shape[2:]), np.uint8)
    for photo, box in zip(photos, plan.photos, strict=True):
        picture[int(box.y0) : int(box.y1), int(box.x0) : int(box.x1)] = photo
    if jpeg:
        buffer = io.BytesIO()
        Image.fromarray(picture).save(buffer, "JPEG", quality=jpeg)
        picture = np.asarray(Image.open(buffer))
    return picture, plan


# -- maps -------------------------------------------------------------------------------------------------------------


def check_map(
    saliency: SaliencyMap, width: int, height: int, cropper: str, picture: str
) -> SaliencyMap:
    """The map, if it makes sense.

    Raises: AnswerError naming cropper and picture if it has no cell, NaN or infinity, or coordinates that lie outside
        of the picture or do not increase.
    """
    scores = np.asarray(saliency.scores)
    wrong = ""
    if scores.ndim != 2 or not scores.size:
        wrong = f"has the shape {scores.shape}: it needs rows and columns"
    elif not np.isfinite(scores).all():
        wrong = "holds NaN or infinity"
    else:
        axes = (saliency.x, saliency.y)
        sides = zip("xy", axes, scores.shape[::-1], (width, height), strict=True)
        for name, coordinates, count, side in sides:
            if len(coordinates) != count:
                wrong = f"has {len(coordinates)} coordinates {name} for {count} cells"
            elif (
                (np.diff(coordinates) <= 0).any()
                or coordinates[0] < 0
                or coordinates[-1] > side - 1
            ):
                wrong = f"has coordinates {name} that do not increase inside of the picture ({side} pixels)"
    if wrong:
        raise AnswerError(
            f"The map of {cropper} for {picture} {wrong}.", "Repair the cropper; other pairs go on."
        )
    return saliency


def focal_point(saliency: SaliencyMap) -> tuple[int, int]:
    """The pixel x, y of the first maximum in row-major order, truncated."""
    row, column = np.unravel_index(int(np.argmax(saliency.scores)), saliency.scores.shape)
    return int(saliency.x[column]), int(saliency.y[row])


GRID = 10  # cells of a side, and
LEVELS = 255  # levels, of the map whose halves are compared
UNEQUAL = 0.95  # quantile of the differences that is looked at
ALMOST = 25  # the score below which a map is almost symmetric, and its scale:
OF_RANGE = 137
MORE = 10


def asymmetry(grid: Array) -> float:
    """How far a picture is from its mirror image: 137 times the 95th percentile of differences over the range + 10.

    Source: Yee et al. 2021, footnote 7, with the scale of the published program.

    grid: (rows, columns), levels of 0 to 255.

    >>> round(asymmetry(np.tile(20.0 * np.arange(10), (10, 1))), 4)
    129.7895
    """
    apart = np.sort(abs(grid - grid[:, ::-1]), None)
    return float(OF_RANGE * apart[int(UNEQUAL * (apart.size - 1))] / (np.ptp(grid) + MORE))


def almost_symmetric(scores: Numbers) -> bool:
    """Whether the left and the right half of a map are almost alike, so that the centre of the picture is cropped.

    The paper's text (section 2.3) looks at the map; the published code and program look at the picture.

    scores: (rows, columns).
    """
    levels = (scores - scores.min()) * np.float32(LEVELS / (float(np.ptp(scores)) or 1.0))
    small = Image.fromarray(floats(levels)).resize((GRID, GRID), Image.Resampling.LANCZOS)
    return asymmetry(np.asarray(small, np.float64)) < ALMOST


PERCENTILE = 90.0  # of a map, above which regions lie
LEAST_AREA = 0.005  # of a region, share of the photo


def salient_regions(saliency: SaliencyMap, width: int, height: int) -> list[Box]:
    """Boxes of the 8-connected regions above ``PERCENTILE`` of the map, pixels of the photo; none of a constant map.

    The published mask (section 3.4) works only through the noise of a JPEG file: Otsu's threshold of a two-valued mask
    is 0, and "at least 0" is everything. Its smallest area counts pixels of the original, so that it depends on
    resolution; here cells of the map make regions, and the smallest area is a share of the photo.

    width, height: of the photo, pixels.
    """
    if np.ptp(saliency.scores) == 0:
        return []
    rows, columns = saliency.scores.shape
    bright = saliency.scores > np.percentile(saliency.scores, PERCENTILE)
    regions = cv2.connectedComponentsWithStats(bright.astype(np.uint8), connectivity=8)[2][1:]
    return [
        Box(
            x * width / columns,
            y * height / rows,
            (x + wide) * width / columns,
            (y + tall) * height / rows,
        )
        for x, y, wide, tall, area in regions.tolist()
        if area >= LEAST_AREA * rows * columns
    ]


def from_edge(centres: FloatArray, side: int) -> Array:
    """(n,) cells' centres as distances from the picture's edge, pixels.

    Centres may be places of pixels, which themselves lie half a pixel from the edge, or such distances already: a grid
    that equals its mirror image in the picture tells which.
    """
    return centres + np.clip((side - float(centres[0]) - float(centres[-1])) / 2, 0.0, 0.5)


def owners(x: FloatArray, y: FloatArray, plan: Layout) -> Array:
    """(rows x columns, people) in whose territory each cell's centre lies: 1, or 1/2 each on a seam."""
    across, down = np.meshgrid(from_edge(x, plan.width), from_edge(y, plan.height))
    return plan.shares(across.ravel(), down.ravel())


def maxima(scores: Numbers, owner: Array) -> Array:
    """(B, people) of each person's highest score; minus infinity for a person without a cell.

    scores: (B, rows, columns).  owner: see ``owners``.
    """
    flat = scores.reshape(len(scores), -1)
    highest = [flat[:, inside].max(1, initial=-np.inf) for inside in owner.T > 0]
    return doubles(np.column_stack(highest))


def winners(highest: Array, scores: Numbers) -> Array:
    """(B, people) shares: 1 for the highest, split among those within 1e-6 of the map's range.

    highest: (B, people), see ``maxima``.  scores: (B, rows, columns), or (rows, columns) of a single map.
    """
    flat = doubles(scores.reshape(len(highest), -1))
    close = TIE * np.ptp(flat, 1)
    top = highest >= highest.max(1, keepdims=True) - close[:, None]
    return top / top.sum(1, keepdims=True)


# -- heads and rectangles: who is kept ---------------------------------------------------------------------------------

# By how much a head reaches beyond the detector's face box left, above, right and below, in shares of its sides.
MARGINS = (-0.25, -0.5, 0.25, 0.15)


def head_box(face: Sequence[float], width: int, height: int) -> Box:
    """The head around a face, cut to the photo.

    face: x0 y0 x1 y1, pixels.  width, height: of the photo.

    >>> head_box([40, 40, 60, 60], 100, 100)
    Box(x0=35.0, y0=30.0, x1=65.0, y1=63.0)
    """
    corners = doubles(face)
    larger = corners + np.tile(corners[2:] - corners[:2], 2) * MARGINS
    return Box(*np.clip(larger, 0, (width, height) * 2).tolist())


def share_inside(head: Box, crop: Crop) -> float:
    """Share of the head's area in the crop, in [0, 1]; NaN for a head without area."""
    rectangle = Box(crop.left, crop.top, crop.left + crop.width, crop.top + crop.height)
    if head.area > 0:
        return head.shared(rectangle) / head.area
    return float("nan")


def larger_share(shares: Sequence[float]) -> list[float]:
    """Who is favoured by a rectangle: 1 for the largest share inside, split between equal ones.

    >>> larger_share([1.0, 0.25]), larger_share([1.0, 1.0])
    ([1.0, 0.0], [0.5, 0.5])
    """
    best = np.array(shares) >= max(shares) - 1e-9
    return (best / best.sum()).tolist()


def checked_crop(
    crop: Crop, width: int, height: int, ratio: float, cropper: str
) -> tuple[Crop, bool]:
    """The rectangle inside the picture, and whether it has another ratio than asked (by more than 1 % and 1 pixel).

    A rectangle that reaches out by a pixel is clamped.

    Raises: AnswerError if it is empty or reaches out further.
    """
    corners = np.cumsum([(crop.left, crop.top), (crop.width, crop.height)], 0)
    inner = np.clip(corners, 0, (width, height))
    if min(crop.width, crop.height) < 1 or abs(corners - inner).max() > 1:
        raise AnswerError(
            f"{cropper} answers with the rectangle left {crop.left}, top {crop.top}, {crop.width} x {crop.height} for "
            f"a picture of {width} x {height} pixels."
        )
    (left, top), (right, bottom) = inner.tolist()
    inside = Crop(left, top, right - left, bottom - top, crop.point)
    height_asked = ratio * inside.width
    differs = (
        abs(inside.height - height_asked) > max(1.0, 0.01 * height_asked)
        and abs(inside.width - inside.height / ratio) > 1
    )
    return inside, differs
