from pathlib import Path

import numpy as np

from gslopes.core import tables
from gslopes.slopes.measures.answers import ALL, Cut
from gslopes.slopes.page import answers as matrix
from gslopes.stats.ols import fit_lines, line_weights

VALUES = np.linspace(-2, 2, 7)


def test_curves_have_the_slopes_of_the_fit_and_their_lines_go_through_them(one: Path) -> None:
    answers = matrix.read(one, "celeba-tagger", "gender", VALUES)
    shares, low, high = matrix.curves(answers)
    slopes = tables.read(tables.SLOPES, one / "slopes.parquet").set_index("label")["slope"]
    there = shares[:, 3] > 0
    names = [label for label, found in zip(answers.labels, there, strict=True) if found]
    relative = shares[there] / shares[there][:, [3]]
    np.testing.assert_allclose(fit_lines(VALUES, relative).slope, slopes[names], rtol=1e-9)
    lines = matrix.lines(answers, shares)
    np.testing.assert_allclose(lines[:, 1], fit_lines(VALUES, 100 * shares).slope, rtol=1e-9)
    np.testing.assert_allclose(
        lines[:, 0] + lines[:, 1] * VALUES.mean(), 100 * shares.mean(1), rtol=1e-9
    )
    assert (low <= shares).all()
    assert (high >= shares).all()
    assert ((low >= 0) & (high <= 1)).all()


def test_the_typical_photo_is_the_one_whose_own_slope_is_nearest_to_the_mean(one: Path) -> None:
    answers = matrix.read(one, "celeba-tagger", "gender", VALUES)
    row = matrix.typical(answers, "Necktie")
    assert row is not None
    present, weights = answers.present, line_weights(VALUES)
    rows = np.flatnonzero(answers.labels[answers.label] == "Necktie")
    rows = rows[np.ptp(present[rows].astype(float), axis=1) > 0]
    mean = (present[rows] @ weights).sum() / len(answers.photos)
    distance = np.abs(present[rows] @ weights - mean)
    assert abs(float(present[row] @ weights) - mean) <= distance.min() + 1e-12
    assert matrix.typical(answers, "no such label") is None


def test_photos_that_moved_most_come_first_and_still_ones_never(one: Path) -> None:
    answers = matrix.read(one, "celeba-tagger", "gender", VALUES)
    for rows in matrix.movers(answers):
        slopes = np.abs(answers.present[rows] @ line_weights(VALUES)).round(9)
        assert slopes.tolist() == sorted(slopes, reverse=True)
    chosen = matrix.strongest(answers, most=2)
    assert np.bincount(answers.photo[chosen]).max() == 2
    assert len(matrix.strongest(answers, most=99)) == len(answers.score)


def test_photos_refused_at_one_value_and_labels_below_the_cut_are_left_out(
    one: Path, tmp_path: Path
) -> None:
    asked = tables.read(tables.ASKED, one / "asked.parquet")
    whole = matrix.read(one, "celeba-tagger", "gender", VALUES)
    assert sorted(whole.photos) == sorted(
        {*asked["photo"]} - {*asked.loc[asked["status"] == "refused", "photo"]}
    )
    assert matrix.cut_of(one, "celeba-tagger") == ALL
    for table in ("scores", "asked"):
        (tmp_path / f"{table}.parquet").symlink_to(one / f"{table}.parquet")
    (tmp_path / "presence.json").write_text(
        '{"limits": {"celeba-tagger": {"score": 0.9, "most": 3}}}'
    )
    assert matrix.cut_of(tmp_path, "celeba-tagger") == Cut(0.9, 3)
    fewer = matrix.read(tmp_path, "celeba-tagger", "gender", VALUES)
    assert fewer.score[fewer.present].min() >= np.float32(0.9)
    nothing = matrix.read(tmp_path, "another", "gender", VALUES)
    assert [curve.shape for curve in matrix.curves(nothing)] == [(0, 7)] * 3
