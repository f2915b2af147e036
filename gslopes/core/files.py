"""The door that every file goes through which a user, a table or an archive names, and CSV that spreadsheets can open.

A name in a folder can be swapped for a pipe, a device or a link into ``/proc`` after the folder was listed, and a file
can claim any size. What is opened is therefore looked at once more, by its handle, before a byte of it is read.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gslopes.core.errors import GslopesError, UsageError

if TYPE_CHECKING:
    from pandas import DataFrame

JsonObject = dict[str, Any]  # as ``parse_json`` gives one
Facts = Mapping[str, Any]  # by their names; only read
Texts = Mapping[str, str]  # the same, of texts
Names = tuple[str, ...]
Row = dict[str, Any]  # column to value
Record = Mapping[Any, Any]  # a row that is only read, as ``DataFrame.to_dict`` gives it
LARGEST_TABLE = 1 << 30  # bytes of a table, a list or JSON
LONGEST_LINE = 1 << 26  # characters that are read at once
CELL = 32  # bytes that a cell of a table takes in memory, at least
MOST_COLUMNS = 16_384  # of a table: a spreadsheet has no more


class NotRegular(OSError):
    """A pipe, a device, a socket or a folder in the place of a file."""


class TooLarge(OSError):
    """A file of more bytes than may be read; ``size`` and ``limit`` are their numbers."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(errno.EFBIG, f"{size:,} bytes, limit {limit:,}")
        self.size = size
        self.limit = limit


def show(path: object) -> str:
    r"""A path as text that can always be printed and stored: undecodable bytes become ``\xNN``."""
    return os.fsencode(str(path)).decode("utf-8", "backslashreplace")


# --- Bytes -----------------------------------------------------------------------------------------------------------


def open_regular(path: Path | str | bytes) -> BufferedReader:
    """A regular file, opened for reading without blocking.  Raises: NotRegular, and as ``open``."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotRegular(errno.EINVAL, "not a regular file")
    return os.fdopen(handle, "rb")


def hexdigest(content: str | bytes) -> str:
    """sha256 of bytes, or of a text in UTF-8, 64 hex digits."""
    data = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()


def sha256_of(path: Path) -> str:
    """Of a file's bytes, 64 hex digits.  Raises: OSError, NotRegular among them."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_regular(
    path: Path | str | bytes, limit: int, known: Callable[[bytes], object] | None = None
) -> bytes:
    """The bytes of a regular file, which is opened without blocking and measured before it is read.

    limit: bytes; more is refused unread.  known: given the first 32 bytes; if it returns nothing, no more is read.

    Raises: NotRegular, TooLarge, and as ``open``.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(min(32, size))
        if known is not None and not known(head):
            return head
        if size > limit:
            raise TooLarge(size, limit)
        return head + file.read(
            size - len(head)
        )  # what grows meanwhile, or has no size (/proc), ends here


def read_named(
    path: Path | str,
    limit: int = LARGEST_TABLE,
    *,
    folder: Path | None = None,
    raises: type[GslopesError] = UsageError,
    hint: str = "Name a file that you may read.",
) -> bytes:
    """The bytes of a file that a user or a table names.

    folder: that a table belongs to which names the file; see ``resolved``.
    raises, hint: the error if it does not exist, may not be read, is not a file, is larger than ``limit`` bytes or
        lies outside of the folder.
    """
    try:
        return read_regular(path if folder is None else resolved(folder, path), limit)
    except (OSError, ValueError) as error:
        raise raises(_unread(path, error), hint) from error


def read_text(
    path: Path | str,
    limit: int = LARGEST_TABLE,
    *,
    raises: type[GslopesError] = UsageError,
    hint: str = "Save it as text in UTF-8.",
) -> str:
    """The text of a file, as ``text_lines``."""
    return "".join(text_lines(path, limit, raises=raises, hint=hint))


def text_lines(
    path: Path | str,
    limit: int = LARGEST_TABLE,
    *,
    raises: type[GslopesError] = UsageError,
    hint: str = "Save it as text in UTF-8.",
) -> Iterator[str]:
    """The lines of a file in UTF-8 with what ends them, long ones in pieces; a byte order mark is left out.

    Raises: as ``read_named``; for other encodings, and for a zero byte: a file with holes is full of them.
    """
    line = 1
    try:
        with open_regular(path) as file, TextIOWrapper(file, "utf-8-sig", newline="") as text:
            if (size := os.fstat(file.fileno()).st_size) > limit:
                raise TooLarge(size, limit)
            while piece := text.readline(LONGEST_LINE):
                if "\0" in piece:
                    raise raises(f"{show(path)}, line {line}: it has a zero byte.", hint)
                yield piece
                line += piece.count("\n")
    except UnicodeDecodeError as error:
        line += error.object.count(b"\n", 0, error.start)
        raise raises(f"{show(path)}, line {line}: it is not UTF-8.", hint) from error
    except (OSError, ValueError) as error:
        raise raises(_unread(path, error), hint) from error


def _unread(path: Path | str, error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"There is no file {show(path)}."
    return f"{show(path)} cannot be read: {why_unreadable(error)}."


def resolved(folder: Path, name: Path | str) -> Path:
    """The file that a table of a folder names: below that folder, links followed.

    Raises: PermissionError if it is absolute or leads out of the folder; ValueError for a name that no file can have.
    """
    if Path(name).is_absolute() or not inside(folder, folder / name):
        raise PermissionError(errno.EACCES, "it lies outside of its folder")
    return (folder / name).resolve()


def check_most(count: int, most: int, things: str) -> None:
    """Raises: ValueError if a table has more than are read."""
    if count > most:
        raise ValueError(f"it has {count:,} {things}, and at most {most:,} are read")


def why_unreadable(error: OSError | ValueError) -> str:
    """The reason that a file cannot be read, as the end of a sentence."""
    if isinstance(error, NotRegular | IsADirectoryError):
        return "it is a folder, a pipe or a device, not a file"
    if isinstance(error, TooLarge):
        return f"it has {error.size:,} bytes, and at most {error.limit:,} are read"
    text = str(getattr(error, "strerror", None) or error).lower()
    if "embedded null" in text:  # in Python before 3.14
        return "embedded null byte"
    return text


# --- JSON ------------------------------------------------------------------------------------------------------------


def parse_json(text: str | bytes, *, finite: bool = True) -> Any:
    """The value of a JSON text, read strictly.

    finite: NaN, infinities and numbers beyond what a float holds are errors as well, and half of a surrogate pair is
        U+FFFD; False for files of our own.

    Raises: ValueError for what is not JSON in UTF-8, is nested too deeply, or has an object with one key twice.
    """
    if finite and "\\u" in (text := text if isinstance(text, str) else text.decode("utf-8-sig")):
        text = re.sub(_ESCAPES, lambda found: found[1] or r"\ufffd", text)
    hooks: dict[str, Any] = (
        {"parse_constant": _no_number, "parse_float": _float, "parse_int": _int} if finite else {}
    )
    try:
        return json.loads(text, object_pairs_hook=_object, **hooks)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


# What is kept: a backslash that escapes itself, both halves of a surrogate pair; what is not: half of one.
_ESCAPES = r"(?i)(\\\\|\\ud[89ab]..\\ud[c-f]..)|\\ud[89a-f].."


def read_json(path: Path) -> Any:
    """The value of a JSON file of our own of at most 1 GiB, as ``parse_json``.

    Raises: ValueError if it is not JSON, or nested too deeply; OSError, NotRegular and TooLarge among them.
    """
    return parse_json(read_regular(path, LARGEST_TABLE), finite=False)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"an object has the key {twice[:40]!r} twice")
    return mapping


def _no_number(text: str) -> float:
    raise ValueError(f"{text[:20]} is not a number of JSON")


def _float(text: str) -> float:
    value = float(text)
    if abs(value) < float("inf"):
        return value
    return _no_number(text)


def _int(text: str) -> float:
    if len(text) < 300:
        return int(text)
    return _no_number(text)


# --- Names -----------------------------------------------------------------------------------------------------------


def is_file(path: Path) -> bool:
    """Whether there is a file, links followed; a name that no file can have (too long, a zero byte) names none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def inside(folder: Path, path: Path) -> bool:
    """Whether a path leads, links followed, to somewhere below a folder."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # links in a circle, a zero byte
        return False


# --- CSV -------------------------------------------------------------------------------------------------------------


def without_guard(cell: str) -> str:
    """A cell of a CSV that ``csv_bytes`` wrote, without its guard.

    >>> [without_guard(cell) for cell in ("'=a", "''=a", "'tis", "b")]
    ['=a', "'=a", "'tis", 'b']
    """
    if cell.startswith("'") and _is_formula(cell[1:]):
        return cell[1:]
    return cell


def csv_bytes(frame: DataFrame, digits: int | None = None) -> bytes:
    """A table as UTF-8 CSV, without its index, that a spreadsheet shows and does not run.

    A cell of text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return (apostrophes and spaces
    before it count for nothing) gets an apostrophe in front; so do column names. Carriage returns become line feeds.
    digits: after the point, None for all.

    Source: OWASP, CSV Injection.
    """
    plain = frame.copy()
    for column in plain.select_dtypes(exclude="number"):
        plain[column] = plain[column].map(_guarded)
    plain.columns = [_guarded(name) for name in plain.columns]
    number = None if digits is None else f"%.{digits}f"
    text = plain.to_csv(index=False, lineterminator="\n", float_format=number)
    return text.encode("utf-8", "replace")


_FORMULA = r"'*[ \u00a0]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"


def _guarded(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    text = cell.replace("\r\n", "\n").replace(
        "\r", "\n"
    )  # the csv module quotes no bare carriage return
    return f"'{text}" if _is_formula(text) else text


def _is_formula(text: str) -> bool:
    return re.match(_FORMULA, text) is not None
