"""The protocols of four services that label pictures by HTTP, as strictly as they are documented."""

import base64
import hashlib
import hmac
import json
import re
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import quote

from google.auth import exceptions, jwt

from tests.fake_provider.pictures import size
from tests.fake_provider.protocol import Accounts, Bad, Job, Labels, Reply, Request, Service, whole


def _content(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise Bad("invalid", f"Invalid JSON payload received: {error!r}") from error


def _decoded(text: object) -> bytes:
    try:
        return base64.b64decode(str(text), validate=True)
    except ValueError as error:
        raise Bad("invalid", "The image is no base64.") from error


class Azure(Service):
    """POST /computervision/imageanalysis:analyze, the feature ``tags``, the picture as the body."""

    name = "azure"
    KINDS, BYTES = (*Service.KINDS, "ICO", "TIFF"), 20_971_520
    STATUSES: ClassVar = {
        "credentials": (401, ("401", "")),
        "throttled": (429, ("429", "")),
        "failed": (500, ("InternalServerError", "")),
        "unavailable": (503, ("ServiceUnavailable", "")),
        "invalid": (400, ("InvalidRequest", "InvalidParameter")),
        "large": (400, ("InvalidRequest", "InvalidImageSize")),
        "format": (400, ("InvalidRequest", "InvalidImageFormat")),
        "policy": (400, ("InvalidRequest", "ResponsibleAIPolicyViolation")),
    }

    @classmethod
    def check(cls, image: bytes) -> None:
        super().check(image)
        if not all(50 <= side <= 16_000 for side in size(image)):
            raise Bad("large", "Input image dimensions are out of range.")

    def owns(self, request: Request) -> bool:
        return request.path.startswith("/computervision")

    def read(self, request: Request, accounts: Accounts) -> Job:
        if request.headers.get("ocp-apim-subscription-key") != accounts.azure:
            raise Bad(
                "credentials",
                "Access denied due to invalid subscription key or wrong API endpoint.",
            )
        query = request.query
        if (
            request.path != "/computervision/imageanalysis:analyze"
            or query.get("api-version") != "2023-10-01"
        ):
            raise Bad("invalid", "The api-version is not supported.")
        if (query.get("features"), query.get("language")) != ("tags", "en"):
            raise Bad("invalid", "The parameters are not supported by the fake.")
        if request.headers.get("content-type") != "application/octet-stream":
            raise Bad("invalid", "The content type is not supported.")
        return Job([request.body], dict(request.query))

    def answer(self, job: Job, results: list[Labels | Bad], version: str) -> Reply:
        values = [{"name": name, "confidence": score} for name, score in whole(results)]
        width, height = size(job.images[0])
        about = {"modelVersion": version, "metadata": {"width": width, "height": height}}
        return Reply.of(200, about | {"tagsResult": {"values": values}})

    def wrong(self, status: int, code: Any, bad: Bad) -> object:
        inner = {"innererror": {"code": code[1], "message": str(bad)}} if code[1] else {}
        return {"error": {"code": code[0], "message": str(bad), **inner}}


class Google(Service):
    """POST /v1/images:annotate; whoever is not signed in may ask too."""

    name = "google"
    STATUSES: ClassVar = {
        "credentials": (401, "UNAUTHENTICATED"),
        "throttled": (429, "RESOURCE_EXHAUSTED"),
        "failed": (500, "INTERNAL"),
        "unavailable": (503, "UNAVAILABLE"),
        "invalid": (400, "INVALID_ARGUMENT"),
        "large": (400, "INVALID_ARGUMENT"),
    }

    def owns(self, request: Request) -> bool:
        return request.path.startswith("/v1/images")

    def read(self, request: Request, accounts: Accounts) -> Job:
        self._authenticate(request, accounts)
        if request.path != "/v1/images:annotate" or len(request.body) > 10_485_760:
            raise Bad("invalid", "Unknown method, or a payload that exceeds the limit.")
        requests = _content(request.body)["requests"]
        images = [_decoded(item["image"]["content"]) for item in requests]
        if not 0 < len(images) <= 16:
            raise Bad("invalid", f"Too many images per request: {len(images)} > 16.")
        features = [feature.get("type") for item in requests for feature in item["features"]]
        if len(features) != len(images) or not set(features) <= {"LABEL_DETECTION", 4}:
            raise Bad("invalid", "Feature must be specified.")
        return Job(
            images,
            {"max_results": [item["features"][0].get("maxResults", 10) for item in requests]},
        )

    def answer(self, job: Job, results: list[Labels | Bad], version: str) -> Reply:
        del version  # this service does not tell
        counts: Any = job.parameters["max_results"]
        return Reply.of(
            200,
            {"responses": [self._response(*pair) for pair in zip(results, counts, strict=True)]},
        )

    def wrong(self, status: int, code: Any, bad: Bad) -> object:
        return {"error": {"code": status, "message": str(bad), "status": code}}

    def _response(self, result: Labels | Bad, count: int) -> dict[str, Any]:
        if isinstance(result, Bad):
            return {"error": {"code": 3 if result.kind == "format" else 7, "message": str(result)}}
        results = result[: min(count, 50)]
        return {
            "labelAnnotations": [
                {"description": name, "score": score, "topicality": score}
                for name, score in results
            ]
        }

    def _authenticate(self, request: Request, accounts: Accounts) -> None:
        if request.headers.get("x-goog-api-key", accounts.google_key) != accounts.google_key:
            raise Bad("credentials", "API key not valid. Please pass a valid API key.")
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if not scheme:
            return
        try:
            claims = jwt.decode(token, certs=accounts.google_public)
        except (ValueError, exceptions.GoogleAuthError) as error:
            raise Bad("credentials", "Request had invalid authentication credentials.") from error
        meant = claims.get(
            "aud"
        ) == "https://vision.googleapis.com/" or "cloud-platform" in claims.get("scope", "")
        if scheme != "Bearer" or not meant:
            raise Bad("credentials", "Request had invalid authentication credentials.")


class Imagga(Service):
    """POST /v2/tags, a form with the picture as a file, basic authentication."""

    name = "imagga"
    STATUSES: ClassVar = {
        "credentials": (401, 0),
        "throttled": (429, 0),
        "failed": (500, 0),
        "unavailable": (503, 0),
        **dict.fromkeys(("invalid", "large", "format", "policy"), (400, 0)),
    }

    def owns(self, request: Request) -> bool:
        return request.path == "/v2/tags"

    def read(self, request: Request, accounts: Accounts) -> Job:
        pair = base64.b64encode(f"{accounts.imagga_key}:{accounts.imagga_secret}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {pair}":
            raise Bad("credentials", "You need to be authenticated to access this resource.")
        form, _, boundary = request.headers.get("content-type", "").partition("; boundary=")
        if form != "multipart/form-data" or not boundary:
            raise Bad("invalid", "The request is no form.")
        fields = {}
        for part in request.body.split(b"--" + boundary.strip('"').encode())[1:-1]:
            head, _, content = part.partition(b"\r\n\r\n")
            if name := re.search(rb'name="([^"]*)"', head):
                fields[name[1].decode()] = content.removesuffix(b"\r\n")
        image = fields.pop("image", b"")
        questions = {name: value.decode() for name, value in fields.items()}
        if not image or questions != {"limit": "-1", "threshold": "0.0", "language": "en"}:
            raise Bad("invalid", "Please provide content, and parameters that the fake knows.")
        return Job([image], {"limit": -1, "threshold": 0, "language": "en"})

    def answer(self, job: Job, results: list[Labels | Bad], version: str) -> Reply:
        del job, version  # this service does not tell
        tags = [{"confidence": 100 * score, "tag": {"en": name}} for name, score in whole(results)]
        return Reply.of(200, {"result": {"tags": tags}, "status": {"text": "", "type": "success"}})

    def wrong(self, status: int, code: Any, bad: Bad) -> object:
        return {"status": {"text": str(bad), "type": "error"}}


_SIGNED = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/"
    r"(?P<scope>(?P<day>\d{8})/(?P<region>[\w-]+)/(?P<service>[\w-]+)/aws4_request), "
    r"SignedHeaders=(?P<headers>[\w;-]+), Signature=(?P<signature>[0-9a-f]{64})"
)


class Rekognition(Service):
    """POST / with X-Amz-Target RekognitionService.DetectLabels, JSON 1.1, Signature Version 4."""

    name = "rekognition"
    KINDS, BYTES = ("JPEG", "PNG"), 5_242_880
    STATUSES: ClassVar = {
        "credentials": (400, "UnrecognizedClientException"),
        "throttled": (400, "ThrottlingException"),
        "failed": (500, "InternalServerError"),
        "unavailable": (503, "ServiceUnavailableException"),
        "invalid": (400, "InvalidParameterException"),
        "large": (400, "ImageTooLargeException"),
        "format": (400, "InvalidImageFormatException"),
        "policy": (400, "InvalidImageFormatException"),
    }

    @classmethod
    def check(cls, image: bytes) -> None:
        super().check(image)
        if not all(80 <= side <= 10_000 for side in size(image)):
            raise Bad("invalid", "Request has invalid parameters: image size")

    def owns(self, request: Request) -> bool:
        return request.headers.get("x-amz-target", "").startswith("RekognitionService.")

    def read(self, request: Request, accounts: Accounts) -> Job:
        signed = {"host", "x-amz-date", "x-amz-target"}
        check_signature(request, accounts, signed, "rekognition")
        if request.headers["x-amz-target"] != "RekognitionService.DetectLabels":
            raise Bad("invalid", "Unknown operation.")
        if request.headers.get("content-type") != "application/x-amz-json-1.1":
            raise Bad("invalid", "The request is no JSON 1.1.")
        questions = _content(request.body)
        count, least = questions.get("MaxLabels", 1000), float(questions.get("MinConfidence", 55))
        if (
            count < 1
            or not 0 <= least <= 100
            or set(questions) - {"Image", "MaxLabels", "MinConfidence"}
        ):
            raise Bad("invalid", "Request has invalid parameters.")
        image = _decoded(questions["Image"]["Bytes"])
        if len(image) > self.BYTES:
            raise Bad("large", f"Image size is over {self.BYTES}.")
        return Job([image], {"max_labels": count, "min_confidence": least})

    def answer(self, job: Job, results: list[Labels | Bad], version: str) -> Reply:
        least, count = (
            float(str(job.parameters["min_confidence"])),
            int(str(job.parameters["max_labels"])),
        )
        shares = ((name, 100 * score) for name, score in whole(results))
        labels = [
            {"Name": name, "Confidence": share, "Parents": []}
            for name, share in shares
            if share >= least
        ]
        content = {"Labels": labels[:count], "LabelModelVersion": version}
        return Reply.of(200, content, Content_Type="application/x-amz-json-1.1")

    def wrong(self, status: int, code: Any, bad: Bad) -> object:
        return {"__type": code, "Message": str(bad)}


def check_signature(request: Request, accounts: Accounts, needed: set[str], service: str) -> None:
    """Signature Version 4, computed anew from the request as it came.

    needed: headers that are signed.  service: as the signature names it.  Raises: Bad.
    """
    match = _SIGNED.fullmatch(request.headers.get("authorization", ""))
    if not match or (match["key"], match["service"]) != (accounts.aws_key, service):
        raise Bad("credentials", "The security token included in the request is invalid.")
    signed, stamp = match["headers"].split(";"), request.headers.get("x-amz-date", "")
    if not needed <= set(signed) or not stamp.startswith(match["day"]):
        raise Bad("credentials", "The request is not signed as it has to be.")
    age = datetime.now(UTC) - datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    if abs(age.total_seconds()) > 900:
        raise Bad("credentials", "Signature expired.")
    lines = [f"{name}:{' '.join(request.headers.get(name, '').split())}" for name in signed]
    query = "&".join(
        f"{quote(key, '')}={quote(value, '')}" for key, value in sorted(request.query.items())
    )
    digest = hashlib.sha256(request.body).hexdigest()
    canonical = "\n".join(
        [request.method, quote(request.path, "/~"), query, *lines, "", match["headers"], digest]
    )
    text = "\n".join(
        [
            "AWS4-HMAC-SHA256",
            stamp,
            match["scope"],
            hashlib.sha256(canonical.encode()).hexdigest(),
        ]
    )
    key = f"AWS4{accounts.aws_secret}".encode()
    for part in match["scope"].split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    if not hmac.compare_digest(
        hmac.new(key, text.encode(), "sha256").hexdigest(), match["signature"]
    ):
        raise Bad(
            "credentials",
            "The request signature we calculated does not match the signature you provided.",
        )
