"""Zero-shot classification over a list of labels, for the libraries that have models with two towers.

The score of a label is its share in the softmax, over all labels of the list, of the model's scaled cosine similarities
(Radford et al. 2021, section 3.1.2); a label's text embedding is the mean over the templates (section 3.1.4). Scores
therefore depend on the list: they compare its labels with one another. A SigLIP model has a sigmoid and a bias instead
(Zhai et al. 2023, arXiv 2303.15343, equation 1): each of its labels has a score of its own.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from gslopes.core.errors import ConfigError
from gslopes.score.classifiers.model_file import check_presence, digest_of_texts, existing, read_labels
from gslopes.score.classifiers.torch_model import TorchModel

SHIPPED = ("occupations", "traits")
TEMPLATES = {
    "occupations": "a photo of a {}|a photo of a person who works as a {}",
    "traits": "a photo of a {} person",
}


@dataclass(frozen=True, kw_only=True)
class ZeroShotOptions:
    """What to look for, and what counts as found.

    labels: ``occupations``, ``traits``, or a text file, one label a line.
    template: prompts with ``{}`` for the label, ``|`` between several; empty: those of the list, or "a photo of a {}".
    top_k, threshold: see ``model_file.presence``.
    activation: ``auto``: sigmoid for a model that was trained with it and has a bias (SigLIP), else softmax.
    """

    labels: str = "occupations"
    template: str = ""
    top_k: int | None = None
    threshold: float | None = None
    activation: Literal["auto", "softmax", "sigmoid"] = "auto"

    def __post_init__(self) -> None:
        check_presence(self.top_k, self.threshold)
        if self.template and not all("{}" in one for one in self.template.split("|")):
            raise ConfigError("Every template needs {} where the label goes.", "Such as: a photo of a {}.")


class ZeroShotModel(TorchModel, ABC):
    """A ``records.Classifier`` over the image tower of a model; the texts are read once.

    module: with ``logit_scale`` and, if it was trained with a sigmoid, ``logit_bias``.
    options: with ``model``, ``labels``, ``template``, ``top_k``, ``threshold`` and ``activation``.
    weights_version: of the module's weights.  transform: a PIL picture to (3, H, W).
    embed_texts: a list of T texts to their embeddings, (T, D).
    """

    def __init__(
        self,
        name: str,
        options: Any,
        weights_version: str,
        module: Any,
        transform: Callable[[Any], Any],
        embed_texts: Callable[[list[str]], Any],
        device: str,
    ) -> None:
        labels = label_list(options.labels)
        templates = (options.template or TEMPLATES.get(options.labels, "a photo of a {}")).split("|")
        text = _label_embeddings(embed_texts, labels, templates)
        self._weights = (module.logit_scale.exp().detach() * text).to(device)
        bias = getattr(module, "logit_bias", None)
        self._bias = 0.0 if bias is None else float(bias.detach())
        trained_with = "softmax" if bias is None else "sigmoid"
        activation = trained_with if options.activation == "auto" else options.activation
        version = f"{weights_version} labels {digest_of_texts([*labels, '', *templates])}"
        super().__init__(name, version, module, transform, labels, options, activation, device)

    def _forward(self, batch: Any) -> Any:
        image = self._embedded(batch)
        return image / image.norm(dim=-1, keepdim=True) @ self._weights.T + self._bias

    @abstractmethod
    def _embedded(self, batch: Any) -> Any:
        """(B, 3, H, W) to image embeddings, (B, D)."""


def label_list(name: str) -> tuple[str, ...]:
    """The labels of a shipped list, or of a file.  Raises: ModelError."""
    if name in SHIPPED:
        return tuple((files("gslopes.score") / "labels" / f"{name}.txt").read_text("utf-8").split("\n")[:-1])
    return read_labels(existing(name, "labels file"))


def _label_embeddings(embed_texts: Callable[[list[str]], Any], labels: Sequence[str], templates: Sequence[str]) -> Any:
    """(L, D): the mean over the templates of the normalised text embeddings, normalised again."""
    import torch

    rows = []
    with torch.inference_mode():
        for label in labels:
            found = embed_texts([template.format(label) for template in templates])
            mean = (found / found.norm(dim=-1, keepdim=True)).mean(0)
            rows.append(mean / mean.norm())
        return torch.stack(rows)
