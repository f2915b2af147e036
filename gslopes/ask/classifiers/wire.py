"""What the classifiers over a commercial service share: addresses, answers, and what a vendor's error means to us.

Every error of a vendor's client is of one *kind*, declared in errors.toml; ``error_of`` makes ours of it:

    throttled    too many requests at the moment
    unavailable  the service or the way to it failed before the picture was judged
    lost         the same, but the picture may have been judged, and billed, by then
    refused      this picture will never be judged
    credentials  who asks is not known, or may not ask
    service      no picture will ever be judged: wrong use, a quota used up, a wrong address
    failed       this request did not work, for a reason of its own
    unusable     a reply came that is none: it may have been billed, and another one would be no better
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from gslopes.ask import retry
from gslopes.ask.secrets import remember_secret, scrub, secrets_within, shown_address
from gslopes.core.config import read_toml
from gslopes.core.errors import (
    AnswerError,
    ClassifierError,
    ConfigError,
    CredentialsError,
    GslopesError,
    Refused,
    ServiceError,
    Throttled,
    Unavailable,
)

Kind = Literal["throttled", "unavailable", "lost", "refused", "credentials", "service", "failed", "unusable"]
Kinds = Mapping[str, Kind]  # of what an error is called

TIMEOUT = 60.0  # seconds, of a client that does not ask through ``ask.transport``
LONGEST = 1 << 16  # characters of what a service says that are looked at
_HOME = frozenset({"localhost", "127.0.0.1", "::1"})


# --- addresses ---


def address(option: str, *variables: str) -> str:
    """Where to ask instead of the service's own address: the option, or the first variable that is set, or nothing.

    Raises: ConfigError if it is plain http to another machine, since credentials would travel in the open.
    """
    found = option or next((os.environ[name] for name in variables if os.environ.get(name)), "")
    check_address(found)
    if urlsplit(found).scheme == "http" and not on_this_machine(found):
        message = f"{shown_address(found)!r} would be sent credentials without encryption."
        raise ConfigError(message, "Write https://, or ask a server on this machine.")
    return found.rstrip("/")


def check_address(found: str) -> None:
    """Raises: ConfigError if there can be no such port or host; ``env:VARIABLE`` is looked at when it is read."""
    if found.startswith("env:"):
        return
    try:
        _ = urlsplit(found if "//" in found else f"//{found}").port
    except ValueError:
        raise ConfigError(f"{scrub(found)!r} is no address: there is no such port, or host.") from None


def on_this_machine(found: str) -> bool:
    """Whether an address is of this machine."""
    return urlsplit(found).hostname in _HOME


def version_at(option: str, found: str) -> str:
    """The declared version of a service at an address that a variable names, so that its answers are kept apart.

    An address that is given as an option is in the classifier's name already.
    """
    for part in [] if option else secrets_within(found):
        remember_secret(part)
    return f"at {shown_address(found)}" if found and not option else ""


# --- answers ---


def best(pairs: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Each label once, with its highest score, in the order in which they came; scores cut to [0, 1].

    A service's percent may exceed 100 by rounding.
    """
    found: dict[str, float] = {}
    for label, score in pairs:
        found[label] = max(found.get(label, 0.0), min(max(float(score), 0.0), 1.0))
    return tuple(found.items())


# --- errors ---


def error_of(service: str, kind: Kind, text: str, variables: Iterable[str], wait: float | None = None) -> GslopesError:
    """Our error for a vendor's.

    service: the classifier's bare name.  text: what the vendor says.  variables: that hold the credentials.
    wait: seconds that the service asks for, None if it does not say.
    """
    said = scrub(text[:LONGEST]).strip().rstrip(".") or "no reason given"
    if kind == "throttled":
        return Throttled(f"{service} asks us to slow down: {said}.", wait)
    if kind in ("unavailable", "lost"):
        return Unavailable(f"{service} cannot be reached or failed: {said}.", billed=kind == "lost", retry_after=wait)
    if kind == "refused":
        return Refused(said)
    if kind == "credentials":
        return CredentialsError(service, variables, rejected=True, detail=said)
    if kind == "service":
        return ServiceError(f"{service} does not answer: {said}.", "Answers so far are kept.")
    if kind == "unusable":
        return AnswerError(f"{service} gives no answer: {said}.")
    return ClassifierError(f"{service} failed: {said}.")


@cache
def classes_of(*vendors: str) -> Kinds:
    """Class to kind, as ``module.Class`` or ``package.Class``, of the exceptions of these sections of errors.toml."""
    tables = [_errors()[vendor] for vendor in vendors]
    return {name: kind for table in tables for kind in get_args(Kind) for name in table.get(kind, ())}


@cache
def codes_of(vendor: str) -> Kinds:
    """Code to kind, of the codes in a section of errors.toml."""
    table = _errors()[vendor]["codes"]
    return {code: kind for kind in get_args(Kind) for code in table.get(kind, ())}


def ranges_of(vendor: str) -> list[tuple[int, int, Kind]]:
    """First and last code to kind, of the ranges in a section of errors.toml; the first that holds a code decides."""
    return [(first, last, kind) for first, last, kind in _errors()[vendor]["ranges"]]


@cache
def _errors() -> dict[str, Any]:
    return read_toml(Path(str(files("gslopes.ask") / "classifiers" / "errors.toml")))


def innermost(error: Exception) -> Exception:
    """What ``ask.transport`` raised, if an error of a vendor's client stands around it; else the error itself."""
    found: BaseException | None = error
    while found is not None and kind_of(found, {"httpx.RequestError": "lost"}) is None:
        found = found.__cause__ or found.__context__
    return found if isinstance(found, Exception) else error


def check_keys(service: str, variables: Iterable[str]) -> None:
    """Raises: CredentialsError if a variable holds a character that no key has and no header can carry."""
    for name in variables:
        value = os.environ.get(name, "")
        if any(ord(letter) < 32 or ord(letter) == 127 for letter in value) or value != value.strip():
            raise CredentialsError(service, [name], detail="its value has a line break, or a blank at an end")


def kind_of(error: BaseException, table: Kinds) -> Kind | None:
    """The kind of the nearest class of an error that the table names; None if there is none."""
    parts = [(one.__module__, one.__module__.partition(".")[0], one.__qualname__) for one in type(error).__mro__]
    names = (f"{place}.{name}" for module, package, name in parts for place in (module, package))
    return next((table[name] for name in names if name in table), None)


def kind_of_status(status: int) -> Kind:
    """The kind of an HTTP status other than success."""
    if status in (401, 403, 407):
        return "credentials"
    if status == 429:
        return "throttled"
    if status in (413, 415):
        return "refused"
    if status in (404, 405, 410, 426, 501) or 300 <= status < 400 or status == 402:
        return "service"
    if status in (408, 499, 504):
        return "lost"
    return "unavailable" if status >= 500 or status in (409, 425) else "failed"


def wait_of(error: BaseException) -> float | None:
    """What ``Retry-After`` in the response behind an error says, in seconds; None if there is none."""
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):  # botocore's
        return seconds_to_wait(response.get("ResponseMetadata", {}).get("HTTPHeaders"))
    return seconds_to_wait(getattr(response, "headers", None))


def seconds_to_wait(headers: Mapping[str, Any] | None) -> float | None:
    """What ``Retry-After`` says, in seconds from now, at most a day; None if it says nothing that can be read."""
    found = (headers or {}).get("Retry-After") or (headers or {}).get("retry-after")
    return retry.seconds_to_wait(str(found)) if found else None
