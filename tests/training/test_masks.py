"""Masks of training chips: made once, in batches that change nothing."""

import numpy as np
import torch

from training import chips, drawn, masks
from training.sets import drawn_chips


def test_masks_are_made_once_for_each_chip_whatever_run_wants_them(monkeypatch):
    pixels = drawn_chips(drawn.sample(3, seed=5), 128)
    made = masks.kept_masks(pixels, "cpu")
    brows = masks.kept_masks(pixels, "cpu", masks.brow_masks)
    assert not torch.equal(made, brows)
    monkeypatch.setattr(masks, "class_probabilities", None)
    assert torch.equal(masks.kept_masks(pixels[1:], "cpu"), made[1:])
    assert torch.equal(masks.kept_masks(pixels, "cpu", masks.brow_masks), brows)


def test_masks_are_the_same_in_batches_of_any_size(monkeypatch):
    pixels = drawn_chips(drawn.sample(3, seed=5), 128)
    together = masks.face_masks(pixels, "cpu").numpy().astype(int)
    monkeypatch.setattr(masks, "PARSED", {"cpu": 2})
    assert np.abs(masks.face_masks(pixels, "cpu").numpy() - together).max() <= 1
    assert chips.PARSED["cpu"] > 2
