import torch

from gslopes.train.regions import softened


def codes() -> torch.Tensor:
    """A face with skin all around a hole that is face but not skin."""
    region = torch.zeros(1, 1, 128, 128)
    region[..., 30:100, 30:100] = 2
    region[..., 60:80, 50:80] = 1
    return region.expand(2, -1, -1, -1)


def test_a_soft_mask_never_leaves_its_region():
    mask = softened(codes(), 0.0, torch.Generator().manual_seed(0))
    assert mask[codes() == 0].max() == 0
    assert mask[0, 0, 50, 40] == 1
    assert mask[0, 0, 70, 65] == 1
    assert 0 < mask[0, 0, 30, 60] < 1


def test_a_mask_of_skin_alone_leaves_lips_and_eyes_out():
    mask = softened(codes(), 1.0, torch.Generator().manual_seed(0))
    assert mask[0, 0, 70, 65] == 0
    assert mask[0, 0, 50, 40] == 1


def test_a_mask_comes_down_to_zero_at_the_chips_border():
    mask = softened(torch.full((1, 1, 64, 64), 2.0), 0.0, torch.Generator().manual_seed(0))[0, 0]
    assert max(mask[0].max(), mask[-1].max(), mask[:, 0].max(), mask[:, -1].max()) == 0
    assert mask[32, 32] == 1
