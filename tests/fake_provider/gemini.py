"""Gemini's POST /v1beta/models/MODEL:generateContent, or /v1/, as Google's client has it from its version 3 on.

Source: https://ai.google.dev/api/generate-content, https://ai.google.dev/gemini-api/docs/troubleshooting
"""

import re
from typing import Any, ClassVar
from urllib.parse import unquote

from tests.fake_provider.chat import Unsupported
from tests.fake_provider.native import (
    ANSWER,
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
from tests.fake_provider.protocol import Accounts, Bad, Reply, Request

_PICTURE = form(
    {
        "inlineData": form(
            {
                "mimeType": {"enum": ["image/png", "image/jpeg", "image/webp", "image/heic"]},
                "data": TEXT,
            }
        )
    }
)
_TEXT = form({"text": TEXT})
_PATH = re.compile("^/v1(beta)?/models/")
_LEVELS = ["minimal", "low", "medium", "high", "MINIMAL", "LOW", "MEDIUM", "HIGH"]


class Gemini(Native):
    name = "gemini"
    KINDS = ("JPEG", "PNG", "WEBP")
    STATUSES: ClassVar = {
        "credentials": (400, "INVALID_ARGUMENT"),
        "throttled": (429, "RESOURCE_EXHAUSTED"),
        "failed": (500, "INTERNAL"),
        "unavailable": (503, "UNAVAILABLE"),
        "invalid": (400, "INVALID_ARGUMENT"),
        "large": (400, "INVALID_ARGUMENT"),
        "format": (400, "INVALID_ARGUMENT"),
        "policy": (200, ""),
    }
    SCHEMA = form(
        {"contents": one(form({"parts": some(_PICTURE, _TEXT)}, role={"const": "user"}))},
        systemInstruction=form({"parts": one(_TEXT)}, role={"enum": ["user", "system"]}),
        generationConfig=form(
            {},
            temperature=number(0, 2),
            seed=whole_number(0, 2**31 - 1),
            maxOutputTokens=whole_number(1, 65_536),
            candidateCount=whole_number(1, 1),
            responseMimeType={"enum": ["application/json", "text/plain"]},
            responseJsonSchema=ANSWER,
            responseLogprobs={"type": "boolean"},
            logprobs=whole_number(0, 20),
            thinkingConfig=form(
                {},
                thinkingBudget=whole_number(-1, 32_768),
                thinkingLevel={"enum": _LEVELS},
                includeThoughts={"type": "boolean"},
            ),
            mediaResolution={
                "enum": [f"MEDIA_RESOLUTION_{level}" for level in ("LOW", "MEDIUM", "HIGH")]
            },
        ),
    )

    def owns(self, request: Request) -> bool:
        return bool(_PATH.match(request.path))

    def authenticate(self, request: Request, accounts: Accounts) -> None:
        if request.headers.get("x-goog-api-key") != accounts.gemini:
            raise Bad("credentials", "API key not valid. Please pass a valid API key.")
        model, _, method = _PATH.sub("", unquote(request.path)).rpartition(":")
        if not model or method != "generateContent":
            raise Bad("invalid", f"models/{model} has no method {method}.")

    def plain(self, body: Any) -> Any:
        content = _in_camel_case(body)
        for part in content["contents"][0]["parts"]:
            if "inlineData" in part:
                data = part["inlineData"]["data"]
                part["inlineData"]["data"] = data.replace("-", "+").replace("_", "/")
        return content

    def inspect(self, request: Request, body: Any) -> None:
        super().inspect(request, body)
        config = body.get("generationConfig", {})
        if "responseJsonSchema" in config and config.get("responseMimeType") != "application/json":
            raise Bad("invalid", "responseJsonSchema needs the responseMimeType application/json.")
        if "logprobs" in config and not config.get("responseLogprobs"):
            raise Bad("invalid", "Logprobs can only be set when response_logprobs is true.")
        if len(config.get("thinkingConfig", {}).keys() - {"includeThoughts"}) > 1:
            raise Bad("invalid", "You can only set only one of thinking budget and thinking level.")

    def meaning(self, request: Request, body: Any) -> Asked:
        parts = body["contents"][0]["parts"]
        config = body.get("generationConfig", {})
        pictures = [part["inlineData"] for part in parts if "inlineData" in part]
        return Asked(
            text=texts(parts),
            pictures=[(picture["mimeType"], picture["data"]) for picture in pictures],
            most=config.get("maxOutputTokens", 65_536),
            temperature=config.get("temperature", 1.0),
            seed=config.get("seed"),
            tops=config.get("logprobs", 0) if config.get("responseLogprobs") else None,
            schema=config.get("responseJsonSchema"),
        )

    def written(self, asked: dict[str, Any], answer: Written) -> object:
        candidate: dict[str, Any] = {"index": 0, "finishReason": "STOP"}
        if answer.content is not None:
            thoughts = [{"text": '{"answer": "A"}? Hm.', "thought": True}] if answer.thought else []
            parts = [*thoughts, {"text": answer.content, "thoughtSignature": "c2lnbmVk"}]
            candidate["content"] = {"role": "model", "parts": parts}
        if answer.cut:
            candidate |= {"finishReason": "MAX_TOKENS", "content": {"role": "model"}}
        elif answer.refusal:
            candidate["finishReason"] = "SAFETY"
        if answer.tokens:
            tokens = [_candidate(token) for token in answer.tokens]
            tops = [[*map(_candidate, token["top_logprobs"])] for token in answer.tokens]
            candidate["avgLogprobs"] = -0.1
            candidate["logprobsResult"] = {
                "chosenCandidates": tokens,
                "topCandidates": [
                    {"candidates": top or [token]} for token, top in zip(tokens, tops, strict=True)
                ],
            }
        usage = {
            "promptTokenCount": answer.asked,
            "candidatesTokenCount": answer.visible,
            "thoughtsTokenCount": answer.thought,
            "totalTokenCount": answer.asked + answer.visible + answer.thought,
        }
        return {
            "candidates": [candidate],
            "usageMetadata": {name: count for name, count in usage.items() if count},
            "modelVersion": answer.model,
            "responseId": answer.id,
        }

    def error(self, bad: Bad, retry_after: float) -> Reply:
        if bad.kind == "policy":
            body = {
                "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
                "usageMetadata": {"promptTokenCount": 258, "totalTokenCount": 258},
                "modelVersion": "gemini-1.0",
            }
            return Reply.of(200, body)
        return super().error(bad, retry_after)

    def wrong(self, status: int, code: Any, bad: Bad) -> object:
        message = str(bad)
        details: list[dict[str, Any]] = []
        if bad.kind == "credentials":
            details = [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "API_KEY_INVALID",
                    "domain": "googleapis.com",
                    "metadata": {"service": "generativelanguage.googleapis.com"},
                }
            ]
        if bad.kind == "format":
            message = "Unable to process input image. Please retry or report in the forum."
        if isinstance(bad, Unknown) and bad.extra:
            holder, _, name = bad.name.rpartition(".")
            message = f"Invalid JSON payload received. Unknown name \"{name}\" at '{holder}': Cannot find field."
        if isinstance(bad, Unsupported):
            name = bad.name.rpartition(".")[2].removeprefix("response")
            message = f"{name} is not enabled for models/gemini"
        return {"error": {"code": status, "message": message, "status": code, "details": details}}


def _candidate(token: dict[str, Any]) -> dict[str, Any]:
    return {"token": token["token"], "tokenId": 7, "logProbability": token["logprob"]}


def _in_camel_case(value: Any) -> Any:
    """With JSON's names of fields; those of protocol buffers are taken as well, and Google's client sends some.

    Source: https://protobuf.dev/programming-guides/json/
    """
    if isinstance(value, dict):
        return {
            re.sub("_([a-z])", lambda match: match[1].upper(), name): (
                inner if name == "responseJsonSchema" else _in_camel_case(inner)
            )
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_in_camel_case(item) for item in value]
    return value
