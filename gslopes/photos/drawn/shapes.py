"""How a drawn face is drawn: soft shapes on planes of numpy arrays, a batch of faces at a time, painter's order.

*Face frame*: origin between eyes and nose, x to the right, y down, the photo's half side is 1 at scale 1. Colours are
sRGB values in [0, 1]; planes are (B, h, w), pictures (B, 3, h, w), both float32. Every shape's coverage is exactly 0
outside its window, so a face does not depend on the batch that it is drawn in.

The cue works through filters: a pixel is skin times a factor that depends on the cue. Ratios between lip, beard and
cheek therefore hold for every skin tone and light, which is what makes the cue readable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gslopes.photos.drawn.parameters import FaceParameters

Plane = NDArray[Any]  # float32 throughout; numpy's own annotations lose track of it

# Face frame geometry shared with the landmarks and the readout.
HEAD_Y, HEAD_W, HEAD_H = -0.02, 0.52, 0.69
EYE_X, EYE_Y = 0.205, -0.05
NOSE_Y = 0.185
MOUTH_X, MOUTH_Y = 0.165, 0.355

SKIN = np.array([[78, 50, 38], [130, 86, 62], [184, 131, 99], [222, 173, 142], [240, 206, 184]], np.float32) / 255


def pixel_scale(size: int) -> float:
    """Width of a pixel of a photo of ``size`` pixels in units of the photo's half side."""
    return 2.0 / size


def to_photo(points: Plane, parameters: FaceParameters, size: int) -> Plane:
    """Face-frame points (n, m, 2) to the photo frame in pixels, (n, m, 2) float32."""
    x, y = points[..., 0], points[..., 1]
    cos, sin = turn(parameters)
    u = 2 * parameters.shift_x[:, None] + cos[:, None] * x - sin[:, None] * y
    v = 2 * parameters.shift_y[:, None] + sin[:, None] * x + cos[:, None] * y
    return ((np.stack([u, v], axis=-1) + 1) * (size / 2) - 0.5).astype(np.float32)


def mouth_half_width(parameters: FaceParameters) -> Plane:
    """Half the distance between the mouth corners, face frame, (n,): a broad smile widens it by a tenth."""
    return (MOUTH_X + 0.016 * parameters.smile) * (1 + 0.05 * parameters.width)


def eye_x(parameters: FaceParameters) -> Plane:
    """Distance of the eyes from the middle line, face frame, (n,)."""
    return EYE_X * (1 + 0.05 * parameters.width)


def turn(parameters: FaceParameters) -> tuple[Plane, Plane]:
    """Cosine and sine of the pose, times its scale, (n,) each."""
    angle = np.deg2rad(parameters.rotation)
    return parameters.scale * np.cos(angle), parameters.scale * np.sin(angle)


def palette(table: Plane, where: Plane) -> Plane:
    """Colours (B, 3, 1, 1) along a palette; ``where`` in [0, 1]."""
    stops = np.linspace(0, 1, len(table))
    return np.stack([np.interp(where, stops, table[:, c]) for c in range(3)], 1).astype(np.float32)[:, :, None, None]


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """A rectangle of the photo with the face-frame coordinates of its pixels."""

    rows: slice
    columns: slice
    x: Plane
    y: Plane

    def of(self, picture: Plane) -> Plane:
        """The window's part of a picture or plane of the whole photo; writing to it writes there."""
        return picture[..., self.rows, self.columns]


class Canvas:
    """Per-batch geometry: cuts windows and knows how wide a soft edge is."""

    def __init__(self, parameters: FaceParameters, size: int) -> None:
        self.parameters, self.size = parameters, size
        scale = parameters.scale.astype(np.float32)
        self.edge = column(1.5 * pixel_scale(size) / scale)
        cos, sin = turn(parameters)
        axis = ((np.arange(size, dtype=np.float32) + 0.5) * pixel_scale(size) - 1).astype(np.float32)
        across, down = axis - 2 * parameters.shift_x[:, None], axis - 2 * parameters.shift_y[:, None]
        self._cos, self._sin = (cos / scale**2)[:, None], (sin / scale**2)[:, None]
        self._across, self._down = across.astype(np.float32), down.astype(np.float32)

    def window(self, x0: float, y0: float, x1: float, y1: float) -> Window:
        """The smallest rectangle of pixels that holds the face-frame box, with its soft edge, for every face."""
        # Boxes leave 0.03 round their shapes; the soft edge of a very small face needs more.
        more = max(0.0, 0.6 * float(self.edge.max(initial=0)) - 0.03)
        x0, y0, x1, y1 = x0 - more, y0 - more, x1 + more, y1 + more
        corners = np.array([[x0, y0], [x1, y0], [x0, y1], [x1, y1]], np.float32)
        corners = to_photo(np.broadcast_to(corners, (len(self.parameters), 4, 2)), self.parameters, self.size)
        low = np.clip(np.floor(corners.min((0, 1))) - 1, 0, self.size - 1).astype(int)
        high = np.clip(np.ceil(corners.max((0, 1))) + 2, 1, self.size).astype(int)
        rows, columns = slice(low[1], high[1]), slice(low[0], high[0])
        across, down = self._across[:, columns], self._down[:, rows]
        x = (self._cos * across)[:, None, :] + (self._sin * down)[:, :, None]
        y = (self._cos * down)[:, :, None] - (self._sin * across)[:, None, :]
        return Window(rows, columns, x.astype(np.float32, copy=False), y.astype(np.float32, copy=False))


# ---------------------------------------------------------------------------------------------- brushes


def column(column: Plane) -> Plane:
    """A parameter (B,) ready to meet planes (B, h, w)."""
    return np.asarray(column, np.float32)[:, None, None]


def cover(distance: Plane, edge: Plane) -> Plane:
    """Coverage in [0, 1] of a shape from its signed distance (negative inside)."""
    plane = distance * (-1 / edge)
    plane += 0.5
    np.maximum(plane, 0, out=plane)
    return np.minimum(plane, 1, out=plane)


def bump(x: Plane, y: Plane, rx: float | Plane, ry: float | Plane) -> Plane:
    """A smooth spot: 1 at the origin, 0 from the ellipse with half axes rx, ry outwards."""
    plane = x * (1 / rx)
    plane *= plane
    other = y * (1 / ry)
    other *= other
    plane += other
    np.subtract(1, plane, out=plane)
    np.maximum(plane, 0, out=plane)
    return np.multiply(plane, plane, out=plane)


def ramp(plane: Plane, low: float, high: float) -> Plane:
    """0 below ``low``, 1 above ``high``, smooth between."""
    t = np.clip((plane - low) * (1 / (high - low)), 0, 1)
    return t * t * (3 - 2 * t)


def paint(picture: Plane, cover: Plane, colour: Plane) -> None:
    """Lay a colour over the picture; where the cover is 1 nothing of what was below remains, to the last bit."""
    picture *= (1 - cover)[:, None]
    picture += cover[:, None] * colour


def tint(picture: Plane, cover: Plane, strength: Plane) -> None:
    """Darken the picture by ``strength`` (B, 3, 1, 1), a share of each channel, where the cover is 1."""
    factor = cover[:, None] * strength
    np.subtract(1, factor, out=factor)
    picture *= factor


def shares(amount: Plane, red: float, green: float, blue: float) -> Plane:
    """Per-channel strengths (B, 3, 1, 1) proportional to ``amount`` (B,)."""
    return (amount[:, None] * np.array([red, green, blue], np.float32)).astype(np.float32)[:, :, None, None]
