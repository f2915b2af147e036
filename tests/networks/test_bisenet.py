import pytest
import torch

from gslopes.networks.bisenet import BiSeNet, BiSeNetConfig


@pytest.mark.parametrize("size", [32, 64])
def test_every_pixel_gets_a_logit_for_every_class(size):
    network = BiSeNet(BiSeNetConfig(classes=19, width=16, context=(8, 8, 16, 16))).eval()
    assert network(torch.rand(1, 3, size, size)).shape == (1, 19, size, size)


def test_both_paths_are_trained():
    network = BiSeNet(BiSeNetConfig(classes=4, width=16, context=(8, 8, 16, 16)))
    network(torch.rand(2, 3, 32, 32)).square().mean().backward()
    silent = [name for name, p in network.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    # A bias right before a batch norm would have no gradient; no convolution here has one there.
    assert silent == []
