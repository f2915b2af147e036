"""Weights in a file of the user's own: state dicts as training scripts write them, and what their shapes say."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gslopes.ask.classifiers.model_file import digest_of, existing, first_words
from gslopes.core.errors import ModelError
from gslopes.core.files import read_named

SUFFIXES = (".pth", ".pt", ".ckpt", ".bin", ".safetensors")
_LARGEST = 64 << 30  # bytes
_WRAPPERS = ("state_dict", "model_state_dict", "model", "net")  # keys under which training scripts keep it
_PREFIXES = ("module.", "_orig_mod.", "model.")  # of DataParallel, torch.compile, Lightning
_HEADS = ("fc", "classifier", "head", "heads")  # what names of the last layer hold


def load_weights(module: Any, file: Path | str) -> str:
    """Put the state dict of a file into a module; returns the file's sha256.

    Raises: ModelError if it is missing, is no state dict, or does not fit.
    """
    file = existing(file, "weights file")
    state = read_state(file)
    wanted = module.state_dict()
    if (classes := classes_of(state)) and classes != (wants := classes_of(wanted)) and _fit_but_for_head(state, wanted):
        hint = f"Give labels=FILE with {classes:,} lines, one label a line, in the order of the outputs."
        raise ModelError(f"The weights {file} have {classes:,} classes, and there are {wants:,} labels.", hint)
    try:
        module.load_state_dict(state)
    except Exception as error:  # of many kinds
        message = f"The weights {file} do not fit the model: {first_words(error)}."
        raise ModelError(message, "Check the model's name.") from None
    return digest_of([file])


def read_state(file: Path) -> dict[str, Any]:
    """The state dict in a file, out of its wrappers and without the prefixes of all its keys.

    Raises: ModelError if there is none; a file that would have to run code is not read.
    """
    import torch
    from safetensors.torch import load

    data = read_named(file, _LARGEST, raises=ModelError)
    try:
        state: Any
        if file.suffix == ".safetensors":
            state = load(data)
        else:
            state = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:  # unpicklers and readers raise many kinds
        raise _unread(file, data, error) from None
    for key in _WRAPPERS:
        state = state[key] if isinstance(state, Mapping) and isinstance(state.get(key), Mapping) else state
    if not isinstance(state, Mapping) or not any(hasattr(value, "shape") for value in state.values()):
        message = f"The weights {file} do not fit the model: {file.name} holds no state dict."
        raise ModelError(message, "Save model.state_dict() with torch.save, or as .safetensors.")
    state = {str(key): value for key, value in state.items()}
    for prefix in _PREFIXES:
        if all(key.startswith(prefix) for key in state):
            state = {key.removeprefix(prefix): value for key, value in state.items()}
    return state


def classes_of(state: Mapping[str, Any]) -> int:
    """How many outputs the last layer has, by its weights; 0 if no layer is called as last layers are."""
    heads = [key for key in state if key.endswith(".weight") and _of_head(key)]
    return int(state[heads[-1]].shape[0]) if heads else 0


def _fit_but_for_head(state: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    other = [key for key in wanted if key in state and state[key].shape != wanted[key].shape]
    if set(state) != set(wanted) or not all(map(_of_head, other)):
        return False
    return all(state[key].shape[1:] == wanted[key].shape[1:] for key in other)


def _of_head(key: str) -> bool:
    return any(part in _HEADS for part in key.split("."))


def _unread(file: Path, data: bytes, error: Exception) -> ModelError:
    text = str(error)
    if data[:2] == b"PK" and b"constants.pkl" in data:
        name = f"torchscript:{file},labels=FILE,size=PIXELS"
        return ModelError(f"{file} is a TorchScript program, not weights.", f"Give {name}.")
    if "weights_only" in text or "Unsupported" in text:
        return ModelError(
            f"The weights {file} do not fit the model: the file holds a whole Python object, which would run code.",
            "Save its weights alone: torch.save(model.state_dict(), FILE).",
        )
    return ModelError(f"The weights {file} do not fit the model: {first_words(error)}.", "Check the file.")


# -- which network ----------------------------------------------------------------------------------------------------


def named_by_file(text: str) -> str:
    """A classifier that is given as a file alone, with the kind that its suffix says; other names stay as they are.

    Raises: ModelError as ``network_of``.

    >>> named_by_file("model.onnx,labels=l.txt"), named_by_file("mine.py:hire"), named_by_file("celeba-tagger")
    ('onnx:model.onnx,labels=l.txt', 'python:mine.py:hire', 'celeba-tagger')
    """
    first = text.partition(",")[0]
    if first.partition(":")[0].endswith(".py"):
        return f"python:{text}"
    if ":" in first or not first.endswith((".onnx", *SUFFIXES)):
        return text
    if first.endswith(".onnx"):
        return f"onnx:{text}"
    return f"torchvision:{network_of(existing(first, 'weights file'))},weights={text}"


def quiet(name: str) -> dict[str, Any]:
    """Options of a network of torchvision: two warn unless ``init_weights`` is given, which does not matter here."""
    return {"init_weights": False} if name in ("googlenet", "inception_v3") else {}


def network_of(file: Path) -> str:
    """The classifier of torchvision that has these weights: the same names and shapes, but for the last layer.

    Raises: ModelError if none has (RegNets are not tried), or if torchvision is not installed.
    """
    state = read_state(file)
    hint = f"Name it, such as torchvision:resnet18,weights={file},labels=FILE, or export it to ONNX."
    try:
        import torch
        from torchvision import models
    except ImportError:
        raise ModelError(f"The weights {file} do not say their network.", hint) from None
    shapes = {key: value.shape for key, value in state.items()}
    known = [name for name in models.list_models(module=models) if not name.startswith("regnet")]  # these need values
    for name in known:
        with torch.device("meta"):
            wanted = models.get_model(name, weights=None, **quiet(name)).state_dict()
        if set(wanted) == set(shapes) and _fit_but_for_head(state, wanted):
            return str(name)
    raise ModelError(f"The weights {file} do not say their network.", hint)
