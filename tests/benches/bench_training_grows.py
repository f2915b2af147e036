"""Training that grows: two processes against one, a stream against memory, and memory by the size of the set.

    python tests/benches/bench_training_grows.py [--steps 12] [--sizes 2048 8192 32768] [--out FILE]

Two processes and one train the same Fader on the same drawn faces by turns, each with one thread, in 64 bits for the
difference and in 32 for the time; the rest of a run, imports with it, is in neither time. A stream is trained from with
a pool of 1,024 chips; the peer has all chips in memory. Peak memory is that of a process that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402

from gslopes.faces import zoo  # noqa: E402
from training import drawn as rendered, parallel  # noqa: E402
from training.fader import Adversary, Optimisation, train_fader  # noqa: E402
from training.sets import TrainingSet, drawn_chips  # noqa: E402
from training.shards import Feed, Shards, Writer  # noqa: E402
from training.watch import Watch  # noqa: E402

SPEC = zoo.ModelSpec(
    "bench", "", "fader", 128, ("gender",), "", (), "", "", {"widths": [16, 32, 64, 128, 256]},
    ends=("feminine", "masculine"),
)  # fmt: skip
POOL = 1024
BATCH = 16


def train(chips: TrainingSet, folder: Path, steps: int, watch: Watch | None = None) -> None:
    """Train a Fader; the log has a line a step."""
    with parallel.processes("cpu") as device:
        train_fader(
            SPEC, chips.pixels, chips.labels, chips.weights, folder,
            optimisation=Optimisation(steps, batch=BATCH), adversary=Adversary(ramp=4),
            device=device, report_every=1, save_every=10**9, watch=watch,
        )  # fmt: skip


def faces(count: int) -> TrainingSet:
    """Drawn faces, 64 of them over and over: the pictures do not matter."""
    looks = rendered.sample(64, 0)
    chips = np.tile(drawn_chips(looks, 128), (count // 64, 1, 1, 1))
    labels = np.tile(np.sign(looks.gender)[:, None].astype(np.float32), (count // 64, 1))
    return TrainingSet(chips, labels, np.ones(count), np.zeros(count, bool))


def shards(folder: Path, count: int) -> None:
    """Write so many chips, a lot at a time, and one that is held out."""
    writer = Writer(SPEC, folder)
    for start in range(0, count, 2048):
        writer.write(faces(min(2048, count - start)))
    few = faces(64)
    writer.write(TrainingSet(few.pixels, few.labels, few.weights, np.ones(64, bool)))
    writer.close()


def child(kind: str, folder: Path, steps: int, data: Path) -> None:
    """One run in a process of its own; what it needs is printed as JSON."""
    import torch

    torch.set_num_threads(1)
    if kind == "double":
        torch.set_default_dtype(torch.float64)
        torch.Tensor.float = torch.Tensor.double  # type: ignore[method-assign]
    if kind == "stream":
        feed = Feed(Shards(SPEC, data), BATCH, "cpu", POOL)
        train(feed.first(), folder, steps, Watch(feed))
    elif kind == "memory":
        held = Shards(SPEC, data)
        train(Feed(held, BATCH, "cpu", len(held)).first(), folder, steps)
    else:
        given = faces(POOL)
        if kind == "double":
            object.__setattr__(given, "labels", given.labels.astype(np.float64))
        train(given, folder, steps)
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    peak = int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
    if int(os.environ.get("RANK", "0")) == 0:
        sys.stdout.write(json.dumps({"peak_mib": round(peak)}) + "\n")


def run(kind: str, processes: int, steps: int, data: Path, home: Path) -> dict[str, Any]:
    """Losses, steps a second after the first three, and peak memory of a run."""
    folder = Path(tempfile.mkdtemp(dir=home))
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    command = [sys.executable, *(launch if processes > 1 else []), __file__, "--child", kind]
    command += ["--folder", str(folder), "--steps", str(steps), "--data", str(data)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    end = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if end.returncode:
        sys.exit(end.stderr[-3000:])
    rows = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    passed = [row["step"] / row["steps_per_s"] for row in rows]
    rate = (len(rows) - 3) / (passed[-1] - passed[2])
    return {"rows": rows, "rate": rate, **json.loads(end.stdout.splitlines()[-1])}


def difference(one: list[dict[str, float]], two: list[dict[str, float]]) -> float:
    """The largest difference of a metric in any step, as the logs have them, to five places."""
    pairs = zip(one, two, strict=True)
    return max(abs(a[k] - b[k]) for a, b in pairs for k in a if k not in ("step", "steps_per_s"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2048, 8192, 32768])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--data", type=Path)
    args = parser.parse_args()
    if args.child:
        child(args.child, args.folder, args.steps, args.data)
        return
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        sets = [home / f"shards-{size}" for size in args.sizes]
        for path, size in zip(sets, args.sizes, strict=True):
            shards(path, size)
        exact = [run("double", n, args.steps, sets[0], home)["rows"] for n in (1, 2)]
        rates: dict[str, list[float]] = {"one": [], "two": [], "stream": [], "memory": []}
        for _ in range(args.repeats):
            both = [run("plain", n, args.steps, sets[0], home) for n in (1, 2)]
            ours = [run(kind, 1, args.steps, sets[0], home) for kind in ("stream", "memory")]
            for name, each in zip(rates, both + ours, strict=True):
                rates[name].append(each["rate"])
        peaks = {
            kind: {
                str(size): run(kind, 1, 3 + 1, path, home)["peak_mib"]
                for size, path in zip(args.sizes, sets, strict=True)
            }
            for kind in ("stream", "memory")
        }
    result = {
        "bench": "training-grows", "machine": measure.machine("cpu"), "batch": BATCH, "pool": POOL,
        "processes": {
            "steps_compared": args.steps,
            "largest_difference_of_a_loss_64_bits": difference(*exact),
            "largest_difference_of_a_loss_32_bits": round(difference(both[0]["rows"], both[1]["rows"]), 5),
        },
        "steps_per_second": {name: round(statistics.median(each), 3) for name, each in rates.items()},
        "peak_mib_by_chips": peaks,
    }  # fmt: skip
    measure.say(result, args.out)


if __name__ == "__main__":
    main()
