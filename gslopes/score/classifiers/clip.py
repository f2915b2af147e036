"""``clip:NAME``: zero-shot over a list of labels with a model of open_clip.

For example ``clip:ViT-B-32,pretrained=laion2b_s34b_b79k`` (the shipped occupations, the five highest count as
returned) or ``clip:ViT-L-14,pretrained=openai,labels=traits,top_k=0,threshold=0.1``.

The score of a label is its share in the softmax, over all labels of the list, of the model's scaled cosine similarities
(Radford et al. 2021, section 3.1.2); a label's text embedding is the mean over the templates (section 3.1.4). Scores
therefore depend on the list: they compare its labels with one another. A SigLIP model has a sigmoid and a bias instead
(Zhai et al. 2023, arXiv 2303.15343, equation 1): its labels are scored each on its own.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from gslopes.core.errors import ConfigError, ModelError, UnknownName
from gslopes.score.classifiers.model_file import digest_of, existing, read_labels
from gslopes.score.classifiers.torch_model import LibraryOptions, TorchModel, check_presence
from gslopes.score.names import ARGUMENT

SHIPPED = ("occupations", "traits")
TEMPLATES = {
    "occupations": "a photo of a {}|a photo of a person who works as a {}",
    "traits": "a photo of a {} person",
}


@dataclass(frozen=True, slots=True)
class ClipOptions:
    """What to look for, and what counts as found.

    model: the name in open_clip.  pretrained: its weights there; a tag of open_clip's list.
    weights: a local file instead.  config: a file that describes a model that open_clip does not know, named as it.
    labels: ``occupations``, ``traits``, or a text file, one label a line.
    template: prompts with ``{}`` for the label, ``|`` between several; empty: those of the list, or "a photo of a {}".
    top_k, threshold: as in ``torch_model.LibraryOptions``.
    activation: ``auto``: sigmoid for a model that was trained with it and has a bias (SigLIP), else softmax.
    """

    model: str = field(metadata=ARGUMENT)
    pretrained: str = ""
    weights: str = ""
    config: str = ""
    labels: str = "occupations"
    template: str = ""
    top_k: int = 5
    threshold: float = 0.0
    activation: Literal["auto", "softmax", "sigmoid"] = "auto"

    def __post_init__(self) -> None:
        check_presence(self.top_k, self.threshold)
        if bool(self.pretrained) == bool(self.weights):
            raise ConfigError("clip needs one of pretrained and weights.", "Such as pretrained=laion2b_s34b_b79k.")
        if self.template and not all("{}" in one for one in self.template.split("|")):
            raise ConfigError("Every clip template needs {} where the label goes.", "Such as: a photo of a {}.")


class ClipClassifier(TorchModel):
    """A ``records.Classifier`` over the image tower of an open_clip model; the texts are read once.

    Raises: UnknownName if open_clip has no such model; ModelError if its weights cannot be had.
    """

    Options = ClipOptions

    def __init__(self, name: str, options: ClipOptions, device: str = "cpu") -> None:
        library: Any = import_module("open_clip")
        if options.config:
            library.add_model_config(existing(Path(options.config), "model description"))
        if options.model not in library.list_models():
            raise UnknownName("model in open_clip", options.model, library.list_models())
        model, transform = _loaded(library, options)
        labels = label_list(options.labels)
        templates = (options.template or TEMPLATES.get(options.labels, "a photo of a {}")).split("|")
        text = _embedded(model, library.get_tokenizer(options.model), labels, templates)
        self._weights = (model.logit_scale.exp().detach() * text).to(device)
        bias = getattr(model, "logit_bias", None)
        trained_with: Literal["softmax", "sigmoid"] = "softmax" if bias is None else "sigmoid"
        activation = trained_with if options.activation == "auto" else options.activation
        self._bias = 0.0 if bias is None else float(bias.detach())
        rule = LibraryOptions(options.model, top_k=options.top_k, threshold=options.threshold, activation=activation)
        super().__init__(name, _version(options, labels, templates), model, transform, labels, rule, device)

    def _forward(self, batch: Any) -> Any:
        return self._module.encode_image(batch, normalize=True) @ self._weights.T + self._bias


def label_list(name: str) -> tuple[str, ...]:
    """The labels of a shipped list, or of a file.  Raises: ModelError."""
    if name in SHIPPED:
        return tuple((files("gslopes.score") / "labels" / f"{name}.txt").read_text("utf-8").split("\n")[:-1])
    return read_labels(existing(Path(name), "labels file"))


def _loaded(library: Any, options: ClipOptions) -> tuple[Any, Any]:
    source = str(existing(Path(options.weights), "weights file")) if options.weights else options.pretrained
    try:
        model, _, transform = library.create_model_and_transforms(options.model, pretrained=source)
    except Exception as error:  # the hub's client and the readers have many
        first = " ".join(str(error).split())[:200]
        hint = "Download them elsewhere and give weights=FILE, or name a tag of open_clip.list_pretrained()."
        raise ModelError(
            f"The weights {source} of {options.model} cannot be downloaded or read: {first}.", hint
        ) from None
    return model.eval(), transform


def _embedded(model: Any, tokenizer: Any, labels: tuple[str, ...], templates: list[str]) -> Any:
    """(L, D): the mean over the templates of the normalised text embeddings, normalised again."""
    import torch

    rows = []
    with torch.no_grad():
        for label in labels:
            tokens = tokenizer([template.format(label) for template in templates])
            mean = model.encode_text(tokens, normalize=True).mean(0)
            rows.append(mean / mean.norm())
        return torch.stack(rows)


def _version(options: ClipOptions, labels: tuple[str, ...], templates: list[str]) -> str:
    """The weights, the list and the templates: whatever moves a score."""
    texts = hashlib.sha256("\0".join([*labels, "", *templates]).encode()).hexdigest()[:16]
    paths = [Path(path).expanduser() for path in (options.weights, options.config) if path]
    return f"{digest_of(paths) if options.weights else options.pretrained} labels {texts}"
