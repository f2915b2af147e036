"""Why something is missing: a photo skipped, a sweep dropped, a picture refused, a download that came to nothing.

A reason is one of a fixed list, and a detail holds what is particular to the row. Tables have both as two columns,
``reason`` and ``detail``: rows are counted by the one and explained by the other.
"""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from gslopes.core.text import printable


class Reason(StrEnum):
    """The column ``reason`` of the tables that have a ``detail`` next to it; its values are what people read."""

    NONE = ""

    # of photos; those that begin with UNREADABLE are errors of the file
    EMPTY_FILE = "unreadable: empty file"
    NOT_A_PICTURE = "unreadable: not a picture"
    UNREAD_KIND = "unreadable: a kind of picture that is not read"
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
    FACE_NOT_UPRIGHT = "face not upright"
    FACE_NOT_ALIGNED = "face cannot be aligned"
    NO_FACE_REGION = "face region not found"
    VALUES_MISSING = "lacks values"
    SIZES_DIFFER = "its pictures differ in size"

    # of photos in the context audit
    UNKNOWN_PERSON = "people.csv says nothing about it"
    CUTOUT_FLAGGED = "cut-out flagged"
    CUTOUT_EXCLUDED = "cut-out excluded by review"
    DOES_NOT_FIT = "does not fit the canvas"
    NO_ALPHA = "no alpha channel"
    SHORTER_SIDE = "shorter side too small"
    FACE_IN_BACKGROUND = "a face was found in it"

    # of pictures that a cropper was asked about
    NOTHING_SALIENT = "nothing salient"

    # of captions
    NO_TEXT = "no text"
    NOT_A_TEXT = "not a text"
    CUT_FOR_PARSING = "cut for parsing"

    # of pictures that an editor gave
    EDITOR_REFUSED = "the editor refused"
    EDITOR_FAILED = "the editor failed"
    WRONG_SIZE = "the editor gave another size"
    MIRRORED = "the editor mirrored it"
    MOVED = "the editor moved the face"

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
    IDENTITY_GONE = "another person"
    SMILING_MOVES = "the reading of smiling moves too"

    # of questions to a classifier; the first two are of downloads as well, if nothing more is known
    REFUSED = "refused"
    FAILED = "failed"
    INVALID_ANSWER = "not a valid answer"
    NOT_FINITE = "the model's output is not a finite number"
    NO_CAPTION = "the captioner gave no caption"
    UNAVAILABLE = "the classifier was not available"
    PICTURE_UNREADABLE = "the edited photo cannot be read"
    PICTURE_CHANGED = "the edited photo changed while it was asked about"

    # of downloads
    HTTP_ERROR = "HTTP error"
    NO_CONNECTION = "no connection"
    CONNECTION_BROKE = "the connection broke"
    NO_ANSWER = "no answer in time"
    TOO_SLOW = "not finished in time"
    CUT_SHORT = "cut short"
    TOO_MANY_REDIRECTS = "too many redirects"
    FILE_TOO_LARGE = "file too large"
    COMPRESSED = "compressed, though we asked for it not to be"
    INVALID_ADDRESS = "not a valid address"
    PRIVATE_ADDRESS = "its address is private, loopback or link-local"
    CANNOT_BE_REQUESTED = "cannot be requested"
    ROBOTS_FORBIDS = "its robots.txt does not allow it"
    ROBOTS_UNREADABLE = "its robots.txt cannot be read"
    ROBOTS_UNAVAILABLE = "its robots.txt cannot be fetched"
    NOT_SENT_AS_PICTURE = "not sent as a picture"
    UNKNOWN_FORMAT = "not a JPEG, PNG, WebP, BMP or TIFF file"
    TOO_SMALL = "too small"


VALUES = frozenset(reason.value for reason in Reason)

_PICTURE = "the edited photo "
_OF_STATUS = {"refused": Reason.REFUSED, "failed": Reason.FAILED, "flagged": Reason.CUTOUT_FLAGGED}


class SkipReason(str):
    """A reason with its detail; as text, the one with the other in parentheses.

    >>> SkipReason(Reason.FACE_TOO_SMALL, "25 px, at least 32 wanted")
    'face too small (25 px, at least 32 wanted)'
    """

    reason: Reason
    detail: str

    def __new__(cls, reason: Reason = Reason.NONE, detail: str = "") -> Self:
        """No reason is the empty text; the detail becomes one line that is safe to print."""
        detail = printable(detail)
        why = super().__new__(cls, explained(reason, detail))
        why.reason = reason
        why.detail = detail
        return why

    @classmethod
    def of(cls, text: str, status: str = "") -> Self:
        """The two parts of a text: of a SkipReason as it has them, of any other what ``split_prose`` finds."""
        if isinstance(text, cls):
            return text
        reason, detail = split_prose(text, status)
        if reason in VALUES:
            return cls(Reason(reason), detail)
        return cls(Reason.FAILED, text)

    def __getnewargs__(self) -> tuple[Reason, str]:  # type: ignore[override]
        """Pickled in its two parts: errors that carry one come home from workers."""
        return self.reason, self.detail

    @property
    def columns(self) -> dict[str, str]:
        """The two columns of a table."""
        return {"reason": self.reason.value, "detail": self.detail}


def explained(reason: str, detail: str) -> str:
    """Both columns as one text."""
    if detail:
        return f"{reason} ({detail})"
    return str(reason)


def listed(reasons: Iterable[str], details: Iterable[str]) -> Counter[str]:
    """How many rows have each reason, as it is listed: with the detail if that names kind and remedy.

    >>> listed(["unreadable: a kind of picture that is not read", "face too small"], ["JPEG XL", "12 px"])
    Counter({'unreadable: a kind of picture that is not read (JPEG XL)': 1, 'face too small': 1})
    """
    return Counter(
        explained(reason, detail if reason == Reason.UNREAD_KIND else "")
        for reason, detail in zip(reasons, details, strict=True)
    )


def counted(reasons: Iterable[str], details: Iterable[str], most: int = 3) -> str:
    """The most frequent of some rows' reasons; each with its count, if there are several.

    The detail counts if the reason tells nothing.

    >>> counted(["no face found", "refused", "no face found"], ["12 px", "policy", "9 px"])
    'no face found (2), policy (1)'
    >>> counted(["refused"], [""])
    'no reason given'
    """
    bare = (Reason.REFUSED, Reason.FAILED)
    counts = Counter(
        reason if reason not in ("", *bare) else detail or "no reason given"
        for reason, detail in zip(reasons, details, strict=True)
    )
    if len(counts) == 1:
        return printable(next(iter(counts)))
    order = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    first = [f"{printable(text)} ({count:,})" for text, count in order[:most]]
    others = sum(count for _, count in order[most:])
    if others:
        first.append(f"other reasons ({others:,})")
    return ", ".join(first)


def split_prose(text: str, status: str = "") -> tuple[str, str]:
    """(reason, detail) of one text that may hold both, as a classifier or an error gives it.

    status: of its row; a text that is not a reason is a detail of it.

    >>> split_prose("face too small (25 px)"), split_prose("against the content policy", "refused")
    (('face too small', '25 px'), ('refused', 'against the content policy'))
    """
    if text in VALUES:
        return text, ""
    reason, parenthesis, detail = text.partition(" (")
    if reason in VALUES and parenthesis and detail.endswith(")"):
        return reason, detail[:-1]
    if text.startswith(_PICTURE):
        return Reason.PICTURE_UNREADABLE.value, text.removeprefix(_PICTURE)
    if status in _OF_STATUS:
        return _OF_STATUS[status].value, text
    return text, ""


def dropped(reasons: Iterable[str]) -> dict[str, int]:
    """Reason to how many sweeps were dropped for it, the most frequent first; those that were kept have none.

    >>> dropped(["", "the face is lost", ""])
    {'the face is lost': 1}
    """
    return dict(Counter(filter(None, reasons)).most_common())
