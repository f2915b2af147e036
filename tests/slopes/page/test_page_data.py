"""Groups and differences as the page's scripts read them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.slopes.page import page_data, write_report

SCRIPT = "<script>alert(1)</script>"


def data(run: Path, name: str) -> Any:
    text = (run / "report" / "data" / f"{name}.js").read_text("ascii")
    return json.loads(text.removeprefix(f'gslopes("{name}",').removesuffix(");\n"))


@pytest.fixture(scope="module")
def run(
    make: Callable[..., Path],
    refit: Callable[[Path], None],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    run = make(
        tmp_path_factory.mktemp("compare") / "run", [("c", "gender"), ("c", "race")], photos=60
    )
    refit(run)
    write_report(run, embed="none")
    return run


@pytest.mark.evidence
@pytest.mark.slow
def test_differences_reach_the_page_with_interval_and_q(run: Path) -> None:
    table = tables.read(tables.DIFFERENCES, run / "differences.parquet")
    rows = table[(table["attribute"] == "gender") & (table["estimator"] == "photo-rate")].set_index(
        "label"
    )
    labels, shown = data(run, "f0")["labels"], data(run, "f0-differences")
    assert len(shown) == rows["ci_low"].notna().sum()
    _, column, one, other, *numbers, _ = next(row for row in shown if labels[row[0]] == "Lipstick")
    assert (column, one, other) == ("team", SCRIPT, "blue")
    expected = rows.loc["Lipstick", ["difference", "ci_low", "ci_high", "p_test", "q"]].to_numpy(
        float
    )
    assert numbers == pytest.approx(expected, rel=1e-3)


def test_groups_that_are_reached_unevenly_are_compared_per_unit_of_reach_and_the_page_says_why() -> (
    None
):
    cells = [
        ("all", "", 26, 1.2),
        ("tone", "dark", 14, 0.5),
        ("tone", SCRIPT, 12, 2.0),
        ("age", "old", 26, 1.5),
    ]
    seen = pd.DataFrame(cells, columns=["column", "group", "n", "reach"]).replace("all", "")
    seen = seen.assign(reach_low=seen["reach"] - 0.1, reach_high=seen["reach"] + 0.1)
    age, tone = page_data.reaches(seen, ["tone"], "gender", 4.0)
    assert " One group is moved less than half as far as another: " not in age
    assert tone.endswith("so these groups are compared per unit of reach alone.")
    assert "dark +2.00 [+1.60, +2.40] (14 photos)" in tone
    assert "+8.00 [+7.60, +8.40] (12 photos)" in tone
    row = {
        "label": "x",
        "column": "tone",
        "group": "dark",
        "other": "light",
        "difference": 9.0,
        "ci_low": 8.0,
    }
    row |= {
        "ci_high": 10.0,
        "p_test": np.nan,
        "q": np.nan,
        "q_placebo": np.nan,
        "note": "uneven",
        "reach_share": 0.25,
    }
    row |= {"per_reach": 0.5, "per_reach_low": -1.0, "per_reach_high": 2.0}
    shown = page_data.differences(pd.DataFrame([row, {**row, "reach_share": 0.5}]), ["x"])
    assert [line[:5] for line in shown] == [
        [0, "tone, per unit of reach", "dark", "light", 0.5], [0, "tone", "dark", "light", 9.0],
    ]  # fmt: skip


def test_a_run_without_groups_has_no_such_file(one: Path) -> None:
    write_report(one, embed="none")
    assert {path.name for path in (one / "report" / "data").glob("f0*")} == {"f0.js"}


@pytest.mark.slow
def test_the_page_knows_how_many_units_the_photos_of_a_clustered_fit_make(
    run: Path, tmp_path: Path
) -> None:
    assert page_data.clusters(run, "c", "gender") == []
    balance = tables.read(tables.BALANCE, run / "balance.parquet")
    tables.write(tables.BALANCE, balance.assign(units=20), tmp_path / "balance.parquet")
    assert page_data.clusters(tmp_path, "c", "gender") == [59, 20]
    assert page_data.clusters(tmp_path / "nothing", "c", "gender") == []


def test_the_p_of_page_and_findings_is_the_one_that_q_adjusts(run: Path) -> None:
    """Holm's and Benjamini's q are never below the p they adjust; the smallest q of a family is its smallest p's."""
    slopes = tables.read(tables.SLOPES, run / "slopes.parquet")
    rows = slopes[
        (slopes["attribute"] == "gender") & (slopes["estimator"] == "photo-rate")
    ].set_index("label")
    page = data(run, "f0")
    shown = page["estimators"]["photo-rate"]
    judged = rows.index[rows["q"].notna()]
    places = [place for place, label in enumerate(page["labels"]) if label in judged]
    assert len(places) > 3
    for place in places:
        label = page["labels"][place]
        assert shown["p_test"][place] == pytest.approx(rows.loc[label, "p_test"], rel=1e-3)
        assert shown["p_test"][place] <= shown["q"][place] * (1 + 1e-6)
