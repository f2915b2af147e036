"""Make a face lighter or darker as skin does: highlights saturate, and colour follows lightness as among people.

A decoder averaged over faces knows where a face changes with perceived race, but not by how much skin differs: its mean
change is 0.07 of a logarithm of luminance a unit and bluer than any skin, while the White and Black faces of UTKFace's
training fold differ by 0.28 over two units. So form comes from the template, and tone from these faces:

- Luminance moves by its log-odds below ``CEILING``: what is bright already hardly becomes brighter.
- Colour follows the curve along which the faces' mean colours lie (median over a quarter of CelebA-wide, by lightness):
  below ``KNEE`` it does not change, above it skin grows paler.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torchvision.transforms.functional import gaussian_blur

from gslopes.core.levels import LUMA, OFFSET

CEILING = 0.88  # share of the range: no skin is brighter
LIGHTNESS = 0.22  # log-odds of luminance per unit of the attribute; of more, the mask's edge is seen
FORM = 2.4  # log-odds for a logarithm of the template; 2 is their ratio at a luminance of half the range
FINE = 0.3  # share of the template's own colour that stays
KNEE = 4.8  # logarithm of a level (plus OFFSET) from which skin grows paler
PALER = (-0.24, 0.066, 0.27)  # change of the logarithm of R, G, B less that of luminance, per logarithm above the knee


def tone_edits(chips: Tensor, template: Tensor, face: Tensor, distances: Tensor) -> Tensor:
    """Logarithms to add to chips for a move along perceived skin tone.

    chips: (b, 3, S, S) RGB in [0, 1].  template: (3, S, S) logarithms per unit, see ``train.template``.
    face: (S, S) weights of the face's place in a chip.  distances: (b, K) units to go, 0 for none.

    Returns (b, K, 3, S, S), to be added to the logarithm of levels plus ``OFFSET``; 0 where the distance is 0.
    """
    luma = template.new_tensor(LUMA)[:, None, None]
    side = template.shape[-1]
    form = (template * luma).sum(0)
    fine = template - form
    form, fine = (part - (part * face).sum((-1, -2), keepdim=True) / face.sum() for part in (form, fine))
    sigma = 3 / 128 * side  # pores and lashes decide nothing about the tone
    smooth = gaussian_blur(chips, 2 * round(2 * sigma) + 1, sigma)
    light = (smooth * luma).sum(1).clamp(0.02, CEILING - 0.01)[:, None]  # (b, 1, S, S)
    units = distances[:, :, None, None]
    edited = CEILING * torch.sigmoid((light / (CEILING - light)).log() + units * (LIGHTNESS + FORM * form))
    before, after = ((255 * level + OFFSET).log() for level in (light, edited))
    above = (after - KNEE).clamp(min=0) - (before - KNEE).clamp(min=0)
    paler = template.new_tensor(PALER)[:, None, None]
    return (after - before)[:, :, None] + above[:, :, None] * paler + FINE * units[:, :, None] * fine
