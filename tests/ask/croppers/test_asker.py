"""Joined pictures are put together from what a model sees of each photo."""

import numpy as np
import pytest
from PIL import Image

from gslopes.ask.boxes import centres
from gslopes.ask.croppers import load_cropper
from gslopes.ask.croppers.asker import Asker
from gslopes.core.records import SaliencyMap

PAIRS = np.array([(i, j) for i in range(5) for j in range(5) if i != j])


def photos(width=200, height=200, count=5):
    small = np.random.default_rng(2).integers(0, 255, (count, 12, 12, 3), dtype=np.uint8)
    return [
        np.asarray(Image.fromarray(one).resize((width, height), Image.Resampling.BICUBIC))
        for one in small
    ]


@pytest.mark.parametrize("name", ["spectral-residual", "fine-grained"])
@pytest.mark.parametrize(
    "pictures", [PAIRS, np.array([(0, 1, 2, 3), (4, 3, 2, 1)])], ids=["pairs", "four"]
)
def test_photos_put_together_are_the_joined_picture_bit_for_bit(name, pictures):
    """A pair needs two views, not a picture of its own: equal because no sample of the model reaches over a seam."""
    portraits, notes, scores = photos(), [], []
    for shortcut in (True, False):
        asker = Asker(
            load_cropper(name), portraits.__getitem__, [(200, 200)] * 5, shortcut=shortcut
        )
        asker.note = notes.append
        batches = list(asker.maps(pictures))
        order = np.argsort(np.concatenate([batch.rows for batch in batches]))
        scores.append(np.concatenate([batch.scores for batch in batches])[order])
        assert asker.checked == shortcut
    np.testing.assert_array_equal(*scores)
    assert not notes


def test_photos_of_several_sizes_are_joined():
    pictures = [*photos(200, 200, 2), *photos(120, 200, 2)]
    sizes = [(one.shape[1], one.shape[0]) for one in pictures]
    asker = Asker(load_cropper("fine-grained"), pictures.__getitem__, sizes)
    batches = list(asker.maps(np.array([(0, 2), (2, 0), (0, 1)])))
    assert sum(len(batch.rows) for batch in batches) == 3
    assert load_cropper("fine-grained").view(((200, 200), (120, 200))) is None


def test_photos_one_above_the_other_are_seen_as_one_picture():
    portraits = photos(200, 120)
    asker = Asker(
        load_cropper("spectral-residual"), portraits.__getitem__, [(200, 120)] * 5, stacked=True
    )
    (batch,) = asker.maps(PAIRS[:1])
    (whole,) = asker.model.maps([np.concatenate([portraits[photo] for photo in PAIRS[0]])])
    np.testing.assert_array_equal(batch.scores[0], whole.scores)
    assert batch.plan.territories[1].y0 == 120


class Bright:
    """The mean of a pixel's colours."""

    name, version = "bright", "1"

    def maps(self, pictures):
        return [
            SaliencyMap(one.mean(axis=2), *centres(*one.shape[1::-1], *one.shape[1::-1]))
            for one in pictures
        ]


@pytest.mark.row("crops-2.3-symmetry")
@pytest.mark.parametrize(("level", "left", "centred"), [(200, 20, True), (90, 0, False)])
def test_the_centre_is_cropped_where_the_map_is_almost_symmetric_and_the_highest_point_still_wins(
    level, left, centred
):
    """Two columns of light, left of the middle of each photo; of the second photo at its right, mirrored."""
    portraits = [np.full((40, 40, 3), 30, np.uint8) for _ in range(2)]
    portraits[0][:, 8:16] = 205
    portraits[1][:, 24:32] = level
    asker = Asker(Bright(), portraits.__getitem__, [(40, 40)] * 2, as_published=True)
    (joined,) = asker.answers(np.array([(0, 1)]), policies=("argmax", "average"))
    argmax = joined.focuses["argmax"]
    assert argmax.shares == [1.0, 0.0]
    assert argmax.point[0] < 16
    assert (argmax.crops[1.0][0].left, argmax.centred) == (left, centred)
    assert not joined.focuses["average"].centred
    asker = Asker(Bright(), portraits.__getitem__, [(40, 40)] * 2)
    (joined,) = asker.answers(np.array([(0, 1)]))
    assert joined.focuses["argmax"].crops[1.0][0].left == 0
