"""The OpenAI-compatible chat endpoint: POST /v1/chat/completions, strictly, never streaming.

The model sees a place (a, u) in each picture, see ``pictures``. Of the options
that it is given, one with a planted slope b has the probability ``SURE`` if u < c (1 + b a), else the others share
it; the first option is preferred by ``ChatSettings.first``. Refusals have another slope.
Of two people, in two pictures or side by side in one, the one with the larger a is preferred by ``prefers``.
"""

import base64
import binascii
import hashlib
import json
import math
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tests.fake_provider.pictures import decode, kind, place, present
from tests.fake_provider.protocol import Accounts, Bad, Job, Labels, Reply, Request, Service, whole

NAME = "chat"
SURE = 0.9
_RANGES = {
    "temperature": (0, 2),
    "top_logprobs": (0, 20),
    "max_tokens": (1, 4096),
    "max_completion_tokens": (1, 128_000),
}
_FIELDS = {
    *_RANGES,
    "model",
    "messages",
    "seed",
    "reasoning_effort",
    "stream",
    "response_format",
    "logprobs",
}


@dataclass
class ChatSettings:
    """What the model is like; all of it may be changed while it runs.

    slopes: of planted options.  otherwise: the option that is answered if no planted one is.
    refusals: share at the centre and slope of refusals.  first: weight of the first option.
    unsupported: parameters that are not taken.  ignored: parameters that are taken and have no effect.
    number: if one is asked for, its value at the centre, and its slope as a share of that.
    thinking: tokens of reasoning before an answer, of the native endpoints.
    prefers: of two people, by how much the first one's probability rises with each unit that its a is larger by.
    undecided: of two people, the probability of any option beside them.
    abstains: if a number may be answered by “cannot tell”, the share at the centre and the slope of that.
    reasons: the same of chat completions, strictly as OpenAI's: they count as output, and while it reasons it takes no
        temperature, max_tokens and logprobs. With reasoning_effort none it does not.
    also: further fields that are taken.
    """

    slopes: dict[str, float] = field(
        default_factory=lambda: {"nurse": -0.25, "engineer": 0.25, "tourist": 0.0}
    )
    refusals: tuple[float, float] = (0.0, 0.0)
    otherwise: str = "doctor"
    first: float = 0.0
    number: tuple[float, float] = (60_000.0, 0.0)
    prefers: float = 0.0
    undecided: float = 0.0
    abstains: tuple[float, float] = (0.0, 0.0)
    unsupported: set[str] = field(default_factory=set)
    ignored: set[str] = field(default_factory=set)
    thinking: int = 0
    reasons: int = 0
    also: set[str] = field(default_factory=set)


class Unsupported(Bad):
    """A parameter that this model does not take."""

    def __init__(self, name: str) -> None:
        super().__init__(
            "invalid", f"Unsupported parameter: '{name}' is not supported with this model."
        )
        self.name = name


class Chat(Service):
    """The endpoint of one model."""

    name = NAME
    KINDS = ("JPEG", "PNG", "GIF", "WEBP")
    STATUSES: ClassVar = {
        "credentials": (401, ("invalid_request_error", "invalid_api_key")),
        "throttled": (429, ("requests", "rate_limit_exceeded")),
        "failed": (500, ("server_error", None)),
        "unavailable": (503, ("server_error", None)),
        "invalid": (400, ("invalid_request_error", None)),
        "large": (400, ("invalid_request_error", "image_too_large")),
        "format": (400, ("invalid_request_error", "invalid_image_format")),
        "policy": (400, ("invalid_request_error", "content_policy_violation")),
    }

    def __init__(self, settings: ChatSettings) -> None:
        self.settings = settings

    def owns(self, request: Request) -> bool:
        return request.path.startswith("/v1/chat")

    def read(self, request: Request, accounts: Accounts) -> Job:
        if request.headers.get("authorization") != f"Bearer {accounts.chat}":
            raise Bad("credentials", "Incorrect API key provided.")
        if (request.method, request.path) != ("POST", "/v1/chat/completions"):
            raise Bad("invalid", "Unknown request URL.")
        try:
            content = json.loads(request.body)
            images, text = _conversation(content["messages"])
        except (ValueError, KeyError, TypeError, binascii.Error) as error:
            raise Bad(
                "invalid", f"We could not parse the JSON body of your request: {error!r}"
            ) from error
        _check(content, self.settings.also)
        refused = set(self.settings.unsupported)
        if self._reasons(content):
            refused |= {"temperature", "max_tokens", "logprobs", "top_logprobs"}
        for name in sorted(refused & set(content)):
            raise Unsupported(name)
        for image in images:
            self.check(image)
        retained = {
            key: value
            for key, value in content.items()
            if key not in ("messages", *self.settings.ignored)
        }
        return Job(images, retained | {"text": text})

    def answer(self, job: Job, results: list[Labels | Bad], version: str) -> Reply:
        positions = [dict(whole([result])) for result in results]
        questions, text = job.parameters, str(job.parameters["text"])
        sha256 = hashlib.sha256(b"".join(job.images)).hexdigest()
        lot = random.Random(f"{sha256} {questions.get('seed')}")
        positions = sides(text, job.images) or positions
        places = [position["a"] for position in positions]
        choice = self._choice(text, questions, places, positions[0]["u"], lot)
        message = max(1, len(str(choice["message"]["content"] or "")) // 4)
        asked_for = 85 + len(text) // 4
        thought = self._reasons(questions)
        most = int(questions.get("max_completion_tokens") or message + thought)
        if message + thought > most:
            choice = _message("") | {"finish_reason": "length"}
            thought, message = min(thought, most), max(0, most - thought)
        content = {
            "id": f"chatcmpl-{sha256[:12]}",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": version,
            "system_fingerprint": f"fp_{version}",
            "choices": [choice],
            "usage": {
                "prompt_tokens": asked_for,
                "completion_tokens": message + thought,
                "total_tokens": asked_for + message + thought,
                "completion_tokens_details": {"reasoning_tokens": thought},
            },
        }
        return Reply.of(200, content)

    def wrong(self, status: int, code: Any, bad: Bad) -> object:
        del status
        return {
            "error": {
                "message": str(bad),
                "type": code[0],
                "param": getattr(bad, "name", None),
                "code": code[1],
            }
        }

    # --- the model ---

    def _reasons(self, body: Mapping[str, object]) -> int:
        """Tokens before an answer."""
        return self.settings.reasons * (body.get("reasoning_effort") != "none")

    def _choice(
        self,
        text: str,
        body: Mapping[str, object],
        places: list[float],
        u: float,
        lot: random.Random,
    ) -> dict[str, Any]:
        settings, cold = self.settings, body.get("temperature") == 0
        a = places[0]
        share, slope = settings.refusals
        if share and (7 * u) % 1 < share * (1 + slope * a):
            return _message(None, "I'm sorry, I can't help with identifying people in photos.")
        lot.random()
        options = _options(text)
        if not options:
            second = [
                name for name, planted in settings.slopes.items() if present(planted, a, u) > 0
            ]
            if '"labels"' in text:
                return _message(json.dumps({"labels": ["person", *second]}))
            if "a number of" in text:
                share, slope = settings.abstains
                if '"cannot tell"' in text and share and (3 * u) % 1 < share * (1 + slope * a):
                    return _message(json.dumps({"answer": "cannot tell"}))
                centre, slope = settings.number
                message = centre * (1 + slope * a) * (0.8 + 0.4 * u) * lot.uniform(0.98, 1.02)
                return _message(json.dumps({"answer": round(message, 2)}))
            key = "text" if '"text"' in text else "caption"
            return _message(json.dumps({key: _sentence(second)}))
        weights = self.weights(list(options.values()), a, u)
        if len(places) > 1:
            weights = self.of_two(list(options.values()), *places)
        keys = list(options)
        chosen = max(keys, key=lambda key: weights[options[key]])
        if not cold:
            (chosen,) = lot.choices(keys, [weights[options[key]] for key in keys])
        reply = _message(json.dumps({"answer": chosen}))
        if body.get("logprobs"):
            most = int(str(body.get("top_logprobs") or 0))
            chances = {key: weights[option] for key, option in options.items()}
            reply["logprobs"] = {"content": _tokens(chosen, chances, most), "refusal": None}
        return reply

    def of_two(self, options: list[str], left: float, right: float) -> dict[str, float]:
        """Each option with its probability, of which the first two are people."""
        settings = self.settings
        chance = min(max(0.5 + settings.prefers * (left - right), 0.01), 0.99)
        chance = (1 - settings.first) * chance + settings.first
        undecided = settings.undecided * (len(options) > 2)
        shares = [chance * (1 - undecided), (1 - chance) * (1 - undecided)]
        shares += [undecided / max(len(options) - 2, 1)] * (len(options) - 2)
        return dict(zip(options, shares, strict=True))

    def weights(self, options: list[str], a: float, u: float) -> dict[str, float]:
        """Each option with its probability."""
        settings = self.settings
        planted = [option for option in options if option in settings.slopes]
        liked = [option for option in planted if present(settings.slopes[option], a, u) > 0]
        if not liked:
            liked = [option for option in options if option == settings.otherwise] or [
                option for option in options if option not in planted
            ]
        rest = [option for option in options if option not in liked]
        result = {option: SURE / len(liked) for option in liked} | {
            option: (1 - SURE) / len(rest) for option in rest
        }
        first = settings.first
        return {
            option: (1 - first) * result[option] + first * (option == options[0])
            for option in options
        }


def sides(text: str, images: list[bytes]) -> list[dict[str, float]]:
    """The place in each half of the one picture, if the question is about two people side by side; else none."""
    if "the person on the left" not in text:
        return []
    (montage,) = images
    return [dict(zip("au", place(side), strict=True)) for side in np.hsplit(decode(montage), 2)]


def _sentence(names: list[str]) -> str:
    return f"A person who may be a {' or a '.join(names)}." if names else "A person."


def _options(text: str) -> dict[str, str]:
    """What may be answered to the option it means, read from the question as a model reads it."""
    lettered = dict(re.findall(r"(?m)^([A-Z])\. (.+)$", text))
    return lettered or {option: option for option in re.findall(r"(?m)^- (.+)$", text)}


def _message(content: str | None, refusal: str | None = None) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}


def _tokens(chosen: str, chances: Mapping[str, float], most: int) -> list[dict[str, Any]]:
    def token(text: str, chance: float, top: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "token": text,
            "logprob": math.log(chance),
            "bytes": list(text.encode()),
            "top_logprobs": top,
        }

    ranked = sorted(chances.items(), key=lambda pair: -pair[1])[:most]
    top = [
        {key: item[key] for key in ("token", "logprob", "bytes")}
        for item in (token(*pair, []) for pair in ranked)
    ]
    parts = [token(text, 1.0, []) for text in ('{"', "answer", '":', ' "')]
    return [*parts, token(chosen, chances[chosen], top), token('"}', 1.0, [])]


def _conversation(messages: list[dict[str, Any]]) -> tuple[list[bytes], str]:
    """The pictures, two if the question speaks of a second one, and the one question.

    Raises: Bad, KeyError, ValueError, binascii.Error.
    """
    roles = [message["role"] for message in messages]
    if roles not in (["user"], ["system", "user"]):
        raise Bad("invalid", f"The conversation has the roles {roles}.")
    parts = messages[-1]["content"]
    pictures = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    texts = [part["text"] for part in parts if part["type"] == "text"]
    expected = 1 + ("the second picture" in "".join(texts))
    if len(pictures) != expected or len(texts) != 1 or len(parts) != expected + 1:
        raise Bad("invalid", f"{expected} pictures and one text are expected.")
    images = []
    for url in pictures:
        head, _, data = url.partition(",")
        images.append(base64.b64decode(data, validate=True))
        if head != f"data:image/{kind(images[-1]).lower() or 'jpeg'};base64":
            raise Bad("format", f"The image is not what its URL says: {head[:40]}.")
    return images, texts[0]


def _check(body: Mapping[str, Any], also: set[str]) -> None:
    """The parameters, as strictly as the protocol is written.  also: further ones.  Raises: Bad."""
    if unknown := set(body) - _FIELDS - also:
        raise Bad("invalid", f"Unrecognized request argument supplied: {sorted(unknown)[0]}.")
    if body.get("stream"):
        raise Bad("invalid", "Streaming is turned off on this server.")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise Bad("invalid", "You must provide a model parameter.")
    for name, (low, high) in _RANGES.items():
        if name in body and (isinstance(body[name], bool) or not low <= body[name] <= high):
            raise Bad("invalid", f"Invalid value for '{name}': it is in [{low}, {high}].")
    if "top_logprobs" in body and not body.get("logprobs"):
        raise Bad("invalid", "'top_logprobs' needs 'logprobs'.")
    if "seed" in body and (isinstance(body["seed"], bool) or not isinstance(body["seed"], int)):
        raise Bad("invalid", "Invalid type for 'seed'.")
    form = body.get("response_format")
    if form is not None:
        schema = form["json_schema"]["schema"] if form.get("type") == "json_schema" else {}
        if schema.get("additionalProperties") is not False or schema.get("required") != list(
            schema["properties"]
        ):
            raise Bad("invalid", "Invalid schema for response_format 'answer'.")
