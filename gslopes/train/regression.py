"""An edit of a unit read off real faces: how each pixel of an aligned face goes with an attribute, the others held.

The training faces are carried into the shape of the mean face (``edit.face_shape``), so that lids lie on lids. There,
at every pixel, their lightness and colour are regressed on all attributes that an editor knows, weighted least squares
over the faces whose face region the parser sees there. The coefficient of one attribute is the difference that it alone
makes: what usually comes with it, such as age or a smile, has its own. Averaged over thousands of faces it holds no
blotch that a decoder draws. ``edit.template`` applies it.

What an attribute does to the shape is regressed likewise: how far each landmark moves for a unit, which is how lips,
eyes and brows move along with an edit (``core.records.Motion``). The outline stays: it is the mask's edge.

Source: mean images and their differences as models of faces, in shape and in colour, Rowland & Perrett 1995,
Manipulating facial appearance through shape and color; here with covariates.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torchvision.transforms.functional import gaussian_blur
from tqdm import tqdm

from gslopes.core.errors import ConfigError
from gslopes.core.levels import LUMA, OFFSET
from gslopes.core.records import ByteArray
from gslopes.datasets.celebamask import FACE
from gslopes.edit.face_shape import FaceShape
from gslopes.edit.landmarks import landmarks
from gslopes.edit.template import CEILING, blurred
from gslopes.zoo import load
from gslopes.zoo.parsing import class_probabilities
from gslopes.zoo.reader import face_window

BATCH = 64
SURE = 0.9  # likelihood of the face region from which a pixel counts: at its rim hair shines through
RIDGE = 20.0  # faces: shrinks what few of them say, at the face's edge
FEW = 0.15  # share of the most faces that a pixel has; with fewer its neighbours speak for it
BROAD = 6 / 128  # of the Gaussian that lightness has passed which varies slowly, in units of the chip's side
FINE, COARSE = 1 / 128, 8 / 128  # of the Gaussians within the face and beyond it, in units of the chip's side


def shape_and_regions(pixels: ByteArray, device: str = "cpu") -> tuple[FaceShape, Tensor, Tensor]:
    """The mean shape of faces, (n, L, 2) offsets of each face's landmarks from it, and (n, S, S) uint8 face regions.

    pixels: (n, S, S, 3) uint8 RGB, chips.
    """
    parser = load("parser", device)
    points, regions = [], []
    for start in tqdm(range(0, len(pixels), BATCH), desc="landmarks", unit="batch"):
        seen = class_probabilities(parser, np.array(pixels[start : start + BATCH]), torch.device(device))
        points.append(landmarks(seen, parser.spec.labels).cpu())
        region = seen[:, [parser.spec.labels.index(name) for name in FACE]].sum(1)
        regions.append((255 * region).byte().cpu())
    shape = FaceShape.of(torch.cat(points))
    return shape, torch.cat([shape.offsets(part) for part in points]), torch.cat(regions)


def coefficients(
    pixels: ByteArray,
    labels: NDArray[np.float32],
    weights: NDArray[np.float64],
    shape: FaceShape,
    offsets: Tensor,
    regions: Tensor,
) -> Tensor:
    """How much a pixel of the mean face changes for a unit of each attribute, (A, 3, S, S), alike on both sides.

    pixels: (n, S, S, 3) uint8 RGB, chips.  labels: (n, A) in [-1, 1].  weights: (n,) how much each face counts.
    shape, offsets, regions: as of ``shape_and_regions``.

    Luminance (BT.601) of a coefficient is in log-odds below ``edit.template.CEILING``; what it has besides is colour,
    in logarithms of levels plus ``OFFSET``.
    """
    size, terms = pixels.shape[1], labels.shape[1] + 1
    gram = torch.zeros(size * size, terms * terms, dtype=torch.float64)
    moment = torch.zeros(3, size * size, terms, dtype=torch.float64)
    counts = torch.from_numpy(np.minimum(weights / weights.mean(), 8).astype(np.float32))
    for start in tqdm(range(0, len(pixels), BATCH), desc="regression", unit="batch"):
        rows = slice(start, start + BATCH)
        chips = torch.from_numpy(np.array(pixels[rows])).permute(0, 3, 1, 2).float() / 255
        faces = torch.cat([chips, regions[rows, None].float() / 255], 1)
        design = torch.from_numpy(np.pad(labels[rows], ((0, 0), (1, 0)), constant_values=1))
        products = (design[:, :, None] * design[:, None]).flatten(1)
        sides = (faces, offsets[rows]), (faces.flip(3), shape.mirrored(offsets[rows]))
        for pictures, offset in sides:
            there = shape.to_mean(pictures, offset)
            seen = ((there[:, 3] > SURE) * counts[rows, None, None]).flatten(1)
            gram += seen.T @ products
            for moments, values in zip(moment, appearance(there[:, :3]).flatten(2).unbind(1), strict=True):
                moments += (seen * values).T @ design
    count = gram[:, 0].clone()
    penalty = torch.full((terms,), RIDGE, dtype=torch.float64)
    penalty[0] = 1e-3
    normal = gram.unflatten(1, (terms, terms)) + torch.diag(penalty)
    found = torch.linalg.solve(normal, moment.permute(1, 2, 0))[:, 1:]  # (S * S, A, 3), without the intercept
    maps = found.permute(1, 2, 0).unflatten(2, (size, size)).float()
    share = (count / count.max()).float().unflatten(0, (size, size))
    # Both are symmetric, but for rounding, which decides whether a face has a pixel of its rim.
    return _extended((maps + maps.flip(3)) / 2, (share + share.flip(1)) / 2)


def motions(labels: NDArray[np.float32], weights: NDArray[np.float64], shape: FaceShape, offsets: Tensor) -> Tensor:
    """How far each landmark of the mean face moves for a unit of each attribute, (A, L, 2) pixels of the chip.

    labels: (n, A) in [-1, 1].  weights: (n,) how much each face counts.  shape, offsets: as of ``shape_and_regions``.
    """
    counts = np.tile(np.minimum(weights / weights.mean(), 8), 2)[:, None]
    design = np.tile(np.pad(labels, ((0, 0), (1, 0)), constant_values=1).astype(np.float64), (2, 1))
    moved = torch.cat([offsets, shape.mirrored(offsets)]).flatten(1).double().numpy()
    penalty = np.diag([1e-3] + [RIDGE] * labels.shape[1])
    found = np.linalg.solve(design.T @ (counts * design) + penalty, design.T @ (counts * moved))[1:]
    return torch.from_numpy(found).float().unflatten(1, (-1, 2))


def combined(maps: Tensor, names: tuple[str, ...], shares: Mapping[str, float]) -> Tensor:
    """The sum of shares of the attributes' coefficients, (...).

    maps: (A, ...).  names: A.  shares: attribute to its share.

    Raises: ConfigError for an attribute that the editor does not know.
    """
    unknown = [name for name in shares if name not in names]
    if unknown:
        raise ConfigError(f"The recipe has a share of {unknown[0]!r}.", f"The editor knows {', '.join(names)}.")
    return torch.stack([share * maps[names.index(name)] for name, share in shares.items()]).sum(0)


def template(
    maps: Tensor,
    names: tuple[str, ...],
    shares: Mapping[str, float],
    colour: float,
    limit: float = 0.0,
    broad: float = 1.0,
) -> Tensor:
    """The template of an editor, (3, S, S): the coefficient of the first attribute, and shares of the others'.

    maps: (A, 3, S, S), see ``coefficients``.  names: A.
    shares: attribute to the share of its coefficient; that of the first is the length of the edit, the others take out
        what readers see move with it.
    colour: share of the first one's colour that stays; the others give lightness alone.
    limit: log-odds a unit that lightness approaches and does not pass, so that lids and lips do not glow; 0 for none.
    broad: share of lightness that varies slowly (``BROAD``) which stays; chins and cheeks would darken in patches.

    Raises: ConfigError for an attribute that the editor does not know.
    """
    luma = maps.new_tensor(LUMA)[:, None, None]
    form = (combined(maps, names, shares) * luma).sum(0)
    form = form - (1 - broad) * blurred(form[None, None], BROAD)[0, 0]
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
