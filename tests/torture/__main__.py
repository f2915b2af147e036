"""Errors in every call: each ends in a sentence, and the same command, repeated, ends as an undisturbed one.

    python -m tests.torture --scenario cache --seconds 600
    python -m tests.torture --every 7
    python -m tests.torture --scenario audit --point "write 12 ENOSPC from then on"

The command first runs undisturbed, and its calls are counted. Then, in a copy of the folder each time, it runs once for
every call that is made to fail, and once more without errors. See ``shim.c`` for what counts as a call.
"""

from __future__ import annotations

import argparse
import errno
import os
import random
import sys
import tempfile
import time
from collections import Counter
from itertools import zip_longest
from pathlib import Path

from tests.torture import shim


def arguments() -> argparse.Namespace:
    """What was typed."""
    from tests.torture.scenarios import SCENARIOS

    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__.split("\n")[0])
    parser.add_argument("--scenario", choices=SCENARIOS, action="append", help="only this; may be repeated")
    parser.add_argument("--kind", choices=shim.KINDS, action="append", help="only such calls; may be repeated")
    parser.add_argument("--every", type=int, default=1, help="only each N-th point of a kind, beginning by lot")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for each scenario; points are then drawn by lot")
    parser.add_argument("--point", help="only this, as a finding names it; its place is printed with a traceback")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def points(counts: dict[str, int], kinds: list[str], every: int, lot: random.Random) -> list[shim.Point]:
    """Every call once with an error of its kind in turn, and with it all later ones; the kinds in turn, each by lot."""
    chosen: list[list[shim.Point]] = []
    for kind in kinds:
        errors = shim.ERRORS[kind]
        lasting = [error for error in errors if error not in (shim.HALF, errno.EINTR)]
        of_kind = []
        for turn, number in enumerate(range(1 + lot.randrange(every), counts[kind] + 1, every)):
            of_kind.append(shim.Point(kind, number, errors[turn % len(errors)]))
            of_kind.append(shim.Point(kind, number, lasting[turn % len(lasting)], forever=True))
        lot.shuffle(of_kind)
        chosen.append(of_kind)
    return [point for turn in zip_longest(*chosen) for point in turn if point]


def main() -> int:
    """The command; 1 if something was found."""
    from tests.torture.bench import Bench
    from tests.torture.scenarios import SCENARIOS
    from tests.torture.service import asked_elsewhere

    typed = arguments()
    found = 0
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where a sync takes no time
    with tempfile.TemporaryDirectory(prefix="torture-", dir=fast) as folder, asked_elsewhere(Path(folder) / "asked.txt") as service:
        for name in typed.scenario or SCENARIOS:
            bench = Bench(name, Path(folder), service)
            counts = bench.calm()
            kinds = typed.kind or list(shim.KINDS)
            todo = points(counts, kinds, typed.every, random.Random(typed.seed))
            if typed.point:
                todo = [shim.named(typed.point)]
            began, tried, findings = time.monotonic(), Counter(), 0
            for point in todo:
                if time.monotonic() - began > typed.seconds:
                    break
                problem = bench.torture(point, trace=bool(typed.point))
                tried[point.kind] += 1
                if problem:
                    findings += 1
                    print(f"{name}: {point}: {problem}", flush=True)
            seconds = time.monotonic() - began
            calls = ", ".join(f"{kind} {counts[kind]}" for kind in kinds if counts[kind])
            points_tried = ", ".join(f"{kind} {tried[kind]}" for kind in kinds if tried[kind])
            print(f"{name}: calls: {calls}")
            print(f"{name}: {tried.total()} of {len(todo)} points in {seconds:.0f} s: {points_tried}; ends: {dict(bench.ends)}; {findings} found", flush=True)
            found += findings
    return int(found > 0)


def preloaded() -> None:
    """Begin again with the shim in this process."""
    reason = shim.why_not()
    if reason:
        sys.exit(f"tests.torture: {reason}")
    folder = tempfile.mkdtemp(prefix="torture-shim-")
    environment = {
        **os.environ,
        "LD_PRELOAD": str(shim.build(Path(folder))),
        "OMP_NUM_THREADS": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    os.execve(sys.executable, [sys.executable, "-m", "tests.torture", *sys.argv[1:]], environment)


if __name__ == "__main__":
    if "torture-shim-" not in os.environ.get("LD_PRELOAD", ""):
        preloaded()
    sys.exit(main())
