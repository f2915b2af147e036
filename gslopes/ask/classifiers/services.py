"""``azure``, ``clarifai``, ``google``, ``imagga``, ``rekognition``: labels of five services by their vendors' clients.

azure: the tags of Azure AI Vision, Image Analysis 4.0, with a key or with Entra ID.
clarifai: a classifier that Clarifai hosts, general-image-recognition unless asked otherwise. It ended most of its older
models on 2025-12-31; ``clarifai:model=MODEL,user=USER,app=APP`` asks any other that gives concepts, also one of yours.
google: Google Cloud Vision. Its REST transport is used: it can be pointed at another address, and its limits are those
that are documented. The service does not tell which model answered.
imagga: /v2/tags in English; it has no official client, so httpx asks it. It does not tell which model answered.
rekognition: Amazon Rekognition; credentials are whatever boto3 finds: variables, a profile, or one that ``aws sso
login`` has signed in.

Every label is asked for that a picture's price buys; which count is decided when slopes are fitted. A variable may name
another address: see ``ENDPOINT_VARIABLES`` of each.
"""

import os
import re
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, Literal

from gslopes.ask.classifiers import problems, service
from gslopes.ask.classifiers.service import Details, Kind, OnePictureService, Service
from gslopes.ask.cost import ServiceOptions
from gslopes.ask.retry import seconds_left
from gslopes.ask.secrets import remember_secret, scrub
from gslopes.core import (
    CredentialsError,
    GslopesError,
    Limits,
    frozen,
    parse_json,
    read_beside,
    read_json,
)
from gslopes.core.records import Answer, Files, Raws

_VENDORS = read_beside(__file__, "vendors.toml")


class Vendor(Service):
    """A ``records.Classifier`` over a service whose replies are read as vendors.toml says."""

    def parse(self, raw: Any) -> Answer:
        """Labels and scores in [0, 1].  Raises: KeyError, TypeError if the reply is of another form."""
        form = _VENDORS[self.SERVICE]
        pairs = [
            (_inside(item, form["label"]), _inside(item, form["score"]) / form["one"])
            for item in _inside(raw, form["items"])
        ]
        return Answer("answered", service.best(pairs), version=str(raw.get(form["version"]) or ""))


def _inside(part: Any, path: str) -> Any:
    return reduce(getitem, path.split("."), part)


# -- Azure AI Vision ---------------------------------------------------------------------------------------------------


@frozen
class AzureOptions(ServiceOptions):
    """auth: ``key``: the key in VISION_KEY; ``entra``: Microsoft Entra ID, as azure-identity finds who asks: variables,
        a managed identity, or ``az login``. It needs a resource with a domain of its own.

    model_version: of the tagger; empty: the newest.
    """

    auth: Literal["key", "entra"] = "key"
    model_version: str = ""


class Azure(Vendor, OnePictureService):
    """A ``records.Classifier`` over the tags of Azure's Image Analysis, one picture a request."""

    Options = AzureOptions
    SERVICE = "azure"
    CREDENTIALS = ("VISION_ENDPOINT", "VISION_KEY")
    ENDPOINT_VARIABLES = ("VISION_ENDPOINT",)
    HOSTS = (
        ".cognitiveservices.azure.com",
        ".api.cognitive.microsoft.com",
        ".services.ai.azure.com",
    )

    @property
    def _variables(self) -> Sequence[str]:
        return self.CREDENTIALS if self._options.auth == "key" else self.CREDENTIALS[:1]

    def _connected(self) -> Any:
        import requests
        from azure.ai.vision.imageanalysis import ImageAnalysisClient
        from azure.core.credentials import AzureKeyCredential
        from azure.core.pipeline.policies import RetryPolicy
        from azure.core.pipeline.transport import RequestsTransport

        _, *keys = self._credentials()
        session = requests.Session()
        service.mount(session)
        return ImageAnalysisClient(
            self._address,
            AzureKeyCredential(keys[0]) if keys else service.entra_account("azure"),
            retry_policy=RetryPolicy.no_retries(),  # ask.retry sends again, and nothing else
            transport=RequestsTransport(session=session),
        )

    def _answer(self, picture: bytes) -> object:
        version = self._options.model_version or None
        reply = self._client.analyze(picture, ["tags"], language="en", model_version=version)
        return dict(reply.as_dict())

    @classmethod
    def _details(cls, error: Exception, kind: Kind) -> Details:
        outer = getattr(error, "error", None)
        inner = getattr(outer, "innererror", None)
        codes = {str(getattr(outer, "code", "")), str(problems.within(inner, "code"))}
        if kind == "failed" and codes & set(service.codes_of("azure")):
            kind = "refused"
        kind, words = super()._details(error, kind)
        if type(error).__name__ == "JSONDecodeError":
            words = "the reply is not JSON"
        return kind, str(getattr(outer, "message", None) or words)


# -- Clarifai ----------------------------------------------------------------------------------------------------------


_CLARIFAI = _VENDORS["clarifai"]


@frozen
class ClarifaiOptions(ServiceOptions):
    """model, model_version, user, app: which model; a version of it, empty: the newest; whose, and in which app."""

    model: str = "general-image-recognition"
    model_version: str = ""
    user: str = "clarifai"
    app: str = "main"


class Clarifai(Vendor):
    """A ``records.Classifier`` over one of Clarifai's models, 128 pictures a request."""

    Options = ClarifaiOptions
    SERVICE = "clarifai"
    CREDENTIALS = ("CLARIFAI_PAT",)
    ENDPOINT_VARIABLES = ("CLARIFAI_GRPC_BASE",)
    batch = 128

    def _connected(self) -> Any:
        import grpc
        from clarifai_grpc.channel.clarifai_channel import ClarifaiChannel
        from clarifai_grpc.grpc.api import service_pb2_grpc

        self._credentials()
        scheme, _, place = (self._address or "https://api.clarifai.com").rpartition("//")
        options = list(_CLARIFAI["channel"].items())
        if scheme == "http:":  # on this machine: no encryption
            channel = grpc.insecure_channel(place, options)
        else:
            channel = grpc.secure_channel(place, grpc.ssl_channel_credentials(), options)
        # The stub takes its deserialiser from the last channel that this class made; nothing is connected here.
        ClarifaiChannel.get_grpc_channel("localhost").close()
        weakref.finalize(self, channel.close)
        return service_pb2_grpc.V2Stub(channel)

    def _answers(self, pictures: Files) -> Raws:
        from clarifai_grpc.grpc.api import service_pb2

        options = self._options
        (key,) = self._credentials()
        request = service_pb2.PostModelOutputsRequest(
            user_app_id={"user_id": options.user, "app_id": options.app},
            model_id=options.model,
            version_id=options.model_version,
            model=_CLARIFAI["model"],
            inputs=[{"data": {"image": {"base64": picture}}} for picture in pictures],
        )
        reply = self._client.PostModelOutputs(
            request,
            metadata=(("authorization", f"Key {key}"),),
            timeout=seconds_left(service.TIMEOUT),
        )
        outputs = reply.outputs
        status = reply.status
        for one in (status, *(output.status for output in outputs)):
            if one.code in _CLARIFAI["deprecated"] and not self.notes:
                words = scrub(one.description or one.details or "it is deprecated")
                self.notes.append(
                    f"Clarifai will end the model {options.model}: {words.rstrip('.')}."
                )
        by_output = status.code in _CLARIFAI["by_output"] and outputs
        if status.code not in _CLARIFAI["answered"] and not by_output:
            raise self._failure(status)
        if len(outputs) < len(pictures):
            raise self._error("lost", f"{len(outputs)} outputs came to {len(pictures)} inputs")
        return [
            {
                "concepts": [
                    {"id": concept.id, "name": concept.name, "value": concept.value}
                    for concept in output.data.concepts
                ],
                "model_version": output.model.model_version.id,
            }
            if output.status.code in _CLARIFAI["answered"]
            else self._failure(output.status)
            for output in outputs
        ]

    def _failure(self, status: Any) -> GslopesError:
        words = dict.fromkeys(filter(None, (status.description, status.details)))
        return self._error(
            service.kind_of_code("clarifai", status.code), f"{status.code}: {'; '.join(words)}"
        )

    @classmethod
    def _details(cls, error: Exception, kind: Kind) -> Details:
        if not all(callable(getattr(error, name, None)) for name in ("code", "details")):
            return super()._details(error, kind)
        status: Any = error  # of gRPC
        name = getattr(status.code(), "name", "")
        words = str(status.details() or "")
        if re.search(_CLARIFAI["redirect"], words):
            text = f"it sends us on to another address, and no picture follows a redirect ({words})"
            return "service", text
        kind = service.codes_of("clarifai").get(name, "unavailable")
        special = _CLARIFAI["words"].get(name, {}).items()
        kinds = (kind for kind, pattern in special if re.search(pattern, words.lower()))
        return next(kinds, kind), f"{name}: {words}"


# -- Google Cloud Vision -----------------------------------------------------------------------------------------------


ACCOUNT = "GOOGLE_APPLICATION_CREDENTIALS"
API_KEY = "GOOGLE_API_KEY"


@frozen
class GoogleOptions(ServiceOptions):
    """max_results: labels a picture at most; Google gives 10 unless asked, and rarely more than 50.

    images_per_minute: the project's quota of pictures.
    """

    max_results: int = 50
    images_per_minute: float = 1800.0

    def applied_to(self, limits: Limits) -> Limits:
        """As of every service, and the pictures a minute."""
        given = ServiceOptions.applied_to(self, limits)
        return replace(given, pictures_per_second=self.images_per_minute / 60)


class Google(Service):
    """A ``records.Classifier`` over Google Cloud Vision, 16 pictures a request."""

    Options = GoogleOptions
    SERVICE = "google"
    CREDENTIALS = (ACCOUNT,)
    ENDPOINT_VARIABLES = ("GOOGLE_VISION_ENDPOINT",)
    batch = 16

    def parse(self, raw: Any) -> Answer:
        """Descriptions and scores as returned; topicality is left out."""
        labels = raw.get("labelAnnotations") or []
        pairs = ((label["description"], label.get("score", 0.0)) for label in labels)
        return Answer("answered", service.best(pairs))

    def _connected(self) -> Any:
        from google.api_core.client_options import ClientOptions
        from google.cloud import vision

        key = os.environ.get(API_KEY, "") if not os.environ.get(ACCOUNT) else ""
        remember_secret(key)
        client: Any = vision.ImageAnnotatorClient(
            credentials=None if key else _google_credentials(bool(self._address)),
            transport="rest",
            client_options=ClientOptions(api_endpoint=self._address or None, api_key=key or None),
        )
        service.mount(client.transport._session)
        return client

    def _answers(self, pictures: Files) -> Raws:
        from google.protobuf.json_format import MessageToDict

        features = [{"type_": "LABEL_DETECTION", "max_results": self._options.max_results}]
        requests = [{"image": {"content": data}, "features": features} for data in pictures]
        reply = self._client.batch_annotate_images(
            requests=requests, retry=None, timeout=service.TIMEOUT
        )
        answers: Raws = []
        for response in reply.responses:
            error = response.error
            if error.code:
                kind = service.codes_of("google").get(str(error.code), "failed")
                answers.append(self._error(kind, error.message))
            else:
                answers.append(MessageToDict(type(response).pb(response)))
        return answers

    @classmethod
    def _details(cls, error: Exception, kind: Kind) -> Details:
        kind, words = super()._details(error, kind)
        if kind == "lost" and "NewConnectionError" in repr(error):
            kind = "unavailable"
        return kind, re.sub(r"^[A-Z]+ https?://\S+ ", "", words)


def _google_credentials(elsewhere: bool) -> Any:
    """Google's own; none at another address.  Raises: CredentialsError."""
    import google.auth
    from google.auth.credentials import AnonymousCredentials
    from google.auth.exceptions import GoogleAuthError

    file = os.environ.get(ACCOUNT, "")
    if elsewhere and not file:
        return AnonymousCredentials()  # a gateway, or a fake
    try:
        account, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    except (GoogleAuthError, OSError, ValueError):
        raise CredentialsError("google", [f"{ACCOUNT} (or {API_KEY})"]) from None
    try:
        content = read_json(Path(file))
    except (OSError, ValueError):
        return account
    for name in ("private_key", "private_key_id", "client_secret", "refresh_token"):
        for line in str(content.get(name, "")).splitlines():
            if "PRIVATE KEY" not in line:
                remember_secret(line)
    return account


# -- Imagga ------------------------------------------------------------------------------------------------------------


class Imagga(Vendor, OnePictureService):
    """A ``records.Classifier`` over Imagga, one picture a request."""

    SERVICE = "imagga"
    CREDENTIALS = ("IMAGGA_API_KEY", "IMAGGA_API_SECRET")
    ENDPOINT_VARIABLES = ("IMAGGA_ENDPOINT",)

    def _connected(self) -> Any:
        from gslopes.ask import transport

        key, secret = self._credentials()
        address = self._address or "https://api.imagga.com"
        return transport.Client(base_url=address, auth=(key, secret))

    def _answer(self, picture: bytes) -> object:
        fields = {"limit": -1, "threshold": 0.0, "language": "en"}
        reply = self._client.post("/v2/tags", data=fields, files={"image": ("picture", picture)})
        reply.raise_for_status()
        body = parse_json(reply.content)
        if error := problems.error_in(body, answered="result" in body):
            raise self._error(service.kind_inside(error, "lost"), problems.words_of(error))
        result = body["result"]
        self.parse(result)  # KeyError if it is not what is documented
        return result

    @classmethod
    def _details(cls, error: Exception, kind: Kind) -> Details:
        """Imagga explains errors in the body; 403 is a plan's limit, and 400 is nearly always the picture."""
        if isinstance(error, KeyError | TypeError):
            return kind, "the reply has no result"
        response: Any = getattr(error, "response", None)
        if response is None:
            return super()._details(error, kind)
        text = ""
        with suppress(ValueError):
            text = str(problems.within(parse_json(response.content), "status", "text") or "")
        status = response.status_code
        kind = "service" if status == 403 else service.kind_of_status(status)
        if status in (400, 422) and re.search("image|picture|file", text.lower()):
            kind = "refused"
        return kind, text or f"HTTP status {status}"


# -- Amazon Rekognition ------------------------------------------------------------------------------------------------


@frozen
class RekognitionOptions(ServiceOptions):
    """max_labels: a picture at most.  min_confidence: in percent; Amazon leaves out what is below 55 unless asked.

    region: such as ``eu-west-1``; empty: as in ``AWS_REGION``, ``AWS_DEFAULT_REGION`` or the profile.
    """

    max_labels: int = 1000
    min_confidence: float = 0.0
    region: str = ""


class Rekognition(Vendor, OnePictureService):
    """A ``records.Classifier`` over Amazon Rekognition, one picture a request."""

    Options = RekognitionOptions
    SERVICE = "rekognition"
    CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_REKOGNITION", "AWS_ENDPOINT_URL")

    def _connected(self) -> Any:
        from botocore.config import Config

        # ask.retry sends again, and nothing else
        config = Config(retries={"total_max_attempts": 1, "mode": "standard"})
        client = self._amazon("rekognition", self._options.region, config=config)
        client.meta.events.register("before-send.rekognition", service.before_send())
        return client

    def _answer(self, picture: bytes) -> object:
        options = self._options
        reply = self._client.detect_labels(
            Image={"Bytes": picture},
            MaxLabels=options.max_labels,
            MinConfidence=options.min_confidence,
        )
        if "Labels" not in reply:  # boto3 takes a reply that ends too early for an empty one
            raise self._error("lost", "the reply has no Labels")
        return {key: reply[key] for key in ("Labels", "LabelModelVersion") if key in reply}

    @classmethod
    def _details(cls, error: Exception, kind: Kind) -> Details:
        response = getattr(error, "response", None)
        if not isinstance(response, dict) or "Error" not in response:
            return super()._details(error, kind)
        status = int(problems.within(response, "ResponseMetadata", "HTTPStatusCode") or 0)
        code = str(response["Error"].get("Code", ""))
        kind = service.kind_of_status(status)
        # boto3 reads half a reply as an error without a name
        if status == 400 and code in ("", "400"):
            kind = "lost"
        kind = service.codes_of("rekognition").get(code, kind)
        return kind, f"{code}: {response['Error'].get('Message', '')}"
