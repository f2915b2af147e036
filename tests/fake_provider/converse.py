"""Converse of Amazon Bedrock: POST /model/MODEL/converse, signed (Signature Version 4) or with a key.

The form of a request is that of botocore's own description of the service.
Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
"""

import base64
import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar
from urllib.parse import unquote

import botocore.session
from botocore.validate import ParamValidator

from tests.fake_provider.chat import Unsupported
from tests.fake_provider.native import Asked, Native, Unknown, Written, texts
from tests.fake_provider.pictures import size
from tests.fake_provider.protocol import Accounts, Bad, Reply, Request
from tests.fake_provider.vendors import check_signature


class Converse(Native):
    name = "converse"
    BYTES: ClassVar = 3_750_000
    SIDE: ClassVar = 8000
    STATUSES: ClassVar = {
        "credentials": (403, "UnrecognizedClientException"),
        "throttled": (429, "ThrottlingException"),
        "failed": (500, "InternalServerException"),
        "unavailable": (503, "ServiceUnavailableException"),
        "invalid": (400, "ValidationException"),
        "large": (400, "ValidationException"),
        "format": (400, "ValidationException"),
        "policy": (200, ""),
    }

    @classmethod
    def check(cls, image: bytes) -> None:
        super().check(image)
        if max(size(image)) > cls.SIDE:
            raise Bad("large", f"The image dimensions exceed {cls.SIDE} pixels.")

    def owns(self, request: Request) -> bool:
        return request.path.startswith("/model/")

    def authenticate(self, request: Request, accounts: Accounts) -> None:
        if not re.fullmatch("/model/[^/]+/converse", request.path):
            raise Bad("invalid", f"The path {request.path} has no operation.")
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        if bearer == accounts.bedrock:
            return
        check_signature(request, accounts, {"host", "x-amz-date"}, "bedrock")

    def inspect(self, request: Request, body: Any) -> None:
        shape = _converse().input_shape
        sent = _with_bytes(body) if isinstance(body, dict) else body
        model = unquote(request.path.split("/")[2])
        report = ParamValidator().validate({**sent, "modelId": model}, shape)
        if report.has_errors():
            name = report.generate_report().splitlines()[0]
            raise Unknown(name, "please reformat your input and try again", extra=True)
        config = body.get("inferenceConfig", {})
        if not 0 <= config.get("temperature", 0) <= 1:
            raise Unknown("inferenceConfig.temperature", "must be at most 1", extra=False)
        if set(config) - {"maxTokens", "temperature"} or "stream" in body:
            raise Bad("invalid", "This model does not take that.")

    def meaning(self, request: Request, body: Any) -> Asked:
        parts = body["messages"][0]["content"]
        images = [part["image"] for part in parts if "image" in part]
        config = body.get("inferenceConfig", {})
        text_format = body.get("outputConfig", {}).get("textFormat")
        schema = text_format and json.loads(text_format["structure"]["jsonSchema"]["schema"])
        return Asked(
            text=texts(parts),
            pictures=[(f"image/{image['format']}", image["source"]["bytes"]) for image in images],
            most=config.get("maxTokens", 4096),
            temperature=config.get("temperature", 1.0),
            schema=schema,
        )

    def written(self, asked: dict[str, Any], answer: Written) -> object:
        content: list[dict[str, Any]] = []
        if answer.thought:
            thought = {"text": '{"answer": "A"}? Hm.', "signature": "c2lnbmVk"}
            content.append({"reasoningContent": {"reasoningText": thought}})
        if answer.content is not None:
            content.append({"text": answer.content})
        reason = "end_turn"
        if answer.cut:
            reason = "max_tokens"
        elif answer.refusal:
            reason = "content_filtered"
            content = [{"text": "The generated text has been blocked by our content filters."}]
        return {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": reason,
            "usage": {
                "inputTokens": answer.asked,
                "outputTokens": answer.visible + answer.thought,
                "totalTokens": answer.asked + answer.visible + answer.thought,
                "cacheReadInputTokens": 0,
                "cacheWriteInputTokens": 0,
            },
            "metrics": {"latencyMs": 321},
        }

    def error(self, bad: Bad, retry_after: float) -> Reply:
        if bad.kind == "policy":
            message = {"role": "assistant", "content": [{"text": "Sorry, I cannot answer that."}]}
            usage = {"inputTokens": 258, "outputTokens": 0, "totalTokens": 258}
            body = {
                "output": {"message": message},
                "stopReason": "guardrail_intervened",
                "usage": usage,
                "metrics": {"latencyMs": 12},
            }
            return Reply.of(200, body)
        reply = super().error(bad, retry_after)
        name = f"{self.STATUSES[bad.kind][1]}:http://internal.amazon.com/coral/com.amazon.bedrock/"
        return Reply(reply.status, reply.body, {**reply.headers, "x-amzn-ErrorType": name})

    def wrong(self, status: int, code: Any, bad: Bad) -> object:
        del status, code
        message = str(bad)
        if bad.kind == "format":
            message = "The model returned the following errors: Could not process image"
        if isinstance(bad, Unknown):
            message = f"Malformed input request: {bad}."
        if isinstance(bad, Unsupported):
            name = bad.name.rpartition(".")[2]
            message = f"This model doesn't support the {name} field. Remove {name} and try again."
        return {"message": message}


@cache
def _converse() -> Any:
    """botocore's description of the operation."""
    model = botocore.session.get_session().get_service_model("bedrock-runtime")
    return model.operation_model("Converse")


def _with_bytes(value: Any) -> Any:
    """A body with its pictures as bytes, as botocore takes them."""
    if isinstance(value, Mapping):
        return {
            key: base64.b64decode(item) if key == "bytes" else _with_bytes(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_with_bytes(item) for item in value]
    return value
