"""Each attribute's coefficient is what it alone changes, in log-odds of luminance and logarithms of colour."""

import numpy as np
import pytest
import torch
from skimage.data import astronaut

from gslopes.core.errors import ConfigError
from gslopes.core.geometry import warp
from gslopes.core.levels import LUMA, OFFSET
from gslopes.edit.face_shape import FaceShape
from gslopes.edit.landmarks import COUNT, mirrored
from gslopes.edit.template import CEILING
from gslopes.find.align import choose
from gslopes.networks.mtcnn import Mtcnn
from gslopes.train import regression
from gslopes.zoo.reader import face_window

WEIGHT = torch.tensor(LUMA)[:, None, None]
FACES = 64
MEAN = 24 + 80 * torch.rand(COUNT, 2, generator=torch.Generator().manual_seed(1))


@pytest.fixture(scope="module")
def chip() -> np.ndarray:
    """A real face, (128, 128, 3)."""
    photo = astronaut()
    return warp(photo, choose(Mtcnn(32)([photo])[0], 512, 512, 32).matrix, 128)


def changed(chip: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The chip with the first attribute's lightness below the eyes and the second's red above them."""
    x = torch.from_numpy(chip).permute(2, 0, 1).float() / 255
    light = (x * WEIGHT).sum(0).clamp(0.02, CEILING - 0.01)
    below = (torch.arange(128) > 64).float()[:, None]
    out = []
    for first, second in labels:
        moved = CEILING * torch.sigmoid((light / (CEILING - light)).log() + 0.3 * first * below)
        logs = ((255 * moved + OFFSET) / (255 * light + OFFSET)).log().expand(3, -1, -1).clone()
        logs[0] += 0.1 * second * (1 - below)
        picture = ((255 * x + OFFSET).log() + logs).exp() - OFFSET
        out.append(picture.clamp(0, 255).round().byte().permute(1, 2, 0).numpy())
    return np.stack(out)


def test_a_coefficient_is_what_its_attribute_alone_changes_though_both_come_together(chip, monkeypatch):
    monkeypatch.setattr(regression, "RIDGE", 1e-6)
    rng = np.random.default_rng(0)
    first = np.sign(rng.normal(size=FACES))
    second = np.where(rng.random(FACES) < 0.8, first, -first)  # comparing the ends of one would show both
    labels = np.stack([first, second], 1).astype(np.float32)
    shape, offsets, regions = regression.shape_and_regions(chip[None])
    same = offsets.expand(FACES, -1, -1), regions.expand(FACES, -1, -1)  # the parser sees the changes too
    maps = regression.coefficients(changed(chip, labels), labels, np.ones(FACES), shape, *same)
    assert maps.shape == (2, 3, 128, 128)
    torch.testing.assert_close(maps, maps.flip(3), atol=1e-3, rtol=0)
    form = (maps * WEIGHT).sum(1)
    colour = maps - form[:, None]
    cheeks, forehead = (slice(80, 90), slice(52, 76)), (slice(30, 40), slice(52, 76))
    assert form[0][cheeks].mean().item() == pytest.approx(0.3, abs=0.03)
    assert form[0][forehead].mean().item() == pytest.approx(0, abs=0.03)
    assert colour[0][:, *forehead].abs().mean().item() < 0.02
    red = colour[1][:, *forehead].mean((1, 2))
    assert (red[0] - red[1]).item() == pytest.approx(0.1, abs=0.02)
    assert form[1][cheeks].mean().item() == pytest.approx(0, abs=0.03)


def test_faces_of_other_shapes_are_compared_in_the_mean_shape(chip, monkeypatch):
    monkeypatch.setattr(regression, "RIDGE", 1e-6)
    random = torch.Generator().manual_seed(0)
    mean = 24 + 80 * torch.rand(COUNT, 2, generator=random)
    shape = FaceShape((mean + mirrored(mean)) / 2, 9 * torch.eye(2 * COUNT))
    offsets = 2.5 * torch.randn(FACES, COUNT, 2, generator=random)
    labels = np.sign(np.random.default_rng(0).normal(size=(FACES, 1))).astype(np.float32)
    pixels = torch.from_numpy(changed(chip, np.pad(labels, ((0, 0), (0, 1))))).permute(0, 3, 1, 2).float()
    moved = torch.cat([shape.to_faces(one, offset[None]) for one, offset in zip(pixels, offsets, strict=True)])
    moved = moved.round().byte().permute(0, 2, 3, 1).numpy()
    everywhere = torch.full((FACES, 128, 128), 255, dtype=torch.uint8)
    blurred, sharp = (
        (regression.coefficients(moved, labels, np.ones(FACES), shape, given, everywhere)[0] * WEIGHT).sum(0)
        for given in (torch.zeros_like(offsets), offsets)
    )
    true = 0.3 * (torch.arange(128) > 64).float()[:, None]
    inner = slice(20, 108)
    error = [(one - true)[inner, inner].abs().mean().item() for one in (blurred, sharp)]
    assert error[1] < 0.4 * error[0]


def test_a_motion_is_what_its_attribute_alone_moves_alike_on_both_sides():
    rng = np.random.default_rng(0)
    first = np.sign(rng.normal(size=600))
    second = np.where(rng.random(600) < 0.8, first, -first)
    labels = np.stack([first, second], 1).astype(np.float32)
    shape = FaceShape((MEAN + mirrored(MEAN)) / 2, 9 * torch.eye(2 * COUNT))
    true = torch.from_numpy(rng.normal(0, 0.5, (2, COUNT, 2)).astype(np.float32))
    true = (true + torch.stack([shape.mirrored(one[None])[0] for one in true])) / 2
    noise = torch.from_numpy(rng.normal(0, 0.3, (600, COUNT, 2)).astype(np.float32))
    offsets = torch.einsum("na,alc->nlc", torch.from_numpy(labels), true) + 1.5 + noise
    offsets[..., 0] -= 1.5  # what all faces share, alike on both sides, belongs to no attribute
    found = regression.motions(labels, np.ones(600), shape, offsets)
    torch.testing.assert_close(found, true, atol=0.1, rtol=0.05)
    alike = torch.stack([shape.mirrored(one[None])[0] for one in found])
    torch.testing.assert_close(found, alike, atol=1e-4, rtol=0)


def test_a_template_is_the_first_coefficient_and_shares_of_the_lightness_of_others():
    maps = torch.from_numpy(np.random.default_rng(1).normal(0, 0.1, (3, 3, 8, 8)).astype(np.float32))
    names = ("gender", "young", "smiling")
    one = regression.template(maps, names, {"gender": 0.5, "young": 0.2}, colour=0.3)
    light = [(each * WEIGHT).sum(0) for each in maps]
    form, face = 0.5 * light[0] + 0.2 * light[1], face_window(8)
    torch.testing.assert_close((one * WEIGHT).sum(0), form - (form * face).sum() / face.sum())
    torch.testing.assert_close(one - (one * WEIGHT).sum(0), 0.3 * (maps[0] - light[0]))
    limited = regression.template(maps + 9, names, {"gender": 1.0}, colour=0.0, limit=0.25)
    mild = regression.template(maps, names, {"gender": 1.0}, colour=0.0)
    torch.testing.assert_close(limited, 0.25 * (mild / 0.25).tanh())  # the mean goes first
    with pytest.raises(ConfigError, match="share of 'race'"):
        regression.template(maps, names, {"gender": 1.0, "race": 0.1}, colour=1.0)


def test_broad_takes_out_what_varies_slowly_and_leaves_what_does_not():
    side, names = 64, ("race",)
    rows = torch.arange(side) / side
    slow, fine = torch.sin(2 * torch.pi * rows), torch.sin(16 * torch.pi * rows)

    def form_of(rows_of: torch.Tensor, **more: float) -> torch.Tensor:
        maps = rows_of[None, None, :, None].expand(1, 3, side, side)
        return regression.template(maps, names, {"race": 1.0}, 0.0, **more)[0]

    def share_that_stays(rows_of: torch.Tensor) -> float:
        whole, part = (form_of(rows_of, broad=broad)[16:48] for broad in (1.0, 0.3))
        return ((part * whole).sum() / (whole * whole).sum()).item()

    assert share_that_stays(slow) < 0.4
    assert share_that_stays(fine) > 0.9
    torch.testing.assert_close(form_of(slow, broad=1.0), form_of(slow))


def test_appearance_has_log_odds_of_luminance_and_colour_apart():
    chips = torch.tensor([0.5, 0.3, 0.2])[None, :, None, None].expand(1, 3, 2, 2)
    found = regression.appearance(chips)
    light = float((chips * WEIGHT).sum(1)[0, 0, 0])
    np.testing.assert_allclose((found * WEIGHT).sum(1), np.log(light / (CEILING - light)), rtol=1e-5)
    logs = (255 * chips + OFFSET).log()
    torch.testing.assert_close((found[:, 0] - found[:, 2]), logs[:, 0] - logs[:, 2])
