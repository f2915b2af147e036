"""Fader editors: as published if they paste, by their odd part otherwise; whose values they hold fixed."""

import inspect
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from gslopes.core.errors import ModelError
from gslopes.core.geometry import OFFSET
from gslopes.faces import zoo
from gslopes.faces.components import model_records
from gslopes.faces.config import EditConfig
from gslopes.faces.edit.editors import EndsEditor, FaderEditor, PhotoValues, best_fitting, editor_of
from gslopes.faces.zoo.framing import CHIP
from gslopes.faces.zoo.spec import find_spec
from gslopes.slopes.config import RunConfig
from training import drawn as rendered
from training.sets import drawn_chips

VALUES = np.array([-2, -1, 0, 0.5, 1, 2], np.float32)


def test_a_model_gets_the_editor_of_its_network_or_a_sentence():
    assert isinstance(editor_of("gender-field"), EndsEditor)
    assert isinstance(editor_of("drawn-confounded", reader=None), FaderEditor)
    with pytest.raises(ModelError, match="not an editor"):
        editor_of("judge")
    with pytest.raises(ModelError, match="needs a reader"):
        editor_of("race-field", reader=None)


def test_who_gives_editors_a_faces_own_value_does_not_judge_them_and_both_specs_say_so():
    default = inspect.signature(editor_of).parameters["reader"].default
    assert default == "labeller"
    assert "own values for the editors" in find_spec(default).summary
    assert "never judges" in find_spec(default).summary
    assert "no editor uses it" in find_spec("judge").summary


@pytest.mark.row("slopes-3.3-network", "slopes-3.3-controlled", "slopes-4.3-beyond")
@pytest.mark.parametrize("name", ["gender-fader", "race-fader"])
def test_a_fader_network_is_used_as_published_where_it_is_not_calibrated_and_its_picture_pasted(
    name,
):
    chips = np.random.default_rng(0).integers(0, 256, (1, 128, 128, 3), np.uint8)
    editor = editor_of(name, blend="paste", calibrated=False)
    swept = editor.sweep(chips, np.array([-2, -1, 0, 1, 2], "f4")).edited
    x = torch.from_numpy(chips).permute(0, 3, 1, 2).float() / 255
    with torch.inference_mode():
        own, network = editor.photo_values(x), zoo.load(name).module
        for step, value in enumerate(
            (-2.0, -1.0, 0.0, 1.0, 2.0)
        ):  # the others at the photo's own, beyond 1 as within
            drawn = network.decode(
                network.encode(2 * x - 1), torch.cat([own.new_tensor([[value]]), own[:, 1:]], 1)
            )
            picture = ((drawn + 1) * 127.5).permute(0, 2, 3, 1).numpy()
            np.testing.assert_allclose(swept[:, step], picture, atol=0.05)


def test_elsewhere_a_fader_network_edits_by_its_odd_part():
    chips = np.random.default_rng(0).integers(0, 256, (1, 128, 128, 3), np.uint8)
    editors = {blend: editor_of("gender-fader", blend=blend) for blend in ("difference", "ratio")}
    swept = {
        blend: editor.sweep(chips, np.array([-1, 0, 1], "f4")).edited
        for blend, editor in editors.items()
    }
    ends = swept["difference"][:, ::2].astype(float)
    np.testing.assert_allclose(ends.sum(1), 2 * swept["difference"][:, 1], atol=0.01)
    logs = np.log(swept["ratio"] + OFFSET)
    np.testing.assert_allclose(logs[:, 0] + logs[:, 2], 2 * logs[:, 1], atol=0.01)


def test_an_edit_field_that_is_not_calibrated_stands_at_the_values_themselves():
    chips = np.random.default_rng(0).integers(0, 256, (1, 128, 128, 3), np.uint8)
    model = zoo.load("gender-field")
    plain = replace(model, spec=replace(model.spec, steps=()))
    first, present = (
        editor.sweep(chips, VALUES)
        for editor in (editor_of(model, calibrated=False), editor_of(plain))
    )
    np.testing.assert_array_equal(first.edited, present.edited)


def test_the_odd_part_goes_evenly_to_the_ends_of_a_table():
    chips = np.random.default_rng(0).integers(0, 256, (1, 128, 128, 3), np.uint8)
    model = zoo.load("gender-fader")
    specs = [replace(model.spec, steps=steps) for steps in ((-1, -0.9, -0.5, 0.2, 0.4, 0.6, 1), ())]
    tabled, plain = (editor_of(replace(model, spec=spec), blend="difference") for spec in specs)
    first, present = (
        tabled.sweep(chips, np.array([-2, 0, 1], "f4")),
        plain.sweep(chips, np.array([-1, 0, 0.5], "f4")),
    )
    np.testing.assert_array_equal(first.edited, present.edited)


def test_a_smile_is_read_by_the_tagger_that_the_spec_names():
    tagger = zoo.load(find_spec("gender-fader").tagger)
    labels = find_spec("gender-fader").labels
    reads = PhotoValues(zoo.load("labeller"), labels, tagger)
    assert reads.tagged == ("smiling", "eyeglasses", "beard")
    grey = torch.full((1, 3, 128, 128), 0.5)
    with torch.inference_mode():
        values = reads(grey)[0]
        without = PhotoValues(zoo.load("labeller"), ("gender", "young", "race"))(grey)[0]
    assert values.abs().max() <= 1
    assert torch.equal(
        values[[labels.index(name) for name in ("gender", "young", "race")]], without
    )


@pytest.mark.parametrize("truth", [[[0.5], [-1.0]], [[0.5, -0.25], [-1.0, 1.0]]])
def test_the_values_are_where_the_reconstruction_is_nearest(truth):
    truth = torch.tensor(truth)
    chips = truth[..., None, None].expand(-1, -1, 4, 4)
    fitted = best_fitting(
        lambda values: values[..., None, None].expand(-1, -1, 4, 4), chips, truth.shape[1]
    )
    assert torch.equal(fitted, truth)


@pytest.mark.parametrize(
    ("model", "reads"), [("drawn-confounded", False), ("gender-fader", True), ("", True)]
)
def test_no_reader_of_photos_reads_drawn_faces(model, reads):
    assert (
        "labeller" in model_records(RunConfig(Path(), edit=EditConfig(("gender",), model=model)))
    ) == reads


# --- Drawn faces ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chips() -> np.ndarray:
    return drawn_chips(rendered.sample(24, seed=77).replace(gender=0.0), 64)


@pytest.fixture(scope="module")
def swept(chips):
    return editor_of("drawn-fader", reader=None).sweep(chips, VALUES)


def levels(network, chips, values):
    """Plainly decoded chips (B, S, S, 3) at the values (B,), in levels."""
    x = torch.from_numpy(chips).permute(0, 3, 1, 2).float() / 127.5 - 1
    with torch.no_grad():
        _, picture = network(x, torch.from_numpy(np.asarray(values, np.float32))[:, None])
    return ((picture.permute(0, 2, 3, 1).numpy() + 1) * 127.5).clip(0, 255)


def test_the_edit_is_the_odd_part_less_that_at_the_photos_own_value(chips, swept):
    chips, network = chips[:2], zoo.load("drawn-fader").module
    grid = np.linspace(-1, 1, 9)
    errors = [np.abs(levels(network, chips, [v, v]) - chips).mean((1, 2, 3)) for v in grid]
    own = grid[np.argmin(errors, 0)]
    np.testing.assert_allclose(swept.neutral[:2], levels(network, chips, own), atol=0.01)

    def odd(value):
        inner, beyond = np.clip(value, -1, 1), np.maximum(np.abs(value), 1)[:, None, None, None]
        return beyond * (levels(network, chips, inner) - levels(network, chips, -inner)) / 2

    for step, value in enumerate(VALUES):
        expected = swept.neutral[:2] + odd(np.array([value, value])) - odd(own)
        np.testing.assert_allclose(swept.edited[:2, step], expected, atol=0.02)


def test_a_loaded_model_edits_with_its_own_weights_and_its_gain_multiplies_the_edits(chips, swept):
    model = zoo.load("drawn-fader")
    model.module.config = replace(model.module.config, gain=0.5)
    half = FaderEditor(model, reader=None).sweep(chips[:4], VALUES)
    np.testing.assert_array_equal(half.neutral, swept.neutral[:4])
    full = swept.edited[:4] - swept.neutral[:4, None]
    np.testing.assert_allclose(half.edited - half.neutral[:, None], full / 2, atol=0.01)
    with torch.no_grad():
        model.module.to_rgb.bias += 0.5
    assert (
        np.abs(FaderEditor(model, reader=None).sweep(chips[:4], VALUES).edited - half.edited).mean()
        > 5
    )


def test_the_drawn_cue_rises_with_the_value(chips, swept):
    points = np.broadcast_to((CHIP * 64 - 0.5).astype(np.float32), (len(chips), 5, 2))
    added = np.clip(chips[:, None] + swept.edited - swept.neutral[:, None], 0, 255).astype(np.uint8)
    read = np.stack(
        [rendered.gender_readout(added[:, step], points) for step in (0, 1, 2, 4, 5)], 1
    )
    assert (np.diff(read.mean(0)) > 0.3).all()
    assert (np.diff(read, axis=1) > 0).mean() > 0.95
