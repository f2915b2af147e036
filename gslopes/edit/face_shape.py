"""Carry pictures between a face's own shape and the mean one, so that a template's lids and lips meet the face's.

The offsets of a face's landmarks from their mean are spread over the chip by kriging: a smooth displacement that is
nearly theirs at the landmarks and dies away beyond the face. Landmarks that are not seen, behind hair say, are put
where the others let one expect them.

Source: Cootes, Edwards, Taylor 2001, Active Appearance Models, §2 (textures in the mean shape, the covariance of
landmarks); Rowland & Perrett 1995.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import grid_sample

from gslopes.edit.landmarks import SIDE, mirrored

REACH = (7.0, 22.0)  # pixels: how far a landmark's offset is felt, by the two Gaussians of the kernel
SPREAD = 3.0  # pixels: standard deviation of offsets, to weigh them against the noise
NOISE = 0.6  # pixels: of a landmark's offset in the displacement
MEASURED = 0.5  # pixels squared: variance with which the parser's parts give a landmark
UNSEEN = 1e9  # pixels squared: that of a landmark that is not seen
FARTHEST = 3.0  # an offset counts for no more standard deviations
# Of the fixed-point iteration that inverts a displacement. On London's portraits a seventh moves a pixel by 0.004
# pixels on average, on UTKFace by 0.7: some offsets there are so large that the displacement folds and has no inverse.
STEPS = 6


class FaceShape:
    """The mean landmarks of faces, how they vary, and displacements from them.

    mean: (L, 2) pixels of a chip of 128.  covariance: (2 L, 2 L), of the landmarks x y x y ... about it.
    """

    def __init__(self, mean: Tensor, covariance: Tensor) -> None:
        self.mean = mean
        self.covariance = covariance.double()
        self.deviation = self.covariance.diagonal().clamp(min=0).sqrt()
        y, x = torch.meshgrid(*(torch.arange(SIDE).to(mean) for _ in range(2)), indexing="ij")
        self.pixels = torch.stack([x, y], -1)  # (S, S, 2)
        within = _kernel(mean, mean) + NOISE**2 * torch.eye(len(mean)).to(mean)
        self.weights = torch.linalg.solve(within, _kernel(mean, self.pixels.flatten(0, 1))).T.contiguous()  # (S * S, L)

    @classmethod
    def of(cls, points: Tensor) -> FaceShape:
        """The shape of training faces and their mirror images.

        points: (n, L, 2), NaN where not seen; faces of which all are seen count. Outliers count no more than
        ``FARTHEST`` deviations, of 1.4826 times the median distance from the median.
        """
        whole = points[torch.isfinite(points).all(2).all(1)]
        both = torch.cat([whole, mirrored(whole)]).flatten(1).double()
        middle = both.median(0).values
        spread = FARTHEST * 1.4826 * (both - middle).abs().median(0).values
        kept = torch.minimum(torch.maximum(both, middle - spread), middle + spread)
        mean = kept.mean(0)
        covariance = (kept - mean).T @ (kept - mean) / max(1, len(kept))
        return cls(mean.view(-1, 2).to(points.dtype), covariance)

    def offsets(self, points: Tensor) -> Tensor:
        """Points (b, L, 2), NaN where not seen, to their offsets from the mean as the covariance expects them."""
        apart = (points - self.mean).flatten(1).double()
        seen = torch.isfinite(apart)
        apart = torch.where(seen, apart, 0.0)
        apart = torch.minimum(torch.maximum(apart, -FARTHEST * self.deviation), FARTHEST * self.deviation)
        noise = torch.where(seen, MEASURED, UNSEEN)
        expected = self.covariance @ torch.linalg.solve(self.covariance + torch.diag_embed(noise), apart[..., None])
        return expected[..., 0].view(points.shape).to(points.dtype)

    def mirrored(self, offsets: Tensor) -> Tensor:
        """The offsets (b, L, 2) of the same faces seen in a mirror."""
        return mirrored(self.mean + offsets) - self.mean

    def to_mean(self, pictures: Tensor, offsets: Tensor) -> Tensor:
        """Pictures (b, C, S, S) of faces, carried into the mean shape.  offsets: (b, L, 2)."""
        return _sampled(pictures, self.pixels + self._displacement(offsets))

    def to_faces(self, maps: Tensor, offsets: Tensor) -> Tensor:
        """Maps (C, S, S) in the mean shape, carried into that of each face, (b, C, S, S).  offsets: (b, L, 2)."""
        displacement = self._displacement(offsets).permute(0, 3, 1, 2)
        at = self.pixels.expand(len(offsets), -1, -1, -1)
        for _ in range(STEPS):
            at = self.pixels - _sampled(displacement, at).permute(0, 2, 3, 1)
        return _sampled(maps.expand(len(offsets), -1, -1, -1), at)

    def _displacement(self, offsets: Tensor) -> Tensor:
        """(b, S, S, 2) pixels by which each pixel of the mean shape lies elsewhere in a face."""
        return torch.einsum("pl,blc->bpc", self.weights, offsets).unflatten(1, (SIDE, SIDE))


def _kernel(a: Tensor, b: Tensor) -> Tensor:
    """(n, m) covariances of the offsets of points a (n, 2) and b (m, 2)."""
    squares = torch.cdist(a, b).square()
    return SPREAD**2 * torch.stack([(-squares / (2 * reach**2)).exp() for reach in REACH]).mean(0)


def _sampled(pictures: Tensor, at: Tensor) -> Tensor:
    """Pictures (b, C, S, S) at places (b, S, S, 2), x y in pixels; those of the border beyond it."""
    places = (2 * at + 1) / SIDE - 1
    return grid_sample(pictures, places, mode="bilinear", padding_mode="border", align_corners=False)
