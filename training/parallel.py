"""Training over several processes, as torchrun starts them: each draws its own photos, gradients are averaged."""

from __future__ import annotations

import os
from collections.abc import Iterable

import torch
from torch import distributed, nn


def rank() -> int:
    """Which of torchrun's processes this is; 0 without torchrun."""
    return int(os.environ.get("RANK", "0"))


def join(device: str) -> tuple[int, int]:
    """(rank, number of processes) after joining the others; (0, 1) without torchrun.

    device: ``cuda`` stands for the process's own GPU.
    """
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        return 0, 1
    cuda = torch.device(device).type == "cuda"
    if cuda:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    if not distributed.is_initialized():
        distributed.init_process_group("nccl" if cuda else "gloo")
    return rank(), world


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Give every process the mean of all processes' gradients, in one message; nothing to do for one process."""
    if not distributed.is_initialized():
        return
    slopes = [p.grad for p in parameters if p.grad is not None]
    flat = torch.cat([slope.flatten() for slope in slopes])
    distributed.all_reduce(flat)
    flat /= distributed.get_world_size()
    for slope, mean in zip(slopes, flat.split([slope.numel() for slope in slopes]), strict=True):
        slope.copy_(mean.view_as(slope))
