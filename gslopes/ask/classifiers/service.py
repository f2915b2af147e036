"""The base of every classifier over a service: address, client, batches, and what a vendor's error means to us.

A subclass names the service's address and its variables of credentials; it makes the client, sends one picture
(or one batch) and parses the reply. Every error of its client is of one *kind*, declared in errors.toml; ``error_of``
makes ours of it:

    throttled    too many requests at the moment
    unavailable  the service or the way to it failed before the picture was judged
    lost         the same, but the picture may have been judged, and billed, by then
    refused      this picture will never be judged
    credentials  who asks is not known, or may not ask
    service      no picture will ever be judged: wrong use, a quota used up, a wrong address
    failed       this request did not work, for another reason
    unusable     a reply came that cannot be used: it may have been billed, and another one would be no better
"""

import io
import logging
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from gslopes.ask import retry
from gslopes.ask.classifiers.catalogue import CATALOGUE, Catalogue
from gslopes.ask.classifiers.problems import error_in, status_in, within, words_of
from gslopes.ask.cost import ServiceOptions
from gslopes.ask.secrets import guard_logs, remember_secret, scrub, secrets_within, shown_address
from gslopes.core import (
    LOCAL,
    AnswerError,
    ClassifierError,
    ConfigError,
    CredentialsError,
    Facts,
    GslopesError,
    JsonObject,
    Names,
    Refused,
    ServiceError,
    Throttled,
    Traits,
    Unavailable,
    Unfinished,
    UsageError,
    parse_json,
    read_beside,
)
from gslopes.core.records import Files, Raws

Kind = Literal[
    "throttled", "unavailable", "lost", "refused", "credentials", "service", "failed", "unusable"
]
Kinds = Mapping[str, Kind]  # of what an error is called
Details = tuple[Kind, str]  # of an error: its kind, and the vendor's words

TIMEOUT = 60.0  # seconds, of a client that does not ask through ``ask.transport``
LONGEST = 1 << 16  # characters of a service's words that are read
ENTRA_SCOPE = "https://cognitiveservices.azure.com/.default"
ENTRA = (
    "AZURE_TENANT_ID",
    "AZURE_CLIENT_ID",
    "AZURE_CLIENT_SECRET (or az login, or a managed identity)",
)
_ERRORS = read_beside(__file__, "errors.toml")


# -- addresses ---------------------------------------------------------------------------------------------------------


def address(option: str, *variables: str) -> str:
    """Where to ask instead of the vendor's address: the option, or the first variable that is set, or nothing.

    Raises: ConfigError if it is plain http to another machine, since credentials would travel in the open.
    """
    url = option or next((os.environ[name] for name in variables if os.environ.get(name)), "")
    check_address(url)
    if urlsplit(url).scheme == "http" and not on_this_machine(url):
        raise ConfigError(
            f"{shown_address(url)!r} would be sent credentials without encryption.",
            "Write https://, or ask a server on this machine.",
        )
    return url.rstrip("/")


def check_address(url: str) -> None:
    """Raises: ConfigError if no port or host has that form; ``env:VARIABLE`` is checked when it is read."""
    try:
        if not url.startswith("env:"):
            _ = urlsplit(url if "//" in url else f"//{url}").port
    except ValueError:
        raise ConfigError(
            f"{scrub(url)!r} is not an address: no port or host has that form."
        ) from None


def on_this_machine(url: str) -> bool:
    """Whether an address is of this machine."""
    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


# -- answers -----------------------------------------------------------------------------------------------------------


def best(pairs: Iterable[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Each label once, with its highest score, in the order in which they came; scores cut to [0, 1].

    A service's percent may exceed 100 by rounding.
    """
    scores: dict[str, float] = {}
    for label, score in pairs:
        scores[label] = max(scores.get(label, 0.0), min(float(score), 1.0))
    return tuple(scores.items())


def nested(fields: Facts, body: JsonObject | None = None) -> JsonObject:
    """An object in which the dots of names lead into others.  body: to which the fields are added."""
    body = body or {}
    for name, value in fields.items():
        *folders, last = name.split(".")
        folder = body
        for inner in folders:
            folder = folder.setdefault(inner, {})
        folder[last] = value
    return body


# -- errors ------------------------------------------------------------------------------------------------------------


def error_of(
    service: str, kind: Kind, text: str, variables: Iterable[str], headers: Any = None
) -> GslopesError:
    """Our error for a vendor's.

    service: the classifier's bare name.  text: the vendor's words.  variables: that hold the credentials.
    headers: of the reply, None if there is none; its ``Retry-After`` is how long the service asks us to wait, from its
        ``Date`` on.
    """
    words = scrub(text[:LONGEST]).strip().rstrip(".") or "no reason given"
    sentence = _ERRORS["sentences"][kind].format(service, words)
    wait = retry.seconds_to_wait(headers or {})
    match kind:
        case "throttled":
            return Throttled(sentence, wait)
        case "unavailable" | "lost":
            return Unavailable(sentence, billed=kind == "lost", retry_after=wait)
        case "refused":
            return Refused(words)
        case "credentials":
            return CredentialsError(service, variables, rejected=True, detail=words)
        case "service":
            hints = _ERRORS[service].get("hints", {})
            next_steps = (hint for hint, pattern in hints.items() if re.search(pattern, words))
            return ServiceError(sentence, next(next_steps, "Answers so far are kept."))
        case "unusable":
            return AnswerError(sentence)
    return ClassifierError(sentence)


def codes_of(vendor: str) -> Kinds:
    """Code to kind, of the codes in a section of errors.toml."""
    return _kinds(_ERRORS[vendor]["codes"])


def _kinds(table: Facts) -> dict[Any, Kind]:
    """What a section of errors.toml names to its kind: codes, or classes as ``module.Class`` or ``package.Class``."""
    return {name: kind for kind in get_args(Kind) for name in table.get(kind, ())}


def kind_of_code(vendor: str, code: int) -> Kind:
    """The kind of a number, by the first range in a section of errors.toml that holds it."""
    ranges = _ERRORS[vendor]["ranges"]
    return next((kind for first, last, kind in ranges if first <= code <= last), "failed")


def kind_of(error: BaseException, table: Kinds) -> Kind | None:
    """The kind of the nearest class of an error that the table names; None if it names no class."""
    for base in type(error).__mro__:
        for module in (base.__module__, base.__module__.partition(".")[0]):
            if kind := table.get(f"{module}.{base.__qualname__}"):
                return kind
    return None


def kind_of_status(status: int) -> Kind:
    """The kind of an HTTP status other than success."""
    return kind_of_code("statuses", status)


def kind_inside(error: JsonObject, otherwise: Kind) -> Kind:
    """The kind of an error within a reply whose status is good; ``otherwise`` if it names no status.

    It is about the request, so it refuses no picture.
    """
    status = status_in(error)
    if status:
        otherwise = kind_of_status(status)
    return "failed" if otherwise == "refused" else otherwise


# -- classifiers -------------------------------------------------------------------------------------------------------


class Service(ABC):
    """A ``records.Classifier`` over a service, without ``parse``.

    SERVICE: its name in messages.  CREDENTIALS: variables that hold its credentials.
    ENDPOINT_VARIABLES: variables that may hold another address, if the option ``url`` is missing or empty.
    HOSTS: how names of the vendor's hosts end; answers of any other host in a variable are another version.
    LISTED: where its limits are.

    Raises: ConfigError if the address is not safe to send credentials to.
    """

    Options: type[ServiceOptions] = ServiceOptions
    SERVICE = ""
    CREDENTIALS: Sequence[str] = ()
    ENDPOINT_VARIABLES: Sequence[str] = ()
    HOSTS: Names = ()
    LISTED: Catalogue = CATALOGUE
    batch = 1

    def __init__(self, name: str, options: Any, device: str = "cpu") -> None:
        self.name = name
        self.notes: list[str] = []  # what a user should know, one sentence each
        self._options = options
        given = getattr(options, "url", "") if self.ENDPOINT_VARIABLES else ""
        self._address = address(given, *self.ENDPOINT_VARIABLES)
        self.version = ""
        if self._address and not given:  # answers of an address in a variable are kept apart
            for part in secrets_within(self._address):
                remember_secret(part)
            if not (urlsplit(self._address).hostname or "").endswith(self.HOSTS):
                self.version = f"at {shown_address(self._address)}"
        listed = self.LISTED.get(name.partition(":")[0])  # none for another package's
        limits = options.applied_to(listed.limits if listed else LOCAL)
        self.traits = Traits(limits=limits, prepares=True, warns=True)
        self._client: Any = None

    def prepare(self) -> None:
        """Find the credentials and make the client.  Raises: CredentialsError, ServiceError."""
        guard_logs()  # vendors write requests there
        for name in self._variables:
            if re.search(r"\A\s|\s\Z|[\x00-\x1f\x7f]", os.environ.get(name, "")):
                raise CredentialsError(
                    self.SERVICE, [name], detail="its value has a line break, or a blank at an end"
                )
        with self._our_errors():
            self._client = self._connected()

    def ask(self, pictures: Files) -> Raws:
        """Up to ``batch`` encoded pictures to the reply about each, as JSON can hold it, or an error about that one.

        Raises: Refused, Throttled, Unavailable, CredentialsError, ServiceError, ClassifierError.
        """
        if self._client is None:
            self.prepare()
        with self._our_errors():
            return self._answers(pictures)

    @contextmanager
    def _our_errors(self) -> Iterator[None]:
        try:
            yield
        except GslopesError:
            raise
        except Exception as error:
            raise self.gslopes_error(error, self._variables) from None

    @classmethod
    def gslopes_error(cls, error: Exception, variables: Sequence[str] = ()) -> GslopesError:
        """Our error for one of the client's; any other error is raised unchanged.

        variables: that hold the credentials; empty: ``CREDENTIALS``.
        """
        inner: BaseException | None = error
        while inner is not None and kind_of(inner, {"httpx.RequestError": "lost"}) is None:
            inner = inner.__cause__ or inner.__context__
        # what ``ask.transport`` raised, if an error of a vendor's client wraps it
        cause = inner if isinstance(inner, Exception) else error
        kind = kind_of(cause, _kinds(_ERRORS["httpx"]) | _kinds(_ERRORS[cls.SERVICE]))
        if kind is None:
            raise error
        text = str(cause)
        if type(cause).__module__ != "gslopes.ask.transport":
            kind, text = cls._details(cause, kind)
        response = getattr(cause, "response", None)
        # the second is botocore's
        headers = getattr(response, "headers", within(response, "ResponseMetadata", "HTTPHeaders"))
        named = variables or cls.CREDENTIALS
        return error_of(cls.SERVICE, kind, text, named, headers)

    # -- what a subclass defines --------------------------------------------------------------------------------------

    @abstractmethod
    def _connected(self) -> Any:
        """The client; it keeps nothing open.  Raises: CredentialsError; whatever the client raises."""

    @abstractmethod
    def _answers(self, pictures: Files) -> Raws:
        """The replies to one request.  Raises: whatever the client raises."""

    @classmethod
    def _details(cls, error: Exception, kind: Kind) -> Details:
        """The kind of an error by its status or code, if its class does not decide; the vendor's words."""
        status = getattr(error, "status_code", getattr(error, "code", None))
        if kind == "failed" and isinstance(status, int):
            kind = kind_of_status(status)
        return kind, str(getattr(error, "message", None) or f"{type(error).__name__}: {error}")

    # -- helpers ------------------------------------------------------------------------------------------------------

    @property
    def _variables(self) -> Sequence[str]:
        return self.CREDENTIALS

    def _credentials(self) -> list[str]:
        """Their values.  Raises: CredentialsError if one is missing."""
        values = {name: os.environ.get(name, "") for name in self._variables}
        if missing := [name for name, value in values.items() if not value]:
            raise CredentialsError(self.SERVICE, missing)
        return list(values.values())

    def _error(self, kind: Kind, text: str, headers: Any = None) -> GslopesError:
        return error_of(self.SERVICE, kind, text, self._variables, headers)

    def _amazon(self, service: str, region: str = "", key: str = "", **options: Any) -> Any:
        """A client of boto3, which finds address, region and who asks.

        service: as boto3 names it.  region: empty: as in ``AWS_REGION``, ``AWS_DEFAULT_REGION`` or the profile.
        key: that does without an account.  options: as boto3 takes them.

        Raises: CredentialsError if there is neither an account nor a key; what boto3 raises if no region is known.
        """
        import boto3

        session = boto3.Session(region_name=region or os.environ.get("AWS_REGION"))
        account = session.get_credentials()
        if account:
            for secret in account.get_frozen_credentials():
                remember_secret(secret or "")
        elif not key:
            raise CredentialsError(self.SERVICE, self._variables)
        return session.client(service, endpoint_url=self._address or None, **options)


# -- vendors' clients, above our transport -----------------------------------------------------------------------------


def entra_account(service: str) -> Any:
    """Who asks Azure's AI services, as azure-identity finds it by Entra ID.  Raises: CredentialsError."""
    from azure.core.exceptions import ClientAuthenticationError
    from azure.identity import DefaultAzureCredential

    logging.getLogger("azure.identity").setLevel(logging.CRITICAL)  # a page for what is a sentence
    account = DefaultAzureCredential()
    try:
        remember_secret(account.get_token(ENTRA_SCOPE).token)
    except ClientAuthenticationError:
        raise CredentialsError(service, ENTRA) from None
    return account


def entra_signs(service: str) -> Callable[[Any], Any]:
    """What gives a request of httpx a token of ``entra_account``, a new one before the last one ends.

    Raises: CredentialsError; UsageError if azure-identity is not installed.
    """
    try:
        from azure.identity import get_bearer_token_provider
    except ModuleNotFoundError:
        raise UsageError(*_ERRORS["entra"]["missing"]) from None
    token = get_bearer_token_provider(entra_account(service), ENTRA_SCOPE)

    def sign(request: Any) -> Any:
        value = token()
        remember_secret(value)
        request.headers["Authorization"] = f"Bearer {value}"
        return request

    return sign


def mount(session: Any) -> None:
    """Have a session of ``requests`` send by a ``BoundedTransport``."""
    import requests

    class Adapter(requests.adapters.BaseAdapter):
        def send(self, request: Any, *_: object, **__: object) -> requests.Response:
            reply = _sent(request)
            response = requests.Response()
            response.status_code = reply.status_code
            response.reason = reply.reason_phrase
            response.url = request.url or ""
            response.request = request
            response.headers = requests.structures.CaseInsensitiveDict(reply.headers)
            response.encoding = "utf-8"
            response.raw = io.BytesIO(reply.content)
            return response

    for scheme in ("http://", "https://"):
        session.mount(scheme, Adapter())


def before_send() -> Callable[..., Any]:
    """What boto3's event ``before-send`` calls to have its requests sent by a ``BoundedTransport``."""
    from botocore.awsrequest import AWSResponse

    class Raw(io.BytesIO):
        def stream(self, **_: object) -> Iterator[bytes]:
            yield self.read()

    def send(request: Any, **_: object) -> Any:
        reply = _sent(request)
        return AWSResponse(request.url, reply.status_code, dict(reply.headers), Raw(reply.content))

    return send


def signed(asks: Any, request: Any) -> Any:
    """A request of httpx, signed as a client of boto3 signs.

    Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html
    """
    from botocore.awsrequest import AWSRequest

    copy = AWSRequest(request.method, str(request.url), data=request.content)
    asks._request_signer.sign("Converse", copy)
    request.headers.update(copy.headers.items())
    return request


def _sent(request: Any) -> Any:
    """The reply to a prepared request of ``requests`` or botocore, with the status of an error within it."""
    import httpx

    from gslopes.ask.transport import BoundedTransport

    sent = {"accept-encoding": "identity"}
    sent |= {name.lower(): value for name, value in request.headers.items()}
    body = request.body.read() if hasattr(request.body, "read") else request.body
    reply = BoundedTransport().handle_request(
        httpx.Request(request.method, request.url, headers=sent, content=body or b"")
    )
    content: Any = reply.text
    with suppress(ValueError):
        content = parse_json(reply.content, finite=False)
    body = content if isinstance(content, dict) else {"error": content}
    error = error_in(body)
    status = status_in(error)
    if reply.status_code < 400 and status and body is content:  # 422 as in ``kind_inside``
        reply.status_code = 422 if kind_of_status(status) == "refused" else status
    if reply.status_code < 400 or isinstance(body.get("error", {}), dict):
        return reply
    # the clients expect no other form, and lose the status in what they do not expect
    content = {"error": {"message": words_of(error)}}
    return httpx.Response(reply.status_code, headers=reply.headers, json=content)


class OnePictureService(Service):
    """A service that takes one picture a request."""

    def _answers(self, pictures: Files) -> Raws:
        try:
            return [self._answer(picture) for picture in pictures]
        except Unfinished as unfinished:
            return [unfinished]

    @abstractmethod
    def _answer(self, picture: bytes) -> object:
        """The reply about one picture.  Raises: Unfinished if another request is needed; whatever the client raises."""
