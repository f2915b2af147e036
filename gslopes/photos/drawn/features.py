"""What lies inside a drawn head's outline: complexion, nose, eyes, brows, mouth; all that the cue can change."""

from __future__ import annotations

import numpy as np

from gslopes.photos.drawn.parameters import FaceParameters
from gslopes.photos.drawn.shapes import (
    EYE_Y,
    MOUTH_Y,
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
    shares,
    tint,
)

_EYES = np.array([[52, 32, 20], [98, 66, 34], [84, 112, 62], [78, 118, 158]], np.float32) / 255
_BLACK, _CATCH_LIGHT = np.full((3, 1, 1), 0.06, np.float32), np.full((3, 1, 1), 0.97, np.float32)


def features(layer: Plane, head: Window, canvas: Canvas, skin: Plane, hair: Plane) -> Plane:
    """Draw everything inside the head's outline; returns the share of plain skin, (B, h, w) of the head's window."""
    clear = np.ones(head.x.shape, np.float32)

    def cut(x0: float, y0: float, x1: float, y1: float) -> tuple[Window, Plane, Plane]:
        at = canvas.window(x0, y0, x1, y1)
        rows = slice(at.rows.start - head.rows.start, at.rows.stop - head.rows.start)
        columns = slice(at.columns.start - head.columns.start, at.columns.stop - head.columns.start)
        return at, layer[..., rows, columns], clear[:, rows, columns]

    p, edge = canvas.parameters, canvas.edge
    _complexion(p, *cut(-0.60, 0.02, 0.60, 0.73)[:2])
    _forehead(p, *cut(-0.34, -0.47, 0.34, -0.20)[:2])
    _nose(p, edge, *cut(-0.14, -0.12, 0.14, 0.29)[:2])
    _eyes(p, edge, *cut(-0.40, -0.24, 0.40, 0.12))
    _brows(p, edge, hair, *cut(-0.38, -0.28, 0.38, -0.05))
    _mouth(p, edge, *cut(-0.24, 0.24, 0.24, 0.56))
    return clear


def _complexion(p: FaceParameters, at: Window, layer: Plane) -> None:
    """Beard shadow, blush, jaw and the folds next to the nose."""
    side = np.abs(at.x)
    masculine, feminine = (p.gender + 2) / 4, (2 - p.gender) / 4
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
    from_left = column(np.sin(np.deg2rad(p.light_angle)))  # light from the viewer's right darkens the left flank
    flank = bump(at.x + 0.055 * from_left, at.y - 0.06, 0.055, 0.17)
    under = bump(at.x, at.y - 0.225, half * 1.25, 0.045)
    wings = bump(np.abs(at.x) - half, at.y - 0.19, 0.026, 0.045)
    layer *= (1 - 0.12 * flank - 0.20 * under - 0.20 * wings)[:, None]
    layer *= (1 + 0.07 * bump(at.x, at.y - 0.165, 0.05, 0.06))[:, None]
    nostril = (np.sqrt(((np.abs(at.x) - half * 0.52) / 0.024) ** 2 + ((at.y - 0.213) / 0.013) ** 2) - 1) * 0.015
    tint(layer, cover(nostril, edge), shares(np.ones(len(p), np.float32), 0.55, 0.60, 0.60))


def _eyes(p: FaceParameters, edge: Plane, at: Window, layer: Plane, clear: Plane) -> None:
    feminine = (2 - p.gender) / 4
    big = 1 + 0.14 * p.eye_size
    u, v = np.abs(at.x) - column(eye_x(p)), at.y - EYE_Y
    half, height = column(0.095 * big), column(0.046 * big)
    arch = 1 - np.minimum((u / half) ** 2, 4)
    tilt = v + 0.10 * u
    # On the skin round the eye: make-up on the lid, the lid's crease, bags and crow's feet.
    lid = bump(u - 0.01, v + 0.052, 0.135, 0.068)
    tint(layer, lid, shares(feminine, 0.26, 0.46, 0.26))
    crease = np.maximum(1 - np.abs(tilt + height * 1.35 * arch + 0.012) * (1 / 0.012), 0) * np.maximum(arch, 0)
    bags = bump(u, v - 0.075, 0.085, 0.026)
    feet = np.maximum(1 - np.abs(np.abs(v - 0.005) - 0.35 * (u - 0.09)) * (1 / 0.011), 0)
    feet *= bump(u - 0.145, v, 0.05, 0.06)
    folds = 0.22 * crease + column(0.20 * p.age**2) * bags + column(0.26 * p.age**2) * feet
    layer *= (1 - folds)[:, None]
    # The eye itself: white, iris, pupil, catch light, each kept inside the lids.
    upper, lower = -tilt - height * arch, tilt - 0.72 * height * arch
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
    lash = cover(np.maximum(np.abs(upper - thick * 0.5) - thick, np.abs(u) - half - column(0.022 * feminine)), edge)
    paint(layer, lash * column(0.55 + 0.40 * feminine), _BLACK)
    clear *= 1 - np.maximum(eye, lash)


def _brows(p: FaceParameters, edge: Plane, hair: Plane, at: Window, layer: Plane, clear: Plane) -> None:
    u = np.abs(at.x) - column(eye_x(p))
    along = np.clip((u + 0.11) * (1 / 0.235), -0.1, 1.1)  # 0 at the inner end, 1 at the outer
    arch = column(0.030 - 0.010 * p.gender) * (4 * along * (1 - along))
    middle = column(-0.158 + 0.009 * p.gender) - arch + 0.012 * along
    thick = column(0.0225 + 0.0072 * p.gender) * (1.15 - 0.65 * along)
    distance = np.maximum(np.abs(at.y - middle) - thick, np.abs(u - 0.008) - 0.118)
    brow = cover(distance, edge * 1.2) * column(0.80 + 0.08 * p.gender)
    paint(layer, brow, hair * (0.62 - 0.08 * p.gender)[:, None, None, None])
    clear *= 1 - brow


def _mouth(p: FaceParameters, edge: Plane, at: Window, layer: Plane, clear: Plane) -> None:
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
    lips = cover(np.maximum(np.maximum(-middle - top - gap * 0.3, middle - gap * 0.7 - bottom), outside), edge)
    redness = 1 - np.exp(-np.array([0.06, 0.36, 0.26]) - p.gender[:, None] * np.array([-0.02, -0.13, -0.09]))
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
    clear *= 1 - np.maximum(lips, np.maximum(teeth, line))
