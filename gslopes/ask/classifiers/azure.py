"""``azure``: the tags of Azure AI Vision, Image Analysis 4.0, through its official client, signed in by a key."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from gslopes.ask.classifiers import service
from gslopes.ask.classifiers.service import Service, requests_adapter
from gslopes.ask.cost import ServiceOptions
from gslopes.core.errors import CredentialsError
from gslopes.core.records import Answer

ENDPOINT, KEY = "VISION_ENDPOINT", "VISION_KEY"
_AZURE_HOSTS = (".cognitiveservices.azure.com", ".api.cognitive.microsoft.com", ".services.ai.azure.com")


@dataclass(frozen=True, slots=True)
class AzureOptions(ServiceOptions):
    """What to ask for.

    language: of the tags.  model_version: ``latest`` or a date; what answered is recorded either way.
    endpoint: of the resource; empty: ``VISION_ENDPOINT``.
    """

    language: str = "en"
    model_version: str = "latest"
    endpoint: str = ""


class Azure(Service):
    """A ``records.Classifier`` over the tags of Azure's Image Analysis, one picture a request."""

    Options = AzureOptions
    SERVICE, CREDENTIALS, ENDPOINT_VARIABLES = "azure", (ENDPOINT, KEY), (ENDPOINT,)

    def __init__(self, name: str, options: AzureOptions, device: str = "cpu") -> None:
        super().__init__(name, options, device)
        if (urlsplit(self._address).hostname or "").endswith(_AZURE_HOSTS):
            self.version = ""

    def parse(self, raw: object) -> Answer:
        """Names and confidences of the tags."""
        reply = cast("dict[str, Any]", raw)
        labels = service.best((one["name"], one["confidence"]) for one in reply["tagsResult"]["values"])
        return Answer("answered", labels, version=str(reply.get("modelVersion", "")))

    def _connected(self) -> tuple[Any, Callable[[], object]]:
        import requests
        from azure.ai.vision.imageanalysis import ImageAnalysisClient
        from azure.core.credentials import AzureKeyCredential
        from azure.core.pipeline.policies import RetryPolicy
        from azure.core.pipeline.transport import RequestsTransport

        needed = {ENDPOINT: self._address, KEY: os.environ.get(KEY, "")}
        if missing := [variable for variable, value in needed.items() if not value]:
            raise CredentialsError("azure", missing)
        session = requests.Session()
        for scheme in ("http://", "https://"):
            session.mount(scheme, requests_adapter())
        client = ImageAnalysisClient(
            self._address,
            AzureKeyCredential(needed[KEY]),
            retry_policy=RetryPolicy.no_retries(),  # ask.retry sends again, and nothing else
            transport=RequestsTransport(session=session),
        )
        return client, client.close

    def _answer(self, picture: bytes) -> object:
        options = self._options
        pinned = {} if options.model_version == "latest" else {"model_version": options.model_version}
        return dict(self._client.analyze(picture, ["tags"], language=options.language, **pinned).as_dict())

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
