"""What a report reads from a run folder: findings, tables, what became of the photos, and who made them."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from gslopes.core import placebo, tables
from gslopes.core.errors import TableError
from gslopes.core.tables import SOURCES
from gslopes.report import inline
from gslopes.report.words import link
from gslopes.slopes.page import loading, write_report
from gslopes.slopes.page.decisions import HOUSE
from gslopes.slopes.page.loading import load, with_facts
from tests.slopes.page.conftest import placebos_of


def test_placebo_sweeps_are_no_findings_but_stand_beside_theirs(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    run = make(tmp_path / "run", [("a", "gender")], photos=12)
    slopes = tables.read(tables.SLOPES, run / "slopes.parquet").assign(estimator="photo-rate")
    floor = slopes.assign(attribute=placebo.name("gender", "light"))
    tables.write(tables.SLOPES, pd.concat([slopes, floor]), run / "slopes.parquet")
    parts = [placebos_of(slopes, kind, -0.5, 0.25) for kind in placebo.KINDS]
    tables.write(tables.PLACEBOS, pd.concat(parts), run / "placebos.parquet")
    source = load(run)
    (finding,) = source.findings
    assert len(finding.placebo) == 3 * len(slopes)
    ends = finding.placebo.drop_duplicates("placebo").set_index("placebo")[["low", "high"]]
    assert ends.loc["light"].tolist() == [-0.75, -0.25]
    assert ends.loc["same"].tolist() == ends.loc["random"].tolist() == [-0.75, 0.75], (
        "their sign says nothing"
    )
    assert len(source.real) == len(slopes)


def test_a_cluster_counts_as_one_where_photos_are_counted(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    run = make(tmp_path / "run", [("a", "gender"), ("b", "gender")], photos=12)
    row = {"attribute": "gender", "used": 12, "refused": 0, "failed": 0, "missing": 0}
    rows = [
        {**row, "classifier": name, "units": n, "effective_units": n - 0.4}
        for name, n in (("a", 12), ("b", 5))
    ]
    tables.write(
        tables.BALANCE,
        pd.DataFrame(rows).reindex(columns=tables.BALANCE.columns),
        run / "balance.parquet",
    )
    slopes = with_facts(tables.read(tables.SLOPES, run / "slopes.parquet"), run)
    assert slopes.groupby("classifier")["units"].unique().map(list).to_dict() == {
        "a": [11],
        "b": [4],
    }


def test_what_the_order_of_a_tasks_options_moves_is_taken_from_the_run(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    run = make(tmp_path / "run", [("a", "gender"), ("b", "gender"), ("c", "gender")], photos=4)
    manifest = json.loads((run / "run.json").read_text())
    manifest["classifiers"]["a"]["order_points"] = 99.5
    manifest["classifiers"]["b"]["order_points"] = "<b>"
    (run / "run.json").write_text(json.dumps(manifest))
    points = load(run).slopes.groupby("classifier")["by_order"].max()
    assert points.dropna().to_dict() == {"a": 99.5}


# -- test tally -------------------------------------------------------------------------------------------------------


def read(run: Path, name: str) -> pd.DataFrame:
    return tables.read(tables.TABLES[name], run / f"{name}.parquet")


def test_pictures_are_counted_by_what_became_of_them(one: Path) -> None:
    found = loading.outcomes_of(one)
    assert found == {
        ("celeba-tagger", "gender"): {"answered": (559, ""), "refused": (1, "too small")}
    }
    told = inline.plain(
        "places.txt.j2",
        HOUSE,
        result=SimpleNamespace(used=1, photos=1, skipped={}, dropped={}, folder=one),
        outcomes=loading.outcomes_of(one, ["classifier"]),
        show=str,
    )
    assert "answers    celeba-tagger: 1 refused (too small) of 560 pictures\n" in told


@pytest.mark.parametrize("damage", [b"", b"PAR1 no more", None])
def test_damaged_table_is_an_error(one: Path, tmp_path: Path, damage: bytes | None) -> None:
    data = (one / "slopes.parquet").read_bytes() if damage is None else damage
    (tmp_path / "asked.parquet").write_bytes(data)
    with pytest.raises(TableError, match="asked"):
        loading.outcomes_of(tmp_path)


# -- test funnel ------------------------------------------------------------------------------------------------------


def test_every_step_loses_the_photos_that_it_lost(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    run = make(tmp_path / "run", [("c", "gender")], photos=20)
    (one,) = loading.funnels(run).values()
    # six files are no photos; one picture of one photo was refused
    assert one == {"found": 26, "edited": 20, "asked": 20, "answered": 19, "judged": 19}
    ids = tables.read(tables.EDITS, run / "edits.parquet")["photo"].unique()
    plain = {
        "attribute": "gender",
        "reason": "",
        "detail": "",
        "looked": 2,
        "found": 2,
        "tau": 0.9,
        "shift": 0.5,
    }
    rest = {
        "off_target": None,
        "off_target_reading": "",
        "mask_area": 0.1,
        "mask_share": None,
        "change": None,
        "identity": None,
    }
    kept = [index >= 3 for index in range(len(ids))]
    verdicts = pd.DataFrame({"photo": ids, "kept": kept, **plain, **rest}).reindex(
        columns=tables.VERDICTS.columns
    )
    tables.write(tables.VERDICTS, verdicts, run / "verdicts.parquet")
    assert "kept" not in loading.funnels(run)["c", "gender"]  # judged, but not applied
    manifest = json.loads((run / "run.json").read_text()) | {"gate": {"applied": True}}
    (run / "run.json").write_text(json.dumps(manifest))
    assert loading.funnels(run)["c", "gender"]["kept"] == 17


# -- test credit ------------------------------------------------------------------------------------------------------

SCRIPT = "<script>alert(1)</script>"
GOOD = "https://example.org/photo?id=1&size=2#top"


@pytest.mark.parametrize(
    "address",
    ["JaVaScRiPt:alert(1)", "//example.org", "https:///x", "https://[bad", f'{GOOD}"', ""],
)
def test_other_addresses_are_none(address: str) -> None:
    assert link(address) == ""


def test_what_slopes_must_be_read_with_is_said_once(tmp_path: Path) -> None:
    """Of a sweep, not of its placebos; a label that is never returned has one sentence with the others."""
    missing = dict.fromkeys(tables.BALANCE.columns) | {"effective_units": 9.0}
    row = (
        missing
        | dict.fromkeys(("used", "units", "refused", "failed", "missing"), 9)
        | {"classifier": "c"}
    )
    warned = [
        ("gender", "failures depend on the value"),
        ("race", ""),
        ("gender-light", "refusals depend"),
    ]
    frame = pd.DataFrame([row | {"attribute": name, "warning": text} for name, text in warned])
    tables.write(tables.BALANCE, frame, tmp_path / "balance.parquet")
    row = dict.fromkeys(tables.ERROR_SLOPES.columns) | {"classifier": "c", "attribute": "gender"}
    row |= {"column": "job", "measure": "miss", "n": 9, "varying": 0}
    notes = [(label, f"c never returns “{label}”") for label in ("pilot", SCRIPT)] + [
        ("chef", "its errors change")
    ]
    frame = pd.DataFrame([row | {"label": label, "note": note} for label, note in notes])
    tables.write(tables.ERROR_SLOPES, frame, tmp_path / "error_slopes.parquet")
    assert loading.cautions(tmp_path) == [
        "c along perceived gender: failures depend on the value.",
        f"c never returns “{SCRIPT}”, “pilot”: no error rate is given.",
    ]
    assert loading.cautions(tmp_path / "none") == []


def sourced(run: Path) -> Path:
    """A run of which every photo but the last was collected, from hostile sources."""
    photos = sorted(tables.read(tables.EDITS, run / "edits.parquet")["photo"].unique())[:-1]
    rows = pd.DataFrame(
        {
            "photo": photos,
            "title": SCRIPT,
            "creator": "Ada\x1b[31m",
            "creator_url": "javascript:alert(1)",
        }
    )
    rows = rows.assign(
        licence="CC BY 4.0",
        licence_url="https://creativecommons.org/licenses/by/4.0/",
        page=GOOD,
        source="s",
    )
    tables.write(SOURCES, rows, run / "sources.parquet")
    return run


def test_every_photo_shown_has_its_credit_and_no_picture_no_credit(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    run = sourced(make(tmp_path / "run", [("c", "gender")], photos=12))
    html = write_report(run).read_text(encoding="utf-8")
    assert "javascript:" not in html
    album = json.loads(
        (run / "report/data/photos.js").read_text("ascii").removeprefix('gslopes("photos",')[:-3]
    )
    assert len(album["credits"]) == 11
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
