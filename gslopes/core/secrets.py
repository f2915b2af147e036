"""What a key looks like, and keys within addresses: these would be stored in tables, caches and folder names."""

from __future__ import annotations

import hashlib
import os
import re
from itertools import pairwise
from urllib.parse import parse_qsl, unquote, urlsplit

MIN_LENGTH = 8  # characters of a secret

# How parameters and headers that hold a secret are named, or how their names end; every repetition is bounded, since a
# server decides how long the text is that is searched for them.
WORD = (
    r"(?:api[_-]?key|access[_-]?key(?:[_-]?id)?|subscription-key|secret|token|passwo?r?d|passwd|signature|credential|"
    r"x-amz-[\w-]{1,60}|session[_-]?id)[\w-]{0,60}|(?<![A-Za-z0-9])(?:key|sig|pat|pwd|auth)"
)
# Keys that are known by their shape: Amazon, Google, OpenAI and others with a prefix, JSON web tokens.
SHAPE = (
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]+|\beyJ[\w-]{8,4000}\.[\w.-]+|"
    r"\b(?:sk|pk|rk|ghp|gho|xox[abp]|hf|glpat)[-_][A-Za-z0-9_-]{16,}"
)
_VARIABLE = re.compile(r"(?i)(?:^|_)(?:keys?|secret|token|pat|password|passwd|credentials?|auth)(?:_|$)|apikey")
_NAMED = re.compile(rf"(?i)(?:{WORD}|\bcode)\Z")
_SHAPED = re.compile(SHAPE)
_PLACEHOLDERS = re.compile(r"(?:[a-z_]{1,20}=)?\{(?:ratio|width|height)\}&?")  # of an address of a cropper
_CHANGES = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")  # from letters to digits and back
_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d")
_VERSION = re.compile(r"(?i)v\d{1,4}(?:(?:alpha|beta|rc|p)\d{0,2})?")
_SIZE = re.compile(r"(?i)[a-z]{0,12}\d{1,3}[xs]\d{1,3}[a-z]{0,2}")  # as in RN50x64, yolov5s6
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")  # a word of camelCase
# After the first letter of each: those that follow it in words, 95 % of all pairs in WordNet's and some of German.
_FOLLOWING = (
    "abcdefghiklmnprstuvwy baeiloru cacehiklortuy dadeiloruy eabcdefgilmnoprstuvwxy faefilortu gaeghilnoruy "
    "haeilnortuy iabcdefgklmnoprstuvz j kaeit ladeilotuy mabeimopuy nacdefgiknostuyz oabcdefgiklmnoprstuvwx "
    "paefhiloprstuy qu rabcdefghiklmnoprstuyz sabcehiklmnopstuy taceghilorstuyz uabcdegilmnprst "
    "vaeio waeio xit yacelmnprst zae"
)
_PAIRS = frozenset(row[0] + second for row in _FOLLOWING.split() for second in row[1:])
_ADDRESS = re.compile(r"(?i)\A(?:[a-z][a-z0-9+.-]*:)?//")


def secret_values() -> set[str]:
    """The values of the environment variables that are named like a secret."""
    return {value for name, value in os.environ.items() if _VARIABLE.search(name) and len(value) >= MIN_LENGTH}


def secret_in_address(text: str, *, public: bool = False) -> str:
    """What in an address is or may be a secret, in words that do not repeat it; empty if nothing, or if it is none.

    public: whether the user says that it holds none. Then parameters may stand in it, and parts that look random;
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
    for name, value in parse_qsl(f"{parts.query}&{parts.fragment}", keep_blank_values=True, separator="&"):
        if value and _NAMED.search(name):
            return f"a key in its parameter {name[:40]}"
        if _is_secret(value):
            return f"a key in its parameter {name[:40]}"
    if any(_is_secret(segment) for segment in re.split(r"[/;:=]", unquote(parts.path))):
        return "a key in its path"
    if public:
        return ""
    if _PLACEHOLDERS.sub("", parts.query) or parts.fragment or ";" in parts.path:
        return "parameters, which may be a key"
    if any(map(looks_random, _plain_path(parts.path).split("/"))):
        return "a part that looks random, which may be a key"
    return ""


def looks_random(segment: str) -> bool:
    """Whether a segment of an address's path may be a key: none of its words and versions, or a long one.

    >>> [looks_random(word) for word in ("llama-3.1-8b", "detectModerationLabels", "a8Kd02mVx", "hQzVbTxkLmNp")]
    [False, False, True, True]
    """
    words = re.findall(r"[A-Za-z0-9]+", segment)
    joined = "".join(words)
    plain = sum(len(word) for word in re.findall(r"[A-Za-z]{4,}", segment))
    return (
        any(map(_is_random, words))
        or (len(_CHANGES.findall(joined)) > 6 and 5 * plain < 2 * len(joined))
        or not segment.isascii()
    )


def _is_random(word: str) -> bool:
    """Letters and digits that take turns; digits that are no date; letters that follow each other in no word."""
    if word.isdigit() or _VERSION.fullmatch(word):
        return len(word) >= 8 and not _DATE.fullmatch(word)
    if len(word) >= 10 and re.search(r"[0-9][A-Za-z]", word):
        return True
    if _SIZE.fullmatch(word):
        return False
    if len(_CHANGES.findall(word)) >= 3:
        return len(word) >= 6
    pieces = _PIECE.findall(word)
    letters = sum(map(len, pieces))
    if letters < 8:
        return len(word) >= 16
    pairs = [pair for piece in pieces for pair in map("".join, pairwise(piece.lower()))]
    if max(map(len, pieces)) > 30 or 3 * (len(pieces) - 1) >= letters:
        return True
    return 10 * sum(pair in _PAIRS for pair in pairs) < 7 * len(pairs)


def _plain_path(path: str) -> str:
    """A path without its escapes and placeholders."""
    for _ in range(4):
        path = unquote(path)
    return _PLACEHOLDERS.sub("", path)


def shown_address(url: str) -> str:
    """An address from a variable as it may be stored: what may be secret in it is hidden.

    Two addresses that differ there still differ, by 16 bits of a digest.

    >>> shown_address("https://host.example/v1"), shown_address("https://host.example/hook/a8Kd02mVx?x=1")
    ('https://host.example/v1', 'https://host.example/hook/*** 6741')
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return "***"
    path = parts.path.partition(";")[0]
    known = "/".join("***" if looks_random(_plain_path(one)) or _is_secret(one) else one for one in path.split("/"))
    shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{known}"
    return shown if shown == url else f"{shown} {hashlib.sha256(url.encode()).hexdigest()[:4]}"


def secrets_within(url: str) -> list[str]:
    """What may be secret in an address that is one as a whole: user, password, values, path segments with a digit.

    The host and words of a path are none: a label or another address may hold them, and must come back as they are.

    >>> secrets_within("https://me:word@host.example/predictions/k3yk3yk3y?size=2")
    ['me', 'word', 'k3yk3yk3y', '2']
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    user, found, _ = parts.netloc.rpartition("@")
    return [
        *(user.split(":") if found else []),
        *(segment for segment in parts.path.split("/") if re.search(r"\d", segment) or looks_random(segment)),
        *(value for _, value in parse_qsl(f"{parts.query}&{parts.fragment}")),
    ]


def _is_secret(value: str) -> bool:
    return bool(_SHAPED.search(value)) or any(secret in value for secret in secret_values())
