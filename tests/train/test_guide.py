import numpy as np
import pytest
import torch

from gslopes import zoo
from gslopes.train.fader import colourfulness
from gslopes.train.guide import Guide, Tone, window

SPEC = zoo.ModelSpec("small", "", "fader", 32, ("race",), "", (), "", "")


@pytest.fixture
def tone() -> Tone:
    rng = np.random.default_rng(0)
    dark, light = rng.integers(40, 80, (50, 1, 1, 3)), rng.integers(150, 230, (50, 1, 1, 3))
    pixels = np.broadcast_to(np.concatenate([dark, light]), (100, 32, 32, 3)).astype(np.uint8)
    return Tone(pixels, np.repeat([-1.0, 1.0], 50).astype(np.float32), SPEC, "cpu")


def plain(rgb: torch.Tensor) -> torch.Tensor:
    return rgb[:, :, None, None].expand(-1, -1, 32, 32)


def test_a_face_carried_to_the_other_ends_colours_costs_nothing(tone):
    own, wanted = torch.tensor([-1.0, 1.0]), torch.tensor([1.0, -1.0])
    photos = plain(tone.mean[[0, 1]] + 0.5 * tone.spread[[0, 1]])
    moved = plain(tone.mean[[1, 0]] + 0.5 * tone.spread[[1, 0]])
    assert tone(photos, moved, own, wanted) < 1e-5
    assert tone(photos, photos, own, wanted) > 0.3


def test_half_way_between_the_ends_is_half_the_way(tone):
    own, wanted = torch.tensor([-1.0]), torch.tensor([0.0001])
    photos = plain(tone.mean[[0]])
    middle = plain((tone.mean[[0]] + tone.mean[[1]]) / 2)
    assert tone(photos, middle, own, wanted) < 1e-3


def test_an_edit_of_lightness_has_no_colour_and_one_of_hue_has():
    lighter = torch.full((1, 3, 4, 4), 0.3)
    assert colourfulness(lighter) < 1e-6
    redder = torch.zeros(1, 3, 4, 4)
    redder[:, 0] = 1.0
    assert colourfulness(redder).item() == pytest.approx((0.701 + 0.299 + 0.299) / 3)
    assert colourfulness(redder + lighter).item() == pytest.approx(colourfulness(redder).item())


def test_the_window_is_closed_at_the_border_and_open_in_the_middle():
    region = window(128)[0, 0]
    assert region[64, 64] == 1
    assert region[0, 0] == region[0, -1] == region[-1, 0] == 0
    assert ((region >= 0) & (region <= 1)).all()


@pytest.fixture(scope="module")
def guide() -> Guide:
    rng = np.random.default_rng(1)
    pixels = rng.integers(0, 255, (40, 128, 128, 3)).astype(np.uint8)
    return Guide("guide", "gender", pixels, np.repeat([-1.0, 1.0], 20).astype(np.float32), "cpu")


def test_the_guide_asks_nothing_of_an_unchanged_face_at_its_own_value(guide):
    photos = torch.rand(3, 3, 128, 128) * 2 - 1
    own = torch.tensor([-1.0, 1.0, 1.0])
    wish, stay = guide(photos, photos, own, own, 0.75)
    assert wish < 1e-9
    assert stay < 1e-9


def test_the_guide_asks_for_more_the_further_a_value_is(guide):
    guide.half = torch.tensor(2.0)
    photos = torch.zeros(1, 3, 128, 128)
    own = torch.tensor([-1.0])
    near, far = (guide(photos, photos, own, torch.tensor([value]), 1.0)[0] for value in (0.0, 1.0))
    assert far > near > 0


def test_the_wish_reaches_the_pixels(guide):
    photos = torch.zeros(1, 3, 128, 128)
    edited = photos.clone().requires_grad_()
    wish, _ = guide(edited, photos, torch.tensor([-1.0]), torch.tensor([1.0]), 1.0)
    wish.backward()
    assert edited.grad is not None
    assert edited.grad.abs().sum() > 0
