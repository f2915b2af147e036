"""Seconds from the command to the first step of gender-fader: a first start, a second, and one as before the cache.

Every start is a process of its own, timed until it says that its first step begins, and then killed. The peer is what
training did at every start and resume before records were kept: points and chips are there, what tagger and labeller
read and the tones of skin are made again, chips of 64 through the parser at once. Sizes are by --limit. Of all photos
only the second start is timed, on records of the right number and size with made-up values: to make them takes as long
as ``all_by_the_line_s`` says, by a line through the sizes.

    python tests/benches/bench_training_start.py [--data DIR] [--sizes 100 300 900] [--out results/training-start.json]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402

MODEL, SET = "gender-fader", "fader-even"
BEGINS = "Step 1 of"


def start(command: list[str], cache: Path) -> dict[str, float]:
    """Seconds and processor's seconds until a process says that its first step begins."""
    environment = {**os.environ, "GSLOPES_CACHE": str(cache), "PYTHONPATH": str(ROOT)}
    began = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith(BEGINS):
                seconds = time.perf_counter() - began
                stat = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii")
                ticks = sum(map(int, stat.rsplit(")", 1)[1].split()[11:13]))
                process.kill()
                return {
                    "seconds": round(seconds, 1),
                    "processor": ticks / os.sysconf("SC_CLK_TCK"),
                }
        raise SystemExit("".join(said))


def training(data: Path, cache: Path, limit: int | None) -> dict[str, float]:
    """One start of ours."""
    command = [sys.executable, "-m", "training", MODEL, "--data", str(data), "--device", "cpu"]
    few = [] if limit is None else ["--limit", str(limit)]
    return start([*command, *few, "--out", str(cache / "out")], cache)


def old(data: Path, limit: int) -> None:
    """A start as before, in this process: only points and chips are kept."""
    import torch

    from gslopes.faces.compose.skin import class_probabilities
    from gslopes.faces.zoo import load
    from gslopes.faces.zoo.spec import find_spec
    from training.chips import find_faces, probabilities, typology_angle_of
    from training.data import chosen

    spec = find_spec(MODEL)
    for source in chosen(SET, spec, data, limit):
        faces = find_faces(source)
        chips, tight, portraits = faces.chips(), faces.chips("tight"), faces.chips("portrait", 96)
        tagger, labeller, parser = map(load, ("celeba-tagger", "labeller", "face-parser"))
        for model, pixels in ((tagger, portraits), (labeller, tight)):
            for rows in np.array_split(pixels, max(1, len(pixels) // 256)):
                probabilities(model, rows, "cpu")
        few = chips[: round(0.7 * len(chips))]  # as many as are learned from
        column = parser.spec.labels.index("skin")
        for begin in range(0, len(few), 64):
            part = few[begin : begin + 64]
            masks = class_probabilities(parser, part, torch.device("cpu"))[:, column].numpy() > 0.5
            for chip, mask in zip(part, masks, strict=True):
                typology_angle_of(chip, mask)
    print(BEGINS, file=sys.stderr, flush=True)  # noqa: T201 - as training says it


def fill(data: Path) -> int:
    """Records of made-up values for every photo, in this process's cache; how many chips."""
    from gslopes.faces.zoo.spec import find_spec
    from training import chips, prepared
    from training.data import made
    from training.sources import CELEBA_POINTS

    rng = np.random.default_rng(0)
    face = np.r_[(CELEBA_POINTS * 152).ravel(), 152, 152]

    def record(work: Any, count: int) -> Any:
        if work.name == "faces":
            return np.tile(face, (count, 1))
        if work.name == "outside":
            return np.zeros(count)
        if work.name in ("tones", "labeller", "celeba-tagger"):
            return rng.choice([0.02, 0.98], (count, *work.shape))
        return rng.integers(0, 256, (count, *work.shape), dtype=np.uint8)

    def kept(work: Any, items: Any, make: Any, of: str = "") -> Any:
        del make
        return prepared.kept(work, items, lambda rows: record(work, len(rows)), of)

    chips.kept = kept  # type: ignore[assignment]
    photos = made(SET, find_spec(MODEL), data, "cpu")
    return len(photos.pixels)


def unpacked(folder: Path) -> Path:
    """The two sets of the project's data, unzipped."""
    for name in ("UTKFace", "celeba-wide"):
        with zipfile.ZipFile(Path(os.environ["GSLOPES_TEST_DATA"]) / f"{name}.zip") as archive:
            archive.extractall(folder)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, help="holds UTKFace and celeba-wide")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 300, 900])
    parser.add_argument("--old", type=int, help="only this: one start as before")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.old:
        old(args.data, args.old)
        return
    with tempfile.TemporaryDirectory() as folder:
        data = args.data or unpacked(Path(folder) / "data")
        rows = []
        for size in args.sizes:
            cache = Path(folder) / str(size)
            row: dict[str, Any] = {"photos": size, "first": training(data, cache, size)}
            row["mib"] = round(sum(f.stat().st_size for f in cache.rglob("*.npz")) / 2**20, 1)
            again = [sys.executable, __file__, "--data", str(data), "--old", str(size)]
            start(again, cache)  # its chips
            row["second"] = training(data, cache, size)
            row["second_before"] = start(again, cache)
            rows.append(row)
        os.environ["GSLOPES_CACHE"] = str(Path(folder) / "all")
        count = fill(data)
        whole = training(data, Path(folder) / "all", None)
    sizes = [row["photos"] for row in rows]
    lines = {
        f"{kind}_{clock}": np.polyfit(sizes, [row[kind][clock] for row in rows], 1)
        for kind in ("first", "second_before")
        for clock in ("seconds", "processor")
    }
    result = {
        "bench": "training-start", "machine": measure.machine(), "recipe": MODEL, "to_first_step": rows,
        "all": {"chips": count, "second": whole},
        "ms_a_photo": {name: round(1000 * float(fit[0]), 1) for name, fit in lines.items()},
        "all_by_the_line_s": {
            name: round(float(np.polyval(fit, count))) for name, fit in lines.items()
        },
    }  # fmt: skip
    measure.say(result, args.out)


if __name__ == "__main__":
    main()
