"""``azure``: the tags of Azure AI Vision, Image Analysis 4.0, or ``azure:moderation``, Azure AI Content Safety.

Both through their official clients, signed in by a key or, with ``auth=entra``, by Entra ID: whatever identity
``azure.identity.DefaultAzureCredential`` finds (a service principal's variables, a managed identity, ``az login``).
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from gslopes.ask.classifiers import service
from gslopes.ask.classifiers.service import OneByOne, requests_adapter
from gslopes.ask.cost import ServiceOptions
from gslopes.ask.names import ARGUMENT, OPERATIONAL
from gslopes.core.errors import CredentialsError
from gslopes.core.records import Answer

ENTRA = ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET")  # or a managed identity, or az login
_AZURE_HOSTS = (".cognitiveservices.azure.com", ".api.cognitive.microsoft.com", ".services.ai.azure.com")


class AzureService(OneByOne):
    """What Azure's two services share: address and key (or Entra ID), errors, one picture a request.

    CLIENT: module and class of the official client.  CREDENTIALS: of the address and of the key.
    """

    SERVICE, CREDENTIALS = "azure", ("VISION_ENDPOINT", "VISION_KEY")
    CLIENT = ("azure.ai.vision.imageanalysis", "ImageAnalysisClient")

    def __init__(self, name: str, options: Any, device: str = "cpu") -> None:
        super().__init__(name, options, device)
        if (urlsplit(self._address).hostname or "").endswith(_AZURE_HOSTS):
            self.version = ""

    @property
    def _endpoint_variables(self) -> Sequence[str]:
        return self.CREDENTIALS[:1]

    @property
    def _variables(self) -> Sequence[str]:
        return self.CREDENTIALS if self._options.auth == "key" else (self.CREDENTIALS[0], *ENTRA)

    def _connected(self) -> tuple[Any, Callable[[], object]]:
        import requests
        from azure.core.pipeline.policies import RetryPolicy
        from azure.core.pipeline.transport import RequestsTransport

        session = requests.Session()
        for scheme in ("http://", "https://"):
            session.mount(scheme, requests_adapter())
        module, kind = self.CLIENT
        client = getattr(import_module(module), kind)(
            self._address,
            self._credential(),
            retry_policy=RetryPolicy.no_retries(),  # ask.retry sends again, and nothing else
            transport=RequestsTransport(session=session),
        )
        return client, client.close

    def _credential(self) -> Any:
        """A key, or an identity that asks Entra ID for tokens.  Raises: CredentialsError."""
        where, name = self.CREDENTIALS
        by_key = self._options.auth == "key"
        needed = {where: self._address} | ({name: os.environ.get(name)} if by_key else {})
        if missing := [variable for variable, value in needed.items() if not value]:
            raise CredentialsError("azure", missing)
        if by_key:
            from azure.core.credentials import AzureKeyCredential

            return AzureKeyCredential(str(needed[name]))
        from azure.identity import DefaultAzureCredential

        return DefaultAzureCredential()

    def _answer(self, picture: bytes) -> object:
        # Tokens go unencrypted to this machine alone: see ``service.address``.
        unencrypted = self._address.startswith("http://") and self._options.auth == "entra"
        return dict(self._analysed(picture, **({"enforce_https": False} if unencrypted else {})).as_dict())

    @abstractmethod
    def _analysed(self, picture: bytes, **more: Any) -> Any:
        """The client's reply about a picture.  more: of the transport."""

    def _analysed_for(self, feature: str, picture: bytes, **more: Any) -> Any:
        version = self._options.model_version
        pinned = {} if version == "latest" else {"model_version": version}
        return self._client.analyze(picture, [feature], **more, **pinned)

    @classmethod
    def _details(cls, error: Exception, kind: service.Kind) -> tuple[service.Kind, str]:
        status, outer = getattr(error, "status_code", None), getattr(error, "error", None)
        inner = getattr(outer, "innererror", None)
        codes = {str(getattr(outer, "code", "")), str(inner.get("code", "")) if isinstance(inner, dict) else ""}
        if kind == "failed" and isinstance(status, int):
            kind = "refused" if codes & set(service.codes_of("azure")) else service.kind_of_status(status)
        if type(error).__name__ == "JSONDecodeError":
            return kind, "the reply is not JSON"
        return kind, str(getattr(outer, "message", None) or f"{type(error).__name__}: {error}")


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
    """Makes the ``records.Classifier`` of the feature."""

    Options = AzureOptions

    def __new__(cls, name: str, options: AzureOptions, device: str = "cpu") -> Any:
        """Tags or severities."""
        return (AzureSafety if options.feature == "moderation" else AzureTags)(name, options, device)


class AzureTags(AzureService):
    """A ``records.Classifier`` over the tags of Azure's Image Analysis."""

    Options = AzureOptions

    def parse(self, raw: object) -> Answer:
        """Names and confidences of the tags."""
        reply = cast("dict[str, Any]", raw)
        labels = service.best((one["name"], one["confidence"]) for one in reply["tagsResult"]["values"])
        return Answer("answered", labels, version=str(reply.get("modelVersion", "")))

    def _analysed(self, picture: bytes, **more: Any) -> Any:
        return self._analysed_for("tags", picture, language=self._options.language, **more)


class AzureSafety(AzureService):
    """A ``records.Classifier`` over the severities of Azure's Content Safety."""

    Options = AzureOptions
    CREDENTIALS = ("CONTENT_SAFETY_ENDPOINT", "CONTENT_SAFETY_KEY")
    CLIENT = ("azure.ai.contentsafety", "ContentSafetyClient")

    def parse(self, raw: object) -> Answer:
        """Severities from 0 to 1."""
        levels = cast("dict[str, Any]", raw)["categoriesAnalysis"]  # 0, 2, 4 or 6
        pairs = ((f"unsafe: {one['category']}", float(one.get("severity") or 0) / 6) for one in levels)
        return Answer("answered", service.best(pairs))

    def _analysed(self, picture: bytes, **more: Any) -> Any:
        from azure.ai.contentsafety.models import AnalyzeImageOptions, ImageData

        return self._client.analyze_image(AnalyzeImageOptions(image=ImageData(content=picture)), **more)
