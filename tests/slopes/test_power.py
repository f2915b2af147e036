"""A fitted run as a pilot: each label is planned for by its own measure, in its own unit."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import special
from statsmodels.stats.power import TTestPower

import gslopes as api
from gslopes.core import placebo, tables
from gslopes.core.errors import UnknownName, UsageError
from gslopes.slopes import audit as stages
from gslopes.slopes.config import FitConfig
from gslopes.slopes.power import plan_from, print_plan
from tests.fake_provider.folder import write_run


def light(pictures):
    """A score of how light every picture is, a number in years of the same, and a label that comes and goes."""
    shares = [float((picture.mean() / 255) ** 2) for picture in pictures]
    often = [{"often": 0.5} if round(1e5 * share) % 2 else {} for share in shares]
    return [{"light": share, "age": 20 + 30 * share, **more} for share, more in zip(shares, often, strict=True)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("power")
    folder = write_run(place / "run", 24, part=8)
    stages.score_photos(folder, api.as_classifier(light), device="cpu", cache=place / "cache")
    stages.run_fit(folder, FitConfig(permutations=0, min_varying=5))
    return folder


def slopes_of(run, label: str, number=lambda score: score) -> np.ndarray:
    """Each photo's own slope, by least squares."""
    scores = tables.read(tables.SCORES, run / "scores.parquet")
    scores = scores[(scores["label"] == label) & (scores["attribute"] == "gender")]
    wide = scores.assign(number=number(scores["score"])).pivot(index="photo", columns="value", values="number")
    return np.polyfit(wide.columns.to_numpy(float), wide.to_numpy(float).T, 1)[0]


def test_the_spread_is_that_of_the_photos_own_slopes_in_the_unit_of_the_measure(run) -> None:
    plan = plan_from(run, photos=200).set_index("label")
    assert plan["measure"].to_dict() == {"light": "log-odds", "age": "value", "often": "presence"}
    assert not any(placebo.split(name)[1] for name in plan["attribute"])
    assert plan.loc["age", "deviation"] == pytest.approx(slopes_of(run, "age").std(ddof=1), rel=1e-3)
    odds = slopes_of(run, "light", special.logit).std(ddof=1)
    assert plan.loc["light", "deviation"] == pytest.approx(odds, rel=1e-2)
    for _, row in plan.iterrows():
        chance = TTestPower().power(row["slope"] / row["deviation"], 200, 0.05)
        assert chance == pytest.approx(0.8, abs=3e-3)


def test_a_slope_is_given_as_pages_show_it_and_counted_in_the_table_s_unit(run) -> None:
    (row,) = plan_from(run, slope=2, labels=["light"]).to_dict("records")
    assert row["slope"] == pytest.approx(math.log(1.02))
    assert TTestPower().power(row["slope"] / row["deviation"], row["photos"], 0.05) >= 0.8 - 3e-3
    (same,) = plan_from(run, slope=2, photos=row["photos"], labels=["light"]).to_dict("records")
    assert same["power"] >= 0.8
    (age,) = plan_from(run, slope=0.5, labels=["age"]).to_dict("records")
    assert age["slope"] == 0.5
    assert "5.0 % of the odds per unit" in print_plan(plan_from(run, slope=5, labels=["light"]), asked="photos")


def test_the_verb_names_each_unit_in_words_and_takes_one_slope_for_one_unit(run, gslopes) -> None:
    shown = gslopes("power", run).out
    for unit in ("of its number per unit", "% of the odds per unit", "percentage points per unit"):
        assert unit in shown
    assert max(map(len, shown.splitlines())) <= 100
    rows = json.loads(gslopes("power", run, "--photos", 50, "--json").out)
    assert {row["photos"] for row in rows} == {50}
    mixed = gslopes("power", run, "--slope", 3)
    assert mixed.code == 2
    assert "A slope has one unit, and the labels have 3" in mixed.err
    assert "leave out --rate" in gslopes("power", run, "--rate", 0.1).err


def test_labels_that_are_not_judged_and_odds_that_cannot_be_are_refused(run) -> None:
    with pytest.raises(UnknownName, match="nurse"):
        plan_from(run, labels=["nurse"])
    with pytest.raises(UsageError, match="-100 %"):
        plan_from(run, slope=-100, labels=["light"])
