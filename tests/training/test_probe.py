import numpy as np
import pytest

from training.evaluation.measures import folds_by_people, probe_auc


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
