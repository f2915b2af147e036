import numpy as np
import pandas as pd
from scipy import stats

from gslopes.slopes.fit.analysis import analyse
from gslopes.slopes.fit.options import FitOptions
from gslopes.stats.ols import line_weights

VALUES = np.linspace(-2, 2, 5)
OPTIONS = FitOptions(bootstrap=0, permutations=0)


def moving(photos: int, slope: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random((photos, 1, 5)) < 0.5 + slope * VALUES


def grouped(answers, *parts: np.ndarray):
    present = np.concatenate(parts)
    scores, asked = answers(present, VALUES)
    names = np.repeat(["men", "women", "others"][: len(parts)], [len(part) for part in parts])
    about = pd.DataFrame({"sex": names, "age": np.arange(len(present)) % 2}, index=sorted(set(asked["photo"])))
    return present, scores, asked, about


def test_groups_have_the_slopes_of_their_photos_and_differences_welchs_test(answers) -> None:
    present, scores, asked, about = grouped(answers, moving(60, 0.15, 0), moving(90, 0.0, 1))
    found = analyse(scores, asked, options=OPTIONS, about=about, groups=["sex"])
    slopes = 100 * present[:, 0] @ line_weights(VALUES)
    parts = slopes[:60], slopes[60:]
    profile = found.groups.query("estimator == 'photo-rate'").set_index("group")
    for name, part in zip(("men", "women"), parts, strict=True):
        expected = stats.ttest_1samp(part, 0)
        np.testing.assert_allclose(
            profile.loc[name, ["slope", "p"]].to_numpy(float), [part.mean(), expected.pvalue], rtol=1e-6
        )
        assert profile.loc[name, "n"] == len(part)
    row = found.differences.query("estimator == 'photo-rate'").iloc[0]
    welch = stats.ttest_ind(*parts, equal_var=False)
    ends = welch.confidence_interval()
    np.testing.assert_allclose(
        [row["difference"], row["p"], row["ci_low"], row["ci_high"]],
        [parts[0].mean() - parts[1].mean(), welch.pvalue, *ends],
        rtol=1e-6,
    )


def test_columns_can_be_crossed_and_photos_without_a_value_are_in_no_group(answers) -> None:
    _, scores, asked, about = grouped(answers, moving(40, 0.1, 0), moving(40, 0.0, 1), moving(20, 0.0, 2))
    about.loc[about["sex"] == "others", "sex"] = None
    found = analyse(scores, asked, options=OPTIONS, about=about.iloc[5:], groups=["sex", "sex + age"])
    profile = found.groups.query("estimator == 'photo-z'")
    assert profile.groupby("column")["n"].sum().tolist() == [75, 75]
    assert set(profile.query("column == 'sex + age'")["group"]) == {"men, 0", "men, 1", "women, 0", "women, 1"}
    assert len(found.differences.query("estimator == 'photo-z' and column == 'sex + age'")) == 6


def test_a_label_too_rare_in_a_group_is_not_judged_there(answers) -> None:
    few = np.zeros((30, 1, 5), bool)
    few[:4, 0, 2:] = True
    _, scores, asked, about = grouped(answers, few, moving(60, 0.15, 1), few[:20])
    found = analyse(scores, asked, options=OPTIONS, about=about, groups=["sex"])
    profile = found.groups.query("estimator == 'photo-rate'").set_index("group")
    assert profile["note"].to_dict() == {"men": "too rare to judge", "women": "", "others": "too rare to judge"}
    assert profile["p"].isna().to_dict() == {"men": True, "women": False, "others": True}
    between = found.differences.query("estimator == 'photo-rate'").set_index(["group", "other"])["p"]
    assert np.isnan(between["men", "others"])
    assert np.isfinite(between["men", "women"])  # common in one group, rare in the other: that can be judged


def test_a_group_whose_photos_all_lack_the_label_does_not_make_the_difference_certain(answers) -> None:
    few = np.zeros((12, 1, 5), bool)
    _, scores, asked, about = grouped(answers, few, moving(90, 0.15, 1))
    row = analyse(scores, asked, options=OPTIONS, about=about, groups=["sex"]).differences
    row = row.query("estimator == 'photo-rate'").iloc[0]
    slopes = 100 * np.concatenate([few, moving(90, 0.15, 1)])[:, 0] @ line_weights(VALUES)
    student = stats.ttest_ind(slopes[:12], slopes[12:])
    welch = stats.ttest_ind(slopes[:12], slopes[12:], equal_var=False)
    ends = student.confidence_interval()
    np.testing.assert_allclose([row["p"], row["ci_low"], row["ci_high"]], [student.pvalue, *ends], rtol=1e-6)
    assert row["p"] > 10 * welch.pvalue


def test_a_difference_from_a_handful_of_photos_is_not_judged(answers) -> None:
    _, scores, asked, about = grouped(answers, np.zeros((8, 1, 5), bool), moving(90, 0.15, 1))
    row = analyse(scores, asked, options=OPTIONS, about=about, groups=["sex"]).differences.iloc[0]
    assert np.isnan(row["p"])
    assert row["note"] == "too rare to judge"
