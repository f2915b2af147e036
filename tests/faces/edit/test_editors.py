"""Fader editors: the decoder's picture at each value; whose values they hold fixed."""

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
def test_a_fader_network_is_used_as_published_where_it_is_not_calibrated_and_its_picture_pasted():
    chips = np.random.default_rng(0).integers(0, 256, (1, 128, 128, 3), np.uint8)
    editor = editor_of("gender-fader", calibrated=False)
    swept = editor.sweep(chips, np.array([-2, -1, 0, 1, 2], "f4")).edited
    x = torch.from_numpy(chips).permute(0, 3, 1, 2).float() / 255
    with torch.inference_mode():
        own, network = editor.photo_values(x), zoo.load("gender-fader").module
        for step, value in enumerate(
            (-2.0, -1.0, 0.0, 1.0, 2.0)
        ):  # the others at the photo's own, beyond 1 as within
            drawn = network.decode(
                network.encode(2 * x - 1), torch.cat([own.new_tensor([[value]]), own[:, 1:]], 1)
            )
            picture = ((drawn + 1) * 127.5).permute(0, 2, 3, 1).numpy()
            np.testing.assert_allclose(swept[:, step], picture, atol=0.05)


def test_an_edit_field_that_is_not_calibrated_stands_at_the_values_themselves():
    chips = np.random.default_rng(0).integers(0, 256, (1, 128, 128, 3), np.uint8)
    model = zoo.load("gender-field")
    plain = replace(model, spec=replace(model.spec, steps=()))
    first, present = (
        editor.sweep(chips, VALUES)
        for editor in (editor_of(model, calibrated=False), editor_of(plain))
    )
    np.testing.assert_array_equal(first.edited, present.edited)


def test_a_table_says_where_a_fader_network_stands():
    chips = np.random.default_rng(0).integers(0, 256, (1, 128, 128, 3), np.uint8)
    model = zoo.load("gender-fader")
    tabled = replace(model, spec=replace(model.spec, steps=(-1, -0.9, -0.5, 0.2, 0.4, 0.6, 1)))
    there = editor_of(tabled).sweep(chips, np.array([-2, 0, 2], "f4"))
    plain = editor_of(model).sweep(chips, np.array([-1, 0.2, 1], "f4"))
    np.testing.assert_allclose(there.edited, plain.edited, atol=0.01)
    np.testing.assert_array_equal(there.neutral, plain.neutral)


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


def own_values(network, chips):
    """Where the reconstruction is nearest, on a grid of nine."""
    grid = np.linspace(-1, 1, 9)
    errors = [
        np.abs(levels(network, chips, [v] * len(chips)) - chips).mean((1, 2, 3)) for v in grid
    ]
    return grid[np.argmin(errors, 0)]


def test_without_a_template_the_pictures_are_the_decoders_at_each_value_and_at_the_photos_own(
    chips,
):
    chips = chips[:2]
    model = zoo.load("drawn-fader")
    model.module.template = None
    swept = FaderEditor(model, reader=None).sweep(chips, VALUES)
    own = own_values(model.module, chips)
    np.testing.assert_allclose(swept.neutral, levels(model.module, chips, own), atol=0.01)
    for step, value in enumerate(VALUES):
        expected = levels(model.module, chips, [value, value])
        np.testing.assert_allclose(swept.edited[:, step], expected, atol=0.02)


def test_a_template_is_multiplied_in_by_as_many_units_as_the_value_is_from_the_photos_own(
    chips, swept
):
    network = zoo.load("drawn-fader").module
    own = own_values(network, chips[:2])
    np.testing.assert_allclose(swept.neutral[:2], chips[:2], atol=0.01)
    moved = np.log(swept.edited[:2] + OFFSET) - np.log(chips[:2, None] + OFFSET)
    units = (VALUES - own[:, None])[:, :, None, None, None]
    np.testing.assert_allclose(moved, units * network.template.permute(1, 2, 0).numpy(), atol=1e-4)


def test_a_loaded_model_edits_with_its_own_weights(chips, swept):
    model = zoo.load("drawn-fader")
    model.module.template += 0.1
    other = FaderEditor(model, reader=None).sweep(chips[:4], VALUES)
    assert np.abs(other.edited - swept.edited[:4]).mean() > 5


def test_the_drawn_cue_rises_with_the_value(chips, swept):
    points = np.broadcast_to((CHIP * 64 - 0.5).astype(np.float32), (len(chips), 5, 2))
    added = np.clip(swept.edited, 0, 255).astype(np.uint8)
    read = np.stack(
        [rendered.gender_readout(added[:, step], points) for step in (0, 1, 2, 4, 5)], 1
    )
    assert (np.diff(read.mean(0)) > 0.3).all()
    assert (np.diff(read, axis=1) > 0).mean() > 0.95
