"""The face parser: its encoder against timm's own EfficientNet-Lite0, and what it sees."""

import pytest
import torch

from gslopes.faces import zoo
from gslopes.faces.networks.feature_pyramid import (
    EfficientNetLite,
    FeaturePyramid,
    FeaturePyramidConfig,
)
from gslopes.faces.networks.tagger import folded


@pytest.mark.slow
def test_features_agree_with_timm_s():
    timm = pytest.importorskip("timm", reason="the peer is timm: pip install 'gslopes[timm]'")
    torch.manual_seed(0)
    ours = EfficientNetLite().eval()
    peer = timm.create_model(
        "tf_efficientnet_lite0", features_only=True, out_indices=(0, 1, 2, 3)
    ).eval()
    values = [v for key, v in ours.state_dict().items() if "num_batches" not in key]
    for norm in (v for v in values if v.ndim == 1):
        norm.uniform_(0.5, 1.5)
    names = [key for key in peer.state_dict() if "num_batches" not in key]
    assert [peer.state_dict()[key].shape for key in names[: len(values)]] == [
        v.shape for v in values
    ]
    peer.load_state_dict(dict(zip(names, values, strict=False)), strict=False)
    pictures = torch.rand(2, 3, 64, 64) * 2 - 1
    with torch.inference_mode():
        result, expected = ours(pictures), peer(pictures)
    for ours_at, theirs in zip((result[0], result[1], result[2], result[4]), expected, strict=True):
        torch.testing.assert_close(
            ours_at, theirs, rtol=1e-4, atol=1e-4 * float(theirs.abs().max())
        )


SMALL = FeaturePyramidConfig(classes=4, widths=(8, 8, 8, 8))


def test_every_level_is_trained():
    network = FeaturePyramid(SMALL)
    network(torch.rand(2, 3, 32, 32)).square().mean().backward()
    silent = [
        name
        for name, p in network.named_parameters()
        if p.grad is None or not p.grad.abs().sum() > 0
    ]
    # A bias right before a batch norm would have no gradient; no convolution here has one there.
    assert silent == []


def test_a_pixel_s_class_depends_on_far_pixels_too():
    torch.manual_seed(0)
    network = FeaturePyramid(SMALL).eval()
    chips = torch.rand(1, 3, 64, 64)
    second = chips.clone()
    second[..., 48:, 48:] = 0
    with torch.inference_mode():
        change = (network(chips) - network(second)).abs().sum(1)[0]
    assert change[0, 0] > 0


def test_the_parser_says_the_same_with_its_norms_in_its_convolutions():
    parser = zoo.load("face-parser").module
    lean = folded(parser)
    assert not [layer for layer in lean.modules() if isinstance(layer, torch.nn.BatchNorm2d)]
    chips = torch.rand(2, 3, 128, 128, generator=torch.Generator().manual_seed(0)) * 2 - 1
    with torch.inference_mode():
        torch.testing.assert_close(lean(chips), parser(chips), rtol=0, atol=1e-3)
