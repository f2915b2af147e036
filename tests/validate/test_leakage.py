import numpy as np
import pytest

from gslopes.validate.leakage import folds_by_people, probe_auc, share_of_target

VALUES = np.linspace(-2, 2, 7)


def sweep(n: int, slope: float, seed: int, spread: float = 1.0) -> np.ndarray:
    """Readings of n photos of their own level, all of which move by ``slope`` a unit, with a little noise."""
    random = np.random.default_rng(seed)
    return random.normal(0, spread, (n, 1)) + slope * VALUES + random.normal(0, 0.01, (n, 7))


def test_share_is_in_standard_deviations_of_unedited_photos() -> None:
    target, other = sweep(500, 0.5, 1), sweep(500, 0.1, 2)
    people = np.random.default_rng(3).normal(0, 1, 5000)
    found = share_of_target(other, target, VALUES, other_unedited=2 * people, target_unedited=people)
    assert found.value == pytest.approx(0.1, rel=0.05)
    assert found.low < found.value < found.high


def test_the_unit_of_a_reading_does_not_matter_and_the_sign_tells_the_direction() -> None:
    target, other = sweep(100, 0.5, 1), sweep(100, -0.1, 2)
    a = share_of_target(other, target, VALUES, other_unedited=other[:, 3], target_unedited=target[:, 3])
    b = share_of_target(
        100 * other, target / 7, VALUES, other_unedited=100 * other[:, 3], target_unedited=target[:, 3] / 7
    )
    assert a.value == pytest.approx(b.value)
    assert a.value < 0


def test_a_reading_that_stays_has_no_share() -> None:
    target, other = sweep(300, 0.5, 1), sweep(300, 0, 2)
    found = share_of_target(other, target, VALUES, other_unedited=other[:, 3], target_unedited=target[:, 3])
    assert found.low < 0.005
    assert found.high > -0.005


def test_a_reading_without_spread_has_no_share_to_speak_of() -> None:
    target = sweep(10, 1, 0)
    found = share_of_target(target, target, VALUES, other_unedited=np.ones(10), target_unedited=target[:, 0])
    assert np.isnan(found.value)


# -- the probe --------------------------------------------------------------------------------------------------------


def test_all_photos_of_a_person_lie_in_one_fold_and_folds_are_of_about_one_size() -> None:
    people = np.random.default_rng(0).integers(0, 100, 700)
    folds = folds_by_people(people)
    assert all(len(set(folds[people == person])) == 1 for person in set(people))
    assert sorted(set(folds)) == [0, 1, 2, 3, 4]


def latents(n: int, width: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.normal(0, 1, (n, width)), random.random(n) < 0.5


def test_a_latent_of_noise_cannot_be_read() -> None:
    x, yes = latents(300, 100, 0)
    found = probe_auc(x, yes, folds_by_people(np.arange(300)))
    assert found.best.value < 0.62
    assert found.linear.low < 0.5


def test_an_attribute_on_one_axis_is_found_by_the_linear_probe() -> None:
    x, yes = latents(300, 100, 1)
    x[:, 7] += 3 * yes
    found = probe_auc(x, yes, folds_by_people(np.arange(300)))
    assert found.linear.value > 0.9
    assert found.best.value == max(found.linear.value, found.network.value)


def test_an_attribute_that_no_line_separates_is_found_by_the_network() -> None:
    x, _ = latents(900, 4, 2)
    yes = x[:, 0] * x[:, 1] > 0
    found = probe_auc(x, yes, folds_by_people(np.arange(900)))
    assert found.linear.value < 0.65
    assert found.network.value > 0.8
    assert found.best == found.network


def test_a_latent_that_tells_people_apart_but_not_the_attribute_cannot_be_read() -> None:
    random = np.random.default_rng(3)
    people = np.repeat(np.arange(60), 5)
    x = random.normal(0, 3, (60, 50))[people] + random.normal(0, 0.1, (300, 50))
    yes = (random.random(60) < 0.5)[people]
    found = probe_auc(x, yes, folds_by_people(people), people=people)
    assert found.best.low < 0.6


def test_probes_are_the_same_every_time() -> None:
    x, yes = latents(90, 10, 4)
    folds = folds_by_people(np.arange(90))
    assert probe_auc(x, yes, folds) == probe_auc(x, yes, folds)


def test_two_folds_are_too_few() -> None:
    x, yes = latents(20, 3, 0)
    with pytest.raises(ValueError, match="three folds"):
        probe_auc(x, yes, np.arange(20) % 2)
