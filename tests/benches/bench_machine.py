"""How fast this machine is, step by step, and what the paper's 64,500 photos would cost on it.

    python -m tests.benches.bench_machine [PHOTOS] [--count 96] [--attribute gender] [--device auto] [--json]

PHOTOS is a folder; without it the portrait of an astronaut is cut in many ways, at 224 pixels. Nothing is kept.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from gslopes.core import runfolder, runtime
from gslopes.core.errors import UsageError
from gslopes.core.executor import Executor
from gslopes.core.geometry import warp
from gslopes.core.records import ByteArray, Face, FloatArray, Photo
from gslopes.faces.components import default_components
from gslopes.faces.compose.encode import Variants
from gslopes.faces.compose.masks import mask_is_degenerate
from gslopes.faces.compose.paste import compose
from gslopes.faces.find import choose
from gslopes.frame.commands import say
from gslopes.frame.executors import OneProcess
from gslopes.frame.executors.one_process import cores, one_thread_each
from gslopes.photos.folder import list_photos, open_photo, photo_bytes
from gslopes.slopes import audit as stages
from gslopes.slopes.config import configure
from gslopes.slopes.plan import look_at
from tests.benches.energy import Meter

PAPER_PHOTOS = 64_500  # Joo & Kärkkäinen 2020, §1
BATCH = 32
SIDE = 224  # of the built-in photos, pixels
ON_DEVICE = (
    "parse",
    "edit",
)  # the steps that a GPU does; it finds no faces, softens no masks and composes nothing


@dataclass(frozen=True, slots=True)
class Bench:
    """What was measured.

    device: where the networks ran.  cores: that decode, find and encode.
    photos: how many went through each step; faces: how many had a usable face.
    steps: each to seconds for all of them, one photo's work on one core or the device at a time.
    walk: photos a second from files to counterfactual files, everything overlapped, all cores in use.
    watts: mean power while it ran, of what the machine has meters for (see ``energy``); None if it has none.
    metered: what those were.
    """

    device: str
    cores: int
    photos: int
    faces: int
    steps: dict[str, float]
    walk: float
    watts: float | None
    metered: str = ""

    @property
    def paper_minutes(self) -> float:
        """Minutes for the paper's photos at this rate."""
        return PAPER_PHOTOS / self.walk / 60

    @property
    def busy(self) -> dict[str, float]:
        """Who works to seconds a photo: the cores together, and the device unless it is the CPU."""
        device = 0.0 if self.device == "cpu" else sum(self.steps[step] for step in ON_DEVICE)
        cores = (sum(self.steps.values()) - device) / self.cores
        return {"cores": cores / self.photos} | (
            {self.device: device / self.photos} if device else {}
        )

    @property
    def planned(self) -> float:
        """Photos a second if whoever is busiest never waits."""
        return 1 / max(self.busy.values())

    @property
    def bound(self) -> str:
        """What bounds that rate: the device, or the cores and the step that takes most of their time."""
        if max(self.busy, key=self.busy.__getitem__) != "cores":
            return self.device
        on_cores = (
            self.steps
            if self.device == "cpu"
            else {k: v for k, v in self.steps.items() if k not in ON_DEVICE}
        )
        return f"the cores, most of all {max(on_cores, key=on_cores.__getitem__)}"

    @property
    def paper_watt_hours(self) -> float | None:
        """Energy for the paper's photos at this rate and power."""
        return None if self.watts is None else self.watts * self.paper_minutes / 60


def bench(
    photos: str | Path | None,
    executor: Executor,
    *,
    count: int = 96,
    attribute: str = "gender",
    device: str = "auto",
) -> Bench:
    """Measure.

    photos: a folder; None for variants of the astronaut's portrait, 224 pixels a side.
    count: photos of it, again from the first if there are fewer.

    Raises: UsageError if there is no photo with a usable face; as ``slopes.audit.synthesise``.
    """
    with tempfile.TemporaryDirectory(prefix="gslopes-bench-") as position:
        present = Path(position)
        folder = present / "photos"
        folder.mkdir()
        if photos is None:
            write_variants(folder, count)
        else:
            link_photos(Path(photos), folder, count)
        device = runtime.pick_device(device)
        clock, faces = time_steps(folder, present, attribute, device, executor)
        seconds, meter = time_walk(folder, present / "run", attribute, device, executor)
    return Bench(device, cores(), count, faces, clock, count / seconds, meter.watts, meter.source)


# -- one step after the other -----------------------------------------------------------------------------------------


def time_steps(
    folder: Path,
    work: Path,
    attribute: str,
    device: str,
    executor: Executor,
    values: FloatArray | None = None,
) -> tuple[dict[str, float], int]:
    """Seconds of each step for all photos, after a first batch to warm up; and how many faces were edited.

    values: of the sweep, (K,); the attribute's own by default.
    """
    config = configure(folder, {"attribute": attribute, "min_face": 20, "device": device})
    components = default_components(config, device)
    (editor,) = components.editors.values()
    if values is None:
        values = np.asarray(look_at(config).values[attribute], np.float32)
    files = [file.path for file in list_photos(folder)]
    seconds: dict[str, float] = {}
    clock = _clock(seconds, device)
    faces = 0

    def walk(paths: list[Path]) -> int:
        with clock("read and decode"):
            opened = [open_photo(path) for path in paths]
        with clock("find"):
            result = components.finder(opened)
        with clock("align"):
            sizes = [photo.pixels.shape for photo in opened]
            chosen = [
                (photo, choose(recorded, width, height, 20, editor.size))
                for photo, recorded, (height, width, _) in zip(opened, result, sizes, strict=True)
            ]
            usable: list[tuple[Photo, Face]] = [
                (photo, face) for photo, face in chosen if isinstance(face, Face)
            ]
            if not usable:
                return 0
            chips = np.stack(
                [warp(photo.pixels, face.matrix, editor.size) for photo, face in usable]
            )
        photos, faces_there = [photo for photo, _ in usable], [face for _, face in usable]
        with clock("parse"):
            components.masker.parse(photos, faces_there, chips)
        with clock("mask"):
            masks = components.masker(photos, faces_there, chips, editor.border)
            retained = [index for index, mask in enumerate(masks) if not mask_is_degenerate(mask)]
        if not retained:
            return 0
        edited = [usable[index] for index in retained]
        with clock("edit"):
            swept = getattr(editor, "sweep_ends", editor.sweep)(chips[retained], values)
        with clock("compose"):
            recorded, result = [photo for photo, _ in edited], [face for _, face in edited]
            places = zip(recorded, result, masks[retained], strict=True)
            wholes = [
                compose(photo.pixels, photo.gray, swept.of(row), mask, face.matrix, editor.blend)
                for row, (photo, face, mask) in enumerate(places)
            ]
        for photo, full in zip(recorded, wholes, strict=True):
            with clock("encode"):
                files = Variants(photo.pixels, photo.gray, photo.icc)
                encoded = [files.encode(patch, full.box) for patch in full.patches]
            with clock("write"):
                for step, data in enumerate(encoded):
                    runfolder.write_bytes(work / f"picture-{step}", data)
        return len(retained)

    executor.note(f"bench      {len(files)} photos, step by step, on {device}")
    with one_thread_each():
        walk(files[:BATCH])
        seconds.clear()
        for start in range(0, len(files), BATCH):
            faces += walk(files[start : start + BATCH])
    if not faces:
        raise UsageError(
            f"None of the photos in {folder} has a face that can be edited.", "Name another folder."
        )
    return seconds, faces


def _clock(seconds: dict[str, float], device: str) -> Callable[[str], AbstractContextManager[None]]:
    def wait() -> None:
        if device.startswith("cuda"):
            import torch

            torch.cuda.synchronize(device)

    @contextmanager
    def timed(step: str) -> Iterator[None]:
        wait()
        began = time.perf_counter()
        yield
        wait()
        seconds[step] = seconds.get(step, 0.0) + time.perf_counter() - began

    return timed


# -- the walk, as an audit does it ------------------------------------------------------------------------------------


def time_walk(
    folder: Path, run: Path, attribute: str, device: str, executor: Executor
) -> tuple[float, Meter]:
    """Seconds of the whole stage, models loaded before, and the meter that ran meanwhile."""
    options = {"attribute": attribute, "min_face": 20, "device": device}
    plan = look_at(configure(folder, options))
    components = default_components(plan.config, plan.device)
    executor.note(f"bench      {len(plan.files)} photos, files to counterfactual files")
    with Meter(device) as meter:
        began = time.perf_counter()
        stages.synthesise(folder, run, components=components, executor=executor, **options)
        seconds = time.perf_counter() - began
    return seconds, meter


# -- photos -----------------------------------------------------------------------------------------------------------


def write_variants(folder: Path, count: int) -> None:
    """The astronaut's portrait (NASA, public domain, as scikit-image ships it), each time cut a little differently."""
    from gslopes.slopes.demo import astronaut

    portrait = Image.fromarray(astronaut()[:400, 40:440])
    for index in range(count):
        x, y = index % 20, index // 20 % 20
        cut = portrait.crop((x, y, x + 380, y + 380)).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
        pixels: ByteArray = np.array(cut)
        pixels[0, 0] = (index % 256, index // 256 % 256, 0)  # no two files are the same
        Image.fromarray(pixels).save(folder / f"{index:06d}.jpg", quality=92)


def link_photos(photos: Path, folder: Path, count: int) -> None:
    """A number of photos of a folder under new names; a photo that comes again gets a few bytes at its end."""
    files = list_photos(photos, count)
    if not files:
        raise UsageError(f"There are no photos in {photos}.", "Name another folder.")
    for index in range(count):
        file = files[index % len(files)].path
        data = photo_bytes(file)
        again = index // len(files)
        (folder / f"{index:06d}{file.suffix}").write_bytes(data + b"%d" % again if again else data)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("photos", type=Path, nargs="?", help="a folder")
    parser.add_argument("--count", type=int, default=96, help="number of photos")
    parser.add_argument("--attribute", default="gender", help="which editor")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    args = parser.parse_args()
    result = bench(
        args.photos,
        OneProcess(progress=True),
        count=args.count,
        attribute=args.attribute,
        device=args.device,
    )
    if args.json:
        named = {"planned": result.planned, "bound": result.bound, "busy": result.busy}
        return say(json.dumps({**asdict(result), "paper_minutes": result.paper_minutes, **named}))
    total = sum(result.steps.values())
    say(f"{'step':<18} {'photos/s':>9} {'ms/photo':>9} {'share':>6}   one core, on {result.device}")
    for step, seconds in result.steps.items():
        rate, cost = result.photos / seconds, seconds / result.photos * 1000
        say(f"{step:<18} {rate:>9,.1f} {cost:>9.1f} {seconds / total:>6.0%}")
    say(f"\n{result.faces} of {result.photos} photos had a face to edit.")
    say(f"Files to counterfactual files, all cores: {result.walk:,.1f} photos a second.")
    say(f"At most {result.planned:,.1f} if no step waited; what bounds them: {result.bound}.")
    energy = (
        f", {result.paper_watt_hours:,.0f} Wh ({result.metered})"
        if result.paper_watt_hours is not None
        else ""
    )
    without = "" if energy else " The machine has no meter of its power that can be read."
    say(
        f"The paper's {PAPER_PHOTOS:,} photos would take {result.paper_minutes:,.1f} minutes{energy}.{without}"
    )


if __name__ == "__main__":
    main()
