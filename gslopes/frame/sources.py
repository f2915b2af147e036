"""The folder that an audit is given: whether it holds anything, and what it holds twice."""

from pathlib import Path

from gslopes.core import Names, PhotoError, UsageError, show
from gslopes.photos.folder import (
    first_frames,
    left_out,
    list_files,
    open_photo,
    passed_over,
    same_bytes,
    set_aside,
)

_KINDS = "JPEG, PNG, WebP, BMP, TIFF, GIF, HEIC or AVIF"


def check_files(folder: Path) -> None:
    """Raises: UsageError for a folder that holds nothing but hidden files."""
    names = (path.relative_to(folder).parts for path in folder.rglob("*") if path.is_file())
    if all(any(part.startswith(".") for part in parts) for parts in names):
        raise UsageError(
            f"There are no files in {show(folder)}.", "Name the folder that holds them."
        )


def look_through(photos: Path, limit: int | None = None) -> Names:
    """Sentences, empty if there are none: which photos of a folder repeat others and are left out, of which only the
    first frame is read, which files are no photos, and how many pictures are set aside.

    limit: as of ``list_files``.

    Raises: UsageError if no photo is in it, or none can be read.
    """
    files = list_files(photos, limit)
    aside = set_aside(photos)
    if not files:
        raise UsageError(
            f"There are no photos in {show(photos)}. {aside}".strip(),
            f"Name a folder with {_KINDS} files in it or in its sub-folders, or such a folder itself.",
        )
    first = None
    for file in files:
        try:
            open_photo(file.path)
            break
        except PhotoError as error:
            first = first or error.reason
    else:
        raise UsageError(
            f"No photo in {show(photos)} can be read.",
            f"The first reason: {first}. Name a folder with {_KINDS} files.",
        )
    return left_out(same_bytes(files)), first_frames(files), passed_over(photos), aside
