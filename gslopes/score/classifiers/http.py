"""``http:URL``: a team's own endpoint, by a small JSON protocol.

The request is a POST of ``{"pictures": ["<base64 of a JPEG or PNG file>", ...]}``, at most ``batch`` of them, with the
header ``Authorization: Bearer ...`` if ``token=VARIABLE`` names an environment variable that holds a token. The reply
has an entry for each picture, in their order:

    {"version": "2026-05-01", "answers": [{"labels": {"nurse": 0.93, "person": 0.99}}, {"refused": "no face"}]}

Scores are in [0, 1]; ``version`` of the model may be left out. An endpoint that is busy answers 429 or 503, with
``Retry-After`` in seconds if it likes; 413, 415 and 422 refuse the picture for good; 401 and 403 the credentials.
"""

from __future__ import annotations

import base64
import os
import weakref
from dataclasses import dataclass, field
from typing import Any, cast

from gslopes.core.errors import ConfigError, CredentialsError, Refused, ServiceError
from gslopes.core.records import Answer
from gslopes.core.secrets import secrets_within
from gslopes.score.classifiers import wire
from gslopes.score.classifiers.local import LOCALS
from gslopes.score.limits import ServiceOptions
from gslopes.score.names import ARGUMENT, OPERATIONAL
from gslopes.score.scrub import remember_secret, scrub


@dataclass(frozen=True, slots=True)
class HttpOptions(ServiceOptions):
    """Where to ask, and how.

    url: the address, or ``env:VARIABLE`` for one that holds a key: it is read from there and stored nowhere.
    version: of the model behind it, if its replies do not say; part of the cache's key.
    token: the name of the environment variable that holds the bearer token; empty: none is sent.
    batch: pictures in one request.
    """

    url: str = field(kw_only=True, metadata=ARGUMENT)
    version: str = ""
    token: str = ""
    batch: int = field(default=8, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        ServiceOptions.__post_init__(self)
        is_address = self.url.removeprefix("http:").removeprefix("https:").startswith("//")
        if not (is_address or self.url.removeprefix("env:").isidentifier()) or self.batch < 1:
            raise ConfigError(
                f"http needs an address and a batch of at least 1, not {scrub(self.url)!r}.", "http:https://host/path"
            )


class HttpClassifier:
    """A ``records.Classifier`` over a team's own endpoint.

    Raises: ConfigError if a token would travel unencrypted to another machine, or stands in the address.
    """

    Options = HttpOptions

    def __init__(self, name: str, options: HttpOptions, device: str = "cpu") -> None:
        del device
        url = options.url if options.url.startswith("http") else f"http:{options.url}"
        self._variable = options.url.removeprefix("env:") if options.url.startswith("env:") else ""
        self.name = name
        self.version = options.version
        self.batch = options.batch
        self.limits = LOCALS["http"].limits.adjusted(options)
        self._url = "" if self._variable else wire.address(url) if options.token else url
        self._token = options.token
        self._client: Any = None

    def prepare(self) -> None:
        """Find the token and make the client.  Raises: CredentialsError."""
        import httpx

        headers = {}
        if self._variable:
            self._url = os.environ.get(self._variable, "")
            if not self._url:
                raise CredentialsError("http", [self._variable])
            for part in (self._url, *secrets_within(self._url)):
                remember_secret(part)
            self._url = wire.address(self._url)
        if self._token:
            token = os.environ.get(self._token, "")
            if not token:
                raise CredentialsError("http", [self._token])
            remember_secret(token)
            headers = {"Authorization": f"Bearer {token}"}
        self._client = httpx.Client(headers=headers, timeout=httpx.Timeout(wire.TIMEOUT, connect=wire.CONNECT_TIMEOUT))
        weakref.finalize(self, self._client.close)

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to one entry of the reply each, with the reply's version.

        Raises: Refused, Throttled, Unavailable, CredentialsError, ServiceError.
        """
        if self._client is None:
            self.prepare()
        import httpx

        content = {"pictures": [base64.b64encode(data).decode("ascii") for data in pictures]}
        try:
            reply = self._client.post(self._url, json=content)
            if reply.status_code == 200:
                body = reply.json()
                version = str(body.get("version", ""))
                return [{**answer, "version": version} for answer in body["answers"]]
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError) as error:
            raise wire.error_of("http", "unavailable", f"{type(error).__name__}: {error}", ()) from None
        except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise ServiceError(
                f"The address of http cannot be used: {scrub(str(error))}.", "Check the address."
            ) from None
        except (httpx.HTTPError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise wire.error_of("http", "lost", f"{type(error).__name__}: {error}", ()) from None
        if reply.status_code == 422:
            raise Refused(scrub(reply.text) or "it cannot be processed")
        kind, wait = wire.kind_of_status(reply.status_code), wire.seconds_to_wait(reply.headers)
        kind = "service" if kind == "failed" else kind  # the request is ours: it would fail for every picture
        text = f"status {reply.status_code}: {reply.text}"
        raise wire.error_of("http", kind, text, [self._token or "token=VARIABLE"], wait)

    def parse(self, raw: object) -> Answer:
        """One entry to its labels, highest score first, or to a refusal."""
        entry = cast("dict[str, Any]", raw)
        version = str(entry.get("version", ""))
        if "refused" in entry:
            return Answer("refused", (), str(entry["refused"]), version)
        return Answer("answered", tuple(sorted(entry["labels"].items(), key=lambda pair: -pair[1])), version=version)
