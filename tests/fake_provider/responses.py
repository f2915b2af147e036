"""OpenAI's POST /v1/responses, never streaming.

Source: https://platform.openai.com/docs/api-reference/responses/create
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
from tests.fake_provider.protocol import Accounts, Bad, Request

_PICTURE = form(
    {
        "type": {"const": "input_image"},
        "image_url": {"type": "string", "pattern": "^data:image/(png|jpeg|gif|webp);base64,"},
        "detail": {"enum": ["low", "high", "auto", "original"]},
    }
)
_TEXT = form({"type": {"const": "input_text"}, "text": TEXT})
_FORMAT = form(
    {
        "type": {"const": "json_schema"},
        "name": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"},
        "schema": ANSWER,
    },
    strict={"type": "boolean"},
)


class Responses(Native):
    name = "responses"
    STATUSES: ClassVar = {
        "credentials": (401, ("invalid_request_error", "invalid_api_key")),
        "throttled": (429, ("requests", "rate_limit_exceeded")),
        "failed": (500, ("server_error", "server_error")),
        "unavailable": (503, ("service_unavailable_error", None)),
        "invalid": (400, ("invalid_request_error", None)),
        "large": (400, ("invalid_request_error", "image_too_large")),
        "format": (400, ("invalid_request_error", "invalid_image_format")),
        "policy": (400, ("invalid_request_error", "image_content_policy_violation")),
    }
    SCHEMA = form(
        {
            "model": TEXT,
            "input": one(
                form(
                    {"role": {"const": "user"}, "content": some(_PICTURE, _TEXT)},
                    type={"const": "message"},
                )
            ),
        },
        instructions=TEXT,
        temperature=number(0, 2),
        max_output_tokens=whole_number(16, 128_000),
        store={"type": "boolean"},
        stream=NO,
        reasoning=form(
            {},
            effort={"enum": ["none", "minimal", "low", "medium", "high", "xhigh", "max"]},
        ),
        text=form({}, format=_FORMAT),
        include={"type": "array", "items": {"const": "message.output_text.logprobs"}},
        top_logprobs=whole_number(0, 20),
    )

    def owns(self, request: Request) -> bool:
        return request.path == "/v1/responses"

    def authenticate(self, request: Request, accounts: Accounts) -> None:
        if request.headers.get("authorization") != f"Bearer {accounts.chat}":
            raise Bad("credentials", "Incorrect API key provided.")

    def meaning(self, request: Request, body: Any) -> Asked:
        parts = body["input"][0]["content"]
        pictures = []
        for part in parts:
            if part["type"] == "input_image":
                head, _, data = part["image_url"].partition(";base64,")
                pictures.append((head.removeprefix("data:"), data))
        return Asked(
            text=texts(parts),
            pictures=pictures,
            most=body.get("max_output_tokens", 128_000),
            temperature=body.get("temperature", 1.0),
            tops=body.get("top_logprobs", 0) if body.get("include") else None,
            schema=body.get("text", {}).get("format", {}).get("schema"),
        )

    def written(self, asked: dict[str, Any], answer: Written) -> object:
        output: list[dict[str, Any]] = []
        if answer.thought:
            output.append({"id": f"rs_{answer.id}", "type": "reasoning", "summary": []})
        if answer.refusal:
            content: dict[str, Any] = {"type": "refusal", "refusal": answer.refusal}
        else:
            content = {
                "type": "output_text",
                "text": answer.content,
                "annotations": [],
                "logprobs": answer.tokens or [],
            }
        if not answer.cut:
            output.append(
                {
                    "id": f"msg_{answer.id}",
                    "type": "message",
                    "role": "assistant",
                    "status": "completed",
                    "content": [content],
                }
            )
        return {
            "id": f"resp_{answer.id}",
            "object": "response",
            "created_at": 1_790_000_000,
            "status": "incomplete" if answer.cut else "completed",
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if answer.cut else None,
            "instructions": asked["sent"].get("instructions"),
            "max_output_tokens": asked["most"],
            "model": answer.model,
            "output": output,
            "parallel_tool_calls": True,
            "previous_response_id": None,
            "store": False,
            "temperature": asked["temperature"],
            "text": asked["sent"].get("text", {"format": {"type": "text"}}),
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": {
                "input_tokens": answer.asked,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": answer.visible + answer.thought,
                "output_tokens_details": {"reasoning_tokens": answer.thought},
                "total_tokens": answer.asked + answer.visible + answer.thought,
            },
            "metadata": {},
        }

    def wrong(self, status: int, code: Any, bad: Bad) -> object:
        del status
        kind, name = code
        message = str(bad)
        if isinstance(bad, Unknown):
            name = "unknown_parameter" if bad.extra else "invalid_value"
            message = f"Unknown parameter: '{bad.name}'." if bad.extra else f"Invalid: {bad}"
        if isinstance(bad, Unsupported):
            name = "unsupported_parameter"
            message = f"Unsupported parameter: '{bad.name}' is not supported with this model."
        param = getattr(bad, "name", None)
        return {"error": {"message": message, "type": kind, "param": param, "code": name}}
