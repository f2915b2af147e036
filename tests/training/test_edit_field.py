"""The loop of edit fields: what the terms of its loss measure, and that a stopped run goes on as if never stopped."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from gslopes.core.geometry import warp
from gslopes.faces import zoo
from gslopes.faces.compose.paste import compose
from gslopes.faces.find import choose
from gslopes.faces.networks.mtcnn import Mtcnn
from gslopes.slopes.demo import astronaut
from tests.training.test_field_editor import sweep
from tests.training.test_loops import stopped_at_a_save
from training import critics, drawn as rendered, edit_field, masks as masks_of
from training.edit_field import (
    Optimisation,
    as_critic_sees,
    composite,
    inner_face,
    train_edit_field,
)
from training.field_editor import FieldEditor
from training.sets import drawn_chips

SPEC = zoo.ModelSpec(
    name="small", network="edit-field", summary="", licence="", data=(), paper="", recipe="", size=128,
    labels=("gender", "young"), ends=("feminine", "masculine"), blend="ratio", config={"widths": [8, 8, 8, 16, 16]},
)  # fmt: skip


@pytest.fixture(scope="module")
def training() -> tuple[np.ndarray, np.ndarray]:
    """32 drawn faces of both ends, (32, 128, 128, 3) and (32, 2)."""
    faces = rendered.sample(32, seed=5)
    ends = np.where(np.arange(32) % 2, 1.0, -1.0).astype(np.float32)
    return drawn_chips(faces.replace(gender=ends), 128), np.stack(
        [ends, np.zeros(32, np.float32)], 1
    )


def run(training, folder, steps):
    folder.mkdir(exist_ok=True)
    length = Optimisation(steps=steps, batch=4, warm=1)
    pixels, labels = training
    return train_edit_field(
        SPEC,
        pixels,
        labels,
        np.ones(len(pixels)),
        folder,
        optimisation=length,
        report_every=1,
        save_every=2,
    )


@pytest.mark.slow
def test_a_run_stopped_half_way_ends_in_the_same_weights(training, tmp_path, monkeypatch):
    undisturbed = run(training, tmp_path / "whole", 4)

    with stopped_at_a_save(monkeypatch):
        run(training, tmp_path / "halved", 4)
    halved = run(training, tmp_path / "halved", 4)
    assert all(torch.equal(undisturbed[key], halved[key]) for key in undisturbed)
    rows = [
        json.loads(line) for line in (tmp_path / "halved" / "log.jsonl").read_text().splitlines()
    ]
    assert [row["step"] for row in rows] == [1, 2, 3, 4]
    assert "leak" not in rows[0]  # at first only the critic learns
    assert {"leak", "size", "rim", "rough", "broad", "moved", "fold"} <= set(rows[1])


def test_training_goes_on_from_an_edit_field_with_all_of_its_weights(training, tmp_path):
    teacher = FieldEditor("gender-teacher")
    pixels, labels = training[0][:4], np.repeat(training[1][:4, :1], 3, 1)
    state = train_edit_field(
        teacher.spec,
        pixels,
        labels,
        np.ones(4),
        tmp_path,
        optimisation=Optimisation(steps=1, batch=2, warm=2),
        begin_with="gender-teacher",
    )
    before = teacher.network.state_dict()
    assert all(torch.equal(state[name], before[name]) for name in before)


def test_one_label_is_turned_round_and_the_edited_one_twice_as_often():
    labels = torch.tensor([[1.0, -0.5, 0.25]]).repeat(3000, 1)
    false, certainty = critics.false_label(labels, torch.Generator().manual_seed(0))
    turned = false != labels
    assert (turned.sum(1) == 1).all()
    torch.testing.assert_close(
        turned.float().mean(0), torch.tensor([0.5, 0.25, 0.25]), atol=0.04, rtol=0
    )
    torch.testing.assert_close(certainty, (labels.abs() * turned).sum(1))


def test_what_must_be_preserved_is_read_before_and_after(training):
    preserved = edit_field.Preserved("gender", "cpu")
    x = torch.from_numpy(training[0][:8]).permute(0, 3, 1, 2).float() / 255
    labels = torch.from_numpy(training[1][:8])
    assert preserved.change(x, x, labels) == 0
    assert preserved.change(x, (0.5 * x).requires_grad_(), labels) > 0
    blurred_chin = x.clone()
    blurred_chin[:, :, 90:] *= 0.5
    with_beard = edit_field.Preserved("gender", "cpu", beard=1.0)
    assert with_beard.change(x, blurred_chin, labels) > preserved.change(x, blurred_chin, labels)


def test_what_is_edited_is_not_among_what_is_held():
    assert all(edited not in preserved for edited, preserved in edit_field.HELD.items())
    assert "young" not in edit_field.HELD["age"]


def test_an_edit_of_age_holds_gender_and_race(training):
    preserved = edit_field.Preserved("age", "cpu")
    x = torch.from_numpy(training[0][:4]).permute(0, 3, 1, 2).float() / 255
    read = preserved.labeller.attributes(x, ("gender",))[:, 0]
    torch.testing.assert_close(preserved.logits(x)[:, 0].sigmoid(), read)


def test_an_edit_of_age_holds_what_else_the_tagger_takes_for_gender(training):
    x = torch.from_numpy(training[0][:4]).permute(0, 3, 1, 2).float() / 255
    of_age, of_race = (edit_field.Preserved(name, "cpu") for name in ("age", "race"))
    labels = [of_age.tagger.spec.labels[tag] for tag in of_age.tags]
    assert labels == list(edit_field.HELD_TAGS["age"])
    assert of_age.logits(x).shape[1] == of_race.logits(x).shape[1] + len(labels)


def test_a_field_at_brows_and_eyes_costs_and_elsewhere_it_does_not(chips, masks):
    brows = masks_of.brow_masks(chips, "cpu")
    assert brows.shape == masks.shape
    share = (brows > 127).float().mean((1, 2, 3))
    assert ((share > 0.01) & (share < 0.15)).all()
    at_brows, mask = brows.float() / 255, masks.float() / 255
    window = edit_field.face_window(128)

    def cost(form: torch.Tensor, where: torch.Tensor) -> float:
        motion = torch.zeros(2, 2, 128, 128)
        costs = edit_field.costs_of(form, motion, mask, where, mask[:1], window, 30.0)
        return float(costs["brows"])

    there, elsewhere = (
        0.1 * (brows > 0) * torch.ones(2, 3, 1, 1),
        0.1 * (brows == 0) * torch.ones(2, 3, 1, 1),
    )
    assert cost(there, at_brows) > 1e-3
    assert cost(elsewhere, at_brows) == 0
    assert cost(there, at_brows[:, :0]) == 0


@pytest.fixture(scope="module")
def chips() -> np.ndarray:
    """The astronaut's chip and its mirror image, (2, 128, 128, 3)."""
    photo = astronaut()
    chip = warp(photo, choose(Mtcnn(32)([photo])[0], 512, 512, 32).matrix, 128)
    return np.stack([chip, chip[:, ::-1]])


@pytest.fixture(scope="module")
def masks(chips) -> torch.Tensor:
    return masks_of.face_masks(chips, "cpu")


def as_floats(chips: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(chips)).permute(0, 3, 1, 2).float() / 255


@pytest.mark.parametrize("name", ["gender-teacher", "race-teacher"])
@pytest.mark.parametrize(("moves", "least"), [(False, 0.25), (True, 0.7)])
def test_a_composite_is_what_the_walk_makes(chips, masks, name, moves, least):
    """Rounding apart, and with a motion what linear interpolation, there cubic, smooths."""
    editor = FieldEditor(name)
    bounds = {
        "darkest": 0,
        "brightest": 0,
        "darkest_by_part": (),
        "brightest_by_part": (),
        "reach": (0.0, 0.0),
    }
    plain = {
        "evenly": 0.4,
        "slow": 1,
        "darker_form": 1,
        "darker_motion": 1,
        "steady_eyes": 0,
        "downward_exponent": 1,
    }
    editor.config = replace(editor.config, **bounds, **plain)  # as training has it
    x, mask, units = as_floats(chips[:1]), masks[:1].float() / 255, torch.full((1, 1), -1.5)
    form, motion = editor.field(x)
    composed = composite(x, mask, form, motion * moves, units, editor.face, editor.config.lightness)
    value = float(editor.photo_values(x)[0, 0])
    swept = sweep(editor, chips[:1], np.array([value - 1.5 / editor.config.downward], np.float32))
    chip = swept.of(0) if moves else replace(swept.of(0), motion=None)
    pixels, identity = np.ascontiguousarray(chips[0]), np.eye(3)[:2]
    walk = compose(
        pixels,
        False,
        chip,
        mask[0, 0].numpy(),
        identity,
        "ratio",
    ).picture(0)
    assert np.abs(walk.astype(float) - pixels).mean() > 0.5
    assert np.abs((255 * composed[0]).permute(1, 2, 0).numpy() - walk).mean() < least


@pytest.mark.parametrize("gray", [False, True])
def test_a_critic_sees_neither_exposure_nor_what_lies_beyond_the_face(chips, masks, gray):
    x, mask, inner = as_floats(chips) * 0.5 + 0.1, masks.float() / 255, inner_face(masks)
    plain = as_critic_sees(x, mask, inner, gray)
    brighter = (x * 255 + 8) * 1.3 / 255 - 8 / 255
    torch.testing.assert_close(
        as_critic_sees(brighter, mask, inner, gray), plain, atol=0.02, rtol=0
    )
    elsewhere = torch.where(inner * mask > 0, x, torch.rand_like(x))
    torch.testing.assert_close(
        as_critic_sees(elsewhere, mask, inner, gray), plain, atol=1e-5, rtol=0
    )
    assert plain.std() > 0.05
    assert plain.shape[1] == (1 if gray else 3)
