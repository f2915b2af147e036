"""The folded network is the plain one: encode, then decode value by value."""

from __future__ import annotations

import pytest
import torch

from gslopes.faces import zoo
from gslopes.faces.networks.fader import Fader, FaderConfig
from gslopes.faces.networks.folded import FoldedFader


def plain(network: Fader, chips: torch.Tensor, conditions: torch.Tensor) -> torch.Tensor:
    latents = network.encode(chips)
    return torch.stack([network.decode(latents, conditions[:, k]) for k in range(conditions.shape[1])], 1).flatten(0, 1)


@pytest.mark.parametrize("name", ["drawn-confounded", "drawn-fader"])
@torch.inference_mode()
def test_folding_moves_a_trained_editor_by_rounding_alone(name):
    network = zoo.load(name).module
    size, count = network.config.size, len(network.config.attributes)
    torch.manual_seed(0)
    chips, values = torch.rand(3, 3, size, size) * 2 - 1, torch.rand(3, 7, count) * 4 - 2
    folded = FoldedFader(network)
    # 1 / 127.5 of the range is one level of a picture: this is a hundredth of it
    torch.testing.assert_close(
        folded.sweep(folded.encode(chips), values), plain(network, chips, values), atol=8e-5, rtol=0
    )


@pytest.mark.parametrize("latent", [None, 6])
@torch.inference_mode()
def test_norms_of_any_statistics_are_folded(latent):
    torch.manual_seed(1)
    network = Fader(FaderConfig(("gender", "young"), size=32, widths=(4, 8, 16), latent=latent)).eval()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
            if module.affine:
                module.weight.normal_()
                module.bias.normal_()
    chips, conditions = torch.rand(2, 3, 32, 32) * 2 - 1, torch.rand(2, 3, 2) * 2 - 1
    folded = FoldedFader(network)
    torch.testing.assert_close(
        folded.sweep(folded.encode(chips), conditions), plain(network, chips, conditions), atol=1e-5, rtol=0
    )


@torch.inference_mode()
def test_a_latent_is_not_changed_by_being_decoded():
    network = zoo.load("drawn-fader").module
    folded = FoldedFader(network)
    latents = folded.encode(torch.rand(2, 3, network.config.size, network.config.size))
    before = latents.clone()
    folded.sweep(latents, torch.zeros(2, 3, 1))
    assert torch.equal(latents, before)
