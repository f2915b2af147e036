"""``transformers:NAME``: models of the transformers library that look at pictures, by hub name or local folder.

    transformers:google/vit-base-patch16-224                          labels of its own
    transformers:my-clip-folder,task=zero-shot,labels=traits          a list of labels, CLIP or SigLIP

A folder, as ``save_pretrained`` writes it, is read without any network, and without running code in it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from gslopes.ask.classifiers.model_file import digest_of, first_words
from gslopes.ask.classifiers.torch_model import TorchModel, ZeroShotModel, ZeroShotOptions
from gslopes.ask.names import ARGUMENT
from gslopes.core.errors import ModelError
from gslopes.core.files import read_json
from gslopes.core.runtime import is_out_of_memory

Task = Literal["auto", "classify", "zero-shot"]
_ZERO_SHOT = ("CLIPModel", "ChineseCLIPModel", "AltCLIPModel", "SiglipModel", "Siglip2Model", "AlignModel")
_KINDS = (".json", ".safetensors", ".bin", ".jinja", ".txt", ".model")  # of a folder's files, in its version


@dataclass(frozen=True, kw_only=True)
class TransformersOptions(ZeroShotOptions):
    """A model by its name on the hub, or a folder that ``save_pretrained`` has written.

    model: the name or folder.  revision: of the hub's model; empty: the newest.
    task: ``classify`` or ``zero-shot``; ``auto``: what a folder's config.json says, else ``classify``.
    labels, template: of ``zero-shot``.
    activation: ``auto``: sigmoid where the model says that its labels are independent (SigLIP's are), else softmax.
    """

    model: str = field(metadata=ARGUMENT)
    revision: str = ""
    task: Task = "auto"


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


class TransformersClassifier:
    """Makes the ``records.Classifier`` of the task.

    Raises: ModelError if the model cannot be had, or is none of the task; ConfigError for a prompt that is none.
    """

    Options = TransformersOptions

    def __new__(cls, name: str, options: TransformersOptions, device: str = "cpu") -> Any:
        """The classifier of the task."""
        task = options.task if options.task != "auto" else task_of(options.model)
        return (ZeroShot if task == "zero-shot" else ImageClassifier)(name, options, device)


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
