from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from gslopes.compose.masks import mask_is_degenerate
from gslopes.compose.skin import ParserMasker, region_classes
from gslopes.core.errors import ConfigError, ModelError, UnknownName
from gslopes.datasets.celebamask import CLASSES
from gslopes.zoo import LoadedModel, ModelSpec

SPEC = ModelSpec(
    name="painted", summary="Reads the class off the colour.", network="bisenet", size=128, labels=CLASSES,
    licence="none", data=(), paper="", recipe="", mean=(0.5, 0.4, 0.3), std=(0.5, 0.25, 0.2),
)  # fmt: skip


class Painted(nn.Module):
    """A parser of pictures whose red channel is 10 times the class, normalised as SPEC says."""

    def forward(self, x: Tensor) -> Tensor:
        red = (x[:, :1] * SPEC.std[0] + SPEC.mean[0]) * 25.5
        classes = torch.arange(19, dtype=x.dtype).view(1, 19, 1, 1)
        return -20 * (red - classes).abs()


class Plain(nn.Module):
    """A parser that takes bright pixels for skin and dark ones for background, at 64 x 64 pixels only."""

    def forward(self, x: Tensor) -> Tensor:
        assert x.shape[2:] == (64, 64)
        skin = x[:, :1] * SPEC.std[0] + SPEC.mean[0]
        others = torch.full_like(x[:, :1], -9).expand(-1, 17, -1, -1)
        return torch.cat([10 - 20 * skin, 20 * skin - 10, others], 1)


PARSER = LoadedModel(Painted().eval(), SPEC, "0" * 64)


def chip(size: int = 128) -> np.ndarray:
    """A face: skin with two eyes, a nose, a mouth, and hair above."""
    y, x = np.mgrid[:size, :size] / size
    classes = np.zeros((size, size), np.uint8)
    classes[np.hypot((x - 0.5) / 0.4, (y - 0.5) / 0.45) < 1] = CLASSES.index("skin")
    classes[np.hypot(x - 0.35, y - 0.4) < 0.07] = CLASSES.index("left eye")
    classes[np.hypot(x - 0.65, y - 0.4) < 0.07] = CLASSES.index("right eye")
    classes[np.hypot(x - 0.5, y - 0.55) < 0.06] = CLASSES.index("nose")
    classes[np.hypot((x - 0.5) / 2, y - 0.72) < 0.05] = CLASSES.index("mouth")
    classes[y < 0.2] = CLASSES.index("hair")
    return np.repeat(classes[..., None] * 10, 3, 2)


def test_the_regions_are_those_of_the_paper_and_of_the_skin_alone() -> None:
    lips_and_eyes = {"mouth", "upper lip", "lower lip", "left eye", "right eye", "left brow", "right brow"}
    assert {CLASSES[index] for index in region_classes("face")} == {"skin", "nose", *lips_and_eyes}
    assert {CLASSES[index] for index in region_classes("skin")} == {"skin", "nose"}


def test_any_classes_make_a_region_by_name_or_number() -> None:
    labels = ("background", "hair", "upper lip", "nose", "eye")
    assert region_classes(["nose", "upper_lip", 1], labels) == (1, 2, 3)
    assert region_classes((4, 5, 4)) == (4, 5)


def test_unknown_regions_and_classes_are_named() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'face'"):
        region_classes("fase")
    with pytest.raises(UnknownName, match="nose"):
        region_classes(["nse"])
    with pytest.raises(ConfigError, match="0 to 18"):
        region_classes([19])
    with pytest.raises(ConfigError, match="at least one"):
        region_classes([])


def test_the_face_is_masked_and_the_hair_is_not() -> None:
    mask = ParserMasker(PARSER, "face", 128, "cpu")([], [], chip()[None])[0]
    assert mask.shape == (128, 128)
    assert mask.dtype == np.float32
    assert mask[64, 64] == mask[51, 45] == mask[92, 64] == 1
    assert mask[:24].max() == 0
    assert mask[120:, :10].max() == 0
    assert mask_is_degenerate(mask) is None


def test_the_skin_leaves_eyes_and_mouth_out() -> None:
    mask = ParserMasker(PARSER, "skin", 128)([], [], chip()[None])[0]
    assert mask[51, 45] == mask[51, 83] == mask[92, 64] == 0
    assert mask[70, 64] == mask[75, 40] == 1


def test_chips_of_another_size_than_the_parsers_are_resized_both_ways() -> None:
    plain = LoadedModel(Plain(), replace(SPEC, size=64), "")
    for size in (48, 64, 200):
        outside = np.isin(chip(size), [0, 10 * CLASSES.index("hair")])
        disc = np.where(outside, np.uint8(0), np.uint8(255))
        mask = ParserMasker(plain, "face", size)([], [], disc[None])
        assert mask.shape == (1, size, size)
        assert mask[0, size // 2, size // 2] > 0.999
        assert mask[0, : size // 8].max() == 0
        assert (mask[0] * (disc[..., 0] == 0)).max() < 0.3


def test_a_mask_does_not_depend_on_its_batch() -> None:
    masker = ParserMasker(PARSER, "face", 128)
    chips = np.stack([chip(), np.roll(chip(), 5, 1), np.zeros_like(chip())])
    together = masker([], [], chips)
    for index in range(3):
        np.testing.assert_allclose(together[index], masker([], [], chips[index : index + 1])[0], atol=1e-6)
    assert together[2].max() == 0


def test_no_chips_give_no_masks() -> None:
    assert ParserMasker(PARSER, "face", 64)([], [], np.zeros((0, 64, 64, 3), np.uint8)).shape == (0, 64, 64)


def test_a_parser_with_other_classes_than_its_spec_is_a_model_error() -> None:
    wrong = LoadedModel(PARSER.module, replace(SPEC, labels=(*CLASSES, "beard")), "")
    with pytest.raises(ModelError, match="19 classes, its spec names 20"):
        ParserMasker(wrong, "face", 128)([], [], chip()[None])
    lacking = LoadedModel(PARSER.module, replace(SPEC, labels=("background", "skin")), "")
    with pytest.raises(UnknownName, match="left brow"):
        ParserMasker(lacking, "face", 64)
