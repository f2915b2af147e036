"""The backgrounds of a run: rendered ones, photographs inside installed packages, folders of one's own."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from gslopes.contexts.catalogue import Context, name_backgrounds, read_contexts
from gslopes.contexts.pictures.canvas import cover
from gslopes.contexts.pictures.colour import to_srgb
from gslopes.contexts.pictures.scenes import SCENES, backgrounds, draw_scene
from gslopes.core.errors import PhotoError, UsageError
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import ByteArray, Finder, Photo
from gslopes.datasets.decode import decode
from gslopes.datasets.folder import list_photos

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


@dataclass(frozen=True, slots=True, eq=False)
class BackgroundPicture:
    """One background, read.

    key, context: see ``contexts.catalogue``.  photo: sha256 of its bytes.  path: for people.
    pixels: (H, W, 3) sRGB at the canvas' size; None if it was skipped, which ``why`` explains.
    width, height: of the picture itself.  scale: canvas pixels per pixel.
    """

    key: str
    context: str
    photo: str
    path: str
    record: Context
    pixels: ByteArray | None
    width: int
    height: int
    scale: float
    faces: int
    why: SkipReason

    @property
    def used(self) -> bool:
        """Whether people are put in front of it."""
        return self.pixels is not None


def read_backgrounds(
    wanted: tuple[str, ...], canvas: tuple[int, int], crop: str, finder: Callable[[], Finder]
) -> list[BackgroundPicture]:
    """All backgrounds, those skipped too, in the order in which they were named.

    finder: makes the detector that looks for faces in photographs.

    Raises: UsageError if a folder is not there, none is usable, or one picture is in two contexts; ConfigError.
    """
    found: list[BackgroundPicture] = []
    for name in wanted:
        if name == "rendered":
            found += _rendered(canvas)
        elif name == "packaged":
            found += _packaged(canvas, crop)
        else:
            found += _folder(Path(name), canvas, crop, finder)
    _check(found)
    return found


def _check(found: list[BackgroundPicture]) -> None:
    keys: dict[str, BackgroundPicture] = {}
    photos: dict[str, BackgroundPicture] = {}
    for background in found:
        for seen, name, what in ((keys, background.key, "name"), (photos, background.photo, "picture")):
            other = seen.setdefault(name, background)
            if other is not background and name:
                raise UsageError(
                    f"The {what} of {other.path} is also that of {background.path}.", "Each background has one place."
                )
    if not any(background.used for background in found):
        why = found[0].why if found else "there are none"
        raise UsageError(f"No background can be used: {why}.", "Name rendered, packaged, or a folder of pictures.")


def _rendered(canvas: tuple[int, int]) -> list[BackgroundPicture]:
    width, height = canvas
    found = []
    for key, layout, palette in backgrounds():
        scene = SCENES[key]
        pixels = draw_scene(key, layout, width=width, height=height, palette=palette)
        record = Context(
            title=scene.title,
            label="feminine" if scene.label == "feminine" else "masculine",
            rating=float(scene.rating),
            licence="Apache-2.0",
            creator="gslopes",
            source=f"drawn; terms: {TERMS['Apache-2.0']}; {PAPER}",
        )
        name = f"{key}.{layout}"
        photo = hashlib.sha256(_png(pixels)).hexdigest()
        found.append(
            BackgroundPicture(name, key, photo, f"rendered:{name}", record, pixels, width, height, 1.0, 0, SkipReason())
        )
    return found


def _packaged(canvas: tuple[int, int], crop: str) -> list[BackgroundPicture]:
    found = []
    for key, (package, name, licence, creator) in _PACKAGED.items():
        try:
            pixels = _from_package(package, name)
        except (ImportError, OSError, ValueError):
            continue
        source = f"{package}: {name}; terms: {TERMS[licence]}"
        record = Context(title=key.replace("-", " "), licence=licence, creator=creator, source=source)
        found.append(_fitted(f"{key}.1", key, f"packaged:{name}", record, _png(pixels), pixels, canvas, crop, 0))
    if not found:
        raise UsageError("No photographs of other packages are installed.", "pip install scikit-image scikit-learn")
    return found


def _from_package(package: str, name: str) -> ByteArray:
    if package == "sklearn":
        from sklearn.datasets import load_sample_image

        return np.ascontiguousarray(load_sample_image(name), np.uint8)
    from skimage import data, util

    pixels = util.img_as_ubyte(getattr(data, name)())
    return np.ascontiguousarray(np.repeat(pixels[..., None], 3, 2) if pixels.ndim == 2 else pixels[..., :3], np.uint8)


def _folder(folder: Path, canvas: tuple[int, int], crop: str, finder: Callable[[], Finder]) -> list[BackgroundPicture]:
    files = list_photos(folder)
    if not files:
        raise UsageError(f"There are no pictures in {folder}.", "Name a folder of backgrounds: <context>/<picture>.")
    known = read_contexts(folder / "contexts.toml") if (folder / "contexts.toml").is_file() else {}
    found = []
    detector = finder()
    for named in name_backgrounds([(file.relative, file.path) for file in files], known):
        record = known.get(named.context, Context(title=named.context))
        try:
            data = named.path.read_bytes()
            pixels, _, icc = decode(data, named.path.name)
        except (PhotoError, OSError) as error:
            why = (
                SkipReason.of(error.reason)
                if isinstance(error, PhotoError)
                else SkipReason(Reason.UNREADABLE, str(error))
            )
            found.append(
                BackgroundPicture(named.key, named.context, "", str(named.path), record, None, 0, 0, 1.0, 0, why)
            )
            continue
        pixels = to_srgb(pixels, icc)
        photo = Photo(hashlib.sha256(data).hexdigest(), named.path, pixels)
        faces = len(detector([photo])[0].scores)
        found.append(_fitted(named.key, named.context, str(named.path), record, data, pixels, canvas, crop, faces))
    return found


def _fitted(
    key: str,
    context: str,
    path: str,
    record: Context,
    data: bytes,
    pixels: ByteArray,
    canvas: tuple[int, int],
    crop: str,
    faces: int,
) -> BackgroundPicture:
    height, width = pixels.shape[:2]
    why = SkipReason(Reason.FACE_IN_BACKGROUND) if faces else SkipReason()
    if min(width, height) < SMALLEST:
        why = SkipReason(Reason.SHORTER_SIDE, f"{min(width, height)} px, at least {SMALLEST}")
    fitted, scale = cover(pixels, *canvas, crop)  # type: ignore[arg-type]
    photo = hashlib.sha256(data).hexdigest()
    return BackgroundPicture(
        key, context, photo, path, record, None if why else fitted, width, height, scale, faces, why
    )


def _png(pixels: ByteArray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=1)
    return file.getvalue()
