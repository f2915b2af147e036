"""``imagga``: Imagga's /v2/tags; it has no official client, so httpx asks it.

The service does not tell which model answered.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from gslopes.core.errors import ConfigError, CredentialsError, GslopesError, ServiceError
from gslopes.core.records import Answer
from gslopes.score.classifiers import wire
from gslopes.score.classifiers.services import SERVICES
from gslopes.score.limits import ServiceOptions
from gslopes.score.scrub import guard_logs

VARIABLES = ("IMAGGA_API_KEY", "IMAGGA_API_SECRET")
ADDRESS = "https://api.imagga.com"

ERRORS: Mapping[str, wire.Kind] = {
    "httpx.HTTPError": "lost",
    "httpx.ConnectError": "unavailable",
    "httpx.ConnectTimeout": "unavailable",
    "httpx.PoolTimeout": "unavailable",
    "httpx.ProxyError": "unavailable",
    "httpx.LocalProtocolError": "failed",
    "httpx.UnsupportedProtocol": "service",
    "httpx.TooManyRedirects": "service",
    "httpx.HTTPStatusError": "failed",  # told apart by its status
    "httpx.InvalidURL": "service",
    "httpx.CookieConflict": "service",
    "httpx.StreamError": "lost",
    "json.decoder.JSONDecodeError": "lost",
}


@dataclass(frozen=True, slots=True)
class ImaggaOptions(ServiceOptions):
    """What to ask for.

    limit: tags a picture at most; -1: all.  threshold: in percent, what is below is left out.  language: of the tags.
    endpoint: another address; empty: ``IMAGGA_ENDPOINT`` or Imagga's own.
    """

    limit: int = -1
    threshold: float = 0.0
    language: str = "en"
    endpoint: str = ""

    def __post_init__(self) -> None:
        ServiceOptions.__post_init__(self)
        if self.limit < -1 or self.limit == 0 or not 0 <= self.threshold <= 100:
            raise ConfigError("imagga's limit must be 1 or more, or -1 for all, and its threshold in [0, 100].")
        if "," in self.language or not self.language:
            raise ConfigError("imagga's language must be a single language, such as en.", "Use one run for each.")


class Imagga:
    """A ``records.Classifier`` over Imagga, one picture a request.

    Raises: ConfigError if the endpoint is not safe to send credentials to.
    """

    Options = ImaggaOptions
    batch = 1

    def __init__(self, name: str, options: ImaggaOptions, device: str = "cpu") -> None:
        del device
        self.name = name
        self._options = options
        self._address = wire.address(options.endpoint, "IMAGGA_ENDPOINT")
        self.version = wire.version_at(options.endpoint, self._address)
        self.limits = SERVICES["imagga"].limits.adjusted(options)
        self._client: Any = None

    def prepare(self) -> None:
        """Find the credentials and make the client.  Raises: CredentialsError."""
        import httpx

        guard_logs()  # vendors write requests there
        key, secret = (os.environ.get(name, "") for name in VARIABLES)
        if not key or not secret:
            raise CredentialsError("imagga", [name for name in VARIABLES if not os.environ.get(name)])
        self._client = httpx.Client(
            base_url=self._address or ADDRESS,
            auth=(key, secret),
            timeout=httpx.Timeout(wire.TIMEOUT, connect=wire.CONNECT_TIMEOUT),
        )
        weakref.finalize(self, self._client.close)

    def ask(self, pictures: list[bytes]) -> list[object]:
        """One encoded picture to the reply about it.

        Raises: Refused, Throttled, Unavailable, ServiceError, ClassifierError.
        """
        if self._client is None:
            self.prepare()
        options = self._options
        fields = {"limit": options.limit, "threshold": options.threshold, "language": options.language}
        answers: list[object] = []
        for picture in pictures:
            try:
                reply = self._client.post("/v2/tags", data=fields, files={"image": ("picture", picture)})
                reply.raise_for_status()
                result = reply.json()["result"]
                _require_language(result["tags"], options.language)
            except GslopesError:
                raise
            except Exception as error:
                raise gslopes_error(error) from None
            answers.append(result)
        return answers

    def parse(self, raw: object) -> Answer:
        """Tags in the language that was asked for, and confidences divided by 100."""
        tags = cast("dict[str, Any]", raw)["tags"]
        language = self._options.language
        _require_language(tags, language)
        return Answer("answered", wire.best((one["tag"][language], one["confidence"] / 100) for one in tags))


def _require_language(tags: list[dict[str, Any]], language: str) -> None:
    """Raises: ServiceError if the tags are in another language than was asked for."""
    if given := next((sorted(one["tag"]) for one in tags if language not in one["tag"]), None):
        said = ", ".join(given) or "no language"
        raise ServiceError(
            f"imagga answers in {said}, not in {language}.", f"Write imagga:language={(given or ['en'])[0]}."
        )


def gslopes_error(error: Exception) -> GslopesError:
    """Our error for one of httpx; any other error as it is."""
    kind, wait = wire.kind_of(error, ERRORS), None
    text = f"{type(error).__name__}: {error}"
    response = getattr(error, "response", None)
    if kind == "failed" and response is not None:
        kind, text = _status(response)
        wait = wire.seconds_to_wait(response.headers)
    if isinstance(error, (KeyError, TypeError)):  # JSON, but not what is documented
        kind, text = "lost", "the reply has no result"
    if kind is None:
        raise error
    return wire.error_of("imagga", kind, text, VARIABLES, wait)


def _status(response: Any) -> tuple[wire.Kind, str]:
    """Imagga says what is wrong in the body; 403 is a plan's limit, and 400 is nearly always the picture."""
    try:
        text = str(response.json()["status"]["text"])
    except (ValueError, KeyError, TypeError):
        text = ""
    status = int(response.status_code)
    kind = "service" if status == 403 else wire.kind_of_status(status)
    blamed = any(word in text.lower() for word in ("image", "picture", "file"))
    return ("refused" if status in (400, 422) and blamed else kind), text or f"HTTP status {status}"
