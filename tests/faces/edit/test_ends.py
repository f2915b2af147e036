"""The editor of photos: what a network makes of a face at both ends, in proportion between them."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gslopes.core.geometry import LUMA, OFFSET
from gslopes.faces import zoo
from gslopes.faces.compose.masks import border_ramp
from gslopes.faces.compose.paste import compose
from gslopes.faces.edit.editors import EndsEditor, editor_of, way
from gslopes.faces.zoo.reader import FaceReader
from tests.fixtures import round_to_tf32
from training.chips import face_window

VALUES = np.array([-2, -1, 0, 1, 2], np.float32)
EVEN = tuple(np.linspace(-2, 2, 7).tolist())


@pytest.fixture
def chip(portrait_chip) -> np.ndarray:
    return portrait_chip


@pytest.fixture(scope="module", params=["gender-field", "race-field"])
def editor(request) -> EndsEditor:
    """Values in the unit of own values."""
    return with_steps(request.param, ())


def with_steps(name: str, steps: tuple[float, ...], own_zero: bool = False) -> EndsEditor:
    model = zoo.load(name)
    return EndsEditor(replace(model, spec=replace(model.spec, steps=steps, own_zero=own_zero)))


def as_floats(chips: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(chips)).permute(0, 3, 1, 2).float() / 255


def own_value(editor: EndsEditor, chip: np.ndarray) -> float:
    return float(editor.photo_values(as_floats(chip))[0, 0])


def logs(levels: np.ndarray) -> np.ndarray:
    return np.log(levels.astype(float) + OFFSET)


def test_at_the_photos_own_value_the_chip_is_as_it_was(editor, chip):
    swept = editor.sweep(chip, np.array([own_value(editor, chip)], np.float32))
    np.testing.assert_allclose(swept.edited[:, 0], chip, atol=0.01)
    np.testing.assert_array_equal(swept.neutral, chip)
    assert abs(swept.motion.distances[0, 0]) < 1e-5


def test_a_value_is_in_proportion_to_what_the_network_says_of_the_end_that_lies_there(editor, chip):
    own = own_value(editor, chip)
    with torch.inference_mode():
        ratios, motion = editor.network(2 * as_floats(chip) - 1)
    for end, text in zip((-2.0, 2.0), ratios[0].permute(0, 2, 3, 1).numpy(), strict=True):
        shares = np.array([0.25, 0.5, 1.0, 1.5], np.float32)
        swept = editor.sweep(chip, own + (end - own) * shares)
        change = logs(swept.edited[0]) - logs(chip[0])
        np.testing.assert_allclose(change[2], text, atol=1e-3)
        for share, part in zip(shares, change, strict=True):
            np.testing.assert_allclose(part, share * change[2], atol=2e-3)
        np.testing.assert_allclose(swept.motion.distances[0], (end - own) * shares, atol=1e-5)
        np.testing.assert_allclose(swept.motion.field[0], motion[0].permute(1, 2, 0), atol=1e-4)


@pytest.mark.row("slopes-4.3-neutral")
def test_a_table_says_where_values_stand_and_own_values_do_not_pass_through_it(editor, chip):
    steps = (-2, -1.2, -0.6, -0.1, 0.4, 0.9, 2)
    swept = with_steps(editor.spec.name, steps).sweep(chip, np.array([-2, 0, 1, 4], np.float32))
    plain = editor.sweep(chip, np.array([-2, -0.1, 0.65, 5.3], np.float32))
    np.testing.assert_allclose(swept.edited, plain.edited, atol=0.05)
    np.testing.assert_allclose(swept.motion.distances, plain.motion.distances, atol=1e-5)


def test_the_way_leads_to_the_end_that_lies_there_and_passes_no_other():
    towards, share = way(torch.tensor([[0.5], [-1.0]]), torch.tensor([-2, 0.5, 2, 4]))
    assert towards.tolist() == [[0, 0, 1, 1], [0, 1, 1, 1]]
    torch.testing.assert_close(share, torch.tensor([[1, 0, 1, 7 / 3], [1, 0.5, 1, 5 / 3]]))


@pytest.mark.row("slopes-4.3-neutral")
@pytest.mark.parametrize("name", ["gender-field", "race-field"])
def test_with_its_own_zero_a_face_is_read_as_neutral_at_0_and_ends_and_own_value_stay(name, chip):
    plain, evened = (with_steps(name, EVEN, zero) for zero in (False, True))
    own = own_value(plain, chip)
    kept = np.array([-2, own, 2, 3], np.float32)
    before, after = plain.sweep(chip, kept), evened.sweep(chip, kept)
    np.testing.assert_allclose(after.edited, before.edited, atol=0.05)
    np.testing.assert_allclose(after.motion.distances, before.motion.distances, atol=1e-4)
    values = np.linspace(-2, 2, 17, dtype=np.float32)
    assert (np.diff(evened.sweep(chip, values).motion.distances[0]) > 0).all()
    zero = np.array([0], np.float32)
    read = [own_value(plain, each.sweep(chip, zero).edited[:, 0]) for each in (plain, evened)]
    odds = np.arctanh(read)
    assert abs(own) > 0.5
    assert abs(odds[1]) < 0.8 * abs(odds[0]), "nearer to neutral than a third of the way"


def test_without_a_table_values_are_those_of_the_photo_whatever_its_zero(chip):
    plain, evened = (with_steps("gender-field", (), zero) for zero in (False, True))
    same = (each.sweep(chip, VALUES).motion.distances for each in (plain, evened))
    np.testing.assert_array_equal(*same)


def test_a_judge_that_shares_no_photo_reads_every_step_in_order(editor, chip):
    edited = np.clip(np.rint(editor.sweep(chip, VALUES).edited[0]), 0, 255).astype(np.uint8)
    attribute = editor.spec.labels[0]
    read = FaceReader.load().attributes(as_floats(edited), (attribute,))[:, 0].numpy()
    assert (np.diff(read) > 0).all()
    assert read[-1] - read[0] > 0.1


def test_a_batch_is_its_chips_one_by_one(editor, chip):
    chips = np.concatenate([chip, chip[:, :, ::-1] // 2])
    together = editor.sweep(chips, VALUES)
    for row in range(2):
        alone = editor.sweep(chips[row : row + 1], VALUES)
        np.testing.assert_allclose(together.edited[row], alone.edited[0], atol=0.05)
        np.testing.assert_allclose(together.motion.of(row).field, alone.motion.field[0], atol=1e-3)


def test_race_moves_the_tone_of_the_face_and_gender_does_not(editor, chip):
    change = editor.sweep(chip, VALUES).edited[0] @ np.array(LUMA, np.float32)
    inside = face_window(128).reshape(128, 128).numpy() == 1
    tone = (change[-1] - change[0])[inside].mean()
    assert tone > 15 if editor.spec.labels[0] == "race" else abs(tone) < 5


def test_tf32_moves_no_level_by_more_than_one(editor, chip):
    """What cuDNN does to convolutions on a GPU by default, here on the CPU with the weights that ship."""
    full = editor.sweep(chip, VALUES)
    short = with_steps(editor.spec.name, ())
    rounded = round_to_tf32(
        [*short.network.modules(), *short.photo_values.reader.model.module.modules()]
    )
    swept = short.sweep(chip, VALUES)
    assert rounded > 20
    assert 0 < np.abs(swept.edited - full.edited).max() <= 1
    assert np.abs(swept.motion.field - full.motion.field).max() < 0.01  # pixels of the chip, a unit


def test_skin_goes_towards_an_end_by_what_the_face_lacks_of_it(chip):
    editor = with_steps("race-field", ())
    own = own_value(editor, chip)
    tone = editor.sweep(chip, np.array([-2, own, 2], np.float32)).of(0).tone
    np.testing.assert_allclose(tone.shares, [-(1 + own) / 2, 0, (1 - own) / 2], atol=1e-5)
    halfway = editor.sweep(chip, np.array([(own - 2) / 2], np.float32)).of(0).tone
    np.testing.assert_allclose(halfway.shares, [-(1 + own) / 8], atol=1e-5)
    assert tone.ends == editor.network.config.tone
    assert editor_of("gender-field").sweep(chip, VALUES).tone is None


@pytest.mark.parametrize("blend", ["ratio", "difference", "paste"])
@pytest.mark.parametrize("gray", [False, True])
def test_composed_from_its_ends_a_photo_is_as_composed_from_pictures(editor, chip, blend, gray):
    values = np.array([-3, -2, -0.5, 0, 1, 2, 3], np.float32)
    pictures, ends = editor.sweep(chip, values), editor.sweep_ends(chip, values)
    mask = border_ramp(128)
    matrix = np.array([[0.8, 0.1, 4], [-0.1, 0.8, 12]])
    photo = chip[0, ..., :1].repeat(3, 2) if gray else chip[0]
    full = [
        compose(photo, gray, swept.of(0), mask, matrix, blend).patches for swept in (pictures, ends)
    ]
    apart = np.abs(full[0].astype(int) - full[1])
    assert apart.mean() < 0.001
    assert len({patch.tobytes() for patch in full[1]}) == len(values)
