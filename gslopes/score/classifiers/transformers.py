"""``transformers:NAME``: image-classification models of the transformers library, by hub name or local folder.

For example ``transformers:google/vit-base-patch16-224`` or ``transformers:my-model-folder,top_k=0,threshold=0.1``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from gslopes.core.errors import ModelError
from gslopes.score.classifiers.model_file import digest_of
from gslopes.score.classifiers.torch_model import LibraryOptions, TorchModel, check_presence
from gslopes.score.names import ARGUMENT


@dataclass(frozen=True, slots=True)
class TransformersOptions:
    """A model by its name on the hub, or a folder that ``save_pretrained`` has written.

    model: the name or folder.  revision: of the hub's model; empty: the newest.
    top_k, threshold: as in ``torch_model.LibraryOptions``.
    activation: ``auto``: sigmoid where the model says that its labels are independent, else softmax.
    """

    model: str = field(metadata=ARGUMENT)
    revision: str = ""
    top_k: int = 5
    threshold: float = 0.0
    activation: Literal["auto", "softmax", "sigmoid"] = "auto"

    def __post_init__(self) -> None:
        check_presence(self.top_k, self.threshold)


class TransformersClassifier(TorchModel):
    """A ``records.Classifier`` over ``AutoModelForImageClassification``.

    Raises: ModelError if the model cannot be had or is no image classifier.
    """

    Options = TransformersOptions

    def __init__(self, name: str, options: TransformersOptions, device: str = "cpu") -> None:
        library: Any = import_module("transformers")
        where = {"revision": options.revision} if options.revision else {}
        try:
            module = library.AutoModelForImageClassification.from_pretrained(options.model, **where)
            self._processor = library.AutoImageProcessor.from_pretrained(options.model, **where)
        except Exception as error:  # the hub's client and the readers have many
            first = " ".join(str(error).split())[:200]
            hint = "Name a model of the hub, or a folder that save_pretrained has written."
            raise ModelError(f"The model {options.model} cannot be loaded: {first}.", hint) from None
        config = module.config
        labels = [str(config.id2label[number]) for number in range(config.num_labels)]
        independent = config.problem_type == "multi_label_classification"
        activation = options.activation if options.activation != "auto" else "sigmoid" if independent else "softmax"
        rule = LibraryOptions(options.model, top_k=options.top_k, threshold=options.threshold, activation=activation)
        super().__init__(name, _version(options.model, config), module, self._pixels, labels, rule, device)

    def _pixels(self, image: Any) -> Any:
        return self._processor(images=image, return_tensors="pt")["pixel_values"][0]

    def _forward(self, batch: Any) -> Any:
        return self._module(pixel_values=batch).logits


def _version(model: str, config: Any) -> str:
    """sha256 of a local folder's files, or the hub's commit."""
    folder = Path(model).expanduser()
    if not folder.is_dir():
        return str(getattr(config, "_commit_hash", "") or model)
    files = sorted(path for path in folder.iterdir() if path.suffix in (".json", ".safetensors", ".bin"))
    names = hashlib.sha256("\0".join(path.name for path in files).encode()).hexdigest()
    return hashlib.sha256(f"{names}{digest_of(files)}".encode()).hexdigest()
