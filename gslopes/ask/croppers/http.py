"""``http:URL``: any cropper behind an address, that answers with a rectangle, a point, or the cropped picture.

A picture and a ratio are one request, a POST of the picture's file. The address may hold ``{ratio}`` (height/width),
``{width}`` and ``{height}`` (pixels of the largest crop that fits); without any, the ratio is the parameter ``ratio``.
It is asked by ``ask.client`` alone, as the classifiers are, for each ratio by itself (``at``). The answers are kept by
the picture's content; a picture at a ratio is asked once.

429 and 503 with ``Retry-After`` are waited for, 5xx and broken answers asked again, 413, 415 and 422 refuse the picture
for good, 401 and 403 the token.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from dataclasses import field as option
from typing import Any, ClassVar, Literal, cast

import numpy as np
from PIL import Image

from gslopes.ask.classifiers.http import AddressOptions, Endpoint
from gslopes.ask.cost import Limits
from gslopes.ask.croppers import Setting
from gslopes.ask.croppers.geometry import crop_rectangle
from gslopes.ask.croppers.locate import locate
from gslopes.ask.croppers.records import Crop
from gslopes.ask.names import OPERATIONAL, canonical
from gslopes.core.errors import AnswerError, UsageError
from gslopes.core.files import parse_json
from gslopes.core.records import Answer

# Where answers keep a rectangle, and what they call its sides, in the order in which they are looked for.
_KEYS = ("crop", "rectangle", "rect", "box", "bbox", "topCrop", "boundingBox", "result", "data")
_SIDES = {
    "left": ("left", "x", "x0", "xmin"),
    "top": ("top", "y", "y0", "ymin"),
    "width": ("width", "w"),
    "height": ("height", "h"),
    "right": ("right", "x1", "xmax"),
    "bottom": ("bottom", "y1", "ymax"),
}
_LIMITS = Limits(concurrency=4, formats=("JPEG", "PNG"), network=True, note="rate, concurrency and price are yours")


@dataclass(frozen=True, slots=True)
class HttpCropOptions(AddressOptions):
    """Fields of ``AddressOptions``, and how to ask and to read the answer.

    field: the part of a multipart form that holds the picture, a PNG; empty: the PNG is the body.
    answer: ``json`` with a rectangle, ``point`` JSON with a focal point around which gslopes crops, ``image`` the
        cropped picture, which is looked for in the original.
    at: where in the JSON the rectangle is, names and numbers with dots between them; empty: where it usually is.
    units: ``pixels`` or ``shares``.
    """

    token: str = option(default="", metadata=OPERATIONAL)
    field: str = ""
    answer: Literal["json", "point", "image"] = "json"
    at: str = ""
    units: Literal["pixels", "shares"] = "pixels"


class HttpCropper(Endpoint):
    """A cropper behind an address; ``at`` a ratio it is a ``records.Classifier``, whose answers are boxes.

    It gives no map, and is asked by ``ask.croppers.remote``.

    Raises: ConfigError if the address is none, holds a key, or a token would travel unencrypted to another machine.
    """

    Options: ClassVar[Any] = HttpCropOptions

    def __init__(self, name: str, options: HttpCropOptions, setting: Setting | None = None) -> None:
        del name, setting
        super().__init__(canonical("http", options), options)
        self.limits = _LIMITS.adjusted(options)
        self._ratio = 0.0

    def at(self, ratio: float) -> HttpCropper:
        """Who is asked for crops of this height/width."""
        cropper = HttpCropper("", cast("HttpCropOptions", self._options))
        cropper.name, cropper._ratio = f"{self.name}@{ratio:g}", ratio
        return cropper

    def crop(self, picture: Any, ratio: float) -> Crop:
        """A service is never asked from here.  Raises: UsageError."""
        del picture, ratio
        raise UsageError(f"The cropper {self.name} is asked by ask.croppers.remote.", "Use gslopes.crops.")

    def parse(self, raw: object) -> Answer:
        """The rectangle, in pixels inside the picture.  Raises: AnswerError."""
        entry = cast("dict[str, Any]", raw)
        wide, tall = (int(side) for side in entry["size"])
        if "found" in entry:
            left, top, right, bottom = (float(value) for value in entry["found"])
            return self._box(left * wide, top * tall, right * wide, bottom * tall, wide, tall)
        across, down = (wide, tall) if self._options.units == "shares" else (1, 1)
        at = _inside(entry["answer"], self._options.at)
        if self._options.answer == "point":
            x, y = _number(at, "x") * across, _number(at, "y") * down
            if not (0 <= x <= wide and 0 <= y <= tall):
                raise AnswerError(f"{self.name} answers with the point {x:g}, {y:g}, outside of the picture.")
            cut = crop_rectangle(wide, tall, min(int(x), wide - 1), min(int(y), tall - 1), self._ratio)
            return Answer("answered", box=(cut.left, cut.top, cut.width, cut.height, *(cut.point or ())))
        sides = {side: _side(at, side) for side in _SIDES}
        left, right = _ends(sides["left"], sides["width"], sides["right"], "left, width or right")
        top, bottom = _ends(sides["top"], sides["height"], sides["bottom"], "top, height or bottom")
        return self._box(left * across, top * down, right * across, bottom * down, wide, tall)

    def _box(self, left: float, top: float, right: float, bottom: float, wide: int, tall: int) -> Answer:
        """Checked; what reaches out by a pixel is moved inside."""
        x0, x1 = (min(max(side, 0.0), wide) for side in (left, right))
        y0, y1 = (min(max(side, 0.0), tall) for side in (top, bottom))
        out = max(-left, -top, right - wide, bottom - tall)
        if out > 1 + 1e-6 or min(x1 - x0, y1 - y0) < 1 - 1e-6:
            pixels = f"{left:g} to {right:g} and {top:g} to {bottom:g}"
            raise AnswerError(f"{self.name} answers with pixels {pixels} of a picture of {wide} x {tall}.")
        x, y = round(x0), round(y0)
        return Answer("answered", box=(x, y, max(round(x1) - x, 1), max(round(y1) - y, 1)))

    # -- the wire ------------------------------------------------------------------------------------------------------

    def _answers(self, pictures: list[bytes]) -> list[object]:
        return [self._asked(data) for data in pictures]

    def _asked(self, data: bytes) -> object:
        with Image.open(io.BytesIO(data)) as opened:
            size, kind = opened.size, (opened.format or "PNG").lower()
        largest = crop_rectangle(*size, 0, 0, self._ratio)
        fields = {"ratio": f"{self._ratio:.10g}", "width": largest.width, "height": largest.height}
        url = self._url
        for name, value in fields.items():
            url = url.replace("{" + name + "}", str(value))
        sent: dict[str, Any] = {"params": {"ratio": fields["ratio"]}} if url == self._url else {}
        if self._options.field:
            sent["files"] = {self._options.field: (f"picture.{kind}", data, f"image/{kind}")}
        else:
            sent |= {"content": data, "headers": {"Content-Type": f"image/{kind}"}}
        reply = self._client.post(url, **sent)
        reply.raise_for_status()
        if self._options.answer == "image":
            return self._located(data, reply.content)
        return {"answer": parse_json(reply.content), "size": list(size)}

    def _located(self, data: bytes, body: bytes) -> object:
        try:
            original, returned = (np.asarray(Image.open(io.BytesIO(one)).convert("RGB")) for one in (data, body))
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise AnswerError(f"{self.name} answers with something that is no picture.") from error
        cut, correlation = locate(original, returned)
        tall, wide = original.shape[:2]
        right, bottom = cut.left + cut.width, cut.top + cut.height
        sides = [cut.left / wide, cut.top / tall, right / wide, bottom / tall]
        return {"found": sides, "size": [wide, tall], "correlation": round(correlation, 4)}


def _inside(answer: Any, path: str) -> Any:
    """The part of an answer that holds the rectangle: at the path, else where it usually is."""
    try:
        for name in path.split(".") if path else ():
            answer = answer[int(name)] if isinstance(answer, list) else answer[name]
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise AnswerError(f"The answer has nothing at {path!r}.") from error
    while not path and isinstance(answer, dict) and not any(word in answer for word in _SIDES["left"]):
        key = next((name for name in _KEYS if isinstance(answer.get(name), (dict, list))), "")
        if not key:
            break
        answer = answer[key]
    if isinstance(answer, list) and len(answer) == 4:
        return dict(zip(("left", "top", "width", "height"), answer, strict=True))
    if not isinstance(answer, dict):
        raise AnswerError(f"The answer {str(answer)[:80]!r} holds no rectangle.")
    return answer


def _side(at: dict[str, Any], side: str) -> float | None:
    word = next((word for word in _SIDES[side] if at.get(word) is not None), "")
    return _number(at, word) if word else None


def _number(at: dict[str, Any], name: str) -> float:
    value = at.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise AnswerError(f"The answer's {name!r} is {str(value)[:40]!r}, which is no number.")
    return float(value)


def _ends(start: float | None, length: float | None, end: float | None, names: str) -> tuple[float, float]:
    if start is not None and (length is not None or end is not None):
        return start, start + length if length is not None else float(cast("float", end))
    if length is not None and end is not None:
        return end - length, end
    raise AnswerError(f"The answer does not say two of {names}.")
