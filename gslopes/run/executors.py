"""How the parts of a stage are carried out. One way today: one after another, in this process.

An executor is called with the work, a function of (part, tick) that leaves the part's files and tables on the disk and
ticks for each photo done, and with the parts that are missing. Parts do not depend on one another, nor on the order in
which they are done: another executor may send them to other processes or machines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

Tick = Callable[[int], None]
Work = Callable[[int, Tick], None]


class Executor(Protocol):
    """Carries out parts, in any order; returns when all are done, raises the first error."""

    def __call__(self, work: Work, parts: Mapping[int, int], *, label: str, unit: str, done: int = 0) -> None:
        """Carry out the parts.

        parts: index of each missing part to how many units (photos, pictures) it has.
        label, unit: of the progress line.  done: units that earlier runs finished.
        """
        ...

    def note(self, text: str) -> None:
        """Tell the user something."""
        ...


@dataclass(frozen=True, slots=True)
class OneProcess:
    """One part after the other in this process.

    progress: show a line with the expected end, and notes, on stderr.
    """

    progress: bool = False

    def __call__(self, work: Work, parts: Mapping[int, int], *, label: str, unit: str, done: int = 0) -> None:
        """As ``Executor``."""
        if not parts:
            return
        if not self.progress:
            for index in parts:
                work(index, _silent)
            return
        from tqdm import tqdm

        # a log file gets a line a minute, a terminal a lively one
        interval = 0.2 if sys.stderr.isatty() else 60.0
        total = done + sum(parts.values())
        with tqdm(
            desc=f"{label:<10}",
            unit=f" {unit}",
            total=total,
            initial=done,
            file=sys.stderr,
            mininterval=interval,
            dynamic_ncols=True,
            smoothing=0.05,
        ) as bar:

            def tick(count: int) -> None:
                bar.update(count)

            for index in parts:
                work(index, tick)

    def note(self, text: str) -> None:
        """A line on stderr, if progress is shown."""
        if self.progress:
            print(text, file=sys.stderr, flush=True)  # noqa: T201 - this is the one place that talks while working


def _silent(count: int) -> None:
    """No progress wanted."""
