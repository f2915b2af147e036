"""What a critic is shown is what the walk makes, and no more of it than it may go by."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from skimage.data import astronaut

from gslopes.compose.motion import within
from gslopes.compose.paste import compose
from gslopes.compose.skin import ParserMasker
from gslopes.core.records import Motion
from gslopes.find.align import choose, warp
from gslopes.networks.mtcnn import Mtcnn
from gslopes.zoo import load
from tests.training.test_field_editor import sweep
from training.edit_field import as_critic_sees, composite, face_masks, inner_face, well_inside
from training.field_editor import FieldEditor


@pytest.fixture(scope="module")
def chips() -> np.ndarray:
    """The astronaut's chip and its mirror image, (2, 128, 128, 3)."""
    photo = astronaut()
    chip = warp(photo, choose(Mtcnn(32)([photo])[0], 512, 512, 32).matrix, 128)
    return np.stack([chip, chip[:, ::-1]])


@pytest.fixture(scope="module")
def masks(chips) -> torch.Tensor:
    return face_masks(chips, "cpu")


def as_floats(chips: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(chips)).permute(0, 3, 1, 2).float() / 255


def test_masks_are_the_walks_but_for_specks(chips, masks):
    theirs = ParserMasker(load("face-parser"))([], [], chips)
    assert np.abs(masks[:, 0].numpy() / 255 - theirs).mean() < 0.01


@pytest.mark.parametrize("name", ["gender-teacher", "race-teacher"])
@pytest.mark.parametrize(("moves", "least"), [(False, 0.25), (True, 0.7)])
def test_a_composite_is_what_the_walk_makes(chips, masks, name, moves, least):
    """Rounding apart, and with a motion what linear interpolation, there cubic, smooths."""
    editor = FieldEditor(name)
    bounds = {"darkest": 0, "brightest": 0, "darkest_by_part": (), "brightest_by_part": (), "reach": (0.0, 0.0)}
    plain = {"evenly": 0.4, "slow": 1, "darker_form": 1, "darker_motion": 1, "steady_eyes": 0, "downward_exponent": 1}
    editor.config = replace(editor.config, **bounds, **plain)  # as training has it
    x, mask, units = as_floats(chips[:1]), masks[:1].float() / 255, torch.full((1, 1), -1.5)
    form, motion = editor.field(x)
    made = composite(x, mask, form, motion * moves, units, editor.face, editor.config.lightness)
    own = float(editor.photo_values(x)[0, 0])
    swept = sweep(editor, chips[:1], np.array([own - 1.5 / editor.config.downward], np.float32))
    moving = swept.motion_of(0) if moves else None
    pixels, whole = np.ascontiguousarray(chips[0]), np.eye(3)[:2]
    walk = compose(
        pixels, False, swept.edited[0], swept.neutral[0], mask[0, 0].numpy(), whole, "ratio", motion=moving
    ).picture(0)
    assert np.abs(walk.astype(float) - pixels).mean() > 0.5
    assert np.abs((255 * made[0]).permute(1, 2, 0).numpy() - walk).mean() < least


def test_parts_move_as_far_as_the_walk_lets_them(masks):
    mask = masks[0, 0].numpy().astype(np.float32) / 255
    still = Motion(np.full((128, 128, 2), 0.1, np.float32), np.ones(1, np.float32))
    allowed = within(still, mask)[..., 0] / 0.1
    np.testing.assert_allclose(well_inside(masks[:1].float() / 255)[0, 0].numpy(), allowed, atol=0.06)


@pytest.mark.parametrize("gray", [False, True])
def test_a_critic_sees_neither_exposure_nor_what_lies_beyond_the_face(chips, masks, gray):
    x, mask, inner = as_floats(chips) * 0.5 + 0.1, masks.float() / 255, inner_face(masks)
    plain = as_critic_sees(x, mask, inner, gray)
    brighter = (x * 255 + 8) * 1.3 / 255 - 8 / 255
    torch.testing.assert_close(as_critic_sees(brighter, mask, inner, gray), plain, atol=0.02, rtol=0)
    elsewhere = torch.where(inner * mask > 0, x, torch.rand_like(x))
    torch.testing.assert_close(as_critic_sees(elsewhere, mask, inner, gray), plain, atol=1e-5, rtol=0)
    assert plain.std() > 0.05
    assert plain.shape[1] == (1 if gray else 3)


def test_a_chip_without_a_face_breaks_no_gradient(chips):
    x = as_floats(chips).requires_grad_()
    seen = as_critic_sees(x, torch.zeros(2, 1, 128, 128), torch.ones(1, 128, 128), gray=True)
    seen.sum().backward()
    assert not x.grad.any()
