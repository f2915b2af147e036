from dataclasses import replace

import numpy as np
import pytest

from gslopes.core.records import Motion
from gslopes.faces.compose import placebo
from gslopes.faces.compose.composite import Composite
from gslopes.faces.compose.paste import Mover

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


def test_light_is_gray_and_darker_below_and_lighter_above_by_as_much_as_the_edit(whole):
    light = placebo.lightened(whole, VALUES).patches.astype(int)
    for k in (0, 2):
        edit, change = (
            np.abs(patches[k] - whole.patches[1].astype(int)).mean()
            for patches in (whole.patches, light)
        )
        assert change == pytest.approx(edit, rel=0.02)
    middle = light[:, 10, 10]
    assert (np.diff(middle, axis=1) == 0).all()
    assert middle[0, 0] < middle[1, 0] < middle[2, 0]
    assert (light[1] == whole.patches[1]).all()


def test_every_re_encoding_has_its_own_quality_in_an_order_of_the_photos_own():
    orders = {tuple(placebo.qualities(f"{i:064x}", 7, 0)) for i in range(50)}
    assert all(sorted(order) == list(range(89, 96)) for order in orders)
    assert len(orders) > 40
    assert placebo.qualities("a", 7, 0) == placebo.qualities("a", 7, 0)
    mean_by_step = np.mean([placebo.qualities(f"{i:064x}", 7, 0) for i in range(500)], 0)
    assert np.ptp(mean_by_step) < 0.6


def test_light_follows_the_edits_own_light(whole):
    """An edit that darkens towards the last value: the placebo does too."""
    turned = replace(whole, patches=whole.patches[::-1].copy())
    assert placebo.brightens(whole, VALUES) == pytest.approx(-placebo.brightens(turned, VALUES))
    darker = whole.patches.copy()
    darker[2, 4:16, 4:16] = 80
    light = (
        placebo.lightened(replace(whole, patches=darker), VALUES).patches[:, 10, 10, 0].astype(int)
    )
    assert light[0] > light[1] > light[2]


def test_random_has_nothing_of_the_edit_and_nothing_of_light_and_its_size(whole):
    random = placebo.randomised(whole, VALUES, "photo", 0)
    base = whole.patches[1].astype(float)
    edit = whole.patches[-1].astype(float) - whole.patches[0]
    for k in (0, 2):
        change = random.patches[k] - base
        expected = np.abs(whole.patches[k] - base).mean()
        assert np.abs(change).mean() == pytest.approx(expected, rel=0.1)
        for second in (edit, np.ones_like(edit) * whole.weight[..., None]):
            cosine = (change * second).sum() / np.linalg.norm(change) / np.linalg.norm(second)
            assert abs(cosine) < 0.03
    assert (random.patches[1] == whole.patches[1]).all()
    outside = whole.weight == 0
    assert (random.patches[:, outside] == whole.patches[1][outside]).all()


def test_random_is_smooth_its_own_for_each_photo_and_the_same_again(whole):
    item, again, second = (
        placebo.randomised(whole, VALUES, photo, 0).patches[2] for photo in ("a", "a", "b")
    )
    assert (item == again).all()
    assert (item != second).any()
    inner = item[5:15, 5:15].astype(float)
    assert np.abs(np.diff(inner, axis=0)).mean() < 0.5 * inner.std()
    nothing = {
        "patches": whole.patches[:, :0, :0],
        "weight": whole.weight[:0, :0],
        "box": (0, 0, 0, 0),
    }
    empty = replace(whole, **nothing)
    assert placebo.randomised(empty, VALUES, "a", 0).patches.shape == (3, 0, 0, 3)


@pytest.fixture
def moving() -> Composite:
    """A photo with edges in which an edit moves one part to the right with the value, and brightens another."""
    grain = np.random.default_rng(3).integers(60, 180, (12, 12, 3), np.uint8)
    photo = np.repeat(np.repeat(grain, 10, 0), 10, 1)
    weight = np.zeros((120, 120), np.float32)
    weight[20:100, 20:100] = 1
    y, x = np.mgrid[:120, :120].astype(np.float32)
    field = np.zeros((120, 120, 2), np.float32)
    field[..., 0] = np.exp(-((x - 60) ** 2 + (y - 70) ** 2) / (2 * 8**2))
    field[weight == 0] = 0
    lighter = (
        20 * np.exp(-((x - 60) ** 2 + (y - 40) ** 2) / (2 * 12**2))[..., None] * weight[..., None]
    )
    patches = np.stack(
        [Mover(field)(photo.astype(np.float32) + v / 2 * lighter, v) for v in VALUES]
    )
    levels = np.clip(np.rint(patches), 0, 255).astype(np.uint8)
    motion = Motion(field, np.array(VALUES, np.float32))
    return Composite(photo, levels, weight, (0, 0, 120, 120), 0.44, motion)


def test_random_moves_parts_by_as_much_as_the_edit_and_with_nothing_of_its_motion(moving):
    motion = moving.motion
    fields = [
        placebo._random_motion(moving, motion, VALUES, np.random.default_rng(seed))
        for seed in range(8)
    ]
    for field in fields:
        assert np.linalg.norm(field) == pytest.approx(np.linalg.norm(motion.field), rel=1e-3)
        assert abs((field * motion.field).sum()) < 1e-3 * (motion.field**2).sum()
        far = np.abs(motion.field).sum(-1) < 1e-3
        assert np.abs(field[far]).max() < 0.05
    drawn = np.mean(fields, 0)
    assert np.linalg.norm(drawn) < 0.7 * np.linalg.norm(motion.field)


def test_random_with_motion_changes_the_picture_by_as_much_and_nothing_outside(moving):
    random = placebo.randomised(moving, VALUES, "photo", 0)
    still = placebo.randomised(replace(moving, motion=None), VALUES, "photo", 0)
    base = moving.patches[1].astype(float)
    for k in (0, 2):
        expected = np.abs(moving.patches[k] - base).mean()
        assert np.abs(random.patches[k] - base).mean() == pytest.approx(expected, rel=0.03)
        assert (random.patches[k] != still.patches[k]).any()
    assert (random.patches[1] == moving.patches[1]).all()
    assert (random.patches[:, moving.weight == 0] == moving.patches[1][moving.weight == 0]).all()
