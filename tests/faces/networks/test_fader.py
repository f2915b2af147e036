import pytest
import torch
from torch.nn import functional as F

from gslopes.faces.networks.fader import Fader, FaderConfig, FoldedFader, Up
from training.critics import LatentCritic


@pytest.fixture
def fader() -> Fader:
    torch.manual_seed(0)
    return Fader(FaderConfig(("gender", "young"), size=32, widths=(8, 16, 24)))


def test_every_layer_of_the_decoder_is_conditioned_on_the_attributes(fader):
    fader.eval()
    attributes = torch.zeros(2, 2, requires_grad=True)
    x = fader.encode(torch.rand(2, 3, 32, 32)).detach()
    for layer in fader.decoder:
        x = layer(x, attributes).detach()
        assert torch.autograd.grad(
            layer(torch.rand_like(layer_input(layer, x)), attributes).sum(), attributes
        )[0].any()
    assert fader.rgb_condition_bias.weight.shape == (3, 2)


def layer_input(layer, output):
    return torch.empty(
        len(output), layer.conv.in_channels, output.shape[2] // 2, output.shape[3] // 2
    )


def test_a_layer_is_nearest_upsampling_and_a_convolution():
    layer = Up(5, 4, conditions=2).eval()
    x, attributes = torch.rand(2, 5, 6, 7), torch.rand(2, 2)
    plain = (
        layer.conv(F.interpolate(x, scale_factor=2, mode="nearest"))
        + layer.condition_bias(attributes)[:, :, None, None]
    )
    torch.testing.assert_close(layer(x, attributes), F.relu(layer.norm(plain)))


@pytest.mark.row("slopes-3.3-adversary")
def test_the_adversarial_term_reaches_the_encoder_alone(fader):
    critic = LatentCritic(24, 4, attributes=2, widths=(16, 8))
    logits = critic(fader.encode(torch.rand(4, 3, 32, 32)))
    F.binary_cross_entropy_with_logits(logits, torch.ones(4, 2)).backward()
    gradients = [parameter.grad for parameter in fader.encoder.parameters()]
    assert all(
        g is not None and g.abs().sum() > 0 for g in gradients
    )  # a detached latent would train nothing
    assert all(parameter.grad is None for parameter in fader.decoder.parameters())


def test_a_narrow_latent_has_unit_scale_and_the_asked_channels():
    torch.manual_seed(0)
    narrow = Fader(FaderConfig(("gender",), size=32, widths=(8, 16, 24), latent=6)).train()
    latents = narrow.encode(torch.randn(64, 3, 32, 32))
    assert latents.shape == (64, 6, 4, 4)
    torch.testing.assert_close(
        latents.var((0, 2, 3), correction=0), torch.ones(6), atol=1e-3, rtol=0
    )


# --- The folded network is the plain one: encode, then decode value by value ------------------------------------------


def plain(network: Fader, chips: torch.Tensor, conditions: torch.Tensor) -> torch.Tensor:
    latents = network.encode(chips)
    return torch.stack(
        [network.decode(latents, conditions[:, k]) for k in range(conditions.shape[1])], 1
    ).flatten(0, 1)


@pytest.mark.parametrize("latent", [None, 6])
@torch.inference_mode()
def test_norms_of_any_statistics_are_folded(latent):
    torch.manual_seed(1)
    network = Fader(
        FaderConfig(("gender", "young"), size=32, widths=(4, 8, 16), latent=latent)
    ).eval()
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
        folded.sweep(folded.encode(chips), conditions),
        plain(network, chips, conditions),
        atol=1e-5,
        rtol=0,
    )
