"""The estimators against scipy and statsmodels, label by label on dense answers."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.estimators import ESTIMATORS, contrasted, linear
from gslopes.slopes.measures.frames import fit_slopes
from gslopes.slopes.measures.options import FitOptions, Study
from gslopes.stats.outcomes import Outcomes, moments
from tests.fixtures import paper_slopes, sweeps_of
from tests.skewed import corrected, corrected_parts
from tests.slopes.measures.conftest import drifting
from tests.stats.dense import dense

VALUES = np.linspace(-2, 2, 5)
patterns = hnp.arrays(bool, st.tuples(st.integers(2, 8), st.integers(1, 4), st.just(5)))


@pytest.mark.row("slopes-4.3-share", "slopes-4.3-normalised", "slopes-4.3-slope", "slopes-4.3-test")
def test_slopes_are_those_that_statsmodels_fits_to_the_shares(answers) -> None:
    present = drifting()
    slopes = paper_slopes(*answers(present, VALUES)).set_index("label")
    shares = present.mean(axis=0)
    for index in range(3):
        fit = sm.OLS(shares[index] / shares[index, 2], sm.add_constant(VALUES)).fit()
        expected = [
            *fit.params[::-1],
            fit.bse[1],
            fit.tvalues[1],
            fit.pvalues[1],
            *fit.conf_int()[1],
        ]
        row = slopes.loc[
            f"label{index}", ["slope", "intercept", "se", "t", "p", "ci_low", "ci_high"]
        ]
        np.testing.assert_allclose(row.to_numpy(float), expected, rtol=1e-8)
    never = slopes.loc["label3"]  # at the centre
    assert (never["n"], never["y_centre"]) == (60, 0)
    assert never[["slope", "intercept", "se", "t", "p", "ci_low", "ci_high", "q"]].isna().all()


@pytest.mark.row("slopes-3.1-fair")
@settings(deadline=None, max_examples=30)
@given(hnp.arrays(bool, st.tuples(st.integers(1, 8), st.integers(1, 4), st.just(1))))
def test_constant_scores_give_zero_slope(answers, present: np.ndarray) -> None:
    slopes = paper_slopes(
        *answers(np.repeat(present, 5, axis=2), VALUES), values={"gender": VALUES.tolist()}
    )
    assert (slopes["slope"] == 0).all()
    assert (slopes["p"] == 1).all()
    assert (slopes["q"] == 1).all()


def test_a_label_seen_only_on_dropped_photos_stays_with_counts_of_0(answers) -> None:
    present = np.array([[[1] * 5, [0] * 5], [[1] * 5, [1] * 5]], bool)
    scores, asked = answers(present, VALUES)
    asked.loc[9, "status"] = "failed"
    (sweep,) = sweeps_of(scores, asked)
    assert sweep.counts().tolist() == [[1] * 5, [0] * 5]
    assert sweep.active.tolist() == [1, 0]
    row = paper_slopes(scores, asked.assign(status="refused")).iloc[0]
    assert (row["n"], row["y_centre"]) == (0, 0)
    assert pd.isna(row["slope"])


RATES = np.stack([0.5 - 0.1 * VALUES, np.full(5, 0.3), 0.1 + 0.03 * VALUES])


def simulated(photos: int = 120, seed: int = 1) -> np.ndarray:
    """(3, photos, 5) presences; half of each photo's answers hang together."""
    rng = np.random.default_rng(seed)
    steady, each = rng.random((3, photos, 1)), rng.random((3, photos, 5))
    chance = np.where(rng.random((3, photos, 5)) < 0.5, steady, each)
    return (chance < RATES[:, None]).astype(np.float32)


def in_clusters(numbers: np.ndarray, cluster: np.ndarray) -> Outcomes:
    summed = np.stack(
        [numbers[:, cluster == code].sum(axis=1) for code in np.unique(cluster)], axis=1
    )
    whole = dense(summed, VALUES)
    return Outcomes(
        VALUES, np.bincount(cluster).astype(float), whole.unit, whole.starts, whole.numbers
    )


@pytest.mark.parametrize(("kind", "unit"), [("rate", 100), ("measure", 1)])
def test_t_is_scipys_on_each_photos_own_slope_and_the_interval_corrected(
    kind: str, unit: float
) -> None:
    numbers = simulated() * (1 if unit == 100 else 0.7)
    sums = moments(dense(numbers, VALUES))
    lines = linear(kind, sums, VALUES)
    for label, answers in enumerate(numbers):
        slopes = unit * np.polyfit(VALUES, answers.T, 1)[0]
        got = [getattr(lines, name)[label] for name in ("slope", "t", "low", "high", "p")]
        expected = [slopes.mean(), stats.ttest_1samp(slopes, 0).statistic, *corrected(slopes)]
        np.testing.assert_allclose(got, expected, rtol=1e-5)
        kurtosis = stats.kurtosis(slopes, fisher=False)
        assert sums.slopes.influence[label] == pytest.approx(
            min(2 * len(slopes) / (kurtosis - 1), len(slopes))
        )


def test_clustered_error_is_that_of_statsmodels_ols() -> None:
    numbers = simulated()
    cluster = np.sort(np.random.default_rng(3).integers(0, 40, numbers.shape[1]))
    cluster = np.unique(cluster, return_inverse=True)[1]
    profile = in_clusters(numbers, cluster)
    sums = moments(profile)
    lines = linear("rate", sums, VALUES)
    units = len(np.unique(cluster))
    for label, answers in enumerate(numbers):
        slopes = 100 * np.polyfit(VALUES, answers.T, 1)[0]
        fit = sm.OLS(slopes, np.ones(len(slopes))).fit(
            cov_type="cluster", cov_kwds={"groups": cluster}
        )
        expected = [fit.params[0], fit.bse[0]]
        np.testing.assert_allclose([lines.slope[label], lines.se[label]], expected, rtol=1e-5)
        gaps = np.bincount(cluster, slopes - slopes.mean())
        skew = (gaps**3).sum() / (gaps**2).sum() ** 1.5
        theirs = corrected_parts(lines.slope[label], lines.se[label], units - 1, skew)
        np.testing.assert_allclose(
            [lines.low[label], lines.high[label], lines.p[label]], theirs, rtol=1e-5
        )


presences = st.sampled_from([0.0, 1.0])
small = hnp.arrays(
    np.float32, st.tuples(st.just(2), st.integers(3, 9), st.just(5)), elements=presences
)


@settings(deadline=None, max_examples=40)
@given(small, st.floats(0.125, 9, width=16))
def test_scaling_the_answers_scales_slope_and_error_and_leaves_t(
    numbers: np.ndarray, factor: float
) -> None:
    first, second = (
        moments(dense(n.astype(np.float32), VALUES)) for n in (numbers, numbers * factor)
    )
    before, after = (linear("measure", sums, VALUES) for sums in (first, second))
    np.testing.assert_allclose(after.slope, before.slope * factor, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(after.se, before.se * factor, rtol=1e-4, atol=1e-7)


def test_every_estimator_says_what_it_is_and_why_and_its_rows_have_its_name_and_unit(
    answers,
) -> None:
    found = fit_slopes(*answers(drifting(), VALUES), options={"permutations": 0})
    for name, estimator in ESTIMATORS.items():
        assert name == estimator.name
        assert all((estimator.slope, estimator.null, estimator.reason))
        rows = found[found["estimator"] == name]
        assert set(rows["unit"]) == ({estimator.unit} if estimator.kind == "rate" else set())


def test_only_the_estimators_that_are_contrasted_have_rows_of_groups_and_gates(answers) -> None:
    scores, asked = answers(drifting(), VALUES)
    ids = pd.unique(asked["photo"])
    about = pd.DataFrame({"side": np.resize(["a", "b"], len(ids))}, index=ids)
    gate = pd.Series(np.arange(len(ids)) % 9 > 0, ids)
    study = Study(about=about, groups=["side"], gates={"gender": gate})
    found = analyse(scores, asked, study, options=FitOptions(permutations=0))
    names = {estimator.name for estimator in contrasted(FitOptions())}
    for table in (found.groups, found.differences, found.gating):
        assert set(table["estimator"]) == names & set(found.slopes["estimator"]) == {"photo-rate"}
    decided = found.slopes[found.slopes["decision"].notna()]
    assert set(decided["estimator"]) == {"photo-rate"}
