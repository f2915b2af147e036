"""``torchvision:NAME``: the image classifiers of torchvision, with their own weights, labels and preprocessing.

For example ``torchvision:resnet50``, ``torchvision:vit_b_16,top_k=0,threshold=0.1`` or
``torchvision:resnet18,weights=mine.safetensors,labels=labels.txt``.
"""

from __future__ import annotations

from typing import Any

from gslopes.core.errors import ModelError, UnknownName
from gslopes.score.classifiers.checkpoint import load_weights, quiet
from gslopes.score.classifiers.torch_model import LibraryOptions, TorchModel, labels_of


class TorchvisionClassifier(TorchModel):
    """A ``records.Classifier`` over one of ``torchvision.models``.

    Raises: UnknownName if torchvision has no such classifier; ModelError if its weights cannot be had.
    """

    Options = LibraryOptions

    def __init__(self, name: str, options: LibraryOptions, device: str = "cpu") -> None:
        from torchvision import models

        known = models.list_models(module=models)
        if options.model not in known:
            raise UnknownName("classifier in torchvision", options.model, known)
        pretrained = models.get_model_weights(options.model).DEFAULT
        labels = labels_of(options, pretrained.meta["categories"])
        if options.weights:
            module = models.get_model(options.model, weights=None, num_classes=len(labels), **quiet(options.model))
            version = load_weights(module, options.weights)
        else:
            module, version = _from_hub(models, options.model, pretrained), str(pretrained.url).rpartition("/")[2]
        super().__init__(name, version, module, pretrained.transforms(), labels, options, options.activation, device)


def _from_hub(models: Any, name: str, pretrained: Any) -> Any:
    try:
        return models.get_model(name, weights=pretrained)
    except OSError as error:
        hint = f"Download {pretrained.url} elsewhere and give weights=FILE."
        raise ModelError(f"The weights of {name} cannot be downloaded: {error}.", hint) from None
