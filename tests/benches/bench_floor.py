"""Where the processor's time of a walk goes on one thread, step by step, and the least that each step can take.

    python tests/benches/bench_floor.py IDENPROF UTKFACE [--photos 96] [--side 224] [--attribute gender] [--rounds 3]
                                        [--out FILE]

The walk is the real one, on one thread; a step's time is its own, without the steps inside it. The floors are of this
machine, measured between the rounds, each on one thread:

- networks: their operations, counted while they run, at the rate of a large matrix product in 32 bits;
- JPEG: the pixels that are decoded and encoded at the rate of simplejpeg if it is installed, else of Pillow;
- warps: the pixels that are sampled at the rate of OpenCV's cubic ``remap`` of three channels;
- memory: the bytes that a step must read and write at the rate of a large copy;
- disk: the same files written and synced, and nothing else.

Time is the thread's own. Other programs on the machine still lengthen it, through caches and memory.
"""

from __future__ import annotations

import argparse
import functools
import io
import os
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from PIL import Image
from torch.utils.flop_counter import FlopCounterMode

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402
from bench_synthesis import prepare  # noqa: E402

from gslopes.core import runfolder, tables  # noqa: E402
from gslopes.faces.components import default_components  # noqa: E402
from gslopes.faces.compose import skin  # noqa: E402
from gslopes.faces.compose.encode import BLOCK, Variants  # noqa: E402
from gslopes.faces.edit.editors import _FieldEditor  # noqa: E402
from gslopes.faces.networks.mtcnn import Areas, Mtcnn  # noqa: E402
from gslopes.frame.executors import OneProcess  # noqa: E402
from gslopes.slopes import audit as stages, stimuli  # noqa: E402
from gslopes.slopes.config import configure  # noqa: E402

try:
    import simplejpeg
except ImportError:
    simplejpeg = None

REST = "tables, plan, the rest"


class Clock:
    """Seconds of the thread in each step, without those of steps inside it, and what each had to do."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.work: defaultdict[str, float] = defaultdict(float)
        self.counting = False
        self._steps = [REST]
        self._since = time.thread_time()

    def turn(self) -> None:
        now = time.thread_time()
        self.seconds[self._steps[-1]] += now - self._since
        self._since = now

    @contextmanager
    def within(self, step: str) -> Iterator[None]:
        self.turn()
        self._steps.append(step)
        try:
            yield
        finally:
            self.turn()
            self._steps.pop()

    def time(
        self, owner: Any, name: str, step: str, work: Callable[..., float] | None = None
    ) -> None:
        """Time a function.  work: of its result and arguments, the units of its floor; None for a network's."""
        run = getattr(owner, name)

        @functools.wraps(run)
        def timed(*args: Any, **named: Any) -> Any:
            if self.counting and work is None:
                with FlopCounterMode(display=False) as counter:
                    result = run(*args, **named)
                self.work[step] += counter.get_total_flops()
                return result
            with self.within(step):
                result = run(*args, **named)
            if self.counting:
                self.work[step] += work(result, *args)
            return result

        setattr(owner, name, timed)


def of_pixels(photo: Any, *_: Any) -> float:
    return float(np.prod(photo.shape))


def of_crops(result: torch.Tensor, *_: Any) -> float:
    return (
        4 * 5 * float(result.numel())
    )  # four corners of each number are read, one number is written


def of_sums(_: None, areas: Areas, *__: Any) -> float:
    return (
        2.0 * areas.sums.nbytes
    )  # torn from one memory, written to another; bytes of the photo are few


def of_compose(composite: Any, *_: Any) -> float:
    """Pixels that are sampled: each picture once if parts move, two ends, the motion and the mask."""
    height, width = composite.weight.shape
    moved = len(composite) if composite.motion is not None else 0
    return float(height * width * (moved + 4))


def of_file(_: bytes, files: Variants, patch: Any, box: Any, *__: Any) -> float:
    rows = BLOCK * (-(-box[3] // BLOCK) - box[1] // BLOCK)
    return float(
        rows * files.pixels.shape[1] + files.pixels[..., 0].size / 7
    )  # the photo once for all


def instrument(clock: Clock, finder: Any, editors: Any) -> None:
    clock.time(stimuli, "open_photo", "read", of_pixels)
    clock.time(Mtcnn, "forward", "find, boxes", lambda *_: 0.0)
    clock.time(Areas, "__init__", "find, sums", of_sums)
    clock.time(Areas, "shrunk", "find, pyramid", of_crops)
    clock.time(Areas, "resized", "find, crops", of_crops)
    clock.time(Mtcnn, "_places", "find, P-Net")
    clock.time(finder.detector.rnet, "forward", "find, R-Net")
    clock.time(finder.detector.onet, "forward", "find, O-Net")
    clock.time(stimuli, "warp", "align", lambda chip, *_: float(chip[..., 0].size))
    clock.time(skin, "class_probabilities", "mask, parser")
    clock.time(
        skin.ParserMasker, "__call__", "mask, softening", lambda masks, *_: 2.0 * masks.nbytes
    )
    clock.time(_FieldEditor, "_swept", "edit, the rest", lambda *_: 0.0)
    for editor in editors.values():
        clock.time(editor.network, "forward", "edit, editor")
        clock.time(editor.photo_values.reader.model.module, "forward", "edit, reader")
    clock.time(stimuli, "compose", "compose", of_compose)
    clock.time(Variants, "encode", "encode", of_file)
    clock.time(runfolder, "write_changed", "write", lambda *_: 1.0)


# what bounds each step, the unit of its work, and how many digits matter
BOUNDS = {
    "find, boxes": "", "find, sums": "memory", "find, pyramid": "memory", "find, crops": "memory",
    "find, P-Net": "matrix products", "find, R-Net": "matrix products", "find, O-Net": "matrix products",
    "mask, parser": "matrix products", "mask, softening": "memory", "edit, editor": "matrix products",
    "edit, reader": "matrix products", "edit, the rest": "", "align": "warps", "compose": "warps",
    "read": "JPEG, decoding", "encode": "JPEG, encoding", "write": "disk", REST: "",
}  # fmt: skip


def rates(sample: np.ndarray, folder: Path) -> dict[str, float]:
    """Units of work a second on one thread, of what bounds a step."""
    matrix = torch.rand(1024, 1024)
    picture = np.random.default_rng(0).random((256, 256, 3), np.float32)
    y, x = np.mgrid[:256, :256].astype(np.float32) + np.float32(0.3)
    data = written(sample)
    size = sample[..., 0].size
    bytes_in = torch.ones(1 << 26, dtype=torch.uint8)
    out = torch.empty_like(bytes_in)

    def disk() -> None:
        name = folder / f"disk-{time.monotonic_ns()}"
        with name.with_suffix(".partial").open("wb", buffering=0) as file:
            file.write(data)
            os.fsync(file.fileno())
        name.with_suffix(".partial").replace(name)

    runs: dict[str, tuple[float, Callable[[], object]]] = {
        "matrix products": (2 * 1024**3, lambda: matrix @ matrix),
        "memory": (2 * len(out), lambda: out.copy_(bytes_in)),
        "warps": (256 * 256, lambda: cv2.remap(picture, x, y, cv2.INTER_CUBIC)),
        "JPEG, decoding": (size, lambda: opened(data)),
        "JPEG, encoding": (size, lambda: written(sample)),
        "disk": (1, disk),
    }
    seconds = measure.in_turn(
        {name: run for name, (_, run) in runs.items()}, 9, clock=time.thread_time
    )
    return {name: runs[name][0] / min(times) for name, times in seconds.items()}


def opened(data: bytes) -> np.ndarray:
    if simplejpeg:
        return simplejpeg.decode_jpeg(data)
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def written(pixels: np.ndarray) -> bytes:
    if simplejpeg:
        return simplejpeg.encode_jpeg(pixels, 95, "RGB", "444")
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=95, subsampling=0)
    return file.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--photos", type=int, default=96)
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--attribute", default="gender")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    with tempfile.TemporaryDirectory() as folder:
        measure.say(run(args, Path(folder)), args.out)


def run(args: argparse.Namespace, root: Path) -> dict[str, object]:
    photos = root / "photos"
    photos.mkdir()
    for number, folder in enumerate(args.folders):
        each = args.photos // len(args.folders)
        for file in prepare(folder, root / f"from-{number}", each, args.side):
            file.rename(photos / f"{number}-{file.name}")
    files = sorted(photos.iterdir())
    options = {
        "attribute": args.attribute, "min_face": 32, "device": "cpu", "placebo": False,
    }  # fmt: skip
    components = default_components(configure(photos, options), "cpu")
    clock = Clock()
    instrument(clock, components.finder, components.editors)
    sample = np.asarray(Image.open(files[-1]).convert("RGB"))

    def walk() -> None:
        shutil.rmtree(root / "run", ignore_errors=True)
        clock.seconds.clear()
        clock.turn()
        clock.seconds.clear()
        stages.synthesise(
            photos, root / "run", components=components, executor=OneProcess(threads=1), **options
        )
        clock.turn()

    clock.counting = True
    walk()
    clock.counting = False
    work = {step: amount / len(files) for step, amount in clock.work.items()}
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    best: defaultdict[str, float] = defaultdict(float)
    for _ in range(args.rounds):
        walk()
        for step in BOUNDS:
            seconds[step].append(1000 * clock.seconds[step] / len(files))
        for name, rate in rates(sample, root).items():
            best[name] = max(best[name], rate)
    rows = []
    for step, bound in BOUNDS.items():
        floor = 1000 * work.get(step, 0.0) / best[bound] if bound else 0.0
        rows.append(
            {
                "step": step, "ms": round(float(np.median(seconds[step])), 2), "floor_ms": round(floor, 2),
                "bound_by": bound or "nothing: it could be 0",
                **({"mflop": round(work.get(step, 0.0) / 1e6, 1)} if bound == "matrix products" else {}),
            }
        )  # fmt: skip
    used = tables.read(tables.PHOTOS, root / "run" / "photos.parquet")["status"].eq("used").sum()
    return {
        "bench": "floor", "machine": measure.machine(packages=("torch", "opencv-contrib-python-headless", "pillow")),
        "jpeg_by": f"simplejpeg {simplejpeg.__version__}" if simplejpeg else "Pillow",
        "photos": len(files), "used": int(used), "side": args.side, "attribute": args.attribute, "rounds": args.rounds,
        "unit": "ms of the processor a photo, one thread",
        "rates": {name: float(f"{rate:.3g}") for name, rate in best.items()},
        "steps": rows,
        "ms": round(sum(row["ms"] for row in rows), 1),
        "floor_ms": round(sum(row["floor_ms"] for row in rows), 1),
        "floor_ms_of_networks": round(sum(row["floor_ms"] for row in rows if "mflop" in row), 1),
    }  # fmt: skip


if __name__ == "__main__":
    main()
