"""What a key looks like, and keys within addresses: these would be stored in tables, caches and folder names."""

from __future__ import annotations

import os
import re
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
_ADDRESS = re.compile(r"(?i)\A(?:[a-z][a-z0-9+.-]*:)?//")


def secret_values() -> set[str]:
    """The values of the environment variables that are named like a secret."""
    return {value for name, value in os.environ.items() if _VARIABLE.search(name) and len(value) >= MIN_LENGTH}


def secret_in_address(text: str) -> str:
    """What in an address is a secret, in words that do not repeat it; empty if nothing is, or if it is no address.

    >>> secret_in_address("https://host/v1/tag?api_key=abc")
    'a key in its parameter api_key'
    >>> secret_in_address("https://host/v1/tag?size=2")
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
    return ""


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
        *(segment for segment in parts.path.split("/") if re.search(r"\d", segment)),
        *(value for _, value in parse_qsl(f"{parts.query}&{parts.fragment}")),
    ]


def _is_secret(value: str) -> bool:
    return bool(_SHAPED.search(value)) or any(secret in value for secret in secret_values())
