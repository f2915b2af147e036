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
import math
import os
import random
import sys
import tempfile
import time
from collections import Counter
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.torture import shim


def arguments() -> argparse.Namespace:
    """What was typed."""
    from tests.torture.scenarios import SCENARIOS

    parser = argparse.ArgumentParser(
        prog="python -m tests.torture", description=__doc__.split("\n")[0]
    )
    add = parser.add_argument
    add("--scenario", choices=SCENARIOS, action="append", help="only this; may be repeated")
    add("--kind", choices=shim.ALL, action="append", help="only such calls; may be repeated")
    add("--every", type=int, default=1, help="only each N-th point of a kind, beginning by lot")
    add(
        "--seconds",
        type=float,
        default=float("inf"),
        help="for each scenario; the kinds take turns",
    )
    add("--point", help="only this, as a finding names it; its place is printed with a traceback")
    add("--seed", type=int, default=0)
    return parser.parse_args()


def points(
    counts: dict[str, int], kinds: list[str], every: int, lot: random.Random
) -> list[shim.Point]:
    """Every call once with an error of its kind in turn, and with it all later ones; the kinds in turn, each by lot."""
    chosen: list[list[shim.Point]] = []
    for kind in kinds:
        if kind == shim.OBJECTS:
            draws = [
                int(math.exp(lot.uniform(0, math.log(shim.MOST_OBJECTS))))
                for _ in range(2000 // every)
            ]
            chosen.append([shim.Point(kind, number, errno.ENOMEM) for number in draws])
            continue
        errors = shim.ERRORS[kind]
        lasting = [error for error in errors if error not in (shim.HALF, errno.EINTR)]
        of_kind = []
        for turn, number in enumerate(range(1 + lot.randrange(every), counts[kind] + 1, every)):
            of_kind.append(shim.Point(kind, number, errors[turn % len(errors)]))
            of_kind.append(shim.Point(kind, number, lasting[turn % len(lasting)], forever=True))
        lot.shuffle(of_kind)
        chosen.append(of_kind)
    return [point for turn in zip_longest(*chosen) for point in turn if point]


def tortured(bench: Any, name: str, typed: argparse.Namespace) -> int:
    """One scenario; how many points ended badly."""
    counts = bench.calm()
    kinds = typed.kind or list(shim.ALL)
    todo = points(counts, kinds, typed.every, random.Random(typed.seed))
    if typed.point:
        todo = [shim.named(typed.point)]
    began = time.monotonic()
    tried: Counter[str] = Counter()
    found = 0
    for point in todo:
        seconds = time.monotonic() - began
        if seconds > typed.seconds:
            break
        problem = bench.torture(point, trace=bool(typed.point))
        tried[point.kind] += 1
        if problem:
            found += 1
            print(f"{name}: {point}: {problem}", flush=True)
    kinds = [kind for kind in kinds if tried[kind]]
    print(
        f"{name}: calls: {', '.join(f'{kind} {count}' for kind, count in counts.items() if count)}"
    )
    print(f"{name}: tried: {', '.join(f'{kind} {tried[kind]}' for kind in kinds)}")
    ends = ", ".join(f"{code} {count}" for code, count in sorted(bench.ends.items()))
    seconds = time.monotonic() - began
    print(
        f"{name}: {tried.total()} of {len(todo)} points in {seconds:.0f} s; exit codes: {ends}; {found} found",
        flush=True,
    )
    return found


def main() -> int:
    """The command; 1 if something was found."""
    from tests.torture.bench import Bench
    from tests.torture.scenarios import SCENARIOS
    from tests.torture.service import asked_elsewhere

    typed = arguments()
    found = 0
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where a sync takes no time
    with tempfile.TemporaryDirectory(prefix="torture-", dir=fast) as folder:
        home = Path(folder)
        with asked_elsewhere(home / "asked.txt") as service:
            for name in typed.scenario or SCENARIOS:
                found += tortured(Bench(name, home, service), name, typed)
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
