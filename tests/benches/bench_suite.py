"""The quick suite: seconds of the wall and of the processor, and its ten slowest tests by name.

    python tests/benches/bench_suite.py [--workers 2] [--out results/suite.json]

Wall and processor tell a busy machine from a slow suite: on two quiet cores the first is half of the second.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402

SLOWEST = 10
LINE = re.compile(r"^([\d.]+)s (call|setup|teardown) +(\S+)$", re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    measure.say(run(args.workers), args.out)


def run(workers: int) -> dict[str, Any]:
    """One run; a suite that fails is no measurement."""
    machine = measure.machine()
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-n", str(workers)]
    command += ["--dist", "loadfile", f"--durations={SLOWEST}", "--durations-min=0"]
    began = time.perf_counter()
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode:
        raise SystemExit(ended.stdout[-4000:])
    counts = re.search(r"(\d+) passed(?:, (\d+) skipped)?", ended.stdout)
    assert counts is not None
    return {
        "bench": "suite", "machine": machine, "workers": workers,
        "passed": int(counts[1]), "skipped": int(counts[2] or 0),
        "seconds": round(seconds), "processor_seconds": round(used.ru_utime + used.ru_stime),
        "slowest": [
            {"test": test, "step": step, "seconds": float(number)}
            for number, step, test in LINE.findall(ended.stdout)
        ],
    }  # fmt: skip


if __name__ == "__main__":
    main()
