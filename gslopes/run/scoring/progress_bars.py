"""What is seen while classifiers are asked: one line each on stderr, with rate, money, time left and refusals."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gslopes.score.cost import UsageStats

LOG_INTERVAL = 60.0  # seconds between lines where nobody sits at a terminal


class ProgressBars:
    """Progress of several classifiers at once: lively lines on a terminal, a line a minute in a log file.

    show: whether anybody looks.
    """

    def __init__(self, show: bool) -> None:
        self._show = show
        self._interactive = show and sys.stderr.isatty()
        self._bars: dict[str, Any] = {}
        self._totals: dict[str, tuple[int, int]] = {}
        self._begun = self._last_line = time.monotonic()

    @contextmanager
    def watch(self, totals: Mapping[str, tuple[int, int]]) -> Iterator[None]:
        """Show a line for each classifier that has something to do.

        totals: name to (pictures done by earlier commands, all pictures).
        """
        self._totals = dict(totals)
        if self._interactive:
            from tqdm import tqdm

            for position, (name, (done, total)) in enumerate(totals.items()):
                shape: dict[str, Any] = {"file": sys.stderr, "dynamic_ncols": True, "mininterval": 0.2}
                name_shown = f"score      {name}"[:40]
                self._bars[name] = tqdm(
                    desc=name_shown,
                    unit=" pictures",
                    total=total,
                    initial=done,
                    position=position,
                    smoothing=0.05,
                    **shape,
                )
        try:
            yield
        finally:
            for bar in self._bars.values():
                bar.close()
            self._bars.clear()

    def update(self, usages: Mapping[str, UsageStats]) -> None:
        """Bring the lines up to date; to be called by one thread."""
        for name, bar in self._bars.items():
            usage = usages[name]
            bar.set_postfix_str(str(usage), refresh=False)
            bar.update(bar.initial + usage.pictures - bar.n)
        if self._show and not self._interactive and time.monotonic() - self._last_line >= LOG_INTERVAL:
            self._last_line = time.monotonic()
            for name in self._totals:
                print(self._line(name, usages[name]), file=sys.stderr, flush=True)  # noqa: T201 - progress

    def _line(self, name: str, usage: UsageStats) -> str:
        before, total = self._totals[name]
        rate = usage.pictures / max(time.monotonic() - self._begun, 1e-9)
        left = (total - before - usage.pictures) / rate / 60 if rate else float("inf")
        details = f", {usage}" if str(usage) else ""
        done = before + usage.pictures
        state = f"{done:,} of {total:,} pictures, {rate:,.1f} a second, {left:,.0f} minutes left"
        return f"score      {name}: {state}{details}"
