"""``http:URL``: a team's own endpoint, by a small JSON protocol; or any cropper behind an address (below).

The request is a POST of ``{"pictures": ["<base64 of a JPEG or PNG file>", ...]}``, at most ``batch`` of them, with the
header ``Authorization: Bearer ...`` if ``token=VARIABLE`` names an environment variable that holds a token. The reply
has an entry for each picture, in their order:

    {"version": "2026-05-01", "answers": [{"labels": {"nurse": 0.93, "person": 0.99}}, {"refused": "no face"}]}

Scores are in [0, 1], or with ``kind=number,unit=years`` numbers in any unit, one for every picture; with
``kind=caption`` an answer is ``{"caption": "A woman on a bench."}``. ``version`` of the model may be left out. An
endpoint that is busy answers 429 or 503, with ``Retry-After`` in seconds if it likes; 413, 415 and 422 refuse the
picture for good (a 422 of FastAPI about the request's form does not); 401 and 403 the credentials. An error may also
come with a good status, as in ``{"error": {"code": 429}}``: it is read like the status that it names, but refuses no
picture. A field that is null counts as left out, and so does ``refused`` with a value such as "no".

An endpoint with another protocol is asked about one picture a request; its JSON is read by JSONPath (RFC 9535):

    http:URL,body=multipart,field=file,scores=$.predictions     a part of a form; raw: the file; json: base64 in a field
    http:URL,body=raw,labels=$.top[*].what,scores=$.top[*].p    labels and scores in parallel

Without ``labels``, ``scores`` finds a mapping of label to score, or items with both (``name``, ``class``,
``tag``; ``confidence``, ``probability``, ...), pairs of both, or only labels, which score 1. Of a label that comes
twice the highest score counts. ``gslopes try`` shows what a reply holds, and the path that fits.
"""

import base64
import io
import math
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import field as option
from dataclasses import replace
from itertools import chain
from typing import Any, Literal, cast

import numpy as np

from gslopes.ask.boxes import crop_rectangle
from gslopes.ask.classifiers import picking, problems, service
from gslopes.ask.classifiers.captions import CaptionReader
from gslopes.ask.classifiers.picking import shape
from gslopes.ask.classifiers.service import Service
from gslopes.ask.cost import ServiceOptions
from gslopes.ask.names import ARGUMENT, OPERATIONAL, as_address, canonical, check_unit
from gslopes.ask.secrets import remember_secret, scrub, secrets_within
from gslopes.core import frozen
from gslopes.core.errors import AnswerError, ConfigError, CredentialsError, GslopesError
from gslopes.core.files import JsonObject, parse_json
from gslopes.core.records import Answer, Crop
from gslopes.core.traits import Limits

_FORM = '{"answers": [{"labels": {"nurse": 0.93}}, ...]}, with an entry for each picture'
_PNG = b"\x89PNG"
_LACKS = re.compile(r'"loc"\s*:\s*\[\s*"body"\s*,\s*"(\w+)"')  # FastAPI about a part of the form


@frozen
class AddressOptions(ServiceOptions):
    """Where to ask.

    url: the address, or ``env:VARIABLE`` for one that holds a key: it is read from there and stored nowhere.
    version: of the model behind it, if its replies lack it; part of the cache's key.
    token: the name of the environment variable that holds the bearer token; empty: none is sent.
    """

    url: str = option(kw_only=True, metadata=ARGUMENT)
    version: str = ""
    token: str = ""

    def __post_init__(self) -> None:
        ServiceOptions.__post_init__(self)
        is_variable = self.url.startswith("env:") and self.url.removeprefix("env:").isidentifier()
        if not is_variable and not self.url.startswith(("http://", "https://")):
            raise ConfigError(
                f"http needs an address with its scheme, not {scrub(self.url)!r}.",
                f"Write http:{as_address(self.url)}.",
            )
        service.check_address(self.url)


class Endpoint(Service):
    """A team's own address, with a bearer token: what is the same whatever it answers with.

    Raises: ConfigError if a token would travel unencrypted to another machine.
    """

    SERVICE = "http"
    _answers_in: Collection[str] = ("answers", "labels", "caption", "refused")

    def __init__(self, name: str, options: AddressOptions, device: str = "cpu") -> None:
        super().__init__(name, options, device)
        self._variable = ""
        self._url = options.url
        if options.url.startswith("env:"):
            self._variable = options.url.removeprefix("env:")
        elif options.token:
            self._url = service.address(options.url)
        self.version = options.version

    @property
    def _variables(self) -> Sequence[str]:
        return [self._options.token or "token=VARIABLE"]

    def _connected(self) -> service.Connected:
        from gslopes.ask import transport

        headers = {}
        if self._variable:
            url = _value_of(self._variable)
            for part in secrets_within(url):
                remember_secret(part)
            self._url = service.address(url)
        if self._options.token:
            headers = {"Authorization": f"Bearer {_value_of(self._options.token)}"}
        client = transport.client(headers=headers)
        return client, client.close

    def _post(self, url: str, **sent: Any) -> Any:
        """The JSON of the reply to a request.  Raises: httpx's errors; ValueError."""
        reply = self._client.post(url, **sent)
        reply.raise_for_status()
        body = parse_json(reply.content)
        if isinstance(body, dict) and (error := self._error_in(body)):
            raise error
        return body

    def _error_in(self, body: JsonObject) -> GslopesError | None:
        """The error that a body, or an entry, holds instead of an answer; one next to an answer names a status."""
        answered = any(body.get(name) is not None for name in self._answers_in)
        error = problems.error_in(body, answered)
        if not error or (answered and not problems.status_in(error)):
            return None
        return self._error(service.kind_inside(error, "unusable"), problems.words_of(error))

    @classmethod
    def _details(cls, error: Exception, kind: service.Kind) -> service.Details:
        reply: Any = getattr(error, "response", None)
        if reply is None:
            return super()._details(error, kind)
        text = reply.content.decode("utf-8", "replace")  # whatever character set the server names
        # with "loc" it is FastAPI's: every request lacks a field
        if reply.status_code == 422 and '"loc"' not in text:
            return "refused", text or "it cannot be processed"
        kind = service.kind_of_status(reply.status_code)
        if lacks := _LACKS.search(text):
            text = f"its form has a field {lacks[1]}: give body=multipart,field={lacks[1]} ({text})"
        # the request is ours: it would fail for every picture
        return "service" if kind == "failed" else kind, f"status {reply.status_code}: {text}"


# -- labels ------------------------------------------------------------------------------------------------------------


@frozen
class HttpOptions(AddressOptions):
    """Fields of ``AddressOptions``, and what the answers are.

    body: of a request: ``json``: the protocol above, or one picture's base64 under the key ``field``; ``raw``: the
        picture's file; ``multipart``: that as the part ``field`` of a form, ``file`` unless it is given.
    labels, scores: JSONPath of them in the reply; empty: as in the protocol. Of captions, labels.
    batch: pictures in one request of the protocol.
    kind: ``number``: numbers in any unit, such as an age; ``caption``: a text, see ``captions``.
    unit: of numbers, such as ``years``; pages name it.
    """

    body: Literal["json", "raw", "multipart"] = "json"
    field: str = ""
    labels: str = ""
    scores: str = ""
    batch: int = option(default=8, metadata=OPERATIONAL)
    kind: Literal["score", "number", "caption"] = "score"
    unit: str = ""

    def __post_init__(self) -> None:
        AddressOptions.__post_init__(self)
        if self.batch < 1:
            raise ConfigError(f"http's batch must be at least 1, not {self.batch}.")
        if self.field and self.body == "raw":
            raise ConfigError(
                "A raw body has no field.",
                f"Leave it out, or give body=multipart,field={self.field}.",
            )
        for path in filter(None, (self.labels, self.scores)):
            picking.query(path)
        check_unit(self.kind, self.unit)


class HttpClassifier(Endpoint):
    """A ``records.Classifier`` over a team's own endpoint.  Raises: as ``Endpoint``."""

    Options = HttpOptions

    def __init__(self, name: str, options: HttpOptions, device: str = "cpu") -> None:
        super().__init__(name, options, device)
        self._picks = bool(options.labels or options.scores)
        self._answers_in = {
            *self._answers_in,
            *picking.first_name(options.scores or options.labels),
        }
        self._protocol = options.body == "json" and not options.field and not self._picks
        self.batch = options.batch if self._protocol else 1
        self.traits = replace(self.traits, numbers=options.kind == "number")
        self._captions = CaptionReader().read_for(self) if options.kind == "caption" else None

    def parse(self, raw: Any) -> Answer:
        """One entry, or whole reply, to its labels, highest score first, or to a refusal.  Raises: AnswerError."""
        labels = self._options.labels
        scores = self._options.scores
        if self._picks and self._captions:
            return self._captions.answer(picking.found(raw, labels or scores)[:1])
        if self._picks:
            return Answer("answered", picking.picked(raw, labels, scores))
        version = str(raw.get("version") or "")
        if problems.said(raw.get("refused")):
            return Answer("refused", (), str(raw["refused"]), version)
        if self._captions:
            if not isinstance(raw.get("caption"), str):
                raise AnswerError(
                    "The captioner's reply has no caption.",
                    'Each of its answers is {"caption": "..."}.',
                )
            return self._captions.answer([raw["caption"]], version)
        pairs = raw.get("labels")
        if pairs is None:
            entry = {name: value for name, value in raw.items() if name != "version"}
            raise _odd(
                f"has an entry that lacks the key 'labels' (or 'refused'): it is {shape(entry)}"
            )
        if not isinstance(pairs, dict):
            raise _odd(f"has {shape(pairs)} under 'labels', not a mapping of label to score")
        highest_first = tuple(sorted(pairs.items(), key=lambda pair: -pair[1]))
        return Answer("answered", highest_first, version=version)

    def _answers(self, pictures: list[bytes]) -> list[object]:
        field = self._options.field
        if self._options.body == "json":
            texts = [base64.b64encode(data).decode("ascii") for data in pictures]
            body = self._post(self._url, json={field: texts[0]} if field else {"pictures": texts})
        else:
            part = field or "file" if self._options.body == "multipart" else ""
            body = self._post(self._url, **file_part(pictures[0], part))
        if self._picks:
            return [body]
        if not isinstance(body, dict) or body.get("answers") is None:
            raise _odd(f"lacks the key 'answers': it is {shape(body)}", picking.suggestion(body))
        answers = body["answers"]
        if not isinstance(answers, list):
            raise _odd(f"has {shape(answers)} under 'answers', not a list")
        if odd := next((entry for entry in answers if not isinstance(entry, dict)), None):
            raise _odd(f"has an entry that is {shape(odd)}")
        version = str(body.get("version") or "")
        return [self._error_in(answer) or {**answer, "version": version} for answer in answers]


def _odd(what: str, suggestion: str = "") -> AnswerError:
    return AnswerError(
        f"The reply {what}. It should be {_FORM}.{suggestion or ' Give scores=PATH for another form.'}"
    )


def file_part(data: bytes, field: str) -> dict[str, Any]:
    """Arguments of a request with a picture's file: as a part of a form, or the body if the part has no name."""
    kind = "image/png" if data.startswith(_PNG) else "image/jpeg"
    if field:
        return {"files": {field: (kind.replace("image/", "picture."), data, kind)}}
    return {"content": data, "headers": {"Content-Type": kind}}


def _value_of(variable: str) -> str:
    value = os.environ.get(variable, "")
    if not value:
        raise CredentialsError("http", [variable])
    remember_secret(value)
    return value


# -- boxes -------------------------------------------------------------------------------------------------------------

# What answers call a rectangle's sides.
_SIDES = (("left", "x"), ("top", "y"), ("width", "w"), ("height", "h"))
_CROP_LIMITS = Limits(
    concurrency=4,
    formats=("JPEG", "PNG"),
    network=True,
    note="rate, concurrency and price are yours",
)


@frozen
class HttpCropOptions(AddressOptions):
    """Fields of ``AddressOptions``, and how to ask and to read the answer.

    field: the part of a multipart form that holds the picture, a PNG; empty: the PNG is the body.
    answer: ``json`` with a rectangle, ``point`` JSON with a focal point around which gslopes crops.
    at: JSONPath of the rectangle, such as ``$.crops[0].box``.
    units: ``pixels`` or ``shares``.
    """

    token: str = option(default="", metadata=OPERATIONAL)
    field: str = ""
    answer: Literal["json", "point"] = "json"
    at: str = "$"
    units: Literal["pixels", "shares"] = "pixels"

    def __post_init__(self) -> None:
        AddressOptions.__post_init__(self)
        picking.query(self.at)


class HttpCropper(Endpoint, service.OnePictureService):
    """A cropper behind an address, asked by ``ask.croppers.remote``; ``at`` a ratio it is a ``records.Classifier``.

    A picture and a ratio are one request, a POST of the picture's file. The address may hold ``{ratio}``
    (height/width), ``{width}`` and ``{height}`` (pixels of the largest crop that fits); without any, the ratio is the
    parameter ``ratio``. Errors are as in the protocol above.

    Raises: ConfigError if the address is malformed or holds a key, or a token would travel without encryption.
    """

    Options = HttpCropOptions

    def __init__(self, name: str, options: HttpCropOptions, setting: Any = None) -> None:
        super().__init__(canonical("http", options), options)
        self.traits = replace(self.traits, limits=options.applied_to(_CROP_LIMITS))
        self._answers_in = {*picking.first_name(options.at), *chain.from_iterable(_SIDES)}
        self._ratio = 0.0

    def at(self, ratio: float) -> "HttpCropper":
        """Who is asked for crops of this height/width."""
        cropper = HttpCropper("", cast("HttpCropOptions", self._options))
        cropper.name = f"{self.name}@{ratio:g}"
        cropper._ratio = ratio
        return cropper

    def parse(self, raw: Any) -> Answer:
        """The rectangle, in pixels inside the picture; what reaches out by a pixel is moved inside.

        Raises: AnswerError.
        """
        wide, tall = (int(side) for side in raw["size"])
        unit = (wide, tall) if self._options.units == "shares" else (1, 1)
        at = _rectangle(raw["answer"], self._options.at)
        if self._options.answer == "point":
            x, y = (_number(at, axis) * scale for axis, scale in zip("xy", unit, strict=True))
            if not (0 <= x <= wide and 0 <= y <= tall):
                raise AnswerError(
                    f"{self.name} answers with the point {x:g}, {y:g}, outside of the picture."
                )
            middle = min(int(x), wide - 1), min(int(y), tall - 1)
            return Answer("answered", box=crop_rectangle(wide, tall, *middle, self._ratio))
        left, top, width, height = (
            _number(at, next((name for name in names if at.get(name) is not None), names[0]))
            for names in _SIDES
        )
        sides = np.array([left, top, left + width, top + height]) * (*unit, *unit)
        inside = np.clip(sides, 0, (wide, tall, wide, tall))
        if np.abs(sides - inside).max() > 1 + 1e-6 or min(inside[2:] - inside[:2]) < 1 - 1e-6:
            pixels = f"{sides[0]:g} to {sides[2]:g} and {sides[1]:g} to {sides[3]:g}"
            raise AnswerError(
                f"{self.name} answers with pixels {pixels} of a picture of {wide} x {tall}."
            )
        x0, y0, x1, y1 = np.rint(inside).astype(int).tolist()
        return Answer("answered", box=Crop(x0, y0, max(x1 - x0, 1), max(y1 - y0, 1)))

    def _answer(self, picture: bytes) -> object:
        from PIL import Image

        with Image.open(io.BytesIO(picture)) as opened:
            size = opened.size
        largest = crop_rectangle(*size, 0, 0, self._ratio)
        ratio = f"{self._ratio:.10g}"
        url = self._url.replace("{ratio}", ratio)
        url = url.replace("{width}", str(largest.width)).replace("{height}", str(largest.height))
        sent: dict[str, Any] = {"params": {"ratio": ratio}} if url == self._url else {}
        return {
            "answer": self._post(url, **sent, **file_part(picture, self._options.field)),
            "size": list(size),
        }


def _rectangle(answer: Any, path: str) -> JsonObject:
    """The rectangle, or the point, that the path finds in an answer.  Raises: AnswerError if that is neither."""
    items = picking.found(answer, path)
    if len(items) == 4:
        return {side: value for (side, _), value in zip(_SIDES, items, strict=True)}
    if len(items) != 1 or not isinstance(items[0], dict):
        raise AnswerError(f"The answer holds no rectangle at {path}: it is {shape(answer)}.")
    return items[0]


def _number(rectangle: JsonObject, name: str) -> float:
    value = rectangle.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise AnswerError(f"The answer's {name!r} is {str(value)[:40]!r}, which is not a number.")
    return float(value)
