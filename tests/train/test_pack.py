"""training/pack.py: what is trained on where the set is not, is what would be trained on where it is."""

import runpy
import shutil
import zipfile

import numpy as np
import pytest

from gslopes.core.errors import DataMissing
from gslopes.datasets.labelled import fold
from gslopes.train import sets
from gslopes.train.recipe import find_spec
from gslopes.zoo import home

pack = runpy.run_path(str(home.PACKAGE.parent / "training" / "pack.py"))["pack"]


def test_the_packed_photos_make_the_same_training_set(unpacked, tmp_path, monkeypatch):
    photos = tmp_path / "data" / "UTKFace"
    photos.mkdir(parents=True)
    for path in sorted(unpacked("UTKFace").rglob("*.jpg"))[::434]:
        shutil.copy(path, photos / path.name)
    monkeypatch.setenv("GSLOPES_CACHE", str(tmp_path / "cache"))
    count = pack(tmp_path / "data", tmp_path / "pack.zip")
    with zipfile.ZipFile(tmp_path / "pack.zip") as file:
        file.extractall(tmp_path / "there")
    there = sorted((tmp_path / "there" / "UTKFace").iterdir())
    assert 10 < count == len(there) < len(list(photos.iterdir()))
    assert {fold(path.name) for path in there} == {"editors", "held-out"}
    assert all(path.read_bytes() == (photos / path.name).read_bytes() for path in there)

    spec = find_spec("fader-gender")
    here = sets.fader(spec, tmp_path / "data", "cpu")
    monkeypatch.setenv("GSLOPES_CACHE", str(tmp_path / "other cache"))
    again = sets.fader(spec, tmp_path / "there", "cpu")
    np.testing.assert_array_equal(again.weights, here.weights)
    np.testing.assert_array_equal(again.held_out, here.held_out)
    # Faces are found in other batches there: points may round otherwise, with them pixels and the smile that is read.
    assert np.abs(again.pixels.astype(int) - here.pixels).max() <= 1
    np.testing.assert_allclose(again.labels, here.labels, atol=0.001)


def test_without_the_set_it_says_so(tmp_path):
    with pytest.raises(DataMissing, match="UTKFace"):
        pack(tmp_path, tmp_path / "pack.zip")
    assert not (tmp_path / "pack.zip").exists()
