"""Ask a face parser of the zoo what each pixel of a picture shows.

One whose spec says ``mirrored`` is asked of the picture and of its mirror image, and what it says of both is averaged.
"""

from __future__ import annotations

import hashlib
import io
import pickle
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from threading import local
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_safetensors
from torch import Tensor
from torch.nn.functional import interpolate

from gslopes.core.errors import ModelError
from gslopes.core.files import read_named, sha256_of, show
from gslopes.core.records import ByteArray
from gslopes.faces.networks.bisenet_resnet18 import BiSeNetResNet18
from gslopes.faces.zoo.loading import LoadedModel
from gslopes.faces.zoo.spec import UNSTATED, ModelSpec

# The classes of CelebAMask-HQ in the set's own order, in which celebamask-mini.zip is numbered. The list next to that
# archive, which begins "skin, left brow", is of another numbering (that of face-parsing.PyTorch): under it, hair would
# be the lower lip.
CLASSES = (
    "background", "skin", "nose", "eyeglasses", "left eye", "right eye", "left brow", "right brow", "left ear",
    "right ear", "mouth", "upper lip", "lower lip", "hair", "hat", "earring", "necklace", "neck", "cloth",
)  # fmt: skip

# What is the face's skin, and what the face: neither hair, ears, neck, spectacles nor background.
SKIN = ("skin", "nose")
FACE = (
    "skin", "left eye", "right eye", "left brow", "right brow", "nose", "mouth", "upper lip", "lower lip",
)  # fmt: skip

CACHED = 64  # chips whose probabilities are kept, 1.2 MB each; the walk has 32 in hand, see ``slopes.synthesis``

Key = tuple[str, int, str, bytes]

# Each thread has its own: what is cached never depends on other threads, and so neither does a rounding.
_memory = local()


def class_probabilities(parser: LoadedModel, pictures: ByteArray, device: torch.device) -> Tensor:
    """Pictures (B, s, s, 3) uint8 RGB, in the parser's crop, to (B, classes, S, S) that sum to 1 over the classes.

    parser: its network takes (B, 3, S, S) float32, (rgb - mean) / std of its spec, and gives logits
        (B, classes, S, S), classes as the spec's labels. Its S may differ from s.
    device: where it is.

    Raises: ModelError if it does not give one channel per class of its spec.
    """
    spec = parser.spec
    with torch.inference_mode():
        rgb = torch.from_numpy(np.ascontiguousarray(pictures)).to(device).permute(0, 3, 1, 2).float() / 255
        mean, std = (torch.tensor(v, device=device).view(1, 3, 1, 1) for v in (spec.mean, spec.std))
        chips = resized((rgb - mean) / std, spec.size)
        logits: Tensor = parser.module(chips)
        if logits.shape[1] != len(spec.labels):
            raise ModelError(
                f"The face parser {spec.name} gives {logits.shape[1]} classes, its spec names {len(spec.labels)}."
            )
        seen = logits.float().softmax(1)
        if spec.mirrored:
            seen_there = parser.module(chips.flip(3)).float().softmax(1).flip(3)
            seen = (seen + seen_there[:, mirrored_classes(spec.labels).to(device)]) / 2
        return seen


def probabilities_at_hand(parser: LoadedModel, pictures: ByteArray, device: torch.device) -> Tensor:
    """As ``class_probabilities``; on the CPU the last ``CACHED`` pictures of a thread are not parsed again.

    A mask and an edit need the same chip parsed, one after the other, and know nothing of each other.
    """
    if device.type != "cpu" or not parser.sha256:
        return class_probabilities(parser, pictures, device)
    which = parser.sha256, id(type(parser.module)), str(device)
    keys = [(*which, hashlib.blake2b(np.ascontiguousarray(picture).data).digest()) for picture in pictures]
    kept = _kept()
    found = {key: kept[key] for key in keys if key in kept}
    missing = [row for row, key in enumerate(keys) if key not in found]
    if missing:
        parsed = class_probabilities(parser, pictures[missing], device)
        found |= zip((keys[row] for row in missing), parsed, strict=True)
        kept.update((keys[row], found[keys[row]].clone()) for row in missing)
        while len(kept) > CACHED:
            kept.popitem(last=False)
    return torch.stack([found[key] for key in keys])


def _kept() -> OrderedDict[Key, Tensor]:
    """What this thread has cached, oldest first."""
    if not hasattr(_memory, "kept"):
        _memory.kept = OrderedDict()
    kept: OrderedDict[Key, Tensor] = _memory.kept
    return kept


def mirrored_classes(labels: tuple[str, ...]) -> Tensor:
    """For every class the class that it becomes in a mirror, (classes,): left and right change places."""
    other = {name: name.replace("left", "@").replace("right", "left").replace("@", "right") for name in labels}
    return torch.tensor([labels.index(other[name]) for name in labels])


def resized(pictures: Tensor, size: int) -> Tensor:
    """Pictures (B, C, s, s) at another side; smoothed first where that is smaller."""
    if pictures.shape[-2:] == (size, size):
        return pictures
    return interpolate(pictures, size=(size, size), mode="bilinear", align_corners=False, antialias=True)


# --- Networks that others trained, from the files that others wrote. No byte of such a file is ever run as code -------


# The order of the classes in the public checkpoints, that of face-parsing.PyTorch; the data set's own is another.
PUBLIC_CLASSES = (
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
    network = BiSeNetResNet18(len(PUBLIC_CLASSES))
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
        labels=PUBLIC_CLASSES,
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
    if classes != len(PUBLIC_CLASSES):
        raise ModelError(
            f"{name} distinguishes {classes} classes, not the {len(PUBLIC_CLASSES)} of CelebAMask-HQ.", LAYOUT
        )


def _first_keys(keys: list[str]) -> str:
    return ", ".join(keys[:2]) + (f" and {len(keys) - 2} more" if len(keys) > 2 else "")
