from __future__ import annotations

import numpy as np
import pytest
import torch

from gslopes.core.errors import ModelError
from gslopes.faces.zoo.reader import FaceReader, attribute


@pytest.fixture(scope="module")
def reader() -> FaceReader:
    return FaceReader.load()


@pytest.fixture(scope="module")
def chips() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (5, 128, 128, 3), np.uint8)


def test_race_is_the_share_of_white_among_white_and_black_of_arrays_and_tensors_alike():
    read = {"white": [0.3, 0.0], "black": [0.1, 0.0]}
    for kind in (np.array, torch.tensor):
        share = attribute({label: kind(values) for label, values in read.items()}, "race")
        assert share.tolist() == pytest.approx([0.75, 0.0])


def test_bytes_and_tensors_are_read_alike(reader: FaceReader, chips: np.ndarray):
    read = reader(chips)
    assert set(read) == set(reader.labels)
    tensor = torch.from_numpy(chips).permute(0, 3, 1, 2).float() / 255
    with torch.inference_mode():
        values = reader.attributes(tensor, ("gender", "race", "young")).double().numpy()
    expected = np.stack([attribute(read, name) for name in ("gender", "race", "young")], 1)
    np.testing.assert_allclose(values, expected, atol=1e-6)
    assert ((values >= 0) & (values <= 1)).all()


def test_batches_give_what_all_at_once_gives(reader: FaceReader, chips: np.ndarray):
    whole, parts = reader(chips), reader(chips, batch=2)
    for label in reader.labels:
        np.testing.assert_allclose(parts[label], whole[label], atol=1e-6)


def test_an_attribute_that_it_cannot_read_is_an_error_before_any_reading(reader: FaceReader):
    with pytest.raises(ModelError, match="cannot read 'wealth'"):
        reader.check(("gender", "wealth"))
