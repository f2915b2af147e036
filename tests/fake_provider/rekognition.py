"""Amazon Rekognition: POST / with X-Amz-Target RekognitionService.DetectLabels, JSON 1.1, Signature Version 4."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
from datetime import UTC, datetime
from urllib.parse import quote

from tests.fake_provider.pictures import kind, size
from tests.fake_provider.protocol import Accounts, Bad, Job, Labels, Reply, Request, whole

IMAGE_BYTES, SIDES = 5_242_880, (80, 10_000)
_STATUS = {
    "credentials": (400, "UnrecognizedClientException"),
    "throttled": (400, "ThrottlingException"),
    "failed": (500, "InternalServerError"),
    "unavailable": (503, "ServiceUnavailableException"),
    "invalid": (400, "InvalidParameterException"),
    "large": (400, "ImageTooLargeException"),
    "format": (400, "InvalidImageFormatException"),
    "policy": (400, "InvalidImageFormatException"),
}
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/"
    r"(?P<scope>(?P<day>\d{8})/(?P<region>[\w-]+)/rekognition/aws4_request), "
    r"SignedHeaders=(?P<headers>[\w;-]+), Signature=(?P<signature>[0-9a-f]{64})"
)


_FIELDS = {"Image", "MaxLabels", "MinConfidence", "Features"}


class Rekognition:
    """DetectLabels of one picture, sent as bytes."""

    name = "rekognition"

    def owns(self, request: Request) -> bool:
        return request.headers.get("x-amz-target", "").startswith("RekognitionService.")

    def read(self, request: Request, accounts: Accounts) -> Job:
        _authenticate(request, accounts)
        if request.headers["x-amz-target"].partition(".")[2] != "DetectLabels":
            raise Bad("invalid", "Unknown operation.")
        if request.headers.get("content-type") != "application/x-amz-json-1.1":
            raise Bad("invalid", "The request is no JSON 1.1.")
        try:
            asked = json.loads(request.body)
            image = base64.b64decode(asked["Image"]["Bytes"], validate=True)
        except (ValueError, KeyError, TypeError, binascii.Error) as error:
            raise Bad("invalid", "Request has invalid parameters.") from error
        count, least = asked.get("MaxLabels", 1000), float(asked.get("MinConfidence", 55))
        if count < 1 or not 0 <= least <= 100 or set(asked) - _FIELDS:
            raise Bad("invalid", "Request has invalid parameters.")
        if len(image) > IMAGE_BYTES:
            raise Bad("large", f"1 validation error detected: image bytes must be at most {IMAGE_BYTES}.")
        return Job([image], {"max_labels": count, "min_confidence": least})

    def answer(self, job: Job, results: list[Labels | Bad], version: str) -> Reply:
        least, count = float(str(job.parameters["min_confidence"])), int(str(job.parameters["max_labels"]))
        labels = [
            {"Name": name, "Confidence": 100 * score, "Instances": [], "Parents": [], "Aliases": [], "Categories": []}
            for name, score in whole(results)
            if 100 * score >= least
        ]
        content: dict[str, object] = {"Labels": labels[:count], "LabelModelVersion": version}
        return Reply.of(200, content, Content_Type="application/x-amz-json-1.1", x_amzn_RequestId="fake")

    def error(self, bad: Bad, retry_after: float) -> Reply:
        status, code = _STATUS[bad.kind]
        headers = {"Content_Type": "application/x-amz-json-1.1", "x_amzn_RequestId": "fake"}
        return Reply.of(status, {"__type": code, "Message": str(bad)}, **headers)


def check(image: bytes) -> None:
    """Raises: Bad unless it is a JPEG or PNG of a size that the service takes."""
    if kind(image) not in ("JPEG", "PNG"):
        raise Bad("format", "Request has invalid image format")
    if not all(SIDES[0] <= side <= SIDES[1] for side in size(image)):
        raise Bad("invalid", "Request has invalid parameters: image size")


def _authenticate(request: Request, accounts: Accounts) -> None:
    """Signature Version 4, computed anew from the request as it came."""
    found = _AUTHORIZATION.fullmatch(request.headers.get("authorization", ""))
    if not found or found["key"] != accounts.aws_key:
        raise Bad("credentials", "The security token included in the request is invalid.")
    signed = found["headers"].split(";")
    stamp = request.headers.get("x-amz-date", "")
    if not {"host", "x-amz-date", "x-amz-target"} <= set(signed) or not stamp.startswith(found["day"]):
        raise Bad("credentials", "The request is not signed as it has to be.")
    age = datetime.now(UTC) - datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    if abs(age.total_seconds()) > 900:
        raise Bad("credentials", "Signature expired.")
    lines = [f"{name}:{' '.join(request.headers.get(name, '').split())}" for name in signed]
    query = "&".join(f"{quote(key, '')}={quote(value, '')}" for key, value in sorted(request.query.items()))
    digest = hashlib.sha256(request.body).hexdigest()
    canonical = "\n".join([request.method, request.path, query, *lines, "", found["headers"], digest])
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, found["scope"], hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{accounts.aws_secret}".encode()
    for part in found["scope"].split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    if not hmac.compare_digest(hmac.new(key, text.encode(), "sha256").hexdigest(), found["signature"]):
        raise Bad("credentials", "The request signature we calculated does not match the signature you provided.")
