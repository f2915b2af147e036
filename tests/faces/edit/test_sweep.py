import dataclasses

import numpy as np
import pytest
import torch

from gslopes.core.errors import ModelError
from gslopes.core.levels import OFFSET
from gslopes.faces import zoo
from gslopes.faces.edit.sweep import FaderEditor, arithmetic
from gslopes.photos import drawn as rendered
from training.sets import drawn_chips

VALUES = np.array([-2, -1, 0, 1, 2], np.float32)


@pytest.fixture(scope="module")
def editor() -> FaderEditor:
    return FaderEditor("drawn-fader", reader=None)


@pytest.fixture(scope="module")
def faces() -> rendered.FaceParameters:
    return rendered.sample(24, seed=77).replace(gender=0.0)


def test_a_sweep_has_a_picture_for_every_value_and_the_neutral_one(editor, faces):
    swept = editor.sweep(drawn_chips(faces, editor.size), VALUES)
    edited, neutral = swept.edited, swept.neutral
    assert edited.shape == (24, 5, 64, 64, 3)
    assert neutral.shape == (24, 64, 64, 3)
    assert edited.dtype == neutral.dtype == np.float32
    assert neutral.min() >= 0
    assert neutral.max() <= 255


def levels(network, chips, values):
    """Plainly decoded chips (B, S, S, 3) at the values (B,), in levels."""
    x = torch.from_numpy(chips).permute(0, 3, 1, 2).float() / 127.5 - 1
    with torch.no_grad():
        _, picture = network(x, torch.from_numpy(np.asarray(values, np.float32))[:, None])
    return ((picture.permute(0, 2, 3, 1).numpy() + 1) * 127.5).clip(0, 255)


@pytest.mark.parametrize("values", [(-2, -1, 0, 1, 2), (-2, 0.5, 1)])
def test_the_edit_is_the_odd_part_less_that_at_the_photos_own_value(editor, faces, values):
    chips = drawn_chips(faces, editor.size)[:2]
    swept = editor.sweep(chips, np.array(values, np.float32))
    edited, neutral = swept.edited, swept.neutral
    network = zoo.load("drawn-fader").module
    grid = np.linspace(-1, 1, 9)
    errors = [np.abs(levels(network, chips, [v, v]) - chips).mean((1, 2, 3)) for v in grid]
    photo = grid[np.argmin(errors, 0)]
    np.testing.assert_allclose(neutral, levels(network, chips, photo), atol=0.01)

    def odd(value):
        inner = np.clip(value, -1, 1)
        beyond = np.maximum(np.abs(value), 1)[:, None, None, None]
        return beyond * (levels(network, chips, inner) - levels(network, chips, -inner)) / 2

    for step, value in enumerate(values):
        expected = neutral + odd(np.array([value, value])) - odd(photo)
        np.testing.assert_allclose(edited[:, step], expected, atol=0.02)


def test_gain_multiplies_the_edits(faces):
    model = zoo.load("drawn-fader")
    model.module.config = dataclasses.replace(model.module.config, gain=0.5)
    chips = drawn_chips(faces, 64)[:3]
    swept = FaderEditor(model, reader=None).sweep(chips, VALUES)
    half, neutral = swept.edited, swept.neutral
    swept = FaderEditor("drawn-fader", reader=None).sweep(chips, VALUES)
    whole, same = swept.edited, swept.neutral
    np.testing.assert_array_equal(neutral, same)
    np.testing.assert_allclose(half - neutral[:, None], (whole - same[:, None]) / 2, atol=0.01)


def test_what_both_ends_share_is_in_no_edit(editor, faces):
    edited = editor.sweep(drawn_chips(faces, editor.size), VALUES).edited
    np.testing.assert_allclose(edited[:, 0] + edited[:, 4], 2 * edited[:, 2], atol=0.01)
    np.testing.assert_allclose(edited[:, 1] + edited[:, 3], 2 * edited[:, 2], atol=0.01)


def test_the_odd_part_of_a_ratio_is_taken_of_logarithms(faces):
    model = zoo.load("drawn-fader")
    ratio = zoo.LoadedModel(model.module, dataclasses.replace(model.spec, blend="ratio"), model.sha256)
    edited = FaderEditor(ratio, reader=None).sweep(drawn_chips(faces, 64)[:4], VALUES).edited
    product = (edited[:, 0] + OFFSET) * (edited[:, 4] + OFFSET)
    np.testing.assert_allclose(product, (edited[:, 2] + OFFSET) ** 2, rtol=1e-3)


def test_sixteen_bits_move_no_level_by_more_than_one(faces):
    """What the editor does on a CUDA device, here on the CPU with the weights that ship."""
    full, half = (FaderEditor("drawn-fader", reader=None) for _ in range(2))
    half.network.half()
    chips = np.stack([np.asarray(chip) for chip in drawn_chips(faces, full.size)[:4]])
    sweeps = [one.sweep(chips, VALUES) for one in (full, half)]
    changes = [swept.edited - swept.neutral[:, None] for swept in sweeps]
    difference = np.abs(changes[0] - changes[1])
    assert 0 < difference.max() <= 1
    assert (np.rint(changes[0]) != np.rint(changes[1])).mean() < 0.05


def test_only_drawn_faces_are_edited_in_sixteen_bits():
    """In them the Fader Networks of photos move a level by up to 1.15."""
    cuda, cpu = torch.device("cuda"), torch.device("cpu")
    assert arithmetic(cuda, None) == torch.float16
    assert {arithmetic(cuda, "labeller"), arithmetic(cpu, "labeller"), arithmetic(cpu, None)} == {torch.float32}


def test_the_same_chip_gives_the_same_sweep_twice(editor, faces):
    chips = drawn_chips(faces, editor.size)
    np.testing.assert_array_equal(editor.sweep(chips, VALUES).edited, editor.sweep(chips, VALUES).edited)


def test_the_drawn_cue_rises_with_the_value(editor, faces):
    chips = drawn_chips(faces, editor.size)
    swept = editor.sweep(chips, VALUES)
    edited, neutral = swept.edited, swept.neutral
    points = rendered_chip_points(editor.size, len(chips))
    added = np.clip(chips[:, None] + edited - neutral[:, None], 0, 255).astype(np.uint8)
    read = np.stack([rendered.gender_readout(added[:, step], points) for step in range(5)], 1)
    assert (np.diff(read.mean(0)) > 0.3).all()
    assert (np.diff(read, axis=1) > 0).mean() > 0.95


def test_a_model_that_does_not_edit_is_no_editor():
    with pytest.raises(ModelError, match="no editor"):
        FaderEditor("judge")


def rendered_chip_points(size: int, n: int) -> np.ndarray:
    from gslopes.faces.zoo.framing import CHIP

    return np.broadcast_to((CHIP * size - 0.5).astype(np.float32), (n, 5, 2))


def test_a_model_that_is_loaded_edits_with_its_own_weights_whatever_is_shipped_under_its_name(faces):
    shipped, trial = (zoo.load("drawn-fader") for _ in range(2))
    with torch.no_grad():
        trial.module.to_rgb.bias += 0.5
    chips = drawn_chips(faces, 64)[:2]
    ours, theirs = (FaderEditor(model, reader=None).sweep(chips, VALUES).edited for model in (trial, "drawn-fader"))
    np.testing.assert_array_equal(FaderEditor(shipped, reader=None).sweep(chips, VALUES).edited, theirs)
    assert np.abs(ours - theirs).mean() > 5
