"""Classifiers that are Python objects: functions, torch modules, pipelines of transformers."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gslopes.ask.classifiers.calling import as_function
from gslopes.ask.classifiers.model_file import (
    ACTIVATIONS,
    ModelOptions,
    OwnModel,
    digest_of_texts,
    first_words,
)
from gslopes.ask.classifiers.python import FunctionClassifier, identity_of
from gslopes.ask.classifiers.returned import plain
from gslopes.core import (
    ClassifierError,
    ConfigError,
    JsonObject,
    UsageError,
    check_traits,
    pick_device,
)
from gslopes.core.records import Classifier, FloatArray


def as_classifier(
    model: Any,
    labels: Sequence[str] = (),
    *,
    name: str = "",
    unit: str = "",
    version: str = "",
    device: str = "auto",
    **options: Any,
) -> Classifier:
    """Make a classifier of a function, a torch module or a transformers pipeline.

    model: a function as in ``ask.classifiers.python``; an ``nn.Module``, from pictures (B, 3, S, S) float32 to
        (B, L) outputs; a pipeline for ``image-classification`` or ``zero-shot-image-classification``; or a classifier
        as in core.records, which stays itself.
    labels: L of them, in the order of the outputs; of a function that returns L numbers, a module, or what a zero-shot
        pipeline looks for.
    name: in the tables; empty: the function's or class's own.
    unit: of numbers beyond [0, 1], such as ``years``; a module that gives them needs ``kind="number"``, too.
    version: of the model, part of what a run is; empty: a digest of all that its answers can depend on. If a part has
        no digest, such as a session of a compiled library, its answers are not kept between calls.
    device: of a module.
    options: of a module: ``size`` (side of the pictures, pixels), ``white``, ``mean``, ``std``, ``channels``,
        ``layout``, ``activation``, ``threshold``, ``top_k``, ``kind``; as of ``onnx:``. Of a function: ``activation``.

    Raises: UsageError for any other object, or if something is missing; ConfigError for an option out of its range.

        audit = gslopes.audit("photos", "run", classifier=gslopes.as_classifier(module, ["no", "yes"], size=224))
    """
    labels = tuple(map(str, labels))
    model = as_function(model)
    # by name, since their libraries may not be installed
    bases = {f"{base.__module__}.{base.__qualname__}" for base in type(model).__mro__}
    is_module = "torch.nn.modules.module.Module" in bases
    is_pipeline = "transformers.pipelines.base.Pipeline" in bases
    if not (is_module or is_pipeline) and hasattr(model, "ask") and hasattr(model, "parse"):
        if isinstance(model, FunctionClassifier | ModuleClassifier):
            model.identify()
        classifier: Classifier = model
        check_traits(classifier)
        return classifier
    if len(set(labels)) < len(labels):
        raise ConfigError("Two labels of the classifier are the same.", "Labels must differ.")
    if is_module:
        name = name or type(model).__name__
        return ModuleClassifier(model, labels, name, version, device, {**options, "unit": unit})
    activation = "none" if is_pipeline else options.pop("activation", "none")
    if options:
        raise ConfigError(
            f"{', '.join(sorted(options))}: only a torch module has these.", "Leave them out."
        )
    if activation not in ACTIVATIONS:
        raise ConfigError(
            f"activation must be one of {', '.join(ACTIVATIONS)}, not {activation!r}."
        )
    if is_pipeline:
        return PipelineClassifier(model, labels, name, unit, version)
    if not callable(model):
        raise UsageError(
            f"A classifier cannot be made of {type(model).__name__}.",
            "Give a name such as onnx:FILE, a function of a picture, a torch module, or a pipeline.",
        )
    return FunctionClassifier(model, labels, name, unit, version, activation)


# -- torch modules ----------------------------------------------------------------------------------------------------


class ModuleClassifier(OwnModel):
    """A ``records.Classifier`` over a user's torch module; its answers are kept only in the run folder.

    settings: of ``ModelOptions``.

    Raises: UsageError if something is missing; ConfigError for a setting that there is not, or out of its range.
    """

    def __init__(
        self,
        module: Any,
        labels: Sequence[str],
        name: str,
        version: str,
        device: str,
        settings: JsonObject,
    ) -> None:
        call = f"gslopes.as_classifier({name.lower()}, labels=[...], size=224)"
        needed = {"labels": labels, "size": settings.get("size")}
        if missing := " and ".join(what for what, value in needed.items() if not value):
            raise UsageError(
                f"The module {name} does not say its {missing}.",
                f"Give {call}; mean, std, white and activation as it was trained.",
            )
        try:
            options = ModelOptions(**settings)
        except TypeError as error:
            names = ", ".join(option.name for option in fields(ModelOptions))
            raise ConfigError(f"{first_words(error)}.", f"A module has {names}.") from None
        device = pick_device(device)
        unit = f":unit={options.unit}" if options.unit else ""
        super().__init__(name + unit, "", labels, options, f"module {name}")
        self.traits = replace(self.traits, cached=False)
        self._module = module.eval().to(device)
        self._device = device
        self._own = name
        self._named_version = version
        self.identify()
        self._try_out()

    def identify(self) -> None:
        """Find the version again: the module may have learned since."""
        identity = identity_of(self._module, self._own, self._named_version)
        self.version = f"{identity.version} {digest_of_texts([*self.labels, repr(self._options)])}"
        self.traits = replace(self.traits, unknown=identity.unknown)

    def _run(self, values: FloatArray) -> NDArray[Any]:
        import torch

        try:
            with torch.inference_mode():
                outputs = self._module(torch.from_numpy(values).to(self._device))
        except RuntimeError as error:  # torch: shapes, types
            raise ClassifierError(f"{first_words(error)}.") from None
        # a tensor, ``logits`` among others, or the first of several
        if isinstance(outputs, dict) and "logits" not in outputs:
            outputs = list(outputs.values())
        outputs = outputs[0] if isinstance(outputs, list | tuple) else outputs
        return np.asarray(plain(outputs), np.float64)


# -- pipelines --------------------------------------------------------------------------------------------------------


_PARTS = (
    "model",
    "image_processor",
    "feature_extractor",
    "tokenizer",
    "_preprocess_params",
    "_forward_params",
    "_postprocess_params",
)


class PipelineClassifier(FunctionClassifier):
    """A ``records.Classifier`` over a pipeline of transformers.

    Raises: UsageError if it labels no pictures, or has its own labels; ConfigError for a unit.
    """

    def __init__(
        self,
        pipeline: Any,
        labels: Sequence[str],
        name: str,
        unit: str,
        version: str,
    ) -> None:
        if unit:
            raise ConfigError(
                "A pipeline answers with scores, which have no unit.", "Leave unit out."
            )
        task = str(getattr(pipeline, "task", ""))
        zero_shot = task == "zero-shot-image-classification"
        if task != "image-classification" and not zero_shot:
            raise UsageError(
                f"The pipeline's task is {task}, which labels no pictures.",
                "Give one for image-classification or zero-shot-image-classification.",
            )
        if zero_shot != bool(labels):
            needs = "needs labels" if zero_shot else "has labels of its own"
            raise UsageError(
                f"A pipeline for {task} {needs}.",
                "Only one for zero-shot-image-classification is given any.",
            )
        # what it is called with, next to the pictures
        how: JsonObject = {"candidate_labels": list(labels)} if zero_shot else {"top_k": None}
        name = name or str(getattr(pipeline.model.config, "_name_or_path", "")) or task
        self._parts = [
            how,
            *(getattr(pipeline, part, None) for part in _PARTS),
        ]  # it counts its calls as well

        def classify(images: list[Image.Image]) -> Any:
            return pipeline(images, **how)

        super().__init__(classify, (), name, "", version)
