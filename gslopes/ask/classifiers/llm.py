"""``llm:MODEL``: a multimodal language model behind the OpenAI-compatible chat endpoint, through the official client.

OpenAI, Gemini's and Claude's compatible endpoints, vLLM, Ollama and llama.cpp speak it:

    llm:gpt-4o-2024-11-20,prompt=doctor-nurse,price_in=2.5,price_out=10
    llm:gemini-2.5-flash,url=https://generativelanguage.googleapis.com/v1beta/openai,key=GEMINI_API_KEY
    llm:llava:7b,url=http://localhost:11434/v1,prompt=my-prompt.toml

Each request asks about one picture, with nothing said before. The score of an option is its probability where the
server gives log-probabilities, otherwise the share of ``repeats`` answers. The raw answer holds every reply, the order
of the options, the tokens and the model that answered; a parameter that the server does not take is left out, with a
note.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, cast

from gslopes.ask.classifiers import chat, service
from gslopes.ask.classifiers.chat import (
    REFUSED,
    UNUSABLE,
    Prompted,
    check_repeats,
    cut_short,
    letters,
    named_in,
    reading,
    scores,
    words_of,
)
from gslopes.ask.classifiers.service import OneByOne
from gslopes.ask.cost import Limits, RequestUsage, ServiceOptions
from gslopes.ask.names import ARGUMENT, OPERATIONAL
from gslopes.ask.secrets import remember_secret
from gslopes.core.errors import AnswerError, ConfigError, CredentialsError, GslopesError, ServiceError, Unfinished
from gslopes.core.records import Answer

KEY = "OPENAI_API_KEY"
_POLICY = frozenset({"content_filter", "content_policy_violation", "moderation_blocked", "responsible_ai_policy"})
_OPTIONAL = ("response_format", "top_logprobs", "logprobs", "temperature", "max_tokens", "seed", "n")
TOP = 20  # log-probabilities a token
IMAGE_TOKENS = 1105  # of a picture, for the estimate
# When replies are given up: nearly all of the first ones are of no use.
MIN_CUT_SHORT, MIN_UNUSABLE, FIRST_REPLIES, NEARLY_ALL = 3, 8, 100, 0.9


@dataclass(frozen=True, slots=True)
class LlmOptions(ServiceOptions):
    """Whom to ask, what, and how often.

    model: as the server names it.  url: of the endpoint; empty: ``OPENAI_BASE_URL`` or OpenAI's own.
    key: the name of the environment variable that holds the key; a server on this machine needs none.
    prompt: one that ships, or a TOML file.
    scores: ``logprobs``: the options' probabilities; ``repeats``: shares of answers; ``auto``: the first if given.
    repeats: answers a picture where shares count, a request each.
    temperature, seed: sent with each request; the seed also draws the order of the options.
    max_tokens: of an answer.
    snapshot: what the server must report as its model; empty: whatever answers.
    price_in, price_out: USD per million tokens.
    timeout: seconds to an answer.
    """

    model: str = field(kw_only=True, metadata=ARGUMENT)
    url: str = ""
    key: str = KEY
    prompt: str = "occupation"
    scores: Literal["auto", "logprobs", "repeats"] = "auto"
    repeats: int = 5
    temperature: float = 1.0
    seed: int = 0
    max_tokens: int = 200
    snapshot: str = ""
    price_in: float = field(default=0.0, metadata=OPERATIONAL)
    price_out: float = field(default=0.0, metadata=OPERATIONAL)
    timeout: float = field(default=120.0, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        ServiceOptions.__post_init__(self)
        if min(self.repeats, self.max_tokens) < 1 or self.timeout <= 0:
            raise ConfigError("llm's repeats and max_tokens must be 1 or more, its timeout above 0.")
        if not 0 <= self.temperature <= 2 or min(self.price_in, self.price_out) < 0:
            raise ConfigError("llm's temperature must be in [0, 2], its prices not negative.")
        check_repeats(self.scores, self.repeats, self.temperature)


class Llm(Prompted, OneByOne):
    """A ``records.Classifier`` over a language model, one picture a request.

    Raises: ConfigError if the prompt is none, the endpoint is not safe to send a key to, or log-probabilities are
        wanted of a prompt that is no choice of up to 20 options.
    """

    Options: ClassVar[type[LlmOptions]] = LlmOptions
    SERVICE, CREDENTIALS, ERRORS = "llm", (KEY,), ("openai",)
    ENDPOINT_VARIABLES, ENDPOINT_OPTION = ("OPENAI_BASE_URL",), "url"
    cached = True

    def __init__(self, name: str, options: LlmOptions, device: str = "cpu") -> None:
        Prompted.__init__(self, options)
        OneByOne.__init__(self, name, options, device)
        self.version = f"prompt {self.prompt.digest[:16]} {self.version}".strip()
        self._here = service.on_this_machine(self._address)
        self.limits = self._priced(self.limits)
        self._least_tokens = self._characters // chat.CHARACTERS_A_TOKEN
        self._dropped: set[str] = set()  # parameters that this server does not take
        self._begun: dict[bytes, list[dict[str, Any]]] = {}  # sha256 to the requests' results so far
        self._keep: dict[bytes, Callable[[object], None]] = {}  # sha256 to what keeps them
        self._replies = self._unusable = self._cut_short = 0

    def parse(self, raw: object) -> Answer:
        """Options, labels or words with their scores; a refusal and an unusable answer are labels as well."""
        answer = cast("dict[str, Any]", raw)
        found = scores(self.prompt, answer)
        return Answer("answered", service.best(found.items()), version=str(answer["model"]))

    def usage(self, raw: object) -> RequestUsage:
        """Tokens and money of the last request behind a raw answer, or behind Unfinished."""
        used = raw.usage if isinstance(raw, Unfinished) else cast("dict[str, Any]", raw)["usage"][-1]
        if not used:  # not reported, or not to be believed: the reserved price counts
            return RequestUsage(0, 0)
        tokens_in, tokens_out = (int(count) for count in used)
        options, usd = self._options, None
        if not options.price and (options.price_in or options.price_out):
            usd = (tokens_in * options.price_in + tokens_out * options.price_out) / 1e6
        return RequestUsage(tokens_in, tokens_out, usd)

    def resume(self, picture: bytes, begun: object, keep: Callable[[object], None]) -> None:
        """Go on with a picture where an earlier process had to stop.

        begun: what was kept of it, None if nothing.  keep: called with what is to be kept, after each reply.
        """
        key = hashlib.sha256(picture).digest()
        order = list(self._order(key))
        with self._lock:
            self._keep[key] = keep
            if isinstance(begun, dict) and begun.get("order") == order:
                self._begun[key] = list(begun["results"])

    # -- requests -----------------------------------------------------------------------------------------------------

    @property
    def _variables(self) -> Sequence[str]:
        return [self._options.key]

    def _connected(self) -> tuple[Any, Callable[[], object]]:
        import openai

        from gslopes.ask import transport

        key = os.environ.get(self._options.key, "")
        if not key and not self._here:
            raise CredentialsError(self.SERVICE, [self._options.key])
        remember_secret(key)
        by: Any = transport.client(self._options.timeout)  # its deadline is the only one
        address = self._address or None
        client = openai.OpenAI(api_key=key or "none", base_url=address, max_retries=0, http_client=by)
        return client, client.close

    @classmethod
    def _details(cls, error: Exception, kind: service.Kind) -> tuple[service.Kind, str]:
        status, code = getattr(error, "status_code", None), str(getattr(error, "code", "") or "")
        if kind == "failed" and isinstance(status, int):
            by_status = service.kind_of_status(status)
            kind = service.codes_of("openai").get(code) or ("service" if by_status == "failed" else by_status)
        said = str(getattr(error, "message", None) or f"{type(error).__name__}: {error}")
        facts = body_of(error)
        if re.fullmatch(r"Error code: \d+\W*", said) or not isinstance(facts.get("message", ""), str):
            said = f"{said.partition(' - ')[0].rstrip('.')}: {words_of(facts)}"
        return kind, said

    def _answer(self, picture: bytes) -> object:
        """The raw answer about a picture, or Unfinished if another request is needed."""
        key = hashlib.sha256(picture).digest()
        order = self._order(key)
        with self._lock:
            begun, dropped = self._begun.setdefault(key, []), frozenset(self._dropped)
        request = self._request(picture, order, begun, dropped)
        try:
            reply = self._client.chat.completions.with_raw_response.create(**request)
            result = self._read(reply.http_response.text, request, order)
        except GslopesError:
            raise
        except Exception as error:
            found = self._objection(error, request)
            if found is None:
                raise
            result = found
        if isinstance(result, Unfinished):
            return result
        begun.append(result)
        replies = [one for result in begun for one in result["replies"]]
        scored = "logprobs" if replies[0].get("letters") or replies[0].get("mismatch") else "repeats"
        enough = "logprobs" in (scored, self._options.scores) or any(one.get("blocked") for one in replies)
        enough = enough or len(replies) >= self._options.repeats
        if not enough and key in self._keep:
            self._keep[key]({"order": list(order), "results": begun})
        self._require_sense(result["replies"], order)
        if not enough:
            return Unfinished("More answers are wanted.", tuple(begun[-1]["used"] or ()))
        self._forget(key)
        return {
            "model": begun[-1]["model"],
            "fingerprint": begun[-1].get("fingerprint", ""),
            "prompt": self.prompt.digest,
            "order": list(order),
            "scored": scored,
            "replies": replies,
            "usage": [result["used"] for result in begun],
            "left_out": sorted(dropped),
        }

    def _forget(self, key: bytes) -> None:
        super()._forget(key)
        self._begun.pop(key, None)
        self._keep.pop(key, None)

    def _request(
        self, picture: bytes, order: Sequence[int], begun: Sequence[Mapping[str, Any]], dropped: frozenset[str]
    ) -> dict[str, Any]:
        """The parameters of one request.

        begun: what the requests about this picture before it brought.
        """
        options = self._options
        number = len(begun)
        request: dict[str, Any] = {
            "model": options.model,
            "messages": self.prompt.messages(order, data_url(picture)),
            "temperature": options.temperature,
            "seed": options.seed * 1000 + number,
            "max_tokens": options.max_tokens,
            "stream": False,
            "response_format": self.prompt.schema(order),
        }
        by_letter = options.scores != "repeats" and self.prompt.lettered and "logprobs" not in dropped
        if by_letter and not number:
            request |= {"logprobs": True, "top_logprobs": TOP}
        for name in dropped & set(request):
            del request[name]
        if "max_tokens" in dropped:
            request["max_completion_tokens"] = options.max_tokens
        if "logprobs" in dropped:
            request.pop("top_logprobs", None)
        return request

    def _objection(
        self, error: Any, request: Mapping[str, Any], used: tuple[int, int] | None = (0, 0)
    ) -> dict[str, Any] | Unfinished | None:
        """What an error means that is no failure: a refusal by policy, or parameters that are not taken; else None.

        error: of the client, or the ``error`` of a body.  used: tokens; none where the status says that it failed.
        """
        if refused := refusal_of(error):  # the policy refuses every time
            return self._blocked(refused, used)
        names = unknown_parameters(error, set(request))
        return self._drop(names) if names else None

    def _blocked(self, reason: str, used: tuple[int, int] | None) -> dict[str, Any]:
        kept = list(used) if used else None
        return {"model": self._options.model, "used": kept, "replies": [{"refusal": reason, "blocked": True}]}

    def _read(self, text: str, request: Mapping[str, Any], order: Sequence[int]) -> dict[str, Any] | Unfinished:
        """What one reply of the server is kept as.

        Raises: ServiceError if another snapshot answered; the error that the body holds; AnswerError for a form that
            is not understood: the reply is paid for, and is not asked for again.
        """
        try:
            body = chat.read(text)
        except ValueError as error:
            raise self._error(chat.status_in(str(error)), str(error)) from None
        try:
            return self._kept(body, request, order)
        except GslopesError:
            raise
        except Exception as error:
            raise AnswerError(
                f"The reply of {self._options.model} is not understood: {type(error).__name__}."
            ) from error

    def _kept(
        self, body: Mapping[str, Any], request: Mapping[str, Any], order: Sequence[int]
    ) -> dict[str, Any] | Unfinished:
        used = chat.tokens_used(body, self._least_tokens)
        if problem := chat.problem_of(body):
            error = chat.error_in(body)
            objection = self._objection(error, request, used) if isinstance(error, dict) else None
            if objection is None:
                raise self._error(*problem)
            return objection
        model, wanted = str(body.get("model") or self._options.model), self._options.snapshot
        if wanted and model != wanted:
            said = f"{self._options.model} answers as {model}, not as {wanted}."
            raise _paid(ServiceError(said, "Name another snapshot; answers are kept."))
        choices = chat.choices_of(body)
        if not choices and (blocked := chat.prompt_blocked(body)):
            return self._blocked(blocked, used)
        if not choices:
            raise self._error("lost", "the reply has no choices")
        return {
            "model": model,
            "fingerprint": str(body.get("system_fingerprint") or ""),
            "used": list(used) if used else None,
            "replies": [self._choice(one, body, order) for one in choices],
        }

    def _choice(self, choice: Mapping[str, Any], body: Mapping[str, Any], order: Sequence[int]) -> dict[str, Any]:
        message = choice.get("message")
        message = message if isinstance(message, dict) else {}
        text = chat.answer_text(message.get("content"))
        kept: dict[str, Any] = {"text": text, "refusal": message.get("refusal"), "finish": choice.get("finish_reason")}
        if blocked := chat.refusal_in(choice, body):
            return kept | {"refusal": kept["refusal"] or blocked, "blocked": True}
        if self._options.scores == "repeats" or not self.prompt.lettered:
            return kept
        tokens = chat.answer_tokens(choice, text)
        if tokens is None:  # two views of one reply that differ
            return kept | {"mismatch": True}
        kept["letters"] = letters(tokens, self.prompt.answers(order))
        unread = (REFUSED,), (UNUSABLE,)
        if (
            not kept["letters"]
            and self._options.scores == "logprobs"
            and reading(self.prompt, order, kept) not in unread
        ):
            raise _paid(self._no_probabilities())
        return kept

    def _require_sense(self, replies: Sequence[Mapping[str, Any]], order: Sequence[int]) -> None:
        """Raises: ServiceError if nearly none of the first replies can be used: every further one would be paid for."""
        with self._lock:
            self._replies += len(replies)
            self._unusable += [reading(self.prompt, order, one) for one in replies].count((UNUSABLE,))
            self._cut_short += sum(map(cut_short, replies))
            few = MIN_CUT_SHORT if self._cut_short == self._unusable else MIN_UNUSABLE
            hopeless = few <= self._replies <= FIRST_REPLIES and self._unusable >= NEARLY_ALL * self._replies
        if not hopeless:
            return
        last = str(replies[-1].get("text"))
        why, hint = (f"such as {last[:80]!r}" if last else "their content is empty"), "Change the prompt."
        if self._cut_short:
            why = f"max_tokens={self._options.max_tokens} was reached first"
            hint = "Give more, such as max_tokens=4000."
        elif replies[-1].get("mismatch"):
            why, hint = "their log-probabilities spell another text than their content", "Write scores=repeats."
        count = f"{self._unusable} of the first {self._replies} replies of {self._options.model}"
        raise _paid(ServiceError(f"{count} hold no answer: {why}.", f"{hint} Answers so far are kept."))

    def _no_probabilities(self) -> ServiceError:
        return ServiceError(f"{self._options.model} gives no log-probabilities.", "Write scores=repeats.")

    def _drop(self, names: Sequence[str]) -> Unfinished:
        """Ask without these parameters from now on.  Raises: ServiceError if one must be there."""
        if "logprobs" in names and self._options.scores == "logprobs":
            raise self._no_probabilities()
        with self._lock:
            for name in names:
                if name not in self._dropped:
                    self._dropped.add(name)
                    self.notes.append(f"{self.name} does not take {name}: it is asked without.")
        return Unfinished(f"{', '.join(names)} is not taken.")

    @property
    def _characters(self) -> int:
        return len(self.prompt.system) + len(self.prompt.text(range(len(self.prompt.options))))

    def _priced(self, listed: Limits) -> Limits:
        """Rate and price; a picture's price is that of all its requests, at most."""
        options = self._options
        requests = 1 if options.scores == "logprobs" else options.repeats
        text = self._characters / 3  # a token is three letters or more of English
        tokens_in = (IMAGE_TOKENS + text) * requests
        tokens_out = options.max_tokens * requests
        price = options.price or (0.0 if self._here else None)
        if not options.price and (options.price_in or options.price_out):
            price = (tokens_in * options.price_in + tokens_out * options.price_out) / 1000
        return replace(
            listed,
            price=price,
            network=True,
            tokens=(round(tokens_in), tokens_out),
            requests_per_picture=requests,
        )


def _paid(error: ServiceError) -> ServiceError:
    error.billed = True
    return error


# -- what a server objects to ------------------------------------------------------------------------------------------


def data_url(picture: bytes) -> str:
    """An encoded picture as the protocol takes it."""
    kind = "png" if picture.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode('ascii')}"


def refusal_of(error: Any) -> str:
    """What the server said if it refuses to answer about this picture: policy, not format; empty otherwise.

    error: of the client, or the ``error`` of a body.
    """
    facts = error if isinstance(error, dict) else body_of(error)
    nested = facts.get("innererror")
    codes = {str(getattr(error, "code", "") or ""), str(facts.get("code") or ""), str(facts.get("type") or "")}
    codes |= {str(nested.get("code") or "")} if isinstance(nested, dict) else set()
    said = str(getattr(error, "message", "") or facts.get("message") or "")
    return said or min(codes & _POLICY) if {one.lower() for one in codes} & _POLICY else ""


def body_of(error: Exception) -> dict[str, Any]:
    """The JSON object behind an error of the client; empty if there is none."""
    inner = getattr(error, "body", None)
    return inner if isinstance(inner, dict) else {"detail": inner} if inner else {}


def unknown_parameters(error: Any, sent: set[str]) -> list[str]:
    """The optional parameters that a 400 or 422 complains about; none if it complains about something else.

    error: of the client, or the ``error`` of a body.
    """
    if isinstance(error, dict):
        facts, text = error, words_of(error)
    elif getattr(error, "status_code", None) in (400, 422):
        facts = body_of(error)
        text = f"{getattr(error, 'message', '')} {words_of(facts)}"
        facts = facts | {"param": getattr(error, "param", None) or facts.get("param")}
    else:
        return []
    optional = [name for name in _OPTIONAL if name in sent]
    named = [name for name in optional if name in named_in(facts)]
    if not named:  # a single letter is a word of its own only between quotation marks
        quoted = {name: rf"['\"`]{name}['\"`]" if len(name) == 1 else rf"(?<!\w){name}(?!\w)" for name in optional}
        named = [name for name, pattern in quoted.items() if re.search(pattern, text)][:1]
    return list(dict.fromkeys("logprobs" if name == "top_logprobs" else name for name in named))
