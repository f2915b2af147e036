"""From "how likely is this pixel part of the region" to a mask that can be blended without a trace of its edge.

Everything here is in the chip frame. The chip of a photo that is cut tight ends on the forehead or a cheek: the region
runs over its border and a mask has to come down to zero before it gets there.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import FloatArray

# All in units of the chip's side, so that a mask looks the same at every chip size.
SIGMA = 2 / 128  # of the Gaussian at the region's edge
BORDER = 14 / 128  # over which the mask comes down to zero at the chip's border
BRIDGE = 4 / 128  # gaps as wide as this (spectacle frames, strands of hair) do not part a face
SPECK = 0.001  # of the chip's area: parts and holes smaller than this are the parser's noise

# What 8 bits cannot show is nothing: below it a pixel of the photo stays exactly as it is.
LEAST = 1 / 255

# A mask that covers less of the chip than this holds no face to speak of.
LEAST_SHARE = 0.02


def soft_mask(likely: FloatArray, sigma: float | None = None, border: float | None = None) -> FloatArray:
    """The blending mask of a region, (S, S) float32 in [0, 1]; below 1/255 it is exactly 0, as it is at the border.

    likely: (S, S), how likely each pixel is in the region, 0 to 1; not a number counts as 0.
    sigma: of the Gaussian that softens the edge, pixels; 1/64 of the side by default.
    border: width of the ramp down to zero at the chip's border, pixels; 14/128 of the side by default.

    Only the face at the centre stays, without specks and pinholes. The soft edge lies inside of the region: what the
    parser holds for hair or background is not touched to make the transition smooth.
    """
    size = likely.shape[0]
    sigma = SIGMA * size if sigma is None else sigma
    likely = np.nan_to_num(likely, nan=0.0).astype(np.float32)
    region = central_face(likely >= 0.5)
    # The sharpened likelihood keeps the edge between pixels where the parser saw it; the region decides what is in.
    near = cv2.dilate(region.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    sharp = np.where(region, np.maximum(0.5, 4 * likely - 1.5), np.where(near, 4 * likely - 1.5, 0))
    sharp = np.clip(sharp, 0, 1).astype(np.float32)
    mask = sharp
    if sigma > 0:
        blurred = cv2.GaussianBlur(sharp, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
        mask = np.minimum(np.clip(2 * blurred - 1, 0, 1), sharp)
    mask = (mask * border_ramp(size, border)).astype(np.float32)
    mask[mask < LEAST] = 0
    return mask


def border_ramp(size: int, width: float | None = None) -> FloatArray:
    """(size, size) float32: 1 inside, 0 on the outermost pixels, between them half a cosine, ``width`` pixels long."""
    width = BORDER * size if width is None else width
    inwards = np.minimum(np.arange(size), np.arange(size)[::-1])
    line = (1 - np.cos(np.pi * np.clip(inwards / max(width, 1.0), 0, 1))) / 2
    return np.outer(line, line).astype(np.float32)


def central_face(region: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The one face of a region: the connected part with most of its area near the centre, specks and pinholes mended.

    region: (S, S) bool.
    """
    size = region.shape[0]
    width = 2 * max(1, round(BRIDGE * size / 2)) + 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (width, width))
    count, labels = cv2.connectedComponents(cv2.dilate(region.astype(np.uint8), kernel), connectivity=8)
    if count > 2:
        weight = np.bincount(labels[region], weights=_centre(size)[region], minlength=count)
        region = region & (labels == int(weight.argmax()))
    least = SPECK * size * size
    region = region & ~_small_parts(region, least)
    return region | _small_parts(~region, least)


def mask_is_degenerate(mask: FloatArray) -> SkipReason | None:
    """Why there is nothing to edit under this mask (for the photos table), or None if all is well.

    mask: (S, S) in [0, 1].
    """
    if not np.isfinite(mask).all():
        return SkipReason(Reason.NO_FACE_REGION, "the mask is not finite")
    if float(mask.mean()) < LEAST_SHARE:
        return SkipReason(Reason.NO_FACE_REGION, f"less than {LEAST_SHARE:.0%} of the aligned face")
    return None


def _small_parts(region: NDArray[np.bool_], least: float) -> NDArray[np.bool_]:
    """The connected parts of a region that have fewer pixels than ``least``."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(region.astype(np.uint8), connectivity=4)
    small = stats[:, cv2.CC_STAT_AREA] < least
    small[0] = False
    return np.asarray(small[labels])


def _centre(size: int) -> NDArray[np.float64]:
    """A round weight, 1 at the centre of the chip, e^-2 at the middle of its sides."""
    line = np.exp(-2 * ((np.arange(size) + 0.5) / size * 2 - 1) ** 2)
    return np.outer(line, line)
