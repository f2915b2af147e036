"""The colours of skin at each lightness: what is usual stays usual, what is unusual becomes less so."""

import pytest
import torch

from gslopes.core.geometry import LUMA
from training.skin_colour import (
    DEPTH,
    DESATURATION,
    SATURATION_GAIN,
    TABLE,
    darkened,
    lightened,
    standardise_colour,
)


def usual(light, red_sds=0.0):
    """A colour (1, 3, 1, 1) at a row of the table, so many standard deviations of red from its median."""
    _, red, blue, red_sd, blue_sd, rho = next(row for row in TABLE if row[0] == light)
    red, blue = red + red_sds * red_sd, blue + rho * red_sds * blue_sd
    return torch.tensor([red, -(LUMA[0] * red + LUMA[2] * blue) / LUMA[1], blue]).view(1, 3, 1, 1)


def at(light):
    return torch.full((1, 1, 1), light)


def paler(colour, before, after):
    return lightened(colour, standardise_colour(colour, at(before)), at(after))


@pytest.mark.parametrize("sds", [-1.5, 0.0, 2.0])
def test_a_colour_keeps_its_place_among_those_of_its_lightness(sds):
    moved = usual(4.2, sds) + paler(usual(4.2, sds), 4.2, 5.0)
    torch.testing.assert_close(moved, usual(5.0, sds), atol=1e-4, rtol=0)
    back = moved + paler(moved, 5.0, 4.2)
    torch.testing.assert_close(back, usual(4.2, sds), atol=1e-4, rtol=0)


def test_nothing_changes_where_lightness_does_not():
    for light in (3.1, 4.0, 5.3, 9.0, 0.0):
        assert paler(usual(4.6, 1.0), light, light).abs().max() < 1e-6
        assert darkened(usual(4.6, 1.0), usual(4.6), at(light), at(light)).abs().max() < 1e-6


def whole(colour, before, after):
    """What moves a face of one colour."""
    return darkened(colour, colour, at(before), at(after))


def test_a_face_darkens_along_the_medians_and_a_gray_one_stays_gray():
    moved = whole(usual(5.4), 5.4, 4.6)
    torch.testing.assert_close(
        moved, SATURATION_GAIN * (usual(4.6) - usual(5.4)), atol=1e-4, rtol=0
    )
    redder = whole(usual(5.4, 2.0), 5.4, 4.6)
    torch.testing.assert_close(
        redder, moved, atol=1e-4, rtol=0
    )  # no more for a face that has more colour already
    assert not whole(torch.zeros(1, 3, 1, 1), 5.4, 4.6).any()
    half = whole(usual(5.4) / 2, 5.4, 4.6)
    torch.testing.assert_close(half, moved / 2, atol=1e-4, rtol=0)


def test_a_darker_face_has_more_even_colours():
    face, nose = usual(5.4), usual(5.4, 2.0)
    for depth, share in ((DEPTH, DESATURATION * (1 - 2.718281828**-1)), (9.0, DESATURATION)):
        after = at(5.4 - depth)
        edited = (
            nose
            + darkened(nose, face, at(5.4), after)
            - face
            - darkened(face, face, at(5.4), after)
        )
        torch.testing.assert_close(edited, (1 - share) * (nose - face), atol=1e-4, rtol=0)
