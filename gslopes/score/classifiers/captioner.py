"""Captioners as classifiers: the raw answer is the text, and its labels are words, synsets and mentions.

    captioner-chat:gpt-4o-2024-11-20,prompt=caption           the chat endpoint, as ``llm:``
    captioner:MODEL_FOLDER                                    an image-to-text model of the transformers library
    captioner-python:module:function                          a function of yours, arrays to texts or None

Prompt, decoding, sense rule and hypernyms stand in the name; WordNet and parser in the version.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, cast

from gslopes.core.errors import AnswerError, ConfigError, ModelError
from gslopes.core.reasons import Reason
from gslopes.core.records import Answer
from gslopes.datasets.decode import decode
from gslopes.language.labels import Labeller, labeller
from gslopes.score.classifiers.llm import Llm, LlmOptions
from gslopes.score.classifiers.llm_reply import REFUSED, UNUSABLE, reading
from gslopes.score.classifiers.model_file import digest_of
from gslopes.score.classifiers.python import PythonClassifier, PythonOptions
from gslopes.score.names import ARGUMENT, OPERATIONAL

LONGEST = 20_000  # characters; more is no caption


def answer_of(texts: Sequence[str | None], words: Labeller, version: str = "") -> Answer:
    """The labels of one picture's captions, each with the share of the captions that have it.

    texts: None where a caption was refused.

    Raises: AnswerError if a text is empty or far too long for a caption.
    """
    said = [text for text in texts if text is not None]
    if not said:
        return Answer("refused", (), Reason.NO_CAPTION, version)
    counts: Counter[str] = Counter()
    for text in said:
        if not text.strip() or len(text) > LONGEST:
            raise AnswerError(f"The captioner returned {len(text):,} characters, which is no caption.")
        counts.update(words.labels(text))
    labels = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return Answer("answered", tuple((label, count / len(said)) for label, count in labels), version=version)


def _check(up: int) -> None:
    if not 0 <= up <= 5:
        raise ConfigError(f"up is {up}; it is the number of hypernyms, 0 to 5.")


# -- the chat endpoint ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChatCaptionerOptions(LlmOptions):
    """As ``llm``, with one caption at temperature 0.  senses: sense rule.  up: hypernyms that are labels, too."""

    prompt: str = "caption"
    scores: Literal["auto", "logprobs", "repeats"] = "repeats"
    repeats: int = 1
    temperature: float = 0.0
    senses: Literal["overrides", "paper"] = "overrides"
    up: int = 0

    def __post_init__(self) -> None:
        LlmOptions.__post_init__(self)
        _check(self.up)


class ChatCaptioner(Llm):
    """A ``records.Classifier`` over a language model that is asked for a caption; refusals are refused pictures.

    Raises: ConfigError as ``Llm``, and if the prompt asks for anything but a caption.
    """

    Options = ChatCaptionerOptions

    def __init__(self, name: str, options: ChatCaptionerOptions, device: str = "cpu") -> None:
        super().__init__(name, options, device)
        if self.prompt.kind != "caption":
            raise ConfigError(
                f"The prompt {self.prompt.name!r} asks for no caption.", 'Give one with kind = "caption".'
            )
        self._words = labeller(options.senses, options.up)
        self.version = f"{self.version} {self._words.name}"

    def parse(self, raw: object) -> Answer:
        """The labels of the captions; a refusal of all of them is a refusal of the picture.

        Raises: AnswerError if a reply is no caption.
        """
        answer = cast("dict[str, Any]", raw)
        texts = [self._caption(reply, answer["order"]) for reply in answer["replies"]]
        return answer_of(texts, self._words, str(answer["model"]))

    def _caption(self, reply: Any, order: Sequence[int]) -> str | None:
        found = reading(self.prompt, order, reply)
        if found == (REFUSED,):
            return None
        if found == (UNUSABLE,):
            raise AnswerError("The model's reply holds no caption.")
        text = str(reply.get("text") or "")
        start, end = text.find("{"), text.rfind("}")
        return str(json.loads(text[start : end + 1])["caption"])


# -- a model of this machine ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CaptionerOptions:
    """model: a folder that ``save_pretrained`` has written, or a name on the hub.  max_tokens: of a caption.

    senses, up: as for the chat captioner.  Decoding is greedy: one picture has one caption.
    """

    model: str = field(metadata=ARGUMENT)
    max_tokens: int = 40
    senses: Literal["overrides", "paper"] = "overrides"
    up: int = 0
    batch: int = field(default=8, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        _check(self.up)
        if self.max_tokens < 1 or self.batch < 1:
            raise ConfigError("captioner's max_tokens and batch are at least 1.")


class Captioner:
    """A ``records.Classifier`` over an image-to-text model of the transformers library, safetensors alone.

    Raises: ModelError if the model cannot be had or writes no text.
    """

    Options = CaptionerOptions
    cached = True

    def __init__(self, name: str, options: CaptionerOptions, device: str = "cpu") -> None:
        library: Any = import_module("transformers")
        try:
            load = library.AutoModelForImageTextToText.from_pretrained
            self._model = load(options.model, use_safetensors=True).to(device).eval()
            self._processor = library.AutoProcessor.from_pretrained(options.model)
        except Exception as error:  # the hub's client and the readers have many
            first = " ".join(str(error).split())[:200]
            hint = "Name an image-to-text model of the hub, or a folder that save_pretrained has written."
            raise ModelError(f"The captioner {options.model} cannot be loaded: {first}.", hint) from None
        self.name, self.batch, self._device, self._options = name, options.batch, device, options
        self._words = labeller(options.senses, options.up)
        folder = Path(options.model).expanduser()
        files = sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []
        self.version = f"{digest_of(files) if files else options.model} {self._words.name}"

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to captions.  Raises: PhotoError if one cannot be decoded."""
        import torch

        arrays = [decode(data, "picture")[0] for data in pictures]
        inputs = self._processor(images=arrays, return_tensors="pt").to(self._device)
        with torch.inference_mode():
            made = self._model.generate(**inputs, max_new_tokens=self._options.max_tokens, do_sample=False, num_beams=1)
        return [text.strip() for text in self._processor.batch_decode(made, skip_special_tokens=True)]

    def parse(self, raw: object) -> Answer:
        """The labels of the caption.  Raises: AnswerError if it is empty."""
        return answer_of([str(raw)], self._words)


# -- a function -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PythonCaptionerOptions(PythonOptions):
    """As ``python``, with the sense rule and the hypernyms."""

    senses: Literal["overrides", "paper"] = "overrides"
    up: int = 0

    def __post_init__(self) -> None:
        PythonOptions.__post_init__(self)
        _check(self.up)


class PythonCaptioner(PythonClassifier):
    """A ``records.Classifier`` over a function: a list of arrays to a text or None each.

    Raises: UsageError if it cannot be imported or is not callable.
    """

    Options = PythonCaptionerOptions

    def __init__(self, name: str, options: PythonCaptionerOptions, device: str = "cpu") -> None:
        super().__init__(name, options, device)
        self._words = labeller(options.senses, options.up)
        self.version = f"{self.version} {self._words.name}"

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to what the function says.

        Raises: PhotoError if a picture cannot be decoded; AnswerError if an answer is no text; the function's own.
        """
        answers = list(self._function([decode(data, "picture")[0] for data in pictures]))
        wrong = [answer for answer in answers if not (answer is None or isinstance(answer, str))]
        if wrong:
            raise AnswerError(f"The function returned {type(wrong[0]).__name__} for a picture, not a text or None.")
        return answers

    def parse(self, raw: object) -> Answer:
        """The labels of the caption; None is a refusal.  Raises: AnswerError if it is empty."""
        return answer_of([cast("str | None", raw)], self._words)
