"""What a face parser says of each pixel, at its own size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from gslopes.faces.zoo import load
from gslopes.faces.zoo.parsing import class_probabilities, mirrored_classes

CPU = torch.device("cpu")


def test_probabilities_add_up_over_the_classes_at_the_parsers_own_size():
    parser = load("face-parser")
    pictures = np.random.default_rng(0).integers(0, 256, (2, 64, 64, 3), np.uint8)
    seen = class_probabilities(parser, pictures, CPU)
    assert seen.shape == (2, len(parser.spec.labels), parser.spec.size, parser.spec.size)
    torch.testing.assert_close(seen.sum(1), torch.ones_like(seen[:, 0]))
    alone = class_probabilities(parser, pictures[1:], CPU)
    torch.testing.assert_close(alone[0], seen[1], atol=1e-5, rtol=0)


def test_a_mirrored_picture_is_parsed_as_the_mirror_image():
    parser = load("face-parser")
    assert parser.spec.mirrored
    pictures = np.random.default_rng(1).integers(0, 256, (1, 128, 128, 3), np.uint8)
    seen = class_probabilities(parser, np.concatenate([pictures, pictures[:, :, ::-1]]), CPU)
    there = seen[1].flip(2)[mirrored_classes(parser.spec.labels)]
    torch.testing.assert_close(there, seen[0], atol=1e-5, rtol=0)
    once = class_probabilities(replace(parser, spec=replace(parser.spec, mirrored=False)), pictures, CPU)
    assert (once[0] - seen[0]).abs().max() > 0.01
