r"""Find a secret in a text, in whatever form a server echoes it.

The text is compared as it stands and with its escapes taken out step by step: JSON's (``\/``, ``\u0051``), HTML's,
those of addresses, once or doubly. It is compared without case, accents, blanks, marks and characters that do not
show; forwards and backwards; with the secret itself and with what base64, base32, hex and decimal codes make of it,
once or twice. A part of ``WINDOW`` characters is enough: a server may cut, and so do we.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from itertools import pairwise
from typing import NamedTuple

WINDOW = 8  # characters
_ROUNDS = 4  # of taking escapes out
_TWICE = 100  # bytes; longer secrets are looked for in one encoding at a time
_ESCAPE = re.compile(
    r"(?is)(?:\\u\{|&\#x)(?P<long>[0-9a-f]{1,6})[};]?|(?:\\u|%u|u\+)(?P<four>[0-9a-f]{4})|"
    r"(?:\\x|%|\b0x)(?P<two>[0-9a-f]{2})|\\(?P<eight>[0-7]{3})|&\#(?P<ten>[0-9]{1,7});?|"
    r"(?P<name>&[a-z][a-z0-9]{1,31};)|\\(?P<one>.)|</?[a-z][^<>&%+\\]{0,200}>"
)
_PLACE = re.compile(r"(?:~|\.{1,2})?/[\w. -]+/|[a-z][a-z0-9+.-]*://", re.IGNORECASE)  # a path or an address


class Known(NamedTuple):
    """What to look for: parts of one length, and texts that count as a whole, both as ``_plain`` makes them."""

    width: int
    parts: frozenset[str]
    wholes: tuple[str, ...]


def find_echoes(text: str, secrets: frozenset[str], width: int = WINDOW) -> list[tuple[int, int]]:
    """Where in the text a secret stands: [start, end) of each stretch, in order, none touching another.

    width: characters, a part that is enough. Addresses and paths among the secrets, and what is shorter, count as a
        whole.

    >>> find_echoes("for S 3 C R 3 T - k 3 y it is", frozenset({"s3cr3t-k3y"}))
    [(4, 23)]
    """
    known = known_forms(secrets, width)
    found: set[int] = set()
    for view, starts in _views(text):
        for loose in (False, True):
            table = _LOOSE if loose else _TIGHT
            for first, last in _hits(_plain(view, table), known[loose]) if any(known[loose][1:]) else ():
                at = [place for place, char in enumerate(view) for _ in char.translate(table)]
                found.update(range(starts[at[first]], starts[at[last - 1] + 1]))
    places = sorted(found)
    cuts = [0, *(n + 1 for n, (one, other) in enumerate(pairwise(places)) if other > one + 1), len(places)]
    return [(places[a], places[b - 1] + 1) for a, b in pairwise(cuts)] if places else []


def _plain(text: str, table: _Folded) -> str:
    """The text as it is compared; plain ASCII, a hundred times as frequent, in a tenth of the time."""
    if table is _TIGHT and text.isascii():
        return text.lower().encode().translate(None, _MARKS).decode()
    return text.translate(table)


def _hits(plain: str, known: Known) -> Iterator[tuple[int, int]]:
    """Where in a plain text something known stands."""
    width = known.width
    if known.parts:
        for at in range(len(plain) - width + 1):
            if plain[at : at + width] in known.parts:
                yield at, at + width
    for whole in known.wholes:
        at = plain.find(whole)
        while at >= 0:
            yield at, at + len(whole)
            at = plain.find(whole, at + 1)


# -- the text ----------------------------------------------------------------------------------------------------------


def _views(text: str) -> Iterator[tuple[str, list[int] | range]]:
    """The text, then with its escapes taken out once, twice and so on; where each character began, and the end."""
    view: str = text
    starts: list[int] | range = range(len(text) + 1)
    for _ in range(_ROUNDS):
        yield view, starts
        parts: list[str] = []
        places: list[int] = []
        done = 0
        for match in _ESCAPE.finditer(view):
            char = _unescaped(match)
            parts += (view[done : match.start()], char)
            places += (*starts[done : match.start()], *[starts[match.start()]] * len(char))
            done = match.end()
        if not done:
            return
        view, starts = "".join([*parts, view[done:]]), [*places, *starts[done:]]


def _unescaped(match: re.Match[str]) -> str:
    kind, value = match.lastgroup, match[match.lastgroup or 0]
    if kind in ("long", "four", "two", "eight", "ten"):
        code = int(value, {"eight": 8, "ten": 10}.get(kind, 16))
        return chr(code) if code < 0x110000 else ""
    if kind == "name":
        return unescape(value)
    return "" if kind is None or value in "nrtbf0" else value


class _Folded(dict[int, str]):
    """What characters are compared as.  loose: with marks, for secrets that consist of them."""

    def __init__(self, loose: bool) -> None:
        super().__init__()
        self._loose = loose

    def __missing__(self, code: int) -> str:
        folded = unicodedata.normalize("NFKD", chr(code)).casefold()
        self[code] = "".join(char for char in folded if char.isalnum() or (self._loose and _shows(char)))
        return self[code]


def _shows(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS"


_TIGHT, _LOOSE = _Folded(loose=False), _Folded(loose=True)
_MARKS = bytes(code for code in range(128) if not chr(code).isalnum())


# -- the secrets -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def known_forms(secrets: frozenset[str], width: int) -> tuple[Known, Known]:
    """What to look for in a text without marks, and in one with them."""
    parts: tuple[set[str], set[str]] = (set(), set())
    wholes: tuple[set[str], set[str]] = (set(), set())
    for secret in secrets:
        entire = bool(_PLACE.match(secret))
        for loose, form in _forms(secret):
            for text in (form, form[::-1]):
                if not entire and len(text) >= width:
                    parts[loose].update(text[at : at + width] for at in range(len(text) - width + 1))
                elif len(text) >= WINDOW:
                    wholes[loose].add(text)
    tight, marked = (Known(width, frozenset(parts[n]), tuple(sorted(wholes[n]))) for n in (False, True))
    return tight, marked


def _forms(secret: str) -> Iterator[tuple[bool, str]]:
    """The forms of a secret as they are compared, each with whether marks count in it."""
    data = secret.encode("utf-8", "surrogateescape")
    plain, marked = secret.translate(_TIGHT), secret.translate(_LOOSE)
    if len(plain) < max(WINDOW, 0.75 * len(marked)):
        yield True, marked
    else:
        yield False, plain
        for text in (secret, secret[::-1]):  # as bytes that were taken for characters
            yield False, text.encode("utf-8", "surrogateescape").decode("latin-1").translate(_TIGHT)
    once = _encoded(data) | _encoded(data[::-1])
    twice = {form for one in _encoded(data) for form in _encoded(one.encode())} if len(data) <= _TWICE else set()
    for form in once | twice:
        yield False, form.translate(_TIGHT)


def _encoded(data: bytes) -> set[str]:
    """Base64 and base32 at every place within a longer text, hex and decimal codes."""
    found = {data.hex(), data.hex().upper(), "".join(map(str, data))}
    for encode, bits, group in ((base64.b64encode, 6, 3), (base64.urlsafe_b64encode, 6, 3), (base64.b32encode, 5, 5)):
        for before in range(group):  # bytes of another text: the characters that hold bits of it are left out
            whole = encode(b"\0" * before + data).decode()
            found.add(whole[-(-before * 8 // bits) : (before + len(data)) * 8 // bits])
    return found
