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
