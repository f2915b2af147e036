"""Anthropic's POST /v1/messages, never streaming, in both versions of the API.

Source: https://platform.claude.com/docs/en/api/messages/create, https://platform.claude.com/docs/en/api/errors,
https://platform.claude.com/docs/en/api/migration-2026-10-21
"""

from typing import Any, ClassVar

from tests.fake_provider.chat import Unsupported
from tests.fake_provider.native import (
    ANSWER,
    NO,
    TEXT,
    Asked,
    Native,
    Unknown,
    Written,
    form,
    number,
    one,
    some,
    texts,
    whole_number,
)
from tests.fake_provider.pictures import size
from tests.fake_provider.protocol import Accounts, Bad, Request

VERSIONS = ("2023-06-01", "2026-10-21")
_PICTURE = form(
    {
        "type": {"const": "image"},
        "source": form(
            {
                "type": {"const": "base64"},
                "media_type": {"enum": ["image/jpeg", "image/png", "image/gif", "image/webp"]},
                "data": TEXT,
            }
        ),
    }
)
_TEXT = form({"type": {"const": "text"}, "text": TEXT})


class Messages(Native):
    name = "messages"
    BYTES: ClassVar = 5_242_880
    SIDE: ClassVar = 8000
    STATUSES: ClassVar = {
        "credentials": (401, "authentication_error"),
        "throttled": (429, "rate_limit_error"),
        "failed": (500, "api_error"),
        "unavailable": (529, "overloaded_error"),
        "invalid": (400, "invalid_request_error"),
        "large": (400, "invalid_request_error"),
        "format": (400, "invalid_request_error"),
        "policy": (400, "invalid_request_error"),
    }
    SCHEMA = form(
        {
            "model": TEXT,
            "max_tokens": whole_number(1, 128_000),
            "messages": one(form({"role": {"const": "user"}, "content": some(_PICTURE, _TEXT)})),
        },
        system=TEXT,
        temperature=number(0, 1),
        stream=NO,
        thinking={
            "anyOf": [
                form({"type": {"const": "disabled"}}),
                form({"type": {"const": "adaptive"}}, display={"enum": ["summarized", "omitted"]}),
                form({"type": {"const": "enabled"}, "budget_tokens": whole_number(1024, 128_000)}),
            ]
        },
        output_config=form(
            {},
            format=form({"type": {"const": "json_schema"}, "schema": ANSWER}),
            effort={"enum": ["low", "medium", "high", "xhigh", "max"]},
        ),
    )

    @classmethod
    def check(cls, image: bytes) -> None:
        if len(image) > cls.BYTES:
            raise Bad(
                "large",
                "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: "
                f"{len(image)} bytes > {cls.BYTES} bytes",
            )
        super().check(image)
        if max(size(image)) > cls.SIDE:
            raise Bad(
                "large",
                "messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max "
                f"allowed size: {cls.SIDE} pixels",
            )

    def owns(self, request: Request) -> bool:
        return request.path == "/v1/messages"

    def authenticate(self, request: Request, accounts: Accounts) -> None:
        headers = request.headers
        key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        if key != accounts.anthropic:
            raise Bad("credentials", "invalid x-api-key")
        if "anthropic-version" not in headers:
            raise Bad("invalid", "anthropic-version: header is required")
        if headers["anthropic-version"] not in VERSIONS:
            raise Bad(
                "invalid", f"anthropic-version: {headers['anthropic-version']!r} is no version"
            )

    def inspect(self, request: Request, body: Any) -> None:
        super().inspect(request, body)
        if request.headers["anthropic-version"] == VERSIONS[1] and "temperature" in body:
            raise Unknown("temperature", "Extra inputs are not permitted", extra=True)

    def meaning(self, request: Request, body: Any) -> Asked:
        parts = body["messages"][0]["content"]
        sources = [part["source"] for part in parts if part["type"] == "image"]
        return Asked(
            text=texts(parts),
            pictures=[(source["media_type"], source["data"]) for source in sources],
            most=body["max_tokens"],
            temperature=body.get("temperature", 1.0),
            schema=body.get("output_config", {}).get("format", {}).get("schema"),
        )

    def written(self, asked: dict[str, Any], answer: Written) -> object:
        content: list[dict[str, Any]] = []
        if answer.thought:
            content.append(
                {"type": "thinking", "thinking": '{"answer": "A"}? Hm.', "signature": "c2lnbmVk"}
            )
        if answer.content is not None:
            content.append({"type": "text", "text": answer.content, "citations": None})
        reason, details = "end_turn", None
        if answer.cut:
            reason = "max_tokens"
        elif answer.refusal:
            reason = "refusal"
            details = {"type": "refusal", "category": None, "explanation": answer.refusal}
        return {
            "id": f"msg_{answer.id}",
            "type": "message",
            "role": "assistant",
            "model": answer.model,
            "content": content,
            "stop_reason": reason,
            "stop_details": details,
            "stop_sequence": None,
            "usage": {
                "input_tokens": answer.asked - 20,
                "cache_creation_input_tokens": 12,
                "cache_read_input_tokens": 8,
                "output_tokens": answer.visible + answer.thought,
                "output_tokens_details": {"thinking_tokens": answer.thought},
                "service_tier": "standard",
            },
        }

    def wrong(self, status: int, code: Any, bad: Bad) -> object:
        del status
        message = str(bad)
        if bad.kind == "format":
            message = "Could not process image"
        if bad.kind == "policy":
            message = "Output blocked by content filtering policy"
        if isinstance(bad, Unsupported):
            message = f"`{bad.name}` is deprecated for this model."
        return {
            "type": "error",
            "error": {"type": code, "message": message},
            "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy",
        }
