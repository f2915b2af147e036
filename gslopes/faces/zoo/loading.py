"""From a spec to a network with its weights in it; weights as files."""

from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from safetensors import safe_open
from torch import nn

from gslopes.core import ModelError, from_dict, frozen_identity
from gslopes.faces.networks.edit_field import (
    EditEnds,
    EditEndsConfig,
    EditGroups,
    EditGroupsConfig,
    ToneScale,
)
from gslopes.faces.networks.fader import Fader, FaderConfig
from gslopes.faces.networks.feature_pyramid import FeaturePyramid, FeaturePyramidConfig
from gslopes.faces.networks.tagger import Tagger, TaggerConfig
from gslopes.faces.zoo.spec import FILE, ModelSpec, folder_of, read


@frozen_identity
class LoadedModel:
    """A network ready to use (eval mode, no gradients), its spec and the sha256 of its weights."""

    module: nn.Module
    spec: ModelSpec
    sha256: str


# Networks that only training has, by their names in specs; ``training`` puts them here.
TEACHERS: dict[str, Callable[[ModelSpec], nn.Module]] = {}


def build(spec: ModelSpec) -> nn.Module:
    """A network of the spec's shape with random weights.

    Raises: ConfigError if the spec's options do not suit its architecture; ModelError for a teacher without
        ``training``.
    """
    shape = {"attributes": spec.labels, "size": spec.size, **spec.config}
    outputs = len(spec.labels)
    match spec.network:
        case "fader":
            return Fader(from_dict(FaderConfig, shape))
        case "edit-ends":
            return EditEnds(from_dict(EditEndsConfig, shape))
        case "edit-groups":
            shape["ends"] = len(spec.ends)
            return EditGroups(from_dict(EditGroupsConfig, shape))
        case "edit-field":
            if "edit-field" not in TEACHERS:
                raise ModelError(
                    f"The model {spec.name} is a teacher.",
                    "Only training uses it: import training.",
                )
            return TEACHERS["edit-field"](spec)
        case "tone-scale":
            return ToneScale(**spec.config)
        case "feature-pyramid":
            shape = {"classes": outputs, **spec.config}
            return FeaturePyramid(from_dict(FeaturePyramidConfig, shape))
    return Tagger(from_dict(TaggerConfig, {"labels": outputs, **spec.config}))


def load(name: str, device: str | torch.device = "cpu") -> LoadedModel:
    """A model by its name.

    Raises: UnknownName if no home has weights of that name; ModelError if they are damaged or of another shape.
    """
    return load_folder(folder_of(name), device)


def load_folder(folder: Path, device: str | torch.device = "cpu") -> LoadedModel:
    """A model from its folder of weights.  Raises: ModelError."""
    spec, state, digest = read_weights(folder)
    module = build(spec)
    if misfit := fill(module, state):
        raise ModelError(
            f"{folder} does not fit its own spec: it {misfit}",
            "Copy the whole folder again: its files belong together.",
        )
    return LoadedModel(module.to(device).eval().requires_grad_(False), spec, digest)


def fill(module: nn.Module, state: Mapping[str, torch.Tensor]) -> str:
    """Put parameters into a network; what does not fit, as the end of a sentence about their file, or nothing."""
    try:
        missing, unexpected = module.load_state_dict(state, strict=False)
    except RuntimeError as error:  # torch's word for a tensor of another shape
        return f"has another shape: {str(error).splitlines()[-1].strip()}"
    if lost := [key for key in missing if not key.endswith("num_batches_tracked")]:
        return f"lacks {lost[0]}."
    if unexpected:
        return f"also has {unexpected[0]}."
    return ""


# --- Weights as files: safetensors that carry their spec, and a recorded sha256 that is checked at every load -----
# They are in fp16, or in 8 bits if a recipe asks for it: half the size.

STEP = ":step"  # after a tensor's name: what one of its 127 steps is worth, one for each output channel


def read_weights(folder: Path) -> tuple[ModelSpec, dict[str, torch.Tensor], str]:
    """(spec, fp32 state, sha256) of weights/<name>.

    Raises: ModelError if a file is missing or damaged, or the sha256 is not the recorded one.
    """
    spec, digest = read(folder)
    with safe_open(folder / FILE, framework="pt") as file:
        stored = {key: file.get_tensor(key).float() for key in file.keys()}  # noqa: SIM118 (no mapping)
    steps = {key: stored.pop(key) for key in list(stored) if key.endswith(STEP)}
    return spec, {key: value * steps.get(key + STEP, 1) for key, value in stored.items()}, digest
