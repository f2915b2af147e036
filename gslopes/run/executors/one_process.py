"""One part after another, in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gslopes.run.executors.executor import Work, progress_line, tell


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
        with progress_line(self.progress, parts, label, unit, done) as tick:
            for index in parts:
                work(index, tick)

    def note(self, text: str) -> None:
        """A line on stderr, if progress is shown."""
        if self.progress:
            tell(text)
