"""A synthetic run folder: real small pictures, planted slopes, and strangers' data of every unpleasant kind."""

import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.core import runfolder, tables
from gslopes.frame.page import render
from gslopes.frame.spec import Run
from gslopes.slopes.audit import SLOPES
from gslopes.slopes.config import RunConfig
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.options import FitOptions, Study
from gslopes.slopes.page.folder import WalkPage
from gslopes.slopes.page.loading import RunTables
from gslopes.slopes.page.page_data import Album
from tests.fixtures import paper_slopes

VALUES = np.linspace(-2, 2, 7)
SCRIPT = "<script>alert(1)</script>"
# label: (share at the centre, change of the score per unit)
LABELS = {
    "Lipstick": (0.5, -0.14),
    SCRIPT: (0.4, -0.08),
    "Smiling $x^2$": (0.6, -0.03),
    "Necktie": (0.3, 0.12),
    "Beard": (0.35, 0.09),
    "口紅\n| `odd`": (0.45, 0.06),
    "Outdoors": (0.7, 0.0),
    "Hat": (0.2, 0.005),
}
NEVER = "Never at the centre"


def picture(photo: int, value: float, size: tuple[int, int] = (96, 120)) -> Image.Image:
    """A face of sorts: a disc whose tint moves with the value, on a background of its own."""
    wide, high = size
    y, x = np.mgrid[:high, :wide]
    rng = np.random.default_rng(photo)
    pixels = np.empty((high, wide, 3))
    pixels[:] = rng.integers(90, 220, 3)
    inside = ((x - wide / 2) / (wide * 0.27)) ** 2 + ((y - high / 2) / (high * 0.3)) ** 2 < 1
    pixels[inside] = np.clip(np.array([205, 160, 140]) + value * np.array([-12, 8, 22]), 0, 255)
    return Image.fromarray(pixels.astype(np.uint8))


def answers(
    ids: list[str], attribute: str, classifier: str, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    names = np.array([*LABELS, NEVER])
    centre, slope = np.array([*LABELS.values(), (0.0, 0.0)]).T
    score = (
        centre[:, None]
        + 0.6 * slope[:, None] * VALUES
        + rng.uniform(-0.5, 0.5, (len(ids), len(names), 1))
        + 0.02
    )
    score += rng.normal(0, 0.01, score.shape)
    present = np.clip(score, 0, 1) >= 0.5
    present[:, -1] = False
    present[0, -1, 0] = True
    photo, label, step = np.nonzero(present)
    scores = pd.DataFrame(
        {
            "photo": np.array(ids)[photo],
            "attribute": attribute,
            "step": step.astype(np.int16),
            "value": VALUES.astype(np.float32)[step],
            "classifier": classifier,
            "label": names[label],
            "score": np.clip(score, 0, 1)[present].astype(np.float32),
        }
    )
    asked = pd.DataFrame(
        {
            "photo": np.repeat(ids, 7),
            "attribute": attribute,
            "step": np.tile(np.arange(7, dtype=np.int16), len(ids)),
            "classifier": classifier,
            "status": "answered",
            "reason": "",
            "detail": "",
        }
    )
    asked.loc[9, ["status", "reason", "detail"]] = ["refused", "refused", "too small"]
    return scores, asked


def photos_table(ids: list[str]) -> pd.DataFrame:
    used = [
        {
            "photo": photo,
            "path": f"people/{index:03d}.jpg",
            "status": "used",
            "reason": "",
            "faces": 1 + index % 2,
        }
        for index, photo in enumerate(ids)
    ]
    paths = [
        "no face.jpg",
        "also none.png",
        "new\nline\x1b[31m.jpg",
        f"{SCRIPT}.jpg",
        "gebr\\xfc.jpg",
        "空.webp",
    ]
    reasons = ["no face found"] * 2 + ["not an image"] * 2 + ["truncated", f"{SCRIPT}\n"]
    skipped = [
        {"photo": "", "path": path, "status": "skipped", "reason": reason, "faces": 0}
        for path, reason in zip(paths, reasons, strict=True)
    ]
    frame = pd.DataFrame([*used, *skipped])
    frame[["width", "height"]] = [96, 120]
    frame["box"] = [[22.0, 24.0, 74.0, 96.0]] * len(used) + [None] * len(skipped)
    frame["points"], frame["detection"], frame["detail"] = None, None, ""
    return frame[tables.PHOTOS.columns]


def edits_table(run: Path, ids: list[str], attribute: str, pictures: int) -> pd.DataFrame:
    rows = []
    (run / "edits" / attribute).mkdir(parents=True)
    for index, photo in enumerate(ids):
        for step, value in enumerate(VALUES):
            file = f"edits/{attribute}/{photo[:16]}-{step}.jpg"
            if index < pictures or index == len(ids) - 1:
                picture(index, value).save(run / file, quality=90)
            rows.append((photo, attribute, step, value, file, 0.2))
    return pd.DataFrame(rows, columns=tables.EDITS.columns)


def make_run(run: Path, pairs: list[tuple[str, str]], photos: int = 80) -> Path:
    """A run folder with these (classifier, attribute) pairs, fitted."""
    run.mkdir(parents=True)
    ids = sorted(sha256(str(index).encode()).hexdigest() for index in range(photos))
    attributes = sorted({attribute for _, attribute in pairs})
    parts = [
        answers(ids, attribute, classifier, seed)
        for seed, (classifier, attribute) in enumerate(pairs)
    ]
    scores, asked = (pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True))
    edits = pd.concat([edits_table(run, ids, attribute, photos) for attribute in attributes])
    slopes = paper_slopes(scores, asked)
    frames = {
        "photos": photos_table(ids),
        "edits": edits,
        "asked": asked,
        "scores": scores,
        "slopes": slopes,
    }
    for name, frame in frames.items():
        tables.write(tables.TABLES[name], frame, run / f"{name}.parquet")
    manifest = {
        "kind": "audit",
        "gslopes": "0.1.0",
        "source": "/data/people",
        "facts": [],
        "notes": [],
        "created": "2026-11-21T04:00:00+00:00",
        "config": {
            "photos": "/data/people",
            "attributes": attributes,
            "classifiers": [c for c, _ in pairs],
            "seed": 0,
        },
        "values": {attribute: VALUES.astype(np.float32).tolist() for attribute in attributes},
        "models": {"gender-field": {"sha256": "ab" * 32, "licence": "non-commercial research"}},
        "classifiers": {classifier: {"version": "cd" * 32} for classifier, _ in pairs},
        "versions": {"python": "3.11", "numpy": "2"},
        "photos": {"used": photos},
    }
    (run / "run.json").write_text(json.dumps(manifest), encoding="utf-8")
    return run


def placebos_of(rows: pd.DataFrame, kind: str, slope: float, half: float) -> pd.DataFrame:
    """Rows of PLACEBOS about those rows of slopes: one slope of all labels, one width of the paired differences."""
    head = rows[["classifier", "attribute", "label", "estimator", "slope"]].reset_index(drop=True)
    gap = head["slope"] - slope
    made = head.assign(placebo=kind, n=40, varying=40, placebo_slope=slope, difference=gap)
    made = made.assign(placebo_p=1.0, note="")
    return made.assign(
        ci_low=gap - half, ci_high=gap + half, **dict.fromkeys(("se", "p", "p_perm"), 0.5)
    )


NO_PHOTOS: dict[str, Any] = {
    **dict.fromkeys(("found", "used", "several", "dropped"), 0),
    "reasons": [],
    "skipped": [],
}


def page_of(folder: Path, manifest: dict[str, Any], **parts: Any) -> str:
    """The page of a run without a classifier.  parts: of the page, by name."""
    page = WalkPage(Run(SLOPES, folder, RunConfig(folder)))
    page.source = RunTables(folder, runfolder.Manifest(manifest), tables.SLOPES.empty(), {}, [])
    page.photos = NO_PHOTOS
    page.pictures = Album([], [], {}, {})
    page.screens = page.papers = page.numbered = page.switches = page.occupations = []
    page.entries, page.differs = {}, []
    for name, part in parts.items():
        setattr(page, name, part)
    return render(page)


@pytest.fixture(autouse=True, scope="session")
def small_squares() -> Iterator[None]:
    """Strips of squares of 64 pixels instead of 224: an eighth of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gslopes.slopes.page.pictures._WIDE", 64)
        yield


@pytest.fixture(scope="session")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one classifier and one attribute; tests add a report at most."""
    return make_run(tmp_path_factory.mktemp("one") / "run", [("celeba-tagger", "gender")])


@pytest.fixture(scope="session")
def make() -> Callable[..., Path]:
    return make_run


def fit_groups(run: Path) -> None:
    """Fit a run again, with two groups of photos, one of them named by a stranger."""
    scores, asked = (
        tables.read(table, run / f"{table.name}.parquet") for table in (tables.SCORES, tables.ASKED)
    )
    photos = tables.read(tables.EDITS, run / "edits.parquet")["photo"].unique()
    about = pd.DataFrame(
        {"team": np.where(np.arange(len(photos)) % 2, SCRIPT, "blue")}, index=photos
    )
    found = analyse(
        scores, asked, Study(about=about, groups=["team"]), options=FitOptions(permutations=200)
    )
    for table, frame in found.tables():
        tables.write(table, frame, run / f"{table.name}.parquet")


@pytest.fixture(scope="session")
def refit() -> Callable[[Path], None]:
    return fit_groups
