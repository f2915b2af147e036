"""Weights as files: fp16 safetensors that carry their spec, and a sha256 beside them that is checked at every load."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from gslopes.core.config import from_dict
from gslopes.core.errors import ConfigError, ModelError
from gslopes.zoo.spec import ModelSpec

FILE = "model.safetensors"
DIGEST = "sha256"


def save(folder: Path, spec: ModelSpec, state: dict[str, torch.Tensor]) -> str:
    """Write ``state`` as fp16 with its spec and its sha256; returns the sha256.

    folder: weights/<name>.  Integer buffers (batch counts) are left out: nothing at test time needs them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    half = {k: v.detach().to("cpu", torch.float16).contiguous() for k, v in state.items() if v.is_floating_point()}
    partial = folder / f".{FILE}.partial"
    save_file(half, partial, metadata={"format": "pt", "spec": json.dumps(asdict(spec))})
    digest = sha256(partial)
    partial.replace(folder / FILE)
    (folder / DIGEST).write_text(f"{digest}  {FILE}\n", encoding="ascii")
    return digest


def load(folder: Path) -> tuple[ModelSpec, dict[str, torch.Tensor], str]:
    """(spec, fp32 state, sha256) of weights/<name>.

    Raises: ModelError if a file is missing or damaged, or the sha256 is not the one beside it.
    """
    path, digest = folder / FILE, folder / DIGEST
    if not path.is_file() or not digest.is_file():
        raise ModelError(
            f"{folder} lacks {FILE} or {DIGEST}.", "Train the model, or restore its folder from a release."
        )
    actual, wanted = sha256(path), (digest.read_text(encoding="ascii").split() or [""])[0]
    if actual != wanted:
        raise ModelError(
            f"{path} is damaged: its sha256 is {actual[:12]}…, not {wanted[:12]}….", "Restore the file from a release."
        )
    try:
        with safe_open(path, framework="pt") as file:
            spec = from_dict(ModelSpec, json.loads((file.metadata() or {})["spec"]))
            state = {key: file.get_tensor(key).float() for key in file.keys()}  # noqa: SIM118 (no mapping)
    except (SafetensorError, ConfigError, KeyError, ValueError) as error:
        raise ModelError(f"{path} is no gslopes checkpoint: {error}") from error
    return spec, state, actual


def sha256(path: Path) -> str:
    """Of a file's bytes, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
