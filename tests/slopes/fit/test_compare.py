import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gslopes.slopes.fit.answers import Answers
from gslopes.slopes.fit.compare import paired_differences

VALUES = np.linspace(-2, 2, 5)


def answers(present: np.ndarray, photos: list[str], labels: list[str]) -> Answers:
    """present: (labels, photos, K) bool."""
    label, photo = np.nonzero(present.any(2))
    return Answers(
        *("model", "gender", VALUES, np.array(labels, object), np.array(photos, object), {}),
        *(photo.astype(np.int32), label.astype(np.int32), present[label, photo]),
        *(present[label, photo].astype(np.float32), 0.0),
    )


def draw(seed: int, photos: int = 40) -> np.ndarray:
    return np.random.default_rng(seed).random((2, photos, 5)) < np.linspace(0.2, 0.7, 5)


def test_difference_is_the_paired_t_test_of_the_photos_slopes() -> None:
    names = [f"{i:02d}" for i in range(40)]
    one, other = draw(0), draw(1)
    found = paired_differences(answers(one, names, ["a", "b"]), answers(other, names, ["a", "b"]))
    for row, first, second in zip(found.itertuples(), one, other, strict=True):
        slopes = [100 * np.polyfit(VALUES, part.T.astype(float), 1)[0] for part in (first, second)]
        test = stats.ttest_rel(slopes[1], slopes[0])
        low, high = test.confidence_interval()
        np.testing.assert_allclose([row.slope, row.other_slope], [s.mean() for s in slopes], atol=1e-10)
        np.testing.assert_allclose([row.p, row.ci_low, row.ci_high], [test.pvalue, low, high], rtol=1e-8)


def test_same_run_twice_changes_nothing() -> None:
    names = [f"{i:02d}" for i in range(40)]
    same = answers(draw(0), names, ["a", "b"])
    found = paired_differences(same, same)
    assert (found["difference"] == 0).all()
    assert (found["p"] == 1).all()


def test_only_photos_of_both_count_and_a_label_of_one_run_has_slope_zero_in_the_other() -> None:
    names = [f"{i:02d}" for i in range(60)]
    one = answers(draw(2), names[:40], ["a", "b"])
    other = answers(draw(3), names[20:], ["b", "c"])
    found = paired_differences(one, other, min_varying=1).set_index("label")
    assert found["n"].eq(20).all()
    assert found.loc["a", "other_slope"] == 0
    assert found.loc["c", "slope"] == 0
    assert found.loc["a", "difference"] == pytest.approx(-found.loc["a", "slope"])


def test_rare_labels_and_strangers_photos_are_not_judged() -> None:
    names = [f"{i:02d}" for i in range(40)]
    same = answers(draw(0), names, ["a", "b"])
    assert paired_differences(same, same, min_varying=99)["q"].isna().all()
    other = answers(draw(0), [f"x{name}" for name in names], ["a", "b"])
    found = paired_differences(same, other)
    assert isinstance(found, pd.DataFrame)
    assert found["n"].eq(0).all()
    assert found["p"].isna().all()
