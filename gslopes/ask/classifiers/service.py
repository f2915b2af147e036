"""The base of every classifier over a service: address, credentials, batches, and what an error means to us.

A subclass says where the service is and which variables hold its credentials; it makes the client, sends one picture
(or one batch) and parses the reply. Every error is of one *kind*, by its class, its HTTP status, or a code that
errors.toml lists; ``error_of`` makes ours of it:

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

import json
import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args
from urllib.parse import urlsplit

from gslopes.ask.classifiers.catalogue import CATALOGUE
from gslopes.ask.cost import LOCAL, ServiceOptions
from gslopes.ask.retry import seconds_to_wait
from gslopes.ask.secrets import guard_logs, remember_secret, scrub, secrets_within, shown_address
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
from gslopes.core.files import parse_json

if TYPE_CHECKING:
    import httpx

Kind = Literal["throttled", "unavailable", "lost", "refused", "credentials", "service", "failed", "unusable"]

LONGEST = 1 << 16  # characters of what a service says that are looked at
_HOME = frozenset({"localhost", "127.0.0.1", "::1"})


# -- addresses ---------------------------------------------------------------------------------------------------------


def address(option: str, *variables: str) -> str:
    """Where to ask instead of the service's own address: the option, or the first variable that is set, or nothing.

    Raises: ConfigError if it is plain http to another machine, since credentials would travel in the open.
    """
    url = option or next((os.environ[name] for name in variables if os.environ.get(name)), "")
    check_address(url)
    if urlsplit(url).scheme == "http" and not on_this_machine(url):
        message = f"{shown_address(url)!r} would be sent credentials without encryption."
        raise ConfigError(message, "Write https://, or ask a server on this machine.")
    return url.rstrip("/")


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


# -- answers -----------------------------------------------------------------------------------------------------------


def best(pairs: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Each label once, with its highest score, in the order in which they came; scores cut to [0, 1].

    A service's percent may exceed 100 by rounding.
    """
    scores: dict[str, float] = {}
    for label, score in pairs:
        scores[label] = max(scores.get(label, 0.0), min(max(float(score), 0.0), 1.0))
    return tuple(scores.items())


# -- errors ------------------------------------------------------------------------------------------------------------


def error_of(service: str, kind: Kind, text: str, variables: Iterable[str], wait: float | None = None) -> GslopesError:
    """Our error for a vendor's.

    service: the classifier's bare name.  text: what the vendor says.  variables: that hold the credentials.
    wait: seconds that the service asks for, None if it does not say.
    """
    words = scrub(text[:LONGEST]).strip().rstrip(".") or "no reason given"
    if kind == "throttled":
        return Throttled(f"{service} asks us to slow down: {words}.", wait)
    if kind in ("unavailable", "lost"):
        return Unavailable(f"{service} cannot be reached or failed: {words}.", billed=kind == "lost", retry_after=wait)
    if kind == "refused":
        return Refused(words)
    if kind == "credentials":
        return CredentialsError(service, variables, rejected=True, detail=words)
    if kind == "service":
        return ServiceError(f"{service} does not answer: {words}.", "Answers so far are kept.")
    if kind == "unusable":
        return AnswerError(f"{service} gives no answer: {words}.")
    return ClassifierError(f"{service} failed: {words}.")


@cache
def errors_of(vendor: str) -> dict[str, Any]:
    """A section of errors.toml."""
    section: dict[str, Any] = read_toml(Path(str(files("gslopes.ask") / "classifiers" / "errors.toml")))[vendor]
    return section


@cache
def codes_of(vendor: str) -> Mapping[str, Kind]:
    """Code to kind, of the codes in a section of errors.toml."""
    return {code: kind for kind in get_args(Kind) for code in errors_of(vendor).get(kind, ())}


def kind_of(error: Exception) -> Kind | None:
    """The kind of an error of ``ask.transport`` or httpx; None if it is another one."""
    import httpx

    from gslopes.ask.transport import Oversized, Permanent

    kinds: list[tuple[Kind, tuple[type[Exception], ...]]] = [
        ("unusable", (Oversized,)),
        ("service", (Permanent, httpx.UnsupportedProtocol, httpx.InvalidURL)),
        ("unavailable", (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)),
        ("failed", (httpx.LocalProtocolError,)),
        ("lost", (httpx.HTTPError, httpx.StreamError)),
    ]
    return next((kind for kind, classes in kinds if isinstance(error, classes)), None)


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


# -- classifiers -------------------------------------------------------------------------------------------------------


class Service(ABC):
    """A ``records.Classifier`` over a service, without ``parse``.

    SERVICE: its name in messages.  CREDENTIALS: variables that hold its credentials.
    ENDPOINT_VARIABLES: variables that may hold another address, where there is no option ``url``, or it is empty.

    Raises: ConfigError if the address is not safe to send credentials to.
    """

    Options: ClassVar[type[ServiceOptions]]
    SERVICE: ClassVar[str]
    CREDENTIALS: ClassVar[Sequence[str]] = ()
    ENDPOINT_VARIABLES: ClassVar[Sequence[str]] = ()
    batch = 1

    def __init__(self, name: str, options: Any, device: str = "cpu") -> None:
        del device
        self.name = name
        self.notes: list[str] = []  # what a user should know, one sentence each
        self._options = options
        given = getattr(options, "url", "") if self.ENDPOINT_VARIABLES else ""
        self._address = address(given, *self.ENDPOINT_VARIABLES)
        self.version = ""
        if self._address and not given:  # answers of an address that a variable names are kept apart
            for part in secrets_within(self._address):
                remember_secret(part)
            self.version = f"at {shown_address(self._address)}"
        listed = CATALOGUE.get(name.partition(":")[0])  # none for another package's
        self.limits = (listed.limits if listed else LOCAL).adjusted(options)
        self._client: Any = None  # an httpx.Client

    def prepare(self) -> None:
        """Find the credentials and make the client.  Raises: CredentialsError, ServiceError."""
        guard_logs()  # libraries write requests there
        for name in self._variables:
            value = os.environ.get(name, "")
            if any(ord(letter) < 32 or ord(letter) == 127 for letter in value) or value != value.strip():
                raise CredentialsError(self.SERVICE, [name], detail="its value has a line break, or a blank at an end")
        self._client = self._connected()
        weakref.finalize(self, self._client.close)

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Up to ``batch`` encoded pictures to the reply about each, as JSON can hold it, or an error about that one.

        Raises: Refused, Throttled, Unavailable, CredentialsError, ServiceError, ClassifierError.
        """
        if self._client is None:
            self.prepare()
        try:
            return self._answers(pictures)
        except Exception as error:
            kind = kind_of(error)
            if kind is None:
                raise
            raise self._error(kind, str(error) or type(error).__name__) from None

    def _post(self, url: str, **sent: Any) -> Any:
        """The JSON of the reply to a request.  Raises: the error that the reply holds; httpx's."""
        reply = self._client.post(url, **sent)
        if not reply.is_success:
            kind, text = self._problem(reply.status_code, reply.content.decode("utf-8", "replace"))
            raise self._error(kind, text, seconds_to_wait(reply.headers.get("retry-after", "")))
        try:
            return parse_json(reply.content)
        except json.JSONDecodeError:
            raise self._error("lost", "the reply is not JSON") from None
        except ValueError as error:
            raise self._error("unusable", f"the reply is not JSON: {error}") from None

    # -- what a subclass defines --------------------------------------------------------------------------------------

    @abstractmethod
    def _connected(self) -> httpx.Client:
        """The client, with its credentials.  Raises: CredentialsError, ServiceError."""

    @abstractmethod
    def _answers(self, pictures: list[bytes]) -> list[object]:
        """The replies to one request.  Raises: ours, and httpx's."""

    def _problem(self, status: int, text: str) -> tuple[Kind, str]:
        """The kind of a failure, and the service's words.

        status: HTTP status.  text: the body, whatever character set the server names.
        """
        return kind_of_status(status), f"status {status}: {text}"

    # -- helpers ------------------------------------------------------------------------------------------------------

    @property
    def _variables(self) -> Sequence[str]:
        return self.CREDENTIALS

    def _error(self, kind: Kind, text: str, wait: float | None = None) -> GslopesError:
        return error_of(self.SERVICE, kind, text, self._variables, wait)
