"""The walk along both attributes: photos a second, peak memory of both kinds, agreement with the CPU.

    python tests/benches/bench_walk.py PHOTOS [--photos 10000] [--side 224] [--device cuda] [--placebo] [--agree 64]
                                       [--trace] [--served | --workers 8]

``--served`` is the default of a machine with a GPU: workers that one process serves, from their start on; and from
the first part that is written to the last.  ``--workers`` are processes that walk their share of the photos side by
side, as Ray's do; the time is from the moment at which all have their models to the end of the last.  ``--trace`` gives
the share of that time with a busy GPU, as its driver counts it.

With ``--agree`` the first photos are also edited on the CPU: the tables must be equal, and no level may differ by more
than one (files are PNG for that). The rate gives the time for the paper's 64,500 photos.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402
from bench_synthesis import SMALLEST, prepare  # noqa: E402

from gslopes.core import tables  # noqa: E402
from gslopes.faces.components import default_components  # noqa: E402
from gslopes.frame.executors import OneProcess, Served  # noqa: E402
from gslopes.frame.executors.one_process import cores  # noqa: E402
from gslopes.slopes import audit as stages  # noqa: E402
from gslopes.slopes.config import configure  # noqa: E402
from gslopes.slopes.plan import look_at  # noqa: E402
from tests.benches.bench_machine import PAPER_PHOTOS  # noqa: E402

ATTRIBUTES = ("gender", "race")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--photos", type=int, default=10_000)
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1, help="processes that share the device")
    parser.add_argument("--served", action="store_true", help="by workers of one process")
    parser.add_argument(
        "--placebo", action="store_true", help="with placebo sweeps, as an audit has them"
    )
    parser.add_argument("--trace", action="store_true", help="how busy the GPU is")
    parser.add_argument("--share", type=Path, help=argparse.SUPPRESS)  # what such a process walks
    parser.add_argument(
        "--agree", type=int, default=0, help="photos that are edited on the CPU as well"
    )
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.share:
            return walk_share(args.share, args)
        prepare(args.folder, Path(folder) / "photos", args.photos, args.side)
        kind = agreement if args.agree else served if args.served else walk
        facts = kind(Path(folder), args)
        measure.say({"bench": "walk", "machine": measure.machine(args.device), **facts}, args.out)
    return None


def served(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """As an audit does it on a machine with a GPU."""
    options = {"attribute": ATTRIBUTES, "min_face": SMALLEST, "device": args.device}
    executor = Served(OneProcess(), args.device)
    with device_memory(args.device) as used, busy(args.trace) as shares_of_time:
        began = time.perf_counter()
        audit = stages.synthesise(
            folder / "photos", folder / "run", executor=executor, placebo=args.placebo, **options
        )
        seconds = time.perf_counter() - began
    written = sorted(
        path.stat().st_mtime for path in folder.glob("run/parts/synthesise/photos-*.parquet")
    )
    steady = (len(written) - 1) / max(written[-1] - written[0], 1e-9) * args.photos / len(written)
    return {
        "photos": args.photos, "used": audit.used, "side": args.side, "attributes": ATTRIBUTES,
        "placebos": args.placebo, "seconds": round(seconds, 1),
        "photos_per_second": round(args.photos / seconds, 1),
        "photos_per_second_once_begun": round(steady, 1),
        "peak_device_gb": round(max(used) / 1e9, 2) if used else None,
        "device_busy": round(sum(shares_of_time) / len(shares_of_time), 2) if shares_of_time else None,
    }  # fmt: skip


def walk_share(folder: Path, args: argparse.Namespace) -> None:
    """Wait for a line, walk the photos of a folder, send how many were used and the peak of memory."""
    options = {
        "attribute": ATTRIBUTES,
        "min_face": SMALLEST,
        "device": args.device,
        "placebo": args.placebo,
    }
    plan = look_at(configure(folder / "photos", options))
    components = default_components(plan.config, plan.device)
    warm = next(iter(plan.files)).path  # what is compiled and allocated once
    (folder / "warm").mkdir()
    shutil.copy(warm, folder / "warm")
    stages.synthesise(
        folder / "warm",
        folder / "warm-run",
        components=components,
        executor=OneProcess(),
        **options,
    )
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    threads = max(1, cores() // args.workers)
    executor = OneProcess(threads=threads)
    audit = stages.synthesise(
        folder / "photos", folder / "run", components=components, executor=executor, **options
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sys.stdout.write(
        json.dumps({"used": audit.used, "peak_resident_gb": round(peak / 2**20, 2)}) + "\n"
    )


def walk(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """All processes at once."""
    shares = [folder / f"share-{number}" for number in range(args.workers)]
    for number, share in enumerate(shares):
        (share / "photos").mkdir(parents=True)
        for file in sorted((folder / "photos").iterdir())[number :: args.workers]:
            file.rename(share / "photos" / file.name)
    expected = [
        sys.executable,
        __file__,
        str(args.folder),
        "--device",
        args.device,
        "--workers",
        str(args.workers),
    ]
    expected += ["--placebo"] * args.placebo
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    lines = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment}
    workers = [subprocess.Popen([*expected, "--share", str(share)], **lines) for share in shares]
    for worker in workers:
        if worker.stdout.readline() != "ready\n":
            raise SystemExit("A process could not begin.")
    with device_memory(args.device) as used, busy(args.trace) as shares_of_time:
        began = time.perf_counter()
        for worker in workers:
            worker.stdin.write("go\n")
            worker.stdin.flush()
        ends = [json.loads(worker.stdout.readline()) for worker in workers]
        seconds = time.perf_counter() - began
    for worker in workers:
        worker.wait()
    return {
        "photos": args.photos, "used": sum(end["used"] for end in ends), "side": args.side, "attributes": ATTRIBUTES,
        "processes": args.workers, "placebos": args.placebo, "seconds": round(seconds, 1),
        "photos_per_second": round(args.photos / seconds, 1),
        "paper_minutes": round(PAPER_PHOTOS / args.photos * seconds / 60, 1),
        "peak_resident_gb": max(end["peak_resident_gb"] for end in ends),
        "peak_device_gb": round(max(used) / 1e9, 2) if used else None,
        "device_busy": round(sum(shares_of_time) / len(shares_of_time), 2) if shares_of_time else None,
    }  # fmt: skip


@contextmanager
def busy(watched: bool) -> Iterator[list[float]]:
    """Shares of time in which the first GPU computed, one each tenth of a second or so."""
    result: list[float] = []
    if not watched:
        yield result
        return
    line = [
        "nvidia-smi",
        "--query-gpu=utilization.gpu",
        "--format=csv,noheader,nounits",
        "--loop-ms=100",
    ]
    with tempfile.TemporaryFile("w+") as text:
        watcher = subprocess.Popen(line, stdout=text)
        yield result
        watcher.terminate()
        watcher.wait()
        text.seek(0)
        result += [float(item.split()[0]) / 100 for item in text if item.strip()]


@contextmanager
def device_memory(device: str) -> Iterator[list[int]]:
    """Bytes of the whole device that are in use, by whomever, every tenth of a second."""
    used: list[int] = []
    done = threading.Event()

    def watch() -> None:
        import torch

        while not done.wait(0.1):
            free, total = torch.cuda.mem_get_info(device)
            used.append(total - free)

    watcher = threading.Thread(target=watch, daemon=True)
    if device.startswith("cuda"):
        watcher.start()
    yield used
    done.set()


def agreement(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Of the run on the device with that on the CPU."""
    runs = []
    for device in ("cpu", args.device):
        options = {
            "attribute": ATTRIBUTES,
            "min_face": SMALLEST,
            "limit": args.agree,
            "format": "png",
            "device": device,
            "part": 8,  # several, so that a GPU is shared
        }
        runs.append(
            stages.synthesise(folder / "photos", folder / f"run-{len(runs)}", **options).folder
        )
    photos, edited = (
        [
            tables.read(table, run / f"{table.name}.parquet").drop(
                columns="mask_area", errors="ignore"
            )
            for run in runs
        ]
        for table in (tables.PHOTOS, tables.EDITS)  # the share of a mask is a float of the device
    )
    equal = photos[0].equals(photos[1]), edited[0].equals(edited[1])
    edits = tables.read(tables.EDITS, runs[0] / "edits.parquet")
    apart = []
    for file in edits["file"]:
        first, present = (np.asarray(Image.open(run / file)).astype(int) for run in runs)
        apart.append(np.abs(first - present))
    return {
        "photos": args.agree, "photos_tables_equal": equal[0], "edits_tables_equal": equal[1], "pictures": len(apart),
        "levels_apart_at_most": int(max(item.max() for item in apart)),
        "share_of_values_apart": float(np.mean([(item > 0).mean() for item in apart])),
        "share_apart_by_more_than_one": float(np.mean([(item > 1).mean() for item in apart])),
    }  # fmt: skip


if __name__ == "__main__":
    main()
