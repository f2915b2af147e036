"""Answers of a sweep: pairs of photo and label, which value each step stands for, and what counts as present."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from gslopes.core import tables
from gslopes.core.errors import ConfigError, TableError
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.answers import (
    ALL,
    Answers,
    Cut,
    encode,
    gather,
    present,
    values_by_attribute,
)
from gslopes.slopes.measures.options import FitOptions

VALUES = np.linspace(-2, 2, 3)


def gathered(scores: pd.DataFrame, asked: pd.DataFrame) -> list[Answers]:
    values = dict.fromkeys(("gender", "race"), VALUES)
    return list(
        gather(tables.check(tables.SCORES, scores), tables.check(tables.ASKED, asked), values)
    )


def as_dense(sweep: Answers) -> np.ndarray:
    result = np.zeros((len(sweep.photos), len(sweep.labels), len(sweep.values)), np.float32)
    result[sweep.photo, sweep.label] = sweep.score
    return result


@pytest.mark.row("slopes-4.3-share")
@settings(deadline=None, max_examples=30)
@given(
    hnp.arrays(
        np.float32,
        st.tuples(st.integers(1, 6), st.integers(1, 4), st.just(3)),
        elements=st.floats(0, 1, width=16),
    ),
    st.randoms(use_true_random=False),
)
def test_pairs_hold_the_scores_whatever_the_order_of_rows(answers, found: np.ndarray, lot) -> None:
    scores, asked = answers(found > 0, VALUES)
    photo, label, step = np.nonzero(found)
    scores["score"] = found[photo, label, step]
    order = list(range(len(scores)))
    lot.shuffle(order)
    results = gathered(scores.iloc[order], asked.iloc[::-1])
    if not len(scores):
        assert results == []
        return
    (sweep,) = results
    kept = np.flatnonzero((found > 0).any(axis=(0, 2)))
    np.testing.assert_array_equal(as_dense(sweep), found[:, kept])
    assert (sweep.present == (sweep.score > 0)).all()
    assert sweep.threshold == found[found > 0].min()
    assert (np.diff(sweep.label) >= 0).all()
    half = np.arange(len(sweep.photos)) % 2 == 0
    np.testing.assert_array_equal(as_dense(sweep.only(half)), as_dense(sweep)[half])
    assert (sweep.counts() == (found[:, kept] > 0).sum(axis=0)).all()


def test_of_a_label_returned_twice_the_higher_score_counts(answers) -> None:
    scores, asked = answers(np.ones((1, 1, 3), bool), VALUES)
    both = pd.concat([scores.assign(score=np.float32(0.9)), scores.assign(score=np.float32(0.2))])
    for rows in (both, both[::-1]):
        (sweep,) = gathered(rows, asked)
        assert sweep.score.tolist() == [[np.float32(0.9)] * 3]


@pytest.mark.row("slopes-3.1-binary")
def test_a_label_returned_with_score_zero_is_present(answers) -> None:
    scores, asked = answers(np.ones((2, 1, 3), bool), VALUES)
    (sweep,) = gathered(scores.assign(score=np.float32(0)), asked)
    assert sweep.present.all()
    assert sweep.threshold == 0


def test_dropped_photos_are_counted_once_each_under_the_first_reason(answers) -> None:
    scores, asked = answers(np.ones((6, 1, 3), bool), VALUES)
    asked.loc[[0, 3], "status"] = "refused"
    asked.loc[[1, 6], "status"] = "failed"
    asked = asked.drop(index=9)
    (row,) = analyse(scores, asked).balance.to_dict("records")
    assert (row["refused"], row["failed"], row["missing"]) == (2, 1, 1)
    (sweep,) = gathered(scores, asked)
    assert len(sweep.photos) == row["used"] == 2


SEVEN = np.linspace(-2, 2, 7)


@pytest.fixture
def arrow(answers):
    def make(present: np.ndarray, values=SEVEN) -> tuple[pa.Table, pa.Table]:
        scores, asked = answers(present, values)
        return tables.check(tables.SCORES, scores), tables.check(tables.ASKED, asked)

    return make


def test_steps_without_any_label_need_the_values(arrow) -> None:
    present = np.ones((2, 1, 7), bool)
    present[:, :, 1:3] = False
    with pytest.raises(TableError, match="steps 0 to 6 of gender and 5 values"):
        values_by_attribute(*arrow(present))
    assert len(values_by_attribute(*arrow(present), {"gender": SEVEN.tolist()})["gender"]) == 7


def test_given_values_and_those_of_the_table_are_the_same_to_the_bit(arrow) -> None:
    scores, asked = arrow(np.ones((2, 1, 7), bool))
    read = values_by_attribute(scores, asked)["gender"]
    assert read.tolist() == SEVEN.tolist()
    with pytest.raises(TableError, match="other values of gender"):
        values_by_attribute(scores, asked, {"gender": np.linspace(-1, 1, 7).tolist()})
    with pytest.raises(TableError, match="steps 0 to 6"):
        values_by_attribute(scores, asked, {"gender": [-2.0, 0.0, 2.0]})
    for values in (SEVEN.tolist(), SEVEN.astype(np.float32).tolist()):
        assert (values_by_attribute(scores, asked, {"gender": values})["gender"] == read).all()


@pytest.mark.parametrize("given", [[-1], [-1, 0, 0], [-1, 0, np.nan], [[1], [2], [3]]])
def test_given_values_must_be_two_or_more_and_increase(arrow, given: list) -> None:
    with pytest.raises(ConfigError):
        values_by_attribute(*arrow(np.ones((2, 1, 3), bool), [-1.0, 0.0, 1.0]), {"gender": given})


def test_two_values_for_one_step_are_refused(answers) -> None:
    scores, asked = answers(np.ones((2, 1, 7), bool), SEVEN)
    other, _ = answers(np.ones((2, 1, 7), bool), SEVEN / 2)
    both = tables.check(tables.SCORES, pd.concat([scores, other]))
    with pytest.raises(TableError, match="gender"):
        values_by_attribute(both, tables.check(tables.ASKED, asked))


FIVE = (-2.0, -1.0, 0.0, 1.0, 2.0)


def service(
    labels: int = 12, photos: int = 20, least: float = 0.0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores of a service that was asked for every label from ``least`` on, and the questions."""
    lot = np.random.default_rng(3)
    rows, asked = [], []
    for photo in range(photos):
        for step, value in enumerate(FIVE):
            asked.append((f"p{photo:02d}", "gender", step, "rekognition", "answered", "", ""))
            scores = np.clip(lot.uniform(0, 1, labels) + 0.1 * value, 0, 1)
            rows += [
                (f"p{photo:02d}", "gender", step, value, "rekognition", f"label {number}", score)
                for number, score in enumerate(scores)
                if score >= least
            ]
    return (
        pd.DataFrame(rows, columns=pd.Index(tables.SCORES.columns)),
        pd.DataFrame(asked, columns=pd.Index(tables.ASKED.columns)),
    )


def kept(scores: pd.DataFrame, cut: Cut) -> pd.DataFrame:
    return present(tables.check(tables.SCORES, scores), {"rekognition": cut}).to_pandas()


@pytest.mark.parametrize("cut", [Cut(0.55), Cut(0, 5), Cut(0.55, 5)], ids=str)
def test_asking_for_more_never_changes_a_slope(cut):
    options = FitOptions(permutations=50)
    everything, asked = service()
    if cut.most:  # the service would have given so many alone
        ranks = everything.groupby(["photo", "step"])["score"].rank(ascending=False, method="first")
        usual = everything[(ranks <= cut.most) & (everything["score"] >= cut.score)]
    else:
        usual, asked = service(least=cut.score)
    slopes = [
        analyse(
            present(tables.check(tables.SCORES, scores), {"rekognition": cut}),
            asked,
            options=options,
        ).slopes
        for scores in (everything, usual)
    ]
    assert len(slopes[0])
    pd.testing.assert_frame_equal(*slopes)


def test_the_highest_of_each_picture_are_counted_and_ties_all_count():
    scores = service(labels=4, photos=2)[0]
    scores["score"] = np.tile([0.9, 0.5, 0.5, 0.1], len(scores) // 4).astype(np.float32)
    assert set(kept(scores, Cut(0, 1))["label"]) == {"label 0"}
    assert set(kept(scores, Cut(0, 2))["label"]) == {"label 0", "label 1", "label 2"}
    assert set(kept(scores, Cut(0, 3))["label"]) == {"label 0", "label 1", "label 2"}
    assert set(kept(scores, Cut(0.9))["label"]) == {"label 0"}, "a score at the cut counts"
    table = tables.check(tables.SCORES, scores)
    assert present(table, {"google": Cut(0.9), "rekognition": ALL}).equals(table)
    for wrong in ((-0.1, 0), (1.1, 0), (0.5, -1)):
        with pytest.raises(ConfigError):
            Cut(*wrong)


def test_numbers_of_a_unit_of_their_own_have_no_cut_whatever_their_size():
    scores = service(labels=2, photos=2)[0]
    years = np.resize([0.0, 0.2, 12.0], (scores["label"] == "label 0").sum())
    scores.loc[scores["label"] == "label 0", "score"] = years.astype(np.float32)
    found = kept(scores, Cut(0.5)).groupby("label")["score"].agg(["size", "min"])
    assert found.loc["label 0"].tolist() == [10, 0.0]
    assert found.loc["label 1", "min"] >= 0.5


def test_codes_name_the_same_texts_whether_chunks_share_a_dictionary_or_not():
    texts = [["a", "b", "a"], [], ["c", "b"], ["d"]]
    own = pa.chunked_array([pa.array(part, pa.string()).dictionary_encode() for part in texts])
    plain = pa.chunked_array([pa.array(part, pa.string()) for part in texts])
    flat = [text for part in texts for text in part]
    for columns in (
        (own,),
        (own.unify_dictionaries(),),
        (plain,),
        (own.unify_dictionaries(), own, plain),
    ):
        codes, names = encode(*columns)
        assert names[codes].tolist() == flat * len(columns)
        assert len(names) == 4
