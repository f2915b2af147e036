""""""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pytest
import torch

from gslopes.core.errors import ModelError
from gslopes.core.geometry import OFFSET
from gslopes.faces import zoo
from gslopes.faces.edit.editors import EndsEditor, FaderEditor, PhotoValues, best_fitting, editor_of
from gslopes.faces.zoo.spec import Blend, find_spec
from gslopes.photos import drawn as rendered
from training.sets import drawn_chips


@pytest.mark.parametrize(
    ("name", "reader", "kind"),
    [("gender-field", "labeller", EndsEditor), ("drawn-confounded", None, FaderEditor)],
)
def test_a_model_gets_the_editor_of_its_network(name, reader, kind):
    editor = editor_of(name, reader=reader)
    assert isinstance(editor, kind)
    assert editor.spec.name == name


def test_who_gives_editors_a_faces_own_value_does_not_judge_them_and_both_specs_say_so():
    default = inspect.signature(editor_of).parameters["reader"].default
    assert default == "labeller"
    assert "own values for the editors" in find_spec(default).summary
    assert "never judges" in find_spec(default).summary
    assert "no editor uses it" in find_spec("judge").summary


def test_a_model_that_does_not_edit_is_no_editor():
    with pytest.raises(ModelError, match="no editor"):
        editor_of("judge")


def test_an_edit_field_needs_a_reader_of_the_faces_own_value():
    with pytest.raises(ModelError, match="needs a reader"):
        editor_of("race-field", reader=None)


def test_a_fader_network_is_used_as_published_where_its_picture_is_pasted_and_by_its_odd_part_elsewhere():
    chips, values = np.random.default_rng(0).integers(0, 256, (1, 128, 128, 3), np.uint8), np.array([-1, 0, 1], "f4")
    blends: tuple[Blend, ...] = ("difference", "ratio", "paste")
    swept = {blend: editor_of("gender-fader", blend=blend).sweep(chips, values) for blend in blends}
    editor = editor_of("gender-fader", blend="paste")
    x = torch.from_numpy(chips).permute(0, 3, 1, 2).float() / 255
    with torch.inference_mode():
        own = editor.photo_values(x)
        network = zoo.load("gender-fader").module
        drawn = network.decode(network.encode(2 * x - 1), torch.cat([own.new_tensor([[1.0]]), own[:, 1:]], 1))
    decoded = ((drawn + 1) * 127.5).permute(0, 2, 3, 1).numpy()
    np.testing.assert_allclose(swept["paste"].edited[:, 2], decoded, atol=0.05)
    ends = swept["difference"].edited[:, ::2].astype(float)
    np.testing.assert_allclose(ends.sum(1), 2 * swept["difference"].edited[:, 1], atol=0.01)
    logs = np.log(swept["ratio"].edited + OFFSET)
    np.testing.assert_allclose(logs[:, 0] + logs[:, 2], 2 * logs[:, 1], atol=0.01)


def test_a_smile_is_read_by_the_tagger_that_the_spec_names():
    editor = editor_of("gender-fader")
    assert editor.photo_values.tagged == ("smiling", "eyeglasses", "beard")
    assert editor.photo_values.read == ("gender", "young", "race")
    grey = torch.full((1, 3, 128, 128), 0.5)
    with torch.inference_mode():
        values = editor.photo_values(grey)[0]
        without = PhotoValues(zoo.load("labeller"), ("gender", "young", "race"))(grey)[0]
    assert values.shape == (6,)
    assert (values.abs() <= 1).all()
    assert torch.equal(values[[0, 1, 3]], without)


def test_the_values_are_where_the_reconstruction_is_nearest():
    truth = torch.tensor([[0.5, -0.25], [-1.0, 0.75]])

    def decode(values: torch.Tensor) -> torch.Tensor:
        return torch.cat([values, values.prod(1, keepdim=True) / 4], 1)[:, :, None, None].expand(-1, -1, 4, 4)

    assert torch.equal(best_fitting(decode, decode(truth), attributes=2), truth)


VALUES = np.array([-2, -1, 0, 1, 2], np.float32)


@pytest.fixture(scope="module")
def editor() -> FaderEditor:
    return FaderEditor("drawn-fader", reader=None)


@pytest.fixture(scope="module")
def faces() -> rendered.FaceParameters:
    return rendered.sample(24, seed=77).replace(gender=0.0)


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


def test_the_drawn_cue_rises_with_the_value(editor, faces):
    chips = drawn_chips(faces, editor.size)
    swept = editor.sweep(chips, VALUES)
    edited, neutral = swept.edited, swept.neutral
    points = rendered_chip_points(editor.size, len(chips))
    added = np.clip(chips[:, None] + edited - neutral[:, None], 0, 255).astype(np.uint8)
    read = np.stack([rendered.gender_readout(added[:, step], points) for step in range(5)], 1)
    assert (np.diff(read.mean(0)) > 0.3).all()
    assert (np.diff(read, axis=1) > 0).mean() > 0.95


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
