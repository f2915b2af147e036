import torch

from training.edit_field import PictureCritic


def critic(attributes: int) -> PictureCritic:
    torch.manual_seed(0)
    return PictureCritic(1, attributes, widths=(4, 8, 8, 8, 8, 8))


def test_each_end_has_its_own_answer():
    pictures, judge = torch.randn(3, 1, 128, 128), critic(1)
    low, high = (judge(pictures, torch.full((3, 1), end)) for end in (-1.0, 1.0))
    middle = judge(pictures, torch.zeros(3, 1))
    assert low.shape == (3,)
    assert (low != high).all()
    torch.testing.assert_close(middle, (low + high) / 2)
