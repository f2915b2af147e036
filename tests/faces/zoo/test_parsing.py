"""What a face parser says of each pixel, at its own size."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread

import numpy as np
import pytest
import torch

from gslopes.core.errors import ModelError
from gslopes.faces.zoo import load, parsing
from gslopes.faces.zoo.parsing import class_probabilities, mirrored_classes, probabilities_at_hand

CPU = torch.device("cpu")


def test_probabilities_add_up_over_the_classes_at_the_parsers_own_size():
    parser = load("face-parser")
    pictures = np.random.default_rng(0).integers(0, 256, (2, 64, 64, 3), np.uint8)
    seen = class_probabilities(parser, pictures, CPU)
    assert seen.shape == (2, len(parser.spec.labels), parser.spec.size, parser.spec.size)
    torch.testing.assert_close(seen.sum(1), torch.ones_like(seen[:, 0]))
    alone = class_probabilities(parser, pictures[1:], CPU)
    torch.testing.assert_close(alone[0], seen[1], atol=1e-5, rtol=0)


def test_a_network_that_does_not_give_a_channel_for_each_class_is_an_error():
    parser = load("face-parser")
    fewer = replace(parser, spec=replace(parser.spec, labels=parser.spec.labels[:-1]))
    with pytest.raises(ModelError, match="gives 19 classes, its spec names 18"):
        class_probabilities(fewer, np.zeros((1, 128, 128, 3), np.uint8), CPU)


def test_a_mirrored_picture_is_parsed_as_the_mirror_image():
    parser = load("face-parser")
    assert parser.spec.mirrored
    pictures = np.random.default_rng(1).integers(0, 256, (1, 128, 128, 3), np.uint8)
    seen = class_probabilities(parser, np.concatenate([pictures, pictures[:, :, ::-1]]), CPU)
    there = seen[1].flip(2)[mirrored_classes(parser.spec.labels)]
    torch.testing.assert_close(there, seen[0], atol=1e-5, rtol=0)
    once = class_probabilities(replace(parser, spec=replace(parser.spec, mirrored=False)), pictures, CPU)
    assert (once[0] - seen[0]).abs().max() > 0.01


def test_a_chip_is_parsed_once_for_its_mask_and_its_edit():
    parser, pictures = load("face-parser"), np.random.default_rng(2).integers(0, 256, (5, 128, 128, 3), np.uint8)
    asked = []
    parser.module.register_forward_hook(lambda module, given, out: asked.append(len(out)))
    first = probabilities_at_hand(parser, pictures, CPU)
    assert asked == [5, 5]  # the pictures and their mirror images
    again = probabilities_at_hand(parser, pictures[[3, 1]], CPU)
    assert asked == [5, 5]
    assert torch.equal(again, first[[3, 1]])
    other = pictures.copy()
    other[4, 0, 0, 0] ^= 1
    assert not torch.equal(probabilities_at_hand(parser, other, CPU)[4], first[4])
    assert asked == [5, 5, 1, 1]  # one pixel more or less is another picture
    other_parser = replace(parser, sha256="0" * 64)
    probabilities_at_hand(other_parser, pictures, CPU)
    assert asked[4:] == [5, 5]


@pytest.mark.slow
def test_pictures_that_are_not_at_hand_are_not_kept_for_ever():
    parser, random = load("face-parser"), np.random.default_rng(3)
    for _ in range(3):
        probabilities_at_hand(parser, random.integers(0, 256, (30, 128, 128, 3), np.uint8), CPU)
    assert len(parsing._memory.kept) == parsing.CACHED


@pytest.mark.slow
def test_what_a_thread_has_at_hand_no_other_thread_takes_away():
    parser, random = load("face-parser"), np.random.default_rng(4)
    mine, others = (random.integers(0, 256, (n, 128, 128, 3), np.uint8) for n in (4, parsing.CACHED))
    probabilities_at_hand(parser, mine, CPU)
    thread = Thread(target=probabilities_at_hand, args=(parser, others, CPU))
    thread.start()
    thread.join()
    asked = []
    parser.module.register_forward_hook(lambda module, given, out: asked.append(len(out)))
    probabilities_at_hand(parser, mine, CPU)
    assert not asked
