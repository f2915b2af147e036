"""Photos as people have them in Python: paths, a table with a column of paths, arrays, images, a dataset.

Whatever is not a folder becomes one, RUN/given: the run resumes and reports without the objects that were given.
"""

import filecmp
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from gslopes.core import (
    Facts,
    RunFolderMismatch,
    UsageError,
    hexdigest,
    merged,
    options_of,
    show,
    some_of,
    tell,
)
from gslopes.core.runfolder import (
    GIVEN,
    GIVEN_TABLE,
    MANIFEST,
    check_links,
    make_folder,
    settle,
    storage,
    write_changed,
)
from gslopes.frame.plan import plan
from gslopes.frame.spec import Audit, Plan
from gslopes.photos.decode import to_srgb
from gslopes.photos.folder import SET_ASIDE, list_files, relative_name
from gslopes.photos.people import PHOTO_COLUMNS

_PATH = (str, os.PathLike)
_PNG = ("1", "L", "LA", "I;16", "P", "RGB", "RGBA")  # modes of Pillow that a PNG holds without loss
_FORMS = "Give a folder, paths, a table with a column of paths, arrays (H, W, 3), PIL images or a torch dataset."


def planned(
    audit: Audit, photos: Any, out: str | Path | None, options: Facts, **about: Any
) -> Plan:
    """``frame.plan.plan``, of photos in any form.

    photos: a folder, a run folder, or None, as ``plan`` takes them; the path of a photo; paths, arrays or PIL images in
        a list, Series or iterator; a data frame with one column of them, whose other columns become the table about
        people unless ``options`` name one; a torch Dataset, whose items may be (photo, ...), or its DataLoader.
        Arrays are (H, W, 3) RGB, (H, W, 4) RGBA or (H, W) gray: integers from 0 to 255, or floats from 0 (black) to 1.
        Arrays of 1, 3 or 4 rows are read as (C, H, W), the order of torch.
    out: the run folder; None: one in the current folder, named by date and attribute; stderr tells its name.

    Raises: UsageError for other things than photos; RunFolderMismatch if the run has others; and as ``plan``.
    """
    photos = list(photos) if isinstance(photos, Iterator) else photos
    if out is None and not (isinstance(photos, _PATH) and (Path(photos) / MANIFEST).is_file()):
        option = options_of(audit.config).get("attribute")
        usual = option.default if option else [audit.name]
        names = merged(audit.config, options).get("edit", {}).get("attributes", usual)
        for number in count(1):
            folder = Path(f"{date.today()}-{'+'.join(names)}{f'-{number}' * (number > 1)}")
            with suppress(RunFolderMismatch):  # of the same day and other photos
                fresh_plan = planned(audit, photos, folder, options, **about)
                tell(f"run        {show(folder)} (out= names another)")
                return fresh_plan
    run = None if out is None else Path(out)
    is_path = isinstance(photos, _PATH) and "://" not in str(photos)
    if run is None or photos is None or (is_path and not Path(photos).is_file()):
        return plan(audit, None if photos is None else Path(photos), run, options, **about)
    is_fresh = not run.exists()
    try:
        table = _fill(run, photos)
        column = next(
            (name for name in ("people", "photos_csv") if name in options_of(audit.config)), ""
        )
        more = {column: table} if table and column and not options.get(column) else {}
        return plan(audit, run / GIVEN, run, {**options, **more}, **about)
    except BaseException:
        if is_fresh:  # what is refused leaves no folder
            shutil.rmtree(run, ignore_errors=True)
        raise


def _fill(run: Path, photos: Any) -> Path | None:
    """Put each photo into RUN/given, unless the run has begun; the table about people, if there is one."""
    folder = run / GIVEN
    is_new = not (run / MANIFEST).is_file()
    frame = photos if hasattr(photos, "iloc") and hasattr(photos, "columns") else None
    column = None if frame is None else _photo_column(frame)
    paths = {}
    names = {}
    make_folder(run)
    check_links(run)
    make_folder(folder)
    for index, item in enumerate(_items(photos if frame is None else frame[column].tolist())):
        if isinstance(item, _PATH):
            paths[index] = os.fspath(item)
            continue
        image = _image(item, index + 1)
        about = image.mode, image.size, image.getpalette(), image.info.get("icc_profile")
        digest = hexdigest(repr(about).encode() + image.tobytes())
        names[index] = f"{index + 1:06}-{digest[:8]}.png"
        if is_new:
            with storage(folder):
                image.save(folder / names[index], compress_level=1)
    short = _short(list(paths.values()))
    for path, name in short.items() if is_new else ():
        _link(path, folder / name)
    names |= {index: short[path] for index, path in paths.items()}
    if not names:
        raise UsageError(
            "No photos were given: it is empty.", "An iterator is empty once it was used."
        )
    relatives = [relative_name(folder / names[index], folder) for index in range(len(names))]
    listed = {file.relative for file in list_files(folder)}
    others = sorted(listed - {*relatives}) + [
        name for name in names.values() if not (folder / name).is_file()
    ]
    if others := others or [
        name for path, name in short.items() if not filecmp.cmp(path, folder / name)
    ]:
        raise RunFolderMismatch(
            f"{show(run)} has other photos, as {show(others[0])} shows.",
            "Give the same photos to resume it, or name a new folder with out=.",
        )
    if not listed:
        raise UsageError(f"No photo is given: {relatives[0]} is a file of another kind.", _FORMS)
    settle({folder / name for name in names.values()})
    if frame is None or len(frame.columns) == 1:
        return None
    people = frame.drop(
        columns=[name for name in frame.columns if name == column or str(name) == PHOTO_COLUMNS[0]]
    )
    people.insert(0, PHOTO_COLUMNS[0], relatives)
    write_changed(run / GIVEN_TABLE, people.to_csv(index=False).encode("utf-8", "replace"))
    return run / GIVEN_TABLE


# -- what is a photo -------------------------------------------------------------------------------------------------


def _is_single(candidate: Any) -> bool:
    """Whether this is one photo: a path but for a folder, an image, an array but for a batch."""
    if isinstance(candidate, _PATH):
        return Path(candidate).is_file() or "://" in str(candidate)
    return hasattr(candidate, "getbands") or getattr(candidate, "ndim", 0) in (2, 3)


def _items(photos: Any) -> Iterator[Any]:
    """Each photo of a list, a Series, a batch, a dataset or its loader.  Raises: UsageError for anything else."""
    if _is_single(photos):
        photos = [photos]
    is_iterable = hasattr(type(photos), "__iter__")
    if not is_iterable and not (hasattr(photos, "__len__") and hasattr(photos, "__getitem__")):
        raise UsageError(
            f"There are no photos in an object of the type {type(photos).__name__}.", _FORMS
        )
    for row in photos if is_iterable else (photos[index] for index in range(len(photos))):
        item = (
            next((row[name] for name in PHOTO_COLUMNS if name in row), row)
            if isinstance(row, Mapping)
            else row
        )
        item = item[0] if isinstance(item, list | tuple) and item else item
        yield from item if getattr(item, "ndim", 0) == 4 else [item]  # a loader's batch


def _image(photo: Any, number: int) -> Any:
    """A PIL image, upright, of a mode that a PNG holds.  number: from 1.  Raises: UsageError."""
    from PIL import Image, ImageOps

    if hasattr(photo, "getbands"):
        image = ImageOps.exif_transpose(photo)
        if image.mode in _PNG:
            return image
        return to_srgb(image, image.info.get("icc_profile"))
    pixels = np.asarray(photo.detach().cpu() if hasattr(photo, "detach") else photo)
    if pixels.ndim == 3 and pixels.shape[2] not in (1, 3, 4) and pixels.shape[0] in (1, 3, 4):
        if number == 1:
            tell(
                f"given      {pixels.shape} read as channels, height, width; floats from 0 (black) to 1 (white)"
            )
        pixels = np.moveaxis(pixels, 0, 2)
    white = {"f": 1, "u": 255, "i": 255}.get(pixels.dtype.kind)
    if (
        white is None
        or not pixels.size
        or (pixels.ndim != 2 and pixels.shape[2:] not in ((1,), (3,), (4,)))
    ):
        what = f"an array {pixels.shape} of {pixels.dtype}" if pixels.ndim else f"{photo!r:.60}"
        raise UsageError(f"Photo {number} is {what}, no photo.", _FORMS)
    low = pixels.min()
    high = pixels.max()
    if not 0 <= low <= high <= white:
        numbers = "floats" if white == 1 else "integers"
        raise UsageError(
            f"Photo {number} holds {numbers} from {low:.5g} to {high:.5g}, not from 0 to {white}.",
            "Undo what normalises them for a network: give floats from 0 to 1, or integers from 0 to 255.",
        )
    plain = (np.round(pixels * 255) if white == 1 else pixels).astype(np.uint8)
    return Image.fromarray(plain[..., 0] if plain.shape[2:] == (1,) else plain)


# -- paths ---------------------------------------------------------------------------------------------------------


def _photo_column(frame: Any) -> Any:
    """The column whose cells are photos.  Raises: UsageError unless there is exactly one."""
    columns = [name for name in frame.columns if any(map(_is_single, frame[name].tolist()))]
    columns = columns or [name for name in frame.columns if str(name).lower() in PHOTO_COLUMNS]
    if len(columns) == 1:
        return columns[0]
    names = ", ".join(map(str, columns or frame.columns))
    raise UsageError(
        f"{'Several columns hold' if columns else 'No column holds'} paths of photos: {names}.",
        f"Give a table with one such column; paths start in {show(Path.cwd())}.",
    )


def _short(paths: Sequence[str]) -> dict[str, str]:
    """Each path by its name below the folder that all of them share.  Raises: UsageError if some are not there."""
    if lacking := [show(path) for path in paths if not Path(path).is_file()]:
        problem = f"{len(lacking):,} of {len(paths):,} photos are no files: {some_of(lacking)}."
        hint = f"Paths start in {show(Path.cwd())}; a folder is given alone, not in a list."
        raise UsageError(
            problem, "Download what is on the web first." if "://" in lacking[0] else hint
        )
    shared = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths] or ["/"])
    names = {path: os.path.relpath(path, shared) for path in paths}
    # list_files sets some names aside
    return {
        path: "/".join(
            f"_{part}" if SET_ASIDE(os.fsencode(part)) else part for part in name.split("/")
        )
        for path, name in names.items()
    }


def _link(source: str, target: Path) -> None:
    """The same file in another folder; on another disk a copy."""
    make_folder(target.parent)
    with storage(target):
        target.unlink(missing_ok=True)
        try:
            os.link(os.path.realpath(source), target)
        except OSError:
            shutil.copy2(source, target)
