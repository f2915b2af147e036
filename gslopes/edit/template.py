"""Edit a face by a template: so much of a pixel's lightness and colour for each unit of the attribute.

The template says where a face changes (``train.regression``, in log-odds of luminance and logarithms of colour), the
chip how: what is bright already hardly becomes brighter, and what is dark keeps its texture. An attribute that is a
tone of skin, as race is, moves the whole face as well:

- Luminance moves by ``lightness`` log-odds a unit, below ``CEILING``.
- Colour follows the curve along which real faces' mean colours lie (median over a quarter of CelebA-wide, by
  lightness): below ``KNEE`` it does not change, above it skin grows paler. How light the skin is around a pixel
  decides, since a highlight on the nose is no paler skin; and where skin darkens, ``BACK`` of the change is made.

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
BACK = 0.5  # share of that change where skin darkens: with all of it red noses become redder than any photo's
SMOOTH = 1.5 / 128  # of the Gaussian before luminance is read, in units of the side: pores and lashes decide little
AROUND = 12 / 128  # of the Gaussian that says how light the skin around a pixel is


def template_pictures(
    chips: Tensor, template: Tensor, face: Tensor, distances: Tensor, lightness: float | None
) -> Tensor:
    """Chips (b, 3, S, S), RGB in [0, 1], at K distances, (b, K, 3, S, S) levels, 0 to 255 or a little beyond.

    Arguments as of ``template_edits``; without a lightness the template is in logarithms and is added as it is.
    """
    if lightness is None:
        edits = distances[:, :, None, None, None] * template.expand(len(chips), -1, -1, -1)[:, None]
    else:
        edits = template_edits(chips, template, face, distances, lightness)
    return ((255 * chips + OFFSET).log()[:, None] + edits).exp_().sub_(OFFSET)


def template_edits(chips: Tensor, template: Tensor, face: Tensor, distances: Tensor, lightness: float = 0.0) -> Tensor:
    """Logarithms to add to chips for a move along an attribute.

    chips: (b, 3, S, S) RGB in [0, 1].
    template: (3, S, S), or (b, 3, S, S) one for each chip, per unit; its luminance in log-odds, what else it has in
        logarithms, see ``train.regression``.
    face: (S, S) weights of the face's place in a chip.  distances: (b, K) units to go, 0 for none.
    lightness: log-odds of luminance that the whole face moves a unit; 0 for an attribute that is no tone of skin.

    Returns (b, K, 3, S, S), to be added to the logarithm of levels plus ``OFFSET``; 0 where the distance is 0.
    """
    luma = template.new_tensor(LUMA)[:, None, None]
    each = template.expand(len(chips), -1, -1, -1)
    form = (each * luma).sum(1)  # (b, S, S)
    colour = each - form[:, None]
    form, colour = (part - (part * face).sum((-1, -2), keepdim=True) / face.sum() for part in (form, colour))
    light = (_blurred(chips, SMOOTH) * luma).sum(1).clamp(0.02, CEILING - 0.01)[:, None]  # (b, 1, S, S)
    units = distances[:, :, None, None]
    edits = (_lightened(light, units * (lightness + form[:, None])) - _logarithm(light))[:, :, None]
    edits = edits + units[:, :, None] * colour[:, None]
    if lightness:
        around = _blurred(light * face, AROUND) / _blurred(face[None, None], AROUND).clamp(min=0.05)
        around = around.clamp(0.02, CEILING - 0.01)
        paler = _above(_lightened(around, units * lightness)) - _above(_logarithm(around))
        paler = torch.where(paler < 0, BACK * paler, paler)
        edits = edits + paler[:, :, None] * template.new_tensor(PALER)[:, None, None]
    return edits


def _lightened(light: Tensor, odds: Tensor) -> Tensor:
    """Logarithms of luminance (share of the range) after its log-odds below ``CEILING`` have moved."""
    return _logarithm(CEILING * torch.sigmoid((light / (CEILING - light)).log() + odds))


def _logarithm(light: Tensor) -> Tensor:
    return (255 * light + OFFSET).log()


def _above(logarithm: Tensor) -> Tensor:
    return (logarithm - KNEE).clamp(min=0)


def _blurred(pictures: Tensor, sigma: float) -> Tensor:
    """sigma: in units of the side."""
    pixels = sigma * pictures.shape[-1]
    return gaussian_blur(pictures, 2 * round(2 * pixels) + 1, pixels)
