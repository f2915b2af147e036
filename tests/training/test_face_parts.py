from __future__ import annotations

import pytest
import torch

from gslopes.zoo.framing import CHIP
from training.field_template import PARTS, inverse_over_parts, over_parts

CHIP_PIXELS = torch.empty(128, 128)


def only(part):
    return tuple(0.1 if name == part else 0.0 for name in PARTS)


@pytest.mark.parametrize(("part", "point"), [("eyes", 0), ("eyes", 1), ("nose", 2), ("lips", 3), ("lips", 4)])
def test_a_part_is_where_the_template_has_it(part, point):
    """Eyes and nose lie within theirs, the corners of the mouth near the edge of the lips'."""
    x, y = (round(float(v) * 128) for v in CHIP[point])
    inverse = inverse_over_parts(only(part), CHIP_PIXELS)
    assert inverse[y, x] > (5 if part == "lips" else 8)


def test_bounds_have_no_edge_from_part_to_part():
    inverse = inverse_over_parts(only("eyes"), CHIP_PIXELS)
    assert inverse.max().item() == pytest.approx(10, rel=0.05)
    assert inverse.diff(dim=0).abs().max() < 1.2
    assert inverse[100:].max() < 1e-3


def test_one_bound_everywhere_is_that_bound_and_none_is_none():
    torch.testing.assert_close(inverse_over_parts((0.2,) * len(PARTS), CHIP_PIXELS), torch.full((128, 128), 5.0))
    assert not inverse_over_parts((0.0,) * len(PARTS), CHIP_PIXELS).any()


def test_numbers_lie_where_their_parts_do():
    drawn = over_parts(tuple(float(part == "lips") for part in PARTS), CHIP_PIXELS)
    mouth = (CHIP[3] + CHIP[4]) / 2 * 128
    assert drawn[round(float(mouth[1])), round(float(mouth[0]))] > 0.8
    assert drawn[:70].max() < 1e-3


def test_a_part_without_its_bound_is_refused():
    with pytest.raises(ValueError, match=r"shorter|longer"):
        inverse_over_parts((0.1,), CHIP_PIXELS)


def test_bounds_first_used_in_a_sweep_serve_a_training_as_well():
    with torch.inference_mode():
        inverse_over_parts(only("nose"), CHIP_PIXELS)
    odds = torch.ones(128, 128, requires_grad=True)
    torch.tanh(odds * inverse_over_parts(only("nose"), odds)).sum().backward()
    assert odds.grad is not None
    assert odds.grad.abs().max() > 0
