import pytest
import torch

from gslopes.faces.networks.edit_field import MOTION
from training.field_network import COLOUR, LIGHTNESS, EditField, EditFieldConfig, trunk_of

SMALL = EditFieldConfig(("gender", "young"), size=64, widths=(8, 8, 16, 16, 16))


@pytest.fixture
def field() -> EditField:
    torch.manual_seed(0)
    return EditField(SMALL)


def test_an_untrained_field_changes_nothing(field):
    form, motion = field(torch.rand(2, 3, 64, 64) * 2 - 1)
    assert form.shape == (2, 3, 64, 64)
    assert motion.shape == (2, 2, 64, 64)
    assert not form.any()
    assert not motion.any()


def test_a_trunk_is_an_edit_field_without_its_heads(field):
    weights, trunk = field.state_dict(), trunk_of(field)
    assert {name.split(".")[0] for name in weights.keys() - trunk.keys()} == {
        "to_form",
        "to_motion",
    }


@torch.no_grad()
def test_no_edit_goes_beyond_its_limits(field):
    torch.nn.init.normal_(field.to_form.weight, std=100)
    torch.nn.init.normal_(field.to_motion.weight, std=100)
    form, motion = field(torch.rand(2, 3, 64, 64) * 2 - 1)
    most = form.abs().amax((0, 2, 3))
    assert most[0] == pytest.approx(LIGHTNESS, rel=1e-3)
    assert most[1:].tolist() == pytest.approx([COLOUR] * 2, rel=1e-3)
    assert motion.abs().max() == pytest.approx(MOTION, rel=1e-3)
