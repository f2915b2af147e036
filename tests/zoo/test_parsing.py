"""What a face parser says of each pixel, at its own size, and a network of another number of classes."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gslopes.core.errors import ModelError
from gslopes.zoo import load
from gslopes.zoo.parsing import class_probabilities, resized

CPU = torch.device("cpu")


def test_probabilities_add_up_over_the_classes_at_the_parsers_own_size():
    parser = load("parser")
    pictures = np.random.default_rng(0).integers(0, 256, (2, 64, 64, 3), np.uint8)
    seen = class_probabilities(parser, pictures, CPU)
    assert seen.shape == (2, len(parser.spec.labels), parser.spec.size, parser.spec.size)
    torch.testing.assert_close(seen.sum(1), torch.ones_like(seen[:, 0]))
    alone = class_probabilities(parser, pictures[1:], CPU)
    torch.testing.assert_close(alone[0], seen[1], atol=1e-5, rtol=0)


def test_a_network_that_does_not_give_a_channel_for_each_class_is_an_error():
    parser = load("parser")
    fewer = replace(parser, spec=replace(parser.spec, labels=parser.spec.labels[:-1]))
    with pytest.raises(ModelError, match="gives 19 classes, its spec names 18"):
        class_probabilities(fewer, np.zeros((1, 128, 128, 3), np.uint8), CPU)


def test_pictures_of_the_right_size_stay_as_they_are():
    pictures = torch.rand(1, 3, 8, 8)
    assert resized(pictures, 8) is pictures
    assert resized(pictures, 4).shape == (1, 3, 4, 4)
