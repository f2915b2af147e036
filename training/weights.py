"""Weights as files: safetensors that carry their spec, and their sha256; ``gslopes.faces.zoo.loading`` reads them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file

from gslopes.core.files import sha256_of
from gslopes.core.runfolder import write_bytes
from gslopes.faces.zoo.loading import STEP
from gslopes.faces.zoo.spec import DIGEST, FILE, ModelSpec


def save_weights(
    folder: Path, spec: ModelSpec, state: dict[str, torch.Tensor], *, eight_bits: bool = False
) -> str:
    """Write ``state`` as fp16 with its spec and its sha256; returns the sha256.

    folder: weights/<name>.  eight_bits: kernels and matrices as whole numbers from -127 to 127, biases as fp16.
    Integer buffers (batch counts) are left out: nothing at test time needs them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    half = {
        k: v.detach().to("cpu", torch.float16).contiguous()
        for k, v in state.items()
        if v.is_floating_point()
    }
    for key, value in list(half.items()) if eight_bits else ():
        if value.dim() > 1:  # as int8, with the step of each output channel
            full = value.float()
            step = (
                full.abs().amax(tuple(range(1, value.dim())), keepdim=True).clamp(min=1e-12) / 127
            )
            half |= {key: (full / step).round().to(torch.int8), key + STEP: step}
    return write_weights(folder, spec, half)


def write_weights(folder: Path, spec: ModelSpec, tensors: dict[str, torch.Tensor]) -> str:
    """Write tensors as they are, with a spec and their sha256, into a folder; returns the sha256."""
    partial = folder / f".{FILE}.partial"
    # one entry: safetensors writes several in a random order, and the same weights had one of two checksums
    save_file(tensors, partial, metadata={"spec": json.dumps(asdict(spec))})
    partial.chmod(0o644)  # safetensors makes them readable only by their owner
    digest = sha256_of(partial)
    partial.replace(folder / FILE)
    write_bytes(folder / DIGEST, f"{digest}  {FILE}\n".encode("ascii"))
    return digest
