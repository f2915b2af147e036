from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional as F

from gslopes.ask.croppers.fastgaze import PROGRAM_MEANS, FastGaze
from gslopes.ask.croppers.vxm import CONVOLUTION, POOL, SMOOTH, Layer


def layers():
    generator = np.random.default_rng(0)
    return [
        Layer(CONVOLUTION, generator.normal(size=(4, 3, 3, 3)).astype("f4"), generator.normal(size=4).astype("f4")),
        Layer(POOL),
        Layer(CONVOLUTION, generator.normal(size=(1, 4, 1, 1)).astype("f4"), np.zeros(1, "f4"), alpha=0.25),
        Layer(SMOOTH, size=19, sigma=3),
    ]


def test_shapes_are_rounded_up():
    assert FastGaze(layers())(torch.zeros(2, 3, 17, 33)).shape == (2, 9, 17)


def test_the_steps_are_those_that_the_program_takes():
    x = torch.rand(1, 3, 8, 6) * 255
    first, _, second, _ = layers()
    weight, bias, last = (torch.as_tensor(values) for values in (first.weight, first.bias, second.weight))
    by_hand = F.relu(F.conv2d(x - torch.tensor(PROGRAM_MEANS).reshape(1, 3, 1, 1), weight, bias, padding=1))
    by_hand = F.conv2d(F.max_pool2d(by_hand, 2, ceil_mode=True), last)
    by_hand = torch.where(by_hand < 0, second.alpha * by_hand, by_hand)
    torch.testing.assert_close(FastGaze(layers())(x), by_hand[:, 0])


def test_the_smoothing_layer_is_read_and_not_applied_unless_asked():
    """No 16."""
    x = torch.rand(1, 3, 64, 64) * 255
    plain, smooth = FastGaze(layers())(x), FastGaze(layers(), smooth=True)(x)
    assert smooth.shape == plain.shape
    assert smooth[:, 10:-10, 10:-10].std() < plain[:, 10:-10, 10:-10].std()


def test_means_have_an_order():
    """The program subtracts the means of B, G, R from R, G, B."""
    x = torch.rand(1, 3, 8, 8) * 255
    assert not torch.equal(FastGaze(layers())(x), FastGaze(layers(), PROGRAM_MEANS[::-1])(x))


def test_nothing_is_global():
    network = FastGaze(layers()[:3])
    x = torch.rand(1, 3, 32, 64) * 255
    other = x.clone()
    other[..., 40:] = 0
    torch.testing.assert_close(network(x)[..., :19], network(other)[..., :19])
