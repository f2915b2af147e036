"""``google``: Google Cloud Vision through its official client: labels, ``google:faces`` or ``google:safe-search``.

The client's REST transport is used: it can be pointed at another address, and its limits are those that are documented.
The service does not tell which model answered.
"""

from __future__ import annotations

import json
import os
import re
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from dataclasses import field as option
from typing import Any, Literal, cast

from gslopes.core.errors import ConfigError, CredentialsError, GslopesError
from gslopes.core.records import Answer
from gslopes.score.classifiers import wire
from gslopes.score.classifiers.features import google_face, google_safe_search
from gslopes.score.classifiers.services import SERVICES
from gslopes.score.limits import ServiceOptions
from gslopes.score.names import ARGUMENT, OPERATIONAL
from gslopes.score.scrub import guard_logs, remember_secret

VARIABLE = "GOOGLE_APPLICATION_CREDENTIALS"
API_KEY = "GOOGLE_API_KEY"
VARIABLES = (VARIABLE,)
FEATURES = {"labels": "LABEL_DETECTION", "faces": "FACE_DETECTION", "safe-search": "SAFE_SEARCH_DETECTION"}

# google.api_core's errors with an HTTP status are told apart by it; here are all others.
ERRORS: Mapping[str, wire.Kind] = {
    "google.api_core.exceptions.GoogleAPIError": "failed",
    "google.api_core.exceptions.DuplicateCredentialArgs": "credentials",
    "google.api_core.exceptions.RetryError": "unavailable",
    "google.api_core.exceptions.ResumableTransferError": "lost",
    "google.api_core.exceptions.AsyncRestUnsupportedParameterError": "service",
    "google.auth.exceptions.GoogleAuthError": "credentials",
    "google.auth.exceptions.TransportError": "unavailable",
    "google.auth.exceptions.TimeoutError": "unavailable",
    "google.auth.exceptions.ResponseError": "unavailable",
    "requests.exceptions.RequestException": "lost",  # also a body that ends too early
    "requests.exceptions.ConnectTimeout": "unavailable",
    "requests.exceptions.ProxyError": "unavailable",
    "requests.exceptions.SSLError": "service",
    "requests.exceptions.URLRequired": "service",
    "requests.exceptions.MissingSchema": "service",
    "requests.exceptions.InvalidSchema": "service",
    "requests.exceptions.InvalidURL": "service",
    "requests.exceptions.InvalidHeader": "credentials",
    "requests.exceptions.TooManyRedirects": "service",
    "google.protobuf.json_format.Error": "lost",  # a reply that is no JSON, or other JSON
}
# What is said about one picture of a request: canonical codes, google.rpc.Code.
_CODES: Mapping[int, wire.Kind] = {
    3: "refused",
    7: "refused",
    9: "refused",
    11: "refused",
    8: "throttled",
    1: "unavailable",
    2: "unavailable",
    4: "unavailable",
    10: "unavailable",
    13: "unavailable",
    14: "unavailable",
    15: "unavailable",
    16: "credentials",
}


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

    feature: Literal["labels", "faces", "safe-search"] = option(default="labels", metadata=ARGUMENT)
    max_results: int = 50
    model: str = ""
    endpoint: str = ""
    images_per_minute: float = option(default=1800.0, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        ServiceOptions.__post_init__(self)
        if not 1 <= self.max_results <= 1000 or self.images_per_minute <= 0:
            raise ConfigError("google's max_results must be from 1 to 1000, and its images_per_minute above 0.")


class Google:
    """A ``records.Classifier`` over Google Cloud Vision.

    Raises: ConfigError if the endpoint is not safe to send credentials to.
    """

    Options = GoogleOptions
    batch = 16

    def __init__(self, name: str, options: GoogleOptions, device: str = "cpu") -> None:
        del device
        self.name = name
        self._options = options
        self._address = wire.address(options.endpoint, "GOOGLE_VISION_ENDPOINT")
        self.version = wire.version_at(options.endpoint, self._address)
        limits = SERVICES["google"].limits.adjusted(options)
        self.limits = replace(limits, pictures_per_second=options.images_per_minute / 60)
        self._client: Any = None

    def prepare(self) -> None:
        """Find the credentials and make the client.  Raises: CredentialsError."""
        from google.api_core.client_options import ClientOptions
        from google.cloud import vision

        guard_logs()  # vendors write requests there
        key = os.environ.get(API_KEY, "") if not os.environ.get(VARIABLE) else ""
        remember_secret(key)
        self._client = vision.ImageAnnotatorClient(
            credentials=None if key else self._credentials(),
            transport="rest",
            client_options=ClientOptions(api_endpoint=self._address or None, api_key=key or None),
        )
        weakref.finalize(self, self._client.transport.close)

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Up to 16 encoded pictures to the reply about each, as a dictionary, or an error about that one alone.

        Raises: Throttled, Unavailable, ServiceError, ClassifierError.
        """
        if self._client is None:
            self.prepare()
        wanted = {"type_": FEATURES[self._options.feature], "max_results": self._options.max_results}
        features = [wanted | ({"model": self._options.model} if self._options.model else {})]
        requests = [{"image": {"content": data}, "features": features} for data in pictures]
        try:
            reply = self._client.batch_annotate_images(requests=requests, retry=None, timeout=wire.TIMEOUT)
        except Exception as error:
            raise gslopes_error(error) from None
        answers = [_answer(one) for one in reply.responses]
        if len(answers) != len(pictures):
            message = f"{len(answers)} answers came to {len(pictures)} pictures"
            raise wire.error_of("google", "lost", message, VARIABLES)
        return answers

    def parse(self, raw: object) -> Answer:
        """Descriptions and scores as they were returned (topicality is left out), or likelihoods from 0 to 1."""
        reply = cast("dict[str, Any]", raw)
        if self._options.feature == "faces":
            return Answer("answered", wire.best(google_face(reply.get("faceAnnotations", []))))
        if self._options.feature == "safe-search":
            return Answer("answered", wire.best(google_safe_search(reply.get("safeSearchAnnotation", {}))))
        labels = reply.get("labelAnnotations", [])
        return Answer("answered", wire.best((one["description"], one.get("score", 0.0)) for one in labels))

    def _credentials(self) -> Any:
        import google.auth
        from google.auth.credentials import AnonymousCredentials
        from google.auth.exceptions import GoogleAuthError

        if self._address and not os.environ.get(VARIABLE):
            return AnonymousCredentials()  # another address: a gateway, or a fake
        try:
            found, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
        except (GoogleAuthError, OSError, ValueError):
            raise CredentialsError("google", [f"{VARIABLE} (or {API_KEY})"]) from None
        _remember(os.environ.get(VARIABLE, ""))
        return found


def gslopes_error(error: Exception) -> GslopesError:
    """Our error for one of Google's client; any other error as it is."""
    kind, wait = wire.kind_of(error, ERRORS), None
    status = getattr(error, "code", None)
    if isinstance(status, int) and kind == "failed":
        kind = wire.kind_of_status(status)
        response = getattr(error, "response", None)
        wait = wire.seconds_to_wait(getattr(response, "headers", None))
    if kind == "lost" and "NewConnectionError" in repr(error):
        kind = "unavailable"
    if kind is None:
        raise error
    text = str(getattr(error, "message", None) or f"{type(error).__name__}: {error}")
    return wire.error_of("google", kind, re.sub(r"^[A-Z]+ https?://\S+ ", "", text), VARIABLES, wait)


def _answer(response: Any) -> object:
    """The reply about one picture as the service wrote it, or what is wrong with that picture."""
    from google.protobuf.json_format import MessageToDict

    if response.error.code:
        return wire.error_of("google", _CODES.get(response.error.code, "failed"), response.error.message, VARIABLES)
    return MessageToDict(type(response).pb(response))


def _remember(file: str) -> None:
    """Take what the vendor's own file holds out of every text from now on."""
    try:
        with open(file, encoding="utf-8") as opened:
            content = json.load(opened)
    except (OSError, ValueError):
        return
    for name in ("private_key", "private_key_id", "client_secret", "refresh_token"):
        for line in str(content.get(name, "")).splitlines():
            if "PRIVATE KEY" not in line:
                remember_secret(line)
