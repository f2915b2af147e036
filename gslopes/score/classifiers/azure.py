"""``azure``: the tags of Azure AI Vision, Image Analysis 4.0, through its official client."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from gslopes.core.errors import CredentialsError, GslopesError
from gslopes.core.records import Answer
from gslopes.score.classifiers import wire
from gslopes.score.classifiers.services import SERVICES
from gslopes.score.limits import ServiceOptions
from gslopes.score.scrub import guard_logs

VARIABLES = ("VISION_ENDPOINT", "VISION_KEY")
_OWN = (".cognitiveservices.azure.com", ".api.cognitive.microsoft.com", ".services.ai.azure.com")

# Errors with an HTTP status are told apart by it; here are all others.
ERRORS: Mapping[str, wire.Kind] = {
    "azure.core.exceptions.AzureError": "failed",
    "azure.core.exceptions.ServiceRequestError": "unavailable",  # the request did not leave
    "azure.core.exceptions.ServiceResponseError": "lost",  # it did, and no whole answer came
    "azure.core.exceptions.HttpResponseError": "failed",
    "azure.core.exceptions.DecodeError": "lost",
    "azure.core.exceptions.ClientAuthenticationError": "credentials",
    "azure.core.exceptions.ResourceNotFoundError": "service",
    "azure.core.exceptions.TooManyRedirectsError": "service",
    "azure.core.exceptions.StreamConsumedError": "lost",
    "azure.core.exceptions.StreamClosedError": "lost",
    "azure.core.exceptions.ResponseNotReadError": "lost",
    "azure.core.exceptions.SerializationError": "failed",
    "azure.core.exceptions.DeserializationError": "lost",
    "json.decoder.JSONDecodeError": "lost",
}
# What Azure says inside a 400 when the picture is to blame.
PICTURES = frozenset(
    {
        "InvalidImageFormat",
        "InvalidImageSize",
        "InvalidImageDimension",
        "InvalidImageData",
        "NotSupportedImage",
        "UnsupportedMediaType",
        "ResponsibleAIPolicyViolation",
        "ContentFiltered",
    }
)


@dataclass(frozen=True, slots=True)
class AzureOptions(ServiceOptions):
    """What to ask for.

    language: of the tags.  model_version: ``latest`` or a date; what answered is recorded either way.
    endpoint: of the resource; empty: ``VISION_ENDPOINT``.
    """

    language: str = "en"
    model_version: str = "latest"
    endpoint: str = ""


class Azure:
    """A ``records.Classifier`` over Azure's Image Analysis, one picture a request.

    Raises: ConfigError if the endpoint is not safe to send credentials to.
    """

    Options = AzureOptions
    batch = 1

    def __init__(self, name: str, options: AzureOptions, device: str = "cpu") -> None:
        del device
        self.name = name
        self._options = options
        self._address = wire.address(options.endpoint, "VISION_ENDPOINT")
        own = (urlsplit(self._address).hostname or "").endswith(_OWN)
        self.version = "" if own else wire.version_at(options.endpoint, self._address)
        self.limits = SERVICES["azure"].limits.adjusted(options)
        self._client: Any = None

    def prepare(self) -> None:
        """Find the credentials and make the client.  Raises: CredentialsError."""
        from azure.ai.vision.imageanalysis import ImageAnalysisClient
        from azure.core.credentials import AzureKeyCredential
        from azure.core.pipeline.policies import RetryPolicy

        guard_logs()  # vendors write requests there
        there = {"VISION_ENDPOINT": self._address, "VISION_KEY": os.environ.get("VISION_KEY", "")}
        if missing := [name for name, value in there.items() if not value]:
            raise CredentialsError("azure", missing)
        self._client = ImageAnalysisClient(
            self._address,
            AzureKeyCredential(there["VISION_KEY"]),
            retry_policy=RetryPolicy.no_retries(),  # the careful client sends again, nobody else
            connection_timeout=wire.CONNECT_TIMEOUT,
            read_timeout=wire.TIMEOUT,
        )
        weakref.finalize(self, self._client.close)

    def ask(self, pictures: list[bytes]) -> list[object]:
        """One encoded picture to the reply about it.

        Raises: Refused, Throttled, Unavailable, ServiceError, ClassifierError.
        """
        if self._client is None:
            self.prepare()
        pinned = {} if self._options.model_version == "latest" else {"model_version": self._options.model_version}
        answers: list[object] = []
        for picture in pictures:
            try:
                reply = self._client.analyze(picture, ["tags"], language=self._options.language, **pinned)
            except Exception as error:
                raise ours(error) from None
            answers.append(dict(reply.as_dict()))
        return answers

    def parse(self, raw: object) -> Answer:
        """Names and confidences of the tags."""
        reply = cast("dict[str, Any]", raw)
        tags = reply["tagsResult"]["values"]
        labels = wire.best((one["name"], one["confidence"]) for one in tags)
        return Answer("answered", labels, version=str(reply.get("modelVersion", "")))


def ours(error: Exception) -> GslopesError:
    """Our error for one of Azure's client; the error itself if it is none of its."""
    kind, wait = wire.kind_of(error, ERRORS), None
    status, response = getattr(error, "status_code", None), getattr(error, "response", None)
    codes = _codes(error)
    if kind == "failed" and isinstance(status, int):
        kind = "refused" if codes & PICTURES else wire.kind_of_status(status)
        wait = wire.seconds_to_wait(getattr(response, "headers", None))
    if kind == "lost" and type(error).__name__ == "JSONDecodeError":
        error = ValueError("the reply is no JSON")
    if kind is None:
        raise error
    text = getattr(getattr(error, "error", None), "message", None) or f"{type(error).__name__}: {error}"
    return wire.error_of("azure", kind, str(text), VARIABLES, wait)


def _codes(error: Exception) -> set[str]:
    """The codes of an error, the outer and the inner one."""
    outer = getattr(error, "error", None)
    inner = getattr(outer, "innererror", None)
    return {str(getattr(outer, "code", "")), str(inner.get("code", "")) if isinstance(inner, dict) else ""}
