import numpy as np
import pytest

from gslopes.compose import placebo
from gslopes.compose.paste import Composite

VALUES = (-2.0, 0.0, 2.0)


@pytest.fixture
def whole() -> Composite:
    """A gray photo whose middle an edit has made redder at +2 and greener at -2."""
    photo = np.full((40, 40, 3), 120, np.uint8)
    weight = np.zeros((20, 20), np.float32)
    weight[4:16, 4:16] = 1
    patches = np.full((3, 20, 20, 3), 120, np.uint8)
    patches[0, 4:16, 4:16, 1] += 30
    patches[2, 4:16, 4:16, 0] += 60
    return Composite(photo, patches, weight, (10, 10, 30, 30), 0.09)


def test_light_changes_the_masked_region_by_as_much_as_the_edit(whole):
    light = placebo.lightened(whole, VALUES)
    for k in (0, 2):
        edit, change = (np.abs(c.patches[k].astype(int) - whole.patches[1]).mean() for c in (whole, light))
        assert change == pytest.approx(edit, rel=0.02)


def test_light_is_gray_darker_below_and_lighter_above_the_centre(whole):
    light = placebo.lightened(whole, VALUES).patches.astype(int)
    middle = light[:, 10, 10]
    assert (np.diff(middle, axis=1) == 0).all()
    assert middle[0, 0] < middle[1, 0] < middle[2, 0]
    assert (light[1] == whole.patches[1]).all()


def test_light_touches_nothing_outside_the_mask(whole):
    light = placebo.lightened(whole, VALUES)
    outside = np.ones((40, 40), bool)
    outside[14:26, 14:26] = False
    for k in range(3):
        assert (light.picture(k)[outside] == whole.photo[outside]).all()


def test_an_empty_mask_stays_empty():
    empty = Composite(
        np.zeros((4, 4, 3), np.uint8), np.zeros((3, 0, 0, 3), np.uint8), np.zeros((0, 0), np.float32), (0, 0, 0, 0), 0
    )
    assert placebo.lightened(empty, VALUES).patches.shape == (3, 0, 0, 3)


def test_every_re_encoding_has_its_own_quality_in_an_order_of_the_photos_own():
    orders = {tuple(placebo.qualities(f"{i:064x}", 7, 0)) for i in range(50)}
    assert all(sorted(order) == list(range(89, 96)) for order in orders)
    assert len(orders) > 40
    assert placebo.qualities("a", 7, 0) == placebo.qualities("a", 7, 0)
    mean_by_step = np.mean([placebo.qualities(f"{i:064x}", 7, 0) for i in range(500)], 0)
    assert np.ptp(mean_by_step) < 0.6
