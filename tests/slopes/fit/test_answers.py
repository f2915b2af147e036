import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gslopes.core import tables
from gslopes.slopes.fit.answers import Answers, encode, gather

VALUES = np.linspace(-2, 2, 3)


def gathered(scores: pd.DataFrame, asked: pd.DataFrame) -> list[Answers]:
    values = dict.fromkeys(("gender", "race"), VALUES)
    return list(gather(tables.check(tables.SCORES, scores), tables.check(tables.ASKED, asked), values))


def as_dense(sweep: Answers) -> np.ndarray:
    result = np.zeros((len(sweep.photos), len(sweep.labels), len(sweep.values)), np.float32)
    result[sweep.photo, sweep.label] = sweep.score
    return result


@settings(deadline=None, max_examples=30)
@given(
    hnp.arrays(
        np.float32, st.tuples(st.integers(1, 6), st.integers(1, 4), st.just(3)), elements=st.floats(0, 1, width=16)
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


def test_of_a_label_returned_twice_the_higher_score_counts(answers) -> None:
    scores, asked = answers(np.ones((1, 1, 3), bool), VALUES)
    both = pd.concat([scores.assign(score=np.float32(0.9)), scores.assign(score=np.float32(0.2))])
    for rows in (both, both[::-1]):
        (sweep,) = gathered(rows, asked)
        assert sweep.score.tolist() == [[np.float32(0.9)] * 3]


def test_a_label_returned_with_score_zero_is_present(answers) -> None:
    scores, asked = answers(np.ones((2, 1, 3), bool), VALUES)
    (sweep,) = gathered(scores.assign(score=np.float32(0)), asked)
    assert sweep.present.all()
    assert sweep.threshold == 0


def test_dropped_photos_are_counted_once_each_under_the_first_reason(answers) -> None:
    scores, asked = answers(np.ones((6, 1, 3), bool), VALUES)
    asked.loc[[0, 3], "status"] = "refused"
    asked.loc[[1, 6], "status"] = "failed"
    (sweep,) = gathered(scores, asked.drop(index=9))
    assert dict(sweep.dropped) == {"refused": 2, "failed": 1, "missing": 1}
    assert len(sweep.photos) == 2


def test_dictionary_encoded_texts_are_the_same_texts(answers) -> None:
    scores, asked = answers(np.random.default_rng(0).random((5, 3, 3)) < 0.5, VALUES)
    plain = [tables.check(tables.SCORES, scores), tables.check(tables.ASKED, asked)]
    texts = [field.name for field in tables.SCORES.schema if field.type == pa.string()]
    coded = plain[0]
    for name in texts:
        coded = coded.set_column(coded.schema.get_field_index(name), name, coded.column(name).dictionary_encode())
    one, other = (next(gather(table, plain[1], {"gender": VALUES})) for table in (plain[0], coded))
    np.testing.assert_array_equal(as_dense(one), as_dense(other))
    assert one.labels.tolist() == other.labels.tolist()


def test_some_of_the_photos_are_as_if_the_others_had_not_been_there(answers) -> None:
    present = np.random.default_rng(1).random((8, 3, 3)) < 0.5
    (sweep,) = gathered(*answers(present, VALUES))
    keep = np.arange(8) % 2 == 0
    part = sweep.only(keep)
    np.testing.assert_array_equal(as_dense(part), as_dense(sweep)[keep])
    assert part.photos.tolist() == sweep.photos[keep].tolist()


def test_no_column_has_no_codes() -> None:
    codes, names = encode(pa.chunked_array([], type=pa.string()))
    assert len(codes) == len(names) == 0


@pytest.mark.parametrize("labels", [1, 70_000])
def test_many_labels_are_gathered_like_few(labels: int) -> None:
    from gslopes.slopes.fit.answers import _pairs

    photo = np.array([0, 0, 1, 2], np.int32)
    label = np.array([0, labels - 1, 0, labels - 1], np.int32)
    step, score = np.array([0, 1, 2, 1], np.int16), np.array([0.1, 0.2, 0.3, 0.4], np.float32)
    (photos, names), found = _pairs(photo, label, step, score, 3, labels, 3)
    assert sorted(zip(photos.tolist(), names.tolist(), strict=True)) == sorted(
        {(0, 0), (0, labels - 1), (1, 0), (2, labels - 1)}
    )
    assert np.nansum(found) == pytest.approx(1.0)
