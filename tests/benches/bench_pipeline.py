"""Whether a stage waits for another when workers are served by one process: on a simulated device, and on paper.

    python tests/benches/bench_pipeline.py [PHOTOS] [--out results/pipeline.json]

The device takes a fixed time for a batch, whatever is in it, and does one at a time; a core does one worker's step at
a time, for a fixed time a photo. All of that is sleep, so that two cores are enough to count what 16 would do. Neither
is measured: a real device takes longer for more, and real steps disturb one another. The executor, its processes, lines
and queues are real. The bound is the slowest stage that never waits. The peer, in the same run, is one process with a
thread for each core, as it was the default on a GPU: its threads find the device free or wait, and join no batches.
Sleeps release Python's lock, of which real threads have one between them, so it is flattered.

With PHOTOS, also the processor's time of workers for a photo, both attributes, placebos on and off: what is left for
the cores once networks are elsewhere. It is the difference of two walks, so that no start is in it. From it, from the
networks' operations and from ``results/gpu.json``, the count for 16 cores and one H200, which nobody measured.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402

import gslopes  # noqa: E402
from gslopes.core import serving  # noqa: E402
from gslopes.core.executor import RemoteTask  # noqa: E402
from gslopes.frame.executors import OneProcess, Served  # noqa: E402
from gslopes.frame.executors.served import EACH, MOST  # noqa: E402

PHOTOS = 32  # of a part
# What is asked, and what a core does before it, of its whole time for a photo; the rest comes last.
STEPS = (("find", 0.06), ("parse", 0.04), ("edit", 0.2), ("edit", 0.35))
PHOTO = 0.01  # seconds of a core
BATCH = 0.02  # seconds of the device
PARTS = 6  # for each worker
CORES = (1, 2, 4, 8, 16)
GOALS = {"without placebos": 400, "with placebos": 120}
CARD = 16  # cores beside an H200

_device = Lock()
_batches: list[tuple[float, float, int]] = []


def simulated(device: str, name: str) -> Callable[[list[int]], list[int]]:
    """A network on the simulated device."""

    def answers(items: list[int]) -> list[int]:
        with _device:
            began = time.monotonic()
            time.sleep(BATCH)
            _batches.append((began, time.monotonic(), len(items)))
        return items

    return answers


@dataclass(frozen=True)
class Simulated:
    """Each part is work for a core, and questions; a line a part of when it was done and how long its worker waited."""

    folder: Path
    cores: int
    networks: bool = True
    in_threads: bool = True

    def __call__(self, part: int, tick: Callable[[int], None]) -> None:
        waited = 0.0
        for name, share in STEPS:
            self.compute(share)
            began = time.monotonic()
            ask(name, list(range(PHOTOS)))
            waited += time.monotonic() - began
        self.compute(1 - sum(share for _, share in STEPS))
        line = f"{time.monotonic()} {waited}\n"
        (self.folder / f"part-{part}").write_text(line)
        tick(PHOTOS)

    def compute(self, share: float) -> None:
        """On this worker's core."""
        if not serving.line:  # the peer's threads have one each
            return time.sleep(share * PHOTO * PHOTOS)
        with (self.folder / f"core-{self.mine() % self.cores}").open("a") as core:
            fcntl.flock(core, fcntl.LOCK_EX)
            time.sleep(share * PHOTO * PHOTOS)
        return None

    def mine(self) -> int:
        """The number of this worker."""
        mark = self.folder / f"pid-{os.getpid()}"
        number = 0
        while not mark.exists():
            try:
                os.close(os.open(self.folder / f"worker-{number}", os.O_CREAT | os.O_EXCL))
                mark.write_text(str(number))
            except FileExistsError:
                number += 1
        return int(mark.read_text())

    def remote_task(self) -> RemoteTask:
        return RemoteTask(partial(again, self.folder, self.cores), (), str)


def again(folder: Path, cores: int, device: str) -> Simulated:
    return Simulated(folder, cores)


def ask(name: str, items: list[int]) -> list[int]:
    if serving.line:
        return serving.ask(items, (simulated, name))
    return simulated("", name)(items)


def simulate(cores: int, served: bool) -> dict[str, float]:
    """In the middle half of the parts, when all are at work."""
    _batches.clear()
    workers = EACH * cores
    executor = Served(OneProcess(threads=workers), "cpu") if served else OneProcess(threads=cores)
    parts = dict.fromkeys(range(PARTS * workers), PHOTOS)
    with tempfile.TemporaryDirectory() as folder:
        executor(Simulated(Path(folder), cores), parts, label="x", unit="photos")
        lines = [path.read_text().split() for path in Path(folder).glob("part-*")]
    done = sorted(float(when) for when, _ in lines)
    low, high = done[len(done) // 4], done[3 * len(done) // 4]
    count = sum(low < when <= high for when in done)
    batches = [(end - began, size) for began, end, size in _batches if low < end <= high]
    rate = count * PHOTOS / (high - low)
    most = MOST * PHOTOS if served else PHOTOS
    bound = 1 / max(PHOTO / cores, len(STEPS) * BATCH / min(most, workers * PHOTOS))
    waits = sum(float(waited) for _, waited in lines) / len(lines)
    time_of_part = (workers if served else cores) * PHOTOS / rate
    return {
        "photos_per_second": round(rate, 1),
        "bound": round(bound, 1),
        "share_of_bound": round(rate / bound, 2),
        "device_busy": round(sum(seconds for seconds, _ in batches) / (high - low), 2),
        "cores_busy": round(rate * PHOTO / cores, 2),
        "worker_waits_for_answers": round(waits / time_of_part, 2),
        "photos_of_a_batch": round(float(np.mean([size for _, size in batches])), 1),
    }


# -- what the arrays of a photo cost on their way ---------------------------------------------------------------------


def transport() -> dict[str, Any]:
    """The processor's ms, both ends together, for as many bytes as both attributes of a photo send back and forth."""
    shapes = [
        (224, 224, 3),
        (128, 128, 3),
        (5, 128, 128),
        (2, 128, 128, 3),
        (128, 128, 3),
        (128, 128, 2),
    ]
    arrays = [
        np.ones(shape, np.uint8 if index < 2 else np.float32) for index, shape in enumerate(shapes)
    ]
    arrays += arrays[1:]
    from multiprocessing import Pipe

    here, there = Pipe()

    def as_now() -> None:
        sender = Thread(target=serving.send, args=(here, *arrays))
        sender.start()
        serving.receive(there)
        sender.join()

    def pickled() -> None:
        sender = Thread(target=here.send, args=(arrays,))
        sender.start()
        there.recv()
        sender.join()

    place = np.empty(sum(array.nbytes for array in arrays), np.uint8)

    def shared() -> None:
        at = 0
        for array in arrays:
            place[at : at + array.nbytes] = array.reshape(-1).view(np.uint8)
            bytearray(place[at : at + array.nbytes])
            at += array.nbytes

    def several(run: Callable[[], None]) -> Callable[[], None]:
        return lambda: [run() for _ in range(50)] and None

    runs = {"ours": several(as_now), "pickled": several(pickled), "shared memory": several(shared)}
    seconds = measure.in_turn(runs, 5, clock=time.process_time)
    return {
        "megabytes": round(place.nbytes / 1e6, 2),
        "processor_ms": {
            name: measure.spread([s * 20 for s in times], 2) for name, times in seconds.items()
        },
    }


# -- what is left for the cores ---------------------------------------------------------------------------------------


def worked(photos: Path, folder: Path, limit: int, placebo: bool) -> tuple[float, float, int]:
    """Seconds of the processor: of two workers, of this process; photos used."""
    config = folder / "walk.toml"
    config.write_text("part = 8\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN), time.process_time()
    with tempfile.TemporaryDirectory() as run:
        walk = gslopes.synthesise(
            photos, Path(run) / "run", config=config, device="cpu", placebo=placebo, limit=limit,
            attribute=("gender", "race"), executor=Served(OneProcess(threads=2), "cpu"),
        )  # fmt: skip
        used = walk.used
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    children = sum(
        getattr(after, name) - getattr(before[0], name) for name in ("ru_utime", "ru_stime")
    )
    return children, time.process_time() - before[1], used


def left_for_cores(photos: Path) -> dict[str, Any]:
    """ms of the processor for a used photo."""
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, placebo in (("without placebos", False), ("with placebos", True)):
            few, many = (worked(photos, Path(folder), limit, placebo) for limit in (16, 48))
            used = many[2] - few[2]
            ms = [1000 * (more - less) / used for more, less in zip(many[:2], few[:2], strict=True)]
            result[name] = {
                "workers": round(ms[0], 1),
                "owner, networks on the CPU": round(ms[1], 1),
            }
    return result


def operations() -> dict[str, float]:
    """Billions of multiplications and additions of each network for a photo of 224 px, both attributes."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from gslopes.faces.compose.skin import parsing
    from gslopes.faces.edit.editors import editing
    from gslopes.faces.find import detecting
    from gslopes.slopes.demo import astronaut

    photo = np.ascontiguousarray(astronaut()[:400, 40:440][::2, ::2])
    chip = np.ascontiguousarray(photo[20:148, 30:158])
    made = {
        "find": (detecting("cpu", 32), [photo], ()),
        "parse, chip and bust": (parsing("cpu", None), [chip, chip], ()),
        "edit, gender": (
            editing("cpu", "gender-field", "labeller", True, ()),
            [chip],
            range(-3, 4),
        ),
        "edit, race": (editing("cpu", "race-field", "labeller", True, ()), [chip], range(-2, 3)),
    }
    count = {}
    for name, (answers, items, values) in made.items():
        counter = FlopCounterMode(display=False)
        with counter, torch.inference_mode():
            answers(items, *map(float, values))
        count[name] = round(counter.get_total_flops() / 1e9, 2)
    return count


def on_paper(cores: dict[str, Any], billions: dict[str, float]) -> dict[str, Any]:
    """Photos a second of 16 cores, and of the card at a share of the matrix rate that was measured on it."""
    card = json.loads((ROOT / "tests/benches/results/gpu.json").read_text(encoding="utf-8"))
    rate = card["matrix_rate_tflops"]["fp32"] * 1000
    share = 0.3  # of it, in convolutions of 32 bits: assumed
    device = sum(billions.values()) / (rate * share) * 1000
    result: dict[str, Any] = {
        "measured": False,
        "card_ms_a_photo": round(device, 2),
        "card_photos_per_second": round(1000 / device),
        "assumed_share_of_matrix_rate": share,
    }
    for name, goal in GOALS.items():
        ms = cores[name]["workers"]
        result[name] = {
            "goal": goal, "cores_allow_ms": round(1000 * CARD / goal, 1), "cores_need_ms": ms,
            "cores_photos_per_second": round(1000 * CARD / ms),
        }  # fmt: skip
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--most", type=int, default=max(CORES), help="simulated cores")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    result: dict[str, Any] = {"bench": "pipeline", "machine": measure.machine()}
    result["simulated"] = {
        "seconds": {
            "photo on a core": PHOTO,
            "batch on the device": BATCH,
            "questions of a part": len(STEPS),
        },
        "cores": {
            str(cores): {"ours": simulate(cores, True), "threads": simulate(cores, False)}
            for cores in CORES
            if cores <= args.most
        },
    }
    result["transport"] = transport()
    result["operations_billion"] = operations()
    if args.folder:
        result["processor_ms"] = left_for_cores(args.folder)
        result["on paper, 16 cores and an H200"] = on_paper(
            result["processor_ms"], result["operations_billion"]
        )
    measure.say(result, args.out)


if __name__ == "__main__":
    import bench_pipeline  # so that workers find what is pickled

    bench_pipeline.main()
