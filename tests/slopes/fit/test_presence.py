"""What counts as present."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.core.errors import ConfigError
from gslopes.slopes.fit.analysis import analyse
from gslopes.slopes.fit.options import FitOptions
from gslopes.slopes.fit.presence import ALL, Cut, present

VALUES = (-2.0, -1.0, 0.0, 1.0, 2.0)


def answers(labels: int = 12, photos: int = 20, least: float = 0.0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores of a service that was asked for every label from ``least`` on, and the questions."""
    lot = np.random.default_rng(3)
    rows, asked = [], []
    for photo in range(photos):
        for step, value in enumerate(VALUES):
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
    options = FitOptions(bootstrap=0, permutations=50)
    everything, asked = answers()
    if cut.most:  # the service would have given so many alone
        ranks = everything.groupby(["photo", "step"])["score"].rank(ascending=False, method="first")
        usual = everything[(ranks <= cut.most) & (everything["score"] >= cut.score)]
    else:
        usual, asked = answers(least=cut.score)
    slopes = [
        analyse(present(tables.check(tables.SCORES, scores), {"rekognition": cut}), asked, options=options).slopes
        for scores in (everything, usual)
    ]
    assert len(slopes[0])
    pd.testing.assert_frame_equal(*slopes)


def test_the_highest_of_each_picture_are_counted_and_ties_all_count():
    scores = answers(labels=4, photos=2)[0]
    scores["score"] = np.tile([0.9, 0.5, 0.5, 0.1], len(scores) // 4).astype(np.float32)
    assert set(kept(scores, Cut(0, 1))["label"]) == {"label 0"}
    assert set(kept(scores, Cut(0, 2))["label"]) == {"label 0", "label 1", "label 2"}
    assert set(kept(scores, Cut(0, 3))["label"]) == {"label 0", "label 1", "label 2"}


def test_the_order_of_rows_is_irrelevant():
    scores = answers()[0]
    mixed = scores.sample(frac=1, random_state=0)
    keys = ["photo", "step", "label"]
    one, other = (kept(frame, Cut(0.3, 4)).sort_values(keys, ignore_index=True) for frame in (scores, mixed))
    pd.testing.assert_frame_equal(one, other)


def test_other_classifiers_keep_every_row():
    scores = tables.check(tables.SCORES, answers()[0])
    assert present(scores, {"google": Cut(0.9)}).equals(scores)
    assert present(scores, {"rekognition": ALL}) is scores


def test_a_score_at_the_cut_counts():
    scores = answers(labels=1, photos=1)[0]
    scores["score"] = np.float32(0.55)
    assert len(kept(scores, Cut(0.55))) == len(scores)


@pytest.mark.parametrize("wrong", [(-0.1, 0), (1.1, 0), (0.5, -1)])
def test_impossible_cuts_are_refused(wrong):
    with pytest.raises(ConfigError):
        Cut(*wrong)
