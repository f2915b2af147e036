"""Errors in every call: each ends in a sentence, and the same command, repeated, ends as an undisturbed one.

    python -m tests.torture --scenario cache --seconds 600
    python -m tests.torture --every 7
    python -m tests.torture --scenario audit --point "write 12 ENOSPC from then on"

The command first runs undisturbed, and its calls are counted. Then, in a copy of the folder each time, it runs once for
every call that is made to fail, and once more without errors. See ``shim.c`` for what counts as a call.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
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
    add("--points", type=int, help="so many for each scenario")
    add("--point", help="only this, as a finding names it; its place is printed with a traceback")
    add("--seed", type=int, default=0)
    return parser.parse_args()


def tortured(bench: Any, name: str, typed: argparse.Namespace) -> int:
    """One scenario; how many points ended badly."""
    counts = bench.calm()
    kinds = typed.kind or list(shim.ALL)
    todo = shim.points(counts, kinds, typed.every, typed.seed)
    todo = todo[: typed.points]
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
    with tempfile.TemporaryDirectory(prefix="torture-", dir=shim.fast()) as folder:
        home = Path(folder)
        with asked_elsewhere(home / "asked.txt") as service:
            for name in typed.scenario or SCENARIOS:
                found += tortured(Bench(name, home, service), name, typed)
    return int(found > 0)


if __name__ == "__main__":
    shim.preloaded("tests.torture")
    sys.exit(main())
