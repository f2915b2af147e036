"""``transformers:NAME``: models of the transformers library that look at pictures, by hub name or local folder.

    transformers:google/vit-base-patch16-224                          labels of its own
    transformers:my-clip-folder,task=zero-shot,labels=traits          a list of labels, CLIP or SigLIP
    transformers:my-vlm-folder,task=text,prompt=doctor-nurse          image and text to text, asked as ``llm:`` is

A folder, as ``save_pretrained`` writes it, is read without any network, and without running code in it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gslopes.core.errors import ConfigError, ModelError
from gslopes.score.classifiers.model_file import digest_of
from gslopes.score.classifiers.torch_model import LibraryOptions, TorchModel, check_presence
from gslopes.score.names import ARGUMENT

Task = Literal["auto", "classify", "zero-shot", "text"]
_TEXT = ("ForConditionalGeneration", "ForImageTextToText", "ForVision2Seq")
_ZERO_SHOT = ("CLIPModel", "ChineseCLIPModel", "AltCLIPModel", "SiglipModel", "Siglip2Model", "AlignModel")


@dataclass(frozen=True, slots=True)
class TransformersOptions:
    """A model by its name on the hub, or a folder that ``save_pretrained`` has written.

    model: the name or folder.  revision: of the hub's model; empty: the newest.
    task: ``classify``, ``zero-shot`` or ``text``; ``auto``: what a folder's config.json says, else ``classify``.
    top_k, threshold: as in ``torch_model.LibraryOptions``; not of ``text``.
    activation: ``auto``: sigmoid where the model says that its labels are independent (SigLIP's are), else softmax.
    labels, template: of ``zero-shot``, as for ``clip:``.
    prompt, scores, repeats, temperature, seed, max_tokens: of ``text``, as for ``llm:``.
    """

    model: str = field(metadata=ARGUMENT)
    revision: str = ""
    task: Task = "auto"
    top_k: int = 5
    threshold: float = 0.0
    activation: Literal["auto", "softmax", "sigmoid"] = "auto"
    labels: str = "occupations"
    template: str = ""
    prompt: str = "occupation"
    scores: Literal["auto", "logprobs", "repeats"] = "auto"
    repeats: int = 5
    temperature: float = 1.0
    seed: int = 0
    max_tokens: int = 200

    def __post_init__(self) -> None:
        check_presence(self.top_k, self.threshold)
        if self.template and not all("{}" in one for one in self.template.split("|")):
            raise ConfigError("Every template needs {} where the label goes.", "Such as: a photo of a {}.")
        if self.repeats < 1 or self.max_tokens < 1 or self.temperature < 0 or self.seed < 0:
            raise ConfigError("repeats and max_tokens must be 1 or more, temperature and seed not negative.")
        if self.temperature == 0 and self.repeats > 1 and self.scores == "repeats":
            raise ConfigError(
                "At temperature 0 all repeats give the same answer.", "Write repeats=1, or a temperature."
            )


class TransformersClassifier:
    """Makes the ``records.Classifier`` of the task.

    Raises: ModelError if the model cannot be had, or is none of the task; ConfigError for a prompt that is none.
    """

    Options = TransformersOptions

    def __new__(cls, name: str, options: TransformersOptions, device: str = "cpu") -> Any:
        """The classifier of the task; nothing of the others is imported."""
        task = options.task if options.task != "auto" else task_of(options.model)
        if task == "zero-shot":
            from gslopes.score.classifiers.transformers_zero_shot import ZeroShot

            return ZeroShot(name, options, device)
        if task == "text":
            from gslopes.score.classifiers.transformers_text import ImageText

            return ImageText(name, options, device)
        return ImageClassifier(name, options, device)


class ImageClassifier(TorchModel):
    """A ``records.Classifier`` over ``AutoModelForImageClassification``."""

    def __init__(self, name: str, options: TransformersOptions, device: str = "cpu") -> None:
        module, self._processor = loaded(options, "AutoModelForImageClassification", "AutoImageProcessor")
        config = module.config
        labels = [str(config.id2label[number]) for number in range(config.num_labels)]
        independent = config.problem_type == "multi_label_classification"
        activation = options.activation if options.activation != "auto" else "sigmoid" if independent else "softmax"
        rule = LibraryOptions(options.model, top_k=options.top_k, threshold=options.threshold, activation=activation)
        super().__init__(name, version_of(options.model, config), module, self._pixels, labels, rule, device)

    def _pixels(self, image: Any) -> Any:
        return self._processor(images=image, return_tensors="pt")["pixel_values"][0]

    def _forward(self, batch: Any) -> Any:
        return self._module(pixel_values=batch).logits


def task_of(model: str) -> Task:
    """What a folder's config.json says that its model does; ``classify`` for anything else.

    >>> task_of("google/vit-base-patch16-224")
    'classify'
    """
    try:
        content = json.loads((Path(model).expanduser() / "config.json").read_text("utf-8"))
        names = [str(name) for name in content.get("architectures") or ()]
    except (OSError, ValueError, AttributeError):
        return "classify"
    if any(name.endswith(_TEXT) for name in names):
        return "text"
    return "zero-shot" if any(name in _ZERO_SHOT for name in names) else "classify"


def loaded(options: TransformersOptions, model: str, processor: str) -> tuple[Any, Any]:
    """A model and its processor by the names of their Auto classes; of a folder without any network.

    Raises: ModelError.
    """
    import transformers as library

    known: Any = library
    where: dict[str, Any] = {"revision": options.revision} if options.revision else {}
    name = options.model
    if Path(name).expanduser().is_dir():
        name, where = str(Path(name).expanduser()), {"local_files_only": True}
    try:
        made = getattr(known, model).from_pretrained(name, **where)
        return made.eval(), getattr(known, processor).from_pretrained(name, **where)
    except Exception as error:  # the hub's client and the readers have many
        first = " ".join(str(error).split())[:200]
        hint = "Name a model of the hub for this task, or a folder that save_pretrained has written."
        raise ModelError(f"The model {options.model} cannot be loaded: {first}.", hint) from None


def version_of(model: str, config: Any) -> str:
    """sha256 of a local folder's files, or the hub's commit."""
    folder = Path(model).expanduser()
    if not folder.is_dir():
        return str(getattr(config, "_commit_hash", "") or model)
    kinds = (".json", ".safetensors", ".bin", ".jinja", ".txt", ".model")
    files = sorted(path for path in folder.iterdir() if path.suffix in kinds)
    names = hashlib.sha256("\0".join(path.name for path in files).encode()).hexdigest()
    return hashlib.sha256(f"{names}{digest_of(files)}".encode()).hexdigest()
