"""Captioners as classifiers: the raw answer is the text, and its labels are words, synsets and mentions.

    captioner-chat:gpt-4o-2024-11-20,prompt=caption           the chat endpoint, as ``llm:``
    captioner:MODEL_FOLDER                                    an image-to-text model of the transformers library
    captioner-python:module:function                          a function of yours, arrays to texts or None

``captioner-http`` and ``azure-caption`` are in ``captioner_services``. Prompt and decoding stand in the name, and so do
parser, sense rule and hypernyms; but raw captions are kept without these, so that parsing anew costs no call.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, cast

from gslopes.core.errors import AnswerError, ConfigError, ModelError
from gslopes.core.reasons import Reason
from gslopes.core.records import Answer
from gslopes.datasets.decode import decode
from gslopes.language.labels import Labeller, labeller
from gslopes.language.senses import Rule
from gslopes.score.classifiers.llm import Llm, LlmOptions
from gslopes.score.classifiers.llm_reply import REFUSED, UNUSABLE, reading
from gslopes.score.classifiers.model_file import digest_of
from gslopes.score.classifiers.python import PythonClassifier, PythonOptions
from gslopes.score.names import ARGUMENT, OPERATIONAL, PARSING, canonical

PROMPT = "Describe this picture in one sentence."
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
            raise AnswerError(f"The captioner returned {len(text):,} characters, which is not a caption.")
        counts.update(words.labels(text))
    labels = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return Answer("answered", tuple((label, count / len(said)) for label, count in labels), version=version)


class Reading:
    """How captions are read: ``words`` makes labels of them.

    asked_as, asked_version: the name and the version under which raw captions are kept, whatever reads them.
    """

    def __init__(self, base: str, options: Any, version: str) -> None:
        """Raises: UnknownName, UsageError, ModelError if the parser is not available."""
        self.words = labeller(options.senses, options.up, options.parser)
        self.asked_as = canonical(base, options, parsing=False)
        self.asked_version = version
        self.version = f"{version} {self.words.name}".strip()


def check_reading(up: int) -> None:
    """Raises: ConfigError unless it is a valid number of hypernyms."""
    if not 0 <= up <= 5:
        raise ConfigError(f"up is {up}; it is the number of hypernyms, 0 to 5.")


# -- the chat endpoint ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChatCaptionerOptions(LlmOptions):
    """As ``llm``, with one caption at temperature 0.

    senses: sense rule.  up: hypernyms that are labels, too.  parser: ``chunks``, ``spacy:FOLDER``, ``factual:FOLDER``.
    """

    prompt: str = "caption"
    scores: Literal["auto", "logprobs", "repeats"] = "repeats"
    repeats: int = 1
    temperature: float = 0.0
    senses: Rule = field(default="overrides", metadata=PARSING)
    up: int = field(default=0, metadata=PARSING)
    parser: str = field(default="chunks", metadata=PARSING)

    def __post_init__(self) -> None:
        LlmOptions.__post_init__(self)
        check_reading(self.up)


class ChatCaptioner(Llm):
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
        read = Reading("captioner-chat", options, self.version)
        self._words, self.version = read.words, read.version
        self.asked_as, self.asked_version = read.asked_as, read.asked_version

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

    prompt: what a model for conversations is asked; other models are asked nothing.
    samples: captions of a picture; 1 is decoded greedily, more are drawn at a temperature, from a seed made of the
    picture's bytes, and a label's score is the share of them that have it.  senses, up, parser: as for the chat
    captioner.
    """

    model: str = field(metadata=ARGUMENT)
    max_tokens: int = 40
    prompt: str = PROMPT
    samples: int = 1
    temperature: float = 1.0
    senses: Rule = field(default="overrides", metadata=PARSING)
    up: int = field(default=0, metadata=PARSING)
    parser: str = field(default="chunks", metadata=PARSING)
    batch: int = field(default=8, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        check_reading(self.up)
        if self.max_tokens < 1 or self.batch < 1 or not 1 <= self.samples <= 100 or self.temperature <= 0:
            raise ConfigError(
                "captioner's max_tokens and batch must be at least 1, samples from 1 to 100, temperature above 0."
            )


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
        self._template = bool(getattr(self._processor, "chat_template", None))
        folder = Path(options.model).expanduser()
        files = sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []
        read = Reading("captioner", options, digest_of(files) if files else options.model)
        self._words, self.version = read.words, read.version
        self.asked_as, self.asked_version = read.asked_as, read.asked_version

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to a caption each, or to a list of samples.  Raises: PhotoError if one cannot be decoded."""
        import torch

        if self._options.samples > 1:
            return [self._samples(picture) for picture in pictures]
        with torch.inference_mode():
            return list(self._written([decode(data, "picture")[0] for data in pictures], do_sample=False))

    def _samples(self, picture: bytes) -> list[str]:
        import torch

        options = self._options
        drawn = {"do_sample": True, "temperature": options.temperature, "num_return_sequences": options.samples}
        devices = [self._device] if self._device.startswith("cuda") else []
        with torch.inference_mode(), torch.random.fork_rng(devices=devices):
            torch.manual_seed(int.from_bytes(sha256(picture).digest()[:8], "big") >> 1)
            return self._written([decode(picture, "picture")[0]], top_k=0, **drawn)

    def _written(self, arrays: list[Any], **decoding: Any) -> list[str]:
        """What the model writes about pictures; a model for conversations is asked for a caption of each."""
        inputs = self._inputs(arrays).to(self._device)
        made = self._model.generate(**inputs, max_new_tokens=self._options.max_tokens, num_beams=1, **decoding)
        fresh = made[:, inputs["input_ids"].shape[1] :] if self._template else made
        return [text.strip() for text in self._processor.batch_decode(fresh, skip_special_tokens=True)]

    def _inputs(self, arrays: list[Any]) -> Any:
        if not self._template:
            return self._processor(images=arrays, return_tensors="pt")
        content = [{"type": "image"}, {"type": "text", "text": self._options.prompt}]
        messages = [{"role": "user", "content": content}]
        asked = self._processor.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        return self._processor(images=arrays, text=[asked] * len(arrays), return_tensors="pt")

    def parse(self, raw: object) -> Answer:
        """The labels of the captions.  Raises: AnswerError if one is empty."""
        return answer_of([str(text) for text in raw] if isinstance(raw, list) else [str(raw)], self._words)


# -- a function -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PythonCaptionerOptions(PythonOptions):
    """As ``python``.  senses, up, parser: as for the chat captioner."""

    senses: Rule = field(default="overrides", metadata=PARSING)
    up: int = field(default=0, metadata=PARSING)
    parser: str = field(default="chunks", metadata=PARSING)

    def __post_init__(self) -> None:
        PythonOptions.__post_init__(self)
        check_reading(self.up)


class PythonCaptioner(PythonClassifier):
    """A ``records.Classifier`` over a function: a list of arrays to a text or None each.

    Raises: UsageError if it cannot be imported or is not callable.
    """

    Options = PythonCaptionerOptions

    def __init__(self, name: str, options: PythonCaptionerOptions, device: str = "cpu") -> None:
        super().__init__(name, options, device)
        read = Reading("captioner-python", options, self.version)
        self._words, self.version = read.words, read.version
        self.asked_as, self.asked_version = read.asked_as, read.asked_version

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
