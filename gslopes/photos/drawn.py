"""Drawn faces: cartoon portraits whose attributes, landmarks and masks are known, because they were drawn.

240 of them ship, 160 by 160 pixels; ``training/drawn`` drew them and draws others. Each was drawn again with nothing
but the cue changed, and what a planted classifier reads there ships too: the truth that the demo compares with.

The cue is a drawing's convention of femininity and masculinity (brows, lips, beard, make-up), not a person's gender.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gslopes.core import StorageError, read_toml
from gslopes.core.records import Array, ByteArray, FloatArray, doubles, floats
from gslopes.core.runfolder import make_folder, storage

PHOTOS = "photos"
MASKS = "masks"
FACES = "faces.csv"
ATTRIBUTES = "attributes.csv"
READINGS = "readings.npy"

SHIPPED = 240  # faces
SIZE = 160  # of their photos, pixels
DATA = Path(__file__).parent / "data" / "drawn"


def unpack(folder: Path, faces: int) -> Path:
    """Write the first of the faces that ship into a folder, made if missing; returns the folder of photos.

    Beside the photos lie their masks, faces.csv with boxes and landmarks, and attributes.csv.

    faces: how many, up to ``SHIPPED``; named 000000.png onwards.

    Raises: StorageError if the disk refuses, or if the folder holds other photos already.
    """
    names = [f"{i:06}.png" for i in range(faces)]
    prepare(folder, names)
    with storage(folder):
        for part, mode in ((PHOTOS, "RGB"), (MASKS, "L")):
            for name, pixels in zip(names, pictures(part, mode)[:faces], strict=True):
                Image.fromarray(pixels).save(folder / part / name)
        for table in (FACES, ATTRIBUTES):
            lines = (DATA / table).read_text("utf-8").splitlines(keepends=True)
            (folder / table).write_text("".join(lines[: faces + 1]), "utf-8")
    return folder / PHOTOS


def prepare(folder: Path, names: list[str]) -> None:
    """Make the folders of photos and masks.  Raises: StorageError, also if one holds files of other names."""
    for part in (PHOTOS, MASKS):
        make_folder(folder / part)
        if others := sorted({entry.name for entry in (folder / part).iterdir()} - set(names)):
            raise StorageError(
                f"{folder / part} holds other files already, such as {others[0]}.",
                "Give a new folder.",
            )


def pictures(part: str, mode: str) -> ByteArray:
    """The faces that ship, cut from their sheet: ``RGB`` photos (240, 160, 160, 3), ``L`` masks (240, 160, 160)."""
    with Image.open(DATA / f"{part}.webp") as sheet:
        pixels = np.asarray(sheet.convert(mode))
    rows = pixels.reshape(pixels.shape[0] // SIZE, SIZE, -1, SIZE, *pixels.shape[2:])
    return rows.swapaxes(1, 2).reshape(SHIPPED, SIZE, SIZE, *pixels.shape[2:])


def landmarks() -> FloatArray:
    """Where the landmarks of the faces that ship lie on average, (5, 2) float32, photo frame."""
    return floats(READOUTS["landmarks"]["mean"])


def readings() -> FloatArray:
    """Cue and tone as read in the faces that ship, drawn again at each value of the editor, (240, 7, 2) float32."""
    return floats(np.load(DATA / READINGS))


# --- Readouts of drawn faces: what a planted classifier measures in the pixels near the landmarks ---------------------
# Both compare zones of one face by logarithms of colour ratios, so that exposure cancels and shading nearly does; the
# background and the hair are never looked at. They are linear statistics of a drawing's conventions, made to be
# recovered by an audit, and mean nothing on photos of people.

READOUTS = read_toml(DATA / "readouts.toml")


def colours(codes: str) -> FloatArray:
    """Colours (n, 3) in [0, 1] of hex digits."""
    return np.array([list(bytes.fromhex(code)) for code in codes.split()], np.float32) / np.float32(
        255
    )


def _zone(x: Sequence[Any], y: Sequence[Any]) -> NDArray[np.complex128]:
    """Sampling positions x + iy of one zone, face frame.  x, y: from, to, how many.

    A zone next to the middle line is mirrored, so that side light cancels.
    """
    zone = (np.linspace(*x) + 1j * np.linspace(*y)[:, None]).ravel()
    if x[0] > 0:
        return np.concatenate([zone, -zone.conj()])
    return zone


_ZONES = {name: _zone(**sides) for name, sides in READOUTS["zones"].items()}
_TEMPLATE = np.array(READOUTS["landmarks"]["x"]) + 1j * np.array(READOUTS["landmarks"]["y"])
# Of the mouth's 56 positions: lips, wherever the smile has put them; teeth are not red.
_REDDEST = 14


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
        "constant": 1.0,
    }
    return floats(sum(w * terms[name] for name, w in READOUTS["weights"].items()))


def tone_readout(pixels: ByteArray, points: FloatArray) -> FloatArray:
    """The skin tone as the pixels show it, from -2 dark to 2 light, by the forehead's hue: light does not change it.

    The gender cue does not touch the forehead: under do(gender) this readout stays.

    pixels: (n, H, W, 3) uint8 RGB.  points: (n, 5, 2), the five landmarks, photo frame.  Returns (n,) float32.
    """
    forehead = _sample(pixels, points)["forehead"]
    red = (forehead[..., 0] - forehead[..., 1]).mean(1)
    skin = colours(READOUTS["skin"])
    hues = np.log(skin[:, 0] / skin[:, 1])
    return floats(np.interp(-red, -hues, np.linspace(-2, 2, len(hues))))


def _sample(pixels: ByteArray, points: FloatArray) -> dict[str, Array]:
    """Logarithms of the colours at each zone's positions, (n, positions, 3)."""
    seen = doubles(points[..., 0]) + 1j * points[..., 1]
    middle = seen.mean(1, keepdims=True)
    template = _TEMPLATE - _TEMPLATE.mean()
    # The least-squares similarity of the plane is one complex number and a shift (Umeyama 1991).
    turn = ((seen - middle) * template.conj()).sum(1, keepdims=True) / (abs(template) ** 2).sum()
    return {
        name: _bilinear(pixels, middle + turn * (zone - _TEMPLATE.mean()))
        for name, zone in _ZONES.items()
    }


def _bilinear(pixels: ByteArray, at: NDArray[np.complex128]) -> Array:
    from scipy.ndimage import map_coordinates

    photos, places, channels = np.indices((*at.shape, 3))
    where = [photos, at.imag[photos, places], at.real[photos, places], channels]
    colours = map_coordinates(pixels, where, np.float64, order=1, mode="nearest")
    return np.log(colours + 1.0)  # the 1 keeps black pixels finite
