"""Groups of photos against scipy, permuted membership, and two runs paired photo by photo."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gslopes.core import placebo
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.differences import membership_test, paired_differences
from gslopes.slopes.measures.options import FitOptions, Study
from gslopes.stats.ols import line_weights
from tests.skewed import corrected, corrected_parts
from tests.slopes.measures.conftest import build, of

VALUES = np.linspace(-2, 2, 5)
OPTIONS = FitOptions(permutations=0)


def moving(photos: int, slope: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random((photos, 1, 5)) < 0.5 + slope * VALUES


def grouped(answers, *parts: np.ndarray):
    present = np.concatenate(parts)
    scores, asked = answers(present, VALUES)
    names = np.repeat(["men", "women", "others"][: len(parts)], [len(part) for part in parts])
    about = pd.DataFrame(
        {"sex": names, "age": np.arange(len(present)) % 2}, index=sorted(set(asked["photo"]))
    )
    return present, scores, asked, about


def test_groups_have_the_slopes_of_their_photos_and_differences_welchs_test(answers) -> None:
    present, scores, asked, about = grouped(answers, moving(60, 0.15, 0), moving(90, 0.0, 1))
    found = analyse(scores, asked, Study(about=about, groups=["sex"]), options=OPTIONS)
    slopes = 100 * present[:, 0] @ line_weights(VALUES)
    parts = slopes[:60], slopes[60:]
    profile = found.groups.query("estimator == 'photo-rate'").set_index("group")
    for name, part in zip(("men", "women"), parts, strict=True):
        expected = [part.mean(), corrected(part)[2]]
        np.testing.assert_allclose(
            profile.loc[name, ["slope", "p"]].to_numpy(float), expected, rtol=1e-5
        )
        assert profile.loc[name, "n"] == len(part)
    row = found.differences.query("estimator == 'photo-rate'").iloc[0]
    welch = stats.ttest_ind(*parts, equal_var=False)
    gap, errors = parts[0].mean() - parts[1].mean(), [stats.sem(part) for part in parts]
    thirds = [
        stats.skew(part) / len(part) ** 0.5 * error**3
        for part, error in zip(parts, errors, strict=True)
    ]
    se = np.hypot(*errors)
    theirs = corrected_parts(gap, se, welch.df, (thirds[0] - thirds[1]) / se**3)
    np.testing.assert_allclose(
        row[["difference", "ci_low", "ci_high", "p"]].to_numpy(float), [gap, *theirs], rtol=1e-5
    )


def test_columns_can_be_crossed_and_photos_without_a_value_are_in_no_group(answers) -> None:
    _, scores, asked, about = grouped(
        answers, moving(40, 0.1, 0), moving(40, 0.0, 1), moving(20, 0.0, 2)
    )
    about.loc[about["sex"] == "others", "sex"] = None
    found = analyse(
        scores, asked, Study(about=about.iloc[5:], groups=["sex", "sex + age"]), options=OPTIONS
    )
    profile = found.groups.query("estimator == 'photo-rate'")
    assert profile.groupby("column")["n"].sum().tolist() == [75, 75]
    assert set(profile.query("column == 'sex + age'")["group"]) == {
        "men, 0",
        "men, 1",
        "women, 0",
        "women, 1",
    }
    assert len(found.differences.query("estimator == 'photo-rate' and column == 'sex + age'")) == 6


def test_a_label_too_rare_in_a_group_is_not_judged_there(answers) -> None:
    few = np.zeros((30, 1, 5), bool)
    few[:4, 0, 2:] = True
    _, scores, asked, about = grouped(answers, few, moving(60, 0.15, 1), few[:20])
    found = analyse(scores, asked, Study(about=about, groups=["sex"]), options=OPTIONS)
    profile = found.groups.query("estimator == 'photo-rate'").set_index("group")
    assert profile["note"].to_dict() == {
        "men": "too few photos change their answer",
        "women": "",
        "others": "too few photos change their answer",
    }
    assert profile["p"].isna().to_dict() == {"men": True, "women": False, "others": True}
    between = found.differences.query("estimator == 'photo-rate'").set_index(["group", "other"])[
        "p"
    ]
    assert np.isnan(between["men", "others"])
    assert np.isfinite(
        between["men", "women"]
    )  # common in one group, rare in the other: that can be judged


def test_a_group_whose_photos_all_lack_the_label_does_not_make_the_difference_certain(
    answers,
) -> None:
    few = np.zeros((12, 1, 5), bool)
    _, scores, asked, about = grouped(answers, few, moving(90, 0.15, 1))
    row = analyse(scores, asked, Study(about=about, groups=["sex"]), options=OPTIONS).differences
    row = row.query("estimator == 'photo-rate'").iloc[0]
    slopes = 100 * np.concatenate([few, moving(90, 0.15, 1)])[:, 0] @ line_weights(VALUES)
    student = stats.ttest_ind(slopes[:12], slopes[12:])
    welch = stats.ttest_ind(slopes[:12], slopes[12:], equal_var=False)
    assert row["difference"] / row["se"] == pytest.approx(student.statistic)
    assert row["p"] > 10 * welch.pvalue
    _, scores, asked, about = grouped(answers, few[:8], moving(90, 0.15, 1))
    row = analyse(
        scores, asked, Study(about=about, groups=["sex"]), options=OPTIONS
    ).differences.iloc[0]
    assert np.isnan(row["p"]), "a handful of photos is not judged"


def p_of(
    present: np.ndarray, first: np.ndarray, cluster: np.ndarray | None = None, m: int = 499
) -> float:
    answers = replace(of(present), units=cluster)
    return float(membership_test(answers, "rate", first, FitOptions(permutations=m, seed=1))[0])


def test_it_agrees_with_scipys_permutation_of_welchs_t() -> None:
    rng = np.random.default_rng(0)
    first = np.arange(80) < 25
    present = rng.random((80, 5)) < 0.4 + np.where(first, 0.04, -0.02)[:, None] * VALUES
    slopes = present @ (VALUES / (VALUES @ VALUES))
    theirs = stats.ttest_ind(
        slopes[first],
        slopes[~first],
        equal_var=False,
        method=stats.PermutationMethod(n_resamples=2999, rng=rng),
    )
    assert p_of(present, first, m=2999) == pytest.approx(theirs.pvalue, abs=0.03)


def test_a_small_group_and_a_rare_label_keep_the_level() -> None:
    rng = np.random.default_rng(1)
    first = np.arange(200) < 20
    p = [p_of(rng.random((200, 5)) < 0.1, first, m=199) for _ in range(150)]
    assert np.mean(np.array(p) < 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)


def test_clusters_move_as_one_and_shared_clusters_are_permuted_inside() -> None:
    rng = np.random.default_rng(2)
    present = np.repeat(rng.random((8, 5)) < 0.5, 10, axis=0)
    cluster = np.repeat(np.arange(8), 10)
    whole = p_of(present, cluster < 4, cluster)
    assert whole >= 1 / 70  # 8 choose 4 memberships, whatever the number of photos
    inside = p_of(present, np.tile([True, False], 40), cluster)
    assert inside == 1.0  # photos of a cluster are alike: no way to tell its halves apart


def test_what_cannot_be_permuted_has_no_p() -> None:
    present = np.random.default_rng(3).random((40, 5)) < 0.5
    assert np.isnan(p_of(present, np.ones(40, bool)))
    assert np.isnan(p_of(present, np.arange(40) < 20, m=0))
    cluster = np.r_[np.zeros(4, int), np.arange(1, 37)]
    assert np.isnan(p_of(present, np.arange(40) % 2 == 0, cluster))


def run(present: np.ndarray, photos: list[str], labels: list[str]) -> Answers:
    """present: (labels, photos, K) bool."""
    label, photo = np.nonzero(present.any(2))
    return Answers(
        *("model", "gender", VALUES, np.array(labels, object), np.array(photos, object)),
        *(photo.astype(np.int32), label.astype(np.int32), present[label, photo]),
        *(present[label, photo].astype(np.float32), 0.0),
    )


def draw(seed: int, photos: int = 40) -> np.ndarray:
    return np.random.default_rng(seed).random((2, photos, 5)) < np.linspace(0.2, 0.7, 5)


def test_only_photos_of_both_count_and_a_label_of_one_run_has_slope_zero_in_the_other() -> None:
    names = [f"{i:02d}" for i in range(60)]
    one = run(draw(2), names[:40], ["a", "b"])
    other = run(draw(3), names[20:], ["b", "c"])
    found = paired_differences(one, other, min_varying=1).set_index("label")
    assert found["n"].eq(20).all()
    assert found.loc["a", "other_slope"] == 0
    assert found.loc["c", "slope"] == 0
    assert found.loc["a", "difference"] == pytest.approx(-found.loc["a", "slope"])


def test_the_same_run_changes_nothing_and_rare_labels_and_strangers_photos_are_not_judged() -> None:
    names = [f"{i:02d}" for i in range(40)]
    same = run(draw(0), names, ["a", "b"])
    assert (paired_differences(same, same)[["difference", "p"]] == [0, 1]).all(axis=None)
    assert paired_differences(same, same, min_varying=99)["q"].isna().all()
    other = run(draw(0), [f"x{name}" for name in names], ["a", "b"])
    found = paired_differences(same, other)
    assert isinstance(found, pd.DataFrame)
    assert found["n"].eq(0).all()
    assert found["p"].isna().all()


@pytest.mark.parametrize(("light", "explained"), [(0.0, False), (0.15, True)])
def test_a_difference_that_light_makes_as_well_is_no_finding(light: float, explained: bool) -> None:
    """Of 80 women a photo's answers rise, of 80 men they do not; along the light placebo they do so too, or not."""
    rng = np.random.default_rng(5)
    parts = []
    for name in ("gender", *placebo.names("gender")):
        slope = {"gender": 0.15, "gender-light": light}.get(name, 0.0)
        chance = 0.5 + np.where(np.arange(160) < 80, slope, 0)[:, None, None] * VALUES
        parts.append(build(rng.random((160, 1, 5)) < chance, VALUES, attribute=name))
    scores, asked = (pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True))
    photos = sorted(set(asked["photo"]))
    about = pd.DataFrame({"sex": np.repeat(["f", "m"], 80)}, photos)
    rows = analyse(scores, asked, Study(about=about, groups=["sex"]), options=OPTIONS).differences
    row = rows.query("estimator == 'photo-rate' and attribute == 'gender'").iloc[0]
    assert row["q"] < 0.01
    assert (row["q_placebo"] >= 0.05) == explained
    assert row["note"] == ("the light placebo may make as large a difference" if explained else "")
