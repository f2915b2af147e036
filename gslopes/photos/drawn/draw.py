"""How a drawn face is drawn: soft shapes on planes of numpy arrays, a batch of faces at a time, painter's order.

*Face frame*: origin between eyes and nose, x to the right, y down, the photo's half side is 1 at scale 1. Colours are
sRGB values in [0, 1]; planes are (B, h, w), pictures (B, 3, h, w), both float32. Every shape's coverage is exactly 0
outside its window, so a face does not depend on the batch that it is drawn in.

The cue works through filters: a pixel is skin times a factor that depends on the cue. Ratios between lip, beard and
cheek therefore hold for every skin tone and light, which is what makes the cue readable.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gslopes.core.arrays import slices
from gslopes.core.errors import ConfigError
from gslopes.core.records import ByteArray, FloatArray
from gslopes.photos.drawn.parameters import FaceParameters

Plane = NDArray[Any]  # float32 throughout; numpy's own annotations lose track of it

# Face frame geometry shared with the landmarks and the readout.
HEAD_Y = -0.02
HEAD_W = 0.52
HEAD_H = 0.69
EYE_X = 0.205
EYE_Y = -0.05
NOSE_Y = 0.185
MOUTH_X = 0.165
MOUTH_Y = 0.355


def _colours(codes: str) -> Plane:
    """Colours (n, 3) of a palette, from codes of red, green and blue in hex digits."""
    return np.array([list(bytes.fromhex(code)) for code in codes.split()], np.float32) / 255


SKIN = _colours("4e3226 82563e b88363 dead8e f0ceb8")


def to_photo(points: Plane, parameters: FaceParameters, size: int) -> Plane:
    """Face-frame points (n, m, 2) to the photo frame in pixels, (n, m, 2) float32."""
    x = points[..., 0]
    y = points[..., 1]
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
    return np.stack([np.interp(where, stops, table[:, c]) for c in range(3)], 1).astype(np.float32)[
        :, :, None, None
    ]


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
        self.parameters = parameters
        self.size = size
        scale = parameters.scale.astype(np.float32)
        pixel = 2.0 / size  # its width in units of the photo's half side
        self.edge = column(1.5 * pixel / scale)
        cos, sin = turn(parameters)
        axis = ((np.arange(size, dtype=np.float32) + 0.5) * pixel - 1).astype(np.float32)
        across = axis - 2 * parameters.shift_x[:, None]
        down = axis - 2 * parameters.shift_y[:, None]
        self._cos = (cos / scale**2)[:, None]
        self._sin = (sin / scale**2)[:, None]
        self._across, self._down = across.astype(np.float32), down.astype(np.float32)

    def window(self, x0: float, y0: float, x1: float, y1: float) -> Window:
        """The smallest rectangle of pixels that holds the face-frame box, with its soft edge, for every face."""
        # Boxes leave 0.03 round their shapes; the soft edge of a very small face needs more.
        more = max(0.0, 0.6 * float(self.edge.max(initial=0)) - 0.03)
        x0 = x0 - more
        y0 = y0 - more
        x1 = x1 + more
        y1 = y1 + more
        corners = np.array([[x0, y0], [x1, y0], [x0, y1], [x1, y1]], np.float32)
        corners = to_photo(
            np.broadcast_to(corners, (len(self.parameters), 4, 2)), self.parameters, self.size
        )
        low = np.clip(np.floor(corners.min((0, 1))) - 1, 0, self.size - 1).astype(int)
        high = np.clip(np.ceil(corners.max((0, 1))) + 2, 1, self.size).astype(int)
        rows = slice(low[1], high[1])
        columns = slice(low[0], high[0])
        across = self._across[:, columns]
        down = self._down[:, rows]
        x = (self._cos * across)[:, None, :] + (self._sin * down)[:, :, None]
        y = (self._cos * down)[:, :, None] - (self._sin * across)[:, None, :]
        return Window(
            rows, columns, x.astype(np.float32, copy=False), y.astype(np.float32, copy=False)
        )


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
    return (amount[:, None] * np.array([red, green, blue], np.float32)).astype(np.float32)[
        :, :, None, None
    ]


# --- What lies inside a drawn head's outline: complexion, nose, eyes, brows, mouth; all that the cue can change -------


_EYES = _colours("342014 624222 54703e 4e769e")
_BLACK = np.full((3, 1, 1), 0.06, np.float32)
_CATCH_LIGHT = np.full((3, 1, 1), 0.97, np.float32)


def features(layer: Plane, head: Window, canvas: Canvas, hair: Plane) -> None:
    """Draw everything inside the head's outline."""

    def cut(x0: float, y0: float, x1: float, y1: float) -> tuple[Window, Plane]:
        at = canvas.window(x0, y0, x1, y1)
        rows = slice(at.rows.start - head.rows.start, at.rows.stop - head.rows.start)
        columns = slice(at.columns.start - head.columns.start, at.columns.stop - head.columns.start)
        return at, layer[..., rows, columns]

    p = canvas.parameters
    edge = canvas.edge
    _complexion(p, *cut(-0.60, 0.02, 0.60, 0.73))
    _forehead(p, *cut(-0.34, -0.47, 0.34, -0.20))
    _nose(p, edge, *cut(-0.14, -0.12, 0.14, 0.29))
    _eyes(p, edge, *cut(-0.40, -0.24, 0.40, 0.12))
    _brows(p, edge, hair, *cut(-0.38, -0.28, 0.38, -0.05))
    _mouth(p, edge, *cut(-0.24, 0.24, 0.24, 0.56))


def _complexion(p: FaceParameters, at: Window, layer: Plane) -> None:
    """Beard shadow, blush, jaw and the folds next to the nose."""
    side = np.abs(at.x)
    masculine = (p.gender + 2) / 4
    feminine = (2 - p.gender) / 4
    # Beard shadow: jaw and upper lip, fading towards the cheeks.
    line = at.y + 0.10 * np.minimum(side, 0.3) - 1.1 * np.maximum(side - 0.30, 0)
    beard = ramp(line, 0.20, 0.40)
    tint(layer, beard, shares(masculine**1.25, 0.46, 0.40, 0.33))
    blush = bump(side - 0.30, at.y - 0.19, 0.17, 0.15)
    tint(layer, blush, shares(feminine, 0.00, 0.15, 0.13))
    # Jaw: a feminine cue hollows the lower cheek, which narrows the face without moving its outline.
    hollow = bump(side - 0.46, at.y - 0.42, 0.19, 0.26)
    tint(layer, hollow, shares(feminine, 0.14, 0.17, 0.18))
    drop = at.y - 0.17
    fold = side - 0.088 - (0.80 - 1.9 * drop) * drop
    crease = np.maximum(1 - np.abs(fold) * (1 / 0.026), 0) * bump(side * 0, drop - 0.08, 1, 0.13)
    tint(layer, crease, shares(0.08 * p.smile + 0.20 * p.age**2, 1.0, 1.0, 1.0))


def _forehead(p: FaceParameters, at: Window, layer: Plane) -> None:
    lines = np.zeros(at.x.shape, np.float32)
    bent = at.y + 0.10 * at.x * at.x
    for height in (-0.41, -0.35, -0.29):
        lines += np.maximum(1 - np.abs(bent - height) * (1 / 0.016), 0)
    lines *= bump(at.x, at.y * 0, 0.33, 1)
    tint(layer, lines, shares(0.17 * p.age**2, 1, 1, 1))


def _nose(p: FaceParameters, edge: Plane, at: Window, layer: Plane) -> None:
    half = column(0.070 * (1 + 0.18 * p.nose))
    from_left = column(
        np.sin(np.deg2rad(p.light_angle))
    )  # light from the viewer's right darkens the left flank
    flank = bump(at.x + 0.055 * from_left, at.y - 0.06, 0.055, 0.17)
    under = bump(at.x, at.y - 0.225, half * 1.25, 0.045)
    wings = bump(np.abs(at.x) - half, at.y - 0.19, 0.026, 0.045)
    layer *= (1 - 0.12 * flank - 0.20 * under - 0.20 * wings)[:, None]
    layer *= (1 + 0.07 * bump(at.x, at.y - 0.165, 0.05, 0.06))[:, None]
    nostril = (
        np.sqrt(((np.abs(at.x) - half * 0.52) / 0.024) ** 2 + ((at.y - 0.213) / 0.013) ** 2) - 1
    ) * 0.015
    tint(layer, cover(nostril, edge), shares(np.ones(len(p), np.float32), 0.55, 0.60, 0.60))


def _eyes(p: FaceParameters, edge: Plane, at: Window, layer: Plane) -> None:
    feminine = (2 - p.gender) / 4
    big = 1 + 0.14 * p.eye_size
    u = np.abs(at.x) - column(eye_x(p))
    v = at.y - EYE_Y
    half = column(0.095 * big)
    height = column(0.046 * big)
    arch = 1 - np.minimum((u / half) ** 2, 4)
    tilt = v + 0.10 * u
    # On the skin round the eye: make-up on the lid, the lid's crease, bags and crow's feet.
    lid = bump(u - 0.01, v + 0.052, 0.135, 0.068)
    tint(layer, lid, shares(feminine, 0.26, 0.46, 0.26))
    crease = np.maximum(
        1 - np.abs(tilt + height * 1.35 * arch + 0.012) * (1 / 0.012), 0
    ) * np.maximum(arch, 0)
    bags = bump(u, v - 0.075, 0.085, 0.026)
    feet = np.maximum(1 - np.abs(np.abs(v - 0.005) - 0.35 * (u - 0.09)) * (1 / 0.011), 0)
    feet *= bump(u - 0.145, v, 0.05, 0.06)
    folds = 0.22 * crease + column(0.20 * p.age**2) * bags + column(0.26 * p.age**2) * feet
    layer *= (1 - folds)[:, None]
    # The eye itself: white, iris, pupil, catch light, each kept inside the lids.
    upper = -tilt - height * arch
    lower = tilt - 0.72 * height * arch
    eye = cover(np.maximum(upper, lower), edge)
    white = np.array([0.93, 0.92, 0.91], np.float32)[:, None, None]
    paint(layer, eye, white * (1 - 0.22 * ramp(-tilt, -0.01, 0.05))[:, None])
    radius = np.sqrt(u * u + (v + 0.004) ** 2)
    paint(layer, eye * cover(radius - 0.044, edge), palette(_EYES, p.eye_colour))
    paint(layer, eye * cover(radius - 0.019, edge), _BLACK)
    glint = np.sqrt((np.where(at.x < 0, -u, u) - 0.014) ** 2 + (v + 0.020) ** 2) - 0.010
    paint(layer, eye * cover(glint, edge), _CATCH_LIGHT)
    # Lashes: a line along the upper lid, thicker and longer the more feminine the cue.
    thick = column(0.007 + 0.011 * feminine)
    lash = cover(
        np.maximum(
            np.abs(upper - thick * 0.5) - thick, np.abs(u) - half - column(0.022 * feminine)
        ),
        edge,
    )
    paint(layer, lash * column(0.55 + 0.40 * feminine), _BLACK)


def _brows(p: FaceParameters, edge: Plane, hair: Plane, at: Window, layer: Plane) -> None:
    u = np.abs(at.x) - column(eye_x(p))
    along = np.clip((u + 0.11) * (1 / 0.235), -0.1, 1.1)  # 0 at the inner end, 1 at the outer
    arch = column(0.030 - 0.010 * p.gender) * (4 * along * (1 - along))
    middle = column(-0.158 + 0.009 * p.gender) - arch + 0.012 * along
    thick = column(0.0225 + 0.0072 * p.gender) * (1.15 - 0.65 * along)
    distance = np.maximum(np.abs(at.y - middle) - thick, np.abs(u - 0.008) - 0.118)
    brow = cover(distance, edge * 1.2) * column(0.80 + 0.08 * p.gender)
    paint(layer, brow, hair * (0.62 - 0.08 * p.gender)[:, None, None, None])


def _mouth(p: FaceParameters, edge: Plane, at: Window, layer: Plane) -> None:
    half = column(mouth_half_width(p))
    s = at.x / half
    arch = np.maximum(1 - s * s, -1)
    bow = 1 - 0.22 * bump(s, s * 0, 0.30, 1)
    # The corners stay where they are: a smile sags the line between them and opens it.
    middle = at.y - MOUTH_Y - column(0.004 + 0.050 * p.smile) * arch
    gap = column(0.055 * np.maximum(p.smile - 0.25, 0) / 0.75) * arch
    top = column(0.0330 - 0.0075 * p.gender) * arch * bow
    bottom = column(0.0480 - 0.0100 * p.gender) * arch
    outside = np.abs(at.x) - half
    lips = cover(
        np.maximum(np.maximum(-middle - top - gap * 0.3, middle - gap * 0.7 - bottom), outside),
        edge,
    )
    redness = 1 - np.exp(
        -np.array([0.06, 0.36, 0.26]) - p.gender[:, None] * np.array([-0.02, -0.13, -0.09])
    )
    tint(layer, lips, redness.astype(np.float32)[:, :, None, None])
    shine = bump(s, middle - gap * 0.7 - bottom * 0.5, 0.45, 0.018)
    layer *= (1 + (lips * shine) * column(0.16 * (2 - p.gender) / 4))[:, None]
    below = bump(s, middle - gap * 0.7 - bottom - 0.03, 0.55, 0.03)
    tint(layer, below * (1 - lips), np.full((1, 3, 1, 1), 0.10, np.float32))
    teeth = cover(np.maximum(-middle - gap * 0.3, middle - gap * 0.7) + 0.3 * edge, edge)
    teeth *= np.clip(gap * (1 / 0.02), 0, 1)  # none where the mouth is closed
    paint(layer, teeth, np.array([0.90, 0.88, 0.85], np.float32)[:, None, None])
    line = cover(np.maximum(np.abs(middle + gap * 0.3) - 0.004, outside), edge)
    tint(layer, line * (1 - 0.6 * teeth), np.full((1, 3, 1, 1), 0.60, np.float32))


# --- Rendering: background, hair, body, head and fringe, laid over one another; and what is known about the result ----


_CHUNK_PIXELS = (
    32 * 64 * 64
)  # drawn at once: planes of this many pixels stay in the processor's cache
SMALLEST = 32  # pixels; below it the features melt into one another

_HAIR = _colours("1e191a 3e291f 70462a 9e6232 d6b274")
_GRAY = np.array([188, 188, 190], np.float32) / 255
_BACKDROP = _colours("608cbe 78b0b2 a8ba96 deba82 d88e8c")
_SHIRT = _colours("2c3e60 3c6e6e 78787c 965042 e2dcd0")


@dataclass(frozen=True, slots=True, eq=False)
class DrawnFaces:
    """Drawn photos and everything known about them, photo frame.

    pixels: (n, size, size, 3) uint8 RGB.  boxes: (n, 4) float32, x0 y0 x1 y1, forehead to chin.
    points: (n, 5, 2) float32, left eye, right eye, nose tip, left and right mouth corner, as the viewer sees them.
    face_mask: (n, size, size) float32 in [0, 1], skin, nose, brows, eyes, lips and mouth, hair excluded.
    """

    pixels: ByteArray
    boxes: FloatArray
    points: FloatArray
    face_mask: FloatArray


def render(parameters: FaceParameters, size: int = 128) -> DrawnFaces:
    """Draw the faces; the picture of a face does not depend on the others.

    parameters: n faces.  size: side of the square photos in pixels, 32 or more.

    Raises: ConfigError for a smaller size.
    """
    if size < SMALLEST:
        raise ConfigError(
            f"A size of {size} pixels is too small to draw a face.", f"Ask for {SMALLEST} or more."
        )
    n = len(parameters)
    step = max(1, _CHUNK_PIXELS // size**2)
    pixels = np.empty((n, size, size, 3), np.uint8)
    face = np.empty((n, size, size), np.float32)
    for part in slices(n, step):
        pixels[part], face[part] = _draw(parameters.take(part), size)
    return DrawnFaces(pixels, _boxes(parameters, size), _points(parameters, size), face)


def _points(p: FaceParameters, size: int) -> FloatArray:
    eye = eye_x(p)
    mouth = mouth_half_width(p)
    zero = np.zeros(len(p), np.float32)
    x = np.stack([-eye, eye, zero, -mouth, mouth], 1)
    y = np.array([EYE_Y, EYE_Y, NOSE_Y, MOUTH_Y, MOUTH_Y], np.float32)
    return to_photo(np.stack([x, np.broadcast_to(y, x.shape)], -1), p, size)


def _boxes(p: FaceParameters, size: int) -> FloatArray:
    """Bounds of the ellipse from forehead to chin, turned with the head."""
    top = -0.46
    bottom = HEAD_Y + HEAD_H
    half_w = HEAD_W * (1 + 0.05 * p.width)
    half_h = (bottom - top) / 2
    centre = to_photo(
        np.tile(np.array([[[0, (top + bottom) / 2]]], np.float32), (len(p), 1, 1)), p, size
    )[:, 0]
    cos = np.cos(np.deg2rad(p.rotation))
    sin = np.sin(np.deg2rad(p.rotation))
    reach = np.stack(
        [np.hypot(half_w * cos, half_h * sin), np.hypot(half_w * sin, half_h * cos)], 1
    )
    reach *= (p.scale * size / 2)[:, None]
    return np.concatenate([centre - reach, centre + reach], 1).astype(np.float32)


# ------------------------------------------------------------------------------------------ painter's order


def _draw(parameters: FaceParameters, size: int) -> tuple[ByteArray, Plane]:
    """Draw one batch: pixels (B, size, size, 3) uint8 RGB, face mask (B, size, size) float32."""
    p = parameters
    canvas = Canvas(parameters, size)
    whole = canvas.window(-9, -9, 9, 9)
    skin = palette(SKIN, (p.tone + 2) / 4)
    gray = ramp(p.age, 0.55, 1.0)[:, None, None, None] * 0.9
    hair = (palette(_HAIR, p.hair_shade) * (1 - gray) + _GRAY[:, None, None] * gray).astype(
        np.float32
    )
    light = _light(p, whole)
    fade = np.linspace(1.06, 0.88, size, dtype=np.float32)[:, None]
    backdrop = (
        palette(_BACKDROP, p.background) * (0.55 + 0.5 * p.background_shade)[:, None, None, None]
    )
    picture = np.empty((len(p), 3, size, size), np.float32)
    picture[:] = backdrop * fade
    mane = canvas.window(-0.80, -0.92, 0.80, 1.02)
    outer = _hair_outline(p, mane)
    # A soft band of light round the crown.
    band = bump(np.sqrt(mane.x * mane.x + (mane.y + 0.06) ** 2) - 0.60, mane.x * 0.5, 0.13, 0.30)
    band *= 0.35
    band += 0.9
    band *= mane.of(light)
    locks = hair * band[:, None]
    paint(mane.of(picture), cover(outer, canvas.edge), 0.72 * locks)
    _body(picture, canvas, skin)
    # The face is a layer of its own, laid on by the head's outline: what the cue changes stays within it.
    head = canvas.window(-0.60, -0.76, 0.60, 0.73)
    layer = np.empty((len(p), 3, *head.x.shape[1:]), np.float32)
    layer[:] = skin
    features(layer, head, canvas, hair)
    layer *= head.of(light)[:, None]
    outline = cover(_head_outline(p, head.x, head.y), canvas.edge)
    paint(head.of(picture), outline, layer)
    fringe = cover(np.maximum(outer, _opening(p, mane)), canvas.edge)
    paint(mane.of(picture), fringe, locks)
    face = np.zeros((len(p), size, size), np.float32)
    head.of(face)[...] = outline
    mane.of(face)[...] *= 1 - fringe
    picture *= (p.light * 255)[:, None, None, None].astype(np.float32)
    picture += 0.5
    np.clip(picture, 0, 255, out=picture)
    return np.ascontiguousarray(picture.transpose(0, 2, 3, 1).astype(np.uint8)), face


def _light(p: FaceParameters, at: Window) -> Plane:
    """Shading of a rounded head: brighter on the side that the light comes from, darker towards the rim."""
    angle = np.deg2rad(p.light_angle)
    across = column(0.34 * p.light_contrast * np.sin(angle) / HEAD_W)
    down = column(-0.22 * p.light_contrast * np.cos(angle) / HEAD_H)
    plane = at.x * across
    plane += at.y * down
    plane += 0.93
    return np.clip(plane, 0.62, 1.06, out=plane)


def _hair_outline(p: FaceParameters, at: Window) -> Plane:
    """Signed distance to all hair: a cap that hangs down to the length asked."""
    half = column(0.585 + 0.045 * p.hair + 0.02 * p.width)
    above = np.minimum(at.y + 0.10, 0) * (0.60 / 0.69)
    radius = np.sqrt(at.x * at.x + above * above)
    sides = radius - half - np.maximum(at.y + 0.1, 0) * column(0.08 * p.hair)
    ends = at.y - column(0.08 + 0.86 * p.hair) + 0.45 * at.x * at.x
    # The larger of the two distances, its corner rounded.
    round_off = np.maximum(0.18 - np.abs(sides - ends), 0)
    round_off *= round_off
    return np.maximum(sides, ends) + round_off * (1 / (4 * 0.18))


def _opening(p: FaceParameters, at: Window) -> Plane:
    """Signed distance, negative in the hair, to the opening that shows the face: round above, open below."""
    above = np.minimum(at.y - 0.02, 0) * (0.50 / 0.46)
    below = np.maximum(at.y - 0.02, 0)
    half = column(0.530 - 0.05 * p.hair + 0.02 * p.width)
    skew = at.x + column(0.38 * p.part) * above
    skew *= skew
    above *= above
    skew += above
    return half - column(0.10 * p.hair) * below - np.sqrt(skew, out=skew)


def _body(picture: Plane, canvas: Canvas, skin: Plane) -> None:
    """Neck, shirt and ears."""
    p = canvas.parameters
    edge = canvas.edge
    low = canvas.window(-9, 0.35, 9, 9)
    part = low.of(picture)
    neck = np.abs(low.x) - 0.23 - 0.25 * np.maximum(low.y - 0.72, 0) ** 2
    shade = 0.80 - 0.16 * bump(low.x, low.y - 0.66, 0.40, 0.16)
    paint(part, cover(np.maximum(neck, 0.40 - low.y), edge), skin * shade[:, None])
    shoulder = 0.80 + 0.32 * low.x * low.x - low.y
    collar = 0.27 - np.sqrt(low.x * low.x + (low.y - 0.74) ** 2)
    paint(part, cover(np.maximum(shoulder, collar), edge), palette(_SHIRT, p.shirt))
    side = canvas.window(-0.66, -0.16, 0.66, 0.24)
    x = np.abs(side.x) - column(HEAD_W * (1 + 0.05 * p.width))
    y = side.y - 0.03
    ear = (np.sqrt((x / 0.075) ** 2 + (y / 0.125) ** 2) - 1) * 0.075
    inner = 0.90 - 0.25 * bump(x - 0.012, y, 0.05, 0.09)
    paint(side.of(picture), cover(ear, edge), skin * inner[:, None])


def _head_outline(p: FaceParameters, x: Plane, y: Plane) -> Plane:
    """Signed distance to the head, an egg with a jaw; it does not know the cue."""
    v = (y - HEAD_Y) / HEAD_H
    taper = 1 - 0.07 * v - 0.08 * np.maximum(v, 0) ** 2
    u = x / (column(HEAD_W * (1 + 0.05 * p.width)) * taper)
    v *= v
    return (np.sqrt(u * u + v * (0.66 + 0.34 * v)) - 1) * HEAD_W
