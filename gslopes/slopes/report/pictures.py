"""The photos' pictures for the page: one strip of small squares for each sweep, or none at all."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gslopes.core import runfolder
from gslopes.core.errors import UsageError
from gslopes.photos.decode import named_picture
from gslopes.slopes.report.loading import Embed

FOLDER = "pictures"
_PIXELS = 260  # of a picture's side, read from the file; a few hundred suffice for a sheet
BRIGHTEST = 48  # levels of 255 that the difference view shows as its brightest colour
_WIDE, _NARROW, _MANY = 224, 128, 500  # pixels of a square; the narrow one where there are more sweeps than _MANY


@dataclass(frozen=True, slots=True)
class Wanted:
    """One sweep: the photo's id, the attribute, its face's box or None, and the K files of its pictures."""

    photo: str
    attribute: str
    box: tuple[float, float, float, float] | None
    files: tuple[Path, ...]


def side_for(sweeps: int) -> int:
    """Pixels of a square in a strip: fewer where there are many, so that the folder stays small."""
    return _WIDE if sweeps <= _MANY else _NARROW


def strip_name(photo: str, attribute: str) -> str:
    """Where a sweep's strip lies, relative to the report."""
    return f"{FOLDER}/{runfolder.slug(attribute)}/{photo[:16]}.webp"


def difference_name(photo: str, attribute: str) -> str:
    """Where the strip of a sweep's differences lies, relative to the report."""
    return f"{FOLDER}/{runfolder.slug(attribute)}/{photo[:16]}-difference.webp"


def write(
    report: Path, run: Path, sweeps: Sequence[Wanted], embed: Embed, tick: Callable[[int], None] | None = None
) -> dict[tuple[str, str], list[str]]:
    """Write the pictures, and remove those that an earlier report left and this one does not name.

    Strips: K squares around the face side by side, WebP.  A strip that is newer than its pictures is kept.

    Next to each lies a strip of differences from the picture at the middle value, see ``differences``.

    tick: called with 1 for every sweep.

    Returns, by (photo, attribute), the strip relative to the report.

    Raises: StorageError.
    """
    if embed == "none":
        shutil.rmtree(report / FOLDER, ignore_errors=True)
        return {}
    side = side_for(len(sweeps))
    for attribute in {sweep.attribute for sweep in sweeps}:
        runfolder.make_folder(report / FOLDER / runfolder.slug(attribute))
    with ThreadPoolExecutor(2) as workers:  # Pillow lets go of the interpreter while it decodes
        made = workers.map(lambda sweep: _make(report, run, sweep, side), sweeps)
        written: dict[tuple[str, str], list[str]] = {}
        for sweep, names in zip(sweeps, made, strict=True):
            if names:
                written[sweep.photo, sweep.attribute] = names
            if tick is not None:
                tick(1)
    keep = {report / name for names in written.values() for name in names}
    keep |= {report / difference_name(*pair) for pair in written}
    for file in _files(report / FOLDER):
        if file not in keep:
            file.unlink()
    return written


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else iter(())


def _make(report: Path, run: Path, sweep: Wanted, side: int) -> list[str]:
    name, difference = strip_name(sweep.photo, sweep.attribute), difference_name(sweep.photo, sweep.attribute)
    wide = side * len(sweep.files)
    if _fresh(report / name, sweep.files, wide) and _fresh(report / difference, sweep.files, wide):
        return [name]
    squares = [picture(file, sweep.box, run, side) for file in sweep.files]
    if all(square is None for square in squares):
        return []
    _write_webp(report / difference, differences(squares, side), lossless=True)
    grey = np.full((side, side, 3), 128, np.uint8)
    strip = np.concatenate([grey if square is None else square for square in squares], axis=1)
    _write_webp(report / name, strip, quality=76)
    return [name]


def differences(squares: Sequence[NDArray[np.uint8] | None], side: int) -> NDArray[np.uint8]:
    """How far every picture of a sweep is from the middle one, as colours: (S, K S, 3) uint8 RGB.

    squares: K of (S, S, 3) uint8 RGB, as they were before anything lossy, or None.  side: S.

    The largest difference of a pixel's three channels; black for at most one level, which is rounding, up to the
    brightest colour of inferno for ``BRIGHTEST`` levels of 255 and more.
    """
    from matplotlib import colormaps

    centre = squares[len(squares) // 2]
    colours = (np.asarray(colormaps["inferno"](np.linspace(0, 1, BRIGHTEST + 1)))[:, :3] * 255).round().astype(np.uint8)
    colours[:2] = 0
    parts = []
    for square in squares:
        if square is None or centre is None:
            parts.append(np.zeros((side, side, 3), np.uint8))
            continue
        difference = np.abs(square.astype(np.int16) - centre).max(axis=2)
        parts.append(colours[np.minimum(difference, BRIGHTEST)])
    return np.concatenate(parts, axis=1)


def _write_webp(path: Path, pixels: NDArray[np.uint8], **options: Any) -> None:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "WEBP", method=2, **options)
    runfolder.write_bytes(path, buffer.getvalue())


def _fresh(strip: Path, files: Sequence[Path], width: int) -> bool:
    """Whether a strip is there, of this width, and newer than all its pictures."""
    try:
        made = strip.stat().st_mtime
        if any(file.stat().st_mtime > made for file in files):
            return False
        return named_picture(strip, load=False).width == width
    except (OSError, UsageError):
        return False


def size(report: Path) -> int:
    """Bytes of everything in the report folder."""
    return sum(path.stat().st_size for path in _files(report))


def picture(
    path: Path, box: tuple[float, float, float, float] | None, run: Path, side: int = _PIXELS
) -> NDArray[np.uint8] | None:
    """A square (S, S, 3) uint8 RGB of the picture around the face, or None if it cannot be read.

    path: the file.  box: the face, in the photo frame, None: the middle of the picture.
    run: the run folder, which a table that came from somewhere else may not leave.  side: S.
    """
    try:
        image = named_picture(path.relative_to(run), folder=run)
    except (UsageError, ValueError):
        return None
    region = window(image.size, box)
    square = image.convert("RGB").resize((side, side), Image.Resampling.LANCZOS, box=region, reducing_gap=3.0)
    return np.asarray(square)


def window(size: tuple[int, int], box: tuple[float, float, float, float] | None) -> tuple[float, float, float, float]:
    """The square to show: four faces wide, where the photo has so much, and never outside the photo."""
    wide, high = size
    x0, y0, x1, y1 = box or (0.0, 0.0, wide, high)
    side = min(wide, high, 4 * max(x1 - x0, y1 - y0))
    left = min(max((x0 + x1 - side) / 2, 0), wide - side)
    top = min(max((y0 + y1 - side) / 2, 0), high - side)
    return left, top, left + side, top + side
