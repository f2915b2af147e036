"""What ``llm`` and ``openai:moderation`` share: the official client of OpenAI's protocol and its errors."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable
from typing import Any

from gslopes.core.errors import CredentialsError
from gslopes.score.classifiers import wire
from gslopes.score.classifiers.service import Service
from gslopes.score.scrub import remember_secret

KEY = "OPENAI_API_KEY"
_POLICY = frozenset({"content_filter", "content_policy_violation", "moderation_blocked", "responsible_ai_policy"})
_OPTIONAL = ("response_format", "top_logprobs", "logprobs", "temperature", "max_tokens", "seed", "n")
_AFTER_SENDING = ("ReadError", "RemoteProtocolError", "WriteError", "ReadTimeout", "WriteTimeout")  # of httpx


class OpenAIService(Service):
    """A service that is asked through the ``openai`` client, one picture a request."""

    SERVICE, CREDENTIALS, ENDPOINT_VARIABLES = "openai", (KEY,), ("OPENAI_BASE_URL",)
    ERRORS = ("openai",)

    def _client_with(
        self, variable: str, *, key_needed: bool = True, timeout: float = wire.TIMEOUT
    ) -> tuple[Any, Callable[[], object]]:
        """The client, and what closes it.  variable: that holds the key.  Raises: CredentialsError."""
        import openai

        key = os.environ.get(variable, "")
        if not key and key_needed:
            raise CredentialsError(self.SERVICE, [variable])
        remember_secret(key)
        address = self._address or None
        client = openai.OpenAI(api_key=key or "none", base_url=address, max_retries=0, timeout=timeout)
        return client, client.close

    @classmethod
    def _details(cls, error: Exception, kind: wire.Kind) -> tuple[wire.Kind, str]:
        status, code = getattr(error, "status_code", None), str(getattr(error, "code", "") or "")
        if kind == "failed" and isinstance(status, int):
            by_status = wire.kind_of_status(status)
            kind = wire.codes_of("openai").get(code) or ("service" if by_status == "failed" else by_status)
        if kind == "unavailable" and type(error.__cause__).__name__ in _AFTER_SENDING:
            kind = "lost"  # the request may have reached the server
        return kind, str(getattr(error, "message", None) or f"{type(error).__name__}: {error}")


def data_url(picture: bytes) -> str:
    """An encoded picture as the protocol takes it."""
    kind = "png" if picture.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode('ascii')}"


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
