"""What ``llm`` and ``captioner-chat`` share: the official client of OpenAI's protocol and its errors."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable
from typing import Any

from gslopes.core.errors import CredentialsError
from gslopes.core.secrets import remember_secret
from gslopes.score.classifiers import chat_body, wire
from gslopes.score.classifiers.service import OneByOne

KEY = "OPENAI_API_KEY"
_POLICY = frozenset({"content_filter", "content_policy_violation", "moderation_blocked", "responsible_ai_policy"})
_OPTIONAL = ("response_format", "top_logprobs", "logprobs", "temperature", "max_tokens", "seed", "n")


class OpenAIService(OneByOne):
    """A service that is asked through the ``openai`` client, one picture a request."""

    SERVICE, CREDENTIALS, ENDPOINT_VARIABLES = "openai", (KEY,), ("OPENAI_BASE_URL",)
    ERRORS = ("openai",)

    def _client_with(
        self, variable: str, *, key_needed: bool = True, seconds: float = 0.0
    ) -> tuple[Any, Callable[[], object]]:
        """The client, and what closes it.

        variable: that holds the key.  seconds: of one exchange; 0: as with every service.

        Raises: CredentialsError.
        """
        import openai

        from gslopes.core import transport

        key = os.environ.get(variable, "")
        if not key and key_needed:
            raise CredentialsError(self.SERVICE, [variable])
        remember_secret(key)
        address = self._address or None
        by: Any = transport.client(seconds)  # its deadline is the only one
        client = openai.OpenAI(api_key=key or "none", base_url=address, max_retries=0, http_client=by)
        return client, client.close

    @classmethod
    def _details(cls, error: Exception, kind: wire.Kind) -> tuple[wire.Kind, str]:
        status, code = getattr(error, "status_code", None), str(getattr(error, "code", "") or "")
        if kind == "failed" and isinstance(status, int):
            by_status = wire.kind_of_status(status)
            kind = wire.codes_of("openai").get(code) or ("service" if by_status == "failed" else by_status)
        said = str(getattr(error, "message", None) or f"{type(error).__name__}: {error}")
        facts = body_of(error)
        if re.fullmatch(r"Error code: \d+\W*", said) or not isinstance(facts.get("message", ""), str):
            said = f"{said.partition(' - ')[0].rstrip('.')}: {chat_body.words_of(facts)}"
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
        facts, text = error, chat_body.words_of(error)
    elif getattr(error, "status_code", None) in (400, 422):
        facts = body_of(error)
        text = f"{getattr(error, 'message', '')} {chat_body.words_of(facts)}"
        facts = facts | {"param": getattr(error, "param", None) or facts.get("param")}
    else:
        return []
    optional = [name for name in _OPTIONAL if name in sent]
    named = [name for name in optional if name in chat_body.named_in(facts)]
    if not named:  # a single letter is a word of its own only between quotation marks
        quoted = {name: rf"['\"`]{name}['\"`]" if len(name) == 1 else rf"(?<!\w){name}(?!\w)" for name in optional}
        named = [name for name, pattern in quoted.items() if re.search(pattern, text)][:1]
    return list(dict.fromkeys("logprobs" if name == "top_logprobs" else name for name in named))
