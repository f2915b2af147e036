"""The observed difference between real groups next to the slope: recovers what was planted, at its level."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.observed import observed_rows
from gslopes.slopes.measures.options import FitOptions
from tests.skewed import corrected_ends

VALUES = np.linspace(-2.0, 2.0, 5)
OPTIONS = FitOptions(permutations=0)


def answers(values: np.ndarray, steps: np.ndarray, measure: str = "") -> Answers:
    """values: (labels, n, K), each label on every photo; presence where there is no measure."""
    count, n, _ = values.shape
    labels = np.array([f"l{place:03d}" for place in range(count)], dtype=object)
    photo, label = (
        np.tile(np.arange(n, dtype=np.int32), count),
        np.repeat(np.arange(count, dtype=np.int32), n),
    )
    rows = values.reshape(count * n, -1).astype(np.float32)
    present = np.ones(rows.shape, bool) if measure else rows > 0
    head = ("c", "gender", steps, labels, people(n).index.to_numpy(object))
    return Answers(
        *head,
        photo,
        label,
        present,
        rows,
        0.0,
        dict.fromkeys(labels.tolist(), measure) if measure else {},
    )


def people(n: int) -> pd.Series:
    return pd.Series(
        ["man"] * (n // 2) + ["woman"] * (n - n // 2), index=[f"p{i:04d}" for i in range(n)]
    )


def planted(
    n: int, gap: float, distance: float, labels: int = 1
) -> tuple[Answers, Answers, pd.Series]:
    """Labels with a number of their own: men have ``gap`` more of it, edits move it by 0.5 a unit; and odds."""
    draw = np.random.default_rng(n)
    man = (people(n) == "man").to_numpy().astype(float)
    own = gap * man + draw.normal(0, 1, (labels, n))
    along = own[..., None] + (0.5 + draw.normal(0, 0.3, (labels, n)))[..., None] * VALUES
    odds = pd.Series(distance * (man - 0.5) + draw.normal(0, 1, n), people(n).index)
    return answers(along, VALUES, "value"), answers(own[..., None], np.zeros(1), "value"), odds


def fitted(
    sweep: Answers,
    unedited: Answers,
    odds: pd.Series | None,
    decision: str = "finding",
    cluster: dict | None = None,
) -> pd.DataFrame:
    found = dict.fromkeys(sweep.labels.tolist(), decision)
    units = None if cluster is None else np.array([cluster[photo] for photo in sweep.photos])
    return observed_rows(
        replace(sweep, units=units), unedited, people(len(sweep.photos)), odds, found, OPTIONS
    )


def test_of_many_labels_the_differences_are_scipys_and_their_intervals_hold() -> None:
    sweep, unedited, odds = planted(80, 2.0, 4.0, labels=400)
    found = fitted(sweep, unedited, odds)
    values = unedited.score.reshape(400, 80).astype(float)
    theirs = stats.ttest_ind(values[:, :40], values[:, 40:], axis=1, equal_var=False)
    gaps = values - np.where(
        np.arange(80) < 40, *(part.mean(axis=1)[:, None] for part in np.split(values, 2, axis=1))
    )
    gaps[:, 40:] *= -1
    skew = (gaps**3).sum(axis=1) / (gaps**2).sum(axis=1) ** 1.5
    se = (values[:, :40].mean(axis=1) - values[:, 40:].mean(axis=1)) / theirs.statistic
    for row in range(20):
        ends = corrected_ends(found["observed"][row], se[row], theirs.df[row], skew[row])
        np.testing.assert_allclose(
            found.loc[row, ["ci_low", "ci_high"]].to_numpy(float), ends, rtol=1e-3
        )
    held = ((found["ci_low"] <= 2.0) & (found["ci_high"] >= 2.0)).mean()
    assert 0.915 < held < 0.983  # 95 % within three standard errors of 400 draws
    assert set(found["agreement"]) == {"same sign"}
    assert found["slope"].mean() == pytest.approx(0.5, abs=0.01)
    assert found["distance_low"].iloc[0] < 4 < found["distance_high"].iloc[0]


@pytest.mark.parametrize(
    ("gap", "distance", "decision", "agreement"),
    [
        (2.0, 4.0, "none", "observed only"),
        (0.0, 4.0, "finding", "edit only"),
        (0.0, 4.0, "none", "neither"),
        (2.0, 0.0, "finding", ""),  # the reader does not tell them apart
        (2.0, None, "finding", ""),
        (2.0, -4.0, "finding", "opposite signs"),
    ],
)
def test_slope_and_difference_agree_or_not(
    gap: float, distance: float | None, decision: str, agreement: str
) -> None:
    sweep, unedited, odds = planted(600, gap, distance or 0.0)
    found = fitted(sweep, unedited, None if distance is None else odds, decision).iloc[0]
    assert found["agreement"] == agreement
    assert found["group"] == ("woman" if found["distance"] < 0 or (distance or 0) < 0 else "man")
    assert not found["distance"] < 0, "the group nearer the positive end stands first"


def test_presence_is_a_difference_of_shares_in_points() -> None:
    said = np.zeros((1, 100, 5))
    said[:, :30] = said[:, 50:60] = 1
    odds = planted(100, 0.0, 4.0)[2]
    found = fitted(answers(said, VALUES), answers(said[..., :1], np.zeros(1)), odds, "none").iloc[0]
    assert (found["mean"], found["mean_other"], found["observed"]) == (
        60.0,
        20.0,
        pytest.approx(40.0),
    )
    assert (found["ci_low"], found["ci_high"]) == (
        pytest.approx(21.0, abs=0.05),
        pytest.approx(54.97, abs=0.3),
    )
    assert found["agreement"] == "observed only"


@pytest.mark.parametrize("each", [1, 2])
def test_a_label_of_all_photos_of_one_group_alone_is_a_difference(each: int) -> None:
    """No answer differs within a group, so Welch's t has no standard error; Pearson's test decides."""
    said = np.zeros((1, 80, 5))
    said[:, :40] = 1
    odds = planted(80, 0.0, 4.0)[2]
    cluster = (
        None if each == 1 else {photo: place // each for place, photo in enumerate(odds.index)}
    )
    found = fitted(
        answers(said, VALUES), answers(said[..., :1], np.zeros(1)), odds, "none", cluster
    ).iloc[0]
    assert (found["observed"], found["agreement"], found["note"]) == (100, "observed only", "")
    p = stats.chi2_contingency([[40, 0], [0, 40]], correction=False).pvalue
    assert found["p"] == pytest.approx(p) if each == 1 else 0 < found["p"] < 1e-6


def test_photos_of_a_person_count_once() -> None:
    sweep, unedited, odds = planted(60, 2.0, 4.0)
    odds[:] = np.repeat(odds.to_numpy()[::2], 2)
    for one in (sweep, unedited):
        one.score[:] = np.repeat(one.score[::2], 2, axis=0)
    pairs = {photo: place // 2 for place, photo in enumerate(sweep.photos)}
    whole = fitted(sweep, unedited, odds, cluster=pairs).iloc[0]
    half = np.arange(60) % 2 == 0
    once = observed_rows(sweep.only(half), unedited.only(half), people(60), odds, {}, OPTIONS).iloc[
        0
    ]
    for name in ("observed", "ci_low", "ci_high", "distance_low"):
        assert whole[name] == pytest.approx(once[name], rel=1e-6), name
    assert np.isnan(
        fitted(sweep, unedited, odds, cluster=dict.fromkeys(sweep.photos, 0))["distance"].iloc[0]
    )
