from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from gslopes.core.errors import ModelError, UnknownName
from gslopes.core.geometry import warp
from gslopes.faces.compose.masks import mask_is_degenerate
from gslopes.faces.compose.skin import (
    CLASSES,
    ParserMasker,
    class_probabilities,
    mirrored_classes,
    region_classes,
)
from gslopes.faces.zoo import LoadedModel, ModelSpec, load
from gslopes.faces.zoo.framing import framed

SPEC = ModelSpec(
    name="painted", summary="Reads the class off the colour.", network="feature-pyramid", size=128, labels=CLASSES,
    licence="none", data=(), paper="", recipe="", mean=(0.5, 0.4, 0.3), std=(0.5, 0.25, 0.2),
)  # fmt: skip


class Painted(nn.Module):
    """A parser of pictures whose red channel is 10 times the class, normalised by SPEC."""

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


@pytest.mark.row("slopes-3.3-skin")
def test_the_regions_are_those_of_the_paper_and_of_the_skin_alone() -> None:
    lips_and_eyes = {
        "mouth",
        "upper lip",
        "lower lip",
        "left eye",
        "right eye",
        "left brow",
        "right brow",
    }
    assert {CLASSES[index] for index in region_classes("face")} == {"skin", "nose", *lips_and_eyes}
    assert {CLASSES[index] for index in region_classes("skin")} == {"skin", "nose"}


@pytest.mark.row("slopes-3.1-face")
def test_the_face_is_masked_and_the_hair_is_not() -> None:
    mask = ParserMasker(PARSER, "face", 128, "cpu")([], [], chip()[None])[0]
    assert mask.shape == (128, 128)
    assert mask.dtype == np.float32
    assert mask[64, 64] == mask[51, 45] == mask[92, 64] == 1
    assert mask[:24].max() == 0
    assert mask[120:, :10].max() == 0
    assert mask_is_degenerate(mask) is None


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


def test_a_parser_with_other_classes_than_its_spec_is_a_model_error() -> None:
    wrong = LoadedModel(PARSER.module, replace(SPEC, labels=(*CLASSES, "beard")), "")
    with pytest.raises(ModelError, match="19 classes, its spec names 20"):
        ParserMasker(wrong, "face", 128)([], [], chip()[None])
    lacking = LoadedModel(PARSER.module, replace(SPEC, labels=("background", "skin")), "")
    with pytest.raises(UnknownName, match="left eye"):
        ParserMasker(lacking, "face", 64)


def test_beyond_the_photo_a_head_is_ringed_by_a_blur_and_not_by_faces() -> None:
    y, x = np.mgrid[:100, :100]
    checks = np.repeat((((x // 10 + y // 10) % 2) * 200).astype(np.uint8)[..., None], 3, 2)
    inside = framed(checks, np.array([(2.0, 0, 0), (0, 2, 0)]), 200)
    assert (inside == warp(checks, np.array([(2.0, 0, 0), (0, 2, 0)]), 200)).mean() > 0.99
    wide = framed(checks, np.array([(1.0, 0, 50), (0, 1, 50)]), 200)
    assert (wide[50:150, 50:150] == checks).all()
    assert wide[:35].std() < 15 < checks.std() / 4
    assert abs(wide[:35].mean() - checks.mean()) < 15


def test_a_parser_is_asked_about_a_few_pictures_at_a_time_and_once_for_all_their_masks(
    monkeypatch,
) -> None:
    monkeypatch.setattr("gslopes.faces.compose.skin.BATCH_SIZE", 2 * 128**2)
    network, questions = Painted(), []
    network.register_forward_hook(lambda module, given, out: questions.append(len(out)))
    masker, chips = (
        ParserMasker(LoadedModel(network, SPEC, ""), "skin", 128),
        np.repeat(chip()[None], 5, 0),
    )
    masks = masker([], [], chips)
    assert all((mask == masks[0]).all() for mask in masks)
    assert masks[0].max() == 1
    np.testing.assert_array_equal(masker([], [], chips, 14.0), masks)
    assert questions == [2, 2, 1]
    assert masker([], [], 0 * chips).max() == 0
    assert questions == [2, 2, 1] * 2


# --- The shipped parser's answers ---


def test_probabilities_add_up_over_the_classes_at_the_parsers_own_size():
    parser = load("face-parser")
    pictures = np.random.default_rng(0).integers(0, 256, (2, 64, 64, 3), np.uint8)
    recorded = class_probabilities(parser, pictures, torch.device("cpu"))
    assert recorded.shape == (2, len(parser.spec.labels), parser.spec.size, parser.spec.size)
    torch.testing.assert_close(recorded.sum(1), torch.ones_like(recorded[:, 0]))
    alone = class_probabilities(parser, pictures[1:], torch.device("cpu"))
    torch.testing.assert_close(alone[0], recorded[1], atol=1e-5, rtol=0)


def test_a_mirrored_picture_is_parsed_as_the_mirror_image():
    parser = load("face-parser")
    assert parser.spec.mirrored
    pictures = np.random.default_rng(1).integers(0, 256, (1, 128, 128, 3), np.uint8)
    recorded = class_probabilities(
        parser, np.concatenate([pictures, pictures[:, :, ::-1]]), torch.device("cpu")
    )
    present = recorded[1].flip(2)[mirrored_classes(parser.spec.labels)]
    torch.testing.assert_close(present, recorded[0], atol=1e-5, rtol=0)
    once = class_probabilities(
        replace(parser, spec=replace(parser.spec, mirrored=False)), pictures, torch.device("cpu")
    )
    assert (once[0] - recorded[0]).abs().max() > 0.01
