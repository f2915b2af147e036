"""Networks that others trained, from the files that others wrote. No byte of such a file is ever run as code."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_safetensors

from gslopes.core.errors import ModelError
from gslopes.core.files import read_named, sha256_of, show
from gslopes.faces.networks.bisenet_resnet18 import BiSeNetResNet18
from gslopes.faces.zoo.identity import UNSTATED
from gslopes.faces.zoo.loading import LoadedModel
from gslopes.faces.zoo.spec import ModelSpec

# The order of the classes in the public checkpoints, that of face-parsing.PyTorch; the data set's own is another.
CLASSES = (
    "background", "skin", "left brow", "right brow", "left eye", "right eye", "eyeglasses", "left ear", "right ear",
    "earring", "nose", "mouth", "upper lip", "lower lip", "neck", "necklace", "cloth", "hair", "hat",
)  # fmt: skip

# Heads that only training asks; some copies of the checkpoints come without them.
_LARGEST = 2 << 30  # bytes of a checkpoint
AUXILIARY = ("conv_out16.", "conv_out32.")
HEAD = "conv_out.conv_out.weight"
LAYOUT = "Expected is a CelebAMask-HQ BiSeNet with a ResNet-18, as face-parsing.PyTorch's 79999_iter.pth."
SAFE = "Save its state_dict() alone, best as .safetensors."


def load_parser(path: Path, device: str | torch.device = "cpu") -> LoadedModel:
    """A public face parser: a BiSeNet with a ResNet-18, 19 classes of CelebAMask-HQ, pictures of 512 pixels.

    path: of a PyTorch checkpoint or a safetensors file that holds the parameters under their public names, bare or
        below ``state_dict``, with or without ``module.`` before them. Which of the two it is, its bytes say.
    device: as torch names it.

    The result's spec names the classes in the order of these checkpoints; its ``crop`` is the framing of the photos
    that they were trained on, hair and neck in view.

    Raises: UsageError if there is no such file; ModelError if it is no checkpoint, holds code as well as tensors (it is
        not run), lacks parameters, or has other shapes or classes.
    """
    name = show(path)
    state = read_state(path, name, LAYOUT)
    _check(state, name)
    network = BiSeNetResNet18(len(CLASSES))
    try:
        network.load_state_dict(state, strict=False)
    except RuntimeError as error:  # torch's word for a tensor of another shape
        raise ModelError(f"{name} has another shape: {str(error).splitlines()[-1].strip()}", LAYOUT) from error
    module = network.to(device).eval().requires_grad_(False)
    return LoadedModel(module, _spec(show(path.name)), sha256_of(path))


def _spec(name: str) -> ModelSpec:
    return ModelSpec(
        name=name,
        summary="A face parser from a file of the user's: BiSeNet with a ResNet-18, 19 classes of CelebAMask-HQ.",
        network="bisenet-resnet18",
        size=512,
        labels=CLASSES,
        licence=UNSTATED,
        data=("CelebAMask-HQ",),
        paper="Yu et al. 2018, BiSeNet",
        recipe="",
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
        crop="headshot",
    )


def read_state(path: Path, name: str, layout: str) -> dict[str, torch.Tensor]:
    """The parameters in a file under their public names, in single precision.

    name: of the file, as it is shown.  layout: a sentence that says what is expected.

    Raises: UsageError if there is no such file; ModelError if it is no checkpoint, holds code as well as tensors, or
        numbers that are none.
    """
    return _floats(_state(_content(path, name, layout), name, layout), name)


def _content(path: Path, name: str, layout: str) -> Any:
    """Whatever the file holds, tensors and plain values only."""
    data = read_named(path, _LARGEST, hint="Name a .pth or .safetensors file.")
    try:
        if data[8:9] == b"{":  # after the length of its header
            return load_safetensors(data)
        if data[:2] in (b"PK", b"\x80\x02"):  # torch's two formats: a zip archive, and pickles one after the other
            return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        if "GLOBAL" in str(error) or "global" in str(error):
            raise ModelError(f"{name} holds code as well as tensors; it was not run.", SAFE) from error
        raise ModelError(f"{name} is a damaged checkpoint.", layout) from error
    except (SafetensorError, RuntimeError, EOFError, ValueError, KeyError, IndexError, OSError, TypeError) as error:
        raise ModelError(f"{name} is a damaged checkpoint.", layout) from error
    raise ModelError(f"{name} is not a checkpoint: neither PyTorch's nor safetensors.", layout)


def _state(content: Any, name: str, layout: str) -> dict[str, torch.Tensor]:
    """The parameters under their public names."""
    for wrapping in ("state_dict", "model"):
        if isinstance(content, Mapping) and isinstance(content.get(wrapping), Mapping):
            content = content[wrapping]
    if not isinstance(content, Mapping):
        raise ModelError(f"{name} holds no table of parameters.", layout)
    tensors = {str(key): value for key, value in content.items() if isinstance(value, torch.Tensor)}
    return {key.removeprefix("module."): value for key, value in tensors.items()}


def _floats(state: dict[str, torch.Tensor], name: str) -> dict[str, torch.Tensor]:
    """Single precision, whatever the file holds.  Raises: ModelError for a number that is none."""
    state = {key: value.float() if value.is_floating_point() else value for key, value in state.items()}
    broken = [key for key, value in state.items() if not torch.isfinite(value).all()]
    if broken:
        raise ModelError(f"{name} has parameters that are not finite: {_first_keys(broken)}.", "Fetch the file again.")
    return state


def _check(state: dict[str, torch.Tensor], name: str) -> None:
    """Raises: ModelError unless these are the parameters of the layout, with its classes."""
    with torch.device("meta"):  # names without numbers
        known = list(BiSeNetResNet18().state_dict())
    missing = [key for key in known if key not in state and not key.startswith(AUXILIARY)]
    missing = [key for key in missing if not key.endswith("num_batches_tracked")]
    if missing:
        raise ModelError(f"{name} is another network: it lacks {_first_keys(missing)}.", LAYOUT)
    unexpected = [key for key in state if key not in known]
    if unexpected:
        raise ModelError(f"{name} is another network: it also has {_first_keys(unexpected)}.", LAYOUT)
    classes = len(state[HEAD]) if state[HEAD].dim() else 0
    if classes != len(CLASSES):
        raise ModelError(f"{name} distinguishes {classes} classes, not the {len(CLASSES)} of CelebAMask-HQ.", LAYOUT)


def _first_keys(keys: list[str]) -> str:
    return ", ".join(keys[:2]) + (f" and {len(keys) - 2} more" if len(keys) > 2 else "")
