"""Who made a collected photo: shown beside it, as text of strangers, with links that nobody can misuse."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.core.tables import SOURCES
from gslopes.report.words import link
from gslopes.slopes.report import write_report

SCRIPT = "<script>alert(1)</script>"
GOOD = "https://example.org/photo?id=1&size=2#top"


@pytest.mark.parametrize("address", [GOOD, "http://example.org", "https://例え.jp/写真"])
def test_addresses_of_http_are_links(address: str) -> None:
    assert link(address) == address


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "//example.org",
        "https://",
        "https:///x",
        "https://user:word@example.org",
        f"https://example.org/{SCRIPT}",
        'https://example.org/" onclick="alert(1)',
        "https://example.org/\nx",
        "https://[bad",
        "https://example.org/" + "x" * 3000,
        "",
    ],
)
def test_other_addresses_are_none(address: str) -> None:
    assert link(address) == ""


def sourced(one: Path, run: Path) -> Path:
    """A run of which every photo but the last was collected, from hostile sources."""
    shutil.copytree(one, run, ignore=shutil.ignore_patterns("report"))
    photos = sorted(tables.read(tables.EDITS, run / "edits.parquet")["photo"].unique())[:-1]
    rows = pd.DataFrame(
        {"photo": photos, "title": SCRIPT, "creator": "Ada\x1b[31m", "creator_url": "javascript:alert(1)"}
    )
    rows = rows.assign(
        licence="CC BY 4.0", licence_url="https://creativecommons.org/licenses/by/4.0/", page=GOOD, source="s"
    )
    tables.write(SOURCES, rows, run / "sources.parquet")
    return run


def test_every_photo_shown_has_its_credit_and_no_picture_no_credit(one: Path, tmp_path: Path) -> None:
    run = sourced(one, tmp_path / "run")
    html = write_report(run).read_text(encoding="utf-8")
    caption = html[html.index("Photos spread evenly") :].split("</figcaption>")[0]
    assert (
        caption.count('rel="noreferrer noopener">source</a>') == 3
    )  # of the four on the sheet, the last was not collected
    assert f'href="{GOOD.replace("&", "&amp;")}"' in caption
    assert "&lt;script&gt;" in caption
    assert "javascript:" not in html
    album = json.loads((run / "report/data/photos.js").read_text("ascii").removeprefix('gslopes("photos",')[:-3])
    assert len(album["credits"]) == 79
    assert album["credits"]["0"] == {
        "title": SCRIPT,
        "creator": "Ada\\x1b[31m",
        "creator_url": "",
        "licence": "CC BY 4.0",
        "licence_url": "https://creativecommons.org/licenses/by/4.0/",
        "page": GOOD,
    }
    bare = write_report(run, embed="none").read_text(encoding="utf-8")
    assert "CC BY" not in bare + (run / "report/data/photos.js").read_text("ascii")
