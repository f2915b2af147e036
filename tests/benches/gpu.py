"""Everything that is to be measured on a GPU, in one command; each bench in a separate process.

First the walk as it is by default, in workers that one process serves, and whether its pictures are the CPU's: under
five minutes with their limits (``--only served``). Walks of 1, 4, 8 and 16 processes take five more (``--only walk``).

    python tests/benches/gpu.py [PHOTOS] [--out results/gpu.json]     (one CUDA device)
    python tests/benches/gpu.py [PHOTOS] --device cpu --quick         (a try of the whole command without one)
    python tests/benches/bench_walk.py PHOTOS --photos 64500 --device cuda --workers 8     (the paper's photos, whole)

PHOTOS holds JPEGs of faces; without it, variants of the one portrait that comes with the library. The checkout need not
be installed. What has run is written at once, so that nothing is lost when the time is up.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "benches"
sys.path[:0] = [str(ROOT), str(HERE)]

import measure  # noqa: E402

from tests.benches.bench_machine import write_variants  # noqa: E402

SERVED = ((False, 12_800), (True, 4800))  # placebos, photos
# (processes, placebos, photos, seconds that it may take)
WALKS = (
    (1, True, 400, 60), (4, True, 1600, 60), (8, True, 3200, 60), (16, True, 3200, 60),
    (1, False, 800, 40), (4, False, 3200, 50), (8, False, 6400, 60), (16, False, 6400, 60),
)  # fmt: skip


def commands(folder: Path, device: str, quick: bool) -> dict[str, tuple[int, list[str]]]:
    """Name to (seconds that it may take, command); together 16 minutes."""
    few = "16" if quick else "200"
    # Compiling comes before the steps that are timed, three times.
    full = "--batch 128 --warm 50 --steps 200 --repeats 3"
    training = ("--batch 8 --repeats 1" if quick else full).split()
    sweep = ["--chips", "8", "--rounds", "1"] if quick else ["--chips", "128", "--rounds", "3"]
    walk = [str(HERE / "bench_walk.py"), str(folder), "--device", device]
    traced = [] if quick else ["--trace"]
    walks = {
        f"walk, {processes} process{'es' * (processes > 1)}, placebos {'on' if placebo else 'off'}": (
            seconds, [*walk, "--photos", few if quick else str(photos), "--workers", str(processes), *traced,
                      *(["--placebo"] if placebo else [])],
        )
        for processes, placebo, photos, seconds in WALKS
        if not quick or processes == 1
    }  # fmt: skip
    by_workers = {
        f"served, placebos {'on' if placebo else 'off'}": (
            90,
            [
                *walk,
                "--photos",
                few if quick else str(photos),
                "--served",
                *traced,
                *["--placebo"] * placebo,
            ],
        )
        for placebo, photos in SERVED
    }
    return {
        **by_workers,
        "served, agreement with the CPU": (100, [*walk, "--photos", few[:2], "--agree", few[:2]]),
        "training": (80, [str(HERE / "bench_training.py"), "--device", device, *training]),
        "sweep": (90, [str(HERE / "bench_sweep.py"), "--device", device, *sweep]),
        "steps": (
            60,
            [
                "-m",
                "tests.benches.bench_machine",
                str(folder),
                "--count",
                few,
                "--device",
                device,
                "--json",
            ],
        ),
        **walks,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="what begins with this")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as position:
        folder = args.folder or Path(position)
        if args.folder is None:
            write_variants(folder, 400)
        measure.say(everything(folder, args), args.out)


def everything(folder: Path, args: argparse.Namespace) -> dict[str, object]:
    device, quick, out = args.device, args.quick, args.out
    result: dict[str, object] = {"bench": "gpu", "machine": measure.machine(device)}
    result["matrix_rate_tflops"] = {
        "fp32": round(measure.matrix_rate(device) / 1e12, 2),
        "bf16": round(measure.matrix_rate(device, half=True) / 1e12, 2)
        if device != "cpu"
        else None,
    }
    result["copy_rate_gb_s"] = round(measure.copy_rate(device) / 1e9, 1)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    for name, (seconds, command) in commands(folder, device, quick).items():
        if not name.startswith(args.only):
            continue
        began = time.perf_counter()
        result[name] = one([sys.executable, *command], environment, seconds * (20 if quick else 1))
        sys.stderr.write(f"{name}: {time.perf_counter() - began:.0f} s\n")
        if out is not None:
            out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return result


def one(command: list[str], environment: dict[str, str], seconds: int) -> object:
    """The JSON that a bench prints, or why it prints nothing."""
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=seconds, cwd=ROOT
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"took more than {seconds} s"}
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-3:]}
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
