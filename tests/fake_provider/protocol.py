"""What the protocols share: a request, what it asks for, what can be wrong with it, a reply."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tests.fake_provider.pictures import kind

Labels = list[tuple[str, float]]  # highest score first, scores in [0, 1]

# What can be wrong: the credentials, the rate, the service itself (for the moment or not), the request, one picture.
WRONG = (
    "credentials",
    "throttled",
    "failed",
    "unavailable",
    "invalid",
    "large",
    "format",
    "policy",
)


class Bad(Exception):
    """A request, or one picture of it, that the service does not answer; ``kind`` is one of ``WRONG``."""

    def __init__(self, kind: str, message: str) -> None:
        assert kind in WRONG
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Request:
    """An HTTP request; header names in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    raw_query: str = ""


@dataclass(frozen=True)
class Reply:
    """An HTTP reply."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, status: int, content: object, **headers: str) -> Reply:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(
            status, json.dumps(content).encode(), {"Content-Type": "application/json"} | named
        )


@dataclass(frozen=True)
class Job:
    """What a valid request asks for: about which pictures, with which parameters."""

    images: list[bytes]
    parameters: dict[str, object]


@dataclass(frozen=True)
class Accounts:
    """The credentials that the fake accepts; ``google_public`` verifies what the service account's key signed."""

    google_public: str
    aws_key: str
    aws_secret: str
    clarifai: str
    azure: str
    imagga_key: str
    imagga_secret: str
    chat: str
    google_key: str
    anthropic: str
    gemini: str
    bedrock: str


class Service(ABC):
    """One protocol over HTTP.

    STATUSES: what is wrong with a request to HTTP status and the service's own code.  KINDS, BYTES: of a picture.
    """

    name: str
    STATUSES: ClassVar[Mapping[str, tuple[int, Any]]]
    KINDS: ClassVar[tuple[str, ...]] = ("JPEG", "PNG", "GIF", "BMP", "WEBP")
    BYTES: ClassVar[int] = 20_000_000

    @abstractmethod
    def owns(self, request: Request) -> bool:
        """Whether a request is for it."""

    @abstractmethod
    def read(self, request: Request, accounts: Accounts) -> Job:
        """The job.  Raises: Bad; KeyError, TypeError or AttributeError if a request is not what is documented."""

    @abstractmethod
    def answer(self, job: Job, results: list[Labels | Bad], version: str) -> Reply:
        """One list of labels or one Bad a picture.  Raises: Bad."""

    @abstractmethod
    def wrong(self, status: int, code: Any, bad: Bad) -> object:
        """The body of the reply to a request that is Bad."""

    def error(self, bad: Bad, retry_after: float) -> Reply:
        """The reply to a request that is Bad."""
        status, code = self.STATUSES[bad.kind]
        headers = (
            {"Retry_After": f"{retry_after:g}"} if bad.kind == "throttled" and retry_after else {}
        )
        return Reply.of(status, self.wrong(status, code, bad), **headers)

    @classmethod
    def check(cls, image: bytes) -> None:
        """Raises: Bad if it is no picture that the service takes."""
        if len(image) > cls.BYTES:
            raise Bad("large", "The image is too large.")
        if kind(image) not in cls.KINDS:
            raise Bad("format", "The image data is no valid image.")


def whole(results: list[Labels | Bad]) -> Labels:
    """The only result of a service that takes one picture a request.  Raises: Bad if the picture is."""
    (result,) = results
    if isinstance(result, Bad):
        raise result
    return result
