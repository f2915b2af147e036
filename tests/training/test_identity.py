import sys

import numpy as np
import pytest

from gslopes.core.errors import UsageError
from gslopes.datasets.folder import open_photo
from gslopes.find.detect import MtcnnFinder
from training.evaluation.measures import FaceEmbedding, cosine, nearer_same, nearest_itself


def test_cosine_is_of_rows_and_broadcasts() -> None:
    assert cosine([[1, 0], [3, 4]], [[0, 2], [6, 8]]).tolist() == pytest.approx([0, 1])
    assert cosine(np.eye(3)[:, None], np.eye(3)[None]).tolist() == np.eye(3).tolist()


def test_faces_beyond_the_middle_of_both_means_are_nearer_to_the_same_person() -> None:
    found = nearer_same([0.95, 0.90, 0.89, 0.2], [0.98, 1.0, 1.0, 1.0, 0.97], np.full(50, 0.83))
    assert found.same.value == pytest.approx(0.99)
    assert found.different.value == pytest.approx(0.83)
    assert found.nearer.value == 0.25
    assert nearer_same([0.95, 0.92], [0.99], [0.83]).nearer.value == 1


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


def test_without_dlib_the_error_names_the_extra(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "dlib", None)
    with pytest.raises(UsageError, match=r"gslopes\[identity\]"):
        FaceEmbedding()


def test_without_the_weights_the_error_names_the_extra(monkeypatch) -> None:
    pytest.importorskip("dlib", reason="dlib is not installed: pip install 'gslopes[train]'")
    monkeypatch.setattr("training.evaluation.measures._PACKAGE", "no_such_package_of_weights")
    with pytest.raises(UsageError, match=r"gslopes\[identity\]"):
        FaceEmbedding()


# -- with dlib --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def embedding() -> FaceEmbedding:
    pytest.importorskip("dlib", reason="the extra train is not installed: pip install 'gslopes[train]'")
    try:
        return FaceEmbedding()
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
    assert nearer_same(same, same, different).nearer.value == 1


def test_embeddings_are_the_same_every_time_and_points_in_one_place_have_none(embedding) -> None:
    photo = np.random.default_rng(0).integers(0, 255, (200, 160, 3)).astype(np.uint8)
    points = np.array([[(50, 80), (110, 80), (80, 120), (60, 150), (100, 150)], [(5, 5)] * 5], float)
    first, again = (embedding([photo, photo], points) for _ in range(2))
    assert first.shape == (2, 128)
    assert first.dtype == np.float32
    np.testing.assert_array_equal(first, again)
    assert np.isfinite(first[0]).all()
    assert np.isnan(first[1]).all()
    assert embedding([], np.empty((0, 5, 2))).shape == (0, 128)
