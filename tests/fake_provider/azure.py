"""Azure: POST /computervision/imageanalysis:analyze, the picture as the body."""

from __future__ import annotations

from tests.fake_provider.pictures import kind, size
from tests.fake_provider.protocol import Accounts, Bad, Job, Labels, Reply, Request, whole

IMAGE_BYTES, SIDES = 20_971_520, (50, 16_000)
_STATUS = {
    "credentials": (401, "401", ""),
    "throttled": (429, "429", ""),
    "failed": (500, "InternalServerError", ""),
    "unavailable": (503, "ServiceUnavailable", ""),
    "invalid": (400, "InvalidRequest", "InvalidParameter"),
    "large": (400, "InvalidRequest", "InvalidImageSize"),
    "format": (400, "InvalidRequest", "InvalidImageFormat"),
    "policy": (400, "InvalidRequest", "ResponsibleAIPolicyViolation"),
}


class Azure:
    """The feature ``tags``."""

    name = "azure"

    def owns(self, request: Request) -> bool:
        return request.path.startswith("/computervision")

    def read(self, request: Request, accounts: Accounts) -> Job:
        if request.headers.get("ocp-apim-subscription-key") != accounts.azure:
            message = "Access denied due to invalid subscription key or wrong API endpoint."
            raise Bad("credentials", message)
        query = request.query
        if request.path != "/computervision/imageanalysis:analyze" or query.get("api-version") != "2023-10-01":
            raise Bad("invalid", "The api-version is not supported.")
        if query.get("features") != "tags":
            raise Bad("invalid", "The features are not supported by the fake.")
        if request.headers.get("content-type") != "application/octet-stream":
            raise Bad("invalid", "The content type is not supported.")
        if query.get("language", "en") not in ("en", "de", "es", "fr", "it", "ja", "pt", "zh"):
            raise Bad("invalid", "The language is not supported.")
        if len(request.body) > IMAGE_BYTES:
            raise Bad("large", "Input image is too large.")
        kept = {key: query[key] for key in ("language", "model-version") if key in query}
        return Job([request.body], kept)

    def answer(self, job: Job, results: list[Labels | Bad], version: str) -> Reply:
        width, height = size(job.images[0]) if not isinstance(results[0], Bad) else (0, 0)
        values = [{"name": name, "confidence": score} for name, score in whole(results)]
        about = {"modelVersion": version, "metadata": {"width": width, "height": height}}
        return Reply.of(200, about | {"tagsResult": {"values": values}})

    def error(self, bad: Bad, retry_after: float) -> Reply:
        status, code, inner = _STATUS[bad.kind]
        error: dict[str, object] = {"code": code, "message": str(bad)}
        if inner:
            error["innererror"] = {"code": inner, "message": str(bad)}
        headers = {"Retry_After": f"{retry_after:g}"} if bad.kind == "throttled" and retry_after else {}
        return Reply.of(status, {"error": error}, **headers)


def check(image: bytes) -> None:
    """Raises: Bad unless it is a picture of a size that the service takes."""
    if kind(image) not in ("JPEG", "PNG", "GIF", "BMP", "WEBP", "ICO", "TIFF"):
        raise Bad("format", "Input data is not a valid image.")
    if not all(SIDES[0] <= side <= SIDES[1] for side in size(image)):
        raise Bad("large", "Input image dimensions are out of range.")
