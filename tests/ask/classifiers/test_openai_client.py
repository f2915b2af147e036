"""Errors of the openai client beyond their classes, which ``test_service`` goes through."""

from __future__ import annotations

import httpx
import openai
import pytest

from gslopes.ask.classifiers.chat_body import OpenAIService, refusal_of, unknown_parameters
from gslopes.core.errors import CredentialsError, Refused, ServiceError, Throttled, Unavailable


def error(status: int, code: str | None = None, message: str = "no", param: str | None = None, **headers: str):
    response = httpx.Response(status, request=httpx.Request("POST", "https://host/v1"), headers=headers)
    kinds = {400: openai.BadRequestError, 401: openai.AuthenticationError, 403: openai.PermissionDeniedError}
    kinds |= {404: openai.NotFoundError, 422: openai.UnprocessableEntityError, 429: openai.RateLimitError}
    body = {"message": message, "code": code, "param": param}
    return kinds.get(status, openai.InternalServerError)(message, response=response, body=body)


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (error(401), CredentialsError),
        (error(403), CredentialsError),
        (error(404, "model_not_found"), ServiceError),
        (error(429, "insufficient_quota"), ServiceError),
        (error(429, "rate_limit_exceeded"), Throttled),
        (error(400, "invalid_image_format"), Refused),
        (error(400), ServiceError),
        (error(503), Unavailable),
    ],
)
def test_status_and_code_say_what_it_is(raised, kind):
    assert type(OpenAIService.gslopes_error(raised)) is kind


def test_retry_after_is_passed_on():
    assert OpenAIService.gslopes_error(error(429, **{"retry-after": "3"})).retry_after == 3


@pytest.mark.parametrize(
    ("raised", "name"),
    [
        (error(400, param="logprobs"), "logprobs"),
        (error(400, message="top_logprobs is not supported"), "logprobs"),
        (error(422, message="body.response_format: unknown"), "response_format"),
        (error(400, message="Unsupported value: 'temperature' does not support 0.5"), "temperature"),
        (error(400, message="The image is broken."), ""),
        (error(500, param="logprobs"), ""),
    ],
)
def test_the_parameter_that_is_not_taken_is_found(raised, name):
    sent = {"logprobs", "top_logprobs", "response_format", "temperature", "n", "seed"}
    assert unknown_parameters(raised, sent) == ([name] if name else [])


def test_what_was_not_sent_is_not_blamed():
    assert unknown_parameters(error(400, param="seed"), {"model"}) == []


def test_the_policys_refusal_is_no_error():
    assert refusal_of(error(400, "content_filter", "policy")) == "policy"
    assert refusal_of(error(400, "invalid_image")) == ""
