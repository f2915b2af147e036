"""Peak memory of the walk from photos to counterfactual photos, for a number of photos and for ten times as many.

    python tests/benches/bench_memory.py PHOTOS [--photos 500] [--out results/memory.json]

Each walk is a separate process; its peak is the kernel's (ru_maxrss of the process, networks and libraries included).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402
from bench_synthesis import prepare  # noqa: E402

WALK = """
import json, resource, sys, time
from gslopes.core import runtime
from gslopes.slopes import audit as stages
from gslopes.slopes.config import configure
from gslopes.faces.components import default_components
photos, run, steps = sys.argv[1:]
options = {"min_face": 20, "steps": int(steps)}
components = default_components(configure(photos, options), runtime.pick_device("auto"))
began = time.perf_counter()
found = stages.synthesise(photos, run, components=components, **options)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"photos": found.photos, "used": found.used, "peak_mib": round(peak, 1),
                  "seconds": round(time.perf_counter() - began, 1)}))
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--photos", type=int, default=500)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    walks = [
        walk(args.folder, count, args.steps) for count in (args.photos, args.photos * args.times)
    ]
    few, many = walks
    measure.say(
        {
            "bench": "memory", "machine": measure.machine(), "values": args.steps, "walks": walks,
            "peak_of_many_over_few": round(many["peak_mib"] / few["peak_mib"], 3),
        },
        args.out,
    )  # fmt: skip


def walk(source: Path, count: int, steps: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        photos = Path(folder) / "photos"
        prepare(source, photos, count, 0)
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", WALK, str(photos), str(Path(folder) / "run"), str(steps)]
        output = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout
    content: dict[str, float] = json.loads(output.splitlines()[-1])
    return content


if __name__ == "__main__":
    main()
