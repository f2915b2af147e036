"""ICC profiles of colour spaces, written by their definition: three primaries, a white of D65 and one gamma."""

import struct
from itertools import product

import numpy as np

D50 = np.array([0.9642, 1.0, 0.8249])
# Bradford's adaptation of D65 to D50, and the primaries (x, y) of red, green and blue.
_BRADFORD = np.array(
    [[1.0479, 0.0229, -0.0502], [0.0296, 0.9904, -0.0171], [-0.0092, 0.0151, 0.7519]]
)
_D65 = np.array([0.9505, 1.0, 1.0891])
PRIMARIES = {
    "srgb": ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06)),
    "display-p3": ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060)),
    "adobe-rgb": ((0.64, 0.33), (0.21, 0.71), (0.15, 0.06)),
    "rec-2020": ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046)),
    "prophoto": ((0.7347, 0.2653), (0.1596, 0.8404), (0.0366, 0.0001)),
}
GAMMA = {"srgb": 2.2, "display-p3": 2.2, "adobe-rgb": 2.2, "rec-2020": 2.4, "prophoto": 1.8}


def to_xyz(space: str) -> np.ndarray:
    """(3, 3), linear RGB to XYZ under D50."""
    xyz = np.array([(x / y, 1, (1 - x - y) / y) for x, y in PRIMARIES[space]]).T
    white = D50 if space == "prophoto" else _D65
    matrix = xyz * np.linalg.solve(xyz, white)
    return matrix if space == "prophoto" else _BRADFORD @ matrix


def seen_in(space: str, rgb: np.ndarray) -> np.ndarray:
    """Levels (…, 3) of this space for what sRGB calls ``rgb``: the same colour in other numbers, within 0 to 255."""
    level = rgb / 255
    linear = np.where(level <= 0.04045, level / 12.92, ((level + 0.055) / 1.055) ** 2.4)
    second = linear @ (np.linalg.inv(to_xyz(space)) @ to_xyz("srgb")).T
    return np.rint(255 * np.clip(second, 0, 1) ** (1 / GAMMA[space])).astype(np.uint8)


def rgb_profile(space: str) -> bytes:
    """A profile of matrix and gamma."""
    curve = b"curv" + bytes(4) + struct.pack(">IHH", 1, round(GAMMA[space] * 256), 0)
    tags = {
        f"{c}XYZ".encode(): _xyz(column) for c, column in zip("rgb", to_xyz(space).T, strict=True)
    }
    return _profile(b"mntr", b"RGB ", b"XYZ ", tags | {f"{c}TRC".encode(): curve for c in "rgb"})


def gray_profile(gamma: float) -> bytes:
    """A profile of one gamma."""
    curve = b"curv" + bytes(4) + struct.pack(">IHH", 1, round(gamma * 256), 0)
    return _profile(b"mntr", b"GRAY", b"XYZ ", {b"kTRC": curve})


def cmyk_profile() -> bytes:
    """Inks as a printer's table: lightness falls by each ink, colour follows cyan, magenta and yellow."""
    ramp, grid = bytes(range(256)), bytearray()
    for c, m, y, k in product((0, 1), repeat=4):
        light = (1 - k) * (1 - 0.3 * c - 0.4 * m - 0.1 * y)
        a, b = (1 - k) * (m - c), (1 - k) * (y - c / 2)
        grid += bytes([round(255 * light), 128 + round(60 * a), 128 + round(60 * b)])
    matrix = struct.pack(">9i", *(65536 * item for item in (1, 0, 0, 0, 1, 0, 0, 0, 1)))
    table = b"mft1" + bytes(4) + bytes([4, 3, 2, 0]) + matrix + 4 * ramp + bytes(grid) + 3 * ramp
    return _profile(b"prtr", b"CMYK", b"Lab ", {b"A2B0": table})


def _xyz(values: np.ndarray) -> bytes:
    return b"XYZ " + bytes(4) + struct.pack(">3i", *np.rint(values * 65536).astype(int))


def _profile(kind: bytes, space: bytes, between: bytes, tags: dict[bytes, bytes]) -> bytes:
    text = b"made for a test\0"
    tags = {
        b"desc": b"desc" + bytes(4) + struct.pack(">I", len(text)) + text + bytes(78),
        b"cprt": b"text" + bytes(4) + text,
        b"wtpt": _xyz(D50),
        **tags,
    }
    start, directory, body = 128 + 4 + 12 * len(tags), b"", b""
    for name, data in tags.items():
        data += bytes(-len(data) % 4)
        directory += name + struct.pack(">II", start + len(body), len(data))
        body += data
    head = struct.pack(
        ">I4sI4s4s4s12x4s28x", start + len(body), b"none", 0x02400000, kind, space, between, b"acsp"
    )
    head += struct.pack(">3i", *np.rint(D50 * 65536).astype(int))
    return head.ljust(128, b"\0") + struct.pack(">I", len(tags)) + directory + body
