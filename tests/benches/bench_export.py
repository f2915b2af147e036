"""Time and peak memory of ``gslopes export``, for a number of pictures and for ten times fewer.

    python tests/benches/bench_export.py [--pictures 20000] [--out results/export.json]

Photos are drawn faces of 512 px (100 of them, repeated); a picture of a run is the same file under another name. Each
export is a separate process; its peak is the kernel's (ru_maxrss). ``written`` is a plain copy of the same bytes into
one file, with one sync: the speed of the disk.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402

from gslopes.core import tables  # noqa: E402
from gslopes.faces.compose.encode import encode  # noqa: E402
from training.drawn import render, sample  # noqa: E402

FORMS = ("parquet", "webdataset", "imagefolder")
VALUES = np.linspace(-2, 2, 7)
SIDE, DRAWN = 512, 100
EXPORT = """
import json, resource, sys, time
import gslopes
import gslopes.export
began = time.perf_counter()
found = gslopes.export(sys.argv[1], sys.argv[2], sys.argv[3])
seconds, used = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
times = {"seconds": round(seconds, 1), "processor_seconds": round(used.ru_utime + used.ru_stime, 1)}
print(json.dumps({"pictures": found.rows, **times, "peak_mib": round(used.ru_maxrss / 1024, 1)}))
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", type=int, default=20_000)
    parser.add_argument("--forms", nargs="+", default=FORMS)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    files = [encode(render(sample(1, seed), SIDE).pixels[0], False, None) for seed in range(DRAWN)]
    measured = []
    for pictures in (args.pictures // 10, args.pictures):
        with tempfile.TemporaryDirectory() as folder:
            run = make_run(Path(folder), files, pictures // (len(VALUES) + 1))
            for form in args.forms:
                out = Path(folder) / form
                measured.append(
                    {"form": form, **exported(run, form, out), **copied(out, Path(folder) / "copy")}
                )
    measure.say(
        {"bench": "export", "machine": measure.machine(), "side": SIDE, "exports": measured},
        args.out,
    )


def make_run(home: Path, files: list[bytes], photos: int) -> Path:
    """A run folder of so many photos along gender, its pictures links to a few files."""
    run = home / "run"
    for folder in (home / "photos", run / "edits" / "gender"):
        folder.mkdir(parents=True)
    recorded, edits = [], []
    for index in range(photos):
        data = (
            files[index % len(files)] + b"%d" % index
        )  # after the end of the image: another photo, the same pixels
        photo, name = sha256(data).hexdigest(), f"{index:06d}.jpg"
        (home / "photos" / name).write_bytes(data)
        about = {
            "photo": photo,
            "path": name,
            "width": SIDE,
            "height": SIDE,
            "status": "used",
            "faces": 1,
        }
        recorded.append(
            {**about, "reason": "", "detail": "", "box": None, "points": None, "detection": None}
        )
        for step, value in enumerate(VALUES):
            file = f"edits/gender/{photo[:16]}-{step}.jpg"
            (run / file).write_bytes(files[(index + step) % len(files)])
            options = {"photo": photo, "attribute": "gender", "step": step, "value": value}
            edits.append({**options, "file": file, "mask_area": 0.1})
    for table, rows in ((tables.PHOTOS, recorded), (tables.EDITS, edits)):
        tables.write(table, pd.DataFrame(rows)[list(table.columns)], run / f"{table.name}.parquet")
    config = {"photos": str(home / "photos")}
    (run / "run.json").write_text(json.dumps({"seed": 0, "config": config, "models": {}}))
    return run


def exported(run: Path, form: str, out: Path) -> dict[str, float]:
    """Pictures, seconds and peak of one export."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", EXPORT, str(run), form, str(out)]
    output = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout
    content: dict[str, float] = json.loads(output.splitlines()[-1])
    return content


def copied(out: Path, copy: Path) -> dict[str, float]:
    """Megabytes of the export, and seconds to write as many into one file."""
    files = [path for path in out.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    block = os.urandom(1 << 20)
    began = time.perf_counter()
    with copy.open("wb") as file:
        for _ in range(size >> 20):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    seconds = time.perf_counter() - began
    copy.unlink()
    return {"megabytes": round(size / 1e6), "written": round(seconds, 1)}


if __name__ == "__main__":
    main()
