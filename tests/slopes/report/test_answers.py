from pathlib import Path

import numpy as np
import pyarrow as pa

from gslopes.core import tables
from gslopes.slopes.report import answers as matrix
from gslopes.stats.ols import fit_lines

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
    np.testing.assert_allclose(lines[:, 0] + lines[:, 1] * VALUES.mean(), 100 * shares.mean(1), rtol=1e-9)
    assert (low <= shares).all()
    assert (high >= shares).all()
    assert ((low >= 0) & (high <= 1)).all()


def test_the_typical_photo_is_the_one_whose_own_slope_is_nearest_to_the_mean(one: Path) -> None:
    answers = matrix.read(one, "celeba-tagger", "gender", VALUES)
    row = matrix.typical(answers, "Necktie")
    assert row is not None
    present = ~np.isnan(answers.scores)
    rows = np.flatnonzero((answers.label == answers.labels.index("Necktie")) & answers.complete[answers.photo])
    rows = rows[np.ptp(present[rows].astype(float), axis=1) > 0]
    mean = (present[rows] @ answers.weights()).sum() / answers.complete.sum()
    distance = np.abs(present[rows] @ answers.weights() - mean)
    assert abs(float(present[row] @ answers.weights()) - mean) <= distance.min() + 1e-12
    assert matrix.typical(answers, "no such label") is None


def test_interval_of_a_curve_covers_its_mean_over_many_draws() -> None:
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(300):
        latent = rng.random(150)
        present = np.stack([latent < share for share in (0.3, 0.4, 0.5)], 1) ^ (rng.random((150, 3)) < 0.1)
        rows = np.flatnonzero(present.any(1))
        scores = np.where(present[rows], 0.9, np.nan)
        photos = [f"{index:03d}" for index in range(150)]
        one = matrix.Answers(
            np.array([-1.0, 0, 1]), photos, ["a"], np.ones(150, bool), rows, np.zeros(len(rows), np.int64), scores
        )
        _, low, high = matrix.curves(one)
        truth = 0.3 * 0.8 + 0.1
        hits += low[0, 0] <= truth <= high[0, 0]
    assert 0.91 < hits / 300 < 0.99


def test_photos_that_moved_most_come_first_and_still_ones_never(one: Path) -> None:
    answers = matrix.read(one, "celeba-tagger", "gender", VALUES)
    weights = answers.weights()
    for rows in matrix.movers(answers):
        slopes = [abs(float((~np.isnan(answers.scores[row])) @ weights)) for row in rows]
        assert slopes == sorted(slopes, reverse=True)
        assert all(answers.complete[answers.photo[row]] for row in rows)
        assert all(np.nanmax(answers.scores[row]) > 0 for row in rows)


def test_no_photo_has_more_than_so_many_labels(one: Path) -> None:
    answers = matrix.read(one, "celeba-tagger", "gender", VALUES)
    chosen = matrix.strongest(answers, most=2)
    assert np.bincount(answers.photo[chosen]).max() == 2
    assert len(matrix.strongest(answers, most=99)) == len(answers.scores)


def test_only_the_labels_that_counted_in_the_fit_are_in_the_shares(one: Path, tmp_path: Path) -> None:
    table = pa.table(
        {
            "photo": ["a", "a", "a", "b"],
            "step": [0, 0, 0, 0],
            "label": ["x", "y", "z", "x"],
            "score": pa.array([0.9, 0.55, 0.55, 0.2], pa.float32()),
        }
    )
    assert matrix.present(table, 0.55, 0).column("label").to_pylist() == ["x", "y", "z"]
    assert matrix.present(table, 0.0, 1).column("label").to_pylist() == ["x", "x"]
    assert matrix.present(table, 0.0, 2).num_rows == 4  # tied at the last place
    assert matrix.limits(one, "celeba-tagger") == (0.0, 0)
    (tmp_path / "presence.json").write_text('{"limits": {"c": {"score": 0.55, "most": 10}}}')
    assert matrix.limits(tmp_path, "c") == (0.55, 10)


def test_a_run_without_a_label_has_curves_of_none() -> None:
    none, values = np.empty(0, np.intp), np.linspace(-1, 1, 3)
    empty = matrix.Answers(values, [], [], np.empty(0, bool), none, none, np.empty((0, 3)))
    assert [curve.shape for curve in matrix.curves(empty)] == [(0, 3)] * 3
