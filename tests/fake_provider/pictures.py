"""What the fake sees in a picture: two brightnesses, and from them labels with known slopes.

The left half's brightness is the picture's value of the attribute, a in about [-2, 2]; the right half's tells
which photo it is, u in [0, 1]. A planted label with slope b and share c at the centre is there iff u < c (1 + b a).
Over photos whose u are spread evenly, y_k is c (1 + b a_k), hence z_k = 1 + b a_k: its slope is b.
"""

import io
from collections.abc import Mapping

import numpy as np
from PIL import Image

MIDDLE, UNIT = 128.0, 48.0  # brightness at a = 0, and of one unit of the attribute
DARK, RANGE = 20.0, 216.0  # brightness at u = 0, and from there to u = 1

# Labels that every picture has, most with a score above any planted one: whoever asks for ten labels, or for
# only those above 0.55, as the services do by default, loses planted ones.
FURNITURE = {f"Thing {index:02d}": 0.98 - 0.02 * index for index in range(18)}
CENTRE = 0.5  # c: share of the photos that have a planted label at a = 0

# Slope of each planted label, by service: no two services have the same, so that a mixed-up answer shows.
PLANTED: Mapping[str, Mapping[str, float]] = {
    "google": {"Nurse": -0.25, "Engineer": 0.25, "Tourist": 0.0},
    "rekognition": {"Nurse": -0.375, "Engineer": 0.25, "Tourist": 0.0},
    "clarifai": {"Nurse": -0.25, "Engineer": 0.375, "Tourist": 0.0},
    "azure": {"Nurse": -0.125, "Engineer": 0.25, "Tourist": 0.0},
    "imagga": {"Nurse": -0.25, "Engineer": 0.125, "Tourist": 0.0},
}


def present(slope: float, a: float, u: float) -> float:
    """How clearly a planted label is there, in (0, 0.5]; 0 or less if it is not."""
    return CENTRE * (1 + slope * a) - u


def labels(pixels: np.ndarray, slopes: Mapping[str, float]) -> list[tuple[str, float]]:
    """Every label of a picture with its score in [0, 1], highest first.

    pixels: (H, W, 3) uint8, RGB.  slopes: those planted.
    """
    a, u = place(pixels)
    margins = {name: present(slope, a, u) for name, slope in slopes.items()}
    result = FURNITURE | {
        name: 0.5 + 0.2 * min(margin, 0.5) for name, margin in margins.items() if margin > 0
    }
    return sorted(result.items(), key=lambda pair: -pair[1])


def place(pixels: np.ndarray) -> tuple[float, float]:
    """a and u of a picture, (H, W, 3) uint8, RGB."""
    half = pixels.shape[1] // 2
    a = (float(pixels[:, :half].mean()) - MIDDLE) / UNIT
    return a, (float(pixels[:, half:].mean()) - DARK) / RANGE


def decode(data: bytes) -> np.ndarray:
    """(H, W, 3) uint8, RGB.  Raises: OSError or ValueError if it is no picture."""
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))


def kind(data: bytes) -> str:
    """``JPEG``, ``PNG``, ...; empty if it is no picture."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            return str(image.format)
    except (OSError, ValueError):
        return ""


def size(data: bytes) -> tuple[int, int]:
    """Width and height in pixels."""
    with Image.open(io.BytesIO(data)) as image:
        return image.size


def paint(
    a: float, u: float, size: tuple[int, int] = (96, 96), kind: str = "PNG", seed: int | None = None
) -> bytes:
    """A picture that the fake reads as a and u.

    size: width and height in pixels.  kind: of file.  seed: of noise that makes the file large; None: none.
    """
    pixels = np.empty((size[1], size[0], 3), np.uint8)
    half = size[0] // 2
    pixels[:, :half] = _shade(MIDDLE + UNIT * a, (size[1], half))
    pixels[:, half:] = _shade(DARK + RANGE * u, (size[1], size[0] - half))
    if seed is not None:
        noise = np.random.default_rng(seed).integers(0, 20, pixels.shape, np.int16)
        pixels = (pixels.astype(np.int16) + noise - noise[::-1]).clip(0, 255).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind, **({"quality": 95} if kind == "JPEG" else {}))
    return buffer.getvalue()


def _shade(brightness: float, shape: tuple[int, int]) -> np.ndarray:
    """(H, W, 1) uint8 whose mean is the brightness, though no pixel can be."""
    low = int(np.floor(np.clip(brightness, 0, 254)))
    bright = round((brightness - low) * shape[0] * shape[1])
    shade = np.full(shape[0] * shape[1], low, np.uint8)
    shade[:bright] += 1
    return shade.reshape(*shape, 1)
