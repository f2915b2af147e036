"""Edit fields: a network's output for a face, applied to it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gslopes.core.errors import ModelError
from gslopes.core.geometry import LUMA, OFFSET
from gslopes.core.records import EditedChips, Motion
from gslopes.faces import zoo
from gslopes.faces.zoo.reader import FaceReader
from training.field_editor import FieldEditor, as_template

VALUES = np.array([-2, -1, 0, 1, 2], np.float32)
NAMES = ("gender-teacher", "race-teacher")


@pytest.fixture
def chip(portrait_chip) -> np.ndarray:
    return portrait_chip


@pytest.fixture(scope="module", params=NAMES)
def editor(request) -> FieldEditor:
    return FieldEditor(request.param)


def sweep(editor: FieldEditor, chips: np.ndarray, values: np.ndarray) -> EditedChips:
    """Chips (B, S, S, 3) at values (K,), as an editor gives them."""
    x = as_floats(chips)
    edits, motion, distances = editor.at(x, values.tolist())
    edited = ((255 * x + OFFSET).log()[:, None] + edits).exp().permute(
        0, 1, 3, 4, 2
    ).numpy() - OFFSET
    moving = Motion(motion.permute(0, 2, 3, 1).numpy(), distances.numpy())
    return EditedChips(edited, chips.astype(np.float32), moving)


def as_floats(chips: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(chips).permute(0, 3, 1, 2).float() / 255


def test_at_the_photos_own_value_the_chip_is_as_it_was(editor, chip):
    value = float(editor.photo_values(as_floats(chip))[0, 0])
    swept = sweep(editor, chip, np.array([value], np.float32))
    np.testing.assert_allclose(swept.edited[:, 0], chip, atol=0.01)
    np.testing.assert_array_equal(swept.neutral, chip)
    assert abs(swept.motion.distances[0, 0]) < 1e-5


def test_a_judge_that_shares_no_photo_reads_every_step_in_order(editor, chip):
    edited = np.clip(np.rint(sweep(editor, chip, VALUES).edited[0]), 0, 255).astype(np.uint8)
    reader = FaceReader.load()
    attribute = editor.spec.labels[0]
    read = reader.attributes(as_floats(edited), (attribute,))[:, 0].numpy()
    assert (np.diff(read) > 0).all()
    assert read[-1] - read[0] > 0.1


def test_a_batch_is_its_chips_one_by_one(editor, chip):
    chips = np.concatenate([chip, chip[:, :, ::-1], chip // 2, chip, chip[:, :, ::-1] // 2])
    together = sweep(editor, chips, VALUES)
    for row in range(len(chips)):
        alone = sweep(editor, chips[row : row + 1], VALUES)
        np.testing.assert_allclose(together.edited[row], alone.edited[0], atol=0.05)
        np.testing.assert_allclose(together.motion.of(row).field, alone.motion.field[0], atol=1e-3)


def test_the_first_steps_down_are_shorter_than_the_last_and_the_way_to_the_end_is_as_long(
    chip, monkeypatch
):
    """Whatever the value of a face; the way up is gone evenly."""
    editor = FieldEditor("race-teacher")
    assert editor.config.downward_exponent == 1.3
    values = np.array([-2, -1, -0.5, 0.95, 2], np.float32)
    for at_photo in (0.9, 0.0, -0.4):
        monkeypatch.setattr(
            editor,
            "photo_values",
            lambda chips, at_photo=at_photo: torch.full((len(chips), 4), at_photo),
        )
        ways = {}
        for exponent in (1.0, 1.3):
            editor.config = replace(editor.config, reach=(0.0, 0.0), downward_exponent=exponent)
            ways[exponent] = sweep(editor, chip, values).motion.distances[0]
        down = values < at_photo
        share = (at_photo - values[down]) / (at_photo + 2)
        np.testing.assert_allclose(ways[1.3][down], ways[1.0][down] * share**0.3, rtol=1e-4)
        assert ways[1.3][0] == ways[1.0][0]
        np.testing.assert_array_equal(ways[1.3][~down], ways[1.0][~down])


def test_a_face_goes_as_far_as_its_reading_is_to_go_on_the_side_that_the_spec_names(chip):
    """The astronaut, read at -2: with a nearer target the reading is closer to that than in the usual length."""
    editor = FieldEditor("gender-teacher")
    assert editor.config.reach == (0, 0)
    ends = np.array([-2, 2], np.float32)

    def log_odds(swept):
        pictures = torch.from_numpy(swept.edited[0].clip(0, 255)).permute(0, 3, 1, 2) / 255
        return ((editor.photo_values(pictures)[:, 0] + 1) / 2).logit().tolist()

    usual = sweep(editor, chip, ends)
    read = log_odds(usual)
    at_photo = float(((editor.photo_values(as_floats(chip))[0, 0] + 1) / 2).logit())
    target = read[0] + 0.25 * (at_photo - read[0])
    editor.config = replace(editor.config, reach=(1 / (1 + np.exp(-target)), 0.0))
    shorter = sweep(editor, chip, ends)
    assert abs(log_odds(shorter)[0] - target) < 0.7 * abs(read[0] - target)
    np.testing.assert_array_equal(shorter.edited[:, 1], usual.edited[:, 1])
    share = shorter.motion.distances / usual.motion.distances
    np.testing.assert_allclose(share, [[0.75, 1]], atol=1e-4)


def test_colour_does_not_change_luminance():
    form = torch.randn(2, 3, 4, 4)
    template = as_template(form)
    luma = torch.tensor(LUMA)[:, None, None]
    torch.testing.assert_close((template * luma).sum(1), form[:, 0], atol=1e-5, rtol=0)
    torch.testing.assert_close(template[:, 0] - form[:, 0], form[:, 1])
    assert torch.equal(as_template(form[:, :1]), form[:, :1])  # only lightness stays one channel


def test_another_model_is_no_edit_field():
    with pytest.raises(ModelError, match="not an edit field"):
        FieldEditor(zoo.load("judge"))


def test_the_ends_are_what_the_editor_makes_of_a_face_at_both(editor, chip):
    ratios, motion = editor.ends(as_floats(chip))
    swept = sweep(editor, chip, np.array([-2, 2], np.float32))
    value = float(editor.photo_values(as_floats(chip))[0, 0])
    ends = (as_floats(chip) * 255 + OFFSET)[:, None] * ratios.exp() - OFFSET
    np.testing.assert_allclose(ends[0].permute(0, 2, 3, 1), swept.edited[0], atol=0.01)
    a_unit = (swept.motion.distances[0] / (np.array([-2, 2]) - value)).mean()
    np.testing.assert_allclose(
        motion[0].permute(1, 2, 0), a_unit * swept.motion.field[0], atol=1e-4
    )
