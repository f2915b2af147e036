"""``transformers:NAME``: models of the transformers library that look at pictures, by hub name or local folder.

    transformers:google/vit-base-patch16-224                          labels of its own
    transformers:my-clip-folder,task=zero-shot,labels=traits          a list of labels, CLIP or SigLIP
    transformers:my-vlm-folder,task=text,prompt=doctor-nurse          image and text to text, asked as ``llm:`` is

A folder, as ``save_pretrained`` writes it, is read without any network, and without running code in it.
"""

from __future__ import annotations

from typing import Any

from gslopes.core.errors import ModelError
from gslopes.score.classifiers.torch_model import TorchModel
from gslopes.score.classifiers.transformers_loading import TransformersOptions, loaded, task_of, version_of
from gslopes.score.classifiers.transformers_text import ImageText
from gslopes.score.classifiers.zero_shot import ZeroShotModel


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
    """From a PIL picture to the network's input, (3, H, W)."""
    return lambda image: processor(images=image, return_tensors="pt")["pixel_values"][0]


def _embedding(found: Any) -> Any:
    """The embedding itself: newer versions of the library wrap it."""
    return getattr(found, "pooler_output", found)
