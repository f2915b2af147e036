"""``azure``: the tags of Azure AI Vision, Image Analysis 4.0, or ``azure:moderation``, Azure AI Content Safety.

Both through their official clients, signed in by a key or, with ``auth=entra``, by Entra ID: whatever identity
``azure.identity.DefaultAzureCredential`` finds (a service principal's variables, a managed identity, ``az login``).
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from gslopes.core.errors import CredentialsError, GslopesError
from gslopes.core.records import Answer
from gslopes.score.classifiers import wire
from gslopes.score.classifiers.features import azure_safety
from gslopes.score.classifiers.services import SERVICES
from gslopes.score.limits import ServiceOptions
from gslopes.score.names import ARGUMENT, OPERATIONAL
from gslopes.score.scrub import guard_logs

VARIABLES = ("VISION_ENDPOINT", "VISION_KEY")
ENTRA = ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET")  # or a managed identity, or az login
MODERATION = ("CONTENT_SAFETY_ENDPOINT", "CONTENT_SAFETY_KEY")
_AZURE_HOSTS = (".cognitiveservices.azure.com", ".api.cognitive.microsoft.com", ".services.ai.azure.com")

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
_CLIENTS = {
    "tags": ("azure.ai.vision.imageanalysis", "ImageAnalysisClient"),
    "moderation": ("azure.ai.contentsafety", "ContentSafetyClient"),
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

    feature: tags, or the severities of Content Safety.
    language: of the tags.  model_version: ``latest`` or a date; what answered is recorded either way.
    endpoint: of the resource; empty: ``VISION_ENDPOINT``, or ``CONTENT_SAFETY_ENDPOINT``.
    auth: ``key``, or ``entra`` for Entra ID.
    """

    feature: Literal["tags", "moderation"] = field(default="tags", metadata=ARGUMENT)
    language: str = "en"
    model_version: str = "latest"
    endpoint: str = ""
    auth: Literal["key", "entra"] = field(default="key", metadata=OPERATIONAL)


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
        self._variables = MODERATION if options.feature == "moderation" else VARIABLES
        self._address = wire.address(options.endpoint, self._variables[0])
        of_azure = (urlsplit(self._address).hostname or "").endswith(_AZURE_HOSTS)
        self.version = "" if of_azure else wire.version_at(options.endpoint, self._address)
        self.limits = SERVICES["azure"].limits.adjusted(options)
        self._client: Any = None

    def prepare(self) -> None:
        """Find the credentials and make the client.  Raises: CredentialsError."""
        from azure.core.pipeline.policies import RetryPolicy

        guard_logs()  # vendors write requests there
        package, kind = _CLIENTS[self._options.feature]
        self._client = getattr(import_module(package), kind)(
            self._address,
            self._credential(),
            retry_policy=RetryPolicy.no_retries(),  # the careful client sends again, nobody else
            connection_timeout=wire.CONNECT_TIMEOUT,
            read_timeout=wire.TIMEOUT,
        )
        weakref.finalize(self, self._client.close)

    def _credential(self) -> Any:
        """A key, or an identity that asks Entra ID for tokens.  Raises: CredentialsError, UsageError."""
        where, name = self._variables
        by_key = self._options.auth == "key"
        needed = {where: self._address} | ({name: os.environ.get(name)} if by_key else {})
        if missing := [variable for variable, value in needed.items() if not value]:
            raise CredentialsError("azure", missing)
        if by_key:
            from azure.core.credentials import AzureKeyCredential

            return AzureKeyCredential(str(needed[name]))
        from azure.identity import DefaultAzureCredential

        return DefaultAzureCredential()

    def ask(self, pictures: list[bytes]) -> list[object]:
        """One encoded picture to the reply about it.

        Raises: Refused, Throttled, Unavailable, ServiceError, ClassifierError.
        """
        if self._client is None:
            self.prepare()
        answers: list[object] = []
        for picture in pictures:
            try:
                reply = self._analyze(picture)
            except Exception as error:
                known = self._variables if self._options.auth == "key" else (self._variables[0], *ENTRA)
                raise gslopes_error(error, known) from None
            answers.append(dict(reply.as_dict()))
        return answers

    def parse(self, raw: object) -> Answer:
        """Names and confidences of the tags, or severities from 0 to 1."""
        reply = cast("dict[str, Any]", raw)
        if self._options.feature == "moderation":
            return Answer("answered", wire.best(azure_safety(reply["categoriesAnalysis"])))
        tags = reply["tagsResult"]["values"]
        labels = wire.best((one["name"], one["confidence"]) for one in tags)
        return Answer("answered", labels, version=str(reply.get("modelVersion", "")))

    def _analyze(self, picture: bytes) -> Any:
        options = self._options
        # Tokens go unencrypted to this machine alone: see ``wire.address``.
        unencrypted = self._address.startswith("http://") and options.auth == "entra"
        open_way: dict[str, Any] = {"enforce_https": False} if unencrypted else {}
        if options.feature == "moderation":
            from azure.ai.contentsafety.models import AnalyzeImageOptions, ImageData

            return self._client.analyze_image(AnalyzeImageOptions(image=ImageData(content=picture)), **open_way)
        pinned = {} if options.model_version == "latest" else {"model_version": options.model_version}
        features, more = self._request()
        return self._client.analyze(picture, features, language=options.language, **more, **pinned, **open_way)

    def _request(self) -> tuple[list[str], dict[str, Any]]:
        """The features that are asked for, and what else stands in the request."""
        return ["tags"], {}


def gslopes_error(error: Exception, variables: tuple[str, ...] = VARIABLES) -> GslopesError:
    """Our error for one of Azure's clients; any other error as it is."""
    kind, wait = wire.kind_of(error, ERRORS), None
    status, response = getattr(error, "status_code", None), getattr(error, "response", None)
    codes = _codes(error)
    if kind == "failed" and isinstance(status, int):
        kind = "refused" if codes & PICTURES else wire.kind_of_status(status)
        wait = wire.seconds_to_wait(getattr(response, "headers", None))
    if kind == "lost" and type(error).__name__ == "JSONDecodeError":
        error = ValueError("the reply is not JSON")
    if kind is None:
        raise error
    text = getattr(getattr(error, "error", None), "message", None) or f"{type(error).__name__}: {error}"
    return wire.error_of("azure", kind, str(text), variables, wait)


def _codes(error: Exception) -> set[str]:
    """The codes of an error, the outer and the inner one."""
    outer = getattr(error, "error", None)
    inner = getattr(outer, "innererror", None)
    return {str(getattr(outer, "code", "")), str(inner.get("code", "")) if isinstance(inner, dict) else ""}
