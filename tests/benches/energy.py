"""The power that the machine draws, as it reports: the GPU's meter, or the processor's counter of energy."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from threading import Event, Thread
from types import TracebackType

COUNTER = Path(
    "/sys/class/powercap/intel-rapl:0"
)  # microjoules of the first socket; AMD's processors have it, too
EVERY = 0.5  # seconds between two looks at a GPU


class Meter:
    """Mean watts while its block runs.

    device: a CUDA device's power is taken (``nvidia-smi``), otherwise the power of the processor's first socket
        (Linux's powercap counter, which often only root may read).

    watts: None without a meter that may be read.  source: what was read, in words.
    """

    def __init__(self, device: str) -> None:
        self.device = device
        self.watts: float | None = None
        self.source = ""
        self._readings: list[float] = []
        self._stop = Event()
        self._thread: Thread | None = None
        self._began: tuple[float, float] | None = None

    def __enter__(self) -> Meter:
        if self.device.startswith("cuda"):
            self._thread = Thread(target=self._watch, daemon=True)
            self._thread.start()
        elif (energy := _joules()) is not None:
            self._began = energy, time.monotonic()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            if self._readings:
                self.watts, self.source = sum(self._readings) / len(self._readings), "the GPU alone"
        if self._began is not None and (energy := _joules()) is not None:
            joules, seconds = energy - self._began[0], time.monotonic() - self._began[1]
            if joules >= 0 and seconds > 0:  # the counter runs over now and then
                self.watts, self.source = joules / seconds, "the processor's first socket"

    def _watch(self) -> None:
        index = self.device.partition(":")[2] or "0"
        while not self._stop.is_set():
            if (watts := gpu_watts(index)) is None:
                return
            self._readings.append(watts)
            self._stop.wait(EVERY)


def gpu_watts(index: str) -> float | None:
    """What an NVIDIA GPU draws now; None if unknown."""
    command = [
        "nvidia-smi",
        f"--id={index}",
        "--query-gpu=power.draw",
        "--format=csv,noheader,nounits",
    ]
    try:
        output = subprocess.run(
            command, capture_output=True, text=True, timeout=10, check=True
        ).stdout
        return float(output.strip())
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def _joules() -> float | None:
    try:
        return int((COUNTER / "energy_uj").read_text(encoding="ascii")) / 1e6
    except (OSError, ValueError):
        return None
