"""What the native endpoints of language models share: a strict form, the model of ``chat``, tokens of reasoning.

An endpoint is a JSON schema of what may be asked, what a request means, and how a reply is written. A field that the
schema does not have is an error in the vendor's own words, as is a picture that is not what it is said to be.
"""

import base64
import binascii
import hashlib
import itertools
import json
import random
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from tests.fake_provider.chat import Chat, Unsupported, sides
from tests.fake_provider.pictures import kind
from tests.fake_provider.protocol import Accounts, Bad, Job, Labels, Reply, Request

Schema = dict[str, Any]
TEXT: Schema = {"type": "string", "minLength": 1}
NO: Schema = {"const": False}  # of streaming
_COUNT = itertools.count()


def form(needed: dict[str, Schema], **more: Schema) -> Schema:
    """An object with these fields and no other."""
    return {
        "type": "object",
        "properties": {**needed, **more},
        "required": list(needed),
        "additionalProperties": False,
    }


def number(least: float, most: float, type_: str = "number") -> Schema:
    return {"type": type_, "minimum": least, "maximum": most}


def whole_number(least: int, most: int) -> Schema:
    return number(least, most, "integer")


def some(*items: Schema) -> Schema:
    """A list of one or more of these."""
    return {"type": "array", "minItems": 1, "items": {"anyOf": list(items)}}


def one(item: Schema) -> Schema:
    """A list of one."""
    return {"type": "array", "minItems": 1, "maxItems": 1, "items": item}


# A schema of an answer as all four take it: every field required, no other allowed.
ANSWER: Schema = form(
    {
        "type": {"const": "object"},
        "properties": {"type": "object", "minProperties": 1},
        "required": {"type": "array", "minItems": 1},
        "additionalProperties": {"const": False},
    }
)


class Unknown(Bad):
    """A field that is not documented, or has another value than those.

    name: of the field, after dots.  extra: whether it is not documented there.  why: of its value.
    """

    def __init__(self, name: str, why: str, extra: bool) -> None:
        super().__init__("invalid", f"{name}: {why}")
        self.name = name
        self.why = why
        self.extra = extra


@dataclass(frozen=True)
class Asked:
    """What a request means.

    pictures: media type and base64 of each.  most: tokens.  tops: log-probabilities a token; None for none.
    schema: of the answer.
    """

    text: str
    pictures: list[tuple[str, str]]
    most: int
    temperature: float = 1.0
    seed: int | None = None
    tops: int | None = None
    schema: Schema | None = None
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Written:
    """What the model answers.

    content: None if it refuses or has no tokens left.  tokens: as ``chat`` gives log-probabilities.
    asked, visible, thought: tokens of the question, the answer and the reasoning.  cut: whether it had no more.
    """

    id: str
    model: str
    content: str | None
    refusal: str | None
    tokens: list[dict[str, Any]] | None
    asked: int
    visible: int
    thought: int
    cut: bool


class Native(Chat):
    """An endpoint with its own form; the model is that of ``chat``."""

    SCHEMA: ClassVar[Schema]
    SIDE: ClassVar[int] = 0  # pixels of a picture's longer side, at most; 0: any

    # -- what a vendor defines ----------------------------------------------------------------------------------------

    @abstractmethod
    def authenticate(self, request: Request, accounts: Accounts) -> None:
        """Raises: Bad."""

    @abstractmethod
    def meaning(self, request: Request, body: Any) -> Asked:
        """What a body that has the right form asks for."""

    @abstractmethod
    def written(self, asked: dict[str, Any], answer: Written) -> object:
        """The body of a reply.  asked: the request's parameters."""

    # -- what all do ----------------------------------------------------------------------------------------------

    def read(self, request: Request, accounts: Accounts) -> Job:
        self.authenticate(request, accounts)
        if request.headers.get("content-type") != "application/json":
            raise Bad("invalid", "The request is no application/json.")
        try:
            body = self.plain(json.loads(request.body))
        except ValueError as error:
            raise Bad("invalid", f"The request is no JSON: {error}") from error
        self.inspect(request, body)
        for name in sorted(self.settings.unsupported):
            if _at(body, name) is not None:
                raise Unsupported(name)
        asked = self.meaning(request, body)
        images = [self._image(*picture) for picture in asked.pictures]
        parameters = {
            "text": asked.text,
            "temperature": asked.temperature,
            "seed": asked.seed,
            "logprobs": asked.tops is not None and "logprobs" not in self.settings.ignored,
            "top_logprobs": asked.tops,
            "most": asked.most,
            "schema": asked.schema,
            "sent": _without_pictures(body),
        }
        return Job(images, parameters)

    def plain(self, body: Any) -> Any:
        """A body with its fields by the names that the documentation gives."""
        return body

    def inspect(self, request: Request, body: Any) -> None:
        """Raises: Unknown if a body has another form than is documented."""
        del request
        error = best_match(Draft202012Validator(self.SCHEMA).iter_errors(body))
        if error is None:
            return
        path = [str(part) for part in error.absolute_path]
        if error.validator == "additionalProperties":
            known = set(error.schema["properties"])
            path.append(sorted(set(error.instance) - known)[0])
            raise Unknown(".".join(path), "Extra inputs are not permitted", extra=True)
        raise Unknown(".".join(path), error.message[:200], extra=False)

    def answer(self, job: Job, results: list[Labels | Bad], version: str) -> Reply:
        shown = []
        for result in results:
            if isinstance(result, Bad):
                raise result
            shown.append(dict(result))
        asked, text = job.parameters, str(job.parameters["text"])
        # the last one is where there is no picture
        shown = sides(text, job.images) or shown or [{"a": 0.0, "u": 0.5}]
        sha256 = hashlib.sha256(b"".join(job.images)).hexdigest()
        drawn = next(_COUNT) if asked["seed"] is None else asked["seed"]
        lot = random.Random(f"{sha256} {drawn}")
        choice = self._choice(text, asked, [one["a"] for one in shown], shown[0]["u"], lot)
        content = choice["message"]["content"]
        visible = max(1, len(str(content or "")) // 4)
        thought = self.settings.thinking
        most = int(str(asked["most"]))
        cut = thought + visible > most
        if cut:
            thought = min(thought, most)
            visible = 0
        logprobs = choice["logprobs"] or {}
        answer = Written(
            id=sha256[:16],
            model=version,
            content=None if cut else content,
            refusal=None if cut else choice["message"]["refusal"],
            tokens=None if cut else logprobs.get("content"),
            asked=258 * len(job.images) + len(text) // 4,
            visible=visible,
            thought=thought,
            cut=cut,
        )
        return Reply.of(200, self.written(asked, answer))

    def _image(self, media_type: str, data: str) -> bytes:
        try:
            image = base64.b64decode(data, validate=True)
        except binascii.Error as error:
            raise Bad("format", "The image is no base64.") from error
        self.check(image)
        if media_type != f"image/{kind(image).lower()}":
            raise Bad("format", f"The image is no {media_type}.")
        return image


def _at(body: Any, name: str) -> Any:
    """What lies under a name with dots; None if nothing does."""
    for part in name.split("."):
        body = body.get(part) if isinstance(body, dict) else None
    return body


def _without_pictures(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_pictures(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_pictures(item) for item in value]
    if isinstance(value, str) and len(value) > 2000:
        return f"{value[:40]}..."
    return value


def texts(parts: Iterable[dict[str, Any]], name: str = "text") -> str:
    """The one text among the parts of a message.  Raises: Bad."""
    found = [part[name] for part in parts if name in part]
    if len(found) != 1:
        raise Bad("invalid", "One text is expected.")
    return str(found[0])
