"""Writes audits/<weights>.json: what two audits of real photos come to, for tests/test_audits.py.

Twenty London portraits and fifty IdenProf photos are swept along gender and shown to ``celeba-tagger``; the file holds
a digest of every column of the tables slopes, scores and verdicts, and one of the pixels of every picture. Its name is
that of the weights: when a model is trained again, make a new file and say so under "Numbers" in CHANGELOG.md. Run from
the repository root, with the zips of the photos in GSLOPES_TEST_DATA:

    OMP_NUM_THREADS=1 python -m tests.golden.audits

Numbers are compared bit for bit, on one thread: with two, scores of the same pictures differ by up to 0.00015 and
slopes by 0.000001. Another instruction set of the CPU, or another version of torch, rounds differently as well: the
test then says so and stops.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import tempfile
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

FOLDER = Path(__file__).with_suffix("")
MODELS = ("gender-field", "face-parser", "judge", "celeba-tagger")
PACKAGES = ("torch", "facenet-pytorch", "numpy", "opencv-contrib-python-headless", "pillow", "scipy", "pandas")

# What is compared of each table: the numbers and what they belong to, not the prose that explains them.
TABLES = {
    "scores": ("photo", "attribute", "step", "value", "classifier", "label", "score"),
    "verdicts": (
        "photo", "attribute", "kept", "looked", "found", "tau", "shift", "off_target", "off_target_reading",
        "mask_area", "mask_share", "change",
    ),
    "slopes": (
        "classifier", "attribute", "label", "n", "active", "y_centre", "slope", "intercept", "se", "t", "p", "ci_low",
        "ci_high", "p_perm", "q", "estimator", "unit",
    ),
}  # fmt: skip


def london(folder: Path) -> list[Path]:
    """Twenty portraits."""
    return sorted((folder / "neutral").glob("*.jpg"))[::5][:20]


def idenprof(folder: Path) -> list[Path]:
    """Fifty photos: five of each profession."""
    return [file for kind in sorted((folder / "idenprof").iterdir()) for file in sorted(kind.glob("*.jpg"))[::18][:5]]


SETS: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "london": ("london", london, {}),
    "idenprof": ("idenprof-test", idenprof, {"min_face": 20}),
}


def weights() -> dict[str, str]:
    """Model to the sha256 of its weights."""
    from gslopes.faces import zoo

    return {name: zoo.identify(name)[1] for name in MODELS}


def path() -> Path:
    """The file of the weights that are installed."""
    return FOLDER / f"{hashlib.sha256(json.dumps(weights()).encode()).hexdigest()[:12]}.json"


def arithmetic() -> dict[str, str]:
    """What rounding depends on, the number of threads aside."""
    import torch

    return {"cpu": torch.backends.cpu.get_cpu_capability(), **{name: metadata.version(name) for name in PACKAGES}}


def audited(name: str, unpacked: Path, work: Path) -> dict[str, Any]:
    """The digests of one set.

    unpacked: its archive's folder.  work: an empty folder.
    """
    import gslopes

    _, choose, options = SETS[name]
    photos = work / "photos"
    photos.mkdir()
    for file in choose(unpacked):
        shutil.copyfile(file, photos / file.name)
    gslopes.audit(
        photos,
        work / "run",
        attribute="gender",
        placebo=False,
        classifier="celeba-tagger",
        device="cpu",
        cache=work / "cache",
        **options,
    )
    return digests(work / "run")


def digests(run: Path) -> dict[str, Any]:
    """Of a finished run folder: rows and columns of the tables, and the pictures."""
    from gslopes.photos.folder import open_photo

    found: dict[str, Any] = {}
    for table, columns in TABLES.items():
        frame = pd.read_parquet(run / f"{table}.parquet")[list(columns)]
        found[table] = {"rows": len(frame), **{column: of_column(frame[column]) for column in columns}}
    files = sorted((run / "edits").rglob("*.*"))
    found["pictures"] = {
        file.relative_to(run / "edits").as_posix(): of_bytes(open_photo(file).pixels.tobytes()) for file in files
    }
    return found


def of_column(column: pd.Series) -> str:
    """Numbers by their bits, everything else by its text."""
    if column.dtype.kind in "fiub":
        return of_bytes(np.ascontiguousarray(column.to_numpy()).astype(column.dtype.newbyteorder("<")).tobytes())
    return of_bytes("\0".join(map(str, column)).encode())


def of_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def main() -> None:
    data = Path(os.environ["GSLOPES_TEST_DATA"])
    sets: dict[str, Any] = {}
    for name, (archive, *_) in SETS.items():
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder, "work")
            work.mkdir()
            with zipfile.ZipFile(data / f"{archive}.zip") as zipped:
                zipped.extractall(Path(folder, "photos"))
            sets[name] = audited(name, Path(folder, "photos"), work)
    import gslopes

    root = Path(gslopes.__file__).parents[1]
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True)
    golden = {
        "command": "python -m tests.golden.audits",
        "commit": commit.stdout.strip(),
        "python": platform.python_version(),
        "arithmetic": arithmetic(),
        "weights": weights(),
        "sets": sets,
    }
    FOLDER.mkdir(exist_ok=True)
    path().write_text(json.dumps(golden, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
