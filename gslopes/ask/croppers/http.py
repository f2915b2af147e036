"""``http:URL``: any cropper behind an address, that answers with a rectangle, a point, or the cropped picture.

A picture and a ratio are one request, a POST of the picture's file. It is asked by ``ask.client`` alone, as the
classifiers are: hence it is a ``records.Classifier`` for each ratio (``at``), whose labels are the rectangle's sides as
shares of the picture. The answers are kept by the picture's content; a picture at a ratio is asked once.

429 and 503 with ``Retry-After`` are waited for, 5xx and broken answers asked again, 413, 415 and 422 refuse the picture
for good, 401 and 403 the token.
"""

from __future__ import annotations

import io
import json
import math
from dataclasses import dataclass
from dataclasses import field as option
from typing import Any, ClassVar, Literal, cast

import numpy as np
from PIL import Image

from gslopes.ask.classifiers import wire
from gslopes.ask.classifiers.http import HttpClassifier
from gslopes.ask.cost import Limits, ServiceOptions
from gslopes.ask.croppers import Request
from gslopes.ask.croppers.geometry import crop_rectangle
from gslopes.ask.croppers.locate import locate
from gslopes.ask.croppers.records import Crop
from gslopes.ask.names import ARGUMENT, NO_KEY, OPERATIONAL, canonical, read
from gslopes.ask.secrets import scrub, secret_in_address
from gslopes.core.errors import AnswerError, ConfigError, UsageError
from gslopes.core.files import parse_json
from gslopes.core.records import Answer

SIDES = ("left", "top", "right", "bottom")
# Where answers keep a rectangle, and what they call its sides, in the order in which they are looked for.
_PLACES = ("crop", "rectangle", "rect", "box", "bbox", "topCrop", "boundingBox", "result", "data")
_WORDS = {
    "left": ("left", "x", "x0", "xmin"),
    "top": ("top", "y", "y0", "ymin"),
    "width": ("width", "w"),
    "height": ("height", "h"),
    "right": ("right", "x1", "xmax"),
    "bottom": ("bottom", "y1", "ymax"),
}


@dataclass(frozen=True, slots=True)
class HttpCropOptions(ServiceOptions):
    """Where and how to ask, and how to read the answer.

    url: the address. ``{ratio}`` (height/width), ``{width}`` and ``{height}`` (pixels of the largest crop that fits) in
        it are filled in; without any, the ratio is the parameter ``ratio`` of the query. Or ``env:VARIABLE`` for an
        address that holds a key: it is stored nowhere.
    field: the part of a multipart form that holds the picture, a PNG; empty: the PNG is the body.
    answer: ``json`` with a rectangle, ``point`` JSON with a focal point around which gslopes crops, ``image`` the
        cropped picture, which is looked for in the original.
    at: where in the JSON the rectangle is, names and numbers with dots between them; empty: where it usually is.
    units: ``pixels`` or ``shares``.
    version: of the model behind it; part of the cache's key.
    token: the name of the environment variable that holds the bearer token; empty: none is sent.
    """

    url: str = option(kw_only=True, metadata=ARGUMENT)
    field: str = ""
    answer: Literal["json", "point", "image"] = "json"
    at: str = ""
    units: Literal["pixels", "shares"] = "pixels"
    version: str = ""
    token: str = option(default="", metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        ServiceOptions.__post_init__(self)
        if not self.url.startswith(("http://", "https://")) and not self.url.removeprefix("env:").isidentifier():
            raise ConfigError(f"The cropper http needs an address, not {scrub(self.url)!r}.", "http:https://host/path")
        wire.check_address(self.url)


class Http:
    """A cropper behind an address. It gives no map, and must be asked by ``ask.croppers.remote``.

    Raises: ConfigError if the address is none, holds a key, or a token would travel unencrypted to another machine.
    """

    def __init__(self, request: Request) -> None:
        base = request.name.partition(":")[0]
        address = f"{base}:{request.argument}" if request.argument.startswith("//") else request.argument
        public = request.options.get("public", "") in ("yes", "true", "1")
        if found := secret_in_address(address, public=public):
            hint = "Put the key into an environment variable: token=VARIABLE, or the whole address: http:env:VARIABLE."
            hint += "" if public else NO_KEY
            raise ConfigError(f"The address of the cropper holds {found}, which would be stored.", hint)
        given = [f"{key}={value}" for key, value in request.options.items()]
        self.options = read(HttpCropOptions, "http", [address, *given] if address else given)
        if self.options.token:
            wire.address(self.options.url)
        self.name = canonical("http", self.options)
        self.version = self.options.version
        note = "rate, concurrency and price are yours"
        self.limits = Limits(concurrency=4, formats=("JPEG", "PNG"), network=True, note=note).adjusted(self.options)

    def at(self, ratio: float) -> HttpAtRatio:
        """Who is asked for crops of this height/width: a ``records.Classifier``."""
        return HttpAtRatio(self, ratio)

    def crop(self, picture: Any, ratio: float) -> Crop:
        """A service is never asked from here.  Raises: UsageError."""
        del picture, ratio
        raise UsageError(f"The cropper {self.name} is asked by crops.asking.remote.", "Use gslopes.crops.")


class HttpAtRatio(HttpClassifier):
    """The cropper at one ratio, a ``records.Classifier``: labels are left, top, right and bottom, or x and y."""

    Options: ClassVar[Any] = HttpCropOptions
    ERRORS = ("json",)

    def __init__(self, cropper: Http, ratio: float) -> None:
        self._options, self._ratio, self._url = cropper.options, ratio, cropper.options.url
        self._from_variable = self._url.removeprefix("env:") if self._url.startswith("env:") else ""
        self.name, self.version, self.limits = f"{cropper.name}@{ratio:g}", cropper.version, cropper.limits
        self.notes = []
        self._client: Any = None

    def parse(self, raw: object) -> Answer:
        """The rectangle, or the point, as shares of the picture in [0, 1].  Raises: AnswerError."""
        entry = cast("dict[str, Any]", raw)
        wide, tall = (int(side) for side in entry["size"])
        if "found" in entry:
            left, top, right, bottom = (float(value) for value in entry["found"])
            return self._sides(left, top, right, bottom, wide, tall)
        options = self._options
        at = _inside(entry["answer"], options.at)
        across, down = (1.0, 1.0) if options.units == "shares" else (1 / wide, 1 / tall)
        if options.answer == "point":
            x, y = _number(at, "x") * across, _number(at, "y") * down
            if not (0 <= x <= 1 and 0 <= y <= 1):
                raise AnswerError(f"{self.name} answers with the point {x:.4f}, {y:.4f}, outside of the picture.")
            return Answer("answered", (("x", x), ("y", y)))
        sides = {side: _side(at, side) for side in _WORDS}
        left, right = _ends(sides["left"], sides["width"], sides["right"], "left, width or right")
        top, bottom = _ends(sides["top"], sides["height"], sides["bottom"], "top, height or bottom")
        return self._sides(left * across, top * down, right * across, bottom * down, wide, tall)

    def rectangle(self, labels: dict[str, float], width: int, height: int) -> Crop:
        """The labels as a rectangle of a picture of this size."""
        if "x" in labels:
            x, y = (min(int(labels[name] * side), side - 1) for name, side in (("x", width), ("y", height)))
            return crop_rectangle(width, height, x, y, self._ratio)
        left, top = round(labels["left"] * width), round(labels["top"] * height)
        wide, tall = round(labels["right"] * width) - left, round(labels["bottom"] * height) - top
        return Crop(left, top, max(wide, 1), max(tall, 1))

    # -- the wire ------------------------------------------------------------------------------------------------------

    def _answers(self, pictures: list[bytes]) -> list[object]:
        return [self._asked(data) for data in pictures]

    def _asked(self, data: bytes) -> object:
        import httpx

        with Image.open(io.BytesIO(data)) as opened:
            size, kind = opened.size, opened.format or "PNG"
        reply = self._post(data, size, kind)
        if reply.status_code != 200:
            raise httpx.HTTPStatusError(f"status {reply.status_code}", request=reply.request, response=reply)
        return self._read(data, size, reply.content)

    def _post(self, data: bytes, size: tuple[int, int], kind: str) -> Any:
        largest = crop_rectangle(*size, 0, 0, self._ratio)
        ratio_text = f"{self._ratio:.10g}"
        fields = {"ratio": ratio_text, "width": str(largest.width), "height": str(largest.height)}
        url = self._url
        for name, value in fields.items():
            url = url.replace("{" + name + "}", value)
        sent: dict[str, Any] = {"params": {"ratio": ratio_text}} if url == self._url else {}
        mime = f"image/{kind.lower()}"
        if self._options.field:
            sent["files"] = {self._options.field: (f"picture.{kind.lower()}", data, mime)}
        else:
            sent |= {"content": data, "headers": {"Content-Type": mime}}
        return self._client.post(url, **sent)

    def _read(self, data: bytes, size: tuple[int, int], body: bytes) -> object:
        if self._options.answer != "image":
            return {"answer": self._json(body), "size": list(size)}
        try:
            with Image.open(io.BytesIO(body)) as opened:
                returned = np.asarray(opened.convert("RGB"))
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise AnswerError(f"{self.name} answers with something that is no picture.") from error
        with Image.open(io.BytesIO(data)) as opened:
            found, correlation = locate(np.asarray(opened.convert("RGB")), returned)
        right, bottom = found.left + found.width, found.top + found.height
        sides = [found.left / size[0], found.top / size[1], right / size[0], bottom / size[1]]
        return {"found": sides, "size": list(size), "correlation": round(correlation, 4)}

    def _json(self, body: bytes) -> object:
        try:
            return parse_json(body)
        except json.JSONDecodeError:
            raise
        except ValueError as error:
            raise AnswerError(f"{self.name} answers with JSON that says two things: {error}.") from error

    def _sides(self, left: float, top: float, right: float, bottom: float, wide: int, tall: int) -> Answer:
        """Checked; what reaches out by a pixel is moved inside."""
        out = max(-left * wide, -top * tall, (right - 1) * wide, (bottom - 1) * tall)
        inside = [min(max(side, 0.0), 1.0) for side in (left, top, right, bottom)]
        less = min((inside[2] - inside[0]) * wide, (inside[3] - inside[1]) * tall) < 1 - 1e-6  # than a pixel
        if out > 1 + 1e-6 or less:
            pixels = f"{left * wide:g} to {right * wide:g} and {top * tall:g} to {bottom * tall:g}"
            raise AnswerError(f"{self.name} answers with pixels {pixels} of a picture of {wide} x {tall}.")
        return Answer("answered", tuple(zip(SIDES, inside, strict=True)))


def _inside(answer: Any, path: str) -> Any:
    """The part of an answer that holds the rectangle: at the path, else where it usually is."""
    try:
        for name in path.split(".") if path else ():
            answer = answer[int(name)] if isinstance(answer, list) else answer[name]
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise AnswerError(f"The answer has nothing at {path!r}.") from error
    while not path and isinstance(answer, dict) and not any(word in answer for word in ("left", "x", "x0", "xmin")):
        place = next((name for name in _PLACES if isinstance(answer.get(name), (dict, list))), "")
        if not place:
            break
        answer = answer[place]
    if isinstance(answer, list) and len(answer) == 4:
        return dict(zip(("left", "top", "width", "height"), answer, strict=True))
    if not isinstance(answer, dict):
        raise AnswerError(f"The answer {str(answer)[:80]!r} holds no rectangle.")
    return answer


def _side(at: dict[str, Any], side: str) -> float | None:
    found = next((word for word in _WORDS[side] if at.get(word) is not None), "")
    return _number(at, found) if found else None


def _number(at: Any, name: str) -> float:
    value = at.get(name) if isinstance(at, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise AnswerError(f"The answer's {name!r} is {str(value)[:40]!r}, which is no number.")
    return float(value)


def _ends(start: float | None, length: float | None, end: float | None, names: str) -> tuple[float, float]:
    if start is not None and (length is not None or end is not None):
        return start, start + length if length is not None else float(cast("float", end))
    if length is not None and end is not None:
        return end - length, end
    raise AnswerError(f"The answer does not say two of {names}.")
