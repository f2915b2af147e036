"""``google``: the labels of Google Cloud Vision, through its official client.

The client's REST transport is used: it can be pointed at another address, and its limits are those that are documented.
The service does not say which model answered.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from gslopes.ask.classifiers import service
from gslopes.ask.classifiers.service import Service, requests_adapter
from gslopes.ask.cost import ServiceOptions
from gslopes.ask.names import OPERATIONAL
from gslopes.ask.secrets import remember_secret
from gslopes.core.errors import ConfigError, CredentialsError
from gslopes.core.files import read_json
from gslopes.core.records import Answer

VARIABLE, API_KEY = "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_API_KEY"


@dataclass(frozen=True, slots=True)
class GoogleOptions(ServiceOptions):
    """What to ask for.

    max_results: labels a picture at most; Google gives 10 unless asked, and rarely more than 50.
    model: ``builtin/stable`` or ``builtin/latest``; empty: Google's choice, the stable one.
    endpoint: another address, such as ``https://eu-vision.googleapis.com``; empty: ``GOOGLE_VISION_ENDPOINT`` or
        Google's own.
    images_per_minute: the project's quota of pictures.
    """

    max_results: int = 50
    model: str = ""
    endpoint: str = ""
    images_per_minute: float = field(default=1800.0, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        ServiceOptions.__post_init__(self)
        if not 1 <= self.max_results <= 1000 or self.images_per_minute <= 0:
            raise ConfigError("google's max_results must be from 1 to 1000, and its images_per_minute above 0.")


class Google(Service):
    """A ``records.Classifier`` over Google Cloud Vision, 16 pictures a request."""

    Options = GoogleOptions
    SERVICE, CREDENTIALS, ENDPOINT_VARIABLES = "google", (VARIABLE,), ("GOOGLE_VISION_ENDPOINT",)
    batch = 16

    def __init__(self, name: str, options: GoogleOptions, device: str = "cpu") -> None:
        super().__init__(name, options, device)
        self.limits = replace(self.limits, pictures_per_second=options.images_per_minute / 60)

    def parse(self, raw: object) -> Answer:
        """Descriptions and scores as they were returned; topicality is left out."""
        labels = cast("dict[str, Any]", raw).get("labelAnnotations", [])
        return Answer("answered", service.best((one["description"], one.get("score", 0.0)) for one in labels))

    def _connected(self) -> tuple[Any, Callable[[], object]]:
        from google.api_core.client_options import ClientOptions
        from google.cloud import vision

        key = os.environ.get(API_KEY, "") if not os.environ.get(VARIABLE) else ""
        remember_secret(key)
        client: Any = vision.ImageAnnotatorClient(
            credentials=None if key else _credentials(bool(self._address)),
            transport="rest",
            client_options=ClientOptions(api_endpoint=self._address or None, api_key=key or None),
        )
        for scheme in ("http://", "https://"):
            client.transport._session.mount(scheme, requests_adapter())
        return client, client.transport.close

    def _answers(self, pictures: list[bytes]) -> list[object]:
        from google.protobuf.json_format import MessageToDict

        wanted = {"type_": "LABEL_DETECTION", "max_results": self._options.max_results}
        features = [wanted | ({"model": self._options.model} if self._options.model else {})]
        requests = [{"image": {"content": data}, "features": features} for data in pictures]
        reply = self._client.batch_annotate_images(requests=requests, retry=None, timeout=service.TIMEOUT)
        answers: list[object] = []
        for one in reply.responses:
            if one.error.code:
                kind = service.codes_of("google").get(str(one.error.code), "failed")
                answers.append(self._error(kind, one.error.message))
            else:
                answers.append(MessageToDict(type(one).pb(one)))
        return answers

    @classmethod
    def _details(cls, error: Exception, kind: service.Kind) -> tuple[service.Kind, str]:
        status = getattr(error, "code", None)
        if kind == "failed" and isinstance(status, int):
            kind = service.kind_of_status(status)
        if kind == "lost" and "NewConnectionError" in repr(error):
            kind = "unavailable"
        text = str(getattr(error, "message", None) or f"{type(error).__name__}: {error}")
        return kind, re.sub(r"^[A-Z]+ https?://\S+ ", "", text)


def _credentials(elsewhere: bool) -> Any:
    """Google's own; none at another address.  Raises: CredentialsError."""
    import google.auth
    from google.auth.credentials import AnonymousCredentials
    from google.auth.exceptions import GoogleAuthError

    file = os.environ.get(VARIABLE, "")
    if elsewhere and not file:
        return AnonymousCredentials()  # a gateway, or a fake
    try:
        found, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    except (GoogleAuthError, OSError, ValueError):
        raise CredentialsError("google", [f"{VARIABLE} (or {API_KEY})"]) from None
    try:
        content = read_json(Path(file))
    except (OSError, ValueError):
        return found
    for name in ("private_key", "private_key_id", "client_secret", "refresh_token"):
        for line in str(content.get(name, "")).splitlines():
            if "PRIVATE KEY" not in line:
                remember_secret(line)
    return found
