"""How a drawn face is drawn: soft shapes on planes of numpy arrays, a batch of faces at a time, painter's order.

*Face frame*: see ``face.toml``, which has the shapes' places, sizes and colours. Colours are sRGB values in [0, 1];
planes are (B, h, w), pictures (B, 3, h, w), both float32. Every shape's coverage is exactly 0 outside its window, so a
face does not depend on the batch that it is drawn in.

The cue works through filters: a pixel is skin times a factor that depends on the cue. Ratios between lip, beard and
cheek therefore hold for every skin tone and light, which is what makes the cue readable.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gslopes.core import frozen_identity
from gslopes.core.errors import ConfigError
from gslopes.core.records import ByteArray, FloatArray, floats, slices
from gslopes.photos import drawn
from gslopes.photos.drawn import READOUTS
from training.drawn.parameters import COLUMNS, FACE, FaceParameters

Plane = NDArray[Any]  # float32 throughout; numpy's own annotations lose track of it

# Face frame geometry shared with the landmarks and the readout.
HEAD_Y = -0.02
HEAD_W = 0.52
HEAD_H = 0.69
EYE_X, MOUTH_X = (READOUTS["landmarks"]["x"][place] for place in (1, 4))
EYE_Y, NOSE_Y, MOUTH_Y = READOUTS["landmarks"]["y"][1:4]


def colours(name: str) -> Plane:
    """Colours (n, 3) of a palette."""
    return drawn.colours((FACE["palettes"] | READOUTS)[name])


def to_photo(points: Plane, parameters: FaceParameters, size: int) -> Plane:
    """Face-frame points (n, m, 2) to the photo frame in pixels, (n, m, 2) float32."""
    x = points[..., 0]
    y = points[..., 1]
    cos, sin = turn(parameters)
    u = 2 * parameters.shift_x[:, None] + cos[:, None] * x - sin[:, None] * y
    v = 2 * parameters.shift_y[:, None] + sin[:, None] * x + cos[:, None] * y
    return ((np.stack([u, v], axis=-1) + 1) * (size / 2) - 0.5).astype(np.float32)


def turn(parameters: FaceParameters) -> tuple[Plane, Plane]:
    """Cosine and sine of the pose, times its scale, (n,) each."""
    angle = np.deg2rad(parameters.rotation)
    return parameters.scale * np.cos(angle), parameters.scale * np.sin(angle)


def palette(name: str, where: Plane) -> Plane:
    """Colours (B, 3, 1, 1) along a palette; ``where`` in [0, 1]."""
    table = colours(name)
    stops = np.linspace(0, 1, len(table))
    rows = np.stack([np.interp(where, stops, channel) for channel in table.T], 1)
    return rows.astype(np.float32)[:, :, None, None]


class Look(SimpleNamespace):
    """What faces look like, ready to meet planes (B, h, w): columns of ``FaceParameters`` as (B, 1, 1), and more.

    masculine, feminine: the cue as a share.  old: of the lines that come with age.
    edge: how wide a soft edge is, face frame.  hair_colour: (B, 3, 1, 1).
    half_head, eye_x, half_mouth: half the head's width, the eyes' distance from the middle line, half the distance
        between the mouth's corners, which a broad smile widens by a tenth.
    """

    def __init__(self, parameters: FaceParameters, size: int) -> None:
        super().__init__(**{name: column(getattr(parameters, name)) for name in COLUMNS})
        self.masculine = (self.gender + 2) / 4
        self.feminine = (2 - self.gender) / 4
        self.old = self.age**2
        self.edge = 1.5 * (2.0 / size) / self.scale
        wider = 1 + 0.05 * self.width
        self.half_head = HEAD_W * wider
        self.eye_x = EYE_X * wider
        self.half_mouth = (MOUTH_X + 0.016 * self.smile) * wider
        gray = ramp(self.age, 0.55, 1.0)[:, None] * 0.9
        coloured = palette("hair", parameters.hair_shade) * (1 - gray)
        self.hair_colour = coloured + colours("gray_hair")[0, :, None, None] * gray


@frozen_identity
class Window:
    """A rectangle of the photo with the face-frame coordinates of its pixels."""

    rows: slice
    columns: slice
    x: Plane
    y: Plane

    def of(self, picture: Plane) -> Plane:
        """The window's part of a picture or plane of the whole photo; writing to it writes there."""
        return picture[..., self.rows, self.columns]

    def within(self, outer: "Window") -> tuple[slice, slice]:
        """Its rows and columns in a larger window."""
        top = outer.rows.start
        start = outer.columns.start
        rows = slice(self.rows.start - top, self.rows.stop - top)
        return rows, slice(self.columns.start - start, self.columns.stop - start)


class Canvas:
    """Per-batch geometry: cuts windows.  edge: of the widest soft edge in the batch, face frame."""

    def __init__(self, parameters: FaceParameters, size: int, edge: float) -> None:
        self.parameters = parameters
        self.size = size
        # Windows leave 0.03 round their shapes; the soft edge of a very small face needs more.
        self.more = max(0.0, 0.6 * edge - 0.03)
        pixel = 2.0 / size  # its width in units of the photo's half side
        cos, sin = turn(parameters)
        scale = parameters.scale.astype(np.float32)
        axis = ((np.arange(size, dtype=np.float32) + 0.5) * pixel - 1).astype(np.float32)
        self._cos = (cos / scale**2)[:, None]
        self._sin = (sin / scale**2)[:, None]
        self._across = (axis - 2 * parameters.shift_x[:, None]).astype(np.float32)
        self._down = (axis - 2 * parameters.shift_y[:, None]).astype(np.float32)

    def window(self, name: str) -> Window:
        """The smallest rectangle of pixels that holds a window of the table, with its soft edge, for every face."""
        half, top, bottom = FACE["windows"][name]
        x = half + self.more
        y0 = top - self.more
        y1 = bottom + self.more
        corners = np.array([[-x, y0], [x, y0], [-x, y1], [x, y1]], np.float32)
        every = np.broadcast_to(corners, (len(self.parameters), 4, 2))
        corners = to_photo(every, self.parameters, self.size)
        low = np.clip(np.floor(corners.min((0, 1))) - 1, 0, self.size - 1).astype(int)
        high = np.clip(np.ceil(corners.max((0, 1))) + 2, 1, self.size).astype(int)
        columns, rows = map(slice, low, high)
        across = self._across[:, columns]
        down = self._down[:, rows]
        return Window(
            rows,
            columns,
            (self._cos * across)[:, None, :] + (self._sin * down)[:, :, None],
            (self._cos * down)[:, :, None] - (self._sin * across)[:, None, :],
        )


# ---------------------------------------------------------------------------------------------- brushes


def column(column: Plane) -> Plane:
    """A parameter (B,) ready to meet planes (B, h, w)."""
    return floats(column)[:, None, None]


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
    down = y * (1 / ry)
    down *= down
    plane += down
    np.subtract(1, plane, out=plane)
    np.maximum(plane, 0, out=plane)
    return np.multiply(plane, plane, out=plane)


def spot(name: str, x: Plane, y: Plane) -> Plane:
    """The ``bump`` that a spot of the table is."""
    centre_x, centre_y, rx, ry = FACE["spots"][name]
    return bump(x - centre_x, y - centre_y, rx, ry)


def line(distance: Plane, width: float) -> Plane:
    """A soft line: 1 at a distance of 0, 0 from ``width`` on."""
    return np.maximum(1 - np.abs(distance) * (1 / width), 0)


def ring(x: Plane, y: Plane, rx: float, ry: float) -> Plane:
    """Signed distance to an ellipse with half axes rx, ry, in units of them."""
    return np.sqrt((x / rx) ** 2 + (y / ry) ** 2) - 1


def ramp(plane: Plane, low: float, high: float) -> Plane:
    """0 below ``low``, 1 above ``high``, smooth between."""
    t = np.clip((plane - low) * (1 / (high - low)), 0, 1)
    return t * t * (3 - 2 * t)


def paint(picture: Plane, cover: Plane, colour: Plane) -> None:
    """Lay a colour over the picture; if the cover is 1 nothing of what was below remains, to the last bit."""
    picture *= (1 - cover)[:, None]
    picture += cover[:, None] * colour


def tint(picture: Plane, name: str, cover: Plane, amount: Plane | float = 1.0) -> None:
    """Take a tint of the table away from the picture, ``amount`` (B, 1, 1) of it, as far as the cover is 1."""
    shares = np.array(FACE["tints"][name], np.float32)[:, None, None]
    strength = floats(amount).reshape(-1, 1, 1, 1) * shares
    factor = cover[:, None] * strength
    np.subtract(1, factor, out=factor)
    picture *= factor


# --- What lies inside a drawn head's outline: complexion, nose, eyes, brows, mouth; all that the cue can change -------
# Each function draws one part: p is what the faces look like, x and y are the window's, layer what is drawn on.

_BLACK = np.full((3, 1, 1), 0.06, np.float32)
_CATCH_LIGHT = np.full((3, 1, 1), 0.97, np.float32)
_WHITE_OF_EYE = np.array([0.93, 0.92, 0.91], np.float32)[:, None, None]
_TEETH = np.array([0.90, 0.88, 0.85], np.float32)[:, None, None]


def _complexion(p: Look, x: Plane, y: Plane, layer: Plane) -> None:
    """Beard shadow, blush, jaw and the folds next to the nose."""
    side = np.abs(x)
    # Beard shadow: jaw and upper lip, fading towards the cheeks.
    height = y + 0.10 * np.minimum(side, 0.3) - 1.1 * np.maximum(side - 0.30, 0)
    tint(layer, "beard", ramp(height, 0.20, 0.40), p.masculine**1.25)
    tint(layer, "blush", spot("blush", side, y), p.feminine)
    # Jaw: a feminine cue hollows the lower cheek, which narrows the face without moving its outline.
    tint(layer, "hollow", spot("hollow", side, y), p.feminine)
    drop = y - 0.17
    fold = side - 0.088 - (0.80 - 1.9 * drop) * drop
    crease = line(fold, 0.026) * spot("fold", side, drop)
    tint(layer, "even", crease, 0.08 * p.smile + 0.20 * p.old)


def _forehead(p: Look, x: Plane, y: Plane, layer: Plane) -> None:
    lines = np.zeros(x.shape, np.float32)
    bent = y + 0.10 * x * x
    for height in (-0.41, -0.35, -0.29):
        lines += line(bent - height, 0.016)
    lines *= spot("lines", x, y)
    tint(layer, "even", lines, 0.17 * p.old)


def _nose(p: Look, x: Plane, y: Plane, layer: Plane) -> None:
    side = np.abs(x)
    half = 0.070 * (1 + 0.18 * p.nose)
    # light from the viewer's right darkens the left flank
    from_left = np.sin(np.deg2rad(p.light_angle))
    flank = spot("flank", x + 0.055 * from_left, y)
    under = bump(x, y - 0.225, half * 1.25, 0.045)
    wings = spot("wings", side - half, y)
    layer *= (1 - 0.12 * flank - 0.20 * under - 0.20 * wings)[:, None]
    layer *= (1 + 0.07 * spot("tip", x, y))[:, None]
    nostril = ring(side - half * 0.52, y - 0.213, 0.024, 0.013) * 0.015
    tint(layer, "nostril", cover(nostril, p.edge))


def _eyes(p: Look, x: Plane, y: Plane, layer: Plane) -> None:
    big = 1 + 0.14 * p.eye_size
    u = np.abs(x) - p.eye_x
    v = y - EYE_Y
    half = 0.095 * big
    height = 0.046 * big
    arch = 1 - np.minimum((u / half) ** 2, 4)
    tilt = v + 0.10 * u
    # On the skin round the eye: make-up on the lid, the lid's crease, bags and crow's feet.
    tint(layer, "lid", spot("lid", u, v), p.feminine)
    crease = line(tilt + height * 1.35 * arch + 0.012, 0.012) * np.maximum(arch, 0)
    feet = line(np.abs(v - 0.005) - 0.35 * (u - 0.09), 0.011)
    feet *= spot("feet", u, v)
    folds = 0.22 * crease + 0.20 * p.old * spot("bags", u, v) + 0.26 * p.old * feet
    layer *= (1 - folds)[:, None]
    # The eye itself: white, iris, pupil, catch light, each kept inside the lids.
    upper = -tilt - height * arch
    lower = tilt - 0.72 * height * arch
    eye = cover(np.maximum(upper, lower), p.edge)
    paint(layer, eye, _WHITE_OF_EYE * (1 - 0.22 * ramp(-tilt, -0.01, 0.05))[:, None])
    radius = np.sqrt(u * u + (v + 0.004) ** 2)
    paint(layer, eye * cover(radius - 0.044, p.edge), palette("eyes", p.eye_colour.ravel()))
    paint(layer, eye * cover(radius - 0.019, p.edge), _BLACK)
    glint = np.sqrt((np.where(x < 0, -u, u) - 0.014) ** 2 + (v + 0.020) ** 2) - 0.010
    paint(layer, eye * cover(glint, p.edge), _CATCH_LIGHT)
    # Lashes: a line along the upper lid, thicker and longer the more feminine the cue.
    thick = 0.007 + 0.011 * p.feminine
    along = np.abs(u) - half - 0.022 * p.feminine
    lash = cover(np.maximum(np.abs(upper - thick * 0.5) - thick, along), p.edge)
    paint(layer, lash * (0.55 + 0.40 * p.feminine), _BLACK)


def _brows(p: Look, x: Plane, y: Plane, layer: Plane) -> None:
    u = np.abs(x) - p.eye_x
    along = np.clip((u + 0.11) * (1 / 0.235), -0.1, 1.1)  # 0 at the inner end, 1 at the outer
    arch = (0.030 - 0.010 * p.gender) * (4 * along * (1 - along))
    middle = -0.158 + 0.009 * p.gender - arch + 0.012 * along
    thick = (0.0225 + 0.0072 * p.gender) * (1.15 - 0.65 * along)
    distance = np.maximum(np.abs(y - middle) - thick, np.abs(u - 0.008) - 0.118)
    brow = cover(distance, p.edge * 1.2) * (0.80 + 0.08 * p.gender)
    paint(layer, brow, p.hair_colour * (0.62 - 0.08 * p.gender)[:, None])


def _mouth(p: Look, x: Plane, y: Plane, layer: Plane) -> None:
    s = x / p.half_mouth
    arch = np.maximum(1 - s * s, -1)
    bow = 1 - 0.22 * spot("bow", s, y)
    # The corners stay where they are: a smile sags the line between them and opens it.
    middle = y - MOUTH_Y - (0.004 + 0.050 * p.smile) * arch
    gap = 0.055 * np.maximum(p.smile - 0.25, 0) / 0.75 * arch
    top = (0.0330 - 0.0075 * p.gender) * arch * bow
    bottom = (0.0480 - 0.0100 * p.gender) * arch
    outside = np.abs(x) - p.half_mouth
    upper = -middle - gap * 0.3
    lower = middle - gap * 0.7
    lips = cover(np.maximum(np.maximum(-middle - top - gap * 0.3, lower - bottom), outside), p.edge)
    cue = p.gender[..., 0]
    redness = 1 - np.exp(-np.array([0.06, 0.36, 0.26]) - cue * np.array([-0.02, -0.13, -0.09]))
    factor = lips[:, None] * redness.astype(np.float32)[..., None, None]
    layer *= 1 - factor
    shine = spot("shine", s, lower - bottom * 0.5)
    layer *= (1 + (lips * shine) * (0.16 * (2 - p.gender) / 4))[:, None]
    tint(layer, "even", spot("below", s, lower - bottom) * (1 - lips), 0.10)
    teeth = cover(np.maximum(upper, lower) + 0.3 * p.edge, p.edge)
    teeth *= np.clip(gap * (1 / 0.02), 0, 1)  # none if the mouth is closed
    paint(layer, teeth, _TEETH)
    between = cover(np.maximum(np.abs(middle + gap * 0.3) - 0.004, outside), p.edge)
    tint(layer, "even", between * (1 - 0.6 * teeth), 0.60)


_PARTS = {
    "complexion": _complexion,
    "forehead": _forehead,
    "nose": _nose,
    "eyes": _eyes,
    "brows": _brows,
    "mouth": _mouth,
}


# --- Rendering: background, hair, body, head and fringe, laid over one another; and what is known about the result ----


# Drawn at once: planes of this many pixels stay in the processor's cache.
_CHUNK_PIXELS = 32 * 64 * 64
SMALLEST = 32  # pixels; below it the features melt into one another


@frozen_identity
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
    look = Look(p, size)
    eye = look.eye_x.ravel()
    mouth = look.half_mouth.ravel()
    x = np.stack([-eye, eye, 0 * eye, -mouth, mouth], 1)
    y = np.array([EYE_Y, EYE_Y, NOSE_Y, MOUTH_Y, MOUTH_Y], np.float32)
    return to_photo(np.stack([x, np.broadcast_to(y, x.shape)], -1), p, size)


def _boxes(p: FaceParameters, size: int) -> FloatArray:
    """Bounds of the ellipse from forehead to chin, turned with the head."""
    top = -0.46
    bottom = HEAD_Y + HEAD_H
    half_w = HEAD_W * (1 + 0.05 * p.width)
    half_h = (bottom - top) / 2
    middle = np.tile(np.array([[[0, (top + bottom) / 2]]], np.float32), (len(p), 1, 1))
    centre = to_photo(middle, p, size)[:, 0]
    cos = np.cos(np.deg2rad(p.rotation))
    sin = np.sin(np.deg2rad(p.rotation))
    across = np.hypot(half_w * cos, half_h * sin)
    down = np.hypot(half_w * sin, half_h * cos)
    reach = np.stack([across, down], 1) * (p.scale * size / 2)[:, None]
    return np.concatenate([centre - reach, centre + reach], 1).astype(np.float32)


# ------------------------------------------------------------------------------------------ painter's order


def _draw(parameters: FaceParameters, size: int) -> tuple[ByteArray, Plane]:
    """Draw one batch: pixels (B, size, size, 3) uint8 RGB, face mask (B, size, size) float32."""
    p = Look(parameters, size)
    canvas = Canvas(parameters, size, float(p.edge.max(initial=0)))
    skin = palette("skin", (parameters.tone + 2) / 4)
    everywhere = canvas.window("all")
    light = _light(p, everywhere.x, everywhere.y)
    fade = np.linspace(1.06, 0.88, size, dtype=np.float32)[:, None]
    shade = (0.55 + 0.5 * p.background_shade)[:, None]
    picture = np.empty((len(parameters), 3, size, size), np.float32)
    picture[:] = palette("backdrop", parameters.background) * shade * fade
    mane = canvas.window("mane")
    outer = _hair_outline(p, mane.x, mane.y)
    # A soft band of light round the crown.
    band = spot("crown", np.sqrt(mane.x * mane.x + (mane.y + 0.06) ** 2), mane.x * 0.5)
    band *= 0.35
    band += 0.9
    band *= mane.of(light)
    locks = p.hair_colour * band[:, None]
    paint(mane.of(picture), cover(outer, p.edge), 0.72 * locks)
    _body(p, picture, canvas, skin, palette("shirt", parameters.shirt))
    # The face is a separate layer, laid on by the head's outline: what the cue changes stays within it.
    head = canvas.window("head")
    layer = np.empty((len(parameters), 3, *head.x.shape[1:]), np.float32)
    layer[:] = skin
    for name, part in _PARTS.items():
        window = canvas.window(name)
        part(p, window.x, window.y, layer[..., *window.within(head)])
    layer *= head.of(light)[:, None]
    outline = cover(_head_outline(p, head.x, head.y), p.edge)
    paint(head.of(picture), outline, layer)
    fringe = cover(np.maximum(outer, _opening(p, mane.x, mane.y)), p.edge)
    paint(mane.of(picture), fringe, locks)
    face = np.zeros((len(parameters), size, size), np.float32)
    head.of(face)[...] = outline
    mane.of(face)[...] *= 1 - fringe
    picture *= (p.light * 255)[:, None]
    picture += 0.5
    np.clip(picture, 0, 255, out=picture)
    return np.ascontiguousarray(picture.transpose(0, 2, 3, 1).astype(np.uint8)), face


def _light(p: Look, x: Plane, y: Plane) -> Plane:
    """Shading of a rounded head: brighter on the side that the light comes from, darker towards the rim."""
    angle = np.deg2rad(p.light_angle)
    plane = x * (0.34 * p.light_contrast * np.sin(angle) / HEAD_W)
    plane += y * (-0.22 * p.light_contrast * np.cos(angle) / HEAD_H)
    plane += 0.93
    return np.clip(plane, 0.62, 1.06, out=plane)


def _hair_outline(p: Look, x: Plane, y: Plane) -> Plane:
    """Signed distance to all hair: a cap that hangs down to the length asked."""
    half = 0.585 + 0.045 * p.hair + 0.02 * p.width
    above = np.minimum(y + 0.10, 0) * (0.60 / 0.69)
    radius = np.sqrt(x * x + above * above)
    sides = radius - half - np.maximum(y + 0.1, 0) * (0.08 * p.hair)
    ends = y - (0.08 + 0.86 * p.hair) + 0.45 * x * x
    # The larger of the two distances, its corner rounded.
    round_off = np.maximum(0.18 - np.abs(sides - ends), 0)
    round_off *= round_off
    return np.maximum(sides, ends) + round_off * (1 / (4 * 0.18))


def _opening(p: Look, x: Plane, y: Plane) -> Plane:
    """Signed distance, negative in the hair, to the opening that shows the face: round above, open below."""
    above = np.minimum(y - 0.02, 0) * (0.50 / 0.46)
    below = np.maximum(y - 0.02, 0)
    half = 0.530 - 0.05 * p.hair + 0.02 * p.width
    skew = x + 0.38 * p.part * above
    skew *= skew
    above *= above
    skew += above
    return half - 0.10 * p.hair * below - np.sqrt(skew, out=skew)


def _body(p: Look, picture: Plane, canvas: Canvas, skin: Plane, shirt: Plane) -> None:
    """Neck, shirt and ears."""
    bust = canvas.window("bust")
    x = bust.x
    y = bust.y
    neck = np.abs(x) - 0.23 - 0.25 * np.maximum(y - 0.72, 0) ** 2
    shade = 0.80 - 0.16 * spot("chin_shade", x, y)
    paint(bust.of(picture), cover(np.maximum(neck, 0.40 - y), p.edge), skin * shade[:, None])
    shoulder = 0.80 + 0.32 * x * x - y
    collar = 0.27 - np.sqrt(x * x + (y - 0.74) ** 2)
    paint(bust.of(picture), cover(np.maximum(shoulder, collar), p.edge), shirt)
    ears = canvas.window("ears")
    x = np.abs(ears.x) - p.half_head
    y = ears.y - 0.03
    inner = 0.90 - 0.25 * spot("ear", x, y)
    ear = ring(x, y, 0.075, 0.125) * 0.075
    paint(ears.of(picture), cover(ear, p.edge), skin * inner[:, None])


def _head_outline(p: Look, x: Plane, y: Plane) -> Plane:
    """Signed distance to the head, an egg with a jaw; it does not know the cue."""
    v = (y - HEAD_Y) / HEAD_H
    taper = 1 - 0.07 * v - 0.08 * np.maximum(v, 0) ** 2
    u = x / (p.half_head * taper)
    v *= v
    return (np.sqrt(u * u + v * (0.66 + 0.34 * v)) - 1) * HEAD_W
