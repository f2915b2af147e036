"""An edit of a unit read off real faces: how each pixel of an aligned face goes with an attribute, the others held.

At every pixel the training faces' lightness and colour are regressed on all attributes that an editor knows, weighted
least squares over the faces whose face region the parser sees there. The coefficient of one attribute is the
difference that it alone makes: what usually comes with it, such as age or a smile, has its own. Averaged over
thousands of faces it holds no blotch that a decoder draws. ``edit.template`` applies it.

Source: mean images and their differences as models of faces, Rowland & Perrett 1995, Manipulating facial appearance
through shape and color; here with covariates.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torchvision.transforms.functional import gaussian_blur

from gslopes.compose.skin import ParserMasker
from gslopes.core.errors import ConfigError
from gslopes.core.levels import LUMA, OFFSET
from gslopes.core.records import ByteArray
from gslopes.edit.template import CEILING
from gslopes.zoo import load
from gslopes.zoo.reader import face_window

BATCH = 64
RIDGE = 20.0  # faces: shrinks what few of them say, at the face's edge
FEW = 0.15  # share of the most faces that a pixel has; with fewer its neighbours speak for it
FINE, COARSE = 1 / 128, 8 / 128  # of the Gaussians within the face and beyond it, in units of the chip's side


def coefficients(
    pixels: ByteArray, labels: NDArray[np.float32], weights: NDArray[np.float64], device: str = "cpu"
) -> Tensor:
    """How much a pixel changes for a unit of each attribute, (A, 3, S, S), alike on both sides of the face.

    pixels: (n, S, S, 3) uint8 RGB, chips.  labels: (n, A) in [-1, 1].  weights: (n,) how much each face counts.

    Luminance (BT.601) of a coefficient is in log-odds below ``edit.template.CEILING``; what it has besides is colour,
    in logarithms of levels plus ``OFFSET``.
    """
    size, terms = pixels.shape[1], labels.shape[1] + 1
    masker = ParserMasker(load("parser", device), "face", size, device)
    gram = torch.zeros(size * size, terms, terms, dtype=torch.float64)
    moment = torch.zeros(size * size, terms, 3, dtype=torch.float64)
    weights = np.minimum(weights / weights.mean(), 8)
    for start in range(0, len(pixels), BATCH):
        part = np.array(pixels[start : start + BATCH])
        seen = torch.from_numpy(masker.likelihood(part) > 0.5) * torch.from_numpy(
            weights[start : start + BATCH, None, None].astype(np.float32)
        )
        design = torch.from_numpy(np.pad(labels[start : start + BATCH], ((0, 0), (1, 0)), constant_values=1))
        response = appearance(torch.from_numpy(part).permute(0, 3, 1, 2).float() / 255)
        for within, values in ((seen, response), (seen.flip(2), response.flip(3))):
            flat = within.flatten(1)
            gram += torch.einsum("bp,bi,bj->pij", flat, design, design)
            moment += torch.einsum("bp,bi,bcp->pic", flat, design, values.flatten(2))
    count = gram[:, 0, 0].clone()
    penalty = torch.full((terms,), RIDGE, dtype=torch.float64)
    penalty[0] = 1e-3
    found = torch.linalg.solve(gram + torch.diag(penalty), moment)[:, 1:]  # (S * S, A, 3), without the intercept
    maps = found.permute(1, 2, 0).unflatten(2, (size, size)).float()
    return _extended(maps, (count / count.max()).float().unflatten(0, (size, size)))


def template(
    maps: Tensor, names: tuple[str, ...], shares: Mapping[str, float], colour: float, limit: float = 0.0
) -> Tensor:
    """The template of an editor, (3, S, S): the coefficient of the first attribute, and shares of the others'.

    maps: (A, 3, S, S), see ``coefficients``.  names: A.
    shares: attribute to the share of its coefficient; that of the first is the length of the edit, the others take out
        what readers see move with it.
    colour: share of the first one's colour that stays; the others give lightness alone.
    limit: log-odds a unit that lightness approaches and does not pass, so that lids and lips do not glow; 0 for none.

    Raises: ConfigError for an attribute that the editor does not know.
    """
    unknown = [name for name in shares if name not in names]
    if unknown:
        raise ConfigError(f"The recipe has a share of {unknown[0]!r}.", f"The editor knows {', '.join(names)}.")
    luma = maps.new_tensor(LUMA)[:, None, None]
    form = torch.stack([share * (maps[names.index(name)] * luma).sum(0) for name, share in shares.items()]).sum(0)
    face = face_window(maps.shape[-1]).to(maps)
    form = form - (form * face).sum() / face.sum()  # the mean is the training photos' exposure and tone of skin
    if limit:
        form = limit * torch.tanh(form / limit)
    first = maps[0]
    return form + colour * (first - (first * luma).sum(0))


def appearance(chips: Tensor) -> Tensor:
    """Chips (b, 3, S, S), RGB in [0, 1], to what is regressed, (b, 3, S, S): log-odds of luminance, plus colour."""
    luma = chips.new_tensor(LUMA)[:, None, None]
    light = (chips * luma).sum(1, keepdim=True).clamp(0.02, CEILING - 0.01)
    logs = (255 * chips + OFFSET).log()
    return (light / (CEILING - light)).log() + logs - (logs * luma).sum(1, keepdim=True)


def _extended(maps: Tensor, share: Tensor) -> Tensor:
    """Maps (A, 3, S, S) smoothed, and carried on beyond the face, where few photos show it.

    share: (S, S) of the faces that a pixel has, of the most.
    """
    side = maps.shape[-1]
    weight = torch.where(share > FEW, share, 0.0)[None, None]

    def smooth(sigma: float) -> tuple[Tensor, Tensor]:
        kernel = 2 * round(2.5 * sigma * side) + 1
        below = gaussian_blur(weight, kernel, sigma * side)
        return gaussian_blur(maps * weight, kernel, sigma * side) / below.clamp(min=1e-4), below

    (fine, near), (coarse, _) = smooth(FINE), smooth(COARSE)
    inside = ((near - 0.05) / 0.2).clamp(0, 1)
    return inside * fine + (1 - inside) * coarse
