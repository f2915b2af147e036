"""What is seen while classifiers are asked: one line each on stderr, with rate, money, time left and refusals."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gslopes.score.budget import Tally

EVERY = 60.0  # seconds between lines where nobody sits at a terminal


class Meters:
    """Progress of several classifiers at once: lively lines on a terminal, a line a minute in a log file.

    show: whether anybody looks.
    """

    def __init__(self, show: bool) -> None:
        self._show = show
        self._lively = show and sys.stderr.isatty()
        self._bars: dict[str, Any] = {}
        self._totals: dict[str, tuple[int, int]] = {}
        self._begun = self._told = time.monotonic()

    @contextmanager
    def watch(self, totals: Mapping[str, tuple[int, int]]) -> Iterator[None]:
        """Show a line for each classifier that has something to do.

        totals: name to (pictures done by earlier commands, all pictures).
        """
        self._totals = dict(totals)
        if self._lively:
            from tqdm import tqdm

            for place, (name, (done, total)) in enumerate(totals.items()):
                shape: dict[str, Any] = {"file": sys.stderr, "dynamic_ncols": True, "mininterval": 0.2}
                name_shown = f"score      {name}"[:40]
                self._bars[name] = tqdm(
                    desc=name_shown,
                    unit=" pictures",
                    total=total,
                    initial=done,
                    position=place,
                    smoothing=0.05,
                    **shape,
                )
        try:
            yield
        finally:
            for bar in self._bars.values():
                bar.close()
            self._bars.clear()

    def update(self, tallies: Mapping[str, Tally]) -> None:
        """Bring the lines up to date; to be called by one thread."""
        for name, bar in self._bars.items():
            tally = tallies[name]
            bar.set_postfix_str(str(tally), refresh=False)
            bar.update(bar.initial + tally.pictures - bar.n)
        if self._show and not self._lively and time.monotonic() - self._told >= EVERY:
            self._told = time.monotonic()
            for name in self._totals:
                print(self._line(name, tallies[name]), file=sys.stderr, flush=True)  # noqa: T201 - progress

    def _line(self, name: str, tally: Tally) -> str:
        before, total = self._totals[name]
        rate = tally.pictures / max(time.monotonic() - self._begun, 1e-9)
        left = (total - before - tally.pictures) / rate / 60 if rate else float("inf")
        told = f", {tally}" if str(tally) else ""
        done = before + tally.pictures
        return (
            f"score      {name}: {done:,} of {total:,} pictures, {rate:,.1f} a second, {left:,.0f} minutes left{told}"
        )
