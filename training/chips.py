"""Aligned chips of a data set, made once and kept as one array in a cache folder."""

from __future__ import annotations

import hashlib
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm

from gslopes.ask.cache import VARIABLE, user_cache
from gslopes.core import runfolder
from gslopes.core.errors import PhotoError
from gslopes.core.geometry import outside, similarity, warp
from gslopes.core.records import ByteArray
from gslopes.core.text import many
from gslopes.faces.networks.mtcnn import Mtcnn
from gslopes.faces.zoo.framing import FRAMES
from gslopes.frame.commands import say
from gslopes.photos.folder import open_srgb
from training.sources import CELEBA_POINTS, LabelledPhotos


@dataclass(frozen=True, slots=True, eq=False)
class Chips:
    """Aligned faces of a labelled set.

    photos: the set, only the photos that have a chip.  pixels: (n, size, size, 3) uint8 RGB, memory-mapped.
    outside: (n,) share of each chip that lies outside its picture and was mirrored in.
    """

    photos: LabelledPhotos
    pixels: ByteArray
    outside: NDArray[np.float32]

    def part(self, chosen: NDArray[np.bool_]) -> Chips:
        """The chosen ones, in memory."""
        photos = self.photos
        paths = tuple(path for path, selected in zip(photos.paths, chosen, strict=True) if selected)
        labelled = LabelledPhotos(photos.set, paths, photos.names, photos.values[chosen])
        return Chips(labelled, self.pixels[chosen], self.outside[chosen])


def cache_folder() -> Path:
    """``$GSLOPES_CACHE``, or ``gslopes`` below the user's cache folder.  Raises: StorageError if there is none."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen)
    return user_cache()


def aligned(
    photos: LabelledPhotos, *, crop: str = "chip", size: int = 128, device: str = "cpu"
) -> Chips:
    """Chips of every photo in which a face is found; read from the cache if they were made before.

    crop: a name of faces.zoo.framing.  size: side of a chip, pixels.
    """
    digest = hashlib.sha256(
        "\n".join([crop, str(size), str(FRAMES[crop]), *_files(photos.paths)]).encode()
    )
    folder = cache_folder() / f"chips-{photos.set}-{crop}-{size}-{digest.hexdigest()[:12]}"
    if not (folder / "kept.npz").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        _make(photos, folder, crop, size, device)
    with np.load(folder / "kept.npz") as file:
        indices = file["kept"]
        share = file["outside"]
    pixels = np.load(folder / "pixels.npy", mmap_mode="r")
    paths = tuple(photos.paths[i] for i in indices)
    return Chips(
        LabelledPhotos(photos.set, paths, photos.names, photos.values[indices]), pixels, share
    )


def _make(photos: LabelledPhotos, folder: Path, crop: str, size: int, device: str) -> None:
    points: list[NDArray[np.float64]] | list[NDArray[np.float32] | None]
    if photos.set == "celeba":  # its pictures are aligned: the points are the same in all of them
        points = [CELEBA_POINTS * open_srgb(photos.paths[0]).shape[1]] * len(photos)
    else:
        points = find_points(photos.paths, folder, device)
    matrices = [
        None if landmarks is None else similarity(landmarks, FRAMES[crop] * size - 0.5)
        for landmarks in points
    ]
    with_face = [(index, matrix) for index, matrix in enumerate(matrices) if matrix is not None]
    shape = (len(with_face), size, size, 3)
    pixels = np.lib.format.open_memmap(
        folder / "pixels.npy", mode="w+", dtype=np.uint8, shape=shape
    )
    share = np.zeros(len(with_face), np.float32)
    for row, (index, matrix) in enumerate(tqdm(with_face, desc=f"align {photos.set}", unit="face")):
        picture = open_srgb(photos.paths[index])
        pixels[row] = warp(picture, matrix, size)
        share[row] = outside(matrix, picture.shape[1], picture.shape[0], size)
    pixels.flush()
    _save(folder / "kept.npz", kept=np.array([index for index, _ in with_face]), outside=share)


def _save(file: Path, **arrays: NDArray[Any]) -> None:
    """Keep arrays; a run that is killed leaves no half of a file."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    with runfolder.storage(file):
        file.parent.mkdir(parents=True, exist_ok=True)
    runfolder.write_bytes(file, buffer.getvalue())


def find_points(
    paths: tuple[Path, ...], folder: Path, device: str
) -> list[NDArray[np.float32] | None]:
    """The five points of the face nearest each picture's centre, or None; cached in ``folder``.

    A file that is no picture has no face; their number is printed on stderr.
    """
    key = "\n".join(_files(paths))
    file = folder.parent / f"points-{hashlib.sha256(key.encode()).hexdigest()[:12]}.npz"
    if not file.is_file():
        points = np.full((len(paths), 5, 2), np.nan, np.float32)
        detector = Mtcnn(min_face=50).to(device)
        broken = list[Path]()
        for start in tqdm(range(0, len(paths), 32), desc="find faces", unit="batch"):
            pictures = []
            rows = []
            for row, path in enumerate(paths[start : start + 32], start):
                try:
                    pictures.append(open_srgb(path))
                    rows.append(row)
                except PhotoError:
                    broken.append(path)
            for row, picture, landmarks in zip(
                rows, pictures, detector(pictures) if pictures else [], strict=True
            ):
                if len(landmarks.scores):
                    centres = (landmarks.boxes[:, :2] + landmarks.boxes[:, 2:]) / 2
                    middle = np.array([picture.shape[1], picture.shape[0]]) / 2
                    points[row] = landmarks.points[np.argmin(((centres - middle) ** 2).sum(1))]
        if broken:
            say(
                f"{many(len(broken), 'file')} left out, no pictures: {', '.join(map(str, broken[:3]))}.",
                err=True,
            )
        _save(file, points=points)
    with np.load(file) as stored:
        return [p if np.isfinite(p).all() else None for p in stored["points"]]


def _files(paths: tuple[Path, ...]) -> list[str]:
    """What tells one list of files from another, wherever they lie: two sets may use the same names."""
    return [f"{path.name} {path.stat().st_size}" for path in paths]


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
