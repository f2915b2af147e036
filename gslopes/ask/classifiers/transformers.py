"""``transformers:NAME``: models of the transformers library that look at pictures, by hub name or local folder.

    transformers:google/vit-base-patch16-224                                   labels of its own
    transformers:openai/clip-vit-base-patch32,task=zero-shot,labels=traits     a list of labels, CLIP or SigLIP
    transformers:my-blip-folder,task=caption                                   captions, see ``captions``
    transformers:HuggingFaceTB/SmolVLM-Instruct,prompt=salary                  a task, as ``llm:`` asks it

A folder, as ``save_pretrained`` writes it, is read without any network, and without running code in it.

Zero-shot: the score of a label is its share in the softmax, over all labels of the list, of the model's scaled cosine
similarities (Radford et al. 2021, section 3.1.2); a label's text embedding is the mean over the templates (section
3.1.4). Scores therefore depend on the list: they compare its labels with one another. A SigLIP model has a sigmoid and
a bias instead (Zhai et al. 2023, arXiv 2303.15343, equation 1): each of its labels has an independent score.

A model for conversations about pictures answers the prompts of ``llm:``, in the same words and with the same labels.
Up to 20 options are scored, not written: after the question comes the beginning of the answer, ``{"answer": "``, and an
option's score is the probability that the model goes on with its letter, among the letters. So it cannot refuse. The
rest is written greedily, once, since every repeat would be the same: more options, a number, a text, labels, a caption.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal, cast

from gslopes.ask.classifiers.captions import CaptionReader
from gslopes.ask.classifiers.llm import Prompted
from gslopes.ask.classifiers.model_file import (
    check_presence,
    digest_of,
    digest_of_texts,
    label_list,
)
from gslopes.ask.classifiers.prompt import Order, load_prompt
from gslopes.ask.classifiers.torch_model import Made, TorchModel, from_hub
from gslopes.ask.names import Bounded, takes
from gslopes.ask.pictures import decoded
from gslopes.core import (
    ConfigError,
    JsonObject,
    ModelError,
    Traits,
    hexdigest,
    read_beside,
    read_json,
)
from gslopes.core.records import Answer, Classifier, Files, Raws

Task = Literal["auto", "classify", "zero-shot", "caption", "answer"]
_FACTS = read_beside(__file__, "transformers.toml")


@dataclass(frozen=True, kw_only=True)
class TransformersOptions(Bounded):
    """A model by its name on the hub, or a folder that ``save_pretrained`` has written.

    model: the name or folder.  revision: of the hub's model; empty: the newest.
    task: ``auto``: ``answer`` if there is a prompt, else by a folder's config.json, else ``classify``.
    labels: of ``zero-shot``: ``occupations``, ``traits``, or a text file, one label a line.
    template: prompts with ``{}`` for the label, ``|`` between several; empty: the list's, or "a photo of a {}".
    top_k, threshold: see ``model_file.presence``.
    activation: ``auto``: sigmoid if the model declares its labels independent (SigLIP's are), else softmax.
    prompt: of ``answer`` one that ships, or a TOML file, see ``load_prompt``. Of ``caption`` what a model for
        conversations is asked; empty: for one sentence. Other models are asked nothing.
    max_tokens: of what is written; not given: 40 of a caption, 200 of an answer.
    seed: of ``answer``: draws the order of the options.
    """

    model: str
    revision: str = ""
    task: Task = "auto"
    labels: str = "occupations"
    template: str = ""
    top_k: int | None = None
    threshold: float | None = None
    activation: Literal["auto", "softmax", "sigmoid"] = "auto"
    prompt: str = ""
    max_tokens: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_presence(self)
        if self.template and not all("{}" in template for template in self.template.split("|")):
            raise ConfigError(
                "Every template needs {} where the label goes.", "Such as: a photo of a {}."
            )


def task_of(model: str) -> Task:
    """The task of a folder's model by its config.json; ``classify`` for anything else.

    >>> task_of("google/vit-base-patch16-224")
    'classify'
    """
    with suppress(OSError, ValueError, AttributeError):
        content = read_json(Path(model).expanduser() / "config.json")
        if {*map(str, content.get("architectures") or ())} & {*_FACTS["zero_shot"]}:
            return "zero-shot"
        if "text_config" in content:
            return "answer"
    return "classify"


@takes(TransformersOptions)
def transformers_classifier(
    name: str, options: TransformersOptions, device: str = "cpu"
) -> Classifier:
    """The classifier of the task.

    Raises: ModelError if the model cannot be loaded, or is not one for the task.
    """
    task = options.task
    if task == "auto":
        task = "answer" if options.prompt else task_of(options.model)
    kinds = {
        "classify": ImageClassifier,
        "zero-shot": ZeroShot,
        "caption": Captioner,
        "answer": Answerer,
    }
    return cast("Classifier", kinds[task](name, options, device))


class ImageClassifier(TorchModel):
    """A ``records.Classifier`` over ``AutoModelForImageClassification``."""

    def _made(self, options: TransformersOptions) -> Made:
        module, processor = _loaded(
            options, "AutoModelForImageClassification", "AutoImageProcessor"
        )
        config = module.config
        labels = [str(config.id2label[number]) for number in range(config.num_labels)]
        self._independent = config.problem_type == "multi_label_classification"
        return _version(options.model, config), module, _transform(processor), labels

    def _forward(self, batch: Any) -> Any:
        return self._module(pixel_values=batch).logits


class ZeroShot(TorchModel):
    """A ``records.Classifier`` over the image tower of ``AutoModelForZeroShotImageClassification``.

    Raises: ModelError if the model cannot be had, or has no two towers.
    """

    def _made(self, options: TransformersOptions) -> Made:
        import torch

        module, processor = _loaded(
            options, "AutoModelForZeroShotImageClassification", "AutoProcessor"
        )
        if getattr(module, "logit_scale", None) is None or not hasattr(module, "get_text_features"):
            raise ModelError(
                f"The model {options.model} has no encoders of pictures and texts.",
                "Name a CLIP or SigLIP model.",
            )
        bias = getattr(module, "logit_bias", None)  # of a model that was trained with a sigmoid
        longest = int(getattr(module.config.text_config, "max_position_embeddings", 64))
        padding = True if bias is None else "max_length"  # texts are padded as SigLIP was trained
        labels = label_list(options.labels)
        templates = (
            options.template or _FACTS["templates"].get(options.labels, "a photo of a {}")
        ).split("|")
        rows = []  # the mean over the templates of the normalised text embeddings, normalised again
        with torch.inference_mode():
            for label in labels:
                texts = [template.format(label) for template in templates]
                tokens = processor.tokenizer(
                    texts, return_tensors="pt", padding=padding, max_length=longest, truncation=True
                )
                tokens.pop("token_type_ids", None)
                embedded = _embedding(module.get_text_features(**tokens))
                rows.append(_unit(_unit(embedded).mean(0)))
            text = torch.stack(rows)  # (L, D)
        self._weights = (module.logit_scale.exp().detach() * text).to(self._device)
        self._bias = 0.0 if bias is None else float(bias.detach())
        version = f"{_version(options.model, module.config)} labels {digest_of_texts([*labels, '', *templates])}"
        self._independent = bias is not None
        return version, module, _transform(processor.image_processor), labels

    def _forward(self, batch: Any) -> Any:
        image = _embedding(self._module.get_image_features(pixel_values=batch))
        return _unit(image) @ self._weights.T + self._bias


class Writer:
    """A model of ``AutoModelForImageTextToText``, only safetensors, decoded greedily.

    MOST: tokens that it writes, if its options do not say.

    Raises: ModelError if the model cannot be had or writes no text.
    """

    MOST = 40
    traits = Traits(cached=True)
    batch = 8

    def __init__(self, name: str, options: TransformersOptions, device: str) -> None:
        kinds = "AutoModelForImageTextToText", "AutoProcessor"
        module, self._processor = _loaded(options, *kinds, use_safetensors=True)
        self._model = module.to(device)
        self.name = name
        self._options = options
        self._template = bool(getattr(self._processor, "chat_template", None))
        self.version = _version(options.model, module.config)

    def _inputs(self, pictures: Any, texts: Iterable[str], begun: str = "") -> Any:
        """What the model takes about each picture.

        texts: of the user; a model without conversations gets none.  begun: how each answer begins.
        """
        more = {}
        if self._template:
            contents = ([{"type": "image"}, {"type": "text", "text": text}] for text in texts)
            turns = self._processor.apply_chat_template(
                [[{"role": "user", "content": content}] for content in contents],
                add_generation_prompt=True,
            )
            pictures = [[pixels] for pixels in pictures]  # of each text
            first = self._processor.tokenizer.bos_token or "\0"  # once is enough
            more = {
                "text": [turn + begun for turn in turns],
                "add_special_tokens": not turns[0].startswith(first),
                **_FACTS["padded"],
            }
        inputs = self._processor(images=pictures, return_tensors="pt", **more)
        return inputs.to(self._model.device, self._model.dtype)

    def _written(self, pictures: Any, texts: Iterable[str]) -> list[JsonObject]:
        """What is written about each picture, as a reply of ``chat.reading``."""
        import torch

        inputs = self._inputs(pictures, texts)
        most = self._options.max_tokens or self.MOST
        with torch.inference_mode():
            tokens = self._model.generate(
                **inputs, max_new_tokens=most, num_beams=1, do_sample=False
            )
        fresh = tokens[:, inputs["input_ids"].shape[1] :] if self._template else tokens
        parts = fresh, fresh[:, -1:]  # what has ended, ends with a special token
        read = (self._processor.batch_decode(part, skip_special_tokens=True) for part in parts)
        return [
            {"text": text.strip(), "finish": "length" if last else "stop"}
            for text, last in zip(*read, strict=True)
        ]


class Captioner(Writer):
    """A ``records.Classifier`` that describes pictures."""

    def __init__(self, name: str, options: TransformersOptions, device: str) -> None:
        super().__init__(name, options, device)
        self._captions = CaptionReader(self)

    def ask(self, pictures: Files) -> Raws:
        """Encoded pictures to a caption each.  Raises: PhotoError if one cannot be decoded."""
        texts = [self._options.prompt or _FACTS["prompt"]] * len(pictures)
        return [reply["text"] for reply in self._written(decoded(pictures), texts)]

    def parse(self, raw: object) -> Answer:
        """The labels of the caption.  Raises: AnswerError if it is empty."""
        return self._captions.answer([raw])


class Answerer(Prompted, Writer):
    """A ``records.Classifier`` over a model for conversations, which is asked a prompt of ``llm:``.

    Raises: as ``load_prompt``; ModelError if the model is not one.
    """

    MOST = 200

    def __init__(self, name: str, options: TransformersOptions, device: str) -> None:
        prompt = load_prompt(options.prompt, "one")  # two people in one picture
        super().__init__(name, options, device)
        if not self._template:
            raise ModelError(
                f"The model {options.model} has no chat template: it answers no questions.",
                "Name a model for conversations about pictures, or write task=caption.",
            )
        self._take(prompt)

    def ask(self, pictures: Files) -> Raws:
        """Encoded pictures to the replies about each, one for every order of the options that is asked.

        Raises: PhotoError if one cannot be decoded.
        """
        arrays = decoded(pictures)
        own = [self._order(hexdigest(picture)) for picture in pictures]
        rounds = zip(*map(self.prompt.asked_in, own), strict=True)
        replies = zip(*(self._asked(arrays, orders) for orders in rounds), strict=True)
        scored = "logprobs" if self.prompt.lettered else "repeats"
        return [
            {"model": "", "order": list(order), "scored": scored, "replies": list(of_picture)}
            for order, of_picture in zip(own, replies, strict=True)
        ]

    def _asked(self, pictures: Any, orders: Sequence[Order]) -> list[JsonObject]:
        """The reply about each picture, with its options in this order."""
        prompt = self.prompt
        texts = [f"{prompt.system}\n{prompt.text(order)}".strip() for order in orders]
        answered = self._scored if prompt.lettered else self._written
        replies = answered(pictures, texts)
        return [
            {**reply, "order": list(order)} for reply, order in zip(replies, orders, strict=True)
        ]

    def _scored(self, pictures: Any, texts: Sequence[str]) -> list[JsonObject]:
        """The likeliest letter about each picture, with the log-probabilities of all as the first token."""
        import torch

        letters = ascii_uppercase[: len(self.prompt.options)]
        ids = self._processor.tokenizer.convert_tokens_to_ids([*letters])
        inputs = self._inputs(pictures, texts, _FACTS["begun"])
        with torch.inference_mode():
            logits = self._model(**inputs, logits_to_keep=1).logits[:, -1].double()
        chances = logits.log_softmax(-1)[:, ids].cpu().numpy().round(6)
        return [
            {"letters": dict(zip(letters, row, strict=True)), "text": letters[row.argmax()]}
            for row in chances
        ]


def _loaded(
    options: TransformersOptions, kind: str, processor: str, **more: Any
) -> tuple[Any, Any]:
    """A model and its processor by the names of their Auto classes; of a folder without any network.

    more: for ``from_pretrained`` of the model.
    Raises: ModelError.
    """
    auto: Any = import_module("transformers")
    name = options.model
    folder = Path(name).expanduser()
    is_folder = folder.is_dir()
    if is_folder:
        name = str(folder)
    where: Any = {"revision": options.revision or "main", "local_files_only": is_folder}
    where["trust_remote_code"] = False  # else a terminal is asked
    hint = "Name a model of the hub for this task, or a folder that save_pretrained has written."
    with from_hub(f"The model {options.model}", hint, asks=not is_folder and name[:1] not in "./~"):
        module = getattr(auto, kind).from_pretrained(name, **where, **more)
        return module.eval(), getattr(auto, processor).from_pretrained(name, **where)


def _version(model: str, config: Any) -> str:
    """sha256 of a local folder's files, or the hub's commit."""
    folder = Path(model).expanduser()
    if not folder.is_dir():
        return str(getattr(config, "_commit_hash", "") or model)
    return digest_of_folder(folder, folder.iterdir())


def digest_of_folder(folder: Path, paths: Iterable[Path]) -> str:
    """sha256 of those of a folder's files that make a model, with their names."""
    files = sorted(path for path in paths if path.suffix in _FACTS["kinds"])
    names = hexdigest("\0".join(str(path.relative_to(folder)) for path in files))
    return hexdigest(f"{names}{digest_of(files)}")


def _transform(processor: Any) -> Any:
    return lambda image: processor(images=image, return_tensors="pt")["pixel_values"][0]


def _unit(vectors: Any) -> Any:
    return vectors / vectors.norm(dim=-1, keepdim=True)


def _embedding(output: Any) -> Any:
    """The embedding itself: newer versions of the library wrap it."""
    return getattr(output, "pooler_output", output)
