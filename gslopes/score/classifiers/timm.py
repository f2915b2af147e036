"""``timm:NAME``: the image classifiers of timm, with their own weights, labels and preprocessing.

For example ``timm:convnext_tiny.fb_in1k`` or ``timm:resnet18,weights=mine.safetensors,labels=labels.txt``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gslopes.core.errors import ModelError, UnknownName
from gslopes.score.classifiers.checkpoint import load_weights
from gslopes.score.classifiers.model_file import first_words
from gslopes.score.classifiers.torch_model import LibraryOptions, TorchModel, labels_of


class TimmClassifier(TorchModel):
    """A ``records.Classifier`` over a model of timm.

    Raises: UnknownName if timm has no such model; ModelError if its weights cannot be had.
    """

    Options = LibraryOptions

    def __init__(self, name: str, options: LibraryOptions, device: str = "cpu") -> None:
        timm: Any = import_module("timm")
        if not timm.is_model(options.model):
            raise UnknownName("model in timm", options.model, timm.list_models())
        if options.weights:
            labels = labels_of(options, ()) if options.labels else ()
            module = timm.create_model(options.model, **({"num_classes": len(labels)} if labels else {}))
            version = load_weights(module, options.weights)
        else:
            module = _from_hub(timm, options.model)
            version = str(module.pretrained_cfg.get("hf_hub_id") or options.model)
        labels = labels_of(options, _labels(module))
        data: Any = import_module("timm.data")
        transform = data.create_transform(**data.resolve_model_data_config(module), is_training=False)
        super().__init__(name, version, module, transform, labels, options, options.activation, device)


def _from_hub(timm: Any, name: str) -> Any:
    try:
        return timm.create_model(name, pretrained=True)
    except Exception as error:  # the hub's client has many
        message = f"The weights of {name} cannot be downloaded or read: {first_words(error)}."
        raise ModelError(message, "Download them elsewhere and give weights=FILE.") from None


def _labels(module: Any) -> list[str]:
    """The names of the ImageNet classes that the model knows; none if it knows others."""
    data: Any = import_module("timm.data")
    subset = data.infer_imagenet_subset(module)
    if not subset:
        return []
    info = data.ImageNetInfo(subset)
    return [info.index_to_description(number) for number in range(info.num_classes())]
