"""Take credentials out of text before it reaches a table, a log or the terminal."""

from __future__ import annotations

import base64
import functools
import json
import logging
import re
from typing import Any
from urllib.parse import quote, quote_plus

from gslopes.core.secrets import MIN_LENGTH, SHAPE, WORD, secret_values

LIMIT = 300  # characters of a reason; the rest of a long message (a request's body, say) is of no use in a table

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
    """One line of at most ``LIMIT`` characters without credentials.

    Removed are headers and parameters that are named like a secret, keys of a known shape, user information in
    addresses, and the value of every environment variable that is named like a secret.

    >>> scrub("401 for https://host/tag?key=abc&size=2")
    '401 for https://host/tag?key=***&size=2'
    """
    text = " ".join(scrub_text(text).split()).encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= LIMIT else text[: LIMIT - 1] + "…"


def scrub_text(text: str) -> str:
    """The text in its own lines and whole length, without credentials; removed is what ``scrub`` removes."""
    for value in _secrets():
        text = text.replace(value, _HIDDEN)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


def scrub_json(value: object) -> object:
    """A JSON value without credentials: what was named like a header, and every known secret wherever it stands.

    Milder than ``scrub``: a label may be called "Secret: garden" and must come back as it is.
    """
    known, text = _secrets(), json.dumps(value, ensure_ascii=False)
    harmless = not any(secret in text or json.dumps(secret)[1:-1] in text for secret in known)
    if harmless and not _SUSPECT.search(text) and not any(pattern.search(text) for pattern, _ in _MILD):
        return value  # nearly always, and a hundred times faster than every string on its own
    return _scrubbed(value, known)


def _scrubbed(value: object, known: list[str]) -> object:
    if isinstance(value, dict):
        return {
            _scrubbed(key, known): _HIDDEN if _HEADER.fullmatch(str(key)) else _scrubbed(item, known)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_scrubbed(item, known) for item in value]
    if isinstance(value, str):
        for secret in known:
            value = value.replace(secret, _HIDDEN)
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
            record.msg, record.args = scrub_text(record.getMessage()), ()
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


def _secrets() -> list[str]:
    """Longest first, so that a secret inside another leaves nothing; each in every form that a server may echo."""
    return _forms(frozenset(secret_values() | _REMEMBERED))


@functools.lru_cache(maxsize=8)
def _forms(secrets: frozenset[str]) -> list[str]:
    found: set[str] = set()
    for secret in secrets:
        data = secret.encode("utf-8", "surrogateescape")
        forms = {
            secret,
            quote(data, safe=""),
            quote(data, safe="").lower(),
            quote_plus(data),
            data.hex(),
            data.hex().upper(),
        }
        for before, lost in ((0, 0), (1, 2), (2, 3)):  # within a longer base64 text, such as user:password
            whole = base64.b64encode(b"\0" * before + data).decode()[lost:]
            sure = whole[: (before + len(data)) * 8 // 6 - lost]
            forms |= {sure, sure.translate(_URL_SAFE)}
        found |= {form for form in forms if len(form) >= MIN_LENGTH}
    return sorted(found, key=len, reverse=True)


_URL_SAFE = str.maketrans("+/", "-_")
