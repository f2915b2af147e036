"""What of a photo may be associated with being favoured: contrast, luminance, sharpness, size.

That a difference is associated with contrast does not justify it, as the authors say: photographs of dark skin are
often badly lit by habits that are no accident.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gslopes.ask.boxes import Box
from gslopes.core.geometry import typology_angle
from gslopes.core.records import ByteArray

SIDE, LIMIT = 10, 25.0  # pictures are reduced to 10 x 10, and symmetric below this score


def covariates(photo: ByteArray, head: Box, points: NDArray[np.floating]) -> dict[str, float]:
    """The covariates of one photo, by name.

    skin_luminance, background_luminance: median L*, 0 to 100, the latter outside of the head.  skin_contrast: the
        difference of the two, absolute.  ita: individual typology angle of the skin, degrees.
    head_contrast: standard deviation of L*/100 in the head.  eye_contrast: (Y cheek - Y eye)/(Y cheek + Y eye).
    head_height: share of the photo's height.  sharpness: log variance of the Laplacian of the head.  pixels: log of
        their number.

    photo: (H, W, 3) uint8 RGB.  head: the head's box.  points: (5, 2) left eye, right eye, nose, mouth corners.
    Discs on both cheeks stand for the face's skin.
    """
    height, width = photo.shape[:2]
    lab = cv2.cvtColor(photo.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    linear = _linear(photo)
    inside = np.zeros((height, width), dtype=bool)
    y0, x0 = int(head.y0), int(head.x0)
    inside[y0 : max(int(head.y1), y0 + 1), x0 : max(int(head.x1), x0 + 1)] = True
    cheeks, eyes = face_discs(points, height, width)
    tone = np.median(lab[cheeks], axis=0) if cheeks.any() else np.full(3, np.nan)
    around = float(np.median(lab[..., 0][~inside])) if (~inside).any() else float("nan")
    cheek, eye = (float(linear[mask].mean()) if mask.any() else float("nan") for mask in (cheeks, eyes))
    gray = cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY)
    head_gray = gray[int(head.y0) : int(head.y1), int(head.x0) : int(head.x1)]
    edges = cv2.Laplacian(head_gray, cv2.CV_64F) if head_gray.size else np.zeros((1, 1))
    return {
        "skin_luminance": float(tone[0]),
        "background_luminance": around,
        "skin_contrast": abs(float(tone[0]) - around),
        "ita": typology_angle(float(tone[0]), float(tone[2])),
        "head_contrast": float(lab[..., 0][inside].std() / 100),
        "eye_contrast": (cheek - eye) / (cheek + eye) if cheek + eye > 0 else float("nan"),
        "head_height": (head.y1 - head.y0) / height,
        "sharpness": float(np.log(max(float(edges.var()), 1e-6))),
        "pixels": float(np.log(height * width)),
    }


def face_discs(points: NDArray[np.floating], height: int, width: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(H, W) masks of both cheeks (half way from eye to mouth corner) and both eyes; discs of 0.12 eye distances."""
    left, right, _, mouth_left, mouth_right = np.asarray(points, dtype=np.float64)
    radius = max(0.12 * float(np.hypot(*(right - left))), 1.0)
    cheeks = _discs([(left + mouth_left) / 2, (right + mouth_right) / 2], radius, height, width)
    return cheeks, _discs([left, right], radius, height, width)


def _discs(centres: list[NDArray[np.float64]], radius: float, height: int, width: int) -> NDArray[np.bool_]:
    down, across = np.mgrid[:height, :width]
    mask = np.zeros((height, width), dtype=bool)
    for x, y in centres:
        mask |= (across - x) ** 2 + (down - y) ** 2 <= radius**2
    return mask


def _linear(photo: ByteArray) -> NDArray[np.float64]:
    """(H, W) linear luminance in [0, 1] of sRGB."""
    values = photo.astype(np.float64) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ np.array([0.2126, 0.7152, 0.0722]))


def symmetry_score(reduced: NDArray[np.generic]) -> float:
    """How far a reduced picture is from its mirror image; 0 if it is the same.

    137 q95(d) / (range + 10): d = |I - mirror(I)|, q95 its sorted value at index floor((n - 1) 95 / 100), the range
    that of the pixels.

    reduced: (10, 10) or (10, 10, channels), values in 0 to 255.

    Source: the published program of Yee et al. 2021.
    """
    values = np.asarray(reduced, dtype=np.float64)
    ordered = np.sort(np.abs(values - values[:, ::-1]).ravel())
    return float(137 * ordered[(len(ordered) - 1) * 95 // 100] / (np.ptp(values) + 10))


def is_symmetric(picture: ByteArray) -> bool:
    """Whether a picture counts as its own mirror image.  picture: (H, W, 3) uint8 RGB."""
    small = Image.fromarray(picture).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    return symmetry_score(np.asarray(small)) < LIMIT
