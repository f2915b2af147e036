"""What an executor is, what a work must offer to be sent elsewhere, and the line of progress that all of them show."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Protocol

from gslopes.core.errors import UsageError

LOG_INTERVAL = 60.0  # seconds between lines where nobody sits at a terminal
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


# -- work that travels ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RemoteTask:
    """What another process needs to do a work: no networks, which are built where they run.

    make: the work, made anew on a device; can be pickled.
    needs: files and folders that every machine must see under the same name.
    name: a part in words, for errors; stays here.
    """

    make: Callable[[str], Work]
    needs: tuple[Path, ...]
    name: Callable[[int], str]


class Portable(Protocol):
    """A work that other processes can do, too."""

    def __call__(self, part: int, tick: Tick) -> None:
        """As ``Work``."""
        ...

    def remote_task(self) -> RemoteTask:
        """What they need.  Raises: UsageError if it cannot be sent."""
        ...


def pack(work: Work | Portable) -> RemoteTask:
    """What another process needs to do a work.

    Raises: UsageError if it cannot be sent to another process.
    """
    if not hasattr(work, "remote_task"):
        raise UsageError("This stage cannot be sent to other processes.", "Use the engine one.")
    task: RemoteTask = work.remote_task()
    return task


# -- what the user sees -----------------------------------------------------------------------------------------------


@contextmanager
def progress_line(shown: bool, parts: Mapping[int, int], label: str, unit: str, done: int) -> Iterator[Tick]:
    """A tick that moves a line with the expected end on stderr, or does nothing. Arguments: as ``Executor``."""
    if not shown:
        yield _silent
        return
    if not sys.stderr.isatty():
        yield _line_a_minute(label, unit, done, done + sum(parts.values()))
        return
    from tqdm import tqdm

    with tqdm(
        desc=f"{label:<10}",
        unit=f" {unit}",
        total=done + sum(parts.values()),
        initial=done,
        file=sys.stderr,
        mininterval=0.2,
        dynamic_ncols=True,
        smoothing=0.05,
    ) as bar:

        def tick(count: int) -> None:
            bar.update(count)

        yield tick


def _line_a_minute(label: str, unit: str, done: int, total: int) -> Tick:
    """For log files: a line at once, then one a minute and one at the end, with the rate and the minutes left."""
    begun = last = time.monotonic()
    now = done
    lock = Lock()

    def tick(count: int) -> None:
        nonlocal now, last
        with lock:
            now += count
            passed = time.monotonic() - begun
            if now < total and time.monotonic() - last < LOG_INTERVAL:
                return
            last = time.monotonic()
            rate = (now - done) / max(passed, 1e-9)
            left = f", {(total - now) / rate / 60:,.0f} minutes left" if rate and now < total else ""
            print(f"{label:<10} {now:,} of {total:,} {unit}, {rate:,.1f} a second{left}", file=sys.stderr, flush=True)  # noqa: T201

    print(f"{label:<10} {done:,} of {total:,} {unit}", file=sys.stderr, flush=True)  # noqa: T201 - progress
    return tick


def tell(text: str) -> None:
    """A line on stderr; the progress line, if there is one, moves down."""
    from tqdm import tqdm

    tqdm.write(text, file=sys.stderr)


def _silent(count: int) -> None:
    """No progress wanted."""
