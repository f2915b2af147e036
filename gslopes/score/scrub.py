"""Take credentials out of text before it reaches a table, a log or the terminal."""

from __future__ import annotations

import json
import logging
import re
from typing import Any

from gslopes.core.echoes import WINDOW, find_echoes
from gslopes.core.errors import GslopesError
from gslopes.core.secrets import MIN_LENGTH, SHAPE, WORD, secret_values
from gslopes.core.text import printable, printable_lines

LIMIT = 300  # characters of a reason; the rest of a long message (a request's body, say) is of no use in a table

_MOST = 1 << 20  # characters of a message that are looked at
_IN_ANSWERS = 12  # characters of a secret that are enough in an answer, where words in common are likelier
_HIDDEN = "***"
_REMEMBERED: set[str] = set()
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    # An Authorization header is secret to the end of its line or quote: some schemes hold several commas.
    (re.compile(r"(?i)((?:proxy-)?authorization[\"']?\s*[:=]\s*)[\"']?[^\"'\r\n}]+"), rf"\1{_HIDDEN}"),
    (re.compile(r"(?i)\b((?:set-)?cookie[\"']?\s*[:=]\s*)[\"']?[^\"'\r\n}]+"), rf"\1{_HIDDEN}"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{4,}"), rf"\1 {_HIDDEN}"),
    (
        re.compile(rf"(?i)((?:{WORD})[\"']?\s{{0,9}}(?:[:=]|=>)\s*)(\"[^\"]*\"|'[^']*'|[^\s,;&\"'<>)}}\]]+)"),
        rf"\1{_HIDDEN}",
    ),
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]{0,30}://)[^/\s@]+@"), rf"\1{_HIDDEN}@"),
    # Keys that are known by their shape, and private key blocks.
    (re.compile(SHAPE), _HIDDEN),
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), _HIDDEN),
)
_HEADER = re.compile(
    r"(?i)(?:proxy-)?authorization|(?:set-)?cookie|x-amz-[\w-]+|ocp-apim-subscription-key|x-api-key|api[_-]key"
)
_SUSPECT = re.compile(rf'"(?:{_HEADER.pattern[4:]})"\s*:', re.IGNORECASE)
_MILD = (*_RULES[:3], *_RULES[4:])  # without parameters named like a secret: labels may be called so


def scrub(text: str) -> str:
    """One line of at most ``LIMIT`` characters, without credentials and without control characters.

    Removed are headers and parameters that are named like a secret, keys of a known shape, user information in
    addresses, and the value of every environment variable that is named like a secret, however it is encoded: see
    ``core.echoes``. It is searched before it is cut.

    >>> scrub("401 for https://host/tag?key=abc&size=2")
    '401 for https://host/tag?key=***&size=2'
    """
    text = re.sub(r"\s+", lambda blank: "\n" if "\n" in blank[0] else " ", text[:_MOST])[: 20 * LIMIT]
    text = " ".join(scrub_text(text).split()).encode("utf-8", "replace").decode("utf-8")
    text = printable(text[: LIMIT + 1])
    return text if len(text) <= LIMIT else text[: LIMIT - 1] + "…"


def scrub_text(text: str) -> str:
    """The text in its own lines and whole length, without credentials; removed is what ``scrub`` removes."""
    text = _without(text, _secrets())
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


def _without(text: str, secrets: frozenset[str], width: int = WINDOW) -> str:
    """The text without these secrets.  width: characters of one that are enough."""
    for start, end in reversed(find_echoes(text, secrets, width)) if secrets else ():
        text = text[:start] + _HIDDEN + text[end:]
    return text


def scrub_error(error: GslopesError) -> GslopesError:
    """The same error, its texts without credentials."""
    error.message, error.hint = scrub_text(error.message), scrub_text(error.hint)
    error.args = (error.message,)
    return error


def scrub_json(value: object) -> object:
    """A JSON value without credentials: what was named like a header, and every known secret wherever it stands.

    Milder than ``scrub``: a label may be called "Secret: garden" and must come back as it is.
    """
    known, text = _secrets(), json.dumps(value, ensure_ascii=False)
    harmless = not known or not find_echoes(text, known, _IN_ANSWERS)
    if harmless and not _SUSPECT.search(text) and not any(pattern.search(text) for pattern, _ in _MILD):
        return value  # nearly always, and a hundred times faster than every string on its own
    return _scrubbed(value, known)


def _scrubbed(value: object, known: frozenset[str]) -> object:
    if isinstance(value, dict):
        return {
            _scrubbed(key, known): _HIDDEN if _HEADER.fullmatch(str(key)) else _scrubbed(item, known)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_scrubbed(item, known) for item in value]
    if isinstance(value, str):
        value = _without(value, known, _IN_ANSWERS)
        for pattern, replacement in _MILD:
            value = pattern.sub(replacement, value)
    return value


def guard_logs() -> None:
    """Take credentials out of every log record of this process, whatever library writes it; harmless if repeated."""
    make = logging.getLogRecordFactory()
    if getattr(make, "guards_secrets", False):
        return

    def guarded(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        try:
            record.msg, record.args = printable_lines(scrub_text(record.getMessage())), ()
        except Exception:  # a wrong format string is the logger's business
            record.msg, record.args = scrub_text(str(record.msg)), ()
        if record.exc_info:
            record.exc_text = scrub_text(logging.Formatter().formatException(record.exc_info))
        return record

    guarded.guards_secrets = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(guarded)


def remember_secret(value: str) -> None:
    """Have this value taken out of every text from now on: for secrets that come from a vendor's own file.

    It is kept in this process's memory only. Values of fewer than 8 characters are no secrets.
    """
    if len(value) >= MIN_LENGTH:
        _REMEMBERED.add(value)


def _secrets() -> frozenset[str]:
    return frozenset(secret_values() | _REMEMBERED)
