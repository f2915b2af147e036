"""Captioners as classifiers: the raw answer is the text, and its labels are words, synsets and mentions.

    captioner:MODEL_FOLDER                                    an image-to-text model of the transformers library
    captioner-python:module:function                          a function of yours, arrays to texts or None
    captioner-chat:gpt-4o-2024-11-20,prompt=caption           the chat endpoint, as ``llm:``
    captioner-http:URL                                        a team's own

``captioner-http`` speaks the protocol of ``http``, with a caption in place of labels:

    {"version": "2026-05-01", "answers": [{"caption": "A woman on a bench."}, {"refused": "no face"}]}

Prompt and decoding are part of the name; raw captions are kept without how they are read (``words.labels``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from gslopes.ask.classifiers.chat import REFUSED, UNUSABLE, reading
from gslopes.ask.classifiers.http import HttpClassifier, HttpOptions
from gslopes.ask.classifiers.llm import Llm, LlmOptions
from gslopes.ask.classifiers.python import PythonClassifier
from gslopes.ask.classifiers.transformers import loaded, version_of
from gslopes.ask.names import ARGUMENT, OPERATIONAL
from gslopes.ask.pictures import decoded
from gslopes.core.errors import AnswerError, ConfigError
from gslopes.core.reasons import Reason
from gslopes.core.records import Answer

PROMPT = "Describe this picture in one sentence."
LONGEST = 20_000  # characters; more is no caption


class Captioning:
    """Makes a captioner of a classifier, before which it stands among the bases: ``labels_of`` its captions.

    asked_version: the version under which raw captions are kept, so that reading them again costs no call.

    Raises: as the classifier; UsageError, ModelError if the parser is not available.
    """

    version: str

    def __init__(self, name: str, options: Any, device: str = "cpu") -> None:
        from gslopes.words.labels import caption_labels

        super().__init__(name, options, device)  # type: ignore[call-arg]
        self._caption_labels = caption_labels()
        self.asked_version = self.version
        self.version = f"{self.version} {self._caption_labels.name}".strip()

    def _labels_of(self, texts: Sequence[str | None], version: str = "") -> Answer:
        """The labels of one picture's captions, each with the share of the captions that have it.

        texts: None where a caption was refused.

        Raises: AnswerError if a text is empty or far too long for a caption.
        """
        captions = [text for text in texts if text is not None]
        if not captions:
            return Answer("refused", (), Reason.NO_CAPTION, version)
        counts: Counter[str] = Counter()
        for text in captions:
            if not text.strip() or len(text) > LONGEST:
                raise AnswerError(f"The captioner returned {len(text):,} characters, which is not a caption.")
            counts.update(self._caption_labels.labels(text))
        labels = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return Answer("answered", tuple((label, count / len(captions)) for label, count in labels), version=version)


# -- a model of this machine ------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CaptionerOptions:
    """model: a folder that ``save_pretrained`` has written, or a name on the hub.  max_tokens: of a caption.

    prompt: what a model for conversations is asked; other models are asked nothing.
    """

    model: str = field(metadata=ARGUMENT)
    max_tokens: int = 40
    prompt: str = PROMPT
    batch: int = field(default=8, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or self.batch < 1:
            raise ConfigError("captioner's max_tokens and batch must be at least 1.")


class ImageToText:
    """An image-to-text model of the transformers library, safetensors alone, decoded greedily.

    Raises: ModelError if the model cannot be had or writes no text.
    """

    cached = True

    def __init__(self, name: str, options: CaptionerOptions, device: str = "cpu") -> None:
        module, self._processor = loaded(
            options.model, "AutoModelForImageTextToText", "AutoProcessor", use_safetensors=True
        )
        self._model = module.to(device)
        self.name, self.batch, self._device, self._options = name, options.batch, device, options
        self._template = bool(getattr(self._processor, "chat_template", None))
        self.version = version_of(options.model, module.config)

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to a caption each.  Raises: PhotoError if one cannot be decoded."""
        import torch

        arrays, more = decoded(pictures), {}
        if self._template:
            content = [{"type": "image"}, {"type": "text", "text": self._options.prompt}]
            messages = [{"role": "user", "content": content}]
            asked = self._processor.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
            more = {"text": [asked] * len(arrays)}
        inputs = self._processor(images=arrays, return_tensors="pt", **more).to(self._device)
        with torch.inference_mode():
            made = self._model.generate(**inputs, max_new_tokens=self._options.max_tokens, num_beams=1, do_sample=False)
        fresh = made[:, inputs["input_ids"].shape[1] :] if self._template else made
        return [text.strip() for text in self._processor.batch_decode(fresh, skip_special_tokens=True)]


class Captioner(Captioning, ImageToText):
    """A ``records.Classifier`` over an image-to-text model."""

    Options = CaptionerOptions

    def parse(self, raw: object) -> Answer:
        """The labels of the caption.  Raises: AnswerError if it is empty."""
        return self._labels_of([str(raw)])


# -- a function -------------------------------------------------------------------------------------------------------


class PythonCaptioner(Captioning, PythonClassifier):
    """A ``records.Classifier`` over a function: a list of arrays to a text or None each.

    Raises: UsageError if it cannot be imported or is not callable.
    """

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to what the function says.

        Raises: PhotoError if a picture cannot be decoded; AnswerError if an answer is no text; the function's own.
        """
        answers = list(self._function(decoded(pictures)))
        wrong = [answer for answer in answers if not (answer is None or isinstance(answer, str))]
        if wrong:
            raise AnswerError(f"The function returned {type(wrong[0]).__name__} for a picture, not a text or None.")
        return answers

    def parse(self, raw: object) -> Answer:
        """The labels of the caption; None is a refusal.  Raises: AnswerError if it is empty."""
        return self._labels_of([cast("str | None", raw)])


# -- behind an address -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChatCaptionerOptions(LlmOptions):
    """As ``llm``, with one caption at temperature 0."""

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


class HttpCaptioner(Captioning, HttpClassifier):
    """A ``records.Classifier`` over a team's own captioner."""

    Options = HttpOptions

    def _answered_by(self, entry: dict[str, Any], version: str) -> Answer:
        caption = entry.get("caption")
        if not isinstance(caption, str):
            raise AnswerError("The captioner's reply has no caption.", 'Each of its answers is {"caption": "..."}.')
        return self._labels_of([caption], version)
