"""Captioners behind an address.

    captioner-chat:gpt-4o-2024-11-20,prompt=caption           the chat endpoint, as ``llm:``
    captioner-http:URL                                        a team's own
    azure-caption                                             Azure AI Vision

``captioner-http`` speaks the protocol of ``http``, with a caption in place of labels:

    {"version": "2026-05-01", "answers": [{"caption": "A woman on a bench."}, {"refused": "no face"}]}
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from gslopes.core.errors import AnswerError, ConfigError
from gslopes.core.records import Answer
from gslopes.score.classifiers.azure import AzureService
from gslopes.score.classifiers.captioner import Captioning, CaptionReading
from gslopes.score.classifiers.http import HttpClassifier, HttpOptions
from gslopes.score.classifiers.llm import Llm, LlmOptions
from gslopes.score.classifiers.llm_reply import REFUSED, UNUSABLE, reading
from gslopes.score.limits import ServiceOptions
from gslopes.score.names import OPERATIONAL


@dataclass(frozen=True)
class ChatCaptionerOptions(CaptionReading, LlmOptions):
    """As ``llm``, with one caption at temperature 0, and how it is read."""

    prompt: str = "caption"
    scores: Literal["auto", "logprobs", "repeats"] = "repeats"
    repeats: int = 1
    temperature: float = 0.0


class ChatCaptioner(Captioning, Llm):
    """A ``records.Classifier`` over a language model that is asked for a caption; refusals are refused pictures.

    Raises: ConfigError as ``Llm``, and if the prompt asks for anything but a caption.
    """

    Options = ChatCaptionerOptions

    def __init__(self, name: str, options: ChatCaptionerOptions, device: str = "cpu") -> None:
        super().__init__(name, options, device)
        if self.prompt.kind != "caption":
            raise ConfigError(
                f"The prompt {self.prompt.name!r} does not ask for a caption.", 'Give one with kind = "caption".'
            )

    def parse(self, raw: object) -> Answer:
        """The labels of the captions; a refusal of all of them is a refusal of the picture.

        Raises: AnswerError if a reply is no caption.
        """
        answer = cast("dict[str, Any]", raw)
        texts = [self._caption(reply, answer["order"]) for reply in answer["replies"]]
        return self._labels_of(texts, str(answer["model"]))

    def _caption(self, reply: Any, order: Sequence[int]) -> str | None:
        found = reading(self.prompt, order, reply)
        if found == (REFUSED,):
            return None
        if found == (UNUSABLE,):
            raise AnswerError("The model's reply holds no caption.")
        text = str(reply.get("text") or "")
        start, end = text.find("{"), text.rfind("}")
        return str(json.loads(text[start : end + 1])["caption"])


@dataclass(frozen=True)
class HttpCaptionerOptions(CaptionReading, HttpOptions):
    """As ``http``, with how captions are read."""


class HttpCaptioner(Captioning, HttpClassifier):
    """A ``records.Classifier`` over a team's own captioner."""

    Options = HttpCaptionerOptions
    labelled = False

    def _answered_by(self, entry: dict[str, Any], version: str) -> Answer:
        """The labels of one entry's caption.  Raises: AnswerError if it holds no caption."""
        caption = entry.get("caption")
        if not isinstance(caption, str):
            raise AnswerError("The captioner's reply has no caption.", 'Each of its answers is {"caption": "..."}.')
        return self._labels_of([caption], version)


@dataclass(frozen=True)
class AzureCaptionOptions(CaptionReading, ServiceOptions):
    """model_version, endpoint, auth: as for ``azure``; captions are in English.

    gender_neutral: the service's own switch, which writes person for man, woman, boy and girl.
    """

    model_version: str = "latest"
    endpoint: str = ""
    gender_neutral: bool = False
    auth: Literal["key", "entra"] = field(default="key", metadata=OPERATIONAL)


class AzureCaption(Captioning, AzureService):
    """A ``records.Classifier`` over the captions of Azure's Image Analysis, one picture a request."""

    Options = AzureCaptionOptions

    def parse(self, raw: object) -> Answer:
        """The labels of the caption.  Raises: AnswerError if the reply holds none."""
        reply = cast("dict[str, Any]", raw)
        caption = reply.get("captionResult", {}).get("text")
        if not isinstance(caption, str):
            raise AnswerError("Azure's reply has no caption.")
        return self._labels_of([caption], str(reply.get("modelVersion", "")))

    def _analysed(self, picture: bytes, **more: Any) -> Any:
        neutral = {"gender_neutral_caption": True} if self._options.gender_neutral else {}
        return self._analysed_for("caption", picture, language="en", **neutral, **more)
