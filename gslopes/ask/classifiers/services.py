"""``azure``, ``clarifai``, ``google``, ``imagga``, ``rekognition``: the labels of five services, by JSON over HTTP.

azure: the tags of Azure AI Vision, Image Analysis 4.0.
clarifai: a classifier that Clarifai hosts, general-image-recognition unless asked otherwise. It ended most of its older
models on 2025-12-31; ``clarifai:model=MODEL,user=USER,app=APP`` asks any other that gives concepts, one's own as well.
google: Google Cloud Vision; it does not say which model answered.
imagga: /v2/tags in English; it does not say which model answered.
rekognition: Amazon Rekognition; credentials are whatever boto3 finds: variables, a profile, or one that ``aws sso
login`` has signed in.

Every label is asked for that a picture's price buys; which count is decided when slopes are fitted. A variable may name
another address: see ``ENDPOINT_VARIABLES`` of each.
"""

from __future__ import annotations

import base64
import json
import os
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, urlsplit

from gslopes.ask.classifiers import service
from gslopes.ask.classifiers.service import Kind, Service, kind_of_status
from gslopes.ask.cost import ServiceOptions
from gslopes.ask.names import OPERATIONAL
from gslopes.ask.secrets import remember_secret, scrub
from gslopes.core.errors import ConfigError, CredentialsError, ServiceError
from gslopes.core.files import parse_json, read_json
from gslopes.core.records import Answer

if TYPE_CHECKING:
    import httpx


class Vendor(Service):
    """A commercial service: one POST a batch, and a reply with an entry for each picture."""

    def _answers(self, pictures: list[bytes]) -> list[object]:
        url, sent = self._request(pictures)
        reply = self._post(url, **sent)
        try:
            answers = self._read(reply)
        except (KeyError, TypeError, AttributeError):
            raise self._error("lost", "the reply is not what is documented") from None
        if len(answers) < len(pictures):
            raise self._error("lost", f"{len(answers)} answers came to {len(pictures)} pictures")
        return answers

    @abstractmethod
    def _request(self, pictures: list[bytes]) -> tuple[str, dict[str, Any]]:
        """The address, and what httpx is to post there."""

    def _read(self, reply: Any) -> list[object]:
        """What is kept of a reply about each picture, or an error about that one.

        Raises: KeyError, TypeError or AttributeError where it is not what is documented.
        """
        self.parse(reply)
        return [reply]

    @abstractmethod
    def parse(self, raw: object) -> Answer:
        """What is kept of a reply to its labels."""

    def _key(self, variable: str) -> str:
        """Raises: CredentialsError if it is not set."""
        if not (value := os.environ.get(variable, "")):
            raise CredentialsError(self.SERVICE, [variable])
        return value


def _client(**options: Any) -> httpx.Client:
    from gslopes.ask import transport

    return transport.client(**options)


def _labels(pairs: Any, version: object = "") -> Answer:
    return Answer("answered", service.best(pairs), version=str(version))


def _base64(picture: bytes) -> str:
    return base64.b64encode(picture).decode("ascii")


def _mapping(value: Any, *path: str) -> dict[str, Any]:
    """The mapping at a path of keys within a reply about a failure; empty where there is none."""
    if isinstance(value, str):
        try:
            value = parse_json(value, finite=False)
        except ValueError:
            return {}
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


# -- Azure AI Vision ---------------------------------------------------------------------------------------------------

_AZURE_HOSTS = (".cognitiveservices.azure.com", ".api.cognitive.microsoft.com", ".services.ai.azure.com")


class Azure(Vendor):
    """A ``records.Classifier`` over the tags of Azure's Image Analysis, one picture a request."""

    Options = ServiceOptions
    SERVICE, CREDENTIALS, ENDPOINT_VARIABLES = "azure", ("VISION_ENDPOINT", "VISION_KEY"), ("VISION_ENDPOINT",)

    def __init__(self, name: str, options: ServiceOptions, device: str = "cpu") -> None:
        super().__init__(name, options, device)
        if (urlsplit(self._address).hostname or "").endswith(_AZURE_HOSTS):
            self.version = ""

    def parse(self, raw: object) -> Answer:
        """Names and confidences of the tags."""
        reply = cast("dict[str, Any]", raw)
        tags = reply["tagsResult"]["values"]
        return _labels(((entry["name"], entry["confidence"]) for entry in tags), reply.get("modelVersion", ""))

    def _connected(self) -> httpx.Client:
        self._key("VISION_ENDPOINT")
        key = self._key("VISION_KEY")
        return _client(headers={"Ocp-Apim-Subscription-Key": key, "Content-Type": "application/octet-stream"})

    def _request(self, pictures: list[bytes]) -> tuple[str, dict[str, Any]]:
        query = {"api-version": "2023-10-01", "features": "tags", "language": "en"}
        url = f"{self._address}/computervision/imageanalysis:analyze"
        return url, {"content": pictures[0], "params": query}

    def _problem(self, status: int, text: str) -> tuple[Kind, str]:
        error = _mapping(text, "error")
        codes = {str(error.get("code")), str(_mapping(error, "innererror").get("code"))}
        kind = "refused" if status == 400 and codes & set(service.codes_of("azure")) else kind_of_status(status)
        return kind, str(error.get("message") or f"status {status}: {text}")


# -- Clarifai ----------------------------------------------------------------------------------------------------------

PAT = "CLARIFAI_PAT"
_DEPRECATED = (10001, 10002)  # successes all the same: the model, or its version, is going to end
_ANSWERED = (10000, *_DEPRECATED)


@dataclass(frozen=True, slots=True)
class ClarifaiOptions(ServiceOptions):
    """model, model_version, user, app: which model; a version of it, empty: the newest; whose, and in which app."""

    model: str = "general-image-recognition"
    model_version: str = ""
    user: str = "clarifai"
    app: str = "main"


class Clarifai(Vendor):
    """A ``records.Classifier`` over one of Clarifai's models, 128 pictures a request."""

    Options = ClarifaiOptions
    SERVICE, CREDENTIALS, ENDPOINT_VARIABLES = "clarifai", (PAT,), ("CLARIFAI_API_BASE",)
    batch = 128

    def parse(self, raw: object) -> Answer:
        """Names and values of the concepts."""
        output = cast("dict[str, Any]", raw)
        pairs = ((concept["name"], concept["value"]) for concept in output["concepts"])
        return _labels(pairs, output.get("model_version", ""))

    def _connected(self) -> httpx.Client:
        return _client(headers={"Authorization": f"Key {self._key(PAT)}"})

    def _request(self, pictures: list[bytes]) -> tuple[str, dict[str, Any]]:
        given = self._options
        parts = ["users", given.user, "apps", given.app, "models", given.model]
        parts += ["versions", given.model_version] if given.model_version else []
        path = "/".join(quote(part, safe="") for part in parts)
        wanted = {"max_concepts": 200, "min_value": 0.0}  # Clarifai gives 20 unless asked
        inputs = [{"data": {"image": {"base64": _base64(picture)}}} for picture in pictures]
        content = {"inputs": inputs, "model": {"output_info": {"output_config": wanted}}}
        return f"{self._address or 'https://api.clarifai.com'}/v2/{path}/outputs", {"json": content}

    def _read(self, reply: Any) -> list[object]:
        statuses = [reply["status"], *(output["status"] for output in reply.get("outputs", ()))]
        ending = [status for status in statuses if status["code"] in _DEPRECATED]
        if ending and not self.notes:
            words = ending[0].get("description") or "it is deprecated"
            self.notes.append(f"Clarifai will end the model {self._options.model}: {scrub(words).rstrip('.')}.")
        if len(statuses) == 1 and statuses[0]["code"] not in _ANSWERED:
            raise self._error(*_clarifais(statuses[0]))
        answers: list[object] = []
        for output in reply.get("outputs", ()):
            if output["status"]["code"] not in _ANSWERED:
                answers.append(self._error(*_clarifais(output["status"])))
                continue
            # JSON of protocol buffers leaves out what is 0
            concepts = output.get("data", {}).get("concepts", ())
            labels = [{"id": c.get("id", ""), "name": c["name"], "value": c.get("value", 0.0)} for c in concepts]
            version = _mapping(output, "model", "model_version").get("id", "")
            answers.append({"concepts": labels, "model_version": version})
        return answers

    def _problem(self, status: int, text: str) -> tuple[Kind, str]:
        """By the first output that failed where there are any: the client asks about each of them alone then."""
        outputs = _mapping(text).get("outputs")
        parts = [text, *(outputs if isinstance(outputs, list) else [])]
        statuses = [_mapping(part, "status") for part in reversed(parts)]
        failed = [status for status in statuses if status.get("code") not in (None, *_ANSWERED)]
        return _clarifais(failed[0]) if failed else super()._problem(status, text)


def _clarifais(status: dict[str, Any]) -> tuple[Kind, str]:
    words = dict.fromkeys(str(status[key]) for key in ("description", "details") if status.get(key))
    return clarifai_kind(status["code"]), f"{status['code']}: {'; '.join(words)}"


def clarifai_kind(code: Any) -> Kind:
    """The kind of one of Clarifai's own status codes."""
    ranges = service.errors_of("clarifai")["ranges"] if isinstance(code, int) else []
    return next((kind for first, last, kind in ranges if first <= code <= last), "failed")


# -- Google Cloud Vision -----------------------------------------------------------------------------------------------

ACCOUNT, API_KEY = "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_API_KEY"


@dataclass(frozen=True, slots=True)
class GoogleOptions(ServiceOptions):
    """max_results: labels a picture at most; Google gives 10 unless asked, and rarely more than 50.

    images_per_minute: the project's quota of pictures.
    """

    max_results: int = 50
    images_per_minute: float = field(default=1800.0, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        ServiceOptions.__post_init__(self)
        if not 1 <= self.max_results <= 1000 or self.images_per_minute <= 0:
            raise ConfigError("google's max_results must be from 1 to 1000, and its images_per_minute above 0.")


class Google(Vendor):
    """A ``records.Classifier`` over Google Cloud Vision, 16 pictures a request."""

    Options = GoogleOptions
    SERVICE, CREDENTIALS, ENDPOINT_VARIABLES = "google", (ACCOUNT,), ("GOOGLE_VISION_ENDPOINT",)
    batch = 16

    def __init__(self, name: str, options: GoogleOptions, device: str = "cpu") -> None:
        super().__init__(name, options, device)
        self.limits = replace(self.limits, pictures_per_second=options.images_per_minute / 60)
        self._account: Any = None  # credentials of google.auth

    def parse(self, raw: object) -> Answer:
        """Descriptions and scores as they were returned; topicality is left out."""
        labels = cast("dict[str, Any]", raw).get("labelAnnotations", [])
        return _labels((entry["description"], entry.get("score", 0.0)) for entry in labels)

    def _connected(self) -> httpx.Client:
        key = os.environ.get(API_KEY, "") if not os.environ.get(ACCOUNT) else ""
        remember_secret(key)
        self._account = None if key else _google_account(bool(self._address))
        return _client(headers={"X-Goog-Api-Key": key} if key else {})

    def _request(self, pictures: list[bytes]) -> tuple[str, dict[str, Any]]:
        from google.auth.exceptions import GoogleAuthError

        url = f"{self._address or 'https://vision.googleapis.com'}/v1/images:annotate"
        headers: dict[str, str] = {}
        if self._account is not None:
            try:
                self._account.before_request(self._fetched, "POST", url, headers)
            except GoogleAuthError as error:
                raise self._error("unavailable" if error.retryable else "credentials", str(error)) from None
        features = [{"type": "LABEL_DETECTION", "maxResults": self._options.max_results}]
        requests = [{"image": {"content": _base64(picture)}, "features": features} for picture in pictures]
        return url, {"json": {"requests": requests}, "headers": headers}

    def _fetched(self, url: str, method: str = "GET", body: Any = None, headers: Any = None, **_: object) -> Any:
        """A fresh token, as google.auth asks for one."""
        reply = self._client.request(method, url, content=body, headers=headers)
        return SimpleNamespace(status=reply.status_code, headers=reply.headers, data=reply.content)

    def _read(self, reply: Any) -> list[object]:
        answers: list[object] = []
        for entry in reply["responses"]:
            if error := entry.get("error"):
                kind = service.codes_of("google").get(str(error.get("code")), "failed")
                answers.append(self._error(kind, str(error.get("message", ""))))
            else:
                answers.append(entry)
        return answers

    def _problem(self, status: int, text: str) -> tuple[Kind, str]:
        return kind_of_status(status), str(_mapping(text, "error").get("message") or f"status {status}: {text}")


def _google_account(elsewhere: bool) -> Any:
    """Google's own credentials; None at another address without any.  Raises: CredentialsError."""
    import google.auth
    from google.auth.exceptions import GoogleAuthError

    file = os.environ.get(ACCOUNT, "")
    if elsewhere and not file:
        return None  # a gateway, or a fake
    try:
        account, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    except (GoogleAuthError, OSError, ValueError):
        raise CredentialsError("google", [f"{ACCOUNT} (or {API_KEY})"]) from None
    if hasattr(account, "with_always_use_jwt_access"):  # a service account signs its tokens itself
        account = account.with_always_use_jwt_access(True)
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


class Imagga(Vendor):
    """A ``records.Classifier`` over Imagga, one picture a request."""

    Options = ServiceOptions
    SERVICE, CREDENTIALS, ENDPOINT_VARIABLES = "imagga", ("IMAGGA_API_KEY", "IMAGGA_API_SECRET"), ("IMAGGA_ENDPOINT",)

    def parse(self, raw: object) -> Answer:
        """English tags, and confidences divided by 100."""
        return _labels((tag["tag"]["en"], tag["confidence"] / 100) for tag in cast("dict[str, Any]", raw)["tags"])

    def _connected(self) -> httpx.Client:
        return _client(auth=(self._key("IMAGGA_API_KEY"), self._key("IMAGGA_API_SECRET")))

    def _request(self, pictures: list[bytes]) -> tuple[str, dict[str, Any]]:
        fields = {"limit": -1, "threshold": 0.0, "language": "en"}
        url = f"{self._address or 'https://api.imagga.com'}/v2/tags"
        return url, {"data": fields, "files": {"image": ("picture", pictures[0])}}

    def _read(self, reply: Any) -> list[object]:
        self.parse(reply["result"])
        return [reply["result"]]

    def _problem(self, status: int, text: str) -> tuple[Kind, str]:
        """Imagga says what is wrong in the body; 403 is a plan's limit, and 400 is nearly always the picture."""
        words = str(_mapping(text, "status").get("text") or "")
        kind = "service" if status == 403 else kind_of_status(status)
        blamed = any(word in words.lower() for word in ("image", "picture", "file"))
        return ("refused" if status in (400, 422) and blamed else kind), words or f"HTTP status {status}"


# -- Amazon Rekognition ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RekognitionOptions(ServiceOptions):
    """max_labels: a picture at most.  min_confidence: in percent; Amazon leaves out what is below 55 unless asked.

    region: such as ``eu-west-1``; empty: as in ``AWS_DEFAULT_REGION`` or the profile.
    """

    max_labels: int = 1000
    min_confidence: float = 0.0
    region: str = ""

    def __post_init__(self) -> None:
        ServiceOptions.__post_init__(self)
        if self.max_labels < 1 or not 0 <= self.min_confidence <= 100:
            raise ConfigError("rekognition's max_labels must be 1 or more, and its min_confidence in [0, 100].")


class Rekognition(Vendor):
    """A ``records.Classifier`` over Amazon Rekognition, one picture a request."""

    Options = RekognitionOptions
    SERVICE, CREDENTIALS = "rekognition", ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_REKOGNITION", "AWS_ENDPOINT_URL")

    def parse(self, raw: object) -> Answer:
        """Names, and confidences divided by 100; parents are not added, since Amazon lists them as labels as well."""
        reply = cast("dict[str, Any]", raw)
        labels = ((entry["Name"], entry["Confidence"] / 100) for entry in reply["Labels"])
        return _labels(labels, reply.get("LabelModelVersion", ""))

    def _connected(self) -> httpx.Client:
        import boto3
        from botocore.exceptions import BotoCoreError

        try:
            session = boto3.Session(region_name=self._options.region or None)
            self._account: Any = session.get_credentials()
            self._region: str = session.region_name or ""
        except BotoCoreError as error:
            raise self._error("credentials", str(error)) from None
        if self._account is None:
            raise CredentialsError("rekognition", self.CREDENTIALS)
        if not self._region:
            raise ServiceError(
                "rekognition needs a region.", "Set AWS_DEFAULT_REGION, or write rekognition:region=REGION."
            )
        return _client()

    def _request(self, pictures: list[bytes]) -> tuple[str, dict[str, Any]]:
        """Signed, Signature Version 4."""
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import BotoCoreError

        given = self._options
        asked = {"MaxLabels": given.max_labels, "MinConfidence": given.min_confidence}
        content = json.dumps({"Image": {"Bytes": _base64(pictures[0])}, **asked}).encode()
        url = f"{self._address or f'https://rekognition.{self._region}.amazonaws.com'}/"
        headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "RekognitionService.DetectLabels"}
        request = AWSRequest("POST", url, headers, content)
        try:
            keys = self._account.get_frozen_credentials()
        except BotoCoreError as error:  # a session that has ended
            raise self._error("credentials", str(error)) from None
        for secret in keys:
            remember_secret(secret or "")
        SigV4Auth(keys, "rekognition", self._region).add_auth(request)
        return url, {"content": content, "headers": dict(request.headers.items())}

    def _problem(self, status: int, text: str) -> tuple[Kind, str]:
        body = _mapping(text)
        code = str(body.get("__type", "")).rpartition("#")[2]
        cut_short = status == 400 and not code  # Amazon names every error
        kind = service.codes_of("rekognition").get(code) or ("lost" if cut_short else kind_of_status(status))
        return kind, f"{code or status}: {body.get('message') or body.get('Message') or text}"
