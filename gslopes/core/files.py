"""Untrusted files: read without blocking, regular files alone, of a bounded size; and CSV that spreadsheets can open.

A name in a folder can be swapped for a pipe, a device or a link into ``/proc`` after the folder was listed, and a file
can claim any size. What is opened is therefore looked at once more, by its handle, before a byte of it is read.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def sha256_of(path: Path) -> str:
    """Of a file's bytes, 64 hex digits.  Raises: OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class NotRegular(OSError):
    """A pipe, a device, a socket or a folder where a file should be."""


class TooLarge(OSError):
    """A file of more bytes than may be read; ``size`` and ``limit`` say how many."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(errno.EFBIG, f"{size:,} bytes, limit {limit:,}")
        self.size, self.limit = size, limit


def read_regular(path: Path | str | bytes, limit: int, magic: tuple[bytes, ...] = ()) -> bytes:
    """The bytes of a regular file, which is opened without blocking and measured before it is read.

    limit: bytes; more is refused unread.
    magic: where it is given, a file that begins with none of these is not read beyond its first 16 bytes, which are
        returned instead.

    Raises: NotRegular, TooLarge, and as ``open``.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise NotRegular(errno.EINVAL, "not a regular file")
        head = file.read(min(16, about.st_size))
        if magic and not head.startswith(magic):
            return head
        if about.st_size > limit:
            raise TooLarge(about.st_size, limit)
        return head + file.read(about.st_size - len(head))  # what grows meanwhile, or has no size (/proc), ends here


def read_json(path: Path) -> Any:
    """The value of a JSON file of at most 1 GiB.

    Raises: ValueError if it is no JSON, or nested too deeply; OSError, NotRegular and TooLarge among them.
    """
    try:
        return json.loads(read_regular(path, 1 << 30))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


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


def without_guard(cell: str) -> str:
    """A cell of a CSV that ``csv_bytes`` wrote, as it was before.

    >>> [without_guard(cell) for cell in ("'=a", "'tis", "b")]
    ['=a', "'tis", 'b']
    """
    return cell[1:] if cell.startswith("'") and _is_formula(cell[1:]) else cell


def csv_bytes(frame: pd.DataFrame, digits: int | None = None) -> bytes:
    """A table as UTF-8 CSV that a spreadsheet shows and does not run.

    A cell of text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return (spaces before it count for
    nothing) gets an apostrophe in front; so do column names. Carriage returns become line feeds; numbers stay.

    frame: any; its index is not written.  digits: after the point, None for all.

    Source: OWASP, CSV Injection.
    """
    plain = frame.copy()
    for column in plain.select_dtypes(exclude="number"):
        cells = plain[column].astype(str)
        broken = cells.str.contains("\r", regex=False).eq(True)  # the csv module quotes no bare carriage return
        if broken.any():
            cells = cells.str.replace("\r\n", "\n", regex=False).str.replace("\r", "\n", regex=False)
            plain[column] = plain[column].astype(object).where(~broken, cells)
        text = plain[column].astype(object).map(lambda cell: isinstance(cell, str)).astype(bool)
        risky = cells.str.match(_FORMULA).eq(True) & text
        if risky.any():
            plain[column] = plain[column].astype(object).where(~risky, "'" + cells)
    plain.columns = [f"'{name}" if _is_formula(name) else name for name in plain.columns]
    number = None if digits is None else f"%.{digits}f"
    return plain.to_csv(index=False, lineterminator="\n", float_format=number).encode("utf-8", "replace")


_FORMULA = r"[ \u00a0]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"


def _is_formula(name: object) -> bool:
    return isinstance(name, str) and name.lstrip(" \u00a0").startswith(tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"))
