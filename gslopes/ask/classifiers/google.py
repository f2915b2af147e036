"""``google``: Google Cloud Vision through its official client: labels, ``google:faces`` or ``google:safe-search``.

The client's REST transport is used: it can be pointed at another address, and its limits are those that are documented.
The service does not say which model answered.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

from gslopes.ask.classifiers import service
from gslopes.ask.classifiers.service import Service, requests_adapter
from gslopes.ask.cost import ServiceOptions
from gslopes.ask.names import ARGUMENT, OPERATIONAL
from gslopes.ask.secrets import remember_secret
from gslopes.core.errors import ConfigError, CredentialsError
from gslopes.core.files import read_json
from gslopes.core.records import Answer

VARIABLE, API_KEY = "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_API_KEY"
FEATURES = {"labels": "LABEL_DETECTION", "faces": "FACE_DETECTION", "safe-search": "SAFE_SEARCH_DETECTION"}


@dataclass(frozen=True, slots=True)
class GoogleOptions(ServiceOptions):
    """What to ask for.

    feature: labels, the likelihoods of a face, or those of SafeSearch.
    max_results: labels a picture at most; Google gives 10 unless asked, and rarely more than 50.
    model: ``builtin/stable`` or ``builtin/latest``; empty: Google's choice, the stable one.
    endpoint: another address, such as ``https://eu-vision.googleapis.com``; empty: ``GOOGLE_VISION_ENDPOINT`` or
        Google's own.
    images_per_minute: the project's quota of pictures.
    """

    feature: Literal["labels", "faces", "safe-search"] = field(default="labels", metadata=ARGUMENT)
    max_results: int = 50
    model: str = ""
    endpoint: str = ""
    images_per_minute: float = field(default=1800.0, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        ServiceOptions.__post_init__(self)
        if not 1 <= self.max_results <= 1000 or self.images_per_minute <= 0:
            raise ConfigError("google's max_results must be from 1 to 1000, and its images_per_minute above 0.")


_LIKELIHOODS = ("VERY_UNLIKELY", "UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY")


class Google(Service):
    """A ``records.Classifier`` over Google Cloud Vision, 16 pictures a request."""

    Options = GoogleOptions
    SERVICE, CREDENTIALS, ENDPOINT_VARIABLES = "google", (VARIABLE,), ("GOOGLE_VISION_ENDPOINT",)
    batch = 16

    def __init__(self, name: str, options: GoogleOptions, device: str = "cpu") -> None:
        super().__init__(name, options, device)
        self.limits = replace(self.limits, pictures_per_second=options.images_per_minute / 60)

    def parse(self, raw: object) -> Answer:
        """Descriptions and scores as they were returned (topicality is left out), or likelihoods from 0 to 1."""
        reply = cast("dict[str, Any]", raw)
        if self._options.feature == "faces":
            return Answer("answered", service.best(google_face(reply.get("faceAnnotations", []))))
        if self._options.feature == "safe-search":
            return Answer("answered", service.best(_likelihoods("unsafe", reply.get("safeSearchAnnotation", {}))))
        labels = reply.get("labelAnnotations", [])
        return Answer("answered", service.best((one["description"], one.get("score", 0.0)) for one in labels))

    def _connected(self) -> tuple[Any, Callable[[], object]]:
        from google.api_core.client_options import ClientOptions
        from google.cloud import vision

        key = os.environ.get(API_KEY, "") if not os.environ.get(VARIABLE) else ""
        remember_secret(key)
        client: Any = vision.ImageAnnotatorClient(
            credentials=None if key else self._credentials(),
            transport="rest",
            client_options=ClientOptions(api_endpoint=self._address or None, api_key=key or None),
        )
        for scheme in ("http://", "https://"):
            client.transport._session.mount(scheme, requests_adapter())
        return client, client.transport.close

    def _credentials(self) -> Any:
        import google.auth
        from google.auth.credentials import AnonymousCredentials
        from google.auth.exceptions import GoogleAuthError

        file = os.environ.get(VARIABLE, "")
        if self._address and not file:
            return AnonymousCredentials()  # another address: a gateway, or a fake
        try:
            found, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
        except (GoogleAuthError, OSError, ValueError):
            raise CredentialsError("google", [f"{VARIABLE} (or {API_KEY})"]) from None
        _remember(file)
        return found

    def _answers(self, pictures: list[bytes]) -> list[object]:
        wanted = {"type_": FEATURES[self._options.feature], "max_results": self._options.max_results}
        features = [wanted | ({"model": self._options.model} if self._options.model else {})]
        requests = [{"image": {"content": data}, "features": features} for data in pictures]
        reply = self._client.batch_annotate_images(requests=requests, retry=None, timeout=service.TIMEOUT)
        return [self._reply(one) for one in reply.responses]

    def _reply(self, response: Any) -> object:
        """The reply about one picture as the service wrote it, or what is wrong with that picture."""
        from google.protobuf.json_format import MessageToDict

        if response.error.code:
            return self._error(
                service.codes_of("google").get(str(response.error.code), "failed"), response.error.message
            )
        return MessageToDict(type(response).pb(response))

    @classmethod
    def _details(cls, error: Exception, kind: service.Kind) -> tuple[service.Kind, str]:
        status = getattr(error, "code", None)
        if kind == "failed" and isinstance(status, int):
            kind = service.kind_of_status(status)
        if kind == "lost" and "NewConnectionError" in repr(error):
            kind = "unavailable"
        text = str(getattr(error, "message", None) or f"{type(error).__name__}: {error}")
        return kind, re.sub(r"^[A-Z]+ https?://\S+ ", "", text)


def _remember(file: str) -> None:
    """Take what the vendor's own file holds out of every text from now on."""
    try:
        content = read_json(Path(file))
    except (OSError, ValueError):
        return
    for name in ("private_key", "private_key_id", "client_secret", "refresh_token"):
        for line in str(content.get(name, "")).splitlines():
            if "PRIVATE KEY" not in line:
                remember_secret(line)


def google_face(faces: list[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """The likelihoods of the largest face of ``faceAnnotations``; those that are unknown are left out.

    Emotions are unknown for new projects since October 2026, and for all from January 2027.
    """
    if not faces:
        return [(service.NO_FACE, 1.0)]
    face = max(faces, key=lambda one: _area(one.get("boundingPoly", {}).get("vertices", [])))
    return _likelihoods("face", {name: face[name] for name in face if name.endswith("Likelihood")})


def _likelihoods(prefix: str, said: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Likelihoods by name, as places on the scale from 0 to 1; those that are unknown are left out."""
    return [
        (f"{prefix}: {name.removesuffix('Likelihood')}", _LIKELIHOODS.index(text) / (len(_LIKELIHOODS) - 1))
        for name, text in said.items()
        if text in _LIKELIHOODS
    ]


def _area(vertices: list[Mapping[str, Any]]) -> float:
    sides = [[float(one.get(axis, 0)) for one in vertices] or [0.0] for axis in ("x", "y")]
    return (max(sides[0]) - min(sides[0])) * (max(sides[1]) - min(sides[1]))
