"""One scenario on the bench: its command, undisturbed and with one error each time, in copies of this process."""

from __future__ import annotations

import faulthandler
import os
import shutil
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from matplotlib.figure import Figure

from gslopes.ask import transport
from gslopes.ask.retry import RetryPolicy
from tests.fixtures import save_empty
from tests.torture.scenarios import SCENARIOS, run
from tests.torture.service import Classifier
from tests.torture.shim import KINDS, OBJECTS, Point, Shim

MOST = 60.0  # seconds: what takes longer hangs
RETRY = "--retry-failed"
BATCH = 2  # pictures in flight


@dataclass(frozen=True)
class End:
    """How a command ended: its code (negative for a signal), what it printed on stderr, and where the error came."""

    code: int
    stderr: str
    hit: str = ""
    counts: tuple[int, ...] = ()


class Bench:
    """A scenario with its folder; the path of what is tortured is the same each time."""

    def __init__(self, name: str, folder: Path, service: Classifier) -> None:
        self.scenario, self.service = SCENARIOS[name], service
        self.template, self.home = folder / f"{name}-template", folder / name / "w"
        self.report = folder / "report.txt"
        self.ends: Counter[str] = Counter()
        self.shim = Shim()
        Figure.savefig = save_empty  # type: ignore[method-assign]
        RetryPolicy.delay = lambda *_: 0.001  # type: ignore[method-assign]
        transport.SECONDS = 5.0
        metadata.entry_points = cache(metadata.entry_points)
        connect = sqlite3.connect
        sqlite3.connect = lambda *path, **options: connect(*path, **{**options, "timeout": 0.2})

    def calm(self) -> dict[str, int]:
        """What the undisturbed command makes and asks is what is compared; its calls of each kind."""
        self.home.mkdir(parents=True)
        with silenced(self.report):
            self.scenario.prepare(self.home, self.service.url)
            shutil.copytree(self.home, self.template)
            self.service.forget()
            run(self.scenario.command(self.home, self.service.url))  # imports what is imported late
        self.renew()
        end = self.ended(None)
        assert end.code in (0, 3), end.stderr
        self.code, self.made, self.questions = (
            end.code,
            self.scenario.facts(self.home),
            self.service.asked(),
        )
        assert self.made
        assert bool(self.questions) == self.scenario.asks
        self.renew()
        assert self.ended(None).code == end.code
        assert self.differs() == ""
        return dict(zip(KINDS, end.counts, strict=True))

    def renew(self) -> None:
        """The folder as it was before the command."""
        shutil.rmtree(self.home)
        shutil.copytree(self.template, self.home)
        self.service.forget()

    def differs(self) -> str:
        """The first file that is not as the undisturbed command left it."""
        made = self.scenario.facts(self.home)
        for name in sorted({*made, *self.made}):
            if made.get(name) != self.made.get(name):
                return name
        return ""

    def torture(self, point: Point, *, trace: bool = False) -> str:
        """What is wrong after an error there; empty if nothing is."""
        self.renew()
        end = self.ended(point, trace)
        told = end.stderr.strip().splitlines()
        where = end.hit.removeprefix(f"{self.home}/")
        if trace:
            print(f"hit {where}\n{end.stderr}")
        problem = self._first(point, end, told)
        asked_before = self.service.asked()
        if not problem and (
            end.code != self.code or self.differs() or asked_before != self.questions
        ):
            more = [RETRY] if RETRY in end.stderr else []  # it said so
            again = self.ended(None, more=more)
            if RETRY in again.stderr:
                again = self.ended(None, more=[RETRY])
            problem = self._repeated(point, end, again, asked_before)
        self.ends[str(end.code) if end.hit else "not reached"] += 1
        last = next((line for line in reversed(told) if line.startswith("gslopes: ")), "")
        return problem and f"{problem} (at {where}; exit {end.code}: {last[:300]})"

    def _first(self, point: Point, end: End, told: list[str]) -> str:
        if end.code == -signal.SIGKILL:
            return "hangs"
        if point.kind == OBJECTS and end.code in (-signal.SIGSEGV, -signal.SIGABRT):
            return ""  # a library in C that does not look whether it was given memory: as a kill
        if end.code < 0 or end.code not in (0, 1, 2, 3):
            return f"ends with {end.code}"
        if "Traceback" in end.stderr or "Unexpected" in end.stderr:
            return "Unexpected"
        sentences = [line for line in told if line.startswith("gslopes: ")]
        if end.code not in (0, 3) and len(sentences) != 1:
            return f"{len(sentences)} sentences"
        if end.code == self.code and (name := self.differs()):
            return f"silent: {name} differs"
        return ""

    def _repeated(self, point: Point, end: End, again: End, before: Counter[str]) -> str:
        if again.code != self.code:
            return f"repeated, it ends with {again.code}: {again.stderr.strip()[-300:]}"
        if name := self.differs():
            return f"repeated, {name} differs"
        asked = self.service.asked()
        if set(asked) != set(self.questions):
            return "other pictures were asked about"
        twice = (asked - self.questions).total()
        lost = (before - self.questions).total()  # a reply that never came is asked for again
        if twice - lost > BATCH or (
            lost > BATCH and point.kind not in ("recv", "send") and not point.forever
        ):
            return f"{twice} pictures were asked about twice, {lost} of them at once"
        return ""

    def ended(self, point: Point | None, trace: bool = False, more: Sequence[str] = ()) -> End:
        """How the command, with more options, ends in a copy of this process, with an error at a point."""
        self.report.write_text("")
        child = os.fork()
        if child == 0:
            self._do(point, trace, [*self.scenario.command(self.home, self.service.url), *more])
        deadline = time.monotonic() + MOST
        while not (status := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.005)
        text, _, counted = self.report.read_text(errors="replace").partition("\0")
        hit, *counts = counted.split("\0") if counted else ("?",)
        return End(os.waitstatus_to_exitcode(status[1]), text, hit, tuple(map(int, counts)))

    def _do(self, point: Point | None, trace: bool, command: list[str]) -> None:
        code = 1
        try:
            with silenced(self.report):
                if trace:
                    faulthandler.register(signal.SIGUSR1, file=2, all_threads=True)
                    faulthandler.dump_traceback_later(MOST - 1, file=2)
                self.shim.arm(self.home, point, trace=trace)
                code = run(command)
                self.shim.disarm()
            counts = [str(number) for number in self.shim.counts().values()]
            with self.report.open("a") as report:
                report.write("\0" + "\0".join([self.shim.hit(), *counts]))
        finally:
            os._exit(code)


@contextmanager
def silenced(file: Path) -> Iterator[None]:
    """Stderr goes into a file, stdout nowhere."""
    kept, streams = (os.dup(1), os.dup(2)), (sys.stdout, sys.stderr)
    with file.open("a") as to, open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(to.fileno(), 2)
        sys.stdout, sys.stderr = nowhere, open(2, "w", closefd=False)  # noqa: SIM115
        try:
            yield
        finally:
            sys.stderr.flush()
            sys.stdout, sys.stderr = streams
            for number, old in zip((1, 2), kept, strict=True):
                os.dup2(old, number)
                os.close(old)
