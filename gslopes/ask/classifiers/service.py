"""The one base of every classifier over a service: address, limits, client, batches, and our errors for the vendor's.

A subclass says where the service is and which variables hold its credentials; it makes the client, sends one picture
(or one batch) and parses the reply. The *kind* of each exception of its client is in errors.toml (see ``wire``).
"""

from __future__ import annotations

import io
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from gslopes.ask.classifiers import wire
from gslopes.ask.classifiers.catalogue import CATALOGUE
from gslopes.ask.cost import LOCAL, ServiceOptions
from gslopes.ask.secrets import guard_logs
from gslopes.core.errors import GslopesError

if TYPE_CHECKING:
    import httpx
    import requests

    from gslopes.ask.transport import BoundedTransport


class Service(ABC):
    """A ``records.Classifier`` over a service, without ``parse``.

    SERVICE: its name in messages.  CREDENTIALS: variables that hold its credentials.
    ENDPOINT_VARIABLES: variables that may hold another address, where the option ``ENDPOINT_OPTION`` is empty.
    ERRORS: sections of errors.toml with its client's exceptions, beyond httpx's; empty: that of the service's name.

    Raises: ConfigError if the address is not safe to send credentials to.
    """

    Options: ClassVar[type[ServiceOptions]]
    SERVICE: ClassVar[str]
    CREDENTIALS: ClassVar[Sequence[str]] = ()
    ENDPOINT_VARIABLES: ClassVar[Sequence[str]] = ()
    ENDPOINT_OPTION: ClassVar[str] = "endpoint"
    ERRORS: ClassVar[Sequence[str]] = ()
    batch = 1

    def __init__(self, name: str, options: Any, device: str = "cpu") -> None:
        del device
        self.name = name
        self.notes: list[str] = []  # what a user should know, one sentence each
        self._options = options
        given = getattr(options, self.ENDPOINT_OPTION, "")
        self._address = wire.address(given, *self._endpoint_variables)
        self.version = wire.version_at(given, self._address)
        listed = CATALOGUE.get(name.partition(":")[0])  # none for another package's
        self.limits = (listed.limits if listed else LOCAL).adjusted(options)
        self._client: Any = None

    def prepare(self) -> None:
        """Find the credentials and make the client.  Raises: CredentialsError, ServiceError."""
        guard_logs()  # vendors write requests there
        wire.check_keys(self.SERVICE, self._variables)
        try:
            self._client, close = self._connected()
        except GslopesError:
            raise
        except Exception as error:
            raise self.gslopes_error(error, self._variables) from None
        weakref.finalize(self, close)

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Up to ``batch`` encoded pictures to the reply about each, as JSON can hold it, or an error about that one.

        Raises: Refused, Throttled, Unavailable, CredentialsError, ServiceError, ClassifierError.
        """
        if self._client is None:
            self.prepare()
        try:
            return self._answers(pictures)
        except GslopesError:
            raise
        except Exception as error:
            raise self.gslopes_error(error, self._variables) from None

    @classmethod
    def gslopes_error(cls, error: Exception, variables: Sequence[str] = ()) -> GslopesError:
        """Our error for one of the client's; any other error is raised as it is.

        variables: that hold the credentials; empty: ``CREDENTIALS``.
        """
        found = wire.innermost(error)
        kind = wire.kind_of(found, wire.classes_of("httpx", *(cls.ERRORS or (cls.SERVICE,))))
        if kind is None:
            raise error
        ours = type(found).__module__ == "gslopes.ask.transport"
        kind, text = (kind, str(found)) if ours else cls._details(found, kind)
        return wire.error_of(cls.SERVICE, kind, text, variables or cls.CREDENTIALS, wire.wait_of(found))

    # -- what a subclass defines --------------------------------------------------------------------------------------

    @abstractmethod
    def _connected(self) -> tuple[Any, Callable[[], object]]:
        """The client, and what closes it.  Raises: CredentialsError; whatever the client raises."""

    @abstractmethod
    def _answers(self, pictures: list[bytes]) -> list[object]:
        """The replies to one request.  Raises: whatever the client raises."""

    @classmethod
    def _details(cls, error: Exception, kind: wire.Kind) -> tuple[wire.Kind, str]:
        """The kind of an error by its status or code, where its class alone does not decide; the vendor's words."""
        return kind, f"{type(error).__name__}: {error}"

    # -- helpers ------------------------------------------------------------------------------------------------------

    @property
    def _variables(self) -> Sequence[str]:
        """The variables that hold the credentials under these options."""
        return self.CREDENTIALS

    @property
    def _endpoint_variables(self) -> Sequence[str]:
        return self.ENDPOINT_VARIABLES

    def _error(self, kind: wire.Kind, text: str) -> GslopesError:
        return wire.error_of(self.SERVICE, kind, text, self._variables)


class OneByOne(Service):
    """A service that takes one picture a request."""

    def _answers(self, pictures: list[bytes]) -> list[object]:
        return [self._answer(picture) for picture in pictures]

    @abstractmethod
    def _answer(self, picture: bytes) -> object:
        """The reply about one picture.  Raises: whatever the client raises."""


# -- vendors' clients, above our transport -----------------------------------------------------------------------------


def requests_adapter() -> Any:
    """What a ``requests.Session`` mounts to send by a ``BoundedTransport``."""
    import requests

    from gslopes.ask.transport import BoundedTransport

    transport = BoundedTransport()

    class Adapter(requests.adapters.BaseAdapter):
        def send(self, request: requests.PreparedRequest, *_: object, **__: object) -> requests.Response:
            reply = _sent(transport, request)
            found = requests.Response()
            found.status_code, found.reason = reply.status_code, reply.reason_phrase
            found.url, found.request = request.url or "", request
            found.headers = requests.structures.CaseInsensitiveDict(reply.headers)
            found.encoding = requests.utils.get_encoding_from_headers(found.headers)
            found.raw = io.BytesIO(reply.content)
            return found

        def close(self) -> None:
            transport.close()

    return Adapter()


def before_send(transport: BoundedTransport) -> Callable[..., Any]:
    """What boto3's event ``before-send`` calls to have its requests sent by a transport, which stays the caller's."""
    from botocore.awsrequest import AWSResponse

    class Raw(io.BytesIO):
        def stream(self, **_: object) -> Iterator[bytes]:
            yield self.read()

    def send(request: Any, **_: object) -> Any:
        reply = _sent(transport, request)
        return AWSResponse(request.url, reply.status_code, dict(reply.headers), Raw(reply.content))

    return send


def _sent(transport: BoundedTransport, request: Any) -> httpx.Response:
    """The reply to a prepared request of ``requests`` or botocore."""
    import httpx

    headers = {"accept-encoding": "identity"} | {name.lower(): value for name, value in request.headers.items()}
    body = request.body.read() if hasattr(request.body, "read") else request.body
    return transport.handle_request(httpx.Request(request.method, request.url, headers=headers, content=body or b""))
