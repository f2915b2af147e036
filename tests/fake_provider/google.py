"""Google Cloud Vision: POST /v1/images:annotate, JSON, as the official client's REST transport speaks it."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from google.auth import exceptions, jwt

from tests.fake_provider.pictures import kind, size
from tests.fake_provider.protocol import Accounts, Bad, Job, Labels, Reply, Request

IMAGES, IMAGE_BYTES, BODY_BYTES = 16, 20_000_000, 10_485_760
_STATUS = {  # what is wrong with a request to HTTP status and canonical code
    "credentials": (401, "UNAUTHENTICATED"),
    "throttled": (429, "RESOURCE_EXHAUSTED"),
    "failed": (500, "INTERNAL"),
    "unavailable": (503, "UNAVAILABLE"),
    "invalid": (400, "INVALID_ARGUMENT"),
    "large": (400, "INVALID_ARGUMENT"),
}


PIXELS = 75_000_000


class Google:
    """Labels; whoever is not signed in may ask too, as ``AnonymousCredentials`` do."""

    name = "google"

    def owns(self, request: Request) -> bool:
        return request.path.startswith("/v1/images")

    def read(self, request: Request, accounts: Accounts) -> Job:
        _authenticate(request, accounts)
        if (request.method, request.path) != ("POST", "/v1/images:annotate"):
            raise Bad("invalid", "Unknown method.")
        if len(request.body) > BODY_BYTES:
            raise Bad("large", f"Request payload size exceeds the limit: {BODY_BYTES} bytes.")
        try:
            asked = json.loads(request.body)["requests"]
            features = [{**feature} for one in asked for feature in one["features"]]
            images = [base64.b64decode(one["image"]["content"], validate=True) for one in asked]
        except (ValueError, KeyError, TypeError, binascii.Error) as error:
            raise Bad("invalid", f"Invalid JSON payload received: {error!r}") from error
        if not 0 < len(images) <= IMAGES:
            raise Bad("invalid", f"Too many images per request: {len(images)} > {IMAGES}.")
        if len(features) != len(images) or any(one.get("type") not in ("LABEL_DETECTION", 4) for one in features):
            raise Bad("invalid", "Feature must be specified.")
        if any(len(image) > IMAGE_BYTES for image in images):
            raise Bad("large", "Image size exceeds the limit.")
        counts = [int(one.get("maxResults", 10)) for one in features]
        return Job(images, {"max_results": counts})

    def answer(self, job: Job, results: list[Labels | Bad], version: str) -> Reply:
        del version  # this service does not tell
        counts: Any = job.parameters["max_results"]
        responses = [_response(one, count) for one, count in zip(results, counts, strict=True)]
        return Reply.of(200, {"responses": responses})

    def error(self, bad: Bad, retry_after: float) -> Reply:
        status, code = _STATUS[bad.kind]
        headers = {"Retry_After": f"{retry_after:g}"} if bad.kind == "throttled" and retry_after else {}
        return Reply.of(status, {"error": {"code": status, "message": str(bad), "status": code}}, **headers)


def check(image: bytes) -> None:
    """Raises: Bad if it is no picture, or one of too many pixels."""
    if kind(image) not in ("JPEG", "PNG", "GIF", "BMP", "WEBP"):
        raise Bad("format", "Bad image data.")
    width, height = size(image)
    if width * height > PIXELS:
        raise Bad("format", "The image is too large.")


def _response(result: Labels | Bad, count: int) -> dict[str, Any]:
    if isinstance(result, Bad):
        return {"error": {"code": 3 if result.kind == "format" else 7, "message": str(result)}}
    return {
        "labelAnnotations": [
            {"mid": f"/m/{abs(hash(name)) % 10**6:06d}", "description": name, "score": score, "topicality": score}
            for name, score in result[: min(count, 50)]
        ]
    }


def _authenticate(request: Request, accounts: Accounts) -> None:
    if request.headers.get("x-goog-api-key", accounts.google_key) != accounts.google_key:
        raise Bad("credentials", "API key not valid. Please pass a valid API key.")
    header = request.headers.get("authorization")
    if header is None:
        return
    scheme, _, token = header.partition(" ")
    try:
        claims = jwt.decode(token, certs=accounts.google_public)
    except (ValueError, exceptions.GoogleAuthError) as error:
        raise Bad("credentials", "Request had invalid authentication credentials.") from error
    meant = claims.get("aud") == "https://vision.googleapis.com/" or "cloud-platform" in claims.get("scope", "")
    if scheme != "Bearer" or not meant:
        raise Bad("credentials", "Request had invalid authentication credentials.")
