"""The causal version on drawn discs whose brightness follows the value: the slope is recovered."""

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.core.errors import UsageError
from gslopes.crops.config import BOOTSTRAP
from gslopes.crops.sweep import counts, pair_slope, sweep_crops, sweep_headline
from gslopes.crops.words import NOTHING
from gslopes.report.caution import LEAST
from tests.crops.drawn import Brightness, draw_sweep

PEOPLE = 36
QUICK = {"cropper": ("centre",)}


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    home = tmp_path_factory.mktemp("sweep")
    return sweep_crops(draw_sweep(home / "sweep", PEOPLE), home / "run", croppers=[Brightness()], others=3, **QUICK)


def slope(swept, attribute, cropper="brightness"):
    rows = swept.tables["sweep_slopes"]
    rows = rows[rows["cropper"] == cropper]
    return rows[rows["attribute"] == attribute].iloc[0]


@pytest.mark.slow
def test_the_planted_slope_is_found_and_the_placebos_holds_nothing(swept):
    fitted = slope(swept, "gender")
    # the chance to be lighter than another: Phi((level + 6 v - level')/ ...), its mean slope near 0.24/(2 sqrt(pi))
    assert fitted["ci_low"] < 6 / 24 / (2 * np.sqrt(np.pi)) < fitted["ci_high"]
    assert fitted["p"] == 1 / BOOTSTRAP
    assert slope(swept, "gender-same")["slope"] == pytest.approx(0, abs=1e-9)
    assert slope(swept, "gender", "centre")["slope"] == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_the_interval_that_is_shown_is_the_wider_one_and_knows_that_opponents_are_shared(swept):
    row = slope(swept, "gender")
    assert (row["pairs"], row["photos"], row["people"]) == (PEOPLE * 3, PEOPLE, PEOPLE)
    for low, high in (("t_low", "t_high"), ("boot_low", "boot_high")):
        assert row["ci_high"] - row["ci_low"] >= row[high] - row[low]
    assert (row["ci_low"], row["ci_high"]) in [(row["t_low"], row["t_high"]), (row["boot_low"], row["boot_high"])]


def test_photos_of_one_person_are_one_and_never_meet(tmp_path):
    run = draw_sweep(tmp_path / "run", 8)
    photos = tables.read(tables.PHOTOS, run / "photos.parquet")
    lines = ["file,person", *(f"{name},p{number // 2}" for number, name in enumerate(photos["path"]))]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    result = sweep_crops(run, tmp_path / "out", people=tmp_path / "people.csv", others=1, **QUICK)
    number = {photo: index for index, photo in enumerate(photos["photo"])}
    pairs = result.tables["opponents"][["photo", "opponent"]].drop_duplicates().map(number.__getitem__)
    assert (pairs["photo"] // 2 != pairs["opponent"] // 2).all()
    assert set(result.tables["sweep_slopes"]["people"]) == {4}


def pairs_of(people, each, generator):
    pairs = [(i, j) for i in range(people) for j in generator.permutation(np.delete(np.arange(people), i))[:each]]
    return np.array(pairs).T


def test_missing_pairs_are_left_out_and_nothing_gives_nothing():
    low, high, p = pair_slope(np.array([0.1, np.nan, 0.1]), np.array([0, 1, 2]), np.array([1, 2, 0]), 3, 200)
    assert np.isnan([low, high]).all()  # pairs of one slope do not vary
    assert p == 1 / 200  # never 0
    assert np.isnan(pair_slope(np.array([np.nan]), np.array([0]), np.array([1]), 2)).all()


def test_the_interval_holds_the_planted_slope_where_opponents_matter():
    """Slopes of pairs: planted + persons' + opponents' part; the t interval over persons alone is too narrow."""
    planted, held, naive = 0.05, [], []
    for run in range(150):
        generator = np.random.default_rng(run)
        person, opponent = pairs_of(40, 8, generator)
        parts = generator.normal(0, 0.02, 40)[person] + generator.normal(0, 0.2, 40)[opponent]
        slopes = planted + parts
        low, high, _ = pair_slope(slopes, person, opponent, 40, 400, run)
        held.append(low < planted < high)
        means = np.array([slopes[person == one].mean() for one in range(40)])
        half = 2.02 * means.std(ddof=1) / np.sqrt(40)
        naive.append(abs(means.mean() - planted) < half)
    assert pair_slope(slopes - slopes.mean(), person, opponent, 40, 400)[2] > 0.3
    assert np.mean(held) > 0.9
    assert np.mean(naive) < 0.75


@pytest.mark.slow
def test_the_page_tells_it_against_the_placebo(swept):
    text = swept.page.read_text("utf-8")
    assert "association under this edit" in text
    assert "<h1>brightness favours a face more the more masculine it looks: 6" in text
    assert "placebo: the same picture, encoded again" in text
    assert "placebo: a random change as large" in text


def headline(slopes):
    return sweep_headline({"sweep_slopes": slopes}).sentence


@pytest.mark.slow
def test_the_finding_in_one_sentence(swept):
    favoured = swept.tables["sweep_slopes"]
    placebo = favoured.assign(slope=favoured["slope"].where(favoured["attribute"] == "gender", 0.0601), ci_low=0.05)
    assert headline(placebo).startswith("brightness follows perceived gender no more than a placebo: +6")
    still = favoured.assign(ci_low=-0.01, ci_high=0.01)
    said = "Cannot tell with 9 people whether brightness follows perceived gender: brightness may lie anywhere in"
    assert headline(still.assign(people=LEAST - 1)) == f"{said} [−1.0, +1.0] points per unit (5 would matter)."
    enough = headline(still.assign(people=40))
    assert (
        enough == "No crop follows perceived gender (40 people; widest: [−1.0, +1.0] points per unit, 5 would matter)."
    )
    assert headline(still.assign(people=40, ci_high=0.06)).startswith("Cannot tell with 40 people")
    down = favoured[favoured["attribute"] == "gender"].assign(slope=-0.0312, ci_low=-0.05, ci_high=-0.01)
    assert headline(down).endswith(
        "favours a face more the more feminine it looks: 3.12 points per unit [−5.00, −1.00]."
    )
    assert headline(favoured.assign(p=np.nan)) == "The crop of too few people moves with the edit to say how."


def test_what_failed_is_told():
    names, left = ("a", "b"), {"photos": [3, 0], "attribute": "gender", "p": np.nan}
    slopes = pd.DataFrame({"cropper": names, **left})
    said = "The crop of too few people moves with the edit to say how. No answer from b."
    assert (headline(slopes), headline(slopes.assign(photos=0))) == (said, NOTHING)
    photos = pd.DataFrame({"photo": ["x", "x", "y"], "status": ["failed", "answered", "answered"]})
    assert counts({"opponents": photos, "sweep_slopes": pd.DataFrame({"photos": [2, 1]})}) == (2, 1, 1)


def test_a_run_without_pictures(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(UsageError, match="has no pictures yet"):
        sweep_crops(tmp_path, tmp_path / "out")
