"""Why a photo was skipped, or its sweep dropped: a fixed word, and what is particular to that photo beside it.

Tables have both as two columns, ``reason`` and ``detail``: rows are counted by the one and explained by the other.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Reason(StrEnum):
    """The column ``reason`` of the tables photos and verdicts; its values are what people read."""

    NONE = ""

    # of photos; those that begin with UNREADABLE are errors of the file
    EMPTY_FILE = "unreadable: empty file"
    NOT_A_PICTURE = "unreadable: not a picture"
    TRUNCATED = "unreadable: truncated"
    DAMAGED = "unreadable: damaged"
    TOO_LARGE = "unreadable: too large"
    PERMISSION_DENIED = "unreadable: permission denied"
    NOT_A_FILE = "unreadable: not a file"
    BROKEN_LINK = "unreadable: a broken link"
    GONE = "unreadable: gone"
    DISK_ERROR = "unreadable: disk error"
    UNREADABLE = "unreadable"
    DUPLICATE = "same bytes as another photo"
    NO_FACE = "no face found"
    FACE_TOO_SMALL = "face too small"
    FACE_NOT_ALIGNED = "face cannot be aligned"
    NO_FACE_REGION = "face region not found"

    # of photos in the context audit
    UNKNOWN_PERSON = "people.csv says nothing about it"
    CUTOUT_FLAGGED = "cut-out flagged"
    CUTOUT_EXCLUDED = "cut-out excluded by review"
    DOES_NOT_FIT = "does not fit the canvas"

    # of sweeps
    FACE_LOST = "face not found again"
    MASK_TOO_SMALL = "mask too small for the face"
    MASK_TOO_LARGE = "mask too large for the face"
    TOO_LITTLE_CHANGE = "hardly any pixel changes"
    TOO_MUCH_CHANGE = "the pixels change too much"
    READING_DOES_NOT_FOLLOW = "the reading does not follow the edit"
    READING_NOT_STEADY = "the reading does not rise steadily"
    GENDER_MOVES = "the reading of gender moves too"
    RACE_MOVES = "the reading of race moves too"
    YOUNG_MOVES = "the reading of young moves too"
    SMILING_MOVES = "the reading of smiling moves too"


VALUES = frozenset(reason.value for reason in Reason)


class Why(str):
    """A reason with its detail; as text, the one with the other in parentheses.

    >>> Why(Reason.FACE_TOO_SMALL, "25 px, at least 32 wanted")
    'face too small (25 px, at least 32 wanted)'
    """

    reason: Reason
    detail: str

    def __new__(cls, reason: Reason = Reason.NONE, detail: str = "") -> Self:
        """No reason is the empty text."""
        why = super().__new__(cls, explained(reason, detail))
        why.reason, why.detail = reason, detail
        return why

    def __getnewargs__(self) -> tuple[Reason, str]:  # type: ignore[override]
        """Pickled in its two parts: errors that carry one come home from workers."""
        return self.reason, self.detail

    @property
    def columns(self) -> dict[str, str]:
        """The two columns of a table."""
        return {"reason": self.reason.value, "detail": self.detail}


def explained(reason: str, detail: str) -> str:
    """Both columns as one text."""
    return f"{reason} ({detail})" if detail else str(reason)


def split_prose(text: str) -> tuple[str, str]:
    """(reason, detail) of one text that held both, as tables had it up to version 0.1; unknown ones stay as they are.

    >>> split_prose("same bytes as people/1.jpg")
    ('same bytes as another photo', 'people/1.jpg')
    """
    if text in VALUES:
        return text, ""
    for start, reason in (("same bytes as ", Reason.DUPLICATE), ("unreadable: the disk says: ", Reason.DISK_ERROR)):
        if text.startswith(start):
            return reason.value, text.removeprefix(start)
    known, parenthesis, detail = text.partition(" (")
    if known in VALUES and parenthesis and detail.endswith(")"):
        return known, detail[:-1]
    start = f"{Reason.UNREADABLE}: "
    if text.startswith(start):
        return Reason.UNREADABLE.value, text.removeprefix(start)
    return text, ""
