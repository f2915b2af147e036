"""What goes wrong in four dialects, as the vendors write it: one sentence, the next step, and what is done about it.

Sources: https://platform.openai.com/docs/guides/error-codes, https://platform.claude.com/docs/en/api/errors,
https://ai.google.dev/gemini-api/docs/troubleshooting,
https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html, and threads of users where
those do not give a body.
"""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from gslopes.ask.classifiers import chat, load_classifier
from gslopes.ask.classifiers.chat import reading
from gslopes.ask.classifiers.compatible import Reply, load_dialect
from gslopes.core.errors import (
    ClassifierError,
    CredentialsError,
    GslopesError,
    Refused,
    ServiceError,
    Throttled,
    Unavailable,
    Unfinished,
)
from tests.fake_provider import paint
from tests.loopback import QuietHandler, serving

KEY = "sk-planted-0123456789abcdef0123456789"
PICTURE = paint(0, 0.2)
KEPT = "Answers so far are kept."


class Case(NamedTuple):
    """A reply, and what is made of it.

    kind: of our error.  says: in its message.  hint: in the next step.  billed: whether it may be.
    wait: seconds, until it is asked again.
    """

    dialect: str
    status: int
    body: Any
    kind: type[GslopesError]
    says: str
    hint: str = ""
    headers: dict[str, str] = {}  # noqa: RUF012
    billed: bool = False
    wait: float | None = None


def openai(message: str, type_: str, code: str | None, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": type_, "param": param, "code": code}}


def anthropic(type_: str, message: str, **details: Any) -> dict[str, Any]:
    error = {"type": type_, "message": message, **({"details": details} if details else {})}
    return {"type": "error", "error": error, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"}


def google(code: int, status: str, message: str, *details: dict[str, Any]) -> dict[str, Any]:
    error = {"code": code, "message": message, "status": status, "details": list(details)}
    return {"error": error}


def reason(name: str) -> dict[str, Any]:
    kind = "type.googleapis.com/google.rpc.ErrorInfo"
    return {"@type": kind, "reason": name, "domain": "googleapis.com"}


def amazon(name: str) -> dict[str, str]:
    return {"x-amzn-ErrorType": f"{name}:http://internal.amazon.com/coral/com.amazon.bedrock/"}


CASES = {
    # who asks
    "responses wrong key": Case(
        "responses",
        401,
        openai(f"Incorrect API key provided: {KEY}.", "invalid_request_error", "invalid_api_key"),
        CredentialsError,
        "llm rejects the credentials in OPENAI_API_KEY",
        "Set OPENAI_API_KEY",
    ),
    "messages wrong key": Case(
        "messages",
        401,
        anthropic("authentication_error", "invalid x-api-key"),
        CredentialsError,
        "rejects the credentials in ANTHROPIC_API_KEY (invalid x-api-key)",
        "Set ANTHROPIC_API_KEY",
    ),
    "gemini wrong key, which is a 400": Case(
        "gemini",
        400,
        google(
            400,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
            reason("API_KEY_INVALID"),
        ),
        CredentialsError,
        "rejects the credentials in GEMINI_API_KEY (API key not valid",
        "Set GEMINI_API_KEY",
    ),
    "converse wrong signature": Case(
        "converse",
        403,
        {"message": "The security token included in the request is invalid."},
        CredentialsError,
        "AWS_BEARER_TOKEN_BEDROCK (or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)",
        "Set AWS_BEARER_TOKEN_BEDROCK",
        headers=amazon("UnrecognizedClientException"),
    ),
    "converse expired token, with a capital letter": Case(
        "converse",
        403,
        {"Message": "The security token included in the request is expired"},
        CredentialsError,
        "is expired",
        "Set AWS_BEARER_TOKEN_BEDROCK",
        headers=amazon("ExpiredTokenException"),
    ),
    "converse no access": Case(
        "converse",
        403,
        {"message": "You don't have access to the model with the specified model ID."},
        CredentialsError,
        "You don't have access to the model",
        headers=amazon("AccessDeniedException"),
    ),
    "messages no permission": Case(
        "messages",
        403,
        anthropic("permission_error", "Your API key may not use this model."),
        CredentialsError,
        "may not use this model",
    ),
    "gemini blocked key": Case(
        "gemini",
        403,
        google(
            403,
            "PERMISSION_DENIED",
            "Requests to this API are blocked.",
            reason("API_KEY_SERVICE_BLOCKED"),
        ),
        CredentialsError,
        "are blocked",
    ),
    # which model
    "responses unknown model": Case(
        "responses",
        400,
        openai(
            "The requested model 'gpt-9' does not exist.",
            "invalid_request_error",
            "model_not_found",
            "model",
        ),
        ServiceError,
        "The requested model 'gpt-9' does not exist",
        "Check the model's name",
    ),
    "messages unknown model": Case(
        "messages",
        404,
        anthropic("not_found_error", "model: claude-9"),
        ServiceError,
        "model: claude-9",
        "Check the model's name",
    ),
    "gemini ended model": Case(
        "gemini",
        404,
        google(
            404,
            "NOT_FOUND",
            "models/gemini-1.5-pro is not found for API version v1beta, or is not supported for generateContent.",
        ),
        ServiceError,
        "models/gemini-1.5-pro is not found",
        "Check the model's name",
    ),
    "converse ended model": Case(
        "converse",
        404,
        {
            "message": "This model version has reached the end of its life. Please refer to the AWS documentation "
            "for more details."
        },
        ServiceError,
        "reached the end of its life",
        "Check the model's name",
        headers=amazon("ResourceNotFoundException"),
    ),
    "converse wrong identifier": Case(
        "converse",
        400,
        {"message": "The provided model identifier is invalid."},
        ServiceError,
        "model identifier is invalid",
        "Check the model's name",
        headers=amazon("ValidationException"),
    ),
    "converse inference profile": Case(
        "converse",
        400,
        {
            "message": "Invocation of model ID amazon.nova-2-lite-v1:0 with on-demand throughput isn\u2019t supported. "
            "Retry your request with the ID or ARN of an inference profile that contains this model."
        },
        ServiceError,
        "with on-demand throughput",
        "Name its inference profile",
        headers=amazon("ValidationException"),
    ),
    "gemini region": Case(
        "gemini",
        400,
        google(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
        ServiceError,
        "User location is not supported",
        "Ask from a region",
    ),
    "converse text alone": Case(
        "converse",
        400,
        {"message": "This model doesn't support the image content block."},
        ServiceError,
        "doesn't support the image",
        "Ask a model that takes pictures",
        headers=amazon("ValidationException"),
    ),
    # money and pace
    "responses quota": Case(
        "responses",
        429,
        openai(
            "You exceeded your current quota, please check your plan and billing details.",
            "insufficient_quota",
            "insufficient_quota",
        ),
        ServiceError,
        "You exceeded your current quota",
        "Add credit or raise the limit",
    ),
    "messages credit": Case(
        "messages",
        400,
        anthropic(
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.",
        ),
        ServiceError,
        "Your credit balance is too low",
        "Add credit",
    ),
    "messages spend limit, which is a 429": Case(
        "messages",
        429,
        anthropic(
            "rate_limit_error",
            "The organization's spend limit is reached.",
            error_code="enforced_spend_limit_reached",
        ),
        ServiceError,
        "spend limit is reached",
        "raise the limit",
    ),
    "responses rate": Case(
        "responses",
        429,
        openai("Rate limit reached for gpt-9.", "requests", "rate_limit_exceeded"),
        Throttled,
        "asks us to slow down: Rate limit reached",
        headers={"Retry-After": "7"},
        wait=7.0,
    ),
    "messages rate": Case(
        "messages",
        429,
        anthropic("rate_limit_error", "This request would exceed your organization's rate limit."),
        Throttled,
        "asks us to slow down",
        headers={"retry-after": "12"},
        wait=12.0,
    ),
    "gemini rate": Case(
        "gemini",
        429,
        google(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
        Throttled,
        "asks us to slow down",
    ),
    "converse rate": Case(
        "converse",
        429,
        {"message": "Too many tokens, please wait before trying again."},
        Throttled,
        "Too many tokens",
        headers=amazon("ThrottlingException"),
    ),
    "converse cold model": Case(
        "converse",
        429,
        {"message": "Model is not ready for inference. Wait and try again."},
        Throttled,
        "is not ready",
        headers=amazon("ModelNotReadyException"),
    ),
    # the service
    "messages overloaded": Case(
        "messages", 529, anthropic("overloaded_error", "Overloaded"), Unavailable, "Overloaded"
    ),
    "messages overloaded in a good status": Case(
        "messages", 200, anthropic("overloaded_error", "Overloaded"), Unavailable, "Overloaded"
    ),
    "gemini overloaded": Case(
        "gemini",
        503,
        google(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
        Unavailable,
        "The model is overloaded",
    ),
    "responses failed in a good status": Case(
        "responses",
        200,
        {
            "id": "resp_1",
            "object": "response",
            "status": "failed",
            "error": {
                "code": "server_error",
                "message": "The model failed to generate a response.",
            },
            "output": [],
            "usage": None,
        },
        Unavailable,
        "The model failed to generate",
    ),
    "converse failing model, which is a 424": Case(
        "converse",
        424,
        {"message": "The system encountered an unexpected error during processing."},
        Unavailable,
        "unexpected error",
        headers=amazon("ModelErrorException"),
        billed=True,
    ),
    "converse timeout": Case(
        "converse",
        408,
        {"message": "Model has timed out in processing the request."},
        Unavailable,
        "timed out",
        headers=amazon("ModelTimeoutException"),
        billed=True,
    ),
    "gemini timeout": Case(
        "gemini",
        504,
        google(504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
        Unavailable,
        "Deadline expired",
        billed=True,
    ),
    "messages page of a gateway": Case(
        "messages",
        502,
        "<html><head><title>502 Bad Gateway</title></head><body>cloudflare</body></html>",
        Unavailable,
        "the reply is a web page: 502 Bad Gateway",
    ),
    "gemini page in a good status": Case(
        "gemini",
        200,
        "<!doctype html><title>Sign in</title>",
        Unavailable,
        "the reply is a web page: Sign in",
        billed=True,
    ),
    "converse empty": Case("converse", 200, "", Unavailable, "the reply is empty", billed=True),
    "responses truncated": Case(
        "responses",
        200,
        '{"id": "resp_1", "output": [{"type": "mess',
        Unavailable,
        "llm",
        billed=True,
    ),
    "gemini list of errors": Case(
        "gemini",
        500,
        [google(500, "INTERNAL", "An internal error has occurred.")],
        Unavailable,
        "An internal error has occurred",
    ),
    # the request
    "messages too long": Case(
        "messages",
        400,
        anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
        ServiceError,
        "prompt is too long",
        "Fewer tokens fit",
    ),
    "responses context": Case(
        "responses",
        400,
        openai(
            "Your input exceeds the context window of this model.",
            "invalid_request_error",
            "context_length_exceeded",
            "input",
        ),
        ServiceError,
        "exceeds the context window",
        "Fewer tokens fit",
    ),
    "messages body too large": Case(
        "messages",
        413,
        anthropic("request_too_large", "Request exceeds the maximum size"),
        Refused,
        "Request exceeds the maximum size",
    ),
    "responses malformed": Case(
        "responses",
        400,
        openai(
            "Invalid value: 'text'. Supported values are: 'input_text' and 'input_image'.",
            "invalid_request_error",
            "invalid_value",
            "input[0].content[0].type",
        ),
        ServiceError,
        "Invalid value: 'text'",
        KEPT,
    ),
    # the picture
    "responses picture": Case(
        "responses",
        400,
        openai(
            "The image data you provided does not represent a valid image.",
            "invalid_request_error",
            "image_parse_error",
        ),
        Refused,
        "does not represent a valid image",
    ),
    "messages large picture": Case(
        "messages",
        400,
        anthropic(
            "invalid_request_error",
            "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
        ),
        Refused,
        "image exceeds 5 MB maximum",
    ),
    "messages long side": Case(
        "messages",
        400,
        anthropic("invalid_request_error", "Too long.", error_code="image_dimensions_too_large"),
        Refused,
        "Too long",
    ),
    "gemini picture": Case(
        "gemini",
        400,
        google(400, "INVALID_ARGUMENT", "Unable to process input image. Please retry."),
        Refused,
        "Unable to process input image",
    ),
    "converse picture": Case(
        "converse",
        400,
        {"message": "The model returned the following errors: Could not process image"},
        Refused,
        "Could not process image",
        headers=amazon("ValidationException"),
    ),
    "gemini unsupported picture": Case(
        "gemini",
        400,
        google(400, "INVALID_ARGUMENT", "Unsupported MIME type: image/tiff"),
        Refused,
        "Unsupported MIME type",
    ),
}


class Handler(QuietHandler):
    """Gives the same reply to every request."""

    def do_POST(self) -> None:  # noqa: N802
        self.rfile.read(int(self.headers["Content-Length"]))
        status, body, headers = self.service.reply
        self.send(status, body, "application/json", headers)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAPLANTED012345678")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


@pytest.fixture(scope="module")
def asked() -> Iterator[Any]:
    """Asks once: the raw answer, or the error, and the classifier."""
    first: dict[str, Any] = {}  # its client serves the others: boto3 takes long to make one
    with serving(SimpleNamespace(), Handler) as server:

        def ask(
            dialect: str,
            status: int,
            body: Any,
            headers: dict[str, str] | None = None,
            more: str = "",
        ) -> tuple[Any, Any]:
            text = body if isinstance(body, str) else json.dumps(body)
            server.reply = status, text.encode(), headers or {}
            url = f"http://127.0.0.1:{server.port}"
            name = f"llm:m,prompt=doctor-nurse,dialect={dialect},url={url}{more}"
            classifier = load_classifier(name, prepare=dialect not in first)
            classifier._client = first.setdefault(dialect, classifier)._client
            classifier._replies = 1  # a first one that is cut off is asked for again, longer
            try:
                (raw,) = classifier.ask([PICTURE])
            except GslopesError as error:
                return error, classifier
            return raw, classifier

        yield ask


@pytest.mark.parametrize("name", CASES)
def test_an_error_is_one_sentence_with_the_next_step_and_no_key(asked, name):
    case = CASES[name]
    error, _ = asked(case.dialect, case.status, case.body, case.headers)
    assert type(error) is case.kind
    assert case.says in error.message
    assert case.hint in error.hint
    assert error.message.endswith(".")
    assert "\n" not in error.message
    assert KEY not in str(error)
    if isinstance(error, ServiceError):
        assert error.hint.endswith(".")
        assert "so far are kept" in error.hint
    assert error.billed is case.billed
    if isinstance(error, Throttled):
        assert error.retry_after == case.wait


STREAMS = {
    "messages": 'event: message_start\ndata: {"type": "message_start"}\n\n',
    "responses": 'event: response.created\ndata: {"type": "response.created"}\n\n',
    "gemini": 'data: {"candidates": [{"content": {"parts": [{"text": "{"}]}}]}\n\n',
}


@pytest.mark.parametrize("dialect", STREAMS)
def test_a_stream_that_was_not_asked_for_is_an_error_of_one_sentence(asked, dialect):
    error, _ = asked(dialect, 200, STREAMS[dialect], {"content-type": "text/event-stream"})
    assert isinstance(error, Unavailable | ServiceError)
    assert error.message.endswith(".")
    assert "\n" not in error.message


def test_there_are_cases_of_every_kind_and_dialect():
    assert len(CASES) >= 25
    kinds = {ServiceError, CredentialsError, Throttled, Unavailable, Refused}
    assert {case.kind for case in CASES.values()} == kinds
    assert all(issubclass(kind, ServiceError | ClassifierError) for kind in kinds)
    for dialect in ("responses", "messages", "gemini", "converse"):
        assert len([case for case in CASES.values() if case.dialect == dialect]) >= 8


# -- a parameter that is not taken -------------------------------------------------------------------------------------

UNTAKEN = {
    "responses top_logprobs": (
        "responses",
        openai(
            "Unsupported parameter: 'top_logprobs' is not supported with this model.",
            "invalid_request_error",
            "unsupported_parameter",
            "top_logprobs",
        ),
        "logprobs",
    ),
    "responses include": (
        "responses",
        openai(
            "logprobs are not supported with reasoning models.",
            "invalid_request_error",
            "unsupported_parameter",
            "include",
        ),
        "logprobs",
    ),
    "responses format": (
        "responses",
        openai(
            "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model.",
            "invalid_request_error",
            None,
            "text.format",
        ),
        "response_format",
    ),
    "responses format by its name alone": (
        "responses",
        openai("Unsupported parameter.", "invalid_request_error", None, "text.format"),
        "response_format",
    ),
    "responses temperature": (
        "responses",
        openai(
            "Unsupported parameter: 'temperature' is not supported with this model.",
            "invalid_request_error",
            None,
            "temperature",
        ),
        "temperature",
    ),
    "messages temperature": (
        "messages",
        anthropic("invalid_request_error", "`temperature` is deprecated for this model."),
        "temperature",
    ),
    "messages version": (
        "messages",
        anthropic("invalid_request_error", "temperature: Extra inputs are not permitted"),
        "temperature",
    ),
    "messages format": (
        "messages",
        anthropic("invalid_request_error", "output_config.format: not supported by this model"),
        "response_format",
    ),
    "gemini logprobs": (
        "gemini",
        google(400, "INVALID_ARGUMENT", "Logprobs is not enabled for models/gemini-2.5-pro"),
        "logprobs",
    ),
    "gemini schema": (
        "gemini",
        google(
            400,
            "INVALID_ARGUMENT",
            "Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config': "
            "Cannot find field.",
        ),
        "response_format",
    ),
    "gemini json": (
        "gemini",
        google(400, "INVALID_ARGUMENT", "JSON mode is not enabled for models/gemma-3"),
        "response_format",
    ),
    "converse temperature": (
        "converse",
        {
            "message": "This model doesn't support the temperature field. Remove temperature and try again."
        },
        "temperature",
    ),
    "converse format": (
        "converse",
        {
            "message": "This model doesn't support the outputConfig.textFormat field. Remove it and try again."
        },
        "response_format",
    ),
}


@pytest.mark.parametrize("name", UNTAKEN)
def test_a_parameter_that_is_not_taken_is_left_out_of_the_next_request(asked, name):
    dialect, body, parameter = UNTAKEN[name]
    headers = amazon("ValidationException") if dialect == "converse" else {}
    raw, classifier = asked(dialect, 400, body, headers)
    assert isinstance(raw, Unfinished)
    assert [note for note in classifier.notes if f"does not take {parameter}:" in note]
    assert not [note for note in classifier.notes if "does not take" in note][1:]


# -- a reply that holds no answer --------------------------------------------------------------------------------------

USAGE = {"input_tokens": 300, "output_tokens": 40}
SILENT = {
    "responses refusal": (
        "responses",
        {
            "status": "completed",
            "model": "m",
            "output": [
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "refusal", "refusal": "I can't judge people."}],
                }
            ],
            "usage": USAGE,
        },
        "(refused)",
    ),
    "responses filter": (
        "responses",
        {
            "status": "incomplete",
            "incomplete_details": {"reason": "content_filter"},
            "model": "m",
            "output": [],
            "usage": USAGE,
        },
        "(refused)",
    ),
    "responses thinking alone": (
        "responses",
        {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
            "model": "m",
            "output": [{"type": "reasoning", "summary": []}],
            "usage": USAGE,
        },
        "(unusable answer)",
    ),
    "messages refusal": (
        "messages",
        {
            "type": "message",
            "model": "m",
            "content": [],
            "stop_reason": "refusal",
            "stop_details": {"type": "refusal", "category": None, "explanation": "Not this."},
            "usage": USAGE,
        },
        "(refused)",
    ),
    "messages thinking alone": (
        "messages",
        {
            "type": "message",
            "model": "m",
            "content": [{"type": "thinking", "thinking": '{"answer": "A"}', "signature": "x"}],
            "stop_reason": "max_tokens",
            "usage": USAGE,
        },
        "(unusable answer)",
    ),
    "gemini blocked prompt": (
        "gemini",
        {
            "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
            "usageMetadata": {"promptTokenCount": 300, "totalTokenCount": 300},
            "modelVersion": "m",
        },
        "(refused)",
    ),
    "gemini unsafe answer": (
        "gemini",
        {"candidates": [{"finishReason": "SAFETY", "index": 0}], "modelVersion": "m"},
        "(refused)",
    ),
    "gemini thinking alone": (
        "gemini",
        {
            "candidates": [{"finishReason": "MAX_TOKENS", "content": {"role": "model"}}],
            "usageMetadata": {"promptTokenCount": 300, "thoughtsTokenCount": 200},
        },
        "(unusable answer)",
    ),
    "gemini thoughts beside": (
        "gemini",
        {
            "candidates": [
                {
                    "finishReason": "STOP",
                    "content": {
                        "parts": [
                            {"text": '{"answer": "A"}', "thought": True},
                            {"text": "I'm sorry, I can't help."},
                        ]
                    },
                }
            ]
        },
        "(refused)",
    ),
    "converse guardrail": (
        "converse",
        {
            "output": {"message": {"role": "assistant", "content": [{"text": "Sorry."}]}},
            "stopReason": "guardrail_intervened",
            "usage": {"inputTokens": 300, "outputTokens": 0, "totalTokens": 300},
        },
        "(refused)",
    ),
    "converse filter": (
        "converse",
        {
            "output": {"message": {"role": "assistant", "content": []}},
            "stopReason": "content_filtered",
            "usage": {"inputTokens": 300, "outputTokens": 9, "totalTokens": 309},
        },
        "(refused)",
    ),
    "converse thinking alone": (
        "converse",
        {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [
                        {"reasoningContent": {"reasoningText": {"text": '{"answer":"A"}'}}}
                    ],
                }
            },
            "stopReason": "max_tokens",
            "usage": {"inputTokens": 300, "outputTokens": 200, "totalTokens": 500},
        },
        "(unusable answer)",
    ),
    "converse overflow": (
        "converse",
        {
            "output": {"message": {"role": "assistant", "content": [{"text": '{"answer": "A"}'}]}},
            "stopReason": "model_context_window_exceeded",
            "usage": {"inputTokens": 300, "outputTokens": 3, "totalTokens": 303},
        },
        "(unusable answer)",
    ),
}
# Policy before the model answers, by the vendor's code or words: an answer as well, which is not asked for again.
BEFORE = {
    "responses prompt": (
        "responses",
        openai("Your prompt was flagged.", "invalid_request_error", "invalid_prompt"),
    ),
    "responses picture": (
        "responses",
        openai("No.", "invalid_request_error", "image_content_policy_violation"),
    ),
    "messages filter": (
        "messages",
        anthropic("invalid_request_error", "Output blocked by content filtering policy"),
    ),
}


@pytest.mark.parametrize("name", SILENT)
def test_a_reply_without_an_answer_says_which(name):
    dialect, body, label = SILENT[name]
    classifier = load_classifier(f"llm:m,prompt=doctor-nurse,dialect={dialect}", prepare=False)
    order = (0, 1, 2)
    came = load_dialect(dialect).read(body)
    assert chat.problem_of(came) is None
    (reply,) = classifier._read(Reply(came, True), order)
    assert reading(classifier.prompt, order, reply) == (label,)
    used = chat.tokens_used(came, 1000, 200)
    assert used is None or used[1] <= 200


@pytest.mark.parametrize("name", BEFORE)
def test_a_policy_before_the_answer_is_a_refusal_that_costs_nothing(asked, name):
    dialect, body = BEFORE[name]
    raw, classifier = asked(dialect, 400, body)
    assert dict(classifier.parse(raw).labels) == {"(refused)": 1.0}
    assert raw["usage"] == [[0, 0]]


# -- strange replies ---------------------------------------------------------------------------------------------------

STRANGE = [
    {},
    [],
    {"output": "text", "content": "text", "candidates": "text", "stopReason": 7, "stop_reason": 7},
    {"output": [None, 1, {"type": "message"}], "usage": "many"},
    {"candidates": [None, {"content": {"parts": [None, 7]}, "logprobsResult": []}]},
    {"candidates": [{"logprobsResult": {"chosenCandidates": 7, "topCandidates": [None, {}]}}]},
    {"stop_reason": "end_turn", "content": {"text": 3}, "usage": {"output_tokens": "nan"}},
    {
        "stopReason": "end_turn",
        "output": {"message": 3},
        "usage": {"inputTokens": [1], "outputTokens": True},
    },
    {
        "usageMetadata": {"candidatesTokenCount": "nan", "thoughtsTokenCount": {}},
        "candidates": [{}],
    },
    {
        "status": "incomplete",
        "incomplete_details": 3,
        "output": [{"type": "message", "content": 3}],
    },
]


@pytest.mark.parametrize("body", STRANGE, ids=str)
@pytest.mark.parametrize("dialect", ["responses", "messages", "gemini", "converse"])
def test_no_reply_is_more_than_an_error_of_ours_or_no_answer(asked, dialect, body):
    raw, classifier = asked(dialect, 200, body, more=",scores=repeats,repeats=1")
    if isinstance(raw, GslopesError):
        assert isinstance(raw, ClassifierError)
        assert raw.billed
    else:
        assert dict(classifier.parse(raw).labels) == {"(unusable answer)": 1.0}
