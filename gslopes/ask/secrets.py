"""Keys: what they look like, how they hide in addresses, and how they are taken out of every text that we keep.

A secret is the value of an environment variable with a telling name, the user part of a proxy's address in one, or what
comes by ``remember_secret``. It is found as it is, percent-encoded and base64-encoded once; user names in addresses and
six shapes of keys are found without it.
What is not covered is in SECURITY.md: a server that already has the key, and disguises it.
"""

import base64
import json
import logging
import os
import re
from functools import cache, lru_cache
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from gslopes.core import GslopesError, hexdigest, printable, printable_lines

LIMIT = 300  # characters of a reason; the rest of a long message, such as a request's body, is of no use in a table
MIN_LENGTH = 8  # characters of a secret

_HIDDEN = "***"
_MOST = 20 * LIMIT  # characters of a message that are looked at,
_LONGEST = 4096  # and of a secret: one that begins before the cut is seen whole
_REMEMBERED: set[str] = set()
_VARIABLE = re.compile(
    r"(?i)(?:^|_)(?:keys?|secret|token|pat|password|passwd|credentials?|auth)(?:_|$)|apikey"
)
_PROXY = re.compile(r"(?i)_proxy\Z")
# How parameters of addresses are named that hold a secret, or how their names end.
_NAMED = re.compile(
    r"(?i)(?:(?:api[_-]?key|access[_-]?key(?:[_-]?id)?|subscription-key|secret|token|passwo?r?d|passwd|signature|"
    r"credential|x-amz-[\w-]{1,60}|session[_-]?id)[\w-]{0,60}|(?<![a-z0-9])(?:key|sig|pat|pwd|auth)|\bcode)\Z"
)
# Words, also joined by capitals, and numbers: with signs between them no key.
_WORDS = r"(?:[A-Z]?[a-z]{2,15}(?:[A-Z][a-z]{2,15})*|[a-z]|[A-Z]{1,15}|v?\d{1,8})"
_PLAIN = re.compile(rf"{_WORDS}(?:[-_. /]{_WORDS})*\Z")
# Six shapes: Amazon's, Google's keys and tokens, JSON web tokens, keys with a prefix (OpenAI, GitHub …), private keys.
_SHAPED = re.compile(
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]+|\beyJ[\w-]{8,4000}\.[\w.-]+|"
    rf"\b(?:sk|pk|rk|ghp|gho|xox[abp]|hf|glpat)(?!(?:[-_]{_WORDS})+(?![\w-]))[-_][A-Za-z0-9_-]{{16,}}|"
    r"(?s:-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z))"
)
# A PNG, JPEG or WebP file in base64: as long as books, and what looks like a key in it is chance.
PICTURE = re.compile(r"(?:iVBORw0KGgo|/9j/|UklGR)[A-Za-z0-9+/]{40,}={0,2}")
_USER = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{0,30}://)[^/\s@]+@")
_ADDRESS = re.compile(r"(?i)\A(?:[a-z][a-z0-9+.-]*:)?//")
_PLACEHOLDERS = re.compile(
    r"(?:[a-z_]{1,20}=)?\{(?:ratio|width|height|attribute|value|text|seed|draw)\}&?"
)  # of an address of a cropper or an editor
_URL_SAFE = str.maketrans("+/", "-_")  # from base64 to its form in addresses
_CHANGE = re.compile(r"[0-9](?=[A-Za-z])|[A-Za-z](?=[0-9])|[a-z](?=[A-Z])")
_RUN = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4,12}){3,}|[A-Za-z0-9]{8,}")


# -- what is secret ----------------------------------------------------------------------------------------------------


def secret_values() -> set[str]:
    """The values of the environment variables that are named like a secret."""
    values = []
    for name in filter(_is_telling, os.environ):  # it is asked for each answer
        value = os.environ.get(name, "")
        if _PROXY.search(name):
            values += _of_user(value.rpartition("@")[0].rpartition("://")[2])
        if _VARIABLE.search(name):
            values.append(value)
    return {value for value in values if len(value) >= MIN_LENGTH}


@cache
def _is_telling(name: str) -> bool:
    return bool(_VARIABLE.search(name) or _PROXY.search(name))


def _of_user(user: str) -> list[str]:
    """The secrets in the user part of an address: each alone, both together, and as they are sent, in base64."""
    if not user:
        return []
    text = unquote(user)
    return [*text.split(":", 1), text, base64.b64encode(text.encode()).decode()]


def remember_secret(value: str) -> None:
    """Have this value taken out of every text from now on: for secrets that come from a vendor's own file.

    It is kept in this process's memory only. Values of fewer than 8 characters do not count.
    """
    if len(value) >= MIN_LENGTH:
        _REMEMBERED.add(value)


@lru_cache(maxsize=8)
def _pattern(secrets: frozenset[str]) -> re.Pattern[str]:
    """What finds each secret: plain, in JSON, as Python writes bytes, percent-encoded, in base64 of a longer text."""
    forms = set()
    for secret in secrets:
        data = secret.encode("utf-8", "surrogateescape")
        forms |= {secret, quote(data, safe=""), quote(data), quote_plus(data), str(data)[2:-1]}
        forms |= {json.dumps(secret, ensure_ascii=plain)[1:-1] for plain in (True, False)}
        # bytes of another text, such as user:, may precede it; characters with bits of it are left out
        for before in range(3):
            text = base64.b64encode(b"\0" * before + data).decode()
            text = text[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
            forms |= {text, text.translate(_URL_SAFE)}
    long = [form for form in forms if len(form) >= MIN_LENGTH]
    longest_first = map(re.escape, sorted(long, key=len, reverse=True))
    return re.compile("|".join(longest_first), re.IGNORECASE)


# -- taking it out of texts --------------------------------------------------------------------------------------------


def scrub(text: str) -> str:
    """One line of at most ``LIMIT`` characters, without credentials and without control characters.

    It is searched before it is cut.

    >>> scrub("401 for https://me:word@host/tag?size=2")
    '401 for https://***@host/tag?size=2'
    """
    text = scrub_text(text[: _MOST + _LONGEST])[:_MOST]
    text = printable(" ".join(text.split()).encode("utf-8", "replace").decode("utf-8")[: LIMIT + 1])
    if len(text) <= LIMIT:
        return text
    return text[: LIMIT - 1] + "…"


def scrub_text(text: str) -> str:
    """The text, its lines kept, without known secrets, keys of a known shape, users in addresses."""
    if secrets := frozenset(secret_values() | _REMEMBERED):
        text = _pattern(secrets).sub(_HIDDEN, text)
    return _SHAPED.sub(_HIDDEN, _USER.sub(rf"\1{_HIDDEN}@", text))


def scrub_error(error: GslopesError) -> GslopesError:
    """The same error, its texts without credentials."""
    error.message = scrub_text(error.message)
    error.hint = scrub_text(error.hint)
    error.args = (error.message,)
    return error


def scrub_json(value: object) -> object:
    """A JSON value without credentials in its texts; pictures in base64 stay as they are, and what is not JSON."""
    try:
        text = _json(value)
    except (TypeError, ValueError):
        return value
    return value if _is_clean(text) else _scrubbed(value)


def scrub_json_text(value: object) -> str:
    """The JSON of what ``scrub_json`` gives.  Raises: TypeError, ValueError for what JSON cannot hold."""
    text = _json(value)
    return text if _is_clean(text) else _json(_scrubbed(value))


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _is_clean(text: str) -> bool:
    text = PICTURE.sub("", text)
    return scrub_text(text) == text


def _scrubbed(value: object) -> object:
    if isinstance(value, dict):
        return {_scrubbed(key): _scrubbed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_scrubbed(item) for item in value]
    if isinstance(value, str) and not PICTURE.fullmatch(value):
        return scrub_text(value)
    return value


def guard_logs() -> None:
    """Take credentials out of every log record of this process, whatever library writes it; harmless if repeated."""
    make = logging.getLogRecordFactory()
    if getattr(make, "guards_secrets", False):
        return

    def guarded(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        try:
            record.msg = printable_lines(scrub_text(record.getMessage()))
        except Exception:  # a wrong format string is the logger's business
            record.msg = scrub_text(str(record.msg))
        record.args = ()
        if record.exc_info:
            record.exc_text = scrub_text(logging.Formatter().formatException(record.exc_info))
        return record

    guarded.guards_secrets = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(guarded)


# -- addresses ---------------------------------------------------------------------------------------------------------


def secret_in_address(text: str, *, public: bool = False) -> str:
    """What in an address is or may be a secret, in words that do not repeat it; empty if nothing is.

    public: whether the user declares it free of secrets. Then it may have parameters, and parts that look random;
        user names, values of variables that are named like a secret, and keys of a known shape may still not.

    >>> secret_in_address("https://host/v1/tag?api_key=abc", public=True)
    'a key in its parameter api_key'
    >>> secret_in_address("https://host/v1/tag?size=2")
    'parameters, which may be a key'
    >>> secret_in_address("https://host/v1/tag?size=2", public=True)
    ''
    """
    if not _ADDRESS.match(text):
        return ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    if "@" in parts.netloc:
        return "a user name or a password"
    for name, value in parse_qsl(
        f"{parts.query}&{parts.fragment}", keep_blank_values=True, separator="&"
    ):
        if (value and _NAMED.search(name)) or is_secret(value):
            return f"a key in its parameter {name[:40]}"
    if is_secret(unquote(parts.path)):
        return "a key in its path"
    if public:
        return ""
    if _PLACEHOLDERS.sub("", parts.query) or parts.fragment or ";" in parts.path:
        return "parameters, which may be a key"
    if looks_random(parts.path):
        return "a part that looks random, which may be a key"
    return ""


def looks_random(path: str) -> bool:
    """Whether a part of a path may be a key: letters, digits and cases that take turns; many digits; a UUID.

    >>> [looks_random(word) for word in ("llama-3.1-8b", "predictImageLabelsV2", "a8Kd02mVxq71Lk9Z")]
    [False, False, True]
    """
    for run in _RUN.findall(_PLACEHOLDERS.sub("", unquote(path))):
        if run.isdigit():
            if len(run) > 8:  # a date has 8
                return True
        elif "-" in run or len(_CHANGE.findall(run)) * (5 if len(run) >= 16 else 2) > len(run):
            return True
    return False


def shown_address(url: str) -> str:
    """An address from a variable as it may be stored: what may be secret in it is hidden.

    Two addresses that differ there still differ, by 16 bits of a digest.

    >>> shown_address("https://host.example/v1"), shown_address("https://host.example/hook/a8Kd02mVxq71Lk9Z?x=1")
    ('https://host.example/v1', 'https://host.example/hook/*** 023b')
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return _HIDDEN
    segments = parts.path.partition(";")[0].split("/")
    path = "/".join(_HIDDEN if _may_be_key(segment) else segment for segment in segments)
    address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{path}"
    if address == url:
        return address
    return f"{address} {hexdigest(url)[:4]}"


def secrets_within(url: str) -> list[str]:
    """What may be secret in an address that is one as a whole: user, password, values, segments of its path.

    Segments with a digit, those that look random or like a key, as written and percent-decoded. The host, plain words
    and numbers do not count: messages, labels and other addresses may hold them, and must come back unchanged.

    >>> secrets_within("https://me:word@host.example/predictions/k3yk3yk3y?size=2&key=abc")
    ['me', 'word', 'me:word', 'bWU6d29yZA==', 'k3yk3yk3y', 'abc']
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    user = parts.netloc.rpartition("@")[0]
    segments = dict.fromkeys([*parts.path.split("/"), *unquote(parts.path).split("/")])
    values = parse_qsl(f"{parts.query}&{parts.fragment}")
    return [
        *_of_user(user),
        *(
            part
            for part in segments
            if (re.search(r"\d", part) and not _PLAIN.match(part)) or _may_be_key(part)
        ),
        *(
            value
            for name, value in values
            if _NAMED.search(name) or not _PLAIN.match(value) or _may_be_key(value)
        ),
    ]


def _may_be_key(part: str) -> bool:
    return looks_random(part) or is_secret(part)


def is_secret(value: str) -> bool:
    """Whether a text holds a known secret, or a key of a known shape."""
    return bool(_SHAPED.search(value)) or any(secret in value for secret in secret_values())
