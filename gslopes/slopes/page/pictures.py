"""The photos' pictures for the page: one strip of small squares for each sweep, or none at all."""

import io
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image

from gslopes.core import Names, UsageError, frozen, runfolder
from gslopes.core.records import ByteArray, batches
from gslopes.frame.executors.one_process import cores
from gslopes.photos.decode import Size, named_picture, to_srgb
from gslopes.slopes.page.loading import Corners, Embed

FOLDER = "pictures"
ID = 16
_PIXELS = 260  # of a picture's side, read from the file; a few hundred suffice for a sheet
_WIDE = 224
_NARROW = 128
_AT_ONCE = 1000  # sweeps that wait for a thread
_MANY = 500  # pixels of a square; the narrow one for more sweeps than _MANY


@frozen
class Wanted:
    """One sweep: the photo's id, the attribute, its face's box or None, and K files, as the run's table has them."""

    photo: str
    attribute: str
    box: Corners | None
    files: Names


def write(
    report: Path,
    run: Path,
    sweeps: Sequence[Wanted],
    embed: Embed,
    tick: Callable[[int], None],
) -> dict[tuple[str, str], str]:
    """Write the pictures, and remove those that an earlier report left and this one does not name.

    Strips: K squares around the face side by side, WebP.  A strip that is newer than its pictures is kept.

    tick: called with 1 for every sweep.

    Returns, by (photo, attribute), the strip relative to the report.

    Raises: StorageError.
    """
    if embed == "none":
        shutil.rmtree(report / FOLDER, ignore_errors=True)
        return {}
    side = (
        _WIDE if len(sweeps) <= _MANY else _NARROW
    )  # smaller for many sweeps, so that the folder stays small
    written = {}
    with ThreadPoolExecutor(cores()) as workers:  # Pillow lets go of the interpreter
        for some in batches(sweeps, _AT_ONCE):
            names = workers.map(lambda sweep: _make(report, run, sweep, side), some)
            for sweep, name in zip(some, names, strict=True):
                if name:
                    written[sweep.photo, sweep.attribute] = name
                tick(1)
    keep = {report / name for name in written.values()}
    for file in (report / FOLDER).rglob("*"):
        if file.is_file() and file not in keep:
            file.unlink()
    return written


def folder(attribute: str) -> str:
    """Where the strips of an attribute lie, each by its photo's ``ID`` first letters, relative to the report."""
    return f"{FOLDER}/{runfolder.slug(attribute)}"


def _make(report: Path, run: Path, sweep: Wanted, side: int) -> str:
    name = f"{folder(sweep.attribute)}/{sweep.photo[:ID]}.webp"
    files = [run / file for file in sweep.files]
    if _fresh(report / name, files, side * len(files)):
        return name
    squares = [picture(file, sweep.box, run, side) for file in files]
    if all(square is None for square in squares):
        return ""
    grey = np.full((side, side, 3), 128, np.uint8)
    strip = np.concatenate([grey if square is None else square for square in squares], axis=1)
    buffer = io.BytesIO()
    Image.fromarray(strip).save(buffer, "WEBP", method=2, quality=76)
    runfolder.write_bytes(report / name, buffer.getvalue())
    return name


def _fresh(strip: Path, files: Sequence[Path], width: int) -> bool:
    """Whether a strip exists, of this width, and newer than all its pictures."""
    try:
        written = strip.stat().st_mtime
        if any(file.stat().st_mtime > written for file in files):
            return False
        return named_picture(strip, load=False).width == width
    except (OSError, UsageError):
        return False


def picture(path: Path, box: Corners | None, run: Path, side: int = _PIXELS) -> ByteArray | None:
    """A square (S, S, 3) uint8 RGB of the picture around the face, or None if it cannot be read.

    path: the file.  box: the face, in the photo frame, None: the middle of the picture.
    run: the run folder, which a table that came from somewhere else may not leave.  side: S.
    """
    sizes = []

    def enough(size: Size) -> Size:
        sizes.append(size)
        left, _, right, _ = window(size, box)
        share = min(1, side / (right - left))
        return int(share * size[0]), int(share * size[1])

    try:
        image = named_picture(path.relative_to(run), folder=run, enough=enough)
    except (UsageError, ValueError):
        return None
    region = np.divide(window(sizes[0], box), round(sizes[0][0] / image.width)).tolist()
    image = to_srgb(image, image.info.get("icc_profile"))
    return np.asarray(
        image.resize((side, side), Image.Resampling.LANCZOS, box=region, reducing_gap=3.0)
    )


def window(size: tuple[int, int], box: Corners | None) -> Corners:
    """The square to show: four faces wide, if the photo is as large, and never outside the photo."""
    wide, high = size
    x0, y0, x1, y1 = box or (0.0, 0.0, wide, high)
    side = min(wide, high, 4 * max(x1 - x0, y1 - y0))
    left = min(max((x0 + x1 - side) / 2, 0), wide - side)
    top = min(max((y0 + y1 - side) / 2, 0), high - side)
    return left, top, left + side, top + side
