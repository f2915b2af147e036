"""What every bench here needs: the machine in words, rounds with the peer in turn, medians with their spread."""

from __future__ import annotations

import gc
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np


def machine(device: str = "cpu", packages: tuple[str, ...] = ("torch",)) -> dict[str, Any]:
    """The machine, how busy it was, and what else moves a time.

    device: of the networks.  packages: whose versions are named; none is imported for that.
    """
    facts: dict[str, Any] = {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in packages},
    }
    torch: Any = sys.modules.get("torch")
    facts["threads"] = torch.get_num_threads() if torch else os.environ.get("OMP_NUM_THREADS")
    if device.startswith("cuda"):
        import torch

        facts["gpu"] = torch.cuda.get_device_name(device)
    return facts


def in_turn(
    runs: Mapping[str, Callable[[], object]],
    rounds: int,
    device: str = "cpu",
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds of each run in every round, one after the other, so that a busy minute meets them all; one to warm up.

    clock: ``time.process_time`` for the processor's seconds, which other programs lengthen less.
    """
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            gc.collect()
            wait_for(device)
            began = clock()
            run()
            wait_for(device)
            if turn:
                seconds[name].append(clock() - began)
    return seconds


def wait_for(device: str) -> None:
    """Until a GPU has done what it was told."""
    if device.startswith("cuda"):
        import torch

        torch.cuda.synchronize(device)


def peak_mib() -> int:
    """The most memory that this program has held, by Linux; ``ru_maxrss`` would also count its parent's."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) >> 10


def spread(values: list[float], digits: int = 4) -> dict[str, float]:
    """Median and interquartile range."""
    low, middle, high = np.percentile(values, [25, 50, 75])
    return {"median": round(float(middle), digits), "iqr": round(float(high - low), digits)}


def ratios(seconds: Mapping[str, list[float]], ours: str = "ours") -> dict[str, dict[str, float]]:
    """How many times faster ours is than each of the others, round by round."""
    own_times = np.array(seconds[ours])
    return {
        name: spread((np.array(peer) / own_times).tolist(), 2)
        for name, peer in seconds.items()
        if name != ours
    }


def matrix_rate(device: str = "cpu", half: bool = False) -> float:
    """Operations per second of a large matrix product, fp32 or bf16: the ceiling for convolutions."""
    import torch

    side = 8192 if device.startswith("cuda") else 2048
    a = torch.rand(side, side, device=device, dtype=torch.bfloat16 if half else torch.float32)
    seconds = in_turn({"product": lambda: a @ a}, 7, device)["product"]
    return 2 * side**3 / float(np.median(seconds))


def copy_rate(device: str = "cpu") -> float:
    """Bytes per second that a large copy reads and writes."""
    import torch

    source = torch.ones(
        1 << (30 if device.startswith("cuda") else 26), dtype=torch.uint8, device=device
    )
    target = torch.empty_like(source)
    return (
        2
        * len(source)
        / float(np.median(in_turn({"copy": lambda: target.copy_(source)}, 7, device)["copy"]))
    )


def say(result: Mapping[str, Any], out: Path | None) -> None:
    """Print the result as JSON, and keep it if wanted."""
    text = json.dumps(result, indent=2) + "\n"
    sys.stdout.write(text)
    if out is not None:
        out.write_text(text, encoding="utf-8")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), ""
    )
