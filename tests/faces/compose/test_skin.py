from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from gslopes.core.errors import ConfigError, ModelError, UnknownName
from gslopes.core.geometry import warp
from gslopes.core.records import Face, Photo
from gslopes.faces.compose.masks import mask_is_degenerate
from gslopes.faces.compose.skin import ParserMasker, framed, region_classes
from gslopes.faces.zoo import LoadedModel, ModelSpec
from gslopes.faces.zoo.framing import CHIP, FRAMES
from gslopes.faces.zoo.parsing import CLASSES

SPEC = ModelSpec(
    name="painted", summary="Reads the class off the colour.", network="feature-pyramid", size=128, labels=CLASSES,
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
    with pytest.raises(UnknownName, match="left eye"):
        ParserMasker(lacking, "face", 64)


# --- Parsers of whole heads ---


class Recorder(Painted):
    """Painted, and it keeps what it was shown."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        self.seen.append(x)
        return super().forward(x)


def head(turn: float = 0.0, scale: float = 3.0) -> tuple[Photo, Face]:
    """A photo of 500 x 600 pixels that is painted as the chip is, with hair above it, and its face.

    turn: degrees.  scale: photo pixels for each of the chip's.
    """
    a = np.deg2rad(turn)
    there = np.array([(np.cos(a), -np.sin(a)), (np.sin(a), np.cos(a))]) * scale  # chip to photo
    shift = np.array([250.0, 320.0]) - there @ np.array([63.5, 63.5])
    matrix = np.concatenate([np.linalg.inv(there), -np.linalg.inv(there) @ shift[:, None]], 1)
    y, x = np.mgrid[:600, :500].astype(np.float64)
    u, v = (np.stack([x, y, np.ones_like(x)], -1) @ matrix.T).transpose(2, 0, 1)
    painted = chip(512)[..., 0][np.clip(4 * v, 0, 511).astype(int), np.clip(4 * u, 0, 511).astype(int)]
    outside = (v >= 128) | (u < 0) | (u >= 128)
    painted = np.where(v < 0, CLASSES.index("hair") * 10, np.where(outside, 0, painted)).astype(np.uint8)
    nothing = np.zeros(4, np.float32)
    face = Face(nothing, np.zeros((5, 2), np.float32), 1.0, 1, matrix)
    return Photo("0" * 64, Path("head.png"), np.repeat(painted[..., None], 3, 2)), face


HEADS = replace(SPEC, size=256, crop="headshot")


@pytest.mark.parametrize(("turn", "scale"), [(0, 3), (25, 1.5), (-40, 0.6)])
def test_a_parser_of_whole_heads_gives_the_mask_that_a_parser_of_chips_gives(turn: float, scale: float) -> None:
    photo, face = head(turn, scale)
    chips = warp(photo.pixels, face.matrix, 128)[None]
    mask = ParserMasker(LoadedModel(Painted(), HEADS, ""), "face", 128)([photo], [face], chips)[0]
    wanted = ParserMasker(PARSER, "face", 128)([], [], chip()[None])[0]
    assert mask.shape == (128, 128)
    assert np.abs(mask - wanted).mean() < (0.02 if scale > 1 else 0.05)
    assert ((mask > 0.5) & (wanted > 0.5)).sum() / ((mask > 0.5) | (wanted > 0.5)).sum() > (0.97 if scale > 1 else 0.9)


def test_a_parser_of_whole_heads_sees_the_hair_and_the_neck_with_the_face_where_it_was_in_training() -> None:
    photo, face = head()
    network = Recorder()
    masker = ParserMasker(LoadedModel(network, HEADS, ""), "face", 128)
    assert masker.frame is not None
    masker([photo], [face], chip()[None])
    (seen,) = network.seen
    assert seen.shape == (1, 3, 256, 256)
    red = ((seen[0, 0] * SPEC.std[0] + SPEC.mean[0]) * 25.5).round().numpy()
    assert (red[40, 60:200] == CLASSES.index("hair")).all()
    for name, place in (("left eye", (0.35, 0.4)), ("nose", (0.5, 0.55)), ("mouth", (0.5, 0.72))):
        x, y = np.rint(masker.frame @ (128 * place[0] - 0.5, 128 * place[1] - 0.5, 1)).astype(int)
        assert red[y, x] == CLASSES.index(name)
    points = (CHIP * 128 - 0.5) @ masker.frame[:, :2].T + masker.frame[:, 2]
    assert np.abs((points + 0.5) / 256 - FRAMES["headshot"]).max() < 0.02


def test_beyond_the_photo_a_head_is_ringed_by_a_blur_and_not_by_faces() -> None:
    y, x = np.mgrid[:100, :100]
    checks = np.repeat((((x // 10 + y // 10) % 2) * 200).astype(np.uint8)[..., None], 3, 2)
    inside = framed(checks, np.array([(2.0, 0, 0), (0, 2, 0)]), 200)
    assert (inside == warp(checks, np.array([(2.0, 0, 0), (0, 2, 0)]), 200)).mean() > 0.99
    wide = framed(checks, np.array([(1.0, 0, 50), (0, 1, 50)]), 200)
    assert (wide[50:150, 50:150] == checks).all()
    assert wide[:35].std() < 15 < checks.std() / 4
    assert abs(wide[:35].mean() - checks.mean()) < 15


def test_a_parser_is_asked_about_a_few_pictures_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    photo, face = head()
    monkeypatch.setattr("gslopes.faces.compose.skin.BATCH_SIZE", 2 * 256**2)
    network = Recorder()
    masker = ParserMasker(LoadedModel(network, HEADS, ""), "skin", 128)
    chips = np.repeat(chip()[None], 5, 0)
    masks = masker([photo] * 5, [face] * 5, chips)
    assert [len(seen) for seen in network.seen] == [2, 2, 1]
    assert all((mask == masks[0]).all() for mask in masks)
    assert masks[0].max() == 1
