"""Carry pictures between a face's own shape and the mean one, so that a template's lids and lips meet the face's.

The offsets of a face's landmarks from their mean are spread over the chip by kriging: a smooth displacement that is
nearly theirs at the landmarks and dies away beyond the face. Landmarks that are not seen, behind hair say, are put
where the others let one expect them.

What the others contradict, such as an eye taken from the photo's mirrored margin, counts as not seen (its residual
when it is left out, Dubrule 1983, Cross validation of kriging in a unique neighborhood); and offsets that still differ
so much that the displacement would fold are smoothed.

Source: Cootes, Edwards, Taylor 2001, Active Appearance Models, §2 (textures in the mean shape, the covariance of
landmarks); Rowland & Perrett 1995.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import grid_sample

from gslopes.edit.landmarks import AT_HAIR, SIDE, mirrored

MOVED, SCALED, TURNED = 3.0, 0.05, 0.05  # pixels, share, radians: deviations of where the five points put a face
REACH = (7.0, 22.0)  # pixels: how far a landmark's offset is felt, by the two Gaussians of the kernel
SPREAD = 3.0  # pixels: standard deviation of offsets, to weigh them against the noise
NOISE = 0.6  # pixels: of a landmark's offset in the displacement
MEASURED = 0.5  # pixels squared: variance with which the parser's parts give a landmark
HIDDEN = 36.0  # pixels squared: that of landmarks at the hair, which hides more of one face than of another
UNSEEN = 1e9  # pixels squared: that of a landmark that is not seen
FARTHEST = 3.0  # an offset counts for no more standard deviations
UNLIKELY = 16.0  # squared deviations from where the others let one expect a landmark: beyond that it counts as not seen
STEEPEST = 0.8  # pixels by which a displacement changes from one pixel to the next, at most: below 1 it never folds
SMOOTHER = (1.0, 2.0, 4.0, 8.0)  # pixels: noise of the offsets of a face whose displacement would be steeper
STEPS = 12  # of the fixed-point iteration that inverts a displacement; each leaves STEEPEST of the error, or less


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
        ``FARTHEST`` deviations, of 1.4826 times the median distance from the median. Those are mostly faces that have
        room around them; the five points of a tight one are less sure, so that a similarity is expected besides.
        """
        whole = points[torch.isfinite(points).all(2).all(1)]
        both = torch.cat([whole, mirrored(whole)]).flatten(1).double()
        middle = both.median(0).values
        spread = FARTHEST * 1.4826 * (both - middle).abs().median(0).values
        kept = torch.minimum(torch.maximum(both, middle - spread), middle + spread)
        mean = kept.mean(0)
        covariance = (kept - mean).T @ (kept - mean) / max(1, len(kept))
        ways = _similarities(mean.view(-1, 2))
        return cls(mean.view(-1, 2).to(points.dtype), covariance + ways.T @ ways)

    def offsets(self, points: Tensor) -> Tensor:
        """Points (b, L, 2), NaN where not seen, to their offsets from the mean as the covariance expects them."""
        apart = (points - self.mean).flatten(1).double()
        noise = self._noise(torch.where(torch.isfinite(apart), apart, torch.inf))
        apart = torch.where(noise < UNSEEN, apart, 0.0)
        apart = torch.minimum(torch.maximum(apart, -FARTHEST * self.deviation), FARTHEST * self.deviation)
        expected = self.covariance @ torch.linalg.solve(self.covariance + torch.diag_embed(noise), apart[..., None])
        return self._unfolded(expected[..., 0].view(points.shape).to(points.dtype))

    def _unfolded(self, offsets: Tensor) -> Tensor:
        """Offsets (b, L, 2), smoothed over neighbouring landmarks until no displacement is steeper than ``STEEPEST``.

        What parts have in common, as the lips of a turned head, stays; what is still too steep is shortened.
        """
        within, result = _kernel(self.mean, self.mean), offsets
        for noise in SMOOTHER:
            steep = self.steepness(result) > STEEPEST
            if not steep.any():
                return result
            smoothing = torch.linalg.solve(within + noise**2 * torch.eye(len(within)).to(within), within).T
            result = torch.where(steep[:, None, None], torch.einsum("lm,bmc->blc", smoothing, offsets), result)
        return result * (STEEPEST / self.steepness(result).clamp(min=STEEPEST))[:, None, None]

    def steepness(self, offsets: Tensor) -> Tensor:
        """By how many pixels the displacement of offsets (b, L, 2) changes from a pixel to the next at most, (b,)."""
        moved = self._displacement(offsets)
        across, down = moved[:, :-1, 1:] - moved[:, :-1, :-1], moved[:, 1:, :-1] - moved[:, :-1, :-1]
        # The larger singular value of each 2 x 2 matrix (across, down).
        squares = across.square().sum(-1) + down.square().sum(-1)
        area = across[..., 0] * down[..., 1] - across[..., 1] * down[..., 0]
        largest = (squares + (squares.square() - 4 * area.square()).clamp(min=0).sqrt()) / 2
        return largest.flatten(1).max(1).values.sqrt()

    def _noise(self, apart: Tensor) -> Tensor:
        """Variances (b, 2 L) of measured offsets (b, 2 L), ``UNSEEN`` where these are infinite.

        One at a time, the landmark that the others contradict most counts as unseen, until none does.
        """
        noise = apart.new_full(apart.shape, MEASURED)
        noise[:, [2 * landmark + axis for landmark in AT_HAIR for axis in (0, 1)]] = HIDDEN
        noise = torch.where(torch.isfinite(apart), noise, UNSEEN)
        apart = torch.where(torch.isfinite(apart), apart, 0.0)
        for _ in range(len(self.mean)):
            inverse = torch.linalg.inv(self.covariance + torch.diag_embed(noise))
            seen = noise < UNSEEN
            alone = (inverse @ torch.where(seen, apart, 0.0)[..., None])[..., 0].square()
            unlikely = torch.where(seen, alone / inverse.diagonal(dim1=1, dim2=2), 0.0).unflatten(1, (-1, 2)).sum(2)
            worst = unlikely.max(1)
            wrong = worst.values > UNLIKELY
            if not wrong.any():
                break
            rows = wrong.nonzero()[:, 0]
            for axis in (0, 1):
                noise[rows, 2 * worst.indices[rows] + axis] = UNSEEN
        return noise

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

    def motion_of_faces(self, steps: Tensor, offsets: Tensor) -> Tensor:
        """How far each pixel of faces moves where the landmarks move by steps (L, 2) of the mean face, (b, S, S, 2).

        offsets: (b, L, 2).
        """
        return self.to_faces(self._displacement(steps[None])[0].permute(2, 0, 1), offsets).permute(0, 2, 3, 1)

    def _displacement(self, offsets: Tensor) -> Tensor:
        """(b, S, S, 2) pixels by which each pixel of the mean shape lies elsewhere in a face."""
        return torch.einsum("pl,blc->bpc", self.weights, offsets).unflatten(1, (SIDE, SIDE))


def _similarities(points: Tensor) -> Tensor:
    """How points (L, 2) move with a deviation along x and y, in size and in angle, (4, 2 L)."""
    x, y = (points - points.mean(0)).T
    still = torch.zeros_like(x)
    ways = [(still + MOVED, still), (still, still + MOVED), (SCALED * x, SCALED * y), (-TURNED * y, TURNED * x)]
    return torch.stack([torch.stack(way, 1).flatten() for way in ways])


def _kernel(a: Tensor, b: Tensor) -> Tensor:
    """(n, m) covariances of the offsets of points a (n, 2) and b (m, 2)."""
    squares = torch.cdist(a, b).square()
    return SPREAD**2 * torch.stack([(-squares / (2 * reach**2)).exp() for reach in REACH]).mean(0)


def _sampled(pictures: Tensor, at: Tensor) -> Tensor:
    """Pictures (b, C, S, S) at places (b, S, S, 2), x y in pixels; those of the border beyond it."""
    places = (2 * at + 1) / SIDE - 1
    return grid_sample(pictures, places, mode="bilinear", padding_mode="border", align_corners=False)
