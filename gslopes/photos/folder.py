"""A folder of photos, as the user has it: which files there are, and each one as pixels."""

import errno
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gslopes.core import (
    JsonObject,
    Names,
    PhotoError,
    Reason,
    SkipReason,
    Texts,
    UsageError,
    frozen,
    hexdigest,
    many,
    raise_if_refused,
    read_regular,
    show,
    some_of,
)
from gslopes.core.files import NotRegular, TooLarge, open_regular, resolved
from gslopes.core.records import ByteArray, Photo
from gslopes.photos.decode import (
    HEAD,
    KINDS,
    LARGEST_FILE,
    decode,
    in_srgb,
    is_first_of_several,
    kind_of,
)

# Photos that are held at once: 16 million pixels, or one photo.
BATCH_PIXELS = 16_000_000
_END = 4096  # bytes
SUFFIXES, _RAW = (tuple(map(str.encode, KINDS[name])) for name in ("suffixes", "raw"))
SET_ASIDE = re.compile("|".join(KINDS["set_aside"]).encode(), re.IGNORECASE).fullmatch


@frozen
class PhotoFile:
    """One file that may hold a photo.

    path: how to open it.
    relative: its name below the photos folder, ``/`` between the parts, always valid Unicode (see ``display_name``).
    repeats: such names of later files with the same bytes, if ``list_photos`` made it.
    """

    path: Path
    relative: str
    repeats: Names = ()


def list_photos(photos: Path, limit: int | None = None) -> list[PhotoFile]:
    """Every photo below a folder, once: of files of ``list_files`` with the same bytes the first, with ``repeats``.

    Raises: as ``list_files``.
    """
    files = list_files(photos, limit)
    repeats: defaultdict[str, list[str]] = defaultdict(list)
    same = same_bytes(files)
    for name, first in same.items():
        repeats[first].append(name)
    distinct = (file for file in files if file.relative not in same)
    return [replace(file, repeats=tuple(repeats[file.relative])) for file in distinct]


def list_files(photos: Path, limit: int | None = None) -> list[PhotoFile]:
    """Every image file below a folder, in the order of the bytes of its name below it: the same on every machine.

    photos: the folder, searched with its sub-folders and the folders that links in it lead to, each folder once, so
        that links in a circle end. A file is an image file by its suffix, in any case, or else by its first bytes;
        hidden files and folders, folders that storage boxes, systems and programs make (see ``set_aside``; not the
        given one), and cameras' raw files are passed over. A broken link is listed, and so is a sub-folder
        that may not be read: opening it gives the reason.
    limit: how many, the first ones; None for all.

    Raises: UsageError if the folder does not exist or it may not be read.
    """
    top = os.fsencode(photos)
    name = display_name(top)
    hint = "Name the folder that holds the photos."
    try:
        os.scandir(top).close()
    except FileNotFoundError:
        raise UsageError(f"There is no folder {name}.", hint) from None
    except NotADirectoryError:
        raise UsageError(f"{name} is a file, not a folder.", hint) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"The folder {name} cannot be read: {reason}.", "Check that you may read it."
        ) from None
    names = sorted(_walk(top)[0])[:limit]
    below = os.fsdecode(os.path.join(top, b""))
    return [PhotoFile(Path(below + os.fsdecode(name)), display_name(name)) for name in names]


def same_bytes(files: Sequence[PhotoFile]) -> dict[str, str]:
    """Relative name of every file that repeats an earlier one, byte for byte, to that one's.

    Of files of equal size the ends are read, and only those with equal ends are read whole.
    """
    groups = [files]
    for fact in (size_of, _end_of, digest_of):
        groups = [alike for group in groups for alike in _alike(group, fact)]
    return {file.relative: first.relative for first, *others in groups for file in others}


def _alike(files: Sequence[PhotoFile], fact: Callable[[Path], Any]) -> list[list[PhotoFile]]:
    """Files with the same fact, together; without files that share it with no other, or have none."""
    groups: defaultdict[Any, list[PhotoFile]] = defaultdict(list)
    for file in files:
        if value := fact(file.path):
            groups[value].append(file)
    return [group for group in groups.values() if len(group) > 1]


def _end_of(path: Path) -> bytes:
    """The last bytes of a file; empty if it cannot be read."""
    try:
        with open_regular(path) as file:
            file.seek(-min(_END, os.fstat(file.fileno()).st_size), os.SEEK_END)
            return file.read()
    except (OSError, ValueError):
        return b""


def digest_of(path: Path) -> str:
    """The sha256 of a file's bytes, hex; empty if they cannot be read."""
    try:
        return hexdigest(read_regular(path, LARGEST_FILE))
    except (OSError, ValueError):
        return ""


def left_out(same: Texts) -> str:
    """What ``same_bytes`` found, with three of the names; empty if nothing."""
    if not same:
        return ""
    some = some_of([f"{show(name)} (as {show(first)})" for name, first in same.items()])
    return f"{many(len(same), 'photo')} left out, {Reason.DUPLICATE}: {some}."


def first_frames(files: Sequence[PhotoFile]) -> str:
    """Which photos are animations or have several pages, with three of their names; empty if none."""
    names = [show(file.relative) for file in files if is_first_of_several(file.path)]
    if not names:
        return ""
    return f"Of {many(len(names), 'photo')} only the first frame or page is read: {some_of(names)}."


def passed_over(photos: Path) -> str:
    """How many files below a folder ``list_photos`` takes for no photos, with three of their names; empty if none."""
    if not (names := sorted(_walk(os.fsencode(photos))[1])):
        return ""
    some = some_of([display_name(name) for name in names])
    return f"{many(len(names), 'file')} in {show(photos)} passed over, no photos: {some}."


def set_aside(photos: Path) -> str:
    """How many pictures below a folder are passed over since they are hidden or in a folder that systems or programs
    make, with its name; empty if none are. A folder that is named itself is never passed over.
    """
    top = os.fsencode(photos)
    counts: Counter[str] = Counter()
    for path in _walk(top)[2]:
        within = os.walk(os.path.join(top, path))
        files = [path, *(file for *_, files in within for file in files)]
        name = show(display_name(os.path.basename(path)))
        counts[name] += sum(file.lower().endswith(SUFFIXES) for file in files)
    some = some_of([f"{name} {count:,}" for name, count in counts.most_common() if count], 5)
    pictures = many(counts.total(), "picture")
    told = f"{pictures} passed over, of storage boxes, systems and programs: {some}."
    return told if some else ""


def open_photo(path: Path | str, folder: Path | None = None) -> Photo:
    """Read and decode one photo: ``photo_of`` its ``photo_bytes``.  Raises: PhotoError as both."""
    return photo_of(photo_bytes(path, folder), Path(path))


def open_srgb(path: Path | str) -> ByteArray:
    """A photo's pixels, (H, W, 3) uint8 in sRGB.  Raises: PhotoError as ``open_photo``."""
    photo = open_photo(path)
    return in_srgb(photo.pixels, photo.icc)


def photo_bytes(path: Path | str, folder: Path | None = None) -> bytes:
    """The bytes of a photo; of a file that can be no picture only its beginning. Safe in threads.

    path: the file.  folder: whose table names the file; see ``core.files.resolved``.

    Raises: PhotoError with one of the ``core.reasons`` of files that are unreadable; StorageError if it is not the
        file's fault.
    """
    try:
        return read_regular(
            path if folder is None else resolved(folder, path), LARGEST_FILE, kind_of
        )
    except (OSError, ValueError) as error:
        raise_if_refused(error, path, "photo")
        raise PhotoError(display_name(os.fsencode(path)), _refusal(Path(path), error)) from error


def photo_of(data: bytes, path: Path) -> Photo:
    """The photo of a file's bytes. For the pixels, and the pictures that are understood, see ``decode``.

    Raises: PhotoError with one of the ``core.reasons`` of files that are unreadable.
    """
    pixels, gray, icc = decode(data, display_name(os.fsencode(path)))
    return Photo(hexdigest(data), path, pixels, gray, icc)


def photo_batches(
    files: Iterable[PhotoFile], read: Callable[[PhotoFile], Photo | None], most: int = BATCH_PIXELS
) -> Iterator[list[tuple[PhotoFile, Photo]]]:
    """Decoded photos with their files, as many as may be held at once.

    Only its contents close a batch, so that it is the same whenever it is computed.

    read: the photo of a file; None to leave it out.  most: pixels of a batch; a photo with more is a batch by itself.
    """
    batch: list[tuple[PhotoFile, Photo]] = []
    pixels = 0
    for file in files:
        if (photo := read(file)) is None:
            continue
        size = photo.pixels[..., 0].size
        if batch and pixels + size > most:
            yield batch
            batch = []
            pixels = 0
        batch.append((file, photo))
        pixels += size
    if batch:
        yield batch


def display_name(name: bytes) -> str:
    r"""A file name as text that a table can hold: bytes that are not UTF-8 become ``\xNN``, all others stay.

    Two names never become one: a backslash that would read as such an escape is itself written as ``\x5c``.

    >>> print(display_name(b"caf\xc3\xa9 \xff.jpg"))
    café \xff.jpg
    """
    plain = re.sub(rb"\\(?=x[0-9a-f]{2})", rb"\\x5c", name) if b"\\" in name else name
    return plain.decode("utf-8", "backslashreplace")


def relative_name(path: Path, root: Path) -> str:
    """The name that ``list_photos(root)`` gives to this path; a path outside of the folder keeps its whole name."""
    full = Path(os.path.abspath(path))
    top = Path(os.path.abspath(root))
    return display_name(os.fsencode(full.relative_to(top) if full.is_relative_to(top) else full))


# --- The walk through folders ----------------------------------------------------------------------------------------


def _walk(top: bytes) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """Names below ``top`` of all image files, of all other files, and of files and folders that are set aside.

    Real folders come first, so that a file has its name, not a link's.
    """
    photos: list[bytes] = []
    others: list[bytes] = []
    aside: list[bytes] = []
    seen = set()
    folders = [b""]
    links: list[bytes] = []
    while folders or links:
        folder = folders.pop() if folders else links.pop(0)
        try:
            status = os.stat(os.path.join(top, folder))
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(os.path.join(top, folder)) as entries:
                listing = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            photos.append(folder + b"/")
            continue
        within = os.path.join(folder, b"")
        for entry in listing:
            name = within + entry.name
            if SET_ASIDE(entry.name):
                aside.append(name)
            elif _is_folder(entry):
                (links if entry.is_symlink() else folders).append(name)
            else:
                (photos if _is_photo(entry) else others).append(name)
    return photos, others, aside


def _is_folder(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _is_photo(entry: os.DirEntry[bytes]) -> bool:
    """By its name, if it is a file or a link that leads nowhere; by its content otherwise."""
    suffix = os.path.splitext(entry.name.lower())[1]
    try:
        regular = entry.is_file()
        if suffix in SUFFIXES:
            # what leads to a device or a pipe is not a photo and would block the reader
            return regular or (entry.is_symlink() and not os.path.exists(entry.path))
        if not regular or suffix in _RAW:
            return False
        with open_regular(entry.path) as file:
            return bool(kind_of(file.read(HEAD)))
    except OSError:
        return suffix in SUFFIXES and entry.is_symlink()


def _refusal(path: Path, error: OSError | ValueError) -> SkipReason:
    if isinstance(error, PermissionError):
        return SkipReason(Reason.PERMISSION_DENIED)
    if isinstance(error, TooLarge):
        detail = f"{error.size / 1e6:,.0f} MB, limit {error.limit / 1e6:,.0f}"
        return SkipReason(Reason.TOO_LARGE, detail)
    if isinstance(error, (IsADirectoryError, NotRegular)):
        return SkipReason(Reason.NOT_A_FILE)
    if isinstance(error, FileNotFoundError) or getattr(error, "errno", None) == errno.ELOOP:
        return SkipReason(Reason.BROKEN_LINK if path.is_symlink() else Reason.GONE)
    return SkipReason(Reason.DISK_ERROR, str(getattr(error, "strerror", None) or error))


def listing(files: Sequence[PhotoFile]) -> JsonObject:
    """How many photos there are, and a digest of their names and sizes: half a million are listed in seconds."""
    lines = "".join([f"{file.relative}\0{size_of(file.path)}\n" for file in files])
    return {"photos": len(files), "digest": hexdigest(lines)}


def size_of(path: Path) -> int:
    """Bytes; -1 for what cannot be read, which then has its reason in the photos table."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return -1
