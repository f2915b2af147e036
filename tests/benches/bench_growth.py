"""How everything grows: seconds, memory and bytes at three sizes each, the exponent, and what one unit more costs.

    OMP_NUM_THREADS=1 python tests/benches/bench_growth.py [--only fit-rows …] [--rounds 3] [--out results/growth.json]

Each size is a separate process, which first does the smallest size once, so that no import counts; ``again`` is the
command itself, imports and all. Times are of the processor, which other work on the machine moves less; walls are
beside them. The exponent is of a line through logarithms of medians; ``last`` of only the two largest sizes;
``a_unit`` the microseconds between these, a unit. All inputs are drawn.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402

SIDE = 675  # pixels of a portrait of the London set


@dataclass(frozen=True)
class Kind:
    """One thing that grows.

    sizes: of ``unit``.  prepare: draws the inputs into a folder.  work: what is timed; more facts of it, or None.
    command: whether it is timed as a separate process, from its start to its end.  kept: whether ``work`` leaves the
        inputs as they were.
    """

    sizes: tuple[int, ...]
    unit: str
    prepare: Callable[[Path, int], None]
    work: Callable[[Path, int], dict[str, Any] | None]
    command: bool = False
    kept: bool = False


# -- the walk ---------------------------------------------------------------------------------------------------------


def astronauts(folder: Path, photos: int) -> None:
    import bench_machine

    (folder / "photos").mkdir()
    bench_machine.write_variants(folder / "photos", photos)


def walk(folder: Path, size: int, **options: Any) -> None:
    """Photos to counterfactual photos, one after the other: no placebos, one thread."""
    from gslopes.frame.executors import OneProcess
    from gslopes.slopes import audit as stages

    options |= {"device": "cpu", "placebo": False, "executor": OneProcess(threads=1)}
    stages.synthesise(folder / "photos", folder / "run", **options)


# -- fit --------------------------------------------------------------------------------------------------------------


def fit_tables(folder: Path, photos: int, labels: int) -> None:
    import bench_fit

    bench_fit.RETURNED = max(1, labels * 80 // 1000)
    bench_fit.write(folder, photos, labels)


def fit(folder: Path, size: int) -> dict[str, Any]:
    from gslopes.core import tables
    from gslopes.slopes.measures.analysis import analyse
    from gslopes.slopes.measures.options import FitOptions

    pair = (tables.SCORES, tables.ASKED)
    scores, questions = (
        tables.read_arrow(table, folder / f"{table.name}.parquet") for table in pair
    )
    analyse(scores, questions, options=FitOptions(permutations=200))
    return {"rows": pq.read_metadata(folder / "scores.parquet").num_rows}


def drawn_run(kind: str) -> Callable[[Path, int], None]:
    """A hundred answers a photo, 1,000 labels, groups, readings, verdicts, placebos of a sample."""

    def draw(folder: Path, answers: int) -> None:
        from tests.benches import large_run

        large_run.write(folder / "run", kind, answers // 100, answers, 1000)

    return draw


def fit_run(folder: Path, size: int) -> dict[str, Any]:
    """All that a run's fit does, and beside it a plain one, which reads the same answers and does the slopes alone."""
    from gslopes.core import runfolder
    from gslopes.slopes.config import FitConfig
    from gslopes.slopes.fitting import fit_folder

    run = folder / "run"
    manifest = runfolder.read_manifest(run)
    about = {"photos_csv": run / "people.csv", "groups": ("region",)}
    fit_folder(run, FitConfig(permutations=200, **about), manifest["values"], 0)
    peak = measure.peak_mib()
    began, busy = time.perf_counter(), time.process_time()
    plain_fit(run)
    spent = {"plain": time.perf_counter() - began, "plain_processor": time.process_time() - busy}
    rows = pq.read_metadata(run / "scores.parquet").num_rows
    both = {"peak_mib": peak, "plain_peak_mib": measure.peak_mib()}
    return {"rows": rows, "less": spent, **spent, **both}


def plain_fit(run: Path) -> None:
    """The slope of each photo and label, and the mean's t over photos: pandas and NumPy, no permutation, no group."""
    import pandas as pd

    scores = pd.read_parquet(run / "scores.parquet")
    scores = scores[scores["attribute"] == scores["attribute"].iloc[0]]
    values = np.sort(scores["value"].unique()).astype(float)
    centred = values - values.mean()
    weights = 100 * centred / (centred @ centred)
    scores["slope"] = weights[scores["step"]]
    slopes = scores.groupby(["label", "photo"], observed=True)["slope"].sum()
    count = scores["photo"].nunique()
    sums = slopes.groupby(level=0).agg(["sum", lambda column: (column**2).sum()])
    mean = sums.iloc[:, 0] / count
    se = np.sqrt((sums.iloc[:, 1] / count - mean**2) / (count - 1))
    assert len(mean / se)


# -- report -----------------------------------------------------------------------------------------------------------


def reported(folder: Path, photos: int) -> None:
    import bench_report

    bench_report.make(folder / "run", photos, 1, 200)


def report(folder: Path, size: int) -> dict[str, Any]:
    import bench_report

    from gslopes.slopes.page import write_report

    page = write_report(folder / "run", embed="thumbs")
    return {
        "page_bytes": page.stat().st_size,
        "folder_megabytes": bench_report.megabytes(page.parent),
    }


# -- score ------------------------------------------------------------------------------------------------------------


def painted(folder: Path, pictures: int) -> None:
    from tests.fake_provider.folder import write_run

    write_run(folder / "run", pictures // 7, part=32)


def instant(pictures: list[Any]) -> list[dict[str, float]]:
    """A function that needs no time."""
    return [{"bright": 0.5, "dark": 0.25} for _ in pictures]


def score(folder: Path, size: int) -> None:
    from gslopes.slopes import audit as stages

    stages.score_photos(folder / "run", instant, device="cpu", yes=True)


SERVER = """
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version, disable_nagle_algorithm = "HTTP/1.1", True
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["pictures"]
        body = json.dumps({"answers": [{"labels": {"bright": 0.5, "dark": 0.25}} for _ in asked]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


def http(folder: Path, size: int) -> dict[str, Any]:
    """Ours, and in the same process only httpx: the files read, the requests sent one after the other, JSON parsed."""
    import base64

    import httpx

    from gslopes.slopes import audit as stages

    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/"
        files = sorted((folder / "run" / "edits").rglob("*.jpg"))
        taken: dict[str, tuple[float, float]] = {}
        for name in ("raw", "ours"):
            began, busy = time.perf_counter(), time.process_time()
            if name == "ours":
                os.environ["GSLOPES_CACHE"] = str(folder / "cache")
                text = f"http:{url},batch=1,concurrency=1"
                stages.score_photos(folder / "run", text, device="cpu", yes=True)
            else:
                with httpx.Client() as client:
                    for file in files:
                        sent = {"pictures": [base64.b64encode(file.read_bytes()).decode("ascii")]}
                        json.loads(client.post(url, json=sent).content)
            taken[name] = time.perf_counter() - began, time.process_time() - busy
        server.kill()
    wall, processor = (1000 * (taken["ours"][i] - taken["raw"][i]) / len(files) for i in (0, 1))
    raw = 1000 * taken["raw"][1] / len(files)
    return {
        "ours_over_raw_ms": round(wall, 3),
        "processor_ms": round(processor, 3),
        "raw_ms": round(raw, 3),
    }


# -- the same command again -------------------------------------------------------------------------------------------


def finished(folder: Path, photos: int) -> None:
    import gslopes
    from training.drawn import SIZE, drawn_in_place, write_folder

    write_folder(drawn_in_place(photos, 100), folder / "drawn", SIZE)
    options = given(folder)
    gslopes.audit(out=folder / "run", classifier=instant, placebo=False, steps=3, **options)


def given(folder: Path) -> dict[str, Any]:
    """The drawn faces as arguments of an audit."""
    drawn = folder / "drawn"
    truths = {"landmarks": drawn / "faces.csv", "masks": drawn / "masks"}
    return {"photos": drawn / "photos", **truths, "editor": "drawn-confounded", "gate": False}


def again(folder: Path, size: int) -> None:
    import contextlib
    import io

    from gslopes.slopes import audit as stages

    options = given(folder)
    done = stages.audit(out=folder / "run", classifier=instant, placebo=False, steps=3, **options)
    with contextlib.redirect_stdout(io.StringIO()):
        print(done)  # noqa: T201 - as the command does


# -- the other audits -------------------------------------------------------------------------------------------------


def portraits(folder: Path, photos: int) -> None:
    """Drawn faces as large as London's, two groups of them in turn."""
    from PIL import Image

    from training.drawn import SIZE, drawn_in_place, write_folder

    write_folder(drawn_in_place(photos, 100), folder / "drawn", SIZE)
    (folder / "people").mkdir()
    names = []
    for index, file in enumerate(sorted((folder / "drawn" / "photos").iterdir())):
        with Image.open(file) as face:
            face.resize((SIDE, SIDE)).save(folder / "people" / f"{index}.png", compress_level=1)
        names.append(f"{index},{'ab'[index % 2]}")
    (folder / "people.csv").write_text("id,team\n" + "\n".join(names) + "\n")


def crops(folder: Path, photos: int) -> dict[str, Any]:
    from gslopes.crops.audit import audit_crops

    done = audit_crops(
        folder / "people",
        folder / "run",
        people=folder / "people.csv",
        groups=("team",),
        min_group=2,
    )
    return {"pictures": len(done.tables["pairs"])}


def captioned(folder: Path, images: int) -> None:
    from tests.benches.bench_captions import captions

    (folder / "stages").mkdir()
    kinds = {"human": captions(2 * images), "system": captions(3 * images)[2 * images :]}
    for name, texts in kinds.items():
        rows = [f'{index % images},"{text}"' for index, text in enumerate(texts)]
        (folder / "stages" / f"{name}-captions.csv").write_text(
            "\n".join(["image,caption", *rows]) + "\n"
        )
    boxes = [
        {
            "id": 2 * i + k,
            "image_id": i,
            "category_id": k + 1,
            "bbox": [5 * k, 5, 40, 60 + i % 7],
            "area": 900,
            "iscrowd": 0,
        }
        for i in range(images)
        for k in (0, 1)
    ]
    every = [{"id": i, "width": 100, "height": 100, "file_name": f"{i}.jpg"} for i in range(images)]
    names = [
        {"id": k + 1, "name": name, "supercategory": ""} for k, name in enumerate(("person", "dog"))
    ]
    content = {"images": every, "annotations": boxes, "categories": names}
    (folder / "stages" / "human-labels.json").write_text(json.dumps(content))
    groups = [f"{i},{('female', 'male')[i % 2]}" for i in range(images)]
    (folder / "groups.csv").write_text("\n".join(["image,gender", *groups]) + "\n")


def caption(folder: Path, size: int) -> None:
    import gslopes

    gslopes.audit_captions(folder / "stages", folder / "run", groups=folder / "groups.csv", types=5)


def rooms(folder: Path, people: int) -> None:
    from tests.contexts.drawn import draw

    draw(folder / "drawn", people)


def contexts(folder: Path, size: int) -> None:
    from tests.frame.audits import audit_contexts

    audit_contexts(folder / "drawn" / "people", folder / "run")


KINDS = {
    "walk": Kind((64, 256, 1024), "photo", astronauts, walk),
    "values": Kind(
        (3, 7, 17, 49),
        "value",
        lambda folder, n: astronauts(folder, 48),
        lambda folder, n: walk(folder, n, steps=n),
    ),
    "fit-rows": Kind(
        (100_000, 1_000_000, 10_000_000),
        "row",
        lambda folder, n: fit_tables(folder, n // 56, 100),
        fit,
    ),
    **{
        f"fit-{kind}": Kind(
            (100_000, 1_000_000, 10_000_000), "answer", drawn_run(kind), fit_run, kept=True
        )
        for kind in ("audit", "crossed", "pairs", "outside")
    },
    "fit-labels": Kind(
        (10, 100, 1000), "label", lambda folder, n: fit_tables(folder, 1000, n), fit
    ),
    "report": Kind((20, 200, 2000), "photo", reported, report),
    "score": Kind((210, 2100, 21_000), "picture", painted, score),
    "http": Kind((210, 2100), "picture", painted, http),
    "again": Kind((40, 200, 1000), "photo", finished, again, command=True),
    "contexts": Kind((8, 32, 120), "person", rooms, contexts),
    "crops": Kind((8, 24, 72), "photo", portraits, crops),
    "captions": Kind((200, 800, 3200), "image", captioned, caption),
}


# -- measuring --------------------------------------------------------------------------------------------------------


def once(kind: Kind, folder: Path, size: int) -> dict[str, Any]:
    """One size in this process, whose parent prepared it, and the smallest one unless this is a command."""
    if not kind.command:
        kind.work(folder / "warm", kind.sizes[0])
    began, busy = time.perf_counter(), time.process_time()
    more = kind.work(folder / "sized", size) or {}
    wall, processor = time.perf_counter() - began, time.process_time() - busy
    if peer := more.pop("less", None):
        wall, processor = wall - peer["plain"], processor - peer["plain_processor"]
    return {"seconds": wall, "processor": processor, "peak_mib": measure.peak_mib(), **more}


def measured(name: str, kind: Kind, rounds: int) -> dict[str, Any]:
    """All sizes in turn, so that a busy minute meets them all."""
    result: dict[int, list[dict[str, Any]]] = {size: [] for size in kind.sizes}
    with tempfile.TemporaryDirectory() as position:
        for turn in range(rounds):
            for size in kind.sizes:
                folder = Path(position) / (
                    str(size) if kind.command or kind.kept else f"{size}-{turn}"
                )
                for part, count in (("warm", kind.sizes[0]), ("sized", size)):
                    if not (folder / part).exists():
                        (folder / part).mkdir(parents=True)
                        kind.prepare(folder / part, count)
                command = [
                    sys.executable,
                    __file__,
                    "--once",
                    name,
                    str(size),
                    "--folder",
                    str(folder),
                ]
                began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
                facts = json.loads(done.stdout.splitlines()[-1])
                if kind.command:
                    after = resource.getrusage(resource.RUSAGE_CHILDREN)
                    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                    facts |= {"seconds": time.perf_counter() - began, "processor": spent}
                result[size].append(facts)
    return grown(kind.unit, result)


def grown(unit: str, runs_of: dict[int, list[dict[str, Any]]]) -> dict[str, Any]:
    """Medians of each size, the exponents, and what a unit more costs."""
    middle = {
        size: {key: float(np.median([item[key] for item in runs])) for key in runs[0]}
        for size, runs in runs_of.items()
    }
    sizes, spent = list(middle), [item["processor"] for item in middle.values()]
    (near, far), (before, after) = sizes[-2:], spent[-2:]
    return {
        "exponent": round(float(np.polyfit(np.log(sizes), np.log(spent), 1)[0]), 3),
        "last": round(math.log(after / before) / math.log(far / near), 3),
        "a_unit": round(1e6 * (after - before) / (far - near), 1),
        "unit": unit,
        "sizes": {
            str(size): {key: round(value, 4) for key, value in item.items()}
            for size, item in middle.items()
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--out", type=Path, help="what is there already stays, but for what is measured now"
    )
    parser.add_argument("--once", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.once:
        name, size = args.once
        sys.stdout.write(json.dumps(once(KINDS[name], args.folder, int(size))) + "\n")
        return
    facts = (
        json.loads(args.out.read_text()) if args.out and args.out.exists() else {"bench": "growth"}
    )
    for name in args.only:
        machine = measure.machine(packages=("numpy", "pandas", "pyarrow"))
        facts[name] = measured(name, KINDS[name], args.rounds) | {"machine": machine}
        kind = facts[name]
        line = f"{name:<12} n^{kind['exponent']:<6} last n^{kind['last']:<6} "
        line += f"{kind['a_unit']:,.1f} us a {kind['unit']}\n"
        sys.stderr.write(line)
        if args.out:
            args.out.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    measure.say(facts, args.out)


if __name__ == "__main__":
    main()
