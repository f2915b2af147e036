import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gslopes.core import tables
from gslopes.fit.rates import Rates, count

VALUES = np.linspace(-2, 2, 3)


def counted(scores: pd.DataFrame, asked: pd.DataFrame) -> list[Rates]:
    values = dict.fromkeys(("gender", "race"), VALUES)
    return count(tables.check(tables.SCORES, scores), tables.check(tables.ASKED, asked), values)


@settings(deadline=None, max_examples=30)
@given(present=hnp.arrays(bool, st.tuples(st.integers(1, 6), st.integers(1, 4), st.just(3))))
def test_counts_are_those_of_a_loop_over_the_dense_array(answers, present: np.ndarray) -> None:
    kept = np.flatnonzero(present.any(axis=(0, 2)))
    results = counted(*answers(present, VALUES))
    if not len(kept):
        assert results == []
        return
    (rates,) = results
    assert rates.labels.tolist() == [f"label{index}" for index in kept]
    assert rates.photos == len(present)
    assert (rates.counts == present[:, kept].sum(axis=0)).all()
    assert (rates.active == present[:, kept].any(axis=2).sum(axis=0)).all()


@pytest.mark.parametrize("status", ["refused", "failed", None])
def test_photo_not_answered_at_one_step_drops_out_whole(answers, status: str | None) -> None:
    present = np.ones((4, 2, 3), bool)
    scores, asked = answers(present, VALUES)
    if status is None:
        asked = asked.drop(index=1)
    else:
        asked.loc[1, "status"] = status
    (rates,) = counted(scores, asked)
    assert rates.photos == 3
    assert rates.counts.tolist() == [[3, 3, 3], [3, 3, 3]]
    assert rates.active.tolist() == [3, 3]


def test_refusals_of_one_classifier_leave_the_other_alone(answers) -> None:
    present = np.ones((4, 1, 3), bool)
    first, second = answers(present, VALUES), answers(present, VALUES, classifier="d")
    first[1].loc[0, "status"] = "refused"
    scores, asked = (pd.concat(pair, ignore_index=True) for pair in zip(first, second, strict=True))
    assert [(rates.classifier, rates.photos) for rates in counted(scores, asked)] == [("c", 3), ("d", 4)]


def test_attributes_are_counted_apart(answers) -> None:
    present = np.ones((4, 1, 3), bool)
    first, second = answers(present, VALUES), answers(present[:2], VALUES, attribute="race")
    scores, asked = (pd.concat(pair, ignore_index=True) for pair in zip(first, second, strict=True))
    assert [(rates.attribute, rates.photos) for rates in counted(scores, asked)] == [("gender", 4), ("race", 2)]


def test_label_returned_twice_for_one_picture_counts_once(answers) -> None:
    scores, asked = answers(np.ones((2, 1, 3), bool), VALUES)
    (rates,) = counted(pd.concat([scores, scores]), pd.concat([asked, asked]))
    assert rates.counts.tolist() == [[2, 2, 2]]
    assert rates.photos == 2


def test_label_seen_only_on_dropped_photos_stays_with_zero_counts(answers) -> None:
    present = np.array([[[1, 1, 1], [0, 0, 0]], [[1, 1, 1], [1, 1, 1]]], bool)
    scores, asked = answers(present, VALUES)
    asked.loc[5, "status"] = "failed"
    (rates,) = counted(scores, asked)
    assert rates.counts.tolist() == [[1, 1, 1], [0, 0, 0]]
    assert rates.active.tolist() == [1, 0]


def test_no_photo_answered_everywhere_gives_zero_shares(answers) -> None:
    scores, asked = answers(np.ones((1, 1, 3), bool), VALUES)
    asked["status"] = "refused"
    (rates,) = counted(scores, asked)
    assert rates.photos == 0
    assert rates.shares.tolist() == [[0, 0, 0]]
    assert np.isnan(rates.relative).all()
