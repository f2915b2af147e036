"""What is shown while classifiers are asked: a line each on stderr, with rate, money, time left and refusals."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from gslopes.ask.cost import UsageStats
from gslopes.core.progress import LOG_INTERVAL, add_bar, bars, tell
from gslopes.core.text import many


class ProgressBars:
    """Progress of several classifiers at once: bars on a terminal, a line a minute in a log file.

    show: whether anybody looks.
    """

    def __init__(self, show: bool) -> None:
        self._show = show
        self._interactive = show and sys.stderr.isatty()
        self._progress: Any = None
        self._bars: dict[str, Any] = {}
        self._totals: dict[str, tuple[int, int]] = {}
        self._begun = self._last_line = time.monotonic()

    @contextmanager
    def watch(self, totals: Mapping[str, tuple[int, int]]) -> Iterator[None]:
        """Show a line for each classifier that has something to do.

        totals: name to (pictures done by earlier commands, all pictures).
        """
        self._totals = dict(totals)
        with ExitStack() as stack:
            if self._interactive:
                self._progress = stack.enter_context(bars())
                for name, (done, total) in totals.items():
                    self._bars[name] = add_bar(self._progress, f"score      {name}"[:40], "pictures", done, total)
            try:
                yield
            finally:
                self._bars.clear()

    def update(self, usages: Mapping[str, UsageStats]) -> None:
        """Bring the lines up to date; to be called by one thread."""
        for name, bar in self._bars.items():
            usage = usages[name]
            self._progress.update(bar, completed=self._totals[name][0] + usage.pictures, note=str(usage))
        if self._show and not self._interactive and time.monotonic() - self._last_line >= LOG_INTERVAL:
            self._last_line = time.monotonic()
            for name in self._totals:
                tell(self._line(name, usages[name]))

    def _line(self, name: str, usage: UsageStats) -> str:
        before, total = self._totals[name]
        rate = usage.pictures / max(time.monotonic() - self._begun, 1e-9)
        left = f"{(total - before - usage.pictures) / rate / 60:,.0f} minutes left" if rate else "time left unknown"
        details = f", {usage}" if str(usage) else ""
        done = before + usage.pictures
        state = f"{done:,} of {many(total, 'picture')}, {rate:,.1f} a second, {left}"
        return f"score      {name}: {state}{details}"
