"""What the attacks share: a command in a process of its own, measured."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GIB = 1 << 30


@dataclass(frozen=True)
class Ended:
    """How a process ended.

    code: the exit code, negative for a signal.  cpu: seconds of its processors, which a busy machine does not lengthen.
    peak: bytes of memory that were resident.  after: seconds from the last signal to the end.
    """

    code: int
    out: str
    err: str
    cpu: float
    peak: int
    after: float = 0.0


Attacked = Callable[..., Ended]


@pytest.fixture
def attacked(tiny_models: Path) -> Attacked:
    """Runs ``python -m gslopes …``, or a program, in a process of its own, which is ended after ``most`` seconds.

    signals: (seconds after the process has done what ``ready`` waits for, signal).  before: done in the process first.
    """

    def run(
        *args: object,
        program: str = "",
        environment: Mapping[str, str] | None = None,
        most: float = 240.0,
        signals: tuple[tuple[float, int], ...] = (),
        ready: Callable[[], bool] = lambda: True,
        before: Callable[[], object] | None = None,
    ) -> Ended:
        known = {"GSLOPES_HOME": str(tiny_models), "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)}
        line = [sys.executable, *(("-c", program) if program else ("-m", "gslopes")), *map(str, args)]
        began, last = time.monotonic(), 0.0
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            environ = os.environ | known | dict(environment or {})
            process = subprocess.Popen(line, stdout=out, stderr=err, env=environ, cwd=ROOT, preexec_fn=before)
            pid = usage = status = 0
            todo = list(signals)
            while pid == 0:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                now = time.monotonic()
                if pid == 0 and now > began + most:
                    process.kill()
                elif pid == 0 and todo and ((last and now > last + todo[0][0]) or (not last and ready())):
                    if last:
                        process.send_signal(todo.pop(0)[1])
                    last = now
                time.sleep(0.005)
            process.returncode = os.waitstatus_to_exitcode(status)
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode("utf-8", "backslashreplace"))
        ended = time.monotonic()
        after = ended - last if last and not todo else 0.0
        cpu = usage.ru_utime + usage.ru_stime
        return Ended(process.returncode, *texts, cpu, usage.ru_maxrss << 10, after)

    return run


KILL, STOP = signal.SIGKILL, signal.SIGINT
