"""Weights as files: safetensors that carry their spec, and a recorded sha256 that is checked at every load.

They are in fp16; a teacher's, which training alone reads, in 8 bits: half the size.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from gslopes.core.files import sha256_of
from gslopes.core.runfolder import write_bytes
from gslopes.faces.zoo.spec import DIGEST, FILE, ModelSpec, read

__all__ = ["DIGEST", "FILE", "load", "save"]


STEP = ":step"  # after a tensor's name: what one of its 127 steps is worth, one for each output channel


def save(folder: Path, spec: ModelSpec, state: dict[str, torch.Tensor], *, eight_bits: bool = False) -> str:
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
    partial = folder / f".{FILE}.partial"
    # one entry: safetensors writes several in a random order, and the same weights had one of two checksums
    save_file(half, partial, metadata={"spec": json.dumps(asdict(spec))})
    partial.chmod(0o644)  # safetensors makes them readable by their owner alone
    digest = sha256_of(partial)
    partial.replace(folder / FILE)
    write_bytes(folder / DIGEST, f"{digest}  {FILE}\n".encode("ascii"))
    return digest


def load(folder: Path) -> tuple[ModelSpec, dict[str, torch.Tensor], str]:
    """(spec, fp32 state, sha256) of weights/<name>.

    Raises: ModelError if a file is missing or damaged, or the sha256 is not the recorded one.
    """
    spec, digest = read(folder)
    with safe_open(folder / FILE, framework="pt") as file:
        stored = {key: file.get_tensor(key).float() for key in file.keys()}  # noqa: SIM118 (no mapping)
    steps = {key: stored.pop(key) for key in list(stored) if key.endswith(STEP)}
    return spec, {key: value * steps.get(key + STEP, 1) for key, value in stored.items()}, digest
