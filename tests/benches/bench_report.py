"""The report at large scale: how long it takes to write, how large it is, how soon a browser has opened it.

OMP_NUM_THREADS=1 python tests/benches/bench_report.py --out report.json

2,000 labels, 5 classifiers, 5,000 photos, 7 values, 20 labels a picture: 3.5 million scores, made up. The pictures are
of 60 photos, used again and again. The page is opened from the disk in a new Chromium context each time: until its load
event, until the first screen's sentence and plot can be seen and used, and until the first finding's table can be seen
after a jump to it. --folder keeps the run and uses it again; --embed none leaves the pictures out.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import tempfile
import time
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from gslopes.core import tables
from gslopes.slopes.config import FitConfig
from gslopes.slopes.fitting import fit_folder
from gslopes.slopes.page import write_report

VALUES = np.linspace(-2, 2, 7)
RETURNED, PICTURES, SIDE = 20, 60, 512


def make(run: Path, photos: int, classifiers: int, labels: int) -> None:
    """A run folder, fitted without resampling."""
    run.mkdir(parents=True)
    rng = np.random.default_rng(0)
    ids = sorted(sha256(str(index).encode()).hexdigest() for index in range(photos))
    files = pictures(run, rng)
    box = [128.0, 100.0, 384.0, 400.0]
    frame = pd.DataFrame(
        {"photo": ids, "path": [f"people/{index:05d}.jpg" for index in range(photos)]}
    )
    frame = frame.assign(
        width=SIDE, height=SIDE, status="used", reason="", detail="", faces=1, box=[box] * photos
    )
    frame = frame.assign(points=None, detection=None)[tables.PHOTOS.columns]
    tables.write(tables.PHOTOS, frame, run / "photos.parquet")
    step = np.tile(np.arange(7, dtype=np.int16), photos)
    edits = pd.DataFrame(
        {"photo": np.repeat(ids, 7), "attribute": "gender", "step": step, "value": VALUES[step]}
    )
    edits["file"] = [files[index // 7 % PICTURES][index % 7] for index in range(7 * photos)]
    edits["mask_area"] = 0.2
    tables.write(tables.EDITS, edits, run / "edits.parquet")
    names = [f"classifier-{index}" for index in range(classifiers)]
    questions = edits[["photo", "attribute", "step"]].assign(
        status="answered", reason="", detail=""
    )
    everything = pd.concat([questions.assign(classifier=name) for name in names])
    tables.write(tables.ASKED, everything[tables.ASKED.columns], run / "asked.parquet")
    parts = [scores(rng, ids, labels, name) for name in names]
    pq.write_table(pa.concat_tables(parts), run / "scores.parquet")
    manifest = {
        "gslopes": "bench",
        "seed": 0,
        "values": {"gender": VALUES.tolist()},
        "classifiers": {n: {} for n in names},
    }
    (run / "run.json").write_text(json.dumps(manifest))
    fitted = fit_folder(run, FitConfig(permutations=0), {"gender": VALUES.tolist()}, 0)
    for table, frame in fitted.tables():
        tables.write(table, frame, run / f"{table.name}.parquet")


def pictures(run: Path, rng: np.random.Generator) -> list[list[str]]:
    """Smooth noise that moves a little with the step: it compresses about as a photo does."""
    (run / "edits").mkdir()
    files = []
    for photo in range(PICTURES):
        base = Image.fromarray(rng.integers(0, 255, (40, 40, 3), dtype=np.uint8)).resize(
            (SIDE, SIDE), Image.Resampling.BICUBIC
        )
        files.append([f"edits/{photo}-{step}.jpg" for step in range(7)])
        for step, file in enumerate(files[-1]):
            shifted = np.clip(np.asarray(base, dtype=int) + 6 * step - 18, 0, 255).astype(np.uint8)
            Image.fromarray(shifted).save(run / file, quality=95, subsampling=0)
    return files


def scores(rng: np.random.Generator, ids: list[str], labels: int, classifier: str) -> pa.Table:
    """Each photo has different labels; each comes and goes along the sweep."""
    photos = len(ids)
    returned = np.argsort(rng.random((photos, labels)) ** np.linspace(1, 6, labels), axis=1)[
        :, : 2 * RETURNED
    ]
    score = rng.random((photos, 2 * RETURNED, 1)) + rng.normal(0, 0.15, (photos, 2 * RETURNED, 7))
    score += np.linspace(-0.3, 0.3, labels)[returned][..., None] * VALUES * 0.3
    photo, position, step = np.nonzero(score > 0.5)
    frame = pd.DataFrame(
        {"photo": np.array(ids)[photo], "attribute": "gender", "step": step, "value": VALUES[step]}
    )
    frame["classifier"] = classifier
    frame["label"] = np.array([f"label {index:04d}" for index in range(labels)])[
        returned[photo, position]
    ]
    frame["score"] = np.clip(score[photo, position, step], 0, 1)
    frame = frame.sort_values(["photo", "step", "label"])
    return tables.check(tables.SCORES, frame[tables.SCORES.columns])


def opened(page_file: Path, times: int) -> dict[str, list[float]]:
    """Seconds until the load event, until the first screen's plot has links to press, and until the table is there."""
    from playwright.sync_api import sync_playwright

    load, first, busy, table = [], [], [], []
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for _ in range(times + 1):
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            page = context.new_page()
            # processor time of the page's thread, which other work on the machine does not change
            session = context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})
            start = time.perf_counter()
            page.goto(page_file.as_uri(), wait_until="load")
            load.append(time.perf_counter() - start)
            page.wait_for_selector(".levels svg")
            first.append(time.perf_counter() - start)
            measured = session.send("Performance.getMetrics")["metrics"]
            busy.append(next(item["value"] for item in measured if item["name"] == "TaskDuration"))
            page.evaluate("location.hash = 'findings'")
            page.wait_for_selector("#app-f0 table.labels tbody tr")
            table.append(time.perf_counter() - start)
            context.close()
        browser.close()
    return {
        "load": load[1:],
        "first_screen": first[1:],
        "first_screen_processor": busy[1:],
        "table": table[1:],
    }  # the first one warms the disk


def megabytes(folder: Path) -> float:
    return round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=int, default=5000)
    parser.add_argument("--classifiers", type=int, default=5)
    parser.add_argument("--labels", type=int, default=2000)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--embed", nargs="*", default=["none", "thumbs"])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    result: dict[str, object] = {
        name: getattr(options, name) for name in ("photos", "classifiers", "labels")
    }
    with tempfile.TemporaryDirectory() as folder:
        run = (options.folder or Path(folder)) / "run"
        if not (run / "slopes.parquet").exists():
            make(run, options.photos, options.classifiers, options.labels)
        result["scores"] = pq.read_metadata(run / "scores.parquet").num_rows
        for embed in options.embed:
            start = time.perf_counter()
            page = write_report(run, embed=embed)
            result[f"{embed}_seconds"] = round(time.perf_counter() - start, 1)
            result[f"{embed}_megabytes"] = megabytes(page.parent)
        result["page_megabytes"] = round(page.stat().st_size / 1e6, 2)
        result["data_megabytes"] = megabytes(page.parent / "data")
        result["pictures_megabytes"] = megabytes(page.parent / "pictures")
        for name, times in opened(page, options.times).items():
            low, middle, high = statistics.quantiles(times, n=4)
            result[f"{name}_seconds"] = {
                "median": round(middle, 3),
                "iqr": [round(low, 3), round(high, 3)],
            }
    result["machine"] = {
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "system": platform.platform(),
    }
    text = json.dumps(result, indent=2)
    print(text)  # noqa: T201
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
