"""Rendering: background, hair, body, head and fringe, laid over one another; and what is known about the result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gslopes.core.errors import ConfigError
from gslopes.core.records import ByteArray, FloatArray
from gslopes.photos.drawn.features import features
from gslopes.photos.drawn.parameters import FaceParameters
from gslopes.photos.drawn.shapes import (
    EYE_Y,
    HEAD_H,
    HEAD_W,
    HEAD_Y,
    MOUTH_Y,
    NOSE_Y,
    SKIN,
    Canvas,
    Plane,
    Window,
    bump,
    column,
    cover,
    eye_x,
    mouth_half_width,
    paint,
    palette,
    ramp,
    to_photo,
)

_CHUNK_PIXELS = 32 * 64 * 64  # drawn at once: planes of this many pixels stay in the processor's cache
SMALLEST = 32  # pixels; below it the features melt into one another

_HAIR = np.array([[30, 25, 26], [62, 41, 31], [112, 70, 42], [158, 98, 50], [214, 178, 116]], np.float32) / 255
_GRAY = np.array([188, 188, 190], np.float32) / 255
_BACKDROP = (
    np.array([[96, 140, 190], [120, 176, 178], [168, 186, 150], [222, 186, 130], [216, 142, 140]], np.float32) / 255
)
_SHIRT = np.array([[44, 62, 96], [60, 110, 110], [120, 120, 124], [150, 80, 66], [226, 220, 208]], np.float32) / 255


@dataclass(frozen=True, slots=True, eq=False)
class DrawnFaces:
    """Drawn photos and everything known about them, photo frame.

    pixels: (n, size, size, 3) uint8 RGB.  boxes: (n, 4) float32, x0 y0 x1 y1, forehead to chin.
    points: (n, 5, 2) float32, left eye, right eye, nose tip, left and right mouth corner, as the viewer sees them.
    face_mask: (n, size, size) float32 in [0, 1], skin, nose, brows, eyes, lips and mouth, hair excluded.
    skin_mask: the same, of skin and nose alone; nowhere above ``face_mask``.
    """

    pixels: ByteArray
    boxes: FloatArray
    points: FloatArray
    face_mask: FloatArray
    skin_mask: FloatArray


def render(parameters: FaceParameters, size: int = 128) -> DrawnFaces:
    """Draw the faces; the picture of a face does not depend on the others.

    parameters: n faces.  size: side of the square photos in pixels, 32 or more.

    Raises: ConfigError for a smaller size.
    """
    if size < SMALLEST:
        raise ConfigError(f"A size of {size} pixels is too small to draw a face.", f"Ask for {SMALLEST} or more.")
    n, step = len(parameters), max(1, _CHUNK_PIXELS // size**2)
    pixels = np.empty((n, size, size, 3), np.uint8)
    face, skin = np.empty((n, size, size), np.float32), np.empty((n, size, size), np.float32)
    for start in range(0, n, step):
        part = slice(start, start + step)
        pixels[part], face[part], skin[part] = _draw(parameters.take(part), size)
    return DrawnFaces(pixels, _boxes(parameters, size), _points(parameters, size), face, skin)


def _points(p: FaceParameters, size: int) -> FloatArray:
    eye, mouth, zero = eye_x(p), mouth_half_width(p), np.zeros(len(p), np.float32)
    x = np.stack([-eye, eye, zero, -mouth, mouth], 1)
    y = np.array([EYE_Y, EYE_Y, NOSE_Y, MOUTH_Y, MOUTH_Y], np.float32)
    return to_photo(np.stack([x, np.broadcast_to(y, x.shape)], -1), p, size)


def _boxes(p: FaceParameters, size: int) -> FloatArray:
    """Bounds of the ellipse from forehead to chin, turned with the head."""
    top, bottom = -0.46, HEAD_Y + HEAD_H
    half_w, half_h = HEAD_W * (1 + 0.05 * p.width), (bottom - top) / 2
    centre = to_photo(np.tile(np.array([[[0, (top + bottom) / 2]]], np.float32), (len(p), 1, 1)), p, size)[:, 0]
    cos, sin = np.cos(np.deg2rad(p.rotation)), np.sin(np.deg2rad(p.rotation))
    reach = np.stack([np.hypot(half_w * cos, half_h * sin), np.hypot(half_w * sin, half_h * cos)], 1)
    reach *= (p.scale * size / 2)[:, None]
    return np.concatenate([centre - reach, centre + reach], 1).astype(np.float32)


# ------------------------------------------------------------------------------------------ painter's order


def _draw(parameters: FaceParameters, size: int) -> tuple[ByteArray, Plane, Plane]:
    """Draw one batch: pixels (B, size, size, 3) uint8 RGB, face mask and skin mask (B, size, size) float32."""
    p, canvas = parameters, Canvas(parameters, size)
    whole = canvas.window(-9, -9, 9, 9)
    skin = palette(SKIN, (p.tone + 2) / 4)
    hair = _hair_colour(p)
    light = _light(p, whole)
    picture = _background(p, size)
    mane = canvas.window(-0.80, -0.92, 0.80, 1.02)
    outer = _hair_outline(p, mane)
    locks = hair * _sheen(p, mane, mane.of(light))[:, None]
    paint(mane.of(picture), cover(outer, canvas.edge), 0.72 * locks)
    _body(picture, canvas, skin)
    # The face is a layer of its own, laid on by the head's outline: what the cue changes stays within it.
    head = canvas.window(-0.60, -0.76, 0.60, 0.73)
    layer = np.empty((len(p), 3, *head.x.shape[1:]), np.float32)
    layer[:] = skin
    clear = features(layer, head, canvas, skin, hair)
    layer *= head.of(light)[:, None]
    outline = cover(_head_outline(p, head.x, head.y), canvas.edge)
    paint(head.of(picture), outline, layer)
    fringe = cover(np.maximum(outer, _opening(p, mane)), canvas.edge)
    paint(mane.of(picture), fringe, locks)
    face = np.zeros((len(p), size, size), np.float32)
    head.of(face)[...] = outline
    mane.of(face)[...] *= 1 - fringe
    mask = face.copy()
    head.of(mask)[...] *= clear
    return _quantise(picture, p.light), face, mask


def _quantise(picture: Plane, light: Plane) -> ByteArray:
    picture *= (light * 255)[:, None, None, None].astype(np.float32)
    picture += 0.5
    np.clip(picture, 0, 255, out=picture)
    pixels = np.empty((len(picture), *picture.shape[2:], 3), np.uint8)
    for channel in range(3):
        np.copyto(pixels[..., channel], picture[:, channel], casting="unsafe")
    return pixels


def _background(p: FaceParameters, size: int) -> Plane:
    fade = np.linspace(1.06, 0.88, size, dtype=np.float32)[:, None]
    colour = palette(_BACKDROP, p.background) * (0.55 + 0.5 * p.background_shade)[:, None, None, None]
    picture = np.empty((len(p), 3, size, size), np.float32)
    picture[:] = colour * fade
    return picture


def _light(p: FaceParameters, at: Window) -> Plane:
    """Shading of a rounded head: brighter on the side that the light comes from, darker towards the rim."""
    angle = np.deg2rad(p.light_angle)
    across = column(0.34 * p.light_contrast * np.sin(angle) / HEAD_W)
    down = column(-0.22 * p.light_contrast * np.cos(angle) / HEAD_H)
    plane = at.x * across
    plane += at.y * down
    plane += 0.93
    return np.clip(plane, 0.62, 1.06, out=plane)


def _hair_colour(p: FaceParameters) -> Plane:
    gray = ramp(p.age, 0.55, 1.0)[:, None, None, None] * 0.9
    return (palette(_HAIR, p.hair_shade) * (1 - gray) + _GRAY[:, None, None] * gray).astype(np.float32)


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


def _sheen(p: FaceParameters, at: Window, light: Plane) -> Plane:
    """Brightness of the hair: a soft band of light round the crown."""
    band = bump(np.sqrt(at.x * at.x + (at.y + 0.06) ** 2) - 0.60, at.x * 0.5, 0.13, 0.30)
    band *= 0.35
    band += 0.9
    band *= light
    return band


def _body(picture: Plane, canvas: Canvas, skin: Plane) -> None:
    """Neck, shirt and ears."""
    p, edge = canvas.parameters, canvas.edge
    low = canvas.window(-9, 0.35, 9, 9)
    part = low.of(picture)
    neck = np.abs(low.x) - 0.23 - 0.25 * np.maximum(low.y - 0.72, 0) ** 2
    shade = 0.80 - 0.16 * bump(low.x, low.y - 0.66, 0.40, 0.16)
    paint(part, cover(np.maximum(neck, 0.40 - low.y), edge), skin * shade[:, None])
    shoulder = 0.80 + 0.32 * low.x * low.x - low.y
    collar = 0.27 - np.sqrt(low.x * low.x + (low.y - 0.74) ** 2)
    paint(part, cover(np.maximum(shoulder, collar), edge), palette(_SHIRT, p.shirt))
    side = canvas.window(-0.66, -0.16, 0.66, 0.24)
    x, y = np.abs(side.x) - column(HEAD_W * (1 + 0.05 * p.width)), side.y - 0.03
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
