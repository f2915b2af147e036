"""``transformers:NAME``: models of the transformers library that look at pictures, by hub name or local folder.

    transformers:google/vit-base-patch16-224                          labels of its own
    transformers:my-clip-folder,task=zero-shot,labels=traits          a list of labels, CLIP or SigLIP
    transformers:my-vlm-folder,task=text,prompt=doctor-nurse          image and text to text, asked as ``llm:`` is

A folder, as ``save_pretrained`` writes it, is read without any network, and without running code in it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from gslopes.ask.classifiers import service
from gslopes.ask.classifiers.chat import Prompt, Prompted, check_repeats, scores
from gslopes.ask.classifiers.model_file import digest_of, first_words
from gslopes.ask.classifiers.torch_model import TorchModel, ZeroShotModel, ZeroShotOptions
from gslopes.ask.names import ARGUMENT
from gslopes.ask.pictures import decoded
from gslopes.core.errors import ConfigError, ModelError
from gslopes.core.files import read_json
from gslopes.core.records import Answer
from gslopes.core.runtime import is_out_of_memory

Task = Literal["auto", "classify", "zero-shot", "text"]
_TEXT = ("ForConditionalGeneration", "ForImageTextToText", "ForVision2Seq")
_ZERO_SHOT = ("CLIPModel", "ChineseCLIPModel", "AltCLIPModel", "SiglipModel", "Siglip2Model", "AlignModel")
_KINDS = (".json", ".safetensors", ".bin", ".jinja", ".txt", ".model")  # of a folder's files, in its version


@dataclass(frozen=True, kw_only=True)
class TransformersOptions(ZeroShotOptions):
    """A model by its name on the hub, or a folder that ``save_pretrained`` has written.

    model: the name or folder.  revision: of the hub's model; empty: the newest.
    task: ``classify``, ``zero-shot`` or ``text``; ``auto``: what a folder's config.json says, else ``classify``.
    top_k, threshold: not of ``text``.  labels, template: of ``zero-shot``.
    activation: ``auto``: sigmoid where the model says that its labels are independent (SigLIP's are), else softmax.
    prompt, scores, repeats, temperature, seed, max_tokens: of ``text``, as for ``llm:``.
    """

    model: str = field(metadata=ARGUMENT)
    revision: str = ""
    task: Task = "auto"
    prompt: str = "occupation"
    scores: Literal["auto", "logprobs", "repeats"] = "auto"
    repeats: int = 5
    temperature: float = 1.0
    seed: int = 0
    max_tokens: int = 200

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.repeats < 1 or self.max_tokens < 1 or self.temperature < 0 or self.seed < 0:
            raise ConfigError("repeats and max_tokens must be 1 or more, temperature and seed not negative.")
        check_repeats(self.scores, self.repeats, self.temperature)


def task_of(model: str) -> Task:
    """What a folder's config.json says that its model does; ``classify`` for anything else.

    >>> task_of("google/vit-base-patch16-224")
    'classify'
    """
    try:
        content = read_json(Path(model).expanduser() / "config.json")
        names = [str(name) for name in content.get("architectures") or ()]
    except (OSError, ValueError, AttributeError):
        return "classify"
    if any(name.endswith(_TEXT) for name in names):
        return "text"
    return "zero-shot" if any(name in _ZERO_SHOT for name in names) else "classify"


def loaded(model: str, kind: str, processor: str, *, revision: str = "", **more: Any) -> tuple[Any, Any]:
    """A model and its processor by the names of their Auto classes; of a folder without any network.

    more: for ``from_pretrained`` of the model.
    Raises: ModelError.
    """
    import transformers as library

    known: Any = library
    name, where = model, cast("dict[str, Any]", {"revision": revision} if revision else {})
    if Path(model).expanduser().is_dir():
        name, where = str(Path(model).expanduser()), {"local_files_only": True}
    try:
        made = getattr(known, kind).from_pretrained(name, **where, **more)
        return made.eval(), getattr(known, processor).from_pretrained(name, **where)
    except Exception as error:  # the hub's client and the readers have many
        if is_out_of_memory(error):
            raise
        hint = "Name a model of the hub for this task, or a folder that save_pretrained has written."
        raise ModelError(f"The model {model} cannot be loaded: {first_words(error)}.", hint) from None


def version_of(model: str, config: Any) -> str:
    """sha256 of a local folder's files, or the hub's commit."""
    folder = Path(model).expanduser()
    if not folder.is_dir():
        return str(getattr(config, "_commit_hash", "") or model)
    files = sorted(path for path in folder.iterdir() if path.suffix in _KINDS)
    names = hashlib.sha256("\0".join(path.name for path in files).encode()).hexdigest()
    return hashlib.sha256(f"{names}{digest_of(files)}".encode()).hexdigest()


# -- prompts -----------------------------------------------------------------------------------------------------------


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
        return Answer("answered", service.best(found.items()))

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


class TransformersClassifier:
    """Makes the ``records.Classifier`` of the task.

    Raises: ModelError if the model cannot be had, or is none of the task; ConfigError for a prompt that is none.
    """

    Options = TransformersOptions

    def __new__(cls, name: str, options: TransformersOptions, device: str = "cpu") -> Any:
        """The classifier of the task."""
        task = options.task if options.task != "auto" else task_of(options.model)
        return {"zero-shot": ZeroShot, "text": ImageText}.get(task, ImageClassifier)(name, options, device)


class ImageClassifier(TorchModel):
    """A ``records.Classifier`` over ``AutoModelForImageClassification``."""

    def __init__(self, name: str, options: TransformersOptions, device: str = "cpu") -> None:
        kinds = "AutoModelForImageClassification", "AutoImageProcessor"
        module, processor = loaded(options.model, *kinds, revision=options.revision)
        config = module.config
        labels = [str(config.id2label[number]) for number in range(config.num_labels)]
        independent = config.problem_type == "multi_label_classification"
        activation = options.activation if options.activation != "auto" else "sigmoid" if independent else "softmax"
        version = version_of(options.model, config)
        super().__init__(name, version, module, _transform(processor), labels, options, activation, device)

    def _forward(self, batch: Any) -> Any:
        return self._module(pixel_values=batch).logits


class ZeroShot(ZeroShotModel):
    """A ``records.Classifier`` over the image tower of ``AutoModelForZeroShotImageClassification``.

    Raises: ModelError if the model cannot be had, or has no two towers.
    """

    def __init__(self, name: str, options: TransformersOptions, device: str = "cpu") -> None:
        kinds = "AutoModelForZeroShotImageClassification", "AutoProcessor"
        module, processor = loaded(options.model, *kinds, revision=options.revision)
        if getattr(module, "logit_scale", None) is None or not hasattr(module, "get_text_features"):
            raise ModelError(
                f"The model {options.model} has no encoders of pictures and texts.", "Name a CLIP or SigLIP model."
            )
        longest = int(getattr(module.config.text_config, "max_position_embeddings", 64))
        fixed = getattr(module, "logit_bias", None) is not None  # texts are padded as SigLIP was trained
        pad = {"padding": "max_length" if fixed else True, "max_length": longest, "truncation": True}

        def embed_texts(texts: list[str]) -> Any:
            tokens = processor.tokenizer(texts, return_tensors="pt", **pad)
            known = {key: tokens[key] for key in ("input_ids", "attention_mask") if key in tokens}
            return _embedding(module.get_text_features(**known))

        version, transform = version_of(options.model, module.config), _transform(processor.image_processor)
        super().__init__(name, options, version, module, transform, embed_texts, device)

    def _embedded(self, batch: Any) -> Any:
        return _embedding(self._module.get_image_features(pixel_values=batch))


def _transform(processor: Any) -> Any:
    return lambda image: processor(images=image, return_tensors="pt")["pixel_values"][0]


def _embedding(found: Any) -> Any:
    """The embedding itself: newer versions of the library wrap it."""
    return getattr(found, "pooler_output", found)
