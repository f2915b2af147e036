"""From a spec to a network with its weights in it; weights as files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from gslopes.core.config import from_dict
from gslopes.core.errors import ModelError
from gslopes.core.files import sha256_of
from gslopes.core.runfolder import write_bytes
from gslopes.faces.networks.edit_field import EditEnds, EditEndsConfig
from gslopes.faces.networks.fader import Fader, FaderConfig
from gslopes.faces.networks.feature_pyramid import FeaturePyramid, FeaturePyramidConfig
from gslopes.faces.networks.tagger import Tagger, TaggerConfig
from gslopes.faces.zoo.spec import DIGEST, FILE, ModelSpec, asset_names, find_asset, find_spec, folder_of, read


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A network ready to use (eval mode, no gradients), its spec and the sha256 of its weights."""

    module: nn.Module
    spec: ModelSpec
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One line of ``gslopes list models``; sha256 is empty and bytes 0 where no weights are there."""

    name: str
    network: str
    summary: str
    path: str
    licence: str
    sha256: str
    bytes: int


# Networks that training alone has, by their names in specs; ``training`` puts them here.
TEACHERS: dict[str, Callable[[ModelSpec], nn.Module]] = {}


def build(spec: ModelSpec) -> nn.Module:
    """A network of the spec's shape with random weights.

    Raises: ConfigError if the spec's options are not those of its architecture; ModelError for a teacher without
        ``training``.
    """
    shape = {"attributes": spec.labels, "size": spec.size, **spec.config}
    if spec.network == "fader":
        return Fader(from_dict(FaderConfig, shape))
    if spec.network == "edit-ends":
        return EditEnds(from_dict(EditEndsConfig, shape))
    if spec.network == "edit-field":
        if "edit-field" not in TEACHERS:
            raise ModelError(f"The model {spec.name} is a teacher.", "Training alone uses it: import training.")
        return TEACHERS["edit-field"](spec)
    if spec.network == "feature-pyramid":
        return FeaturePyramid(from_dict(FeaturePyramidConfig, {"classes": len(spec.labels), **spec.config}))
    return Tagger(from_dict(TaggerConfig, {"labels": len(spec.labels), **spec.config}))


def load(name: str, device: str | torch.device = "cpu") -> LoadedModel:
    """A model by its name.

    Raises: UnknownName if no weights of that name are there; ModelError if they are damaged or of another shape.
    """
    return load_folder(folder_of(name), device)


def load_folder(folder: Path, device: str | torch.device = "cpu") -> LoadedModel:
    """A model from its own folder of weights.  Raises: ModelError."""
    spec, state, digest = read_weights(folder)
    module = build(spec)
    try:
        missing, unexpected = module.load_state_dict(state, strict=False)
        lost = [key for key in missing if not key.endswith("num_batches_tracked")]
        wrong = f"{', '.join([*lost, *unexpected][:3])} …." if lost or unexpected else ""
    except RuntimeError as error:  # torch's word for a tensor of another shape
        wrong = str(error).splitlines()[-1].strip()
    if wrong:
        hint = "Copy the whole folder again: its files belong together."
        raise ModelError(f"{folder} does not fit its own spec: {wrong}", hint)
    return LoadedModel(module.to(device).eval().requires_grad_(False), spec, digest)


def list_models() -> list[ModelEntry]:
    """Every model that has a spec, with the recorded sha256 of its weights (not checked here)."""
    entries = []
    for name in asset_names("models", "spec.toml"):
        spec = find_spec(name)
        folder = find_asset("weights", name)
        digest, size = "", 0
        if folder and (folder / FILE).is_file():
            digest = (folder / DIGEST).read_text(encoding="ascii").split()[0]
            size = (folder / FILE).stat().st_size
        entries.append(ModelEntry(name, spec.network, spec.summary, str(folder or ""), spec.licence, digest, size))
    return entries


# --- Weights as files: safetensors that carry their spec, and a recorded sha256 that is checked at every load -----
# They are in fp16, or in 8 bits where a recipe says so: half the size.

STEP = ":step"  # after a tensor's name: what one of its 127 steps is worth, one for each output channel


def save_weights(folder: Path, spec: ModelSpec, state: dict[str, torch.Tensor], *, eight_bits: bool = False) -> str:
    """Write ``state`` as fp16 with its spec and its sha256; returns the sha256.

    folder: weights/<name>.  eight_bits: kernels and matrices as whole numbers from -127 to 127, biases as fp16.
    Integer buffers (batch counts) are left out: nothing at test time needs them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    half = {k: v.detach().to("cpu", torch.float16).contiguous() for k, v in state.items() if v.is_floating_point()}
    for key, value in list(half.items()) if eight_bits else ():
        if value.dim() > 1:  # as int8, with the step of each output channel
            full = value.float()
            step = full.abs().amax(tuple(range(1, value.dim())), keepdim=True).clamp(min=1e-12) / 127
            half |= {key: (full / step).round().to(torch.int8), key + STEP: step}
    return write_weights(folder, spec, half)


def write_weights(folder: Path, spec: ModelSpec, tensors: dict[str, torch.Tensor]) -> str:
    """Write tensors as they are, with a spec and their sha256, into a folder; returns the sha256."""
    partial = folder / f".{FILE}.partial"
    # one entry: safetensors writes several in a random order, and the same weights had one of two checksums
    save_file(tensors, partial, metadata={"spec": json.dumps(asdict(spec))})
    partial.chmod(0o644)  # safetensors makes them readable by their owner alone
    digest = sha256_of(partial)
    partial.replace(folder / FILE)
    write_bytes(folder / DIGEST, f"{digest}  {FILE}\n".encode("ascii"))
    return digest


def read_weights(folder: Path) -> tuple[ModelSpec, dict[str, torch.Tensor], str]:
    """(spec, fp32 state, sha256) of weights/<name>.

    Raises: ModelError if a file is missing or damaged, or the sha256 is not the recorded one.
    """
    spec, digest = read(folder)
    with safe_open(folder / FILE, framework="pt") as file:
        stored = {key: file.get_tensor(key).float() for key in file.keys()}  # noqa: SIM118 (no mapping)
    steps = {key: stored.pop(key) for key in list(stored) if key.endswith(STEP)}
    return spec, {key: value * steps.get(key + STEP, 1) for key, value in stored.items()}, digest
