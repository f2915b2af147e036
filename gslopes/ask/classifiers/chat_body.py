"""The body of a chat server's reply, in every dialect: texts, tokens, and errors that come with status 200.

Nothing is taken from a library's typed objects: servers leave fields out, send null, or put them elsewhere.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from typing import Any

from gslopes.ask.classifiers import service
from gslopes.ask.classifiers.service import OneByOne
from gslopes.core.files import parse_json

# A report of tokens is believed within these bounds; beyond them the price known beforehand counts.
MAX_TOKENS_REPORTED = 10_000_000  # of one request
CHARACTERS_A_TOKEN = 16  # of a question, at most; English has about four
_STATUSES = {  # canonical names of errors, as Google's, gRPC's and Anthropic's endpoints write them
    name: status
    for status, names in {
        400: "INVALID_ARGUMENT FAILED_PRECONDITION",
        401: "UNAUTHENTICATED AUTHENTICATION_ERROR",
        403: "PERMISSION_DENIED PERMISSION_ERROR",
        404: "NOT_FOUND NOT_FOUND_ERROR",
        429: "RESOURCE_EXHAUSTED RATE_LIMIT_ERROR RATE_LIMIT_EXCEEDED",
        500: "INTERNAL",
        501: "UNIMPLEMENTED",
        503: "UNAVAILABLE OVERLOADED_ERROR",
        504: "DEADLINE_EXCEEDED",
    }.items()
    for name in names.split()
}
_REFUSAL = re.compile(
    r"(?i)safety|content[_ ]?filter|content[_ ]?policy|prohibited|block|spii|recitation|refus|moderat|sensitive|"
    r"guardrail|policy|inappropriate|jailbreak|responsible"
)
_NAME = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|analysis|reflection)"
_OPEN, _CLOSE = rf"[<\[]{_NAME}[>\]]", rf"[<\[]/{_NAME}[>\]]"
_THOUGHT = re.compile(rf"\A.*{_CLOSE}|{_OPEN}.*\Z", re.DOTALL | re.IGNORECASE)
_CHANNEL = re.compile(r"\A.*<\|channel\|>\s*final\s*(?:<\|[^|<>]*\|>[^<]*)*?<\|message\|>", re.DOTALL)
_SPECIAL = re.compile(r"</?s>|<\|[^|<>]*\|>|<(?:eos|bos|end_of_turn|start_of_turn)>|\ufeff")
_WRAPPED = re.compile(r"\A<(answer|final|final_answer|output|response|result|json)>(.*)</\1>\Z", re.DOTALL | re.I)
_FENCE = re.compile(r"\A[^{}`]*```[\w+-]*\s*(.*?)\s*```\s*\Z", re.DOTALL)
_THINKING_PART = re.compile(r"(?i)think|thought|reason|redacted|tool|signature")


def read(text: str) -> dict[str, Any]:
    """The reply as a JSON object.  Raises: ValueError, saying what came instead, with a status where it names one."""
    plain = text.strip()
    if not plain:
        raise ValueError("the reply is empty")
    if plain.startswith("<"):
        title = re.search(r"(?is)<(title|h1)[^>]*>(.*?)</\1>", plain)
        words = " ".join(unescape(re.sub(r"<[^>]*>", " ", title[2] if title else plain)).split())
        raise ValueError(f"the reply is a web page: {words[:120]}")
    body = parse_json(plain, finite=False)
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if not isinstance(body, dict):
        raise ValueError(f"the reply is not a JSON object: {plain[:120]}")
    return body


def problem_of(body: Mapping[str, Any]) -> tuple[service.Kind, str] | None:
    """The kind of an error that a body or its only choice holds, and its words; None if it holds none."""
    error = error_in(body)
    return (kind_of(error), words_of(error)) if error else None


def error_in(body: Mapping[str, Any]) -> Any:
    """The error that a body or one of its choices holds; None if there is none."""
    for holder in (body, *choices_of(body)):
        if error := holder.get("error") or (holder if holder.get("object") == "error" else None):
            return error
    if "choices" not in body and any(name in body for name in ("detail", "message", "errors")):
        return body
    return None


def kind_of(error: Any) -> service.Kind:
    """The kind that the status or code within an error names; ``lost`` if it names none."""
    facts = error if isinstance(error, Mapping) else {"message": str(error)}
    for name in ("code", "status", "status_code", "http_code", "type"):
        value = facts.get(name)
        if isinstance(value, str) and (kind := service.codes_of("openai").get(value)):
            return kind
        status = _STATUSES.get(str(value).upper()) or (int(str(value)) if re.fullmatch(r"[1-5]\d\d", str(value)) else 0)
        if status >= 400:
            kind = service.kind_of_status(status)
            return "service" if kind == "failed" else kind
    return status_in(words_of(facts))


def status_in(text: str) -> service.Kind:
    """The kind of the HTTP status that a text names; ``lost`` if it names none."""
    found = re.search(r"(?<![\d.])([45]\d\d)(?![\d.]\d)", text)
    if found is None:
        return "lost"
    kind = service.kind_of_status(int(found[1]))
    return "service" if kind == "failed" else kind


def words_of(error: Any) -> str:
    """All that an error says, wherever it stands: ``message``, ``detail``, a text, a list with ``loc`` and ``msg``."""
    return "; ".join(dict.fromkeys(_words(error)))[:500] or "no reason given"


def _words(error: Any) -> Iterator[str]:
    if isinstance(error, str):
        yield error
    elif isinstance(error, Mapping):
        place = [str(part) for part in _list(error.get("loc")) if part != "body"]
        said = [
            text for key in ("message", "msg", "detail", "error", "errors", "reason") for text in _words(error.get(key))
        ]
        yield from [f"{'.'.join(place)}: {text}" for text in said] if place else said
    elif isinstance(error, list):
        for one in error:
            yield from _words(one)


def named_in(error: Any) -> set[str]:
    """The parameters that an error's ``loc`` and ``param`` name."""
    if isinstance(error, Mapping):
        own = {str(part) for part in _list(error.get("loc"))} | {str(error.get("param") or "")}
        return own.union(*(named_in(value) for value in error.values()))
    return set[str]().union(*(named_in(one) for one in error)) if isinstance(error, list) else set()


# -- one choice -------------------------------------------------------------------------------------------------------


def answer_text(content: Any) -> str:
    """The answer of a message without what is packed around it: parts, reasoning, special tokens, tags, a fence.

    content: a text, a list of parts, or None.
    """
    text = _SPECIAL.sub("", _CHANNEL.sub("", joined(content)))
    text = _THOUGHT.sub("", text).strip()
    wrapped = _WRAPPED.match(text)
    text = wrapped[2].strip() if wrapped else text
    fenced = _FENCE.match(text)
    return fenced[1] if fenced else text


def joined(content: Any) -> str:
    """The text of a message: as it is, or its parts joined without those of reasoning."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        if _THINKING_PART.search(str(content.get("type") or "")):
            return ""
        return joined(content.get("text") if content.get("text") is not None else content.get("content"))
    return "".join(map(joined, content)) if isinstance(content, list) else ""


def refusal_in(choice: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    """Why a choice is a refusal by policy, as the server words it; empty if it is none."""
    for value in (choice.get("finish_reason"), choice.get("native_finish_reason"), choice.get("stop_reason")):
        if isinstance(value, str) and _REFUSAL.search(value):
            return value
    return prompt_blocked(body)


def prompt_blocked(body: Mapping[str, Any]) -> str:
    """Why the request itself was blocked, as Gemini's endpoints say it; empty if it was not."""
    feedback = body.get("prompt_feedback") or body.get("promptFeedback")
    found = feedback.get("block_reason") or feedback.get("blockReason") if isinstance(feedback, Mapping) else ""
    return str(found or "")


def choices_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The choices that are objects."""
    return [one for one in _list(body.get("choices")) if isinstance(one, dict)]


def answer_tokens(choice: Mapping[str, Any], text: str) -> list[dict[str, Any]] | None:
    """The tokens of ``logprobs.content`` that make up the answer; None if they do not spell it.

    text: the answer, as ``answer_text`` gives it. Tokens before it, of reasoning, are left out; after it may stand a
    fence, a closing tag or special tokens. White space does not count.
    """
    held = choice.get("logprobs")
    content = _list(held.get("content")) if isinstance(held, Mapping) else []
    tokens = [one for one in content if isinstance(one, dict) and isinstance(one.get("token"), str)]
    if not tokens:
        return []
    spelled = [_bare(_spelled(one)) for one in tokens]
    whole, wanted = "".join(spelled), _bare(text)
    at = whole.rfind(wanted) if wanted else -1
    if at < 0 or not re.fullmatch(r"(?:`{3}|<[^<>]*>|\[/[^\[\]]*\])*", whole[at + len(wanted) :]):
        return None
    kept, place = [], 0
    for one, bare in zip(tokens, spelled, strict=True):
        if place + len(bare) > at and place < at + len(wanted):
            kept.append({**one, "token": _spelled(one)})
        place += len(bare)
    return kept


def log_probability(value: Any) -> float | None:
    """A log-probability as a number; None for what is none: missing, not finite, or above 0 by more than rounding."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value > 1e-3:
        return None
    return min(float(value), 0.0)


def tokens_used(body: Mapping[str, Any], least: int = 0) -> tuple[int, int] | None:
    """Tokens in and out as the server reports them; None if it does not, or reports what cannot be.

    least: tokens that the question takes, without the picture; an answer takes one.
    """
    usage = body.get("usage")
    if not isinstance(usage, Mapping):
        return None
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    if not all(type(one) is int and 0 <= one <= MAX_TOKENS_REPORTED for one in counts):
        return None
    tokens_in, tokens_out = int(counts[0] or 0), int(counts[1] or 0)
    return (tokens_in, tokens_out) if tokens_in >= least and tokens_out else None


def _spelled(token: Mapping[str, Any]) -> str:
    """A token's text; tokenizers' signs for a space and a line's end are white space."""
    return re.sub("[\u2581\u0120\u010a]", " ", str(token["token"]))


def _bare(text: str) -> str:
    return "".join(text.split())


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []


# -- the official client -----------------------------------------------------------------------------------------------


KEY = "OPENAI_API_KEY"
_POLICY = frozenset({"content_filter", "content_policy_violation", "moderation_blocked", "responsible_ai_policy"})
_OPTIONAL = ("response_format", "top_logprobs", "logprobs", "temperature", "max_tokens", "seed", "n")


class OpenAIService(OneByOne):
    """A service that is asked through the ``openai`` client, one picture a request."""

    SERVICE, CREDENTIALS, ENDPOINT_VARIABLES = "openai", (KEY,), ("OPENAI_BASE_URL",)
    ERRORS = ("openai",)

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
