"""Weights as files: fp16 safetensors that carry their spec, and a recorded sha256 that is checked at every load."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from gslopes.core.files import sha256_of
from gslopes.core.runfolder import write_bytes
from gslopes.zoo.identity import DIGEST, FILE, read
from gslopes.zoo.spec import ModelSpec

__all__ = ["DIGEST", "FILE", "load", "save"]


def save(folder: Path, spec: ModelSpec, state: dict[str, torch.Tensor]) -> str:
    """Write ``state`` as fp16 with its spec and its sha256; returns the sha256.

    folder: weights/<name>.  Integer buffers (batch counts) are left out: nothing at test time needs them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    half = {k: v.detach().to("cpu", torch.float16).contiguous() for k, v in state.items() if v.is_floating_point()}
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
        return spec, {key: file.get_tensor(key).float() for key in file.keys()}, digest  # noqa: SIM118 (no mapping)
