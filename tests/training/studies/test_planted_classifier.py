import numpy as np
import pytest

from gslopes.photos import drawn as rendered
from gslopes.slopes.demo import SIZE, drawn_in_place
from training.studies.planted_classifier import CONFOUNDERS, GRID, PlantedClassifier, totals


@pytest.fixture(scope="module")
def read():
    """120 drawn faces and what the classifier reads from them."""
    parameters = drawn_in_place(120, 9)
    return parameters, PlantedClassifier().read(rendered.render(parameters, SIZE).pixels)


def test_every_label_is_planted_once():
    names = [bias.label for bias in GRID]
    assert len(set(names)) == len(names) == 32


@pytest.mark.slow
def test_the_readings_are_what_was_drawn(read):
    parameters, readings = read
    truth = [parameters.gender, parameters.tone, *(4 * getattr(parameters, name) - 2 for name in CONFOUNDERS)]
    for column, known in enumerate(truth):
        assert np.corrcoef(readings[:, column], known)[0, 1] > 0.9


@pytest.mark.slow
def test_the_truth_under_do_cue_has_the_planted_sign_and_none_where_nothing_is_planted(read):
    parameters, _ = read
    classifier = PlantedClassifier()
    shares = [
        (totals(classifier.read(rendered.render(parameters.replace(gender=value), SIZE).pixels)) > 0).mean(0)
        for value in (-1.0, 1.0)
    ]
    for bias, change in zip(GRID, shares[1] - shares[0], strict=True):
        if abs(bias.cue) >= 0.3:
            assert np.sign(change) == np.sign(bias.cue), bias.label
        if bias.cue == 0:
            assert abs(change) < 0.06, bias.label


@pytest.mark.slow
def test_a_label_is_answered_where_its_sum_is_positive(read):
    _, readings = read
    classifier = PlantedClassifier()
    answer = classifier.parse(readings[0].tolist())
    assert {label for label, _ in answer.labels} == {
        bias.label for bias, total in zip(GRID, totals(readings[:1])[0], strict=True) if total > 0
    }


@pytest.mark.slow
def test_hair_and_background_are_read_where_no_edit_can_reach():
    parameters = drawn_in_place(40, 3)
    photos = rendered.render(parameters, SIZE)
    inside = photos.face_mask > 0.01
    painted = np.where(inside[..., None], 255 - photos.pixels, photos.pixels).astype(np.uint8)
    before, after = (PlantedClassifier().read(pixels) for pixels in (photos.pixels, painted))
    for name in ("hair", "background"):
        column = 2 + CONFOUNDERS.index(name)
        np.testing.assert_allclose(after[:, column], before[:, column])
