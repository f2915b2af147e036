"""``transformers:NAME``: models of the transformers library that look at pictures, by hub name or local folder.

    transformers:google/vit-base-patch16-224                                   labels of its own
    transformers:openai/clip-vit-base-patch32,task=zero-shot,labels=traits     a list of labels, CLIP or SigLIP
    transformers:my-blip-folder,task=caption                                   captions, see ``captions``

A folder, as ``save_pretrained`` writes it, is read without any network, and without running code in it.

Zero-shot: the score of a label is its share in the softmax, over all labels of the list, of the model's scaled cosine
similarities (Radford et al. 2021, section 3.1.2); a label's text embedding is the mean over the templates (section
3.1.4). Scores therefore depend on the list: they compare its labels with one another. A SigLIP model has a sigmoid and
a bias instead (Zhai et al. 2023, arXiv 2303.15343, equation 1): each of its labels has an independent score.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, cast

from gslopes.ask.classifiers.captions import CaptionReader
from gslopes.ask.classifiers.model_file import (
    check_presence,
    digest_of,
    digest_of_texts,
    label_list,
)
from gslopes.ask.classifiers.torch_model import Made, TorchModel, from_hub
from gslopes.ask.names import takes
from gslopes.ask.pictures import decoded
from gslopes.core.errors import ConfigError, ModelError
from gslopes.core.files import hexdigest, read_json
from gslopes.core.records import Answer, Classifier
from gslopes.core.traits import Traits

Task = Literal["auto", "classify", "zero-shot", "caption"]
_ZERO_SHOT = (
    "CLIPModel",
    "ChineseCLIPModel",
    "AltCLIPModel",
    "SiglipModel",
    "Siglip2Model",
    "AlignModel",
)
_KINDS = (
    ".json",
    ".safetensors",
    ".bin",
    ".jinja",
    ".txt",
    ".model",
)  # of a folder's files, in its version
TEMPLATES = {
    "occupations": "a photo of a {}|a photo of a person who works as a {}",
    "traits": "a photo of a {} person",
}
PROMPT = "Describe this picture in one sentence."


@dataclass(frozen=True, kw_only=True)
class TransformersOptions:
    """A model by its name on the hub, or a folder that ``save_pretrained`` has written.

    model: the name or folder.  revision: of the hub's model; empty: the newest.
    task: ``auto``: by a folder's config.json ``zero-shot`` or ``classify``; else ``classify``.
    labels: of ``zero-shot``: ``occupations``, ``traits``, or a text file, one label a line.
    template: prompts with ``{}`` for the label, ``|`` between several; empty: the list's, or "a photo of a {}".
    top_k, threshold: see ``model_file.presence``.
    activation: ``auto``: sigmoid if the model declares its labels independent (SigLIP's are), else softmax.
    prompt: of ``caption``: what a model for conversations is asked; other models are asked nothing.
    max_tokens: of a caption.
    """

    model: str
    revision: str = ""
    task: Task = "auto"
    labels: str = "occupations"
    template: str = ""
    top_k: int | None = None
    threshold: float | None = None
    activation: Literal["auto", "softmax", "sigmoid"] = "auto"
    prompt: str = PROMPT
    max_tokens: int = 40

    def __post_init__(self) -> None:
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
        if {*map(str, content.get("architectures") or ())} & {*_ZERO_SHOT}:
            return "zero-shot"
    return "classify"


@takes(TransformersOptions)
def transformers_classifier(
    name: str, options: TransformersOptions, device: str = "cpu"
) -> Classifier:
    """The classifier of the task.

    Raises: ModelError if the model cannot be loaded, or is not one for the task.
    """
    task = options.task if options.task != "auto" else task_of(options.model)
    kinds = {"classify": ImageClassifier, "zero-shot": ZeroShot, "caption": Captioner}
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
        templates = (options.template or TEMPLATES.get(options.labels, "a photo of a {}")).split(
            "|"
        )
        rows = []  # the mean over the templates of the normalised text embeddings, normalised again
        with torch.inference_mode():
            for label in labels:
                texts = [template.format(label) for template in templates]
                tokens = processor.tokenizer(
                    texts, return_tensors="pt", padding=padding, max_length=longest, truncation=True
                )
                tokens.pop("token_type_ids", None)
                embedded = _embedding(module.get_text_features(**tokens))
                mean = (embedded / embedded.norm(dim=-1, keepdim=True)).mean(0)
                rows.append(mean / mean.norm())
            text = torch.stack(rows)  # (L, D)
        self._weights = (module.logit_scale.exp().detach() * text).to(self._device)
        self._bias = 0.0 if bias is None else float(bias.detach())
        version = f"{_version(options.model, module.config)} labels {digest_of_texts([*labels, '', *templates])}"
        self._independent = bias is not None
        return version, module, _transform(processor.image_processor), labels

    def _forward(self, batch: Any) -> Any:
        image = _embedding(self._module.get_image_features(pixel_values=batch))
        return image / image.norm(dim=-1, keepdim=True) @ self._weights.T + self._bias


class Captioner:
    """A ``records.Classifier`` over ``AutoModelForImageTextToText``, only safetensors, decoded greedily.

    Raises: ModelError if the model cannot be had or writes no text.
    """

    traits = Traits(cached=True)
    batch = 8

    def __init__(self, name: str, options: TransformersOptions, device: str) -> None:
        kinds = "AutoModelForImageTextToText", "AutoProcessor"
        module, self._processor = _loaded(options, *kinds, use_safetensors=True)
        self._model = module.to(device)
        self.name = name
        self._device = device
        self._options = options
        self._template = bool(getattr(self._processor, "chat_template", None))
        self.version = _version(options.model, module.config)
        self._captions = CaptionReader(self)

    def ask(self, pictures: list[bytes]) -> list[object]:
        """Encoded pictures to a caption each.  Raises: PhotoError if one cannot be decoded."""
        import torch

        arrays = decoded(pictures)
        more = {}
        if self._template:
            content = [{"type": "image"}, {"type": "text", "text": self._options.prompt}]
            text = self._processor.apply_chat_template(
                [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
            )
            more = {"text": [text] * len(arrays)}
        inputs = self._processor(images=arrays, return_tensors="pt", **more).to(self._device)
        with torch.inference_mode():
            tokens = self._model.generate(
                **inputs, max_new_tokens=self._options.max_tokens, num_beams=1, do_sample=False
            )
        fresh = tokens[:, inputs["input_ids"].shape[1] :] if self._template else tokens
        return list(map(str.strip, self._processor.batch_decode(fresh, skip_special_tokens=True)))

    def parse(self, raw: object) -> Answer:
        """The labels of the caption.  Raises: AnswerError if it is empty."""
        return self._captions.answer([raw])


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
    files = sorted(path for path in paths if path.suffix in _KINDS)
    names = hexdigest("\0".join(str(path.relative_to(folder)) for path in files))
    return hexdigest(f"{names}{digest_of(files)}")


def _transform(processor: Any) -> Any:
    return lambda image: processor(images=image, return_tensors="pt")["pixel_values"][0]


def _embedding(output: Any) -> Any:
    """The embedding itself: newer versions of the library wrap it."""
    return getattr(output, "pooler_output", output)
