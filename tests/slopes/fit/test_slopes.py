import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gslopes.core import tables
from gslopes.core.errors import TableError
from gslopes.slopes.fit.slopes import active, counts
from tests.fixtures import paper_slopes, sweeps_of

VALUES = np.linspace(-2, 2, 5)
patterns = hnp.arrays(bool, st.tuples(st.integers(2, 8), st.integers(1, 4), st.just(5)))


def drifting(photos: int = 60, seed: int = 3) -> np.ndarray:
    """Labels of known trend: falling, flat, rising, and one that is never there at the centre."""
    rng = np.random.default_rng(seed)
    rates = np.stack([0.5 - 0.15 * VALUES, np.full(5, 0.5), 0.5 + 0.15 * VALUES, [0.5, 0.5, 0.0, 0.5, 0.5]])
    return rng.random((photos, 4, 5)) < rates


def test_slopes_are_those_that_statsmodels_fits_to_the_shares(answers) -> None:
    present = drifting()
    slopes = paper_slopes(*answers(present, VALUES)).set_index("label")
    shares = present.mean(axis=0)
    for index in range(3):
        fit = sm.OLS(shares[index] / shares[index, 2], sm.add_constant(VALUES)).fit()
        expected = [*fit.params[::-1], fit.bse[1], fit.tvalues[1], fit.pvalues[1], *fit.conf_int()[1]]
        row = slopes.loc[f"label{index}", ["slope", "intercept", "se", "t", "p", "ci_low", "ci_high"]]
        np.testing.assert_allclose(row.to_numpy(float), expected, rtol=1e-8)


def test_signs_follow_the_attribute(answers) -> None:
    slope = paper_slopes(*answers(drifting(400), VALUES)).set_index("label")["slope"]
    assert slope["label0"] < -0.1 < 0.1 < slope["label2"]


def test_table_is_a_slopes_table_of_the_paper_estimator(answers, tmp_path) -> None:
    slopes = paper_slopes(*answers(drifting(), VALUES))
    assert list(slopes.columns) == tables.SLOPES.columns
    assert set(slopes["estimator"]) == {"paper"}
    assert slopes["p_perm"].isna().all()
    tables.write(tables.SLOPES, slopes, tmp_path / "slopes.parquet")
    pd.testing.assert_frame_equal(tables.read(tables.SLOPES, tmp_path / "slopes.parquet"), slopes)


def test_label_never_active_at_the_centre_has_a_row_but_no_slope(answers) -> None:
    row = paper_slopes(*answers(drifting(), VALUES)).set_index("label").loc["label3"]
    assert (row["n"], row["y_centre"]) == (60, 0)
    assert row["active"] > 0
    assert row[["slope", "intercept", "se", "t", "p", "ci_low", "ci_high", "q"]].isna().all()


def test_labels_without_slope_do_not_weigh_on_q(answers) -> None:
    present = drifting()
    q = [paper_slopes(*answers(part, VALUES)).set_index("label")["q"] for part in (present, present[:, :3])]
    pd.testing.assert_series_equal(q[0].iloc[:3], q[1])


@settings(deadline=None, max_examples=30)
@given(hnp.arrays(bool, st.tuples(st.integers(1, 8), st.integers(1, 4), st.just(1))))
def test_constant_scores_give_zero_slope(answers, present: np.ndarray) -> None:
    slopes = paper_slopes(*answers(np.repeat(present, 5, axis=2), VALUES), values={"gender": VALUES.tolist()})
    assert (slopes["slope"] == 0).all()
    assert (slopes["p"] == 1).all()
    assert (slopes["q"] == 1).all()


@settings(deadline=None, max_examples=30)
@given(patterns, st.randoms(use_true_random=False))
def test_row_order_is_irrelevant(answers, present: np.ndarray, random) -> None:
    scores, asked = answers(present, VALUES)
    values = {"gender": VALUES.tolist()}
    shuffled = [frame.sample(frac=1, random_state=random.randrange(2**32)) for frame in (scores, asked)]
    pd.testing.assert_frame_equal(paper_slopes(*shuffled, values=values), paper_slopes(scores, asked, values=values))


@settings(deadline=None, max_examples=30)
@given(patterns, st.integers(2, 5))
def test_more_photos_of_the_same_kind_leave_the_slopes(answers, present: np.ndarray, times: int) -> None:
    values = {"gender": VALUES.tolist()}
    once = paper_slopes(*answers(present, VALUES), values=values)
    often = paper_slopes(*answers(np.tile(present, (times, 1, 1)), VALUES), values=values)
    for column in ("y_centre", "slope", "se"):
        np.testing.assert_allclose(often[column], once[column], rtol=1e-9, atol=1e-12)
    assert (often["n"] == once["n"] * times).all()


@settings(deadline=None, max_examples=30)
@given(patterns, st.integers(0, 4))
def test_photo_refused_at_one_step_drops_out_whole(answers, present: np.ndarray, step: int) -> None:
    scores, asked = answers(present, VALUES)
    refused = asked.assign(
        status=["refused" if k == step else "answered" for k in range(5)] + ["answered"] * (len(asked) - 5)
    )
    gone = asked["photo"].iloc[0]
    values = {"gender": VALUES.tolist()}
    with_refusal = paper_slopes(scores, refused, values=values).set_index("label")
    without = paper_slopes(scores[scores["photo"] != gone], asked[asked["photo"] != gone], values=values).set_index(
        "label"
    )
    # whole numbers that may be null have another dtype in a table without any row
    pd.testing.assert_frame_equal(with_refusal.loc[without.index], without, check_dtype=len(without) > 0)
    assert (with_refusal["active"].drop(without.index) == 0).all()


def test_values_given_or_read_give_the_same_table(answers) -> None:
    present, values = drifting()[:, :, [0, 1, 2, 3, 4, 0, 1]], np.linspace(-2, 2, 7)
    scores, asked = answers(present, values)
    pd.testing.assert_frame_equal(
        paper_slopes(scores, asked, values={"gender": values.tolist()}), paper_slopes(scores, asked)
    )


def test_classifiers_and_attributes_are_fitted_apart_and_sorted(answers) -> None:
    parts = [answers(drifting(seed=seed), VALUES, classifier=c, attribute=a) for seed, (c, a) in enumerate(PAIRS)]
    scores, asked = (pd.concat(frames) for frames in zip(*parts, strict=True))
    slopes = paper_slopes(scores, asked)
    assert list(slopes[["classifier", "attribute"]].drop_duplicates().itertuples(index=False, name=None)) == sorted(
        PAIRS
    )
    for (classifier, attribute), part in zip(PAIRS, parts, strict=True):
        here = slopes[(slopes["classifier"] == classifier) & (slopes["attribute"] == attribute)]
        pd.testing.assert_frame_equal(here.reset_index(drop=True), paper_slopes(*part))


PAIRS = [("d", "race"), ("c", "race"), ("d", "gender")]


def test_no_score_gives_an_empty_table() -> None:
    slopes = paper_slopes(tables.SCORES.empty(), tables.ASKED.empty())
    assert slopes.empty
    assert list(slopes.columns) == tables.SLOPES.columns


def test_frame_with_a_missing_column_is_refused(answers) -> None:
    scores, asked = answers(drifting(), VALUES)
    with pytest.raises(TableError, match="lacks label"):
        paper_slopes(scores.drop(columns="label"), asked)


@settings(deadline=None, max_examples=30)
@given(patterns)
def test_counts_are_those_of_a_loop_over_the_dense_array(answers, present: np.ndarray) -> None:
    kept = np.flatnonzero(present.any(axis=(0, 2)))
    sweeps = sweeps_of(*answers(present, VALUES), values={"gender": VALUES.tolist()})
    if not len(kept):
        assert sweeps == []
        return
    assert sweeps[0].labels.tolist() == [f"label{index}" for index in kept]
    assert (counts(sweeps[0]) == present[:, kept].sum(axis=0)).all()
    assert (active(sweeps[0]) == present[:, kept].any(axis=2).sum(axis=0)).all()


def test_a_label_returned_twice_for_one_picture_counts_once(answers) -> None:
    scores, asked = answers(np.ones((2, 1, 5), bool), VALUES)
    (sweep,) = sweeps_of(pd.concat([scores, scores]), pd.concat([asked, asked]))
    assert counts(sweep).tolist() == [[2] * 5]
    assert len(sweep.photos) == 2


def test_a_label_seen_only_on_dropped_photos_stays_with_counts_of_0(answers) -> None:
    present = np.array([[[1] * 5, [0] * 5], [[1] * 5, [1] * 5]], bool)
    scores, asked = answers(present, VALUES)
    asked.loc[9, "status"] = "failed"
    (sweep,) = sweeps_of(scores, asked)
    assert counts(sweep).tolist() == [[1] * 5, [0] * 5]
    assert active(sweep).tolist() == [1, 0]
    row = paper_slopes(scores, asked.assign(status="refused")).iloc[0]
    assert (row["n"], row["y_centre"]) == (0, 0)
    assert pd.isna(row["slope"])
