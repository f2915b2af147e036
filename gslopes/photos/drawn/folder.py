"""Drawn faces as a folder of photos with what is known about them; and what a planted classifier measures in them."""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image

from gslopes.core.arrays import Array, slices
from gslopes.core.errors import StorageError
from gslopes.core.records import BOX, POINTS, ByteArray, FloatArray
from gslopes.photos.drawn.draw import EYE_X, EYE_Y, MOUTH_X, MOUTH_Y, NOSE_Y, colours, render
from gslopes.photos.drawn.parameters import COLUMNS, FACE, FaceParameters

PHOTOS = "photos"
MASKS = "masks"
FACES = "faces.csv"
ATTRIBUTES = "attributes.csv"

_BATCH_SIZE = 256  # photos rendered before they are written: memory does not grow with their number


def write_folder(parameters: FaceParameters, folder: Path, size: int = 128) -> Path:
    """Render the faces into a folder (made if missing); returns the folder of photos.

    parameters: n faces, named 000000.png onwards.  size: side of the photos in pixels.

    Raises: StorageError if the disk refuses, or if the folder holds other photos already; ConfigError as ``render``.
    """
    names = [f"{i:06}.png" for i in range(len(parameters))]
    faces: list[tuple[object, ...]] = []
    try:
        for part in (PHOTOS, MASKS):
            (folder / part).mkdir(parents=True, exist_ok=True)
            if others := sorted({entry.name for entry in (folder / part).iterdir()} - set(names)):
                message = f"{folder / part} holds other files already, such as {others[0]}."
                raise StorageError(message, "Give a new folder.")
        for rows in slices(len(names), _BATCH_SIZE):
            drawn = render(parameters.take(rows), size)
            masks = np.rint(drawn.face_mask * 255).astype(np.uint8)
            for i, name in enumerate(names[rows]):
                Image.fromarray(drawn.pixels[i]).save(folder / PHOTOS / name)
                Image.fromarray(masks[i]).save(folder / MASKS / name)
                faces.append((name, 1, *drawn.boxes[i], *drawn.points[i].ravel(), 1.0))
        columns = ["path", "faces", *BOX, *POINTS, "detection"]
        pd.DataFrame(faces, columns=columns, dtype=object).to_csv(
            folder / FACES, index=False
        )  # exact
        attributes = {"path": names, **{column: getattr(parameters, column) for column in COLUMNS}}
        pd.DataFrame(attributes).to_csv(folder / ATTRIBUTES, index=False)
    except OSError as error:
        hint = "Choose a folder that you may write to, with space left."
        raise StorageError(
            f"The drawn faces cannot be written to {folder}: {error}.", hint
        ) from error
    return folder / PHOTOS


# --- Readouts of drawn faces: what a planted classifier measures in the pixels near the landmarks ---------------------
# Both compare zones of one face by logarithms of colour ratios, so that exposure cancels and shading nearly does; the
# background and the hair are never looked at. They are linear statistics of a drawing's conventions, made to be
# recovered by an audit, and mean nothing on photos of people.


def _zone(x0: float, x1: float, nx: int, y0: float, y1: float, ny: int) -> NDArray[np.complex128]:
    """Sampling positions x + iy of one zone, face frame.

    A zone next to the middle line is mirrored, so that side light cancels.
    """
    across, down = np.meshgrid(np.linspace(x0, x1, nx), np.linspace(y0, y1, ny))
    zone = (across + 1j * down).ravel()
    if x0 > 0:
        return np.concatenate([zone, -zone.conj()])
    return zone


_ZONES = {name: _zone(*numbers) for name, numbers in FACE["zones"].items()}
# Of the mouth's 56 positions: lips, wherever the smile has put them; teeth are not red.
_REDDEST = 14

_X = np.array([-EYE_X, EYE_X, 0, -MOUTH_X, MOUTH_X])
_Y = np.array([EYE_Y, EYE_Y, NOSE_Y, MOUTH_Y, MOUTH_Y])
_TEMPLATE = _X + 1j * _Y

# Fitted once to the cue of 10,000 sampled faces (64 to 192 pixels, twice the default pose) by least squares with some
# noise allowed in every term, which keeps the large, blunt differences in charge; then scaled to a slope of 1.
_WEIGHTS = {"lips": -3.6, "blush": -10.0, "beard_hue": -7.5, "beard_dark": -1.34}
_OFFSET = 0.447


def gender_readout(pixels: ByteArray, points: FloatArray) -> FloatArray:
    """The cue as the pixels show it: about -2 for the most feminine drawing, 2 for the most masculine, linear between.

    A weighted sum of lip redness, blush, and the beard zone's hue and darkness, each against plain skin of the face.

    pixels: (n, H, W, 3) uint8 RGB.  points: (n, 5, 2), the five landmarks, photo frame.  Returns (n,) float32.

    Measured on 10,000 sampled faces: correlation with the cue 0.99 from 64 pixels up, slope 1.0.
    """
    logs = _sample(pixels, points)
    red = {zone: values[..., 0] - values[..., 1] for zone, values in logs.items()}
    plain = red["plain"].mean(1)
    lips = np.partition(red["mouth"], -_REDDEST, axis=1)[:, -_REDDEST:].mean(1)
    terms = {
        "lips": lips - plain,
        "blush": red["cheeks"].mean(1) - plain,
        "beard_hue": red["jaw"].mean(1) - plain,
        "beard_dark": logs["jaw"].mean((1, 2)) - logs["plain"].mean((1, 2)),
    }
    total = sum(weight * terms[name] for name, weight in _WEIGHTS.items()) + _OFFSET
    return np.asarray(total, np.float32)


def tone_readout(pixels: ByteArray, points: FloatArray) -> FloatArray:
    """The skin tone as the pixels show it, from -2 dark to 2 light, by the forehead's hue: light does not change it.

    The gender cue does not touch the forehead: under do(gender) this readout stays.

    pixels: (n, H, W, 3) uint8 RGB.  points: (n, 5, 2), the five landmarks, photo frame.  Returns (n,) float32.
    """
    forehead = _sample(pixels, points)["forehead"]
    red = (forehead[..., 0] - forehead[..., 1]).mean(1)
    skin = colours("skin")
    hues = np.log(skin[:, 0] / skin[:, 1])
    return np.interp(-red, -hues, np.linspace(-2, 2, len(hues))).astype(np.float32)


def _sample(pixels: ByteArray, points: FloatArray) -> dict[str, Array]:
    """Logarithms of the colours at each zone's positions, (n, positions, 3)."""
    seen = points[..., 0].astype(np.float64) + 1j * points[..., 1]
    middle = seen.mean(1, keepdims=True)
    template = _TEMPLATE - _TEMPLATE.mean()
    # The least-squares similarity of the plane is one complex number and a shift (Umeyama 1991).
    turn = ((seen - middle) * template.conj()).sum(1, keepdims=True) / (np.abs(template) ** 2).sum()
    return {
        name: _bilinear(pixels, middle + turn * (zone - _TEMPLATE.mean()))
        for name, zone in _ZONES.items()
    }


def _bilinear(pixels: ByteArray, at: NDArray[np.complex128]) -> Array:
    height, width = pixels.shape[1:3]
    x = np.clip(at.real, 0, width - 1)
    y = np.clip(at.imag, 0, height - 1)
    left = np.minimum(x.astype(int), width - 2)
    top = np.minimum(y.astype(int), height - 2)
    u = (x - left)[..., None]
    v = (y - top)[..., None]
    photo = np.arange(len(pixels))[:, None]
    upper = pixels[photo, top, left] * (1 - u) + pixels[photo, top, left + 1] * u
    lower = pixels[photo, top + 1, left] * (1 - u) + pixels[photo, top + 1, left + 1] * u
    return np.log(upper * (1 - v) + lower * v + 1.0)  # the 1 keeps black pixels finite
