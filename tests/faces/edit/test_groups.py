"""The editor of named ends: the photo as it is, or the whole way to each of its names."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gslopes.core.geometry import OFFSET
from gslopes.core.placebo import UNEDITED
from gslopes.faces import zoo
from gslopes.faces.compose.paste import compose
from gslopes.faces.edit.editors import GroupsEditor, editor_of
from gslopes.faces.zoo.spec import editor_for
from tests.groups import write_groups

ENDS = ("black", "east-asian", "white")
NAMES = (UNEDITED, "White", "Black", "East Asian")
VALUES = np.arange(4, dtype=np.float32)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    home = write_groups(tmp_path_factory.mktemp("home"), *ENDS)
    return zoo.load_folder(home / "weights" / "race-groups")


@pytest.fixture(scope="module")
def swept(model, portrait_chip):
    return editor_of(model, names=NAMES).sweep(portrait_chip, VALUES)


def test_its_names_are_those_of_the_spec_in_plain_words(model):
    assert model.spec.names == ["Black", "East Asian", "White"]
    assert zoo.identify("race-field")[0].names == []  # two ends, and places between them


def test_unedited_is_the_photo_and_each_value_is_the_network_s_end_of_that_name(
    model, swept, portrait_chip
):
    np.testing.assert_allclose(swept.edited[0, 0], portrait_chip[0], atol=0.01)
    np.testing.assert_array_equal(swept.neutral, portrait_chip)
    chips = torch.from_numpy(portrait_chip).permute(0, 3, 1, 2).float() / 255
    with torch.inference_mode():
        ratios, motions = model.module(2 * chips - 1)
    for step, end in ((1, 2), (2, 0), (3, 1)):
        ratio = np.exp(ratios[0, end].permute(1, 2, 0).numpy())
        expected = (portrait_chip[0] + OFFSET) * ratio - OFFSET
        own = swept.edited[0, step]
        np.testing.assert_allclose(own, expected, atol=0.05)
        assert np.abs(own - portrait_chip[0]).mean() > 0.5
        field = motions[0, end].permute(1, 2, 0).numpy()
        np.testing.assert_allclose(swept.of(0).motion.fields[step], field, atol=1e-5)
    np.testing.assert_array_equal(swept.motion.distances, [[0, 1, 1, 1]])


def test_skin_goes_from_what_the_reader_sees_in_the_face_to_the_end_of_each_value(model, swept):
    tones = np.array(model.spec.config["tones"])
    steps = swept.of(0).tone.steps
    assert [share for share, _ in steps] == [0, 1, 1, 1]
    own = steps[1][1][0]
    assert np.abs(own - tones[2]).max() < 3  # the astronaut is read as White
    for (_, pair), end in zip(steps[1:], (2, 0, 1), strict=True):
        np.testing.assert_allclose(pair[0], own, atol=1e-4)
        np.testing.assert_allclose(pair[1], tones[end], atol=1e-4)


def test_without_tones_the_network_tells_all(model, portrait_chip):
    bare = zoo.build(replace(model.spec, config={"widths": model.spec.config["widths"]}))
    bare.load_state_dict(model.module.state_dict())
    assert (
        GroupsEditor(replace(model, module=bare), NAMES).sweep(portrait_chip, VALUES).tone is None
    )


def test_ends_that_nobody_reads_start_from_the_mean_of_all_tones(model, portrait_chip):
    strange = replace(model, spec=replace(model.spec, ends=("one", "two", "three")))
    own = GroupsEditor(strange, ["One"]).sweep(portrait_chip, VALUES[:1]).of(0).tone.steps[0][1][0]
    np.testing.assert_allclose(own, np.mean(model.spec.config["tones"], 0), atol=1e-4)


def test_ends_in_place_of_pictures_compose_to_the_same_photo(model, portrait_chip):
    mask = np.ones((128, 128), np.float32)
    editor = editor_of(model, names=NAMES)
    patches = [
        compose(portrait_chip[0], False, chips.of(0), mask, np.eye(3)[:2], "ratio").patches
        for chips in (
            editor.sweep(portrait_chip, VALUES),
            editor.sweep_ends(portrait_chip, VALUES),
        )
    ]
    assert patches[0].shape == (4, 128, 128, 3)
    assert np.abs(patches[0].astype(int) - patches[1]).max() <= 1
    np.testing.assert_array_equal(patches[1][0], portrait_chip[0])


def test_by_default_an_attribute_has_its_editor_with_values(tmp_path, monkeypatch):
    monkeypatch.setenv("GSLOPES_HOME", str(write_groups(tmp_path, *ENDS)))
    assert editor_for("race") == "race-field"
    assert editor_for("race", named=True) == "race-groups"
    assert editor_for("gender", named=True) == editor_for("gender")
