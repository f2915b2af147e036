"""Masks of training chips: made once, in batches that change nothing."""

import numpy as np
import torch

from training import drawn, masks
from training.sets import drawn_chips


def test_masks_are_made_once_and_then_read_from_the_run(tmp_path, monkeypatch):
    chips = drawn_chips(drawn.sample(2, seed=5), 128)
    made = masks.kept_masks(chips, tmp_path, "cpu")
    monkeypatch.setattr(masks, "_classes", None)
    assert torch.equal(masks.kept_masks(chips, tmp_path, "cpu"), made)


def test_masks_are_the_same_in_batches_of_any_size(monkeypatch):
    chips = drawn_chips(drawn.sample(3, seed=5), 128)
    together = masks.face_masks(chips, "cpu").numpy().astype(int)
    monkeypatch.setattr(masks, "BATCH", {"cpu": 2})
    assert np.abs(masks.face_masks(chips, "cpu").numpy() - together).max() <= 1
