"""Edit a face by a template: so much of a pixel's lightness and colour for each unit of the attribute.

The template says where a face changes (``train.regression``, in log-odds of luminance and logarithms of colour), the
chip how: what is bright already hardly becomes brighter, and what is dark keeps its texture. An attribute that is a
tone of skin, as race is, moves the whole face as well:

- Luminance moves by ``lightness`` log-odds a unit, below ``CEILING``.
- Colour follows the curve along which real faces' mean colours lie (median over a quarter of CelebA-wide, by
  lightness): below ``KNEE`` it does not change, above it skin grows paler.

The template's own mean over the face is not used: it would hold the exposure of its training photos.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torchvision.transforms.functional import gaussian_blur

from gslopes.core.levels import LUMA, OFFSET

CEILING = 0.88  # share of the range: no skin is brighter
KNEE = 4.8  # logarithm of a level (plus OFFSET) from which skin grows paler
PALER = (-0.24, 0.066, 0.27)  # change of the logarithm of R, G, B less that of luminance, per logarithm above the knee
SMOOTH = 1.5 / 128  # of the Gaussian before luminance is read, in units of the side: pores and lashes decide little


def template_pictures(
    chips: Tensor, template: Tensor, face: Tensor, distances: Tensor, lightness: float | None
) -> Tensor:
    """Chips (b, 3, S, S), RGB in [0, 1], at K distances, (b, K, 3, S, S) levels, 0 to 255 or a little beyond.

    Arguments as of ``template_edits``; without a lightness the template is in logarithms and is added as it is.
    """
    if lightness is None:
        edits = distances[:, :, None, None, None] * template
    else:
        edits = template_edits(chips, template, face, distances, lightness)
    return ((255 * chips + OFFSET).log()[:, None] + edits).exp_().sub_(OFFSET)


def template_edits(chips: Tensor, template: Tensor, face: Tensor, distances: Tensor, lightness: float = 0.0) -> Tensor:
    """Logarithms to add to chips for a move along an attribute.

    chips: (b, 3, S, S) RGB in [0, 1].
    template: (3, S, S) per unit; its luminance in log-odds, what else it has in logarithms, see ``train.regression``.
    face: (S, S) weights of the face's place in a chip.  distances: (b, K) units to go, 0 for none.
    lightness: log-odds of luminance that the whole face moves a unit; 0 for an attribute that is no tone of skin.

    Returns (b, K, 3, S, S), to be added to the logarithm of levels plus ``OFFSET``; 0 where the distance is 0.
    """
    luma = template.new_tensor(LUMA)[:, None, None]
    form = (template * luma).sum(0)
    colour = template - form
    form, colour = (part - (part * face).sum((-1, -2), keepdim=True) / face.sum() for part in (form, colour))
    sigma = SMOOTH * template.shape[-1]
    smooth = gaussian_blur(chips, 2 * round(2 * sigma) + 1, sigma)
    light = (smooth * luma).sum(1).clamp(0.02, CEILING - 0.01)[:, None]  # (b, 1, S, S)
    units = distances[:, :, None, None]
    odds = (light / (CEILING - light)).log()
    before = (255 * light + OFFSET).log()
    after = (255 * CEILING * torch.sigmoid(odds + units * (lightness + form)) + OFFSET).log()
    edits = (after - before)[:, :, None] + units[:, :, None] * colour
    if lightness:
        toned = (255 * CEILING * torch.sigmoid(odds + units * lightness) + OFFSET).log()
        above = (toned - KNEE).clamp(min=0) - (before - KNEE).clamp(min=0)
        edits = edits + above[:, :, None] * template.new_tensor(PALER)[:, None, None]
    return edits
