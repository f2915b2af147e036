import numpy as np
import pytest
from scipy.special import expit

from training.evaluation.measures import (
    discrimination,
    discrimination_by_group,
    error_by_group,
    expected_calibration_error,
)


def answers(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Logits, and truths that come as often as the logits say."""
    random = np.random.default_rng(seed)
    logits = random.normal(0, 2, n)
    return logits, random.random(n) < expit(logits)


def test_auc_of_two_normals_one_apart_is_076() -> None:
    random = np.random.default_rng(1)
    truth = np.arange(4000) % 2 == 0
    found = discrimination(truth, random.normal(0, 1, 4000) + truth)
    assert found.low < 0.7602 < found.high
    assert found.high - found.low < 0.05


def test_auc_is_lower_in_the_group_whose_scores_are_noise() -> None:
    random = np.random.default_rng(2)
    truth, group = random.random(800) < 0.5, np.repeat(["clear", "noise"], 400)
    scores = np.where(group == "clear", truth, 0) + random.normal(0, 0.1, 800)
    found = discrimination_by_group(truth, scores, group)
    assert found.each["clear"].number.value > 0.99
    assert found.gap is not None
    assert found.gap.value == pytest.approx(0.5, abs=0.08)


def test_probabilities_that_are_what_they_say_have_a_small_error() -> None:
    logits, truth = answers(6000)
    assert expected_calibration_error(truth, expit(logits)).value < 0.025


def test_a_reader_that_always_says_80_percent_and_is_right_half_of_the_time_errs_by_30_points() -> None:
    truth = np.arange(1000) % 2 == 0
    assert expected_calibration_error(truth, np.full(1000, 0.8)).value == pytest.approx(0.3, abs=0.02)


def test_error_is_told_by_group() -> None:
    truth, group = np.arange(1000) % 2 == 0, np.repeat(["right", "sure"], 500)
    found = error_by_group(truth, np.where(group == "right", 0.5, 0.9), group, bins=1)
    assert found.each["right"].number.value == pytest.approx(0)
    assert found.each["sure"].number.value == pytest.approx(0.4)
