import inspect

import numpy as np
import pytest
import torch

from gslopes.core.errors import ModelError
from gslopes.core.levels import OFFSET
from gslopes.faces import zoo
from gslopes.faces.edit.editors import editor_of
from gslopes.faces.edit.ends import EndsEditor
from gslopes.faces.edit.photo_values import PhotoValues
from gslopes.faces.edit.sweep import FaderEditor
from gslopes.faces.zoo.spec import Blend, find_spec


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
