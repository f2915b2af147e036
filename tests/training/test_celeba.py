import pytest

from gslopes.core.errors import DataMissing
from training.sources import read_celeba_wide


def test_the_wide_crops_come_in_order_and_without_labels(tmp_path):
    (tmp_path / "celeba-wide").mkdir()
    for name in ("182640.jpg", "182638.jpg", "notes.txt"):
        (tmp_path / "celeba-wide" / name).touch()
    found = read_celeba_wide(tmp_path)
    assert [path.name for path in found.paths] == ["182638.jpg", "182640.jpg"]
    assert found.values.shape == (2, 0)


def test_an_empty_folder_is_named(tmp_path):
    (tmp_path / "celeba-wide").mkdir()
    with pytest.raises(DataMissing, match="no JPEG"):
        read_celeba_wide(tmp_path)
