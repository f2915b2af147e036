"""What a user sees of long work, on stderr: bars with the expected end on a terminal, a line a minute in a log file."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from math import inf
from threading import Lock
from typing import TYPE_CHECKING

from gslopes.core.text import many, printable, printable_lines

if TYPE_CHECKING:
    from rich.progress import Progress

LOG_INTERVAL = 60.0  # seconds between lines without a terminal
SOON = 5.0  # seconds after which a rate is known
WIDTH = 100  # columns at most
Tick = Callable[[int], None]
Watch = Callable[[int], AbstractContextManager[Tick]]
_shown: list[Progress] = []  # the bars on the screen; notes are printed above them


class Notes:
    """An executor's notes: lines on stderr, if it shows progress."""

    __slots__ = ()
    progress: bool

    def note(self, text: str) -> None:
        """A line on stderr, if progress is shown."""
        if self.progress:
            tell(text)


def is_shown(executor: object) -> bool:
    """Whether an executor shows progress; another package's need not have the attribute."""
    return bool(getattr(executor, "progress", False))


@contextmanager
def progress_line(
    shown: bool, parts: Mapping[int, int], label: str, unit: str, done: int = 0
) -> Iterator[Tick]:
    """A tick that moves a bar with the expected end, or does nothing.

    parts, label, unit, done: as ``executor.Executor`` has them.
    """
    total = done + sum(parts.values())
    if not shown:
        yield lambda count: None
        return
    if not sys.stderr.isatty():
        yield _line_a_minute(label, unit, done, total)
        return
    with _bars() as progress:
        task = progress.add_task(printable(label), total=total, completed=done, unit=unit)
        yield lambda count: progress.advance(task, count)


def counted(executor: object, label: str, unit: str) -> Watch:
    """For work that learns by itself how many steps it has: called with their number, it gives ``progress_line``."""
    return lambda total: progress_line(is_shown(executor), {0: total}, label, unit)


@contextmanager
def _bars() -> Iterator[Progress]:
    """A bar on the terminal: how much of all is done, and the time left (the time taken, at the end)."""
    from rich import progress as rich
    from rich.console import Console

    console = Console(file=sys.stderr, highlight=False, markup=False, emoji=False)
    console.width = min(console.width, WIDTH)
    columns = (
        rich.TextColumn("{task.description:<10}", markup=False),
        rich.BarColumn(18),
        rich.TextColumn(
            "{task.completed:,.0f}/{task.total:,.0f} {task.fields[unit]}", markup=False
        ),
        rich.TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    with rich.Progress(*columns, console=console, speed_estimate_period=60) as progress:
        _shown.append(progress)
        try:
            yield progress
        finally:
            _shown.remove(progress)


def minutes(seconds: float) -> str:
    """A time to come in words, in whole minutes.

    >>> minutes(20), minutes(100)
    ('under a minute', 'about 2 minutes')
    """
    if seconds < 60:
        return "under a minute"
    return f"about {many(round(seconds / 60), 'minute')}"


def tell(text: str) -> None:
    """A line on stderr, above the bars if there are any."""
    text = printable_lines(text)
    if _shown:
        _shown[-1].console.print(text, soft_wrap=True)
        return
    with suppress(OSError):  # of a full disk or a closed pipe: a note is not worth the work
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - a note


def _line_a_minute(label: str, unit: str, done: int, total: int) -> Tick:
    """For log files: a line at once, one as soon as a rate is measured, one a minute or if the end has moved, and one
    at the end; with the rate, and the time of the others.
    """
    begun = last = time.monotonic()
    now = done
    told = inf  # the seconds that the last line told
    lock = Lock()

    def tick(count: int) -> None:
        nonlocal now, last, told
        with lock:
            ended = now >= total
            now += count
            passed = time.monotonic() - begun
            rate = (now - done) / max(passed, 1e-9)
            left = (total - now) / rate if rate else inf
            since = time.monotonic() - last
            moved = since >= SOON and abs(told - since - left) > max(SOON, left / 2)
            if ended or (now < total and since < LOG_INTERVAL and not moved):
                return
            last += since
            told = left
            rest = ""
            if 0 < left < inf:
                rest = f", {minutes(left)} for the other {total - now:,}"
            tell(f"{label:<10} {now:,} of {total:,} {unit}, {rate:,.1f} a second{rest}")

    tell(f"{label:<10} {done:,} of {total:,} {unit}")
    return tick
