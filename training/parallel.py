"""One training on several processes, which torchrun starts; on one process nothing here does anything.

A step's photos are drawn for all processes alike; process r of W takes rows r, r + W, r + 2 W ... of every batch, and
of every table of random numbers. So a half of a batch stays a half, and the photos, their order and their augmentation
do not depend on W. What a loss takes over a batch, such as the statistics of a batch norm, is taken over all processes,
and gradients are averaged. So the loss is that of one process, but for rounding.

Gradients are averaged in ``loop.descend`` and not by ``DistributedDataParallel``: its hooks want one forward through
the wrapper for each backward, and adversaries call parts of networks, several times, and differentiate twice.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed, nn

from gslopes.core.errors import ConfigError, UsageError, WorkerLost

PATIENCE = timedelta(
    hours=12
)  # of processes that wait for the first, which may have to align a large set
Made = TypeVar("Made")


def world() -> int:
    """Number of processes of this training."""
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_world_size()
    return 1


def rank() -> int:
    """Number of this process, from 0."""
    if world() == 1:
        return 0
    return distributed.get_rank()


@contextmanager
def processes(device: str) -> Iterator[str]:
    """Join the others that torchrun started, if it did; gives the device of this one.

    Raises: UsageError without accelerate, or for a device that several processes cannot share; WorkerLost if another
        process ends before its time.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or "LOCAL_RANK" not in os.environ:
        yield device
        return
    yield _joined(device)
    if world() > 1:
        part()


def _joined(device: str) -> str:
    try:
        from accelerate import PartialState  # type: ignore[import-untyped]
    except ImportError as error:
        raise UsageError(
            "Training on several processes needs accelerate.", "pip install 'accelerate>=1.0'"
        ) from error
    on_cpu = torch.device(device).type == "cpu"
    local = int(os.environ.get("LOCAL_RANK", "0"))
    if not on_cpu and (":" in device or local >= torch.cuda.device_count()):
        cards = torch.cuda.device_count()
        raise UsageError(
            f"Each process needs a GPU of its own; this machine has {cards}.",
            "Leave the number out of --device, and start as many processes as there are GPUs.",
        )
    if on_cpu:
        signal.signal(signal.SIGTERM, _ended)
    backend = {"backend": "gloo"} if on_cpu else {}
    state = PartialState(cpu=on_cpu, timeout=PATIENCE, **backend)
    return "cpu" if on_cpu else str(state.device)


def _ended(*_: Any) -> None:
    raise _lost()


def _lost() -> Exception:
    """What a process ends with when another one has; torchrun's signal, which follows, must not say it again."""
    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if rank() > 1:  # the first two speak for all
        raise SystemExit(1)
    return WorkerLost(
        "Another process of this training has ended, so this one ends too.",
        "Its own message stands above. The same command goes on from the last checkpoint.",
    )


def part() -> None:
    """End what binds the processes; from here on each is alone."""
    if world() > 1:
        from accelerate import PartialState

        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        distributed.destroy_process_group()
        PartialState._reset_state()


@contextmanager
def _together() -> Iterator[None]:
    """Whatever an exchange fails with, when another process is gone, as a sentence."""
    try:
        yield
    except RuntimeError as error:
        raise _lost() from error


def of_first(make: Callable[[], Made]) -> Made:
    """What the first process makes, for all; if it fails there, the others end without a word.

    Raises: as ``make``; SystemExit in the others.
    """
    if world() == 1:
        return make()
    made: list[Any] = [None, False]
    try:
        if rank() == 0:
            made = [make(), True]
    finally:
        with _together():
            distributed.broadcast_object_list(made)
    if not made[1]:
        raise SystemExit(1)
    return made[0]


def after_first(make: Callable[[], Made]) -> Made:
    """Each process's own, made by the first before the others, which then find in the cache what it left there."""
    if world() == 1:
        return make()
    own: list[Made] = []
    of_first(lambda: own.append(make()))
    return own[0] if own else make()


# -- a process's share of a batch --------------------------------------------------------------------------------------


def share(batch: int, parts: int = 1) -> int:
    """A process's photos of a batch that has ``parts`` of different use.  Raises: ConfigError if they are not even."""
    if batch % (parts * world()) and world() > 1:
        fit = [n for n in range(2, batch + 1) if batch % (parts * n) == 0]
        numbers = f"{', '.join(map(str, fit))} can" if fit else "None can"
        raise ConfigError(
            f"{world()} processes cannot share batches of {batch} photos evenly.",
            f"{numbers}. Start as many, or set another batch in the recipe.",
        )
    return batch // world()


def mine(batch: Tensor) -> Tensor:
    """The rows of this process of what is for all, (n, ...)."""
    if world() == 1:
        return batch
    return batch[rank() :: world()]


def drawn(draw: Callable[..., Tensor], size: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Random numbers (n, ...) of this process's n photos, out of those that all have.

    draw: such as ``torch.rand``.
    """
    batch = (size[0] * world(), *size[1:])
    return mine(draw(batch, generator=generator, device=generator.device))


# -- exchange ----------------------------------------------------------------------------------------------------------


class _Sum(torch.autograd.Function):
    """The sum over processes; its gradient is the sum of theirs."""

    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        return _summed(values)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        return _summed(gradients[0])


def _summed(values: Tensor) -> Tensor:
    total = values.detach().contiguous().clone()
    with _together():
        distributed.all_reduce(total)
    return total


def averaged(values: Tensor) -> Tensor:
    """The mean over processes, through which gradients flow."""
    if world() == 1:
        return values
    mean: Tensor = _Sum.apply(values.float()) / world()
    return mean


def mean_values(values: list[float]) -> list[float]:
    """The means over processes of a few numbers."""
    if world() == 1:
        return values
    device = "cuda" if distributed.get_backend() == "nccl" else "cpu"
    total = _summed(torch.tensor(values, dtype=torch.float64, device=device))
    return (total / world()).tolist()


def mean_of_rows(rows: Tensor) -> Tensor:
    """The mean over the rows (n, ...) of all processes, which may have different numbers of them."""
    if world() == 1:
        return rows.mean(0)
    total: Tensor = _Sum.apply(rows.sum(0))
    return total / _summed(total.new_tensor(len(rows))).clamp(min=1)


def gathered(rows: Tensor) -> Tensor:
    """Rows (n, ...) of all processes in their common order, (W n, ...); no gradient flows through."""
    if world() == 1:
        return rows
    every = [torch.empty_like(rows, memory_format=torch.contiguous_format) for _ in range(world())]
    with _together():
        distributed.all_gather(every, rows.detach().contiguous())
    return torch.stack(every, 1).flatten(0, 1)


def average_gradients(parameters: Iterable[Tensor]) -> None:
    """The mean over processes of every gradient, in one exchange."""
    if world() == 1:
        return
    gradients = [p.grad for p in parameters if p.grad is not None]
    flat = _summed(torch.cat([gradient.flatten() for gradient in gradients])).div_(world())
    parts = flat.split([gradient.numel() for gradient in gradients])
    for gradient, part_ in zip(gradients, parts, strict=True):
        gradient.copy_(part_.view_as(gradient))


# -- layers that look at a whole batch ---------------------------------------------------------------------------------


class _BatchNorm(nn.BatchNorm2d):
    """Batch norm by the mean and variance over all processes; torch's own needs a GPU."""

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or world() == 1:
            return super().forward(x)
        wide = x.float()
        mean = averaged(wide.mean((0, 2, 3)))
        centred = wide - mean[:, None, None]
        variance = averaged(centred.square().mean((0, 2, 3)))
        with torch.no_grad():
            values = x.numel() // x.shape[1] * world()
            news = mean, variance * values / (values - 1)
            for running, new in zip((self.running_mean, self.running_var), news, strict=True):
                if running is not None:
                    running.lerp_(new, self.momentum or 0.1)
            if self.num_batches_tracked is not None:
                self.num_batches_tracked.add_(1)
        scale = (variance + self.eps).rsqrt()
        if self.weight is not None:
            scale = scale * self.weight
        normal = centred * scale[:, None, None]
        if self.bias is not None:
            normal = normal + self.bias[:, None, None]
        return normal.to(x.dtype)


class _Dropout(nn.Dropout):
    """Dropout by the numbers that one process would draw."""

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or world() == 1:
            return super().forward(x)
        kept = x.new_empty(len(x) * world(), *x.shape[1:]).bernoulli_(1 - self.p)
        return x * mine(kept.div_(1 - self.p))


def joined(network: nn.Module) -> None:
    """Let a network's layers that look at a whole batch look at that of all processes."""
    if world() == 1:
        return
    for module in network.modules():
        if type(module) is nn.BatchNorm2d:
            module.__class__ = _BatchNorm
        elif type(module) is nn.Dropout:
            module.__class__ = _Dropout
