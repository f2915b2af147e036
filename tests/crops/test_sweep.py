"""The causal version on drawn discs whose brightness follows the value: the slope is recovered."""

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.core.errors import UsageError
from gslopes.crops.sweep import LEAST_VARYING, counts, mean_slope, sweep_headline
from gslopes.crops.words import NOTHING
from gslopes.report.caution import LEAST
from tests.crops.drawn import Brightness, draw_sweep
from tests.skewed import corrected_parts
from tests.sweeps import sweep_crops

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
@pytest.mark.row("crops-3.6-causes")
def test_the_planted_slope_is_found_and_the_placebos_holds_nothing(swept):
    fitted = slope(swept, "gender")
    # the chance to be lighter than another: Phi((level + 6 v - level')/ ...), its mean slope near 0.24/(2 sqrt(pi))
    assert fitted["ci_low"] < 6 / 24 / (2 * np.sqrt(np.pi)) < fitted["ci_high"]
    assert fitted["p"] < 1e-4
    assert slope(swept, "gender-same")["slope"] == pytest.approx(0, abs=1e-9)
    assert slope(swept, "gender", "centre")["slope"] == pytest.approx(0, abs=1e-9)


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


def test_a_slope_is_the_mean_over_photos_and_its_variance_that_of_both_roles():
    generator = np.random.default_rng(4)
    photo = np.repeat(np.arange(9), generator.integers(1, 5, 9))
    slopes, opponent = generator.normal(0.1, 1, len(photo)), (photo + generator.integers(1, 8, len(photo))) % 9
    found = mean_slope(slopes, photo, photo // 2, opponent // 2)  # two photos of each of four people, one of a fifth
    means = [slopes[photo == one].mean() for one in range(9)]
    assert found.value == pytest.approx(np.mean(means))
    weights = np.array([1 / 9 / np.sum(photo == one) for one in photo])
    moves = [
        (weights * (slopes - found.value) * (1.0 * (photo // 2 == who) + (opponent // 2 == who))).sum()
        for who in range(5)
    ]
    assert found.se == pytest.approx(np.sqrt(5 / 4 * np.square(moves).sum()))
    skew = np.sum(np.power(moves, 3)) / np.sum(np.square(moves)) ** 1.5
    assert found[2:] == pytest.approx(corrected_parts(found.value, found.se, 4, skew))
    alike = mean_slope(np.full(3, 0.1), np.arange(3), np.arange(3), np.array([1, 2, 0]))
    assert np.isnan([alike.low, alike.high, alike.p]).all()  # pairs of one slope do not vary
    assert np.isnan(mean_slope(*(np.empty(0),) * 4)).all()


def test_a_crop_that_moves_for_few_people_is_not_judged_and_has_no_interval(tmp_path):
    run = draw_sweep(tmp_path / "run", LEAST_VARYING - 1)
    result = sweep_crops(run, tmp_path / "out", croppers=[Brightness()], others=3, **QUICK)
    rows = result.tables["sweep_slopes"]
    assert rows["slope"].abs().max() > 0.01
    assert rows[["ci_low", "ci_high", "p"]].isna().all(axis=None)
    assert headline(rows) == "The crop of too few people moves with the edit to say how."


def test_the_interval_holds_the_planted_slope_where_opponents_matter():
    """Slopes of pairs: planted + persons' + opponents' part; the t interval over persons alone is too narrow."""
    planted, held, naive = 0.05, [], []
    for run in range(150):
        generator = np.random.default_rng(run)
        person, opponent = pairs_of(40, 8, generator)
        parts = generator.normal(0, 0.02, 40)[person] + generator.normal(0, 0.2, 40)[opponent]
        found = mean_slope(planted + parts, person, person, opponent)
        held.append(found.low < planted < found.high)
        means = np.array([parts[person == one].mean() for one in range(40)])
        half = 2.02 * means.std(ddof=1) / np.sqrt(40)
        naive.append(abs(means.mean()) < half)
    assert np.mean(held) > 0.9
    assert np.mean(naive) < 0.75


@pytest.mark.slow
def test_the_page_tells_it_against_the_placebo(swept):
    text = swept.page.read_text("utf-8")
    assert "association under this edit" in text
    assert "<h1>brightness favours a face more the more masculine it looks: in 3" in text
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
    assert headline(down).endswith(" at the masculine end (3.12 points per unit [−5.00, −1.00], 36 photos).")
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
