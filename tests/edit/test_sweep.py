import numpy as np
import pytest
import torch

from gslopes import zoo
from gslopes.core.errors import ModelError
from gslopes.datasets import rendered
from gslopes.edit.sweep import FaderEditor
from gslopes.train.sets import rendered_chips

VALUES = np.array([-2, -1, 0, 1, 2], np.float32)


@pytest.fixture(scope="module")
def editor() -> FaderEditor:
    return FaderEditor("fader-rendered", reader=None)


@pytest.fixture(scope="module")
def faces() -> rendered.FaceParameters:
    return rendered.sample(24, seed=77).replace(gender=0.0)


def test_a_sweep_has_a_picture_for_every_value_and_the_neutral_one(editor, faces):
    edited, neutral = editor.sweep(rendered_chips(faces, editor.size), VALUES)
    assert edited.shape == (24, 5, 64, 64, 3)
    assert neutral.shape == (24, 64, 64, 3)
    assert edited.dtype == neutral.dtype == np.float32
    assert edited.min() >= 0
    assert edited.max() <= 255


def test_encoding_once_and_decoding_together_is_what_the_network_does_one_by_one(editor, faces):
    chips = rendered_chips(faces, editor.size)[:2]
    edited, _ = editor.sweep(chips, VALUES)
    x = torch.from_numpy(chips).permute(0, 3, 1, 2).float() / 127.5 - 1
    for step, value in enumerate(VALUES):
        _, alone = zoo.load("fader-rendered").module(x, torch.full((2, 1), float(value)))
        expected = ((alone.permute(0, 2, 3, 1).numpy() + 1) * 127.5).clip(0, 255)
        np.testing.assert_allclose(edited[:, step], expected, atol=0.002)


def test_sixteen_bits_move_no_level_by_more_than_one(faces):
    """What the editor does on a CUDA device, here on the CPU with the weights that ship."""
    full, half = FaderEditor("fader-gender"), FaderEditor("fader-gender")
    half.network.half()
    chips = np.stack([np.asarray(chip) for chip in rendered_chips(faces, full.size)[:4]])
    changes = [edited - neutral[:, None] for edited, neutral in (one.sweep(chips, VALUES) for one in (full, half))]
    apart = np.abs(changes[0] - changes[1])
    assert 0 < apart.max() <= 1
    assert (np.rint(changes[0]) != np.rint(changes[1])).mean() < 0.05


def test_the_same_chip_gives_the_same_sweep_twice(editor, faces):
    chips = rendered_chips(faces, editor.size)
    np.testing.assert_array_equal(editor.sweep(chips, VALUES)[0], editor.sweep(chips, VALUES)[0])


def test_the_drawn_cue_rises_with_the_value(editor, faces):
    chips = rendered_chips(faces, editor.size)
    edited, neutral = editor.sweep(chips, VALUES)
    points = rendered_chip_points(editor.size, len(chips))
    added = np.clip(chips[:, None] + edited - neutral[:, None], 0, 255).astype(np.uint8)
    read = np.stack([rendered.gender_readout(added[:, step], points) for step in range(5)], 1)
    # From -1 on; further to the feminine end it extrapolates and adds nothing (training/NOTES.md).
    assert (np.diff(read.mean(0))[1:] > 0.3).all()
    assert (np.diff(read, axis=1)[:, 1:] > 0).mean() > 0.95


def test_an_editor_of_several_attributes_needs_a_reader():
    with pytest.raises(ModelError, match="needs a reader"):
        FaderEditor("fader-gender", reader=None)


def test_a_model_that_does_not_edit_is_no_editor():
    with pytest.raises(ModelError, match="no editor"):
        FaderEditor("reader")


@pytest.mark.parametrize("name", ["fader-gender", "fader-race"])
def test_the_other_attributes_are_read_from_the_photo(name, shared_portrait):
    editor = FaderEditor(name)
    own = editor.own(torch.from_numpy(shared_portrait).permute(2, 0, 1)[None].float() / 255)
    assert own.shape == (1, len(zoo.load(name).spec.labels))
    assert own.abs().max() <= 1


@pytest.fixture
def shared_portrait() -> np.ndarray:
    """The astronaut's aligned chip."""
    from skimage.data import astronaut

    from gslopes.find.align import choose, warp
    from gslopes.networks.mtcnn import Mtcnn

    photo = astronaut()
    face = choose(Mtcnn(32)([photo])[0], 512, 512, 32)
    return warp(photo, face.matrix, 128)


def rendered_chip_points(size: int, n: int) -> np.ndarray:
    from gslopes.zoo.crops import CHIP

    return np.broadcast_to((CHIP * size - 0.5).astype(np.float32), (n, 5, 2))


def test_a_model_that_is_loaded_edits_with_its_own_weights_whatever_is_shipped_under_its_name(faces):
    shipped, trial = (zoo.load("fader-rendered") for _ in range(2))
    with torch.no_grad():
        trial.module.to_rgb.bias += 0.5
    chips = rendered_chips(faces, 64)[:2]
    ours, theirs = (FaderEditor(model, reader=None).sweep(chips, VALUES)[0] for model in (trial, "fader-rendered"))
    np.testing.assert_array_equal(FaderEditor(shipped, reader=None).sweep(chips, VALUES)[0], theirs)
    assert np.abs(ours - theirs).mean() > 5
