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

import io
import os
import re
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import field as option, replace
from itertools import chain
from typing import Any, Literal

import numpy as np

from gslopes.ask.boxes import crop_rectangle
from gslopes.ask.classifiers import picking, problems, service
from gslopes.ask.classifiers.captions import CaptionReader
from gslopes.ask.classifiers.picking import shape
from gslopes.ask.cost import ServiceOptions
from gslopes.ask.croppers import CATALOGUE
from gslopes.ask.names import as_address, canonical, check_unit
from gslopes.ask.pictures import in_base64, kind_of
from gslopes.ask.secrets import remember_secret, scrub, secrets_within
from gslopes.core import (
    AnswerError,
    ConfigError,
    CredentialsError,
    Facts,
    GslopesError,
    JsonObject,
    Texts,
    frozen,
    parse_json,
)
from gslopes.core.records import Answer, Crop, Files, Raws

_FORM = '{"answers": [{"labels": {"nurse": 0.93}}, ...]}, with an entry for each picture'
PLACE = re.compile(r"\{(\w+)\}")  # in an address or a field, of what differs between requests


@frozen
class AddressOptions(ServiceOptions):
    """Where to ask.

    url: the address, or ``env:VARIABLE`` for one that holds a key: it is read from there and stored nowhere.
    version: of the model behind it, if its replies lack it; part of the cache's key.
    token: the name of the environment variable that holds the bearer token; empty: none is sent.
    """

    url: str = option(kw_only=True)
    version: str = ""
    token: str = ""

    def __post_init__(self) -> None:
        ServiceOptions.__post_init__(self)
        if not re.match(r"https?://|env:[^\W\d]\w*\Z", self.url):
            raise ConfigError(
                f"http needs an address with its scheme, not {scrub(self.url)!r}.",
                f"Write http:{as_address(self.url)}.",
            )
        service.check_address(self.url)
        for path in self.paths:
            picking.query(path)

    @property
    def paths(self) -> list[str]:
        """JSONPaths of what is read from a reply."""
        options = (getattr(self, name, "") for name in ("at", "labels", "scores"))
        return list(filter(None, options))


@frozen
class RequestOptions(AddressOptions):
    """Fields of ``AddressOptions``, and how a picture is sent.

    body: of a request: ``json``: the picture's base64 under the key ``field``, into which dots lead; ``raw``: its file;
        ``multipart``: that as the part ``field`` of a form, ``file`` unless it is given.
    """

    body: Literal["json", "raw", "multipart"] = "json"
    field: str = ""

    def __post_init__(self) -> None:
        AddressOptions.__post_init__(self)
        if self.field and self.body == "raw":
            raise ConfigError(
                "A raw body has no field.",
                f"Leave it out, or give body=multipart,field={self.field}.",
            )


class Endpoint(service.Service):
    """A team's own address, with a bearer token: what is the same whatever it answers with.

    Raises: ConfigError if a token would travel unencrypted to another machine.
    """

    SERVICE = "http"
    _answers_in: Collection[str] = ("answers", "labels", "caption", "refused")

    def __init__(self, name: str, options: AddressOptions, device: str = "cpu") -> None:
        super().__init__(name, options, device)
        self._url = service.address(options.url) if options.token else options.url
        self.version = options.version
        first = map(picking.first_name, options.paths)
        self._answers_in = {*self._answers_in, *chain.from_iterable(first)}

    @property
    def _variables(self) -> Sequence[str]:
        return [self._options.token or "token=VARIABLE"]

    def _connected(self) -> Any:
        from gslopes.ask import transport

        headers = {}
        url = self._options.url
        if url.startswith("env:"):
            url = _value_of(url.removeprefix("env:"))
            for part in secrets_within(url):
                remember_secret(part)
            self._url = service.address(url)
        if self._options.token:
            headers = {"Authorization": f"Bearer {_value_of(self._options.token)}"}
        return transport.Client(headers=headers)

    def _sent(self, picture: bytes, url: str, fields: Facts) -> Any:
        """The reply to a request about one picture.

        fields: beside it: of JSON, of the form, or, of a raw body, parameters of the address.

        Raises: httpx's errors.
        """
        from httpx import URL

        field = self._options.field
        kind = f"image/{kind_of(picture)}"
        if self._options.body == "json":
            sent = {**fields, field or "picture": in_base64(picture)}
            return self._posted(url, json=service.nested(sent))
        if self._options.body == "raw":
            url = str(URL(url).copy_merge_params(fields))
            return self._posted(url, content=picture, headers={"Content-Type": kind})
        part = kind.replace("image/", "picture."), picture, kind
        return self._posted(url, files={field or "file": part}, data=fields)

    def _posted(self, url: str, **sent: Any) -> Any:
        return self._client.post(url, **sent).raise_for_status()

    def _content(self, reply: Any) -> Any:
        """The JSON of a reply.  Raises: ValueError; the error that it holds."""
        if problems.PATTERNS["streamed"].match(reply.content[:9].decode("latin-1")):
            raise self._error("service", "its reply is an event stream, not one JSON value")
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
        # FastAPI about a part of the form
        if lacks := re.search(r'"loc"\s*:\s*\[\s*"body"\s*,\s*"(\w+)"', text):
            text = f"its form has a field {lacks[1]}: give body=multipart,field={lacks[1]} ({text})"
        # the request is ours: it would fail for every picture
        return "service" if kind == "failed" else kind, f"status {reply.status_code}: {text}"


def filled(template: str, wanted: Facts, written: Callable[[str], str] = str) -> Any:
    """A template with what is wanted in its places; of a place alone that itself: a number stays one.

    written: how a text stands in it.
    """
    if whole := PLACE.fullmatch(template):
        return wanted[whole[1]]
    texts = {name: "" if value is None else f"{value}" for name, value in wanted.items()}
    return PLACE.sub(lambda place: written(texts.get(place[1], place[0])), template)


# -- labels ------------------------------------------------------------------------------------------------------------


@frozen
class HttpOptions(RequestOptions):
    """Fields of ``RequestOptions``, and what the answers are; ``json`` without a field is the protocol above.

    labels, scores: JSONPath of them in the reply; empty: as in the protocol. Of captions, labels.
    batch: pictures in one request of the protocol.
    kind: ``number``: numbers in any unit, such as an age; ``caption``: a text, see ``captions``.
    unit: of numbers, such as ``years``; pages name it.
    """

    labels: str = ""
    scores: str = ""
    batch: int = 8
    kind: Literal["score", "number", "caption"] = "score"
    unit: str = ""

    def __post_init__(self) -> None:
        RequestOptions.__post_init__(self)
        check_unit(self.kind, self.unit)


class HttpClassifier(Endpoint):
    """A ``records.Classifier`` over a team's own endpoint.  Raises: as ``Endpoint``."""

    Options = HttpOptions

    def __init__(self, name: str, options: HttpOptions, device: str = "cpu") -> None:
        super().__init__(name, options, device)
        self._picks = bool(options.paths)
        self._protocol = options.body == "json" and not options.field
        self.batch = options.batch if self._protocol and not self._picks else 1
        self.traits = replace(self.traits, numbers=options.kind == "number")
        self._captions = CaptionReader(self) if options.kind == "caption" else None

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
        return Answer("answered", picking.pairs(map(list, pairs.items())), version=version)

    def _answers(self, pictures: Files) -> Raws:
        if self._protocol:
            reply = self._posted(self._url, json={"pictures": list(map(in_base64, pictures))})
        else:
            reply = self._sent(pictures[0], self._url, {})
        body = self._content(reply)
        if self._picks:
            return [body]
        answers = problems.within(body, "answers")
        if answers is None:
            raise _odd(f"lacks the key 'answers': it is {shape(body)}", picking.suggestion(body))
        if not isinstance(answers, list):
            raise _odd(f"has {shape(answers)} under 'answers', not a list")
        for entry in answers:
            if not isinstance(entry, dict):
                raise _odd(f"has an entry that is {shape(entry)}")
        version = str(body.get("version") or "")
        return [self._error_in(answer) or {**answer, "version": version} for answer in answers]


def _odd(what: str, suggestion: str = "") -> AnswerError:
    return AnswerError(
        f"The reply {what}. It should be {_FORM}.{suggestion or ' Give scores=PATH for another form.'}"
    )


def _value_of(variable: str) -> str:
    value = os.environ.get(variable, "")
    if not value:
        raise CredentialsError("http", [variable])
    remember_secret(value)
    return value


# -- boxes -------------------------------------------------------------------------------------------------------------


@frozen
class HttpCropOptions(AddressOptions):
    """Fields of ``AddressOptions``, and how to ask and to read the answer.

    field: the part of a multipart form that holds the picture, a PNG; empty: the PNG is the body.
    answer: ``json`` with a rectangle, ``point`` JSON with a focal point around which gslopes crops.
    at: JSONPath of the rectangle, such as ``$.crops[0].box``.
    units: ``pixels`` or ``shares``.
    """

    field: str = ""
    answer: Literal["json", "point"] = "json"
    at: str = "$"
    units: Literal["pixels", "shares"] = "pixels"

    @property
    def body(self) -> str:
        """As of ``RequestOptions``."""
        return "multipart" if self.field else "raw"


class HttpCropper(Endpoint, service.OnePictureService):
    """A cropper behind an address, asked by ``ask.croppers.asker``; ``at`` a ratio it is a ``records.Classifier``.

    A picture and a ratio are one request, a POST of the picture's file. The address may hold ``{ratio}``
    (height/width), ``{width}`` and ``{height}`` (pixels of the largest crop that fits); without any, the ratio is the
    parameter ``ratio``. Errors are as in the protocol above.

    Raises: ConfigError if the address is malformed or holds a key, or a token would travel without encryption.
    """

    Options = HttpCropOptions
    LISTED = CATALOGUE
    _answers_in = tuple(chain.from_iterable(picking.NAMES["rectangle"].items()))
    _ratio = 0.0

    def __init__(self, name: str, options: HttpCropOptions, setting: Any = None) -> None:
        super().__init__(canonical("http", options), options)

    def at(self, ratio: float) -> "HttpCropper":
        """Who is asked for crops of this height/width."""
        asked = copy(self)
        asked._client = None  # each has its own
        asked.name = f"{self.name}@{ratio:g}"
        asked._ratio = ratio
        return asked

    def parse(self, raw: Any) -> Answer:
        """The rectangle, in pixels inside the picture; what reaches out by a pixel is moved inside.

        Raises: AnswerError.
        """
        options = self._options
        point = options.answer == "point"
        width, height = raw["size"]
        size = np.array([width, height])
        names = picking.NAMES["point" if point else "rectangle"]
        numbers = _numbers(raw["answer"], options.at, names)
        # the point, or the corners at the upper left and the lower right, by x and y
        corners = np.cumsum(np.reshape(numbers, (-1, 2)), axis=0)
        if options.units == "shares":
            corners *= size
        inside = np.clip(corners, 0, size)
        off = np.abs(corners - inside).max()
        said = " to ".join(f"{x:g}, {y:g}" for x, y in corners)
        if point:
            if off:
                raise AnswerError(f"{self.name} answers with {said}, outside of the picture.")
            x, y = np.minimum(corners[0].astype(int), size - 1).tolist()
            return Answer("answered", box=crop_rectangle(width, height, x, y, self._ratio))
        if not off <= 1 + 1e-6 or np.diff(inside, axis=0).min() < 1 - 1e-6:
            raise AnswerError(
                f"{self.name} answers with pixels {said} of a picture of {width} x {height}."
            )
        (x0, y0), (x1, y1) = np.rint(inside).astype(int).tolist()
        return Answer("answered", box=Crop(x0, y0, max(x1 - x0, 1), max(y1 - y0, 1)))

    def _answer(self, picture: bytes) -> object:
        from PIL import Image

        size = Image.open(io.BytesIO(picture)).size
        largest = crop_rectangle(*size, 0, 0, self._ratio)
        ratio = f"{self._ratio:.10g}"
        wanted = {"ratio": ratio, "width": largest.width, "height": largest.height}
        url = filled(self._url, wanted)
        if url == self._url:
            url += f"{'&' if '?' in url else '?'}ratio={ratio}"
        return {"answer": self._content(self._sent(picture, url, {})), "size": list(size)}


def _numbers(answer: Any, path: str, names: Texts) -> list[float]:
    """What a path finds in an answer: as many numbers, or an object that has each by one of its names.

    Raises: AnswerError if it finds neither.
    """
    numbers = picking.found(answer, path)
    if len(numbers) == 1 and isinstance(numbers[0], dict):
        given = {name: value for name, value in numbers[0].items() if value is not None}
        numbers = [given.get(name, given.get(other)) for name, other in names.items()]
    if len(numbers) == len(names) and all(map(picking.is_number, numbers)):
        return numbers
    raise AnswerError(
        f"The answer has no numbers {', '.join(names)} at {path}: it is {shape(answer)}."
    )
