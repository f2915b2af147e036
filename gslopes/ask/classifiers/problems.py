"""Errors inside a reply whose status is good: their words, and the status that they name; see replies.toml.

Gateways and users' servers write them in these forms, among others:

    {"error": {"code": 429, "message": "..."}}        {"error": "rate limit exceeded"}
    {"status": 429, "message": "..."}                 {"success": false, "code": "413"}
    {"errors": [{"status": "RESOURCE_EXHAUSTED"}]}
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gslopes.core import JsonObject, read_beside

REPLIES = read_beside(__file__, "replies.toml")
AROUND = str(REPLIES["around"])
PATTERNS = {
    name: re.compile(entry["pattern"].replace("AROUND", re.escape(AROUND)))
    for name, entry in REPLIES["patterns"].items()
}
_STATUSES = {
    name: int(status) for status, names in REPLIES["statuses"].items() for name in names.split()
}


def said(value: Any) -> bool:
    """Whether the value of a field means yes; null, false, nothing, and texts such as "none" count as absent.

    >>> [said(value) for value in (None, False, "", "None", [], "no face", True)]
    [False, False, False, False, False, True, True]
    """
    return bool(value) and not (isinstance(value, str) and value.strip().lower() in REPLIES["no"])


def within(part: Any, *names: str) -> Any:
    """What lies under nested names; None if it is missing, or something on the way is not an object."""
    for name in names:
        part = part.get(name) if isinstance(part, Mapping) else None
    return part


def error_in(body: JsonObject, answered: bool = False) -> JsonObject:
    """The fields of an error in a body, which go before the fields around it; empty if the body holds no error.

    answered: whether the body holds an answer as well; then a mere code or message in it does not make an error.
    """
    error = next(
        (body[name] for name in ("error", "errors", "Error", "fault") if said(body.get(name))), None
    )
    if isinstance(error, list):
        error = next(filter(said, error), None)
    if isinstance(error, str):
        error = {"message": error}
    if isinstance(error, Mapping):
        if str(error.get("code")) in ("0", "200"):
            return {}
        return {**body, **error}
    status = body.get("status")
    fields = {**body, "status": within(status, "type") or status}
    failed = error or any(
        str(fields.get(name)).lower() in words for name, words in REPLIES["failed"].items()
    )
    if failed or (
        not answered
        and (status_in_fields(body) or said(body.get("message")) or said(body.get("detail")))
    ):
        return dict(body)
    return {}


def status_in(error: JsonObject) -> int:
    """The HTTP status, 400 to 599, that an error names by a number, a name or its words; 0 if it names none."""
    if status := status_in_fields(error):
        return status
    text = words_of(error)
    if match := PATTERNS["status"].search(text):
        return int(match[1])
    by_words = (status for status, words in REPLIES["words"].items() if re.search(words, text))
    return int(next(by_words, 0))


def status_in_fields(part: Any) -> int:
    """The status that a field of an error, or of what lies within it, names; 0 if none does."""
    for name in named_in(part):
        value = name.strip().removesuffix(".0")
        if re.fullmatch(r"[45]\d\d", value):
            return int(value)
        if value.upper() in _STATUSES:
            return _STATUSES[value.upper()]
    return 0


def named_in(part: Any) -> Iterator[str]:
    """What the fields hold in which an error, or what lies within it, names its status or its cause."""
    if isinstance(part, Mapping):
        yield from (str(part[name]) for name in REPLIES["status_fields"] if name in part)
        part = list(part.values())
    if isinstance(part, list):
        for item in part:
            yield from named_in(item)


def words_of(error: Any) -> str:
    """All words of an error, in whichever field: ``message``, ``detail``, a text, a list with ``loc`` and ``msg``."""

    def words(part: Any) -> Iterator[str]:
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            loc = part.get("loc")
            path = [str(item) for item in loc if item != "body"] if isinstance(loc, list) else []
            prefix = f"{'.'.join(path)}: " if path else ""
            for key in REPLIES["text_fields"]:
                yield from (prefix + text for text in words(part.get(key)))
        elif isinstance(part, list):
            for item in part:
                yield from words(item)

    return "; ".join(dict.fromkeys(words(error)))[:500] or "no reason given"
