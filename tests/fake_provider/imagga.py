"""Imagga: POST /v2/tags, a form with the picture as a file, basic authentication."""

from __future__ import annotations

import base64
import re

from tests.fake_provider.pictures import kind
from tests.fake_provider.protocol import Accounts, Bad, Job, Labels, Reply, Request, whole

_STATUS = {
    "credentials": 401,
    "throttled": 429,
    "failed": 500,
    "unavailable": 503,
    "invalid": 400,
    "large": 400,
    "format": 400,
    "policy": 400,
}


class Imagga:
    """The endpoint /v2/tags."""

    name = "imagga"

    def owns(self, request: Request) -> bool:
        return request.path.startswith("/v2/tags")

    def read(self, request: Request, accounts: Accounts) -> Job:
        pair = base64.b64encode(f"{accounts.imagga_key}:{accounts.imagga_secret}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {pair}":
            raise Bad("credentials", "You need to be authenticated to access this resource.")
        if (request.method, request.path) != ("POST", "/v2/tags"):
            raise Bad("invalid", "The method is not allowed for the requested URL.")
        fields = _form(request)
        asked = {name: value.decode("utf-8", "replace") for name, value in fields.items() if name != "image"}
        if "image" not in fields:
            raise Bad("invalid", "Please provide content for processing via one of these ways: image, image_url.")
        try:
            kept = {"limit": int(asked["limit"]), "threshold": float(asked["threshold"]), "language": asked["language"]}
        except (KeyError, ValueError) as error:
            raise Bad("invalid", "The limit or threshold is no number.") from error
        if request.query or kept != {"limit": -1, "threshold": 0, "language": "en"}:
            raise Bad("invalid", "There is a parameter that the fake does not know.")
        return Job([fields["image"]], kept)

    def answer(self, job: Job, results: list[Labels | Bad], version: str) -> Reply:
        del job, version  # this service does not tell
        tags = [{"confidence": 100 * score, "tag": {"en": name}} for name, score in whole(results)]
        return Reply.of(200, {"result": {"tags": tags}, "status": {"text": "", "type": "success"}})

    def error(self, bad: Bad, retry_after: float) -> Reply:
        headers = {"Retry_After": f"{retry_after:g}"} if bad.kind == "throttled" and retry_after else {}
        return Reply.of(_STATUS[bad.kind], {"status": {"text": str(bad), "type": "error"}}, **headers)


def check(image: bytes) -> None:
    """Raises: Bad if it is no picture."""
    if kind(image) not in ("JPEG", "PNG", "GIF", "BMP", "WEBP"):
        raise Bad("format", "The file you have provided is not a valid image.")


def _form(request: Request) -> dict[str, bytes]:
    """The fields of a multipart form."""
    kind_, _, boundary = request.headers.get("content-type", "").partition("; boundary=")
    if kind_ != "multipart/form-data" or not boundary:
        raise Bad("invalid", "The request is no form.")
    fields = {}
    for part in request.body.split(b"--" + boundary.strip('"').encode())[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        name = re.search(rb'name="([^"]*)"', head)
        if name:
            fields[name[1].decode()] = content.removesuffix(b"\r\n")
    return fields
