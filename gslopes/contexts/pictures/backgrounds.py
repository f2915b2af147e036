"""The backgrounds of a run: rendered ones, photographs inside installed packages, folders of one's own."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image

from gslopes.contexts.catalogue import Context, name_backgrounds, read_contexts
from gslopes.contexts.pictures.canvas import cover, to_srgb
from gslopes.contexts.pictures.scenes import SCENES, backgrounds, draw_scene
from gslopes.core.errors import PhotoError, UsageError
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import ByteArray, Finder
from gslopes.photos.folder import list_photos, open_photo

SMALLEST = 200
PAPER = "rating: median of the crowd of Barlas et al. 2020 for their own picture"
# name in its package, licence, creator: read where they are installed, never copied into this repository; LICENCES.md
_PACKAGED = {
    "cafe-table": ("skimage", "coffee", "CC0-1.0", "Rachel Michetti"),
    "launch-pad": ("skimage", "rocket", "public domain", "SpaceX"),
    "cat": ("skimage", "chelsea", "CC0-1.0", "Stefan van der Walt"),
    "brick": ("skimage", "brick", "CC0-1.0", "CC0Textures"),
    "grass": ("skimage", "grass", "CC0-1.0", "linolafett"),
    "gravel": ("skimage", "gravel", "CC0-1.0", "CC0Textures"),
    "clock": ("skimage", "clock", "public domain", "Stefan van der Walt"),
    "temple": ("sklearn", "china.jpg", "CC-BY-2.0", "danielbuechele"),
    "flower": ("sklearn", "flower.jpg", "CC-BY-2.0", "vultilion"),
}
TERMS = {
    "Apache-2.0": "https://www.apache.org/licenses/LICENSE-2.0",
    "CC0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "CC-BY-2.0": "https://creativecommons.org/licenses/by/2.0/",
    "public domain": "https://creativecommons.org/publicdomain/mark/1.0/",
}


_USED = SkipReason()


@dataclass(frozen=True, slots=True, eq=False)
class BackgroundPicture:
    """One background, read.

    key, context: see ``contexts.catalogue``.  photo: sha256 of its bytes.  path: for people.
    pixels: (H, W, 3) sRGB at the canvas' size; None if it was skipped, which ``why`` explains.
    width, height: of the picture itself.  scale: canvas pixels per pixel.
    palette: of a room that is drawn in several, in which its key ends; else empty.
    """

    key: str
    context: str
    path: str
    record: Context
    photo: str = ""
    pixels: ByteArray | None = None
    width: int = 0
    height: int = 0
    scale: float = 1.0
    faces: int = 0
    why: SkipReason = _USED
    palette: str = ""

    @property
    def used(self) -> bool:
        """Whether people are put in front of it."""
        return self.pixels is not None


def read_backgrounds(
    wanted: tuple[str, ...],
    canvas: tuple[int, int],
    finder: Callable[[], Finder],
    palettes: tuple[str, ...] = (),
) -> list[BackgroundPicture]:
    """All backgrounds, those skipped too, in the order in which they were named.

    finder: makes the detector that looks for faces in photographs.  palettes: of rendered rooms; empty for their own.

    Raises: UsageError if a folder is not there, none is usable, or one picture is in two contexts; ConfigError.
    """
    pictures: list[BackgroundPicture] = []
    for name in wanted:
        if name == "rendered":
            pictures += _rendered(canvas, palettes)
        elif name == "packaged":
            pictures += _packaged(canvas)
        else:
            pictures += _folder(Path(name), canvas, finder)
    seen: dict[tuple[str, str], BackgroundPicture] = {}
    for background in pictures:
        for what, name in (("name", background.key), ("picture", background.photo)):
            other = seen.setdefault((what, name), background)
            if other is not background and name:
                problem = f"The {what} of {other.path} is also that of {background.path}."
                raise UsageError(problem, "Each background has one place.")
    if not any(background.used for background in pictures):
        why = pictures[0].why if pictures else "there are none"
        raise UsageError(f"No background can be used: {why}.", "Name rendered, packaged, or a folder of pictures.")
    return pictures


def _rendered(canvas: tuple[int, int], palettes: tuple[str, ...]) -> list[BackgroundPicture]:
    pictures = []
    for key, layout, palette in backgrounds(palettes):
        colour = palette if isinstance(palette, str) else ""
        scene, name = SCENES[key], f"{key}.{layout}" + (f".{colour}" if colour else "")
        pixels = draw_scene(key, layout, width=canvas[0], height=canvas[1], palette=palette)
        source = f"drawn; terms: {TERMS['Apache-2.0']}; {PAPER}"
        record = Context(scene.title, scene.label, scene.rating, (), "Apache-2.0", "gslopes", source)
        photo = _digest(pixels)
        head = BackgroundPicture(name, key, f"rendered:{name}", record, photo, pixels, *canvas)
        pictures.append(replace(head, palette=colour))
    return pictures


def _packaged(canvas: tuple[int, int]) -> list[BackgroundPicture]:
    pictures = []
    for key, (package, name, licence, creator) in _PACKAGED.items():
        try:
            pixels = _from_package(package, name)
        except (ImportError, OSError, ValueError):
            continue
        source = f"{package}: {name}; terms: {TERMS[licence]}"
        record = Context(key.replace("-", " "), licence=licence, creator=creator, source=source)
        head = BackgroundPicture(f"{key}.1", key, f"packaged:{name}", record)
        pictures.append(_fitted(head, _digest(pixels), pixels, canvas))
    if not pictures:
        raise UsageError("No photographs of other packages are installed.", "pip install scikit-image scikit-learn")
    return pictures


def _from_package(package: str, name: str) -> ByteArray:
    if package == "sklearn":
        from sklearn.datasets import load_sample_image

        return np.ascontiguousarray(load_sample_image(name), np.uint8)
    from skimage import data, util

    pixels = util.img_as_ubyte(getattr(data, name)())
    return np.ascontiguousarray(np.repeat(pixels[..., None], 3, 2) if pixels.ndim == 2 else pixels[..., :3], np.uint8)


def _folder(folder: Path, canvas: tuple[int, int], finder: Callable[[], Finder]) -> list[BackgroundPicture]:
    files = list_photos(folder)
    if not files:
        raise UsageError(f"There are no pictures in {folder}.", "Name a folder of backgrounds: <context>/<picture>.")
    known = read_contexts(folder / "contexts.toml") if (folder / "contexts.toml").is_file() else {}
    pictures, detector = [], finder()
    for named in name_backgrounds([(file.relative, file.path) for file in files], known):
        record = known.get(named.context, Context(named.context))
        head = BackgroundPicture(named.key, named.context, str(named.path), record)
        try:
            photo = open_photo(named.path)
        except PhotoError as error:
            pictures.append(replace(head, why=SkipReason.of(error.reason)))
            continue
        photo = replace(photo, pixels=to_srgb(photo.pixels, photo.icc))
        pictures.append(_fitted(head, photo.id, photo.pixels, canvas, len(detector([photo])[0].scores)))
    return pictures


def _fitted(
    head: BackgroundPicture, photo: str, pixels: ByteArray, canvas: tuple[int, int], faces: int = 0
) -> BackgroundPicture:
    """A picture at the canvas' size, unless it is skipped.  photo: sha256 of its file."""
    height, width = pixels.shape[:2]
    why = SkipReason(Reason.FACE_IN_BACKGROUND) if faces else SkipReason()
    if min(width, height) < SMALLEST:
        why = SkipReason(Reason.SHORTER_SIDE, f"{min(width, height)} px, at least {SMALLEST}")
    fitted, scale = cover(pixels, *canvas)
    size = {"width": width, "height": height}
    return replace(head, photo=photo, pixels=None if why else fitted, scale=scale, faces=faces, why=why, **size)


def _digest(pixels: ByteArray) -> str:
    """sha256 of the picture as a PNG."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=1)
    return hashlib.sha256(file.getvalue()).hexdigest()
