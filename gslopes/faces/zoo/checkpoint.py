"""Checkpoints that others have published, files of the user's: read strictly, and none of it is run as code."""

import io
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from gslopes.core import ModelError, hexdigest, read_named, show
from gslopes.faces.zoo.loading import LoadedModel, fill
from gslopes.faces.zoo.spec import read_spec

LARGEST_CHECKPOINT = 2 << 30  # bytes


def read_into(network: nn.Module, path: Path, layout: str) -> str:
    """Put the parameters of a PyTorch checkpoint into a network; the sha256 of the file.

    layout: a sentence with the file that is expected.

    Raises: UsageError if the file is missing; ModelError if it is not a checkpoint of only tensors, or of another
        network.
    """
    name = show(path)
    data = read_named(path, LARGEST_CHECKPOINT, hint="Name a .pt or .pth file.")
    try:
        content: Any = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:  # damaged files make torch raise nearly anything
        raise ModelError(
            f"{name} is not a checkpoint of only tensors; nothing in it was run.", layout
        ) from error
    if not isinstance(content, dict):
        raise ModelError(f"{name} holds no table of parameters.", layout)
    state = {
        str(key).removeprefix("module."): value
        for key, value in content.items()
        if isinstance(value, Tensor)
    }
    if broken := [key for key, value in state.items() if not torch.isfinite(value).all()]:
        raise ModelError(
            f"{name} has parameters that are not finite: {broken[0]}.", "Fetch the file again."
        )
    if misfit := fill(network, state):
        raise ModelError(f"{name} is another network: it {misfit}", layout)
    return hexdigest(data)


# --- BiSeNet, the face parser of Joo & Kärkkäinen 2020, section 3.3 ---------------------------------------------------

BISENET = read_spec(Path(__file__).with_name("bisenet.toml"))


def load_bisenet(path: Path, device: str | torch.device = "cpu") -> LoadedModel:
    """A face parser from the public BiSeNet checkpoint of zllrunning/face-parsing.PyTorch.

    Raises: as ``read_into``.
    """
    from gslopes.faces.networks.bisenet import BiSeNet

    network = BiSeNet()
    digest = read_into(
        network, path, "Expected is BiSeNet of 19 classes of faces, as 79999_iter.pth."
    )
    return LoadedModel(network.to(device).eval().requires_grad_(False), BISENET, digest)
