"""A packed set is the set, but for what WebP loses."""

import numpy as np
import pytest

from gslopes.core.errors import DataMissing
from gslopes.datasets import drawn as rendered
from gslopes.zoo.spec import find_spec
from training.sets import TrainingSet, drawn_chips, packed, write_packed


def test_a_packed_set_comes_back_whole(tmp_path):
    spec = find_spec("drawn-fader")
    drawn = rendered.sample(20, seed=3)
    chips = drawn_chips(drawn, spec.size)
    held = np.arange(20) % 5 == 0
    count = write_packed(
        TrainingSet(chips, drawn.gender[:, None], np.arange(20.0), held), tmp_path / f"{spec.name}.npz"
    )
    again = packed(spec, tmp_path, "cpu")
    assert count == len(again.pixels) == 20
    assert np.abs(again.pixels.astype(int) - chips).mean() < 4
    np.testing.assert_array_equal(again.labels, drawn.gender[:, None])
    np.testing.assert_array_equal(again.weights, np.arange(20.0))
    np.testing.assert_array_equal(again.held_out, held)


def test_without_the_file_it_says_how_to_make_it(tmp_path):
    with pytest.raises(DataMissing, match=r"pack\.py drawn-fader"):
        packed(find_spec("drawn-fader"), tmp_path, "cpu")
