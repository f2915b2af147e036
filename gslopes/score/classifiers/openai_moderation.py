"""``openai:moderation``: OpenAI's moderation model on pictures, through its official client."""

from __future__ import annotations

import base64
import os
import weakref
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from gslopes.core.errors import CredentialsError
from gslopes.core.records import Answer
from gslopes.score.classifiers import wire
from gslopes.score.classifiers.llm_errors import gslopes_error
from gslopes.score.classifiers.services import SERVICES
from gslopes.score.limits import ServiceOptions
from gslopes.score.names import ARGUMENT
from gslopes.score.scrub import guard_logs, remember_secret

KEY = "OPENAI_API_KEY"


@dataclass(frozen=True, slots=True)
class ModerationOptions(ServiceOptions):
    """What to ask for.

    feature: moderation, the only one.  model: which answers; a snapshot, such as ``omni-moderation-2024-09-26``, stays.
    endpoint: another address; empty: ``OPENAI_BASE_URL`` or OpenAI's own.
    """

    feature: Literal["moderation"] = field(default="moderation", metadata=ARGUMENT)
    model: str = "omni-moderation-latest"
    endpoint: str = ""


class OpenAIModeration:
    """A ``records.Classifier`` over the moderation endpoint, one picture a request.

    Raises: ConfigError if the endpoint is not safe to send a key to.
    """

    Options = ModerationOptions
    batch = 1

    def __init__(self, name: str, options: ModerationOptions, device: str = "cpu") -> None:
        del device
        self.name = name
        self._options = options
        self._address = wire.address(options.endpoint, "OPENAI_BASE_URL")
        self.version = wire.version_at(options.endpoint, self._address)
        self.limits = SERVICES["openai"].limits.adjusted(options)
        self._client: Any = None

    def prepare(self) -> None:
        """Find the key and make the client.  Raises: CredentialsError."""
        import openai

        guard_logs()
        key = os.environ.get(KEY, "")
        if not key:
            raise CredentialsError("openai", [KEY])
        remember_secret(key)
        self._client = openai.OpenAI(api_key=key, base_url=self._address or None, max_retries=0, timeout=wire.TIMEOUT)
        weakref.finalize(self, self._client.close)

    def ask(self, pictures: list[bytes]) -> list[object]:
        """One encoded picture to the reply about it.

        Raises: Refused, Throttled, Unavailable, ServiceError, ClassifierError.
        """
        if self._client is None:
            self.prepare()
        answers: list[object] = []
        for picture in pictures:
            kind = "png" if picture.startswith(b"\x89PNG") else "jpeg"
            url = f"data:image/{kind};base64,{base64.b64encode(picture).decode('ascii')}"
            try:
                content = [{"type": "image_url", "image_url": {"url": url}}]
                reply = self._client.moderations.create(model=self._options.model, input=content)
                scores = reply.results[0].category_scores.model_dump(by_alias=True)
            except Exception as error:
                raise gslopes_error(error, KEY) from None
            answers.append({"model": str(reply.model), "scores": scores})
        return answers

    def parse(self, raw: object) -> Answer:
        """Categories with their scores; those that are about text alone are 0 for a picture, and left out."""
        reply = cast("dict[str, Any]", raw)
        pairs = [(f"unsafe: {name}", score) for name, score in reply["scores"].items() if score]
        return Answer("answered", wire.best(pairs), version=reply["model"])
