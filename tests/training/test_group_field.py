"""The loop of editors with named ends: what it begins with, what its terms measure, and that it resumes."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from gslopes.core.errors import ConfigError
from gslopes.faces import zoo
from gslopes.faces.networks.edit_field import MOTION
from tests.training.test_loops import stopped_at_a_save
from training import drawn, group_field
from training.critics import false_group
from training.edit_field import Optimisation, Preserved
from training.group_field import (
    UNITS,
    as_form,
    at_own_end,
    begin,
    pasted,
    retoned,
    tone_layers,
    train_edit_groups,
)
from training.recipe import check_trunk
from training.sets import drawn_chips

TONES = (
    (40.0, 16.0, 22.0, 8.0, 0.1, 0.2),
    (66.0, 13.0, 17.0, 6.0, -0.2, -0.1),
    (55.0, 14.0, 20.0, 7.0, 0.0, 0.0),
)
SPEC = zoo.ModelSpec(
    name="small", network="edit-groups", summary="", licence="", data=(), paper="", recipe="", size=128,
    labels=("kind", "gender", "young"), ends=("a", "b", "c"), blend="ratio",
    config={"widths": [8, 8, 8, 16, 16], "tones": [list(tone) for tone in TONES]},
)  # fmt: skip


@pytest.fixture(scope="module")
def training() -> tuple[np.ndarray, np.ndarray]:
    """12 drawn faces of three ends, (12, 128, 128, 3) and (12, 5)."""
    ends = np.eye(3, dtype=np.float32)[np.arange(12) % 3]
    others = np.where(np.arange(12) < 6, -1, 1).astype(np.float32)
    return drawn_chips(drawn.sample(12, seed=5), 128), np.column_stack([ends, others, others])


def run(training, folder, steps, **options):
    folder.mkdir(exist_ok=True)
    length = Optimisation(steps=steps, batch=4, warm=1)
    pixels, labels = training
    return train_edit_groups(
        SPEC,
        pixels,
        labels,
        np.ones(len(pixels)),
        folder,
        optimisation=length,
        report_every=1,
        save_every=1,
        **options,
    )


@pytest.mark.slow
def test_a_run_stopped_half_way_ends_in_the_same_weights(training, tmp_path, monkeypatch):
    undisturbed = run(training, tmp_path / "whole", 2)
    with stopped_at_a_save(monkeypatch):
        run(training, tmp_path / "halved", 2)
    halved = run(training, tmp_path / "halved", 2)
    assert all(torch.equal(undisturbed[key], halved[key]) for key in undisturbed)
    rows = [
        json.loads(line) for line in (tmp_path / "halved" / "log.jsonl").read_text().splitlines()
    ]
    assert "own" not in rows[0]  # at first only the critic learns
    assert {"others", "size", "moved", "own", "fool"} <= set(rows[1])


def test_it_begins_with_another_editors_trunk_and_two_of_its_ends():
    spec = zoo.load("race-field").spec
    named = replace(SPEC, config={"widths": spec.config["widths"]})
    network = zoo.build(named).eval()
    theirs = zoo.load("race-field").module
    x = 0.1 * torch.randn(2, 3, 128, 128, generator=torch.Generator().manual_seed(0))
    begin(network, "race-field", [2, 0])
    with torch.inference_mode():
        ratios, motions = network(x)
        expected, motion = theirs(x)
    torch.testing.assert_close(ratios[:, 2], expected[:, 0])
    torch.testing.assert_close(ratios[:, 0], expected[:, 1])
    assert not ratios[:, 1].any()
    assert not motions[:, 1].any()
    assert motion.abs().max() < MOTION / 3  # where both are nearly straight
    torch.testing.assert_close(motions[:, 0], UNITS * motion, atol=0.15, rtol=0.1)
    torch.testing.assert_close(motions[:, 2], -motions[:, 0])


def test_skin_takes_the_tone_of_the_end_and_what_the_network_did_to_it_as_a_whole_goes():
    grey = torch.full((1, 3, 128, 128), 0.5)
    grey[:, 0] += 0.12
    grey[:, 2] -= 0.1
    skin = torch.zeros(1, 1, 128, 128)
    skin[..., 32:96, 32:96] = 1
    light, dark = (torch.tensor([index]) for index in (1, 0))
    ratios = torch.full((1, 3, 128, 128), 0.7)
    field, edits = retoned(ratios, grey, skin, light, dark, TONES)
    inside = (0, slice(None), slice(40, 88), slice(40, 88))
    torch.testing.assert_close(field[inside], torch.zeros_like(field[inside]), atol=1e-5, rtol=0)
    torch.testing.assert_close(field[0, :, :30], ratios[0, :, :30])
    assert edits[inside].mean() < -0.2
    offsets = tone_layers(grey, skin, [0], [1], TONES)
    assert offsets[inside].mean() > 0.2
    assert not tone_layers(grey, torch.zeros_like(skin), [0], [1], TONES).any()
    assert retoned(ratios, grey, skin, light, dark, ())[1] is ratios


def test_an_edit_to_a_faces_own_end_costs_and_none_does_not():
    masks = torch.ones(2, 1, 128, 128)
    still = torch.zeros(2, 3, 128, 128), torch.zeros(2, 2, 128, 128)
    assert at_own_end(*still, masks) == 0
    assert at_own_end(still[0] + 0.1, still[1], masks) > 0
    assert at_own_end(still[0], still[1] + 1, masks) > 0


def test_nothing_is_pasted_where_there_is_no_face_and_gray_form_has_no_colour():
    chips = torch.rand(1, 3, 128, 128, generator=torch.Generator().manual_seed(0))
    mask = torch.zeros(1, 1, 128, 128)
    edits = torch.full_like(chips, 0.5)
    after = pasted(chips, mask, edits, torch.ones(1, 2, 128, 128))
    torch.testing.assert_close(after, chips, atol=1e-4, rtol=0)
    torch.testing.assert_close(as_form(edits)[:, 1:], torch.zeros(1, 2, 128, 128))
    torch.testing.assert_close(as_form(edits)[:, 0], edits[:, 0])


def test_half_of_the_false_labels_have_another_end_and_half_another_attribute():
    labels = torch.tensor([[0.0, 1.0, 0.0, -1.0, 0.5]]).repeat(2000, 1)
    false, certainty = false_group(labels, 3, torch.Generator().manual_seed(0))
    another = (false[:, :3] != labels[:, :3]).any(1)
    assert torch.all(false[:, :3].sum(1) == 1)
    assert abs(another.float().mean() - 0.5) < 0.05
    assert torch.all(certainty[another] == 1)
    assert set(certainty[~another].tolist()) == {1.0, 0.5}
    assert torch.all((false != labels)[~another].sum(1) == 1)


def test_photos_are_edited_to_other_ends_and_to_the_wanted_ones(training):
    pixels, labels = training
    masks = torch.zeros(12, 3, 128, 128, dtype=torch.uint8)
    generator = torch.Generator().manual_seed(0)
    photos = group_field._Groups(
        pixels, masks, labels, np.ones(12), group_field.AUGMENTATION, generator, 3, "cpu"
    )
    own, goal = photos.ways(300)
    assert torch.all(own != goal)
    assert torch.bincount(goal).min() > 70
    own, goal = photos.ways(300, (1.0, 0.0, 0.0))
    assert torch.all(goal == 0)
    assert set(own.tolist()) == {1, 2}
    _, _, drawn_labels = photos.batch(own[:8])
    assert torch.equal(drawn_labels[:, :3].argmax(1), own[:8])


def test_the_labeller_guides_only_to_ends_that_it_reads():
    preserved = Preserved("groups", "cpu")
    named = replace(SPEC, ends=("east-asian", "white"))
    columns = group_field.guide_columns(named, preserved)
    assert [preserved.labeller.labels[column] for column in columns] == ["asian", "white"]
    with pytest.raises(ConfigError, match="cannot guide towards a,"):
        group_field.guide_columns(SPEC, preserved)


def test_named_ends_may_begin_with_the_trunk_of_two_and_the_other_way_round_not():
    widths = {"widths": [24, 32, 64, 96, 128]}
    check_trunk(zoo.load("race-field").spec, replace(SPEC, config=widths))
    with pytest.raises(ConfigError, match="their networks differ"):
        check_trunk(zoo.load("race-field").spec, SPEC)
    with pytest.raises(ConfigError, match="their networks differ"):
        check_trunk(replace(SPEC, config=widths), zoo.load("race-field").spec)
