"""``clip:NAME``: zero-shot over a list of labels with a model of open_clip; scores as in ``torch_model``.

For example ``clip:ViT-B-32,pretrained=laion2b_s34b_b79k`` (the shipped occupations, the five highest count as
returned) or ``clip:ViT-L-14,pretrained=openai,labels=traits,top_k=0,threshold=0.1``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from gslopes.ask.classifiers.model_file import digest_of, existing, first_words
from gslopes.ask.classifiers.torch_model import ZeroShotModel, ZeroShotOptions
from gslopes.ask.names import ARGUMENT
from gslopes.core.errors import ConfigError, ModelError, UnknownName


@dataclass(frozen=True, kw_only=True)
class ClipOptions(ZeroShotOptions):
    """What to look for, and with which model.

    model: the name in open_clip.  pretrained: its weights there; a tag of open_clip's list.
    weights: a local file instead.  config: a file that describes a model that open_clip does not know, named as it.
    """

    model: str = field(metadata=ARGUMENT)
    pretrained: str = ""
    weights: str = ""
    config: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.pretrained) == bool(self.weights):
            raise ConfigError("clip needs one of pretrained and weights.", "Such as pretrained=laion2b_s34b_b79k.")


class ClipClassifier(ZeroShotModel):
    """A ``records.Classifier`` over the image tower of an open_clip model.

    Raises: UnknownName if open_clip has no such model; ModelError if its weights cannot be had.
    """

    Options = ClipOptions

    def __init__(self, name: str, options: ClipOptions, device: str = "cpu") -> None:
        library: Any = import_module("open_clip")
        if options.config:
            library.add_model_config(existing(options.config, "model description"))
        if options.model not in library.list_models():
            raise UnknownName("model in open_clip", options.model, library.list_models())
        source = str(existing(options.weights, "weights file")) if options.weights else options.pretrained
        try:
            module, _, transform = library.create_model_and_transforms(options.model, pretrained=source)
        except Exception as error:  # the hub's client and the readers have many
            message = f"The weights {source} of {options.model} cannot be downloaded or read: {first_words(error)}."
            hint = "Download them elsewhere and give weights=FILE, or name a tag of open_clip.list_pretrained()."
            raise ModelError(message, hint) from None
        module, tokenizer = module.eval(), library.get_tokenizer(options.model)
        paths = [Path(path).expanduser() for path in (options.weights, options.config) if path]
        version = digest_of(paths) if options.weights else options.pretrained
        super().__init__(
            name, options, version, module, transform, lambda texts: module.encode_text(tokenizer(texts)), device
        )

    def _embedded(self, batch: Any) -> Any:
        return self._module.encode_image(batch)
