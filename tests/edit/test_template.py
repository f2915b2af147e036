"""A template moves lightness in log-odds; a tone of skin moves the whole face, and colour along the curve of faces."""

import pytest
import torch

from gslopes.core.levels import OFFSET
from gslopes.edit.template import CEILING, KNEE, PALER, template_edits, template_pictures

LIGHTNESS = 0.2

SIDE = 32
FACE = torch.ones(SIDE, SIDE)
PLAIN = torch.zeros(3, SIDE, SIDE)  # a template without form


def flat(level: float, tint: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> torch.Tensor:
    return torch.tensor(tint)[None, :, None, None] * torch.full((1, 3, SIDE, SIDE), level)


def edits(
    chips: torch.Tensor, *distances: float, template: torch.Tensor = PLAIN, lightness: float = LIGHTNESS
) -> torch.Tensor:
    return template_edits(chips, template, FACE, torch.tensor([distances]), lightness)[0]


def test_nothing_moves_at_distance_0_and_lightness_rises_with_it():
    edited = edits(flat(0.4), -3.0, -1.0, 0.0, 1.0, 3.0).mean((1, 2, 3))
    assert edited[2] == pytest.approx(0, abs=1e-6)
    assert (edited.diff() > 0.05).all()


def test_the_log_odds_of_luminance_move_by_so_much_a_unit():
    level = torch.expm1(edits(flat(0.3), 1.0)[0].mean()) * (0.3 * 255 + OFFSET) / 255 + 0.3
    odds = (level / (CEILING - level)) / (0.3 / (CEILING - 0.3))
    assert odds.log().item() == pytest.approx(LIGHTNESS, rel=1e-3)


def test_what_is_bright_hardly_becomes_brighter_and_nothing_passes_the_ceiling():
    dark, bright = (edits(flat(level), 2.0).mean() for level in (0.2, 0.8))
    assert bright < 0.2 * dark
    level = torch.expm1(edits(flat(0.8), 9.0)[0].mean()) * (0.8 * 255 + OFFSET) / 255 + 0.8
    assert level <= CEILING


def test_dark_skin_keeps_its_colour_and_light_skin_grows_paler_as_it_grows_lighter():
    dark = edits(flat(0.15), 1.0).mean((2, 3))[0]
    assert dark.max() - dark.min() < 1e-5
    assert (0.15 * 255 + OFFSET) < 2.718281828**KNEE
    red, green, blue = edits(flat(0.6), 0.5).mean((2, 3))[0]
    assert red < green < blue
    shares = [((one - green) / (other - PALER[1])).item() for one, other in ((red, PALER[0]), (blue, PALER[2]))]
    assert shares[0] == pytest.approx(shares[1], rel=1e-3)


def test_a_highlight_is_no_paler_skin_and_darkening_takes_back_less_colour():
    spot = flat(0.3)
    spot[:, :, 15:17, 15:17] = 0.8
    colour = edits(spot, 1.0)[0]
    colour = colour[2] - colour[0]  # blue less red
    assert colour[16, 16] == pytest.approx(colour[16, 13].item(), rel=0.1)
    there, back = (edits(flat(0.6), distance).mean((2, 3))[0] for distance in (0.5, -0.5))
    assert 0 < back[0] - back[2] < there[2] - there[0]


def test_each_chip_may_have_a_template_of_its_own():
    random = torch.Generator().manual_seed(0)
    templates = 0.1 * torch.randn(2, 3, SIDE, SIDE, generator=random)
    chips = torch.cat([flat(0.3), flat(0.6)])
    both = template_edits(chips, templates, FACE, torch.tensor([[-1.0, 2.0]] * 2), LIGHTNESS)
    for row in (0, 1):
        torch.testing.assert_close(both[row], edits(chips[row : row + 1], -1.0, 2.0, template=templates[row]))


def test_a_template_gives_form_but_no_mean_of_its_own():
    template = PLAIN.clone()
    template[:, :16], template[:, 16:] = 0.2, 0.1
    edited, plain = (edits(flat(0.3), 1.0, template=each)[0] for each in (template, PLAIN + 5.0))
    assert edited[:, :16].mean() > edited[:, 16:].mean() + 0.05
    torch.testing.assert_close(plain, edits(flat(0.3), 1.0)[0])


def test_an_attribute_that_is_no_tone_of_skin_moves_form_alone():
    template = PLAIN.clone()
    template[:, :16] = 0.4
    edited = edits(flat(0.7), 1.0, template=template, lightness=0.0)[0]
    assert edited[:, :16].mean() > 0.02
    assert edited[:, 16:].mean() < -0.02
    torch.testing.assert_close(edited[0], edited[2])  # no colour: bright skin does not grow paler
    torch.testing.assert_close(edits(flat(0.7), 1.0, lightness=0.0), torch.zeros(1, 3, SIDE, SIDE))


def test_pictures_are_the_chips_times_their_edits_and_a_template_in_logarithms_is_added_as_it_is():
    chips, distances = flat(0.4), torch.tensor([[0.0, 2.0]])
    template = PLAIN + torch.tensor([0.1, 0.0, -0.1])[:, None, None]
    plain = template_pictures(chips, template, FACE, distances, None)[0]
    torch.testing.assert_close(plain[0], 255 * chips[0])
    torch.testing.assert_close(plain[1], (255 * chips[0] + OFFSET) * (2 * template).exp() - OFFSET)
    toned = template_pictures(chips, template, FACE, distances, LIGHTNESS)[0]
    logs = edits(chips, 0.0, 2.0, template=template)
    torch.testing.assert_close(toned, (255 * chips + OFFSET) * logs.exp() - OFFSET)
