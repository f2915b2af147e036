"""What the errors of the ``openai`` client mean to us."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gslopes.core.errors import GslopesError
from gslopes.score.classifiers import wire

# Errors with an HTTP status are told apart by it and by their code; here are all others.
ERRORS: Mapping[str, wire.Kind] = {
    "openai.OpenAIError": "service",
    "openai.APIError": "lost",
    "openai.APIStatusError": "failed",
    "openai.APIConnectionError": "unavailable",
    "openai.APITimeoutError": "lost",
    "openai.APIResponseValidationError": "lost",
    "openai.LengthFinishReasonError": "lost",
    "openai.ContentFilterFinishReasonError": "lost",
    "openai.OAuthError": "credentials",
    "openai.InvalidWebhookSignatureError": "service",
    "openai.WebSocketConnectionClosedError": "lost",
    "openai.WebSocketQueueFullError": "unavailable",
    "json.decoder.JSONDecodeError": "lost",
    "builtins.AttributeError": "lost",  # a reply that is no such JSON
    "builtins.TypeError": "lost",
    "builtins.KeyError": "lost",
}
CODES: Mapping[str, wire.Kind] = {
    "insufficient_quota": "service",
    "billing_hard_limit_reached": "service",
    "invalid_api_key": "credentials",
    "model_not_found": "service",
    "image_parse_error": "refused",
    "invalid_image": "refused",
    "invalid_image_format": "refused",
    "invalid_base64_image": "refused",
    "unsupported_image": "refused",
    "image_too_large": "refused",
    "image_too_small": "refused",
}
_POLICY = frozenset({"content_filter", "content_policy_violation", "moderation_blocked", "responsible_ai_policy"})
_OPTIONAL = ("response_format", "top_logprobs", "logprobs", "temperature", "max_tokens", "seed", "n")


def gslopes_error(error: Exception, variable: str) -> GslopesError:
    """Our error for one of the client's; any other error as it is.

    variable: the name of the environment variable that holds the key.
    """
    kind, wait = kind_of(error), None
    status, code = getattr(error, "status_code", None), str(getattr(error, "code", "") or "")
    if kind == "failed" and isinstance(status, int):
        plain = wire.kind_of_status(status)
        kind = CODES.get(code) or ("service" if plain == "failed" else plain)
        wait = wire.seconds_to_wait(getattr(getattr(error, "response", None), "headers", None))
    if kind == "unavailable" and _was_sent(error):
        kind = "lost"
    if kind is None:
        raise error
    text = str(getattr(error, "message", None) or f"{type(error).__name__}: {error}")
    return wire.error_of("llm", kind, text, [variable], wait)


def kind_of(error: BaseException) -> wire.Kind | None:
    """The kind of the nearest class that ``ERRORS`` names; the client's own classes stand in private modules."""
    for one in type(error).__mro__:
        package = one.__module__.partition(".")[0]
        name = f"openai.{one.__name__}" if package == "openai" else f"{one.__module__}.{one.__qualname__}"
        if name in ERRORS:
            return ERRORS[name]
    return None


def refusal_of(error: Exception) -> str:
    """What the server said if it refuses to answer about this picture: policy, not format; empty otherwise."""
    code, inner = str(getattr(error, "code", "") or ""), getattr(error, "body", None)
    nested = inner.get("innererror", {}) if isinstance(inner, dict) else {}
    codes = {code, str(nested.get("code", "")) if isinstance(nested, dict) else ""}
    return str(getattr(error, "message", "") or code) if {one.lower() for one in codes} & _POLICY else ""


def unknown_parameter(error: Exception, sent: set[str]) -> str:
    """The optional parameter that a 400 or 422 complains about; empty if it complains about something else."""
    if getattr(error, "status_code", None) not in (400, 422):
        return ""
    named, text = str(getattr(error, "param", "") or ""), str(getattr(error, "message", ""))
    for name in _OPTIONAL:
        if name in sent and (named == name or (re.search(rf"(?<!\w){name}(?!\w)", text) and len(name) > 1)):
            return "logprobs" if name == "top_logprobs" else name
    return ""


def _was_sent(error: BaseException) -> bool:
    """Whether the request may have reached the server before the connection failed."""
    cause: Any = error.__cause__
    return type(cause).__name__ in ("ReadError", "RemoteProtocolError", "WriteError", "ReadTimeout", "WriteTimeout")
