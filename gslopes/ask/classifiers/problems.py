"""Errors inside a reply whose status is good: what its body says, and the status that it names.

Gateways and servers of one's own write them in these forms, among others:

    {"error": {"code": 429, "message": "..."}}        {"error": "rate limit exceeded"}
    {"status": 429, "message": "..."}                 {"success": false, "code": "413"}
    {"errors": [{"status": "RESOURCE_EXHAUSTED"}]}
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gslopes.core.files import JsonObject

_NAMES = {  # canonical names of errors, as Google's, gRPC's and Anthropic's endpoints write them
    name: status
    for status, names in {
        400: "INVALID_ARGUMENT FAILED_PRECONDITION",
        401: "UNAUTHENTICATED AUTHENTICATION_ERROR",
        403: "PERMISSION_DENIED PERMISSION_ERROR",
        404: "NOT_FOUND NOT_FOUND_ERROR",
        429: "RESOURCE_EXHAUSTED RATE_LIMIT_ERROR RATE_LIMIT_EXCEEDED",
        500: "INTERNAL",
        501: "UNIMPLEMENTED",
        503: "UNAVAILABLE OVERLOADED_ERROR",
        504: "DEADLINE_EXCEEDED",
    }.items()
    for name in names.split()
}
_WORDS = (  # the first that a text holds decides
    (402, r"billing|payment|insufficient (?:quota|funds|credit|balance)|out of credit"),
    (429, r"rate.?limit|too.many.requests|throttl|slow down|quota|limit exceeded"),
    (413, r"(?:payload|request|entity|body|content).{0,20} too large"),
    (401, r"unauthori[sz]ed|unauthenticated|(?:invalid|incorrect|missing) api.?key"),
    (503, r"overload|unavailable|\bbusy\b|try again"),
)
_FIELDS = (
    "code",
    "status",
    "status_code",
    "statusCode",
    "http_code",
    "http_status",
    "type",
    "reason",
)
_TEXTS = (
    "message",
    "msg",
    "detail",
    "error",
    "errors",
    "reason",
    "text",
    "error_message",
    "description",
    "title",
)
_NO = frozenset({"", "false", "no", "none", "null", "0", "ok", "success"})


def said(value: Any) -> bool:
    """Whether the value of a field says yes: null, false, nothing, and texts such as "none" are as if it were absent.

    >>> [said(value) for value in (None, False, "", "None", [], "no face", True)]
    [False, False, False, False, False, True, True]
    """
    return bool(value) and not (isinstance(value, str) and value.strip().lower() in _NO)


def error_in(body: JsonObject, answered: bool = False) -> JsonObject:
    """What the error in a body says, its own fields before those around it; empty if there is none.

    answered: whether the body holds an answer as well; then a mere code or message in it is no error.
    """
    own = next(
        (body[name] for name in ("error", "errors", "Error", "fault") if said(body.get(name))), None
    )
    own = next(filter(said, own), None) if isinstance(own, list) else own
    status = body.get("status")
    word = status.get("type") if isinstance(status, Mapping) else status
    failed = (
        body.get("object") == "error" or body.get("success") is False or body.get("ok") is False
    )
    failed = failed or str(word).lower() in ("error", "fail", "failed", "failure")
    bare = not answered and (
        status_in_fields(body) or any(said(body.get(name)) for name in ("message", "detail"))
    )
    if isinstance(own, Mapping) and str(own.get("code")) in ("0", "200"):
        return {}
    if not (own or failed or bare):
        return {}
    return {
        **body,
        **(own if isinstance(own, Mapping) else {"message": own} if isinstance(own, str) else {}),
    }


def status_in(error: JsonObject) -> int:
    """The HTTP status, 400 to 599, that an error names by a number, a name or its words; 0 if it names none."""
    text = words_of(error)
    match = re.search(r"(?<![\d.])([45]\d\d)(?![\d.]\d)", text)
    by_words = (status for status, words in _WORDS if re.search(words, text, re.IGNORECASE))
    return status_in_fields(error) or (int(match[1]) if match else next(by_words, 0))


def status_in_fields(part: Any) -> int:
    """The status that a field of an error, or of what lies within it, names; 0 if none does."""
    if isinstance(part, list):
        return next(filter(None, map(status_in_fields, part)), 0)
    if not isinstance(part, Mapping):
        return 0
    for name in _FIELDS:
        value = str(part.get(name)).strip().removesuffix(".0")
        status = int(value) if re.fullmatch(r"[45]\d\d", value) else _NAMES.get(value.upper(), 0)
        if status:
            return status
    return next(filter(None, map(status_in_fields, part.values())), 0)


def words_of(error: Any) -> str:
    """All that an error says, wherever it says it: ``message``, ``detail``, a text, a list with ``loc`` and ``msg``."""

    def words(part: Any) -> Iterator[str]:
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            loc = part.get("loc")
            where = (
                ".".join(str(item) for item in loc if item != "body")
                if isinstance(loc, list)
                else ""
            )
            for key in _TEXTS:
                yield from (f"{where}: {text}" if where else text for text in words(part.get(key)))
        elif isinstance(part, list):
            for item in part:
                yield from words(item)

    return "; ".join(dict.fromkeys(words(error)))[:500] or "no reason given"
