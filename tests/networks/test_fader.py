import pytest
import torch
from torch.nn import functional as F

from gslopes.networks.critics import LatentCritic, PatchCritic
from gslopes.networks.fader import Fader, FaderConfig, Up


@pytest.fixture
def fader() -> Fader:
    torch.manual_seed(0)
    return Fader(FaderConfig(("gender", "young"), size=32, widths=(8, 16, 24)))


def test_decoding_gives_chips_of_the_same_shape_within_the_range(fader):
    latents, decoded = fader(torch.rand(2, 3, 32, 32), torch.zeros(2, 2))
    assert latents.shape == (2, 24, 4, 4)
    assert decoded.shape == (2, 3, 32, 32)
    assert decoded.abs().max() <= 1


def test_every_layer_of_the_decoder_hears_the_attributes(fader):
    fader.eval()
    attributes = torch.zeros(2, 2, requires_grad=True)
    x = fader.encode(torch.rand(2, 3, 32, 32)).detach()
    for layer in fader.decoder:
        x = layer(x, attributes).detach()
        assert torch.autograd.grad(layer(torch.rand_like(layer_input(layer, x)), attributes).sum(), attributes)[0].any()
    assert fader.told_rgb.weight.shape == (3, 2)


def layer_input(layer, output):
    return torch.empty(len(output), layer.conv.in_channels, output.shape[2] // 2, output.shape[3] // 2)


def test_a_layer_is_nearest_upsampling_and_a_convolution():
    layer = Up(5, 4, told=2).eval()
    x, attributes = torch.rand(2, 5, 6, 7), torch.rand(2, 2)
    plain = layer.conv(F.interpolate(x, scale_factor=2, mode="nearest")) + layer.told(attributes)[:, :, None, None]
    torch.testing.assert_close(layer(x, attributes), F.relu(layer.norm(plain)))


def test_each_attribute_changes_the_picture_by_itself(fader):
    fader.eval()
    latents = fader.encode(torch.rand(1, 3, 32, 32))
    pictures = [fader.decode(latents, torch.tensor([a])) for a in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))]
    assert not torch.allclose(pictures[0], pictures[1])
    assert not torch.allclose(pictures[0], pictures[2])
    assert not torch.allclose(pictures[1], pictures[2])


def test_the_adversarial_term_reaches_the_encoder(fader):
    # A detached latent would train nothing and say nothing.
    critic = LatentCritic(24, 4, attributes=2, width=16)
    logits = critic(fader.encode(torch.rand(4, 3, 32, 32)))
    F.binary_cross_entropy_with_logits(logits, torch.ones(4, 2)).backward()
    gradients = [parameter.grad for parameter in fader.encoder.parameters()]
    assert all(g is not None and g.abs().sum() > 0 for g in gradients)
    assert all(parameter.grad is None for parameter in fader.decoder.parameters())


def test_the_patch_critic_judges_patches():
    assert PatchCritic(8)(torch.rand(2, 3, 64, 64), torch.zeros(2)).shape == (2, 1, 4, 4)


def test_the_patch_critic_hears_which_end_it_should_see():
    critic, chips = PatchCritic(8).eval(), torch.rand(2, 3, 64, 64)
    assert not torch.allclose(critic(chips, torch.ones(2)), critic(chips, -torch.ones(2)))


def test_attributes_beyond_the_chips_decode_the_first_ones_again(fader):
    fader.eval()
    chips, attributes = torch.rand(3, 3, 32, 32), torch.rand(5, 2)
    latents, pictures = fader(chips, attributes)
    assert pictures.shape == (5, 3, 32, 32)
    assert torch.allclose(pictures[3:], fader.decode(latents[:2], attributes[3:]), atol=1e-6)


def test_gain_shortens_every_step_from_the_faces_own_value():
    own = torch.tensor([[1.0, 0.5], [-1.0, 0.2]])
    whole, half = (Fader(FaderConfig(("gender", "young"), 32, gain, (8, 16, 24))) for gain in (1.0, 0.5))
    assert whole.told(own, -2.0).tolist() == [[-2.0, 0.5], [-2.0, pytest.approx(0.2)]]
    assert half.told(own, -2.0)[:, 0].tolist() == [-0.5, -1.5]
    assert torch.equal(half.told(own[:1], 1.0), own[:1])
