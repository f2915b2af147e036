"""How much of each pixel is person, and in what colour: a trimap, closed-form matting, colours without the backdrop.

Sources: Levin, Lischinski, Weiss 2008, A Closed-Form Solution to Natural Image Matting, doi 10.1109/TPAMI.2007.1177;
He, Sun, Tang 2010, doi 10.1109/CVPR.2010.5539896: a product with its Laplacian is what a guided filter takes away;
Forte 2021, Approximate Fast Foreground Colour Estimation, doi 10.1109/ICIP42928.2021.9506164.
"""

from typing import NamedTuple

import cv2
import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from gslopes.core.geometry import smoothed
from gslopes.core.records import Array, ByteArray, Flags, FloatArray, doubles, floats

# Of the Gaussians over which colours are carried, in units of the shorter side; each wider one counts a fiftieth.
SPREAD = (0.012, 0.05, 0.2)
WIDER = 0.02
RADIUS = 2  # pixels of the guided filter
SMOOTH = 1e-4 * 255**2  # its regularization, in squared levels: below that 32 bits do not solve it
TRUST = 0.03  # weight of the colours' own estimate beside the Laplacian
CLEAR = 3.0  # ΔE above the backdrop's noise at which a pixel without hair is person
CONTRAST = 4.0  # squared ΔE between person and backdrop below which their colours tell nothing
BLURS = (0.13, 0.009)  # of the shorter side: boxes over which colours are estimated


class Backdrop(NamedTuple):
    """What is behind a person, carried there from around.

    colour: (H, W, 3) float32 CIELAB.  residual: (H, W) float32, ΔE of the photo from it.  noise: its median in the
    backdrop itself.
    """

    colour: FloatArray
    residual: FloatArray
    noise: float


def lab_of(pixels: ByteArray) -> FloatArray:
    """(H, W, 3) uint8 RGB as float32 CIELAB."""
    return floats(cv2.cvtColor(pixels / np.float32(255), cv2.COLOR_RGB2LAB))


def backdrop_of(lab: FloatArray, known: Flags) -> Backdrop:
    """The backdrop as its known pixels have it.  lab: (H, W, 3) CIELAB.  known: (H, W), some of it."""
    colour = carried_on(lab, known)
    residual = floats(np.linalg.norm(lab - colour, axis=2))
    return Backdrop(colour, residual, float(np.median(residual[known])))


def carried_on(colours: FloatArray, known: Flags) -> FloatArray:
    """Colours (H, W, 3) of the known pixels, carried to all others; near ones count most."""
    height, width = known.shape
    weight = floats(known)
    total = np.full((height, width, 4), 1e-12, np.float32)
    both = np.dstack([colours * weight[..., None], weight])
    for order, share in enumerate(SPREAD):
        sigma = share * min(height, width)
        step = max(1.0, sigma / 4)
        size = max(1, round(width / step)), max(1, round(height / step))
        small = cv2.resize(both, size, interpolation=cv2.INTER_AREA)
        blurred = smoothed(small, sigma / step)
        total += WIDER**order * cv2.resize(blurred, (width, height))
    return floats(total[..., :3] / total[..., 3:])


def opacity(pixels: ByteArray, person: Flags, behind: Flags, hair: Flags) -> FloatArray:
    """Alpha (H, W) in [0, 1] by a trimap: what is surely person, surely behind, and unknown between them.

    hair: where a pixel lies between two colours; elsewhere it is either of them, as a white shirt before light gray.
    """
    if not person.any() or not behind.any():
        return floats(person)
    lab = lab_of(pixels)
    backdrop = backdrop_of(lab, behind)
    away = carried_on(lab, person) - backdrop.colour
    mixed = ((lab - backdrop.colour) * away).sum(2) / ((away**2).sum(2) + CONTRAST)
    keyed = (backdrop.residual - 2 - 2 * backdrop.noise) / CLEAR
    likely = floats(np.clip(np.where(hair, mixed, np.maximum(mixed, keyed)), 0, 1))
    return _solved(pixels, person, ~(person | behind), likely)


def _solved(pixels: ByteArray, person: Flags, unknown: Flags, likely: FloatArray) -> FloatArray:
    """Closed-form matting, drawn to what is likely by itself."""
    guided = cv2.ximgproc.createGuidedFilter(floats(pixels), RADIUS, SMOOTH)

    def filtered(values: Array) -> Array:
        picture = np.zeros(unknown.shape, np.float32)
        picture[unknown] = values
        return (1 + TRUST) * values - guided.filter(picture)[unknown]

    alpha = floats(person)
    sides = TRUST * likely[unknown] + guided.filter(alpha)[unknown]
    operator = LinearOperator((len(sides),) * 2, filtered, dtype=np.float64)
    found = cg(operator, doubles(sides), x0=doubles(likely[unknown]), rtol=3e-3, maxiter=40)
    alpha[unknown] = np.clip(found[0], 0, 1)
    return alpha


def own_colours(pixels: ByteArray, alpha: FloatArray) -> ByteArray:
    """The person's colours (H, W, 3) without what shines through, by blur fusion.  alpha: (H, W) in [0, 1]."""
    photo = floats(pixels)
    opaque = alpha[..., None]
    front = back = photo
    for share in BLURS:
        side = max(3, round(share * min(alpha.shape)))
        weight = _boxed(alpha, side)[..., None]
        front = _boxed(front * opaque, side) / (weight + 1e-5)
        back = _boxed(back * (1 - opaque), side) / (1 - weight + 1e-5)
        front = np.clip(front + opaque * (photo - opaque * front - (1 - opaque) * back), 0, 255)
    return np.rint(front).astype(np.uint8)


def _boxed(picture: FloatArray, side: int) -> FloatArray:
    return floats(cv2.blur(picture, (side, side), borderType=cv2.BORDER_REPLICATE))
