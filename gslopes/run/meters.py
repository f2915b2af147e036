"""What is seen while classifiers are asked: one line each on stderr, with rate, money, time left and refusals."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gslopes.score.budget import Tally


class Meters:
    """Progress lines of several classifiers at once; nothing is shown unless ``show``.

    show: whether anybody looks.
    """

    def __init__(self, show: bool) -> None:
        self._show = show
        self._bars: dict[str, Any] = {}

    @contextmanager
    def watch(self, totals: Mapping[str, tuple[int, int]]) -> Iterator[None]:
        """Show a line for each classifier that has something to do.

        totals: name to (pictures done by earlier commands, all pictures).
        """
        if self._show:
            from tqdm import tqdm

            # a log file gets a line a minute, a terminal a lively one
            lively = sys.stderr.isatty()
            for place, (name, (done, total)) in enumerate(totals.items()):
                self._bars[name] = tqdm(
                    desc=f"score      {name}"[:40],
                    unit=" pictures",
                    total=total,
                    initial=done,
                    file=sys.stderr,
                    position=place if lively else None,
                    mininterval=0.2 if lively else 60.0,
                    dynamic_ncols=True,
                    smoothing=0.05,
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
