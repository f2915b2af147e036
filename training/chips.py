"""Faces of a data set, and what models read of them: made once, then kept, see ``training.prepared``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gslopes.core import geometry, sha256_of
from gslopes.core.errors import PhotoError
from gslopes.core.geometry import outside, similarity, warp
from gslopes.core.records import ByteArray
from gslopes.core.text import many
from gslopes.faces.compose import skin
from gslopes.faces.compose.skin import class_probabilities
from gslopes.faces.networks import feature_pyramid, mtcnn, tagger
from gslopes.faces.networks.mtcnn import Mtcnn
from gslopes.faces.zoo import LoadedModel, load
from gslopes.faces.zoo.framing import FRAMES
from gslopes.faces.zoo.spec import identify
from gslopes.frame.commands import say
from gslopes.photos import decode, folder
from gslopes.photos.folder import open_srgb
from training.augment import to_float
from training.prepared import Work, items_of_files, kept
from training.sources import CELEBA_POINTS, LabelledPhotos

PARSED = {"cuda": 128, "cpu": 8}  # chips at once: on a CPU 64 take twice as long, each of them


@dataclass(frozen=True, slots=True, eq=False)
class Faces:
    """The photos of a labelled set in which a face is found.

    photos: only these.  items: (n, 32) uint8, the sha256 of their files.  points: (n, 5, 2) pixels of the photo.
    sizes: (n, 2) width and height of the photos.  found: the work that made points and sizes.
    outside: (n,) share of each chip of 128 pixels that lies outside its photo and is mirrored in.
    """

    photos: LabelledPhotos
    items: ByteArray
    points: NDArray[np.float64]
    sizes: NDArray[np.float64]
    found: Work
    device: str
    outside: NDArray[np.float32]

    def part(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Faces:
        """The chosen ones."""
        return Faces(
            self.photos.part(chosen),
            self.items[chosen],
            self.points[chosen],
            self.sizes[chosen],
            self.found,
            self.device,
            self.outside[chosen],
        )

    def chips(self, crop: str = "chip", size: int = 128) -> ByteArray:
        """Aligned chips, (n, size, size, 3) uint8 RGB.  crop: a name of faces.zoo.framing.  size: pixels."""
        work = self._work("chips", (size, size, 3), "uint8", crop, size, code=(), batch=64)
        cut = partial(self._cut, crop=crop, size=size)
        return kept(work, self.items, cut, self.photos.set)

    def read(self, model: str) -> dict[str, NDArray[np.float32]]:
        """A model's probabilities of its labels, each (n,), in its own crop."""
        spec, digest = identify(model)
        side = max(spec.size, 128) if spec.crop == "tight" else spec.size
        code = (probabilities, to_float, resized, tagger)
        facts = spec.crop, side, digest
        shape = (len(spec.labels),)
        work = self._work(model, shape, "float32", *facts, code=code, batch=64)

        def make(rows: NDArray[np.intp]) -> NDArray[np.float32]:
            pixels = self._cut(rows, spec.crop, side)
            return probabilities(network(model, digest, self.device), pixels, self.device)

        shares = kept(work, self.items, make, self.photos.set)
        return {label: shares[:, column] for column, label in enumerate(spec.labels)}

    def tones(self) -> NDArray[np.float64]:
        """Typology angles of the skin in the chips, degrees, (n,)."""
        _, digest = identify("face-parser")
        code = (tones_of, typology_angle_of, skin, feature_pyramid)
        work = self._work("tones", (), "float64", digest, code=code, batch=32)

        def make(rows: NDArray[np.intp]) -> NDArray[np.float64]:
            parser = network("face-parser", digest, self.device)
            return tones_of(parser, self._cut(rows), self.device)

        return kept(work, self.items, make, self.photos.set)

    def _work(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: str,
        *facts: object,
        code: tuple[Any, ...],
        batch: int,
    ) -> Work:
        facts = (self.found.key, {name: FRAMES[name].tolist() for name in sorted(FRAMES)}, *facts)
        return Work(name, shape, dtype, batch, facts, (geometry, Faces._cut, Faces._matrix, *code))

    def _matrix(self, row: int, crop: str, size: int) -> NDArray[np.float64]:
        matrix = similarity(self.points[row], FRAMES[crop] * size - 0.5)
        assert matrix is not None  # see ``find_faces``
        return matrix

    def _cut(self, rows: NDArray[np.intp], crop: str = "chip", size: int = 128) -> ByteArray:
        paths = self.photos.paths
        return np.stack(
            [warp(open_srgb(paths[row]), self._matrix(row, crop, size), size) for row in rows]
        )


def find_faces(photos: LabelledPhotos, device: str = "cpu") -> Faces:
    """The face nearest each picture's centre; of CelebA, whose pictures are aligned, where it is in all of them.

    A file that is no picture has no face; their number is printed on stderr.
    """
    items = items_of_files(photos.paths, photos.set)
    reads = (decode, folder)
    if photos.set == "celeba":
        work = Work("points", (12,), "float64", 64, (CELEBA_POINTS.tolist(),), (same, *reads))
        make: Callable[[list[Path]], NDArray[np.float64]] = same
    else:
        facts = (MIN_FACE, *_cascade_digests())
        work = Work("faces", (12,), "float64", 32, facts, (nearest, mtcnn, *reads))
        make = _Detector(device)
    records = kept(work, items, lambda rows: make([photos.paths[row] for row in rows]), photos.set)
    broken = np.flatnonzero(records[:, 10] == 0)
    if len(broken):
        names = ", ".join(str(photos.paths[row]) for row in broken[:3])
        say(f"{many(len(broken), 'file')} left out, no pictures: {names}.", err=True)
    points = records[:, :10].reshape(-1, 5, 2)
    frame = FRAMES["chip"] * 128 - 0.5
    facts = (work.key, frame.tolist())
    beyond = Work("outside", (), "float32", 256, facts, (share_outside, geometry))
    shares = kept(
        beyond,
        items,
        lambda rows: share_outside(points[rows], records[rows, 10:], frame),
        photos.set,
    )
    faces = Faces(photos, items, points, records[:, 10:], work, device, shares)
    return faces.part(np.isfinite(shares))


MIN_FACE = 50  # pixels


class _Detector:
    """``nearest`` with the detector, which is loaded when it is first needed."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.detector: Mtcnn | None = None

    def __call__(self, paths: list[Path]) -> NDArray[np.float64]:
        if self.detector is None:
            self.detector = Mtcnn(min_face=MIN_FACE).to(self.device)
        return nearest(paths, self.detector)


def nearest(paths: list[Path], detector: Mtcnn) -> NDArray[np.float64]:
    """(n, 12): the five points of the face nearest each picture's centre, NaN without; width and height, 0 without."""
    records = np.full((len(paths), 12), np.nan)
    pictures = _opened(paths, records)
    faces = detector([picture for _, picture in pictures]) if pictures else []
    for (row, picture), landmarks in zip(pictures, faces, strict=True):
        if len(landmarks.scores):
            centres = (landmarks.boxes[:, :2] + landmarks.boxes[:, 2:]) / 2
            middle = np.array([picture.shape[1], picture.shape[0]]) / 2
            closest = np.argmin(((centres - middle) ** 2).sum(1))
            records[row, :10] = landmarks.points[closest].ravel()
    return records


def share_outside(
    points: NDArray[np.float64], sizes: NDArray[np.float64], frame: NDArray[np.float64]
) -> NDArray[np.float32]:
    """(n,) ``geometry.outside`` of chips of 128 pixels; NaN of a photo without a face that can be aligned."""
    shares = np.full(len(points), np.nan, np.float32)
    for row, (landmarks, (width, height)) in enumerate(zip(points, sizes, strict=True)):
        matrix = similarity(landmarks, frame)
        if matrix is not None:
            shares[row] = outside(matrix, int(width), int(height), 128)
    return shares


def same(paths: list[Path]) -> NDArray[np.float64]:
    """As ``nearest``, of CelebA's aligned pictures."""
    records = np.full((len(paths), 12), np.nan)
    for row, picture in _opened(paths, records):
        records[row, :10] = (CELEBA_POINTS * picture.shape[1]).ravel()
    return records


def _opened(paths: list[Path], records: NDArray[np.float64]) -> list[tuple[int, ByteArray]]:
    """The pictures among files, with their rows; their width and height into ``records``."""
    records[:, 10:] = 0
    pictures = []
    for row, path in enumerate(paths):
        try:
            picture = open_srgb(path)
        except PhotoError:
            continue
        records[row, 10:] = picture.shape[1], picture.shape[0]
        pictures.append((row, picture))
    return pictures


@lru_cache(1)
def _cascade_digests() -> tuple[str, ...]:
    package: Any = find_spec("facenet_pytorch")
    data = Path(package.origin).with_name("data")
    return tuple(sha256_of(data / f"{name}.pt") for name in mtcnn.LAYERS)


@lru_cache(4)
def network(name: str, sha256: str, device: str) -> LoadedModel:
    """A model of the zoo, loaded once.  sha256: of its weights, so that others are loaded anew."""
    del sha256
    return load(name, device)


def probabilities(model: LoadedModel, pixels: ByteArray, device: str) -> NDArray[np.float32]:
    """A model's probabilities of its labels, (n, labels), for chips in its crop (n, S, S, 3) uint8 RGB."""
    small = resized(pixels, model.spec.size)
    with torch.inference_mode():
        x = to_float(torch.from_numpy(small).to(device), model.spec.mean, model.spec.std)
        shares: NDArray[np.float32] = model.module(x).sigmoid().float().cpu().numpy()
    return shares


def tones_of(parser: LoadedModel, pixels: ByteArray, device: str) -> NDArray[np.float64]:
    """Typology angles of the skin of chips (n, S, S, 3) uint8 RGB, degrees, (n,)."""
    column = parser.spec.labels.index("skin")
    step = PARSED.get(torch.device(device).type, PARSED["cpu"])
    angles = []
    for start in range(0, len(pixels), step):
        chips = pixels[start : start + step]
        likely = class_probabilities(parser, chips, torch.device(device))[:, column]
        for chip, mask in zip(chips, likely.cpu().numpy() > 0.5, strict=True):
            angles.append(typology_angle_of(chip, mask))
    return np.array(angles)


@dataclass(frozen=True, slots=True, eq=False)
class Chips:
    """Aligned faces of a labelled set.

    photos: the set, only the photos that have a chip.  pixels: (n, size, size, 3) uint8 RGB.
    """

    photos: LabelledPhotos
    pixels: ByteArray


def aligned(
    photos: LabelledPhotos, *, crop: str = "chip", size: int = 128, device: str = "cpu"
) -> Chips:
    """Chips of every photo in which a face is found.  crop, size: as of ``Faces.chips``."""
    faces = find_faces(photos, device)
    return Chips(faces.photos, faces.chips(crop, size))


def find_points(paths: tuple[Path, ...], device: str) -> list[NDArray[np.float32] | None]:
    """The five points of the face nearest each picture's centre, or None."""
    numbers = np.arange(len(paths), dtype=np.float32)[:, None]
    photos = LabelledPhotos("photos", paths, ("row",), numbers)
    faces = find_faces(photos, device)
    points: list[NDArray[np.float32] | None] = [None] * len(paths)
    for row, landmarks in zip(faces.photos.values[:, 0].astype(int), faces.points, strict=True):
        points[row] = landmarks.astype(np.float32)
    return points


def resized(pixels: ByteArray, size: int) -> ByteArray:
    """Chips (n, S, S, 3) to (n, size, size, 3), each output pixel the mean of the area it covers."""
    if pixels.shape[1] == size:
        return np.array(pixels)
    return np.stack(
        [cv2.resize(chip, (size, size), interpolation=cv2.INTER_AREA) for chip in pixels]
    )


# The ellipse that holds the face of an aligned chip, in units of its side: centre x y, half axes x y.
FACE_ELLIPSE = (0.5, 0.58, 0.30, 0.39)


def face_window(size: int) -> Tensor:
    """(size, size) float: 1 in the ellipse of the face, falling to 0 over an eighth of its radius."""
    x, y = torch.meshgrid(*2 * [(torch.arange(size) + 0.5) / size], indexing="xy")
    radius = (
        ((x - FACE_ELLIPSE[0]) / FACE_ELLIPSE[2]) ** 2
        + ((y - FACE_ELLIPSE[1]) / FACE_ELLIPSE[3]) ** 2
    ).sqrt()
    return ((1.125 - radius) * 8).clamp(0, 1)


def typology_angle_of(chip: ByteArray, skin: NDArray[np.bool_]) -> float:
    """The individual typology angle of the median skin colour, -90 to 90; light changes it as much as skin does.

    chip: (S, S, 3) uint8 RGB.  skin: (S, S) bool; without any 0.

    Source: Chardon, Cretois & Hourseau 1991, doi 10.1111/j.1467-2494.1991.tb00561.x; by atan2, so that b* may be 0.
    """
    lab = cv2.cvtColor(np.ascontiguousarray(chip).astype(np.float32) / 255, cv2.COLOR_RGB2LAB)[skin]
    light, _, yellow = np.median(lab, 0) if len(lab) else (50.0, 0.0, 1.0)
    return float(np.degrees(np.arctan2(float(light) - 50, max(float(yellow), 1e-3))))
