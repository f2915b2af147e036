"""``transformers:MODEL,task=zero-shot``: CLIP and SigLIP of the transformers library over a list of labels.

A label's text embedding is the mean over the templates, as for ``clip:`` (Radford et al. 2021, section 3.1.4). CLIP's
scores are a softmax over the list; SigLIP's a sigmoid with its bias (Zhai et al. 2023, equation 1), each on its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Literal

from gslopes.core.errors import ModelError
from gslopes.score.classifiers.clip import TEMPLATES, label_list
from gslopes.score.classifiers.torch_model import LibraryOptions, TorchModel
from gslopes.score.classifiers.transformers import TransformersOptions, loaded, version_of


class ZeroShot(TorchModel):
    """A ``records.Classifier`` over the image tower of ``AutoModelForZeroShotImageClassification``.

    Raises: ModelError if the model cannot be had, or has no two towers.
    """

    def __init__(self, name: str, options: TransformersOptions, device: str = "cpu") -> None:
        module, processor = loaded(options, "AutoModelForZeroShotImageClassification", "AutoProcessor")
        scale, bias = getattr(module, "logit_scale", None), getattr(module, "logit_bias", None)
        if scale is None or not hasattr(module, "get_text_features"):
            raise ModelError(
                f"The model {options.model} has no encoders of pictures and texts.", "Name a CLIP or SigLIP model."
            )
        self._images = processor.image_processor
        labels = label_list(options.labels)
        templates = (options.template or TEMPLATES.get(options.labels, "a photo of a {}")).split("|")
        text = _embedded(module, processor.tokenizer, labels, templates, fixed=bias is not None)
        self._weights = (scale.exp().detach() * text).to(device)
        self._bias = 0.0 if bias is None else float(bias.detach())
        trained_with: Literal["softmax", "sigmoid"] = "softmax" if bias is None else "sigmoid"
        activation = trained_with if options.activation == "auto" else options.activation
        rule = LibraryOptions(options.model, top_k=options.top_k, threshold=options.threshold, activation=activation)
        digest = hashlib.sha256("\0".join([*labels, "", *templates]).encode()).hexdigest()[:16]
        version = f"{version_of(options.model, module.config)} labels {digest}"
        super().__init__(name, version, module, self._pixels, labels, rule, device)

    def _pixels(self, image: Any) -> Any:
        return self._images(images=image, return_tensors="pt")["pixel_values"][0]

    def _forward(self, batch: Any) -> Any:
        image = _features(self._module.get_image_features(pixel_values=batch))
        return image / image.norm(dim=-1, keepdim=True) @ self._weights.T + self._bias


def _embedded(module: Any, tokenizer: Any, labels: Sequence[str], templates: Sequence[str], *, fixed: bool) -> Any:
    """(L, D): the mean over the templates of the normalised text embeddings, normalised again.

    fixed: texts are padded to the model's length, as SigLIP was trained.
    """
    import torch

    longest = int(getattr(module.config.text_config, "max_position_embeddings", 64))
    pad: dict[str, Any] = {"padding": "max_length" if fixed else True, "max_length": longest, "truncation": True}
    rows = []
    with torch.inference_mode():
        for label in labels:
            tokens = tokenizer([template.format(label) for template in templates], return_tensors="pt", **pad)
            known = {key: tokens[key] for key in ("input_ids", "attention_mask") if key in tokens}
            found = _features(module.get_text_features(**known))
            mean = (found / found.norm(dim=-1, keepdim=True)).mean(0)
            rows.append(mean / mean.norm())
        return torch.stack(rows)


def _features(found: Any) -> Any:
    """The embedding itself: newer versions of the library wrap it."""
    return getattr(found, "pooler_output", found)
