"""Training state on disk: all that the next step depends on, so that a resumed run goes on as if never stopped."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn


def save_state(path: Path, step: int, parts: dict[str, Any], generator: torch.Generator) -> None:
    """Write the state atomically.

    parts: name to module or optimiser (anything with ``state_dict``).
    generator: the loop's own random numbers; torch's global ones (dropout) are kept as well.
    """
    state = {name: part.state_dict() for name, part in parts.items()}
    random = {"loop": generator.get_state(), "torch": torch.get_rng_state()}
    partial = path.with_suffix(".partial")
    torch.save({"step": step, "state": state, "random": random}, partial)
    os.replace(partial, path)


def load_state(path: Path, parts: dict[str, Any], generator: torch.Generator) -> int:
    """Restore what ``save_state`` wrote; returns the step to go on with, 0 if there is no file."""
    if not path.is_file():
        return 0
    stored = torch.load(path, map_location="cpu", weights_only=True)
    for name, part in parts.items():
        part.load_state_dict(stored["state"][name])
    generator.set_state(stored["random"]["loop"])
    torch.set_rng_state(stored["random"]["torch"])
    return int(stored["step"])


class Ema:
    """An exponential moving average of a network's weights; buffers are copied.

    decay: share of the old average that each step keeps.
    """

    def __init__(self, module: nn.Module, average: nn.Module, decay: float) -> None:
        self.average = average.requires_grad_(False).eval()
        self.average.load_state_dict(module.state_dict())
        self.decay = decay

    @torch.no_grad()
    def update(self, module: nn.Module, step: int) -> None:
        """Move the average towards the weights; early steps move it faster, so that it forgets its random start."""
        decay = min(self.decay, (1 + step) / (10 + step))
        for average, theirs in zip(self.average.parameters(), module.parameters(), strict=True):
            average.lerp_(theirs, 1 - decay)
        for held, given in zip(self.average.buffers(), module.buffers(), strict=True):
            held.copy_(given)

    def state_dict(self) -> dict[str, Any]:
        """The average's weights and buffers."""
        return self.average.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what ``state_dict`` gave."""
        self.average.load_state_dict(state)


class Recent:
    """The last few batches of latents with their attributes, so that an adversary learns on more than the last one.

    batches: how many it keeps.
    """

    def __init__(self, batches: int) -> None:
        self.batches = max(1, batches)
        self.kept: list[tuple[Tensor, Tensor]] = []

    def add(self, latents: Tensor, attributes: Tensor) -> tuple[Tensor, Tensor]:
        """Keep a batch (no gradient flows into it); returns all that are kept, one after the other."""
        self.kept = [*self.kept, (latents.detach(), attributes)][-self.batches :]
        return torch.cat([z for z, _ in self.kept]), torch.cat([a for _, a in self.kept])

    def state_dict(self) -> dict[str, Any]:
        """What is kept."""
        return {"kept": [[z.cpu(), a.cpu()] for z, a in self.kept]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what ``state_dict`` gave."""
        self.kept = [(z, a) for z, a in state["kept"]]
