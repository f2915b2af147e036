"""The walk on a local Ray cluster: photos a second with 1, 2 and 4 workers, equal tables, and a worker that is killed.

    OMP_NUM_THREADS=1 python tests/benches/bench_workers.py PHOTOS [--limit 32] [--out results/workers.json]

Each run is of the same photos, in parts of four, three values; the first is one process with one thread. A run includes
the cluster's start and each worker's models. In the last run a worker is killed by SIGKILL once a part is written; the
machine's cores bound all of it: more workers than cores share them.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402

import gslopes  # noqa: E402
from gslopes.frame.executors import OneProcess, RayCluster  # noqa: E402
from tests.frame.executors.test_walk import files  # noqa: E402

PART = 4


def walked(
    photos: Path, run: Path, limit: int, executor: OneProcess | RayCluster
) -> dict[str, float]:
    """Seconds of a walk, and photos a second."""
    config = run.with_suffix(".toml")
    config.write_text(f"part = {PART}\nlimit = {limit}\n[edit]\nsteps = 3\n")
    began = time.perf_counter()
    gslopes.synthesise(photos, run, config=config, device="cpu", placebo=False, executor=executor)
    seconds = time.perf_counter() - began
    return {"seconds": round(seconds, 1), "photos_a_second": round(limit / seconds, 2)}


def kill_one(run: Path, killed: list[int]) -> None:
    """SIGKILL to one of Ray's workers of this cluster as soon as a part is there."""
    while not list((run / "parts" / "synthesise").glob("photos-*.parquet")):
        time.sleep(0.1)
    mine = os.getpid()
    for entry in Path("/proc").iterdir():
        if (
            entry.name.isdigit()
            and b"RayWorker.do" in (entry / "cmdline").read_bytes()
            and _below(int(entry.name), mine)
        ):
            os.kill(int(entry.name), signal.SIGKILL)
            killed.append(int(entry.name))
            return


def _below(process: int, ancestor: int) -> bool:
    while process > 1:
        if process == ancestor:
            return True
        process = int(
            (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[1]
        )
    return False


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("photos", type=Path)
    parser.add_argument("--limit", type=int, default=32)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    facts: dict[str, object] = {
        "bench": "workers",
        "machine": measure.machine(packages=("torch", "ray")),
    }
    facts["photos"] = args.limit
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        facts["one process, one thread"] = walked(
            args.photos, home / "one", args.limit, OneProcess(threads=1)
        )
        expected, killed = files(home / "one"), list[int]()
        for name, workers in (("1", 1), ("2", 2), ("4", 4), ("4, one killed", 4)):
            run = home / f"run{len(name)}-{workers}"
            if "killed" in name:
                threading.Thread(target=kill_one, args=(run, killed), daemon=True).start()
            facts[f"workers: {name}"] = walked(
                args.photos, run, args.limit, RayCluster(workers, "cpu")
            )
            result = files(run)
            assert [name for name in expected if result.get(name) != expected[name]] == [], name
            assert len(result) == len(expected), name
    assert killed, "the walk ended before a worker was killed"
    facts["files"] = f"{len(expected)} a run, tables and pictures, equal to the byte in all runs"
    measure.say(facts, args.out)


if __name__ == "__main__":
    main()
