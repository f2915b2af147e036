"""A network of named ends gives what the network of both ends gives, end by end, if it has its weights."""

import pytest
import torch

from gslopes.core.errors import ConfigError
from gslopes.faces.networks.edit_field import FARTHEST, RATIO
from gslopes.faces.zoo import build, load, read_spec
from gslopes.faces.zoo.spec import find_asset
from tests.groups import groups_spec, groups_state


@pytest.fixture(scope="module")
def chips():
    generator = torch.Generator().manual_seed(7)
    return torch.rand(2, 3, 128, 128, generator=generator) * 2 - 1


def test_ends_of_a_name_are_those_of_the_network_that_they_come_from(chips):
    field = load("race-field").module
    groups = build(groups_spec("black", "tan", "none"))
    groups.load_state_dict(groups_state(field, [(0, 1.0), (1, 0.5), (0, 0.0)]))
    with torch.inference_mode():
        ratios, motions = groups.eval()(chips)
        of_both, _ = field(chips)
    assert ratios.shape == (2, 3, 3, 128, 128)
    assert motions.shape == (2, 3, 2, 128, 128)
    torch.testing.assert_close(ratios[:, 0], of_both[:, 0])
    assert ratios[:, 1].abs().max() > 0.05
    assert (ratios[:, 1] - of_both[:, 1] / 2).abs().max() < 0.02
    assert not ratios[:, 2].any()


def test_the_whole_way_has_bounds(chips):
    groups = build(groups_spec("black", "white"))
    torch.nn.init.constant_(groups.to_ends.bias, 1e4)
    torch.nn.init.constant_(groups.to_motion.bias, -1e4)
    with torch.inference_mode():
        ratios, motions = groups.eval()(chips)
    assert ratios.max() <= RATIO + 1e-4
    assert motions.min() >= -FARTHEST - 1e-3


def test_the_number_of_ends_is_that_of_their_names():
    spec = read_spec(find_asset("models", "race-field") / "spec.toml")
    assert build(groups_spec("a", "b", "c", "d")).to_ends.out_channels == 12
    with pytest.raises(ConfigError):
        build(
            groups_spec("a", "b", config={**spec.config})
        )  # "tone" is of the network of both ends
