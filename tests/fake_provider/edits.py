"""The endpoint POST /v1/images/edits of one image model, strictly: a real form, no field that is not documented.

Fields and replies are those of OpenAI's reference as its Python client 3.57.0 has it (types/image_edit_params.py,
types/images_response.py): GPT image models take no ``response_format`` and no ``seed``, answer in ``b64_json``, and
count tokens. ``takes`` adds fields that other servers know, such as vLLM-Omni's ``seed``.
"""

import base64
import io
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from typing import Any

from PIL import Image

from tests.loopback import QuietHandler, serving

FIELDS = {
    "model": ".+",
    "prompt": r"(?s).{1,32000}",
    "n": "[1-9]|10",
    "size": r"auto|\d{3,4}x\d{3,4}",
    "quality": "low|medium|high|auto",
    "input_fidelity": "low|high",
    "output_format": "png|jpeg|webp",
    "output_compression": r"\d{1,2}|100",
    "background": "transparent|opaque|auto",
    "moderation": "low|auto",
    "user": ".*",
}
FILES = ("image", "image[]", "mask")
KEY = "planted-key-0123456789abcdef"
REFUSED = (
    "Your request was rejected by the safety system. If you believe this is an error, contact us and include the "
    "request ID 1d3a2c41. safety_violations=[sexual]."
)
ERRORS: dict[str, tuple[int, dict[str, Any]]] = {
    "throttle": (
        429,
        {"message": "Rate limit reached.", "type": "requests", "code": "rate_limit_exceeded"},
    ),
    "quota": (
        429,
        {
            "message": "You exceeded your current quota.",
            "type": "insufficient_quota",
            "code": "insufficient_quota",
        },
    ),
    "moderation": (
        400,
        {
            "message": REFUSED,
            "type": "image_generation_user_error",
            "param": None,
            "code": "moderation_blocked",
        },
    ),
    "policy": (
        400,
        {
            "message": "Not allowed.",
            "type": "invalid_request_error",
            "code": "content_policy_violation",
        },
    ),
    "words": (
        400,
        {
            "message": "Your request was rejected as a result of our safety system.",
            "type": "api_error",
            "code": None,
        },
    ),
    "fail": (500, {"message": "The server had an error.", "type": "server_error", "code": None}),
    "checking": (503, {"message": "Our safety system is unavailable.", "type": "server_error"}),
    "busy": (503, {"message": "The engine is overloaded.", "type": "server_error", "code": None}),
    "key": (401, {"message": f"Incorrect API key provided: {KEY}.", "code": "invalid_api_key"}),
    "forbidden": (
        403,
        {"message": "Your organization must be verified.", "type": "invalid_request_error"},
    ),
    "unknown": (
        404,
        {
            "message": "The model 'm' does not exist.",
            "type": "invalid_request_error",
            "code": "model_not_found",
        },
    ),
    "large": (413, {"message": "The request is too large.", "type": "invalid_request_error"}),
    "file": (
        400,
        {
            "message": "Invalid image file for image 1.",
            "param": "image",
            "code": "invalid_image_file",
        },
    ),
}


class Bad(Exception):
    """A request that the endpoint does not take.  param: of which field."""

    def __init__(self, message: str, param: str | None, code: str, status: int = 400) -> None:
        super().__init__(message)
        self.body = {
            "message": message,
            "type": "invalid_request_error",
            "param": param,
            "code": code,
        }
        self.status = status


@dataclass
class ImageService:
    """What the endpoint does, and what it was asked.

    planned: what happens to the next requests, a name of ``ERRORS`` or a method of the handler; then ``b64``.
    takes: fields beyond the documented ones.  change: what the model makes of a picture.
    name: of the model in the reply; empty for none, as OpenAI has it.  forms: of the requests, without the files.
    pictures: that were sent.  made: how many pictures were made, and billed.
    wild: the body of a reply that is ``wild``.
    """

    port: int = 0
    planned: list[str] = field(default_factory=list)
    takes: set[str] = field(default_factory=set)
    refuses: set[str] = field(default_factory=set)
    change: Callable[[Image.Image], Image.Image] = lambda image: image
    name: str = ""
    forms: list[dict[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    pictures: list[Image.Image] = field(default_factory=list)
    fetched: list[dict[str, str]] = field(default_factory=list)
    made: int = 0
    wild: Any = None
    usage: dict[str, Any] | None = field(
        default_factory=lambda: {
            "input_tokens": 500,
            "input_tokens_details": {"image_tokens": 400, "text_tokens": 100},
            "output_tokens": 1056,
            "total_tokens": 1556,
        }
    )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


class Handler(QuietHandler):
    """Answers as planned."""

    service: ImageService

    def do_GET(self) -> None:  # noqa: N802
        """A picture that a reply named."""
        self.service.fetched.append(dict(self.headers))
        if self.path != "/made/1.png" or len(self.service.fetched) <= self.service.planned.count(
            "missing"
        ):
            return self.send(404, b"gone", "text/plain")
        return self.send(200, self._last, "image/png")

    def do_POST(self) -> None:  # noqa: N802
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.service.headers.append({name.lower(): value for name, value in self.headers.items()})
        try:
            form, image = self._read(body)
        except Bad as bad:
            return self._reply(bad.status, {"error": bad.body})
        self.service.forms.append(form)
        self.service.pictures.append(image)
        plan = self.service.planned.pop(0) if self.service.planned else "b64"
        if plan in ERRORS:
            status, error = ERRORS[plan]
            headers = {"Retry-After": "0"} if plan == "throttle" else {}
            return self._reply(status, {"error": error}, headers)
        self.service.made += 1
        return getattr(self, f"make_{plan}")(form, self.service.change(image))

    def _read(self, body: bytes) -> tuple[dict[str, str], Image.Image]:
        """The fields of the form, and the picture.  Raises: Bad."""
        if self.path != "/v1/images/edits":
            raise Bad("Unknown request URL.", None, "unknown_url", 404)
        if self.headers.get("Authorization") != f"Bearer {KEY}":
            raise Bad("Incorrect API key provided.", None, "invalid_api_key", 401)
        kind = self.headers.get("Content-Type", "")
        whole = message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
        if whole.get_content_type() != "multipart/form-data" or not whole.is_multipart():
            raise Bad("The request is no form.", None, "unsupported_content_type")
        form: dict[str, str] = {}
        files: dict[str, bytes] = {}
        for part in whole.get_payload():
            name = str(part.get_param("name", header="content-disposition"))
            data = part.get_payload(decode=True)
            if name in form or name in files:
                raise Bad(f"Duplicate parameter: '{name}'.", name, "duplicate_parameter")
            if name in FILES:
                _check_file(name, part.get_filename(), part.get_content_type(), data)
                files[name] = data
                continue
            text = data.decode()
            if (
                part.get_filename()
                or name not in {*FIELDS, *self.service.takes} - self.service.refuses
            ):
                raise Bad(f"Unknown parameter: '{name}'.", name, "unknown_parameter")
            if not re.fullmatch(FIELDS.get(name, ".+"), text) or not _fits(name, text):
                raise Bad(f"Invalid value: '{text}'.", name, "invalid_value")
            form[name] = text
        image = files.get("image") or files.get("image[]")
        for name, have in (
            ("image", image),
            ("prompt", form.get("prompt")),
            ("model", form.get("model")),
        ):
            if not have:
                raise Bad(
                    f"Missing required parameter: '{name}'.", name, "missing_required_parameter"
                )
        return form, Image.open(io.BytesIO(image or b"")).convert("RGB")

    # -- what comes back ----------------------------------------------------------------------------------------------

    def make_b64(self, form: dict[str, str], image: Image.Image) -> None:
        self._answer({"b64_json": base64.b64encode(_png(_sized(image, form))).decode()})

    def make_jpeg(self, form: dict[str, str], image: Image.Image) -> None:
        """A JPEG, whatever was asked for."""
        buffer = io.BytesIO()
        _sized(image, form).save(buffer, "JPEG", quality=95)
        self._answer({"b64_json": base64.b64encode(buffer.getvalue()).decode()})

    def make_url(self, form: dict[str, str], image: Image.Image) -> None:
        Handler._last = _png(_sized(image, form))
        self._answer({"url": f"http://127.0.0.1:{self.service.port}/made/1.png"})

    def make_missing(self, form: dict[str, str], image: Image.Image) -> None:
        """An address at which the picture is found at the second look."""
        self.service.planned = ["missing"]
        self.make_url(form, image)

    def make_gone(self, form: dict[str, str], image: Image.Image) -> None:
        self._answer({"url": f"http://127.0.0.1:{self.service.port}/gone.png"})

    def make_open(self, form: dict[str, str], image: Image.Image) -> None:
        """An address without encryption, on another machine."""
        self._answer({"url": "http://169.254.169.254/latest/meta-data/x.png"})

    def make_malformed(self, form: dict[str, str], image: Image.Image) -> None:
        self._answer({"url": "https://[made/1.png"})

    def make_small(self, form: dict[str, str], image: Image.Image) -> None:
        """Another size, of the same shape."""
        self._answer({"b64_json": base64.b64encode(_png(_sized(image, form).reduce(2))).decode()})

    def make_square(self, form: dict[str, str], image: Image.Image) -> None:
        """Another shape."""
        self._answer({"b64_json": base64.b64encode(_png(image.resize((512, 512)))).decode()})

    def make_slow(self, form: dict[str, str], image: Image.Image) -> None:
        time.sleep(1.0)
        self.make_b64(form, image)

    def make_close(self, form: dict[str, str], image: Image.Image) -> None:
        self.close_connection = True

    def make_empty(self, form: dict[str, str], image: Image.Image) -> None:
        self._reply(200, {"created": 1, "data": []})

    def make_nothing(self, form: dict[str, str], image: Image.Image) -> None:
        self.send(200, b"", "application/json")

    def make_text(self, form: dict[str, str], image: Image.Image) -> None:
        self._answer({"text": "I cannot do that."})

    def make_noise(self, form: dict[str, str], image: Image.Image) -> None:
        """Base64 of no picture."""
        self._answer({"b64_json": base64.b64encode(b"noise" * 50).decode()})

    def make_cut(self, form: dict[str, str], image: Image.Image) -> None:
        """The first half of a picture."""
        data = _png(_sized(image, form))
        self._answer({"b64_json": base64.b64encode(data[: len(data) // 2]).decode()})

    def make_html(self, form: dict[str, str], image: Image.Image) -> None:
        self.send(200, b"<html><title>Sign in</title></html>", "text/html")

    def make_page(self, form: dict[str, str], image: Image.Image) -> None:
        self.send(502, b"<html><title>502 Bad Gateway</title></html>", "text/html")

    def make_inside(self, form: dict[str, str], image: Image.Image) -> None:
        """An error in a reply whose status is good."""
        self._reply(200, {"error": {"code": 503, "message": "model is loading"}, "data": None})

    def make_wild(self, form: dict[str, str], image: Image.Image) -> None:
        self.send(200, json.dumps(self.service.wild).encode(), "application/json")

    def make_filtered(self, form: dict[str, str], image: Image.Image) -> None:
        """A refusal in a reply whose status is good."""
        self._reply(200, {"error": {"code": "content_filter", "message": "The image was flagged."}})

    def _answer(self, item: dict[str, Any]) -> None:
        body: dict[str, Any] = {"created": 1_790_000_000, "data": [item], "output_format": "png"}
        if self.service.usage is not None:
            body["usage"] = self.service.usage
        if self.service.name:
            body["model"] = self.service.name
        self._reply(200, body)

    def _reply(
        self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None
    ) -> None:
        self.send(status, json.dumps(body).encode(), "application/json", headers)


def _check_file(name: str, file: str | None, kind: str, data: bytes) -> None:
    try:
        image = Image.open(io.BytesIO(data))
        image.load()
    except OSError as error:
        raise Bad("Invalid image file.", name, "invalid_image_file") from error
    if (
        not file
        or kind != Image.MIME[str(image.format)]
        or image.format not in ("PNG", "JPEG", "WEBP")
    ):
        raise Bad("The file is not what its type names.", name, "invalid_image_file")


def _fits(name: str, text: str) -> bool:
    if name != "size" or text == "auto":
        return True
    wide, tall = map(int, text.split("x"))
    return not (wide % 16 or tall % 16) and 1 / 3 <= wide / tall <= 3 and wide <= 3840


def _sized(image: Image.Image, form: dict[str, str]) -> Image.Image:
    """The picture at the size that was asked for, as a model gives it: stretched if that has another shape."""
    size = form.get("size", "auto")
    if size == "auto":
        return image
    wide, tall = map(int, size.split("x"))
    return image.resize((wide, tall), Image.Resampling.LANCZOS)


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


@contextmanager
def edits(**options: Any) -> Iterator[ImageService]:
    """The endpoint, until the block ends.  options: of ``ImageService``."""
    with serving(ImageService(**options), Handler) as service:
        yield service
