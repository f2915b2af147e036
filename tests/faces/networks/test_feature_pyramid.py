import pytest
import torch

from gslopes.faces.networks.feature_pyramid import FeaturePyramid, FeaturePyramidConfig

SMALL = FeaturePyramidConfig(classes=4, widths=(8, 8, 8, 8))


@pytest.mark.parametrize("size", [32, 64])
def test_every_pixel_gets_a_logit_for_every_class(size):
    network = FeaturePyramid(FeaturePyramidConfig(classes=19)).eval()
    assert network(torch.rand(1, 3, size, size)).shape == (1, 19, size, size)


def test_every_level_is_trained():
    network = FeaturePyramid(SMALL)
    network(torch.rand(2, 3, 32, 32)).square().mean().backward()
    silent = [name for name, p in network.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    # A bias right before a batch norm would have no gradient; no convolution here has one there.
    assert silent == []


def test_a_pixel_s_class_depends_on_far_pixels_too():
    torch.manual_seed(0)
    network = FeaturePyramid(SMALL).eval()
    chips = torch.rand(1, 3, 64, 64)
    other = chips.clone()
    other[..., 48:, 48:] = 0
    with torch.inference_mode():
        change = (network(chips) - network(other)).abs().sum(1)[0]
    assert change[0, 0] > 0
