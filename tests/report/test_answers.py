from pathlib import Path

import numpy as np

from gslopes.core import tables
from gslopes.fit.ols import fit_lines
from gslopes.report import answers as matrix

VALUES = np.linspace(-2, 2, 7)


def test_curves_have_the_slopes_of_the_fit(one: Path) -> None:
    answers = matrix.read(one, "celeba-tagger", "gender", VALUES)
    z, low, high = matrix.curves(answers)
    slopes = tables.read(tables.SLOPES, one / "slopes.parquet").set_index("label")["slope"]
    there = ~np.isnan(z).any(1)
    names = [label for label, found in zip(answers.labels, there, strict=True) if found]
    np.testing.assert_allclose(fit_lines(VALUES, z[there]).slope, slopes[names], rtol=1e-9)
    assert (low[there] <= z[there]).all()
    assert (high[there] >= z[there]).all()
    np.testing.assert_allclose((high - low)[there][:, 3], 0, atol=1e-6)


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
        truth = (0.3 * 0.8 + 0.1) / (0.4 * 0.8 + 0.1)
        hits += low[0, 0] <= truth <= high[0, 0]
    assert 0.91 < hits / 300 < 0.985


def test_photos_that_moved_most_come_first_and_still_ones_never(one: Path) -> None:
    answers = matrix.read(one, "celeba-tagger", "gender", VALUES)
    weights = answers.weights()
    for rows in matrix.movers(answers):
        moved = [abs(float((~np.isnan(answers.scores[row])) @ weights)) for row in rows]
        assert moved == sorted(moved, reverse=True)
        assert all(answers.complete[answers.photo[row]] for row in rows)
        assert all(np.nanmax(answers.scores[row]) > 0 for row in rows)


def test_no_photo_has_more_than_so_many_labels(one: Path) -> None:
    answers = matrix.read(one, "celeba-tagger", "gender", VALUES)
    chosen = matrix.strongest(answers, most=2)
    assert np.bincount(answers.photo[chosen]).max() == 2
    assert len(matrix.strongest(answers, most=99)) == len(answers.scores)
