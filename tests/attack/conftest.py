"""What the attacks share: a command in a separate process, measured."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GIB = 1 << 30


@dataclass(frozen=True)
class Ended:
    """code: the exit code.  cpu: seconds, which a busy machine does not lengthen.  peak: bytes of resident memory."""

    code: int
    out: str
    err: str
    cpu: float
    peak: int


Attacked = Callable[..., Ended]


@pytest.fixture
def attacked(tiny_models: Path) -> Attacked:
    """Runs ``python -m gslopes …``, or a program, in a separate process."""

    def run(*args: object, program: str = "") -> Ended:
        options = {"GSLOPES_HOME": str(tiny_models), "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)}
        line = [
            sys.executable,
            *(("-c", program) if program else ("-m", "gslopes")),
            *map(str, args),
        ]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                line, stdout=out, stderr=err, env=os.environ | options, cwd=ROOT
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            texts = (file.read().decode("utf-8", "backslashreplace") for file in (out, err))
            return Ended(
                process.returncode, *texts, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10
            )

    return run
