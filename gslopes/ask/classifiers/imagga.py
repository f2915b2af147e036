"""``imagga``: Imagga's /v2/tags; it has no official client, so httpx asks it.

The service does not say which model answered.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from gslopes.ask.classifiers import service
from gslopes.ask.classifiers.service import Service
from gslopes.ask.cost import ServiceOptions
from gslopes.core.errors import ConfigError, CredentialsError, ServiceError
from gslopes.core.records import Answer

HOST = "https://api.imagga.com"


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


class Imagga(Service):
    """A ``records.Classifier`` over Imagga, one picture a request."""

    Options = ImaggaOptions
    SERVICE, CREDENTIALS, ENDPOINT_VARIABLES = "imagga", ("IMAGGA_API_KEY", "IMAGGA_API_SECRET"), ("IMAGGA_ENDPOINT",)

    def parse(self, raw: object) -> Answer:
        """Tags in the language that was asked for, and confidences divided by 100."""
        tags = cast("dict[str, Any]", raw)["tags"]
        language = self._options.language
        _require_language(tags, language)
        return Answer("answered", service.best((one["tag"][language], one["confidence"] / 100) for one in tags))

    def _connected(self) -> tuple[Any, Callable[[], object]]:
        from gslopes.ask import transport

        if missing := [name for name in self.CREDENTIALS if not os.environ.get(name)]:
            raise CredentialsError("imagga", missing)
        key, secret = (os.environ[name] for name in self.CREDENTIALS)
        client = transport.client(base_url=self._address or HOST, auth=(key, secret))
        return client, client.close

    def _answer(self, picture: bytes) -> object:
        options = self._options
        fields = {"limit": options.limit, "threshold": options.threshold, "language": options.language}
        reply = self._client.post("/v2/tags", data=fields, files={"image": ("picture", picture)})
        reply.raise_for_status()
        result = reply.json()["result"]
        _require_language(result["tags"], options.language)
        return result

    @classmethod
    def _details(cls, error: Exception, kind: service.Kind) -> tuple[service.Kind, str]:
        """Imagga says what is wrong in the body; 403 is a plan's limit, and 400 is nearly always the picture."""
        if isinstance(error, (KeyError, TypeError)):
            return kind, "the reply has no result"
        response: Any = getattr(error, "response", None)
        if response is None:
            return super()._details(error, kind)
        try:
            text = str(response.json()["status"]["text"])
        except (ValueError, KeyError, TypeError):
            text = ""
        status = int(response.status_code)
        kind = "service" if status == 403 else service.kind_of_status(status)
        blamed = any(word in text.lower() for word in ("image", "picture", "file"))
        return ("refused" if status in (400, 422) and blamed else kind), text or f"HTTP status {status}"


def _require_language(tags: list[dict[str, Any]], language: str) -> None:
    """Raises: ServiceError if the tags are in another language than was asked for."""
    if given := next((sorted(one["tag"]) for one in tags if language not in one["tag"]), None):
        said = ", ".join(given) or "no language"
        raise ServiceError(
            f"imagga answers in {said}, not in {language}.", f"Write imagga:language={(given or ['en'])[0]}."
        )
