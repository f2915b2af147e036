"""``openai:moderation``: OpenAI's moderation model on pictures, through its official client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from gslopes.core.records import Answer
from gslopes.score.classifiers import wire
from gslopes.score.classifiers.openai_client import KEY, OpenAIService, data_url
from gslopes.score.limits import ServiceOptions
from gslopes.score.names import ARGUMENT


@dataclass(frozen=True, slots=True)
class ModerationOptions(ServiceOptions):
    """What to ask for.

    feature: moderation, the only one.  model: which answers; a snapshot, such as ``omni-moderation-2024-09-26``, stays.
    endpoint: another address; empty: ``OPENAI_BASE_URL`` or OpenAI's own.
    """

    feature: Literal["moderation"] = field(default="moderation", metadata=ARGUMENT)
    model: str = "omni-moderation-latest"
    endpoint: str = ""


class OpenAIModeration(OpenAIService):
    """A ``records.Classifier`` over the moderation endpoint, one picture a request."""

    Options = ModerationOptions

    def parse(self, raw: object) -> Answer:
        """Categories with their scores; those that are about text alone are 0 for a picture, and left out."""
        reply = cast("dict[str, Any]", raw)
        pairs = [(f"unsafe: {name}", score) for name, score in reply["scores"].items() if score]
        return Answer("answered", wire.best(pairs), version=reply["model"])

    def _connected(self) -> tuple[Any, Callable[[], object]]:
        return self._client_with(KEY)

    def _answer(self, picture: bytes) -> object:
        content = [{"type": "image_url", "image_url": {"url": data_url(picture)}}]
        reply = self._client.moderations.create(model=self._options.model, input=content)
        scores = reply.results[0].category_scores.model_dump(by_alias=True)
        return {"model": str(reply.model), "scores": scores}
