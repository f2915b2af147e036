"""What a training run leaves behind while it runs: one JSON line per report, and the last one on the progress bar."""

from __future__ import annotations

import json
import time
from pathlib import Path

from torch import Tensor
from tqdm import tqdm


class Log:
    """A log file of JSON lines in the run's folder, and a progress bar on stderr.

    steps: the last step.  start: the step to begin with, when resumed.
    quiet: write and show nothing, as all processes but the first do.
    """

    def __init__(self, folder: Path, steps: int, start: int, *, quiet: bool = False) -> None:
        self.path = folder / "log.jsonl"
        self.quiet, self.steps = quiet, steps
        self.bar = tqdm(total=steps, initial=start, unit="step", mininterval=5, disable=quiet)
        self.began = time.monotonic()
        self.first = start

    def end_step(self, done: int, report_every: int, save_every: int, **values: Tensor | float) -> bool:
        """One more step is done: report its values when it is time; whether it is time to save.

        done: steps so far, this one among them; the last one is always saved.
        """
        self.bar.update()
        if done % report_every == 0 and not self.quiet:
            self.report(done, **{k: v.item() if isinstance(v, Tensor) else v for k, v in values.items()})
        return done % save_every == 0 or done == self.steps

    def report(self, step: int, **values: float) -> None:
        """Add one line: the step, steps per second since the start, and the values."""
        rate = (step - self.first) / max(time.monotonic() - self.began, 1e-9)
        row = {"step": step, "steps_per_s": round(rate, 3), **{k: round(v, 5) for k, v in values.items()}}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        self.bar.set_postfix({k: f"{v:.3g}" for k, v in values.items()})

    def close(self) -> None:
        """End the progress bar."""
        self.bar.close()
