"""Classifiers that are Python objects: functions, torch modules, pipelines of transformers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, cast

import numpy as np

from gslopes.ask.classifiers.model_file import ModelOptions, digest_of_texts, first_words
from gslopes.ask.classifiers.python import FunctionClassifier
from gslopes.ask.classifiers.torch_model import TorchModel
from gslopes.ask.pictures import prepare
from gslopes.core.errors import ConfigError, UsageError
from gslopes.core.records import Answer, Classifier
from gslopes.core.runtime import pick_device


def as_classifier(
    model: Any, labels: Sequence[str] = (), *, name: str = "", unit: str = "", device: str = "auto", **options: Any
) -> Classifier:
    """Make a classifier of a function, a torch module or a transformers pipeline.

    model: a function as in ``ask.classifiers.python``; an ``nn.Module``, from pictures (B, 3, S, S) float32 to
        (B, L) outputs; a pipeline for ``image-classification`` or ``zero-shot-image-classification``; or a classifier
        as in core.records, which stays as it is.
    labels: L of them, in the order of the outputs; of a function that returns numbers, a module, or what a zero-shot
        pipeline looks for.
    name: in the tables; empty: that of the function or class.
    unit: of numbers that are no scores, such as ``years``; of a module, ``kind="number"`` says that they are none.
    device: of a module.
    options: of a module: ``size`` (side of the pictures, pixels), ``white``, ``mean``, ``std``, ``channels``,
        ``layout``, ``activation``, ``threshold``, ``top_k``, ``kind``; as of ``onnx:``.

    Raises: UsageError if it is none of these, or something is missing; ConfigError for an option out of its range.

        audit = gslopes.audit("photos", "run", classifier=gslopes.as_classifier(module, ["no", "yes"], size=224))
    """
    labels = tuple(map(str, labels))
    bases = {(one.__module__, one.__qualname__) for one in type(model).__mro__}  # whose libraries may not be installed
    is_module = ("torch.nn.modules.module", "Module") in bases
    is_pipeline = ("transformers.pipelines.base", "Pipeline") in bases
    if not (is_module or is_pipeline) and hasattr(model, "ask") and hasattr(model, "parse"):
        return cast("Classifier", model)
    if len(set(labels)) < len(labels):
        raise ConfigError("Two labels of the classifier are the same.", "Labels must differ.")
    if is_module:
        given = {**options, "unit": unit} if unit else options
        return _of_module(model, labels, name or type(model).__name__, device, given)
    if options:
        raise ConfigError(f"{', '.join(sorted(options))}: only a torch module has these.", "Leave them out.")
    if is_pipeline:
        if unit:
            raise ConfigError("A pipeline answers with scores, which have no unit.", "Leave unit out.")
        return _of_pipeline(model, labels, name)
    if not callable(model):
        raise UsageError(
            f"A classifier cannot be made of {type(model).__name__}.",
            "Give a name such as onnx:FILE, a function of a list of pictures, a torch module, or a pipeline.",
        )
    return FunctionClassifier(model, labels, name, unit)


# -- torch modules ----------------------------------------------------------------------------------------------------


class ModuleClassifier(TorchModel):
    """A ``records.Classifier`` over a torch module of the user's own; its answers are kept in the run folder alone."""

    cached = False

    def __init__(self, name: str, module: Any, labels: Sequence[str], options: ModelOptions, device: str) -> None:
        import torch

        version = f"{_digest(module)} {digest_of_texts([*labels, repr(options)])}"

        def transform(image: Any) -> Any:
            pixels = prepare(np.asarray(image), options.size)[None]
            return torch.from_numpy(options.values(pixels, layout=options.layout)[0])

        super().__init__(name, version, module, transform, labels, options, options.activation, device)
        self.numbers = options.kind == "number"
        self.name += f":unit={options.unit}" if options.unit else ""

    def parse(self, raw: object) -> Answer:
        """Pairs to the labels that count as returned; all of them where they are numbers."""
        if not self.numbers:
            return super().parse(raw)
        pairs = cast("list[tuple[int, float]]", raw)
        return Answer("answered", tuple((self.labels[number], value) for number, value in pairs))

    def _pairs(self, logits: Any) -> list[list[float]]:
        return [[i, float(value)] for i, value in enumerate(logits)] if self.numbers else super()._pairs(logits)

    def _forward(self, batch: Any) -> Any:
        found = self._module(batch)  # a tensor, ``logits`` among others, or the first of several
        if hasattr(found, "logits"):
            found = found.logits
        elif isinstance(found, dict):
            found = found.get("logits", next(iter(found.values())))
        return (found[0] if isinstance(found, (list, tuple)) else found).flatten(1)


def _of_module(module: Any, labels: tuple[str, ...], name: str, device: str, given: dict[str, Any]) -> ModuleClassifier:
    call = f"gslopes.as_classifier({name.lower()}, labels=[...], size=224)"
    if not labels or not given.get("size"):
        missing = " and ".join(["labels"] * (not labels) + ["size"] * (not given.get("size")))
        hint = f"Give {call}; mean, std, white and activation as it was trained."
        raise UsageError(f"The module {name} does not say its {missing}.", hint)
    try:
        options = ModelOptions(**given)
    except TypeError as error:
        raise ConfigError(
            f"{first_words(error)}.", f"A module has {', '.join(one.name for one in fields(ModelOptions))}."
        ) from None
    made = ModuleClassifier(name, module, labels, options, pick_device(device))
    from PIL import Image

    try:
        outputs = made._logits([Image.new("RGB", (options.size, options.size), "gray")])[0]
    except RuntimeError as error:  # torch: shapes, types
        message = f"The module {name} does not take a picture of {options.size} pixels: {first_words(error)}."
        raise UsageError(message, "Check its size and layout.") from None
    if not made.numbers and options.activation == "none" and not ((outputs >= -1e-6) & (outputs <= 1 + 1e-6)).all():
        message = f"The module {name} answers {outputs.min():.3g} to {outputs.max():.3g}, not in [0, 1]."
        raise ConfigError(
            message, 'Give activation="sigmoid" (independent labels) or "softmax" (one of many), or kind="number".'
        )
    return made


def _digest(module: Any) -> str:
    """16 hex digits over a module's architecture and weights."""
    total = hashlib.sha256(repr(module).encode())
    for key, tensor in sorted(module.state_dict().items()):
        total.update(key.encode())
        if hasattr(tensor, "detach"):
            total.update(tensor.detach().cpu().contiguous().flatten().view(-1).float().numpy().tobytes())
    return total.hexdigest()[:16]


# -- pipelines --------------------------------------------------------------------------------------------------------


def _of_pipeline(pipeline: Any, labels: tuple[str, ...], name: str) -> FunctionClassifier:
    task = str(getattr(pipeline, "task", ""))
    zero_shot = task == "zero-shot-image-classification"
    if task != "image-classification" and not zero_shot:
        raise UsageError(
            f"The pipeline's task is {task}, which labels no pictures.",
            "Give one for image-classification or zero-shot-image-classification.",
        )
    if zero_shot and not labels:
        raise UsageError("A zero-shot pipeline needs labels.", "Give gslopes.as_classifier(pipeline, labels=[...]).")
    if labels and not zero_shot:
        raise UsageError("The pipeline has labels of its own.", "Leave labels out.")
    how = {"candidate_labels": list(labels)} if zero_shot else {"top_k": None}

    def classify(pictures: list[Any]) -> Any:
        from PIL import Image

        return pipeline([Image.fromarray(one) for one in pictures], **how)

    found = FunctionClassifier(classify, (), name or str(getattr(pipeline.model.config, "_name_or_path", "")) or task)
    found.version = f"{_digest(pipeline.model)} {digest_of_texts([task, *labels])}"
    return found
