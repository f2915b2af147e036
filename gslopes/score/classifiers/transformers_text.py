"""``transformers:MODEL,task=text``: models of pictures and text to text, on this machine, asked as ``llm:`` is.

The same prompt files, the same shuffled order of options, the same strict reading. An option's score is its letter's
probability where the answer stands, over the whole vocabulary; of long lists, labels and captions it is the share of
``repeats`` answers, drawn with a seed of the picture's own.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from gslopes.core.errors import ModelError
from gslopes.core.records import Answer
from gslopes.score.classifiers import wire
from gslopes.score.classifiers.llm_prompt import Prompt, Prompted
from gslopes.score.classifiers.llm_reply import scores
from gslopes.score.classifiers.transformers_loading import TransformersOptions, loaded, version_of
from gslopes.score.pictures import decoded

_BEGUN = '{"answer": "'  # what the model is made to begin its answer with, so that its letter comes next


class ImageText(Prompted):
    """A ``records.Classifier`` over ``AutoModelForImageTextToText``, one picture at a time.

    Raises: ModelError if the model cannot be had or has no chat template; ConfigError as for ``llm:``.
    """

    batch = 1
    cached = True

    def __init__(self, name: str, options: TransformersOptions, device: str = "cpu") -> None:
        super().__init__(options)
        self.name, self._options, self._device = name, options, device
        kinds = "AutoModelForImageTextToText", "AutoProcessor"
        module, self._processor = loaded(options.model, *kinds, revision=options.revision)
        self._module = module.to(device)
        if not getattr(self._processor, "chat_template", None):
            raise ModelError(f"The model {options.model} has no chat template.", "Use an instruction-tuned model.")
        self._by_letter = options.scores != "repeats" and self.prompt.lettered
        self._letters = _letters(self._processor.tokenizer, self.prompt) if self._by_letter else {}
        self.version = f"{version_of(options.model, module.config)} prompt {self.prompt.digest[:16]}"

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to raw answers: the order of the options, and every reply.

        Raises: PhotoError if a picture cannot be decoded.
        """
        return [self._asked(picture) for picture in pictures]

    def parse(self, raw: object) -> Answer:
        """Options, labels or words with their scores; a refusal and an unusable answer are labels as well."""
        answer = cast("dict[str, Any]", raw)
        found = scores(self.prompt, answer)
        return Answer("answered", wire.best(found.items()))

    def _asked(self, picture: bytes) -> object:
        import torch

        key = hashlib.sha256(picture).digest()
        order = self._order(key)
        self._forget(key)
        (image,) = decoded([picture])
        record: dict[str, Any] = {"prompt": self.prompt.digest, "order": list(order)}
        with torch.inference_mode():
            if self._by_letter:
                weights = self._weights(image, order)
                best = max(weights, key=lambda letter: weights[letter])
                reply = {"text": best, "refusal": None, "finish": "stop", "letters": weights}
                return {**record, "scored": "logprobs", "replies": [reply]}
            texts = self._texts(image, order, int.from_bytes(key[:4]) ^ self._options.seed)
        return {**record, "scored": "repeats", "replies": [{"text": text, "refusal": None} for text in texts]}

    def _inputs(self, image: Any, order: Sequence[int], begun: str) -> Any:
        text = [{"type": "text", "text": self.prompt.text(order)}]
        messages = [{"role": "user", "content": [{"type": "image"}, *text]}]
        if self.prompt.system:
            messages.insert(0, {"role": "system", "content": [{"type": "text", "text": self.prompt.system}]})
        asked = self._processor.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        return self._processor(images=image, text=asked + begun, return_tensors="pt").to(self._device)

    def _weights(self, image: Any, order: Sequence[int]) -> dict[str, float]:
        """Letter to log-probability where the answer's letter stands."""
        logits = self._module(**self._inputs(image, order, _BEGUN)).logits[0, -1].double()
        chances = logits.softmax(-1)
        sums = {letter: float(chances[self._letters[letter]].sum()) for letter in self.prompt.answers(order)}
        return {letter: round(math.log(max(chance, 1e-300)), 6) for letter, chance in sums.items()}

    def _texts(self, image: Any, order: Sequence[int], seed: int) -> list[str]:
        """``repeats`` answers; one alone at temperature 0, where all are equal."""
        import torch

        options = self._options
        inputs = self._inputs(image, order, "")
        drawn = {"do_sample": True, "temperature": options.temperature} if options.temperature else {"do_sample": False}
        devices = [self._device] if self._device.startswith("cuda") else []
        texts = []
        with torch.random.fork_rng(devices=devices):
            for number in range(options.repeats if options.temperature else 1):
                torch.manual_seed(seed * 1000 + number)
                made = self._module.generate(**inputs, max_new_tokens=options.max_tokens, **drawn)
                fresh = made[0, inputs["input_ids"].shape[1] :]
                texts.append(self._processor.tokenizer.decode(fresh, skip_special_tokens=True).strip())
        return texts


def _letters(tokenizer: Any, prompt: Prompt) -> Mapping[str, list[int]]:
    """Letter to every token that is this letter alone, spaces aside.  Raises: ModelError."""
    wanted = set(prompt.answers(range(len(prompt.options))))
    found: dict[str, list[int]] = {letter: [] for letter in sorted(wanted)}
    for number in range(len(tokenizer)):
        text = str(tokenizer.decode([number])).strip()
        if text in wanted:
            found[text].append(number)
    lacking = [letter for letter, numbers in found.items() if not numbers]
    if lacking:
        raise ModelError(f"The model's vocabulary has no token {lacking[0]!r}.", "Write scores=repeats.")
    return found
