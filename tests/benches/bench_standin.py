"""The plan of ``bench_machine.py`` against the walk, with a stand-in for a GPU and without: who bounds the run.

    python tests/benches/bench_standin.py [--photos 192] [--rounds 3] [--out results/standin.json]

The stand-in gives what the CPU computed before, after the time that it is told to take for a photo; decoding, finding,
aligning, encoding and writing are real. A plan gives the photos per second if whoever is busiest never
waits; the walk shows how many there are.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402

from gslopes.faces.components import default_components  # noqa: E402
from gslopes.frame.executors import OneProcess  # noqa: E402
from gslopes.frame.executors.one_process import cores  # noqa: E402
from gslopes.slopes import audit as stages  # noqa: E402
from gslopes.slopes.config import configure  # noqa: E402
from tests.benches.bench_machine import ON_DEVICE, Bench, time_steps, write_variants  # noqa: E402
from tests.benches.standin import NAME, StandIn  # noqa: E402

MILLISECONDS = (
    1.0,
    20.0,
    120.0,
)  # of the device for a photo: about an H100's, one that keeps up, one that does not


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--photos", type=int, default=192)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure.say(everything(Path(folder), args.photos, args.rounds), args.out)


def everything(root: Path, count: int, rounds: int) -> dict[str, object]:
    folder = root / "photos"
    folder.mkdir()
    write_variants(folder, count)
    options = {"min_face": 20, "placebo": False, "device": "cpu"}
    real = default_components(configure(folder, options), "cpu")
    recorded = StandIn()

    def walk(device: StandIn | None) -> None:
        shutil.rmtree(root / "run", ignore_errors=True)
        with device.at_work() if device else nullcontext():
            stages.synthesise(
                folder,
                root / "run",
                components=device.components(real) if device else real,
                **options,
            )

    walk(recorded)
    share = 1 / len(ON_DEVICE)
    devices = {
        f"{item:g} ms": StandIn(dict.fromkeys(ON_DEVICE, share * item / 1000), recorded.known)
        for item in MILLISECONDS
    }
    runs = {"cpu": lambda: walk(None)} | {
        name: lambda device=device: walk(device) for name, device in devices.items()
    }
    steps, faces = time_steps(folder, root, "gender", "cpu", OneProcess())
    seconds = measure.in_turn(runs, rounds)
    again, _ = time_steps(
        folder, root, "gender", "cpu", OneProcess()
    )  # the machine may have been busier by then
    steps = {step: (steps[step] + again[step]) / 2 for step in steps}
    facts: dict[str, object] = {}
    for name, times in seconds.items():
        mine = (
            steps
            if name == "cpu"
            else steps | {k: count * v for k, v in devices[name].seconds.items()}
        )
        plan = Bench("cpu" if name == "cpu" else NAME, cores(), count, faces, mine, 1.0, None)
        rates = [count / item for item in times]
        facts[name] = {
            "planned": round(plan.planned, 1),
            "bound": plan.bound,
            "walk": measure.spread(rates, 1),
            "walk_of_planned": measure.spread([rate / plan.planned for rate in rates], 2),
        }
    per_photo = {step: round(1000 * value / count, 1) for step, value in steps.items()}
    return {
        "bench": "standin",
        "machine": measure.machine(),
        "photos": count,
        "ms_a_photo": per_photo,
        "walks": facts,
    }


if __name__ == "__main__":
    main()
