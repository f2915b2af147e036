"""Copies of this process that do a piece of work and are ended in the middle of it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gslopes.cli.main import Interrupts, _explain
from gslopes.core import tables


@dataclass(frozen=True)
class End:
    """code: negative for a signal.  seconds: its run.  after: from the last signal to the end.  stderr: its text."""

    code: int
    seconds: float
    after: float
    stderr: str


class Child:
    """A copy of this process that does the work as the command line would; a full disk does not silence it.

    before: done in it first.
    """

    def __init__(
        self, work: Callable[[], object], before: Callable[[], object] = lambda: None
    ) -> None:
        self.began = self.last = time.monotonic()
        self._reading, writing = os.pipe()
        self.number = os.fork()
        if self.number == 0:
            self._do(work, before, writing)
        os.close(writing)

    def _do(self, work: Callable[[], object], before: Callable[[], object], writing: int) -> None:
        code = 1
        try:
            os.dup2(writing, 1)
            os.dup2(writing, 2)
            sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
            signal.signal(signal.SIGINT, signal.default_int_handler)
            Interrupts().install()
            before()
            work()
            code = 0
        except KeyboardInterrupt:
            code = 130
        except Exception as error:
            code = _explain(error, debug=False)
        finally:
            sys.stderr.flush()
            os._exit(code)

    def send(self, number: int) -> None:
        """A signal."""
        os.kill(self.number, number)
        self.last = time.monotonic()

    def end(self, most: float = 120.0, signals: Sequence[tuple[float, int]] = ()) -> End:
        """How it ended.  signals: (seconds after the start or the signal before, its number), in this order."""
        todo = list(signals)
        while True:
            pid, status = os.waitpid(self.number, os.WNOHANG)
            now = time.monotonic()
            if pid:
                with os.fdopen(self._reading, encoding="utf-8", errors="replace") as text:
                    return End(
                        os.waitstatus_to_exitcode(status),
                        now - self.began,
                        now - self.last,
                        text.read(),
                    )
            if todo and now - self.last > todo[0][0]:
                self.send(todo.pop(0)[1])
            elif now - self.began > most:
                self.send(signal.SIGKILL)
            time.sleep(0.002)


def ended(
    work: Callable[[], object],
    signals: Sequence[tuple[float, int]] = (),
    before: Callable[[], object] = lambda: None,
    most: float = 120.0,
) -> End:
    """Do the work in a child."""
    return Child(work, before).end(most, signals)


def made(run: Path) -> dict[str, bytes]:
    """Tables of a run folder, or the files of an export, by name; a table as it is read."""
    facts = {}
    for path in sorted(run.rglob("*")):
        inner = path.relative_to(run)
        if path.suffix == ".parquet" and inner.parts[0] != "parts" and path.stem in tables.TABLES:
            facts[str(inner)] = tables.read(tables.TABLES[path.stem], path).to_json().encode()
        elif (
            path.suffix in (".parquet", ".jpg", ".tar", ".md", ".safetensors")
            and inner.parts[0] != "parts"
        ):
            facts[str(inner)] = path.read_bytes()
    return facts
