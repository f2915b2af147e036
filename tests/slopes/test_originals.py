"""What a collection's manifest says of a run's photos."""

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.core.tables import MANIFEST, SOURCES
from gslopes.frame.spec import Run
from gslopes.slopes.audit import SLOPES
from gslopes.slopes.originals import sources

IDS = ["a" * 64, "b" * 64, "c" * 64]


def manifest() -> pd.DataFrame:
    """Two photos; the first was found again by a later search, with another licence; one was refused."""
    rows = [
        (IDS[0], "duplicate", "nurse", "CC BY 4.0"),
        (IDS[0], "kept", "chef", "CC0 1.0"),
        (IDS[1], "kept", "chef", "=HYPERLINK()"),
        ("", "refused", "chef", "CC0 1.0"),
    ]
    frame = pd.DataFrame(rows, columns=["photo", "status", "occupation", "licence"])
    frame = frame.assign(
        creator=["", "Ada", "", ""], page="https://example.org/1", rank=range(1, 5)
    )
    for field in MANIFEST.schema:
        if field.name not in frame:
            frame[field.name] = "" if str(field.type) == "string" else 0
    return frame


@pytest.fixture
def folders(tmp_path) -> tuple[Path, Path]:
    photos, run = tmp_path / "photos", tmp_path / "run"
    (photos / "chef").mkdir(parents=True)
    run.mkdir()
    plain = {"width": 8, "height": 8, "status": "used", "reason": "", "faces": 1}
    where = {"box": None, "points": None, "detection": None}
    table = pd.DataFrame(
        {"photo": [*IDS, ""], "path": ["1.jpg", "2.jpg", "3.jpg", "4.jpg"], **plain, **where}
    )
    tables.write(tables.PHOTOS, table, run / "photos.parquet")
    return photos, run


def kept(photos: Path, run: Path) -> dict[str, str] | None:
    made = sources(Run(SLOPES, run, SimpleNamespace(photos=photos)))
    if not made:
        return None
    table = made["sources"]
    tables.check(SOURCES, table)
    return dict(zip(table["photo"], table["licence"], strict=True))


@pytest.mark.parametrize("folder", ["", "chef"])  # the collection, or a folder of it
def test_each_photo_of_the_run_has_what_the_search_that_kept_it_said(folders, folder):
    photos, run = folders
    tables.write(MANIFEST, manifest(), photos / "manifest.parquet")
    assert kept(photos / folder, run) == {IDS[0]: "CC0 1.0", IDS[1]: "=HYPERLINK()"}


@pytest.mark.parametrize("content", [None, b"PAR1 of another program", b""])
def test_without_a_manifest_of_ours_nothing_is_written(folders, content):
    photos, run = folders
    if content is not None:
        (photos / "manifest.parquet").write_bytes(content)
    assert kept(photos, run) is None


def test_photos_that_are_not_in_the_manifest_leave_nothing(folders):
    photos, run = folders
    tables.write(MANIFEST, manifest().query("status == 'refused'"), photos / "manifest.parquet")
    assert kept(photos, run) is None
