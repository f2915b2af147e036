"""What refusals and a gate hide: bounds, the slope of refusal, and slopes of all sweeps next to those kept."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from statsmodels.stats.contingency_tables import cochrans_q

from gslopes.core import tables
from gslopes.core.errors import TableError
from gslopes.core.placebo import KINDS
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.answers import gather
from gslopes.slopes.measures.options import EDITOR, FitOptions, Study
from gslopes.slopes.measures.selection import Asked, bounds, loss_trend
from gslopes.stats.contrast import Units
from gslopes.stats.ols import line_weights
from tests.skewed import corrected

VALUES = [-2.0, -1.0, 0.0, 1.0, 2.0]
LOSSES_BY_STATUS = [("refused", "refusal", "refusals"), ("failed", "failed", "failures")]
FAST = FitOptions(estimators=("photo-rate",), permutations=0)


def slopes_of(present: np.ndarray) -> np.ndarray:
    return 100 * present @ line_weights(np.array(VALUES))


def lost_when(
    answers, present: np.ndarray, lost: np.ndarray, status: str = "refused"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables in which the pictures of ``lost`` (n, K) were refused, or failed."""
    scores, asked = answers(present & ~lost[:, None, :], VALUES)
    asked = asked.assign(
        status=np.where(lost.ravel(), status, "answered"), reason=np.where(lost.ravel(), "x", "")
    )
    return scores, asked


@pytest.mark.parametrize(("status", "name", "losses"), LOSSES_BY_STATUS)
def test_the_slope_of_lost_answers_is_reported_and_warned_of(
    answers, status: str, name: str, losses: str
) -> None:
    rng = np.random.default_rng(0)
    lost = rng.random((300, 5)) < 0.04 * np.arange(5)
    found = analyse(*lost_when(answers, rng.random((300, 1, 5)) < 0.4, lost, status), options=FAST)
    row = found.balance.iloc[0]
    slopes = 100 * lost @ line_weights(np.array(VALUES))
    names = [f"{name}_{part}" for part in ("slope", "low", "high", "p")]
    assert row[names].tolist() == pytest.approx([slopes.mean(), *corrected(slopes)])
    assert f"{losses} depend on the value" in row["warning"]
    assert row[[f"{other}_p" for _, other, _ in LOSSES_BY_STATUS if other != name]].isna().all()


@pytest.mark.parametrize("status", ["refused", "failed"])
@pytest.mark.parametrize("steps", [[4], [2], [0, 4]])
def test_losses_at_some_values_of_every_photo_depend_on_it(
    answers, status: str, steps: list[int]
) -> None:
    """All are lost there: t has no standard error, which says nothing for independence; a slope may be 0."""
    lost = np.zeros((40, 5), bool)
    lost[:, steps] = True
    tables_of = lost_when(answers, np.random.default_rng(0).random((40, 1, 5)) < 0.4, lost, status)
    row = analyse(*tables_of, Study(values={"gender": VALUES}), options=FAST).balance.iloc[0]
    assert row["refusal_p" if status == "refused" else "failed_p"] < 1e-10
    assert "depend on the value" in row["warning"]


def test_losses_at_both_ends_depend_on_the_value_though_their_slope_may_be_0(answers) -> None:
    rng = np.random.default_rng(1)
    lost = rng.random((100, 5)) < np.array([0.4, 0, 0, 0, 0.4])
    row = analyse(
        *lost_when(answers, rng.random((100, 1, 5)) < 0.4, lost), options=FAST
    ).balance.iloc[0]
    assert row["refusal_low"] < 0 < row["refusal_high"]
    assert row["warning"].startswith("refusals depend on the value")


def test_the_p_of_losses_is_twice_the_smaller_of_t_and_of_cochrans_q() -> None:
    rng = np.random.default_rng(8)
    photos = np.arange(60).astype(object)
    for chance in (np.array([0.3, 0.1, 0.0, 0.1, 0.3]), np.full(5, 0.2), np.arange(5) / 12):
        lost = rng.random((60, 5)) < chance
        asked = Asked(photos, np.array(VALUES), np.where(lost, 2, 1).astype(np.int8))
        trend = loss_trend(asked, "refused", lambda names: None)
        smaller = min(cochrans_q(lost.astype(int)).pvalue, corrected(slopes_of(lost))[2])
        assert trend.p == pytest.approx(min(1, 2 * smaller))


@pytest.mark.slow
@pytest.mark.evidence
def test_a_finding_of_photos_whose_own_answers_were_refused_is_open(answers) -> None:
    """No label moves; a picture with the label is refused the more often, the further up: the rest seems to fall."""
    decisions = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        parts = []
        for name in ("gender", "gender-same", "gender-light", "gender-random"):
            present = rng.random((300, 1, 5)) < 0.5
            chance = 0.8 * (np.arange(5) / 4) ** 3 * (name == "gender")
            lost = (rng.random((300, 5)) < chance) & present[:, 0]
            frames = lost_when(answers, present, lost)
            parts.append([frame.assign(attribute=name) for frame in frames])
        slopes = analyse(*map(pd.concat, zip(*parts, strict=True)), options=FAST).slopes
        row = slopes[slopes["attribute"] == "gender"].iloc[0]
        assert row["q"] < 0.05
        decisions.append(row["decision"])
    assert decisions.count("finding") <= 1, (
        "half of them if bounds were without their sampling error"
    )


def test_photos_refused_at_all_values_are_no_dependence(answers) -> None:
    lost = np.repeat(np.arange(40) < 15, 5).reshape(40, 5)
    for options in (FAST, FitOptions(estimators=("photo-rate",), permutations=99)):
        row = analyse(
            *lost_when(answers, np.ones((40, 1, 5), bool), lost), options=options
        ).balance.iloc[0]
        assert (row["refusal_p"], row["warning"]) == (1, "")


def test_a_finding_that_failures_may_have_made_is_open(answers) -> None:
    rng = np.random.default_rng(3)
    present = rng.random((600, 1, 5)) < 0.5 + 0.07 * np.array(VALUES)
    lost = rng.random((600, 5)) < 0.75 * (np.array(VALUES) == 2)
    scores, asked = lost_when(answers, present, lost, "failed")
    more = [answers(rng.random((600, 1, 5)) < 0.5, VALUES) for _ in range(3)]
    kinds = ("same", "light", "random")
    scores, asked = (
        pd.concat(
            [
                own,
                *(
                    pair[at].assign(attribute=f"gender-{kind}")
                    for pair, kind in zip(more, kinds, strict=True)
                ),
            ]
        )
        for at, own in enumerate((scores, asked))
    )
    slopes = analyse(scores, asked, options=FAST).slopes
    row = slopes[(slopes["attribute"] == "gender") & (slopes["estimator"] == "photo-rate")].iloc[0]
    assert (row["decision"], row["reason"]) == ("open", "refusals")
    assert row["detail"].startswith("failures depend on the value; of all photos")


def test_bounds_hold_the_slope_that_refusals_hid(answers) -> None:
    """Steep photos are refused at the end: the slope of the complete ones is far off."""
    rng = np.random.default_rng(1)
    steep = np.arange(400) < 200
    present = rng.random((400, 1, 5)) < 0.4 + np.where(steep, 0.15, 0.0)[:, None, None] * np.array(
        VALUES
    )
    lost = (rng.random((400, 5)) < 0.5) & steep[:, None] & (np.array(VALUES) == 2)
    found = analyse(*lost_when(answers, present, lost), options=FAST).slopes.iloc[0]
    truth = 100 * present[:, 0].mean(axis=0) @ line_weights(np.array(VALUES))
    assert abs(found["slope"] - truth) > 1
    assert found["worst_low"] <= truth <= found["worst_high"]


def test_without_losses_the_worst_case_is_the_interval_of_the_slope(answers) -> None:
    status = np.ones((30, 5), np.int8)
    asked = Asked(np.arange(30).astype(object), np.array(VALUES), status)
    slopes = slopes_of(np.random.default_rng(0).random((30, 5)) < 0.4)
    observed = Units(sparse.csr_array(slopes[None]), np.ones(30))
    ends = [end[0] for end in bounds(observed, asked, np.arange(30))]
    np.testing.assert_allclose(ends, corrected(slopes)[:2])
    found = analyse(*answers(np.ones((30, 1, 5), bool), VALUES), options=FAST)
    assert found.slopes["worst_low"].isna().all()
    assert found.balance["refusal_slope"].isna().all()


def refused_by_editor(
    answers, present: np.ndarray, lost: np.ndarray
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables in which an editor refused the pictures of ``lost`` (n, K); the classifier is asked about whole sweeps."""
    whole = ~lost.any(axis=1)
    scores, asked = answers(present, VALUES)
    wished = asked.assign(
        classifier=EDITOR, status=np.where(lost.ravel(), "refused", "answered"), reason=""
    )
    kept = [
        frame[frame["photo"].map(_number).isin(np.flatnonzero(whole))] for frame in (scores, asked)
    ]
    return kept[0], pd.concat([kept[1], wished])


def lost_of(asked: pd.DataFrame) -> Study:
    """What a study knows of that editor: photos by the reason for which they are lost, if any."""
    wished = asked[asked["classifier"] == EDITOR]
    rows = wished.assign(label=wished["status"]).drop_duplicates(["photo", "label"])
    rows = rows.assign(step=0, value=0, score=1, status="answered").merge(
        pd.DataFrame({"at": [0, 1]}), "cross"
    )
    rows = rows.assign(step=rows["at"])
    arrow = [
        tables.check(table, rows.drop_duplicates(table.key)[table.columns])
        for table in (tables.SCORES, tables.ASKED)
    ]
    return Study(lost={"gender": next(gather(*arrow, {"gender": np.array([0.0, 1.0])}))})


def _number(photo: str) -> int:
    return int(photo, 16)


@pytest.mark.slow
@pytest.mark.evidence
def test_the_worst_case_holds_the_slope_of_all_photos_whatever_an_editor_refuses(answers) -> None:
    """It refuses steep photos at the upper end; the slope of those that it edits is far off in nearly every sample."""
    held = []
    plain = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        steep = rng.random(150) < 0.5
        rise = np.where(steep, 0.15, 0.0)[:, None, None] * np.array(VALUES)
        present = rng.random((150, 1, 5)) < 0.5 + rise
        lost = (rng.random((150, 5)) < 0.8) & steep[:, None] & (np.array(VALUES) > 1)
        scores, asked = refused_by_editor(answers, present, lost)
        found = analyse(scores, asked, lost_of(asked), options=FAST)
        (row,) = found.slopes.to_dict("records")
        assert row["n"] == (~lost.any(axis=1)).sum()
        held.append(row["worst_low"] <= 7.5 <= row["worst_high"])
        plain.append(row["ci_low"] <= 7.5 <= row["ci_high"])
    assert np.mean(held) >= 0.95
    assert np.mean(plain) < 0.2


def test_photos_of_an_editor_count_in_the_worst_case_with_a_gate_too(answers) -> None:
    """The gate keeps half of the sweeps that it saw, and never saw those that the editor refused."""
    rng = np.random.default_rng(0)
    present = rng.random((200, 1, 5)) < 0.5
    lost = np.zeros((200, 5), bool)
    lost[:40, 4] = True
    scores, asked = refused_by_editor(answers, present, lost)
    seen = asked.loc[asked["classifier"] == "c", "photo"].unique()
    gate = {"gender": pd.Series(np.arange(len(seen)) % 2 == 0, index=seen)}
    ends = []
    for study in (lost_of(asked), Study()):
        found = analyse(scores, asked, replace(study, gates=gate), options=FAST)
        ends.append(found.slopes[["slope", "n", "ci_low", "worst_low", "worst_high"]].iloc[0])
    assert ends[0]["n"] == ends[1]["n"] == 80
    assert np.isnan(ends[1]["worst_low"])
    # a third of the photos may each be as steep as one can be: by 20 points at the upper end either way
    assert ends[0]["worst_low"] < ends[0]["ci_low"]
    middle = 80 / 120 * ends[0]["slope"]
    assert ends[0]["worst_low"] < middle - 40 / 120 * 20 < middle < ends[0]["worst_high"]


def test_what_an_editor_refused_is_told_apart_from_what_a_classifier_did(answers) -> None:
    rng = np.random.default_rng(0)
    lost = rng.random((200, 5)) < np.array([0, 0, 0, 0.1, 0.4])
    present = rng.random((200, 2, 5)) < 0.5 + 0.08 * np.array(VALUES)
    scores, asked = refused_by_editor(answers, present, lost)
    fakes = [
        answers(rng.random((200, 2, 5)) < 0.5, VALUES, attribute=f"gender-{kind}") for kind in KINDS
    ]
    scores = pd.concat([scores, *(pair[0] for pair in fakes)])
    asked = pd.concat([asked, *(pair[1] for pair in fakes)])
    found = analyse(scores, asked, lost_of(asked), options=FAST)
    balance = found.balance.set_index(["classifier", "attribute"])
    whole = int((~lost.any(axis=1)).sum())
    of_editor = balance.loc[EDITOR, "gender"]
    assert of_editor[["used", "refused", "failed", "missing"]].tolist() == [
        whole,
        200 - whole,
        0,
        0,
    ]
    assert of_editor["refusal_slope"] == pytest.approx(slopes_of(lost).mean())
    assert of_editor["refusal_p"] < 1e-6
    own = balance.loc["c", "gender"]
    assert own[["used", "refused", "warning"]].tolist() == [whole, 0, ""]
    real = found.slopes[found.slopes["attribute"] == "gender"]
    assert set(real["reason"]) == {"refusals"}
    assert all("the editor's refusals depend on the value" in text for text in real["detail"])
    assert EDITOR not in set(found.slopes["classifier"])


def test_a_status_nobody_knows_and_percentages_are_refused(answers) -> None:
    present = np.ones((3, 1, 5), bool)
    present[1] = False
    scores, asked = answers(present, VALUES)
    with pytest.raises(TableError, match="'Answered'"):
        analyse(scores, asked.assign(status="Answered"), options=FAST)
    with pytest.raises(TableError, match="Divide them by 100"):
        analyse(scores.assign(score=np.float32(87)), asked, options=FAST)
    assert analyse(tables.SCORES.empty(), tables.ASKED.empty(), options=FAST).slopes.empty


SEVEN = np.linspace(-2, 2, 7)


def shared_error(photos: int, seed: int) -> tuple[np.ndarray, pd.Series]:
    """A classifier without any association, and a reader that errs with it; the gate asks for a trend."""
    rng = np.random.default_rng(seed)
    error = rng.normal(size=(photos, 7))
    present = rng.normal(size=(photos, 7)) + error > 0
    reading = 0.35 * SEVEN + error + 0.5 * rng.normal(size=(photos, 7))
    return present[:, None], pd.Series(reading @ line_weights(SEVEN) > 0.4)


def gating(answers, present: np.ndarray, gate: pd.Series, asked_about: np.ndarray) -> pd.Series:
    scores, asked = answers(present, SEVEN)
    gate.index = pd.Index(sorted(set(asked["photo"])))
    wanted = set(gate.index[asked_about])
    scores, asked = (frame[frame["photo"].isin(wanted)] for frame in (scores, asked))
    found = analyse(
        scores,
        asked,
        Study(values={"gender": SEVEN.tolist()}, gates={"gender": gate}),
        options=FAST,
    )
    assert found.slopes["slope"].iloc[0] == pytest.approx(found.gating["gated"].iloc[0])
    return found.gating.iloc[0]


def test_an_error_shared_with_the_gate_makes_a_slope_that_the_ungated_one_does_not_have(
    answers,
) -> None:
    present, gate = shared_error(3000, 0)
    row = gating(answers, present, gate, np.ones(3000, bool))
    assert row["gated_low"] > 1
    assert row["ungated_low"] < 0 < row["ungated_high"]
    assert row["kept"] < 0.8
    assert "read the ungated slope" in row["note"]


def test_a_sample_of_the_dropped_stands_for_all_of_them(answers) -> None:
    present, gate = shared_error(2000, 1)
    everything = gating(answers, present, gate.copy(), np.ones(2000, bool))
    sample = gate.to_numpy() | (np.random.default_rng(2).random(2000) < 0.3)
    row = gating(answers, present, gate.copy(), sample)
    assert row["dropped"] == everything["dropped"] > row["sampled"]
    assert row["gated"] == pytest.approx(everything["gated"])
    assert row["ungated"] == pytest.approx(everything["ungated"], abs=0.7)
    assert (
        row["ungated_high"] - row["ungated_low"]
        > everything["ungated_high"] - everything["ungated_low"]
    )


def test_what_was_refused_of_the_dropped_counts_for_no_bound(answers) -> None:
    """60 sweeps kept, which rise; 40 dropped, which fall, and of which two photos were refused."""
    present = np.zeros((100, 1, 5), bool)
    present[:60, 0, 3:] = present[60:, 0, :2] = True
    lost = np.zeros((100, 5), bool)
    lost[[0, 60, 61], 4] = True
    scores, asked = lost_when(answers, present, lost)
    gate = pd.Series(np.arange(100) < 60, index=sorted(set(asked["photo"])))
    values = {"gender": VALUES}
    found = analyse(scores, asked, Study(values=values, gates={"gender": gate}), options=FAST)
    alone = analyse(scores, asked, Study(values=values, photos=gate.index[:60]), options=FAST)
    pd.testing.assert_frame_equal(found.balance, alone.balance)
    assert found.balance[["used", "refused", "missing"]].iloc[0].tolist() == [59, 1, 0]
    row = found.slopes.iloc[0]
    assert row["worst_low"] < row["slope"]
    assert row["worst_high"] == pytest.approx(30), "photos that are all alike bound nothing"


def test_without_a_sample_the_dropped_are_unknown(answers) -> None:
    present, gate = shared_error(300, 3)
    row = gating(answers, present, gate, gate.to_numpy())
    assert np.isnan(row["ungated"])
    assert "no dropped one was asked about" in row["note"]
