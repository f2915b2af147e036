"""What the training loops share: steps that resume, one descent, averaged weights, a schedule."""

from __future__ import annotations

import io
import json
import math
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from tqdm import tqdm

from gslopes.core.progress import tell
from training.parallel import average_gradients, joined, mean_values, of_first, rank, world
from training.shards import Renewed
from training.watch import Watch


class Steps:
    """The steps of a loop: iterate over them, and finish each with ``end``. A resumed run goes on as if never stopped.

    folder: of the checkpoint ``state.pt`` and of ``log.jsonl``.  steps: the last one.
    parts: name to module or optimiser (anything with ``state_dict``); restored if there is a checkpoint.
    report_every, save_every: steps between two lines of the log, and between two checkpoints; the last is always saved.
    watch: what is shown besides.
    """

    def __init__(
        self,
        folder: Path,
        steps: int,
        parts: dict[str, Any],
        *,
        report_every: int,
        save_every: int,
        watch: Watch | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.steps = steps
        self.parts = parts
        self.report_every = report_every
        self.save_every = save_every
        self.leads = rank() == 0
        self.watch = watch or Watch()
        for part in parts.values():
            if isinstance(part, nn.Module):
                joined(part)
        self.first = self.done = load_state(folder / "state.pt", parts)

    def __iter__(self) -> Iterator[int]:
        if self.leads:
            self.watch.begin(self.first)
            if self.first < self.steps:
                tell(f"Step {self.first + 1:,} of {self.steps:,} begins.")
        self.bar = tqdm(
            total=self.steps,
            initial=self.first,
            unit="step",
            mininterval=5,
            disable=not self.leads,
        )
        self.began = time.monotonic()
        with self.bar:
            yield from range(self.first, self.steps)
        self.watch.end()

    def renewed(self, step: int) -> Iterator[Renewed]:
        """Photos that take others' places before this step; none if all are in memory."""
        if self.watch.feed is not None:
            yield from self.watch.feed.renewed(step)

    def end(self, **metrics: Tensor | float) -> None:
        """One more step is done; report its metrics and save when it is time."""
        self.done += 1
        self.bar.update()
        if self.done % self.report_every == 0:
            values = [v.item() if isinstance(v, Tensor) else v for v in metrics.values()]
            values = mean_values(values)
            if self.leads:
                self._report(dict(zip(metrics, values, strict=True)))
        if self.leads and (self.done % self.save_every == 0 or self.done == self.steps):
            save_state(self.folder / "state.pt", self.done, self.parts)
        if self.leads and "average" in self.parts:
            average = self.parts["average"].state_dict()
            self.watch.show(self.done, self.done == self.steps, average)

    def _report(self, metrics: dict[str, float]) -> None:
        """Add a line to the log: the step, steps per second since the start, and the metrics."""
        rate = (self.done - self.first) / max(time.monotonic() - self.began, 1e-9)
        row = {
            "step": self.done,
            "steps_per_s": float(f"{rate:.4g}"),
            **{k: round(v, 5) for k, v in metrics.items()},
        }
        with (self.folder / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        rate_of = next((p for p in self.parts.values() if isinstance(p, Optimizer)), None)
        learning = {"rate": float(rate_of.param_groups[0]["lr"])} if rate_of else {}
        self.watch.report(self.done, {**metrics, **learning, "steps_per_s": rate})
        self.bar.set_postfix({k: f"{v:.3g}" for k, v in metrics.items()})


def save_state(path: Path, step: int, parts: dict[str, Any]) -> None:
    """Write all that the next step depends on, torch's random numbers (dropout) among it, atomically."""
    partial = path.with_suffix(".partial")
    torch.save(state_of(step, parts), partial)
    os.replace(partial, path)


def state_of(step: int, parts: dict[str, Any]) -> dict[str, Any]:
    """What ``save_state`` writes."""
    state = {name: part.state_dict() for name, part in parts.items()}
    return {"step": step, "state": state, "random": {"torch": torch.get_rng_state()}}


def load_state(path: Path, parts: dict[str, Any]) -> int:
    """Restore what ``save_state`` wrote; returns the step to go on with, 0 if there is no file."""
    if world() == 1 and not path.is_file():
        return 0
    stored = torch.load(_held(path, parts), map_location="cpu", weights_only=True)
    for name, part in parts.items():
        part.load_state_dict(stored["state"][name])
    torch.set_rng_state(stored["random"]["torch"])
    return int(stored["step"])


def _held(path: Path, parts: dict[str, Any]) -> Path | io.BytesIO:
    """The checkpoint; of several processes the first one's bytes, or its weights if there is none yet."""
    if world() == 1:
        return path

    def read() -> bytes:
        if path.is_file():
            return path.read_bytes()
        buffer = io.BytesIO()
        torch.save(state_of(0, parts), buffer)
        return buffer.getvalue()

    return io.BytesIO(of_first(read))


def seed_step(seed: int, step: int, *generators: torch.Generator) -> None:
    """Seed generators for one step, so that all that is random in it comes from its number."""
    for generator in generators:
        generator.manual_seed(seed + 1000003 * step)


def set_rate(optimiser: Optimizer, rate: float) -> float:
    """Set the learning rate of all parameters and return it; a rate held on a device changes in its place."""
    for group in optimiser.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate
    return rate


def one_cycle(optimiser: Optimizer, peak: float, step: int, steps: int) -> float:
    """Set and return the rate of a step: up to the peak within the first tenth of them, and down to 0 on a cosine.

    peak: the rate that the schedule stays just below.  step: from 0.

    Source: Smith & Topin 2019, arXiv 1708.07120, with a cosine in place of the second line.
    """
    rate = (
        peak * min(1.0, (step + 1) / (0.1 * steps)) * 0.5 * (1 + math.cos(math.pi * step / steps))
    )
    return set_rate(optimiser, rate)


def descend(optimiser: Optimizer, loss: Tensor, clip: float = 0.0) -> None:
    """One step down a loss, the mean of all processes' losses.

    clip: longest gradient, L2; 0 for any.
    """
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    trained = [p for group in optimiser.param_groups for p in group["params"]]
    average_gradients(trained)
    if clip:
        nn.utils.clip_grad_norm_(trained, clip)
    optimiser.step()


class Captured:
    """A step of fixed shapes: a CUDA device records it as one graph and replays that; elsewhere it is only called.

    Of several processes none records: a graph with exchanges in it has been tried on no machine.

    step: takes tensors, changes weights in place and gives metrics; nothing in it may wait for the device.
    """

    WARM = 12  # calls before the recording: libraries choose their kernels

    def __init__(self, step: Callable[..., dict[str, Tensor]], device: str) -> None:
        self.step = step
        self.cuda = torch.device(device).type == "cuda" and world() == 1
        self.calls = 0
        self.graph: torch.cuda.CUDAGraph | None = None
        self.inputs: list[Tensor] = []
        self.outputs: dict[str, Tensor] = {}
        self.aside = torch.cuda.Stream(device) if self.cuda else None

    def __call__(self, *inputs: Tensor) -> dict[str, Tensor]:
        """The step's metrics; after the recording, valid until the next call."""
        self.calls += 1
        if self.aside is None:
            return self.step(*inputs)
        if self.calls <= self.WARM:
            self.aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.aside):
                metrics = self.step(*inputs)
            torch.cuda.current_stream().wait_stream(self.aside)
            return metrics
        if self.graph is None:
            self.inputs = [given.clone() for given in inputs]
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.outputs = self.step(*self.inputs)
        for held, given in zip(self.inputs, inputs, strict=True):
            held.copy_(given)
        self.graph.replay()
        return self.outputs


class Ema:
    """An exponential moving average of a network's weights; buffers are copied.

    decay: share of the old average that each step keeps.
    """

    def __init__(self, module: nn.Module, average: nn.Module, decay: float) -> None:
        self.average = average.requires_grad_(False).eval()
        self.average.load_state_dict(module.state_dict())
        self.state_dict = self.average.state_dict
        self.load_state_dict = self.average.load_state_dict
        self.decay = decay

    @torch.no_grad()
    def update(self, module: nn.Module, step: int) -> None:
        """Move the average towards the weights; early steps move it faster, so that it forgets its random start."""
        decay = min(self.decay, (1 + step) / (10 + step))
        for average, theirs in zip(self.average.parameters(), module.parameters(), strict=True):
            average.lerp_(theirs, 1 - decay)
        for held, given in zip(self.average.buffers(), module.buffers(), strict=True):
            held.copy_(given)
