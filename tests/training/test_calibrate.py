import json

import numpy as np
import pytest

from gslopes.core.geometry import similarity, warp
from gslopes.faces.compose.paste import compose
from gslopes.faces.config import values_for
from gslopes.faces.edit.editors import editor_of
from gslopes.faces.zoo.framing import CHIP
from gslopes.frame.executors import OneProcess
from gslopes.stats.ols import line_weights
from training import drawn as rendered
from training.calibrate import (
    CONFOUNDERS,
    EDITOR,
    GRID,
    PlantedClassifier,
    calibrate,
    naive,
    totals,
)
from training.data import CONFOUND
from training.drawn import SIZE, drawn_in_place


@pytest.fixture(scope="module")
def read():
    """120 drawn faces and what the classifier reads from them."""
    parameters = drawn_in_place(120, 9)
    return parameters, PlantedClassifier().read(rendered.render(parameters, SIZE).pixels)


@pytest.mark.slow
def test_the_readings_are_what_was_drawn(read):
    parameters, readings = read
    truth = [
        parameters.gender,
        parameters.tone,
        *(4 * getattr(parameters, name) - 2 for name in CONFOUNDERS),
    ]
    for column, drawn in enumerate(truth):
        assert np.corrcoef(readings[:, column], drawn)[0, 1] > 0.9


@pytest.mark.evidence
@pytest.mark.slow
def test_the_truth_under_do_cue_has_the_planted_sign_and_none_where_nothing_is_planted(read):
    parameters, _ = read
    classifier = PlantedClassifier()
    shares = [
        (
            totals(classifier.read(rendered.render(parameters.replace(gender=value), SIZE).pixels))
            > 0
        ).mean(0)
        for value in (-1.0, 1.0)
    ]
    for bias, change in zip(GRID, shares[1] - shares[0], strict=True):
        if abs(bias.cue) >= 0.3:
            assert np.sign(change) == np.sign(bias.cue), bias.label
        if bias.cue == 0:
            assert abs(change) < 0.06, bias.label


@pytest.mark.row("slopes-3.2-confounding")
def test_a_naive_comparison_blames_what_goes_along_with_gender():
    rng = np.random.default_rng(0)
    cue = rng.uniform(-1, 1, 2000).astype(np.float32)
    goes_along = cue + rng.normal(0, 0.5, 2000) > 0
    columns = np.stack([goes_along, rng.random(2000) < 0.5], 1)
    p_values = naive(columns, cue, 2000, 2)
    assert p_values.shape == (2, 2, 2)
    assert (p_values[:, 0, 1] < 1e-6).all()
    assert (p_values[:, 1, 1] > 1e-3).all()
    assert p_values[0, 0, 0] > 40


@pytest.mark.evidence
@pytest.mark.slow
def test_the_editor_of_drawn_faces_moves_the_cue_as_drawing_anew_does_on_every_tone_and_nothing_else():
    parameters = drawn_in_place(60, 77, CONFOUND)
    faces = rendered.render(parameters, SIZE)
    values, classifier = values_for("gender"), PlantedClassifier()
    weights = line_weights(values.astype(np.float64))
    matrices = [similarity(points, CHIP * 64 - 0.5) for points in faces.points]
    chips = np.stack(
        [warp(photo, matrix, 64) for photo, matrix in zip(faces.pixels, matrices, strict=True)]
    )
    editor = editor_of(EDITOR, reader=None)
    swept = editor.sweep(chips, values)
    readings, anew = np.empty((2, 60, len(values), 5))
    for row, matrix in enumerate(matrices):
        mask = warp(faces.face_mask[row], matrix, 64)
        composite = compose(faces.pixels[row], False, swept.of(row), mask, matrix, editor.blend)
        readings[row] = classifier.read(composite.pictures)
    for step, value in enumerate(values.tolist()):
        anew[:, step] = classifier.read(
            rendered.render(parameters.replace(gender=value), SIZE).pixels
        )
    slopes, expected = (
        np.einsum("nkr,k->nr", readings_of, weights) for readings_of in (readings, anew)
    )
    cue, tone, hair, background, smile = slopes.mean(0)
    assert 0.9 < cue / expected[:, 0].mean() < 1.1
    thirds = np.array_split(np.argsort(parameters.tone), 3)
    reach = [slopes[third, 0].mean() / expected[third, 0].mean() for third in thirds]
    assert max(reach) - min(reach) < 0.1
    assert abs(tone) < 0.03
    assert abs(smile) < 0.05
    assert hair == pytest.approx(0, abs=1e-6)
    assert background == pytest.approx(0, abs=1e-6)


@pytest.mark.row("slopes-3.2-confounding")
@pytest.mark.slow
def test_the_whole_calibration_recovers_signs_and_writes_what_it_says(tmp_path):
    labels, summary = calibrate(tmp_path / "c", OneProcess(), faces=160, sets=2)
    strong = labels[labels["cue"].abs() == 0.6]
    assert (np.sign(strong["recovered"]) == np.sign(strong["truth"])).all()
    assert 0.9 < summary["reach"] < 1.1
    assert summary["error"] < summary["error_naive"]
    assert json.loads((tmp_path / "c" / "calibration.json").read_text())["faces"] == 160
    assert len(labels) == len(GRID)
