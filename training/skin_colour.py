"""Which colours skin has at each lightness, and how a pixel's colour moves as its skin grows lighter or darker.

``TABLE`` describes 720,000 pixels of skin: 300 of each of 2,400 faces of those that the race editor is trained on,
Black and White as often, on what the parser sees as skin. A colour is the logarithms of red and blue, each level plus
``OFFSET``, less the luminance's. Light skin is pale and its colours lie close together; dark skin has more colour,
and more kinds of it.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from gslopes.core.geometry import LUMA, OFFSET

# Pigment hides blood: a face that darkens loses this share, at most, of what its parts differ in colour (noses, lips
# and cheeks redder, chins grayer); after a darkening of ``DEPTH`` logarithms of luminance 63 % of it.
DESATURATION = 0.8
DEPTH = 0.3

# How much further colour goes than the table's medians do if a face darkens: exposures differ in the table as well,
# so that from light skin to darker one its colours change less than among faces under one lamp.
SATURATION_GAIN = 2.4

# Logarithm of luminance; then, of the colours found there, medians of red and blue, their standard deviations without
# the outer twentieths, and their correlation. Between two rows colours lie between them.
TABLE = (
    (3.0, 0.228, -0.267, 0.202, 0.241, -0.53),
    (3.4, 0.259, -0.300, 0.179, 0.275, -0.70),
    (3.8, 0.271, -0.336, 0.143, 0.255, -0.77),
    (4.2, 0.289, -0.357, 0.113, 0.226, -0.78),
    (4.6, 0.271, -0.335, 0.087, 0.178, -0.80),
    (5.0, 0.221, -0.254, 0.066, 0.123, -0.78),
    (5.4, 0.155, -0.171, 0.059, 0.089, -0.80),
)


def standardise_colour(colours: Tensor, light: Tensor) -> Tensor:
    """Colours standardised among colours of their lightness, (b, 2, S, S).

    Standard deviations from the median of red, and from blue's among the colours with that red.
    colours: (b, 3, S, S), logarithms of levels plus ``OFFSET`` less the luminance's.
    light: (b, S, S) logarithms of luminance.
    """
    red, blue, red_sd, blue_sd, rho = _at(light)
    r = (colours[:, 0] - red) / red_sd
    b = (colours[:, 2] - blue) / blue_sd
    return torch.stack([r, (b - rho * r) / (1 - rho**2).sqrt()], 1)


def lightened(colours: Tensor, standard: Tensor, after: Tensor) -> Tensor:
    """Logarithms to add to each pixel so that its colour is as usual, or unusual, after as before.

    colours: (b, 3, S, S), as in ``standardise_colour``.  standard: (b, 2, S, S), as ``standardise_colour`` gives them.
    after: (n, S, S) logarithms of luminance, b being n or 1.

    Returns (n, 3, S, S), of which luminance, to first order, does not change. The map between the two normal
    distributions that keeps red's place in its own and blue's place among the colours with that red.
    """
    red, blue, red_sd, blue_sd, rho = _at(after)
    r, rest = standard.unbind(1)
    b = rho * r + (1 - rho**2).sqrt() * rest
    return _without_luminance(red + red_sd * r - colours[:, 0], blue + blue_sd * b - colours[:, 2])


def darkened(colours: Tensor, face: Tensor, before: Tensor, after: Tensor) -> Tensor:
    """Logarithms to add so that a face's colour moves as the usual one does, and becomes more even; gray stays gray.

    colours: (b, 3, S, S), as in ``standardise_colour``, smoothed: what is smaller keeps its own.
    face: (b, 3, 1, 1), their mean over the face.  before: (b, 1, 1), the mean of the logarithms of luminance.
    after: (n, S, S), or (n, 1, 1) if all pixels darken by as much, b being n or 1.

    Returns (n, 3, S, S). What is unusual becomes less so: noses that are red already would become redder than any
    photo's, and chins gray.
    """
    (red, blue), then = _at(before, 2), _at(after, 2)
    share = ((face[:, 0] * red + face[:, 2] * blue) / (red**2 + blue**2)).clamp(0, 1)
    further = SATURATION_GAIN * share
    moved = _without_luminance(further * (then[0] - red), further * (then[1] - blue))
    hidden = -DESATURATION * torch.expm1((after - before).clamp(max=0) / DEPTH)
    return torch.addcmul(moved, hidden[:, None], face - colours)


def colours_of(levels: Tensor) -> tuple[Tensor, Tensor]:
    """Chips (b, 3, S, S), RGB in [0, 1], to colours (b, 3, S, S) and logarithms of luminance (b, S, S)."""
    luma = levels.new_tensor(LUMA)[:, None, None]
    light = (255 * (levels * luma).sum(1) + OFFSET).log()
    return (255 * levels + OFFSET).log() - light[:, None], light


def _at(light: Tensor, first: int = 5) -> tuple[Tensor, ...]:
    """The table's first columns at logarithms of luminance (...), each (...).

    As sums of what each knot adds to the slope: many times as fast as looking rows up.
    """
    knots, at_first, bends = _hinges(light.dtype, light.device)
    beyond = (
        light.clamp(TABLE[0][0], TABLE[-1][0]).flatten() - knots[:-1, None]
    ).relu_()  # (rows - 1, pixels)
    return torch.addmm(at_first[:first], bends[:first], beyond).view(first, *light.shape).unbind()


@cache
@torch.inference_mode(False)  # what is kept here may be wanted by a training later
def _hinges(dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Knots (rows,), columns at the first of them (columns, 1), how their slopes bend at each, (columns, rows - 1)."""
    knots, *columns = torch.tensor(TABLE, dtype=torch.float64).T
    slopes = torch.stack(columns).diff() / knots.diff()
    bends = slopes.diff(prepend=slopes.new_zeros(len(columns), 1))
    return (
        knots.to(device, dtype),
        torch.stack(columns)[:, :1].to(device, dtype),
        bends.to(device, dtype),
    )


def _without_luminance(red: Tensor, blue: Tensor) -> Tensor:
    """Changes of red and blue (n, S, S) to changes of all channels, (n, 3, S, S)."""
    return torch.stack([red, -(LUMA[0] * red + LUMA[2] * blue) / LUMA[1], blue], 1)
