"""Does a composite look like a photo? Distances between sets of photos, a two-sample test, colours that none has."""

from __future__ import annotations

import cv2
import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.records import ByteArray, FloatArray
from gslopes.faces.gate import manipulation
from gslopes.faces.gate.manipulation import Estimate, Floats
from gslopes.faces.gate.sweep_measurer import cielab
from gslopes.faces.networks.tagger import Tagger, TaggerConfig
from gslopes.stats.agreement import auc
from gslopes.stats.resampling import Rows

# -- distance between two sets ----------------------------------------------------------------------------------------


def kid(features_a: ArrayLike, features_b: ArrayLike, block: int = 25, seed: int = 0) -> Estimate:
    """Kernel inception distance, squared: about 0 for two sets of one kind, where it may also be below 0.

    features_a, features_b: (n, D) and (m, D), of any network; values compare on the same features alone.
    block: photos of each set in a block, see below.

    The U-statistic of the squared maximum mean discrepancy under the kernel (x·y / D + 1)³, over all pairs. Between
    equal sets that statistic is degenerate and a bootstrap of photos is wrong; the interval therefore resamples the
    statistics of disjoint blocks of both sets, which is right for either case and somewhat too wide.

    Source: Bińkowski et al. 2018, Demystifying MMD GANs, §3; blocks: Zaremba et al. 2013, B-test.
    """
    a, b = np.asarray(features_a, np.float64), np.asarray(features_b, np.float64)
    random = np.random.default_rng(seed)
    first, second = random.permutation(len(a)), random.permutation(len(b))
    ends = range(0, min(len(a), len(b)) - block + 1, block)
    parts = np.array([_mmd(a[first[s : s + block]], b[second[s : s + block]]) for s in ends])
    value = _mmd(a, b)
    if not len(parts):
        return Estimate(value, np.nan, np.nan)
    around = manipulation.mean(parts)
    return Estimate(value, value + around.low - around.value, value + around.high - around.value)


def _mmd(a: Floats, b: Floats) -> float:
    def kernel(x: Floats, y: Floats) -> Floats:
        return np.asarray((x @ y.T / x.shape[1] + 1) ** 3)

    def within(x: Floats) -> float:
        k = kernel(x, x)
        return float((k.sum() - np.trace(k)) / (len(x) * (len(x) - 1)))

    return within(a) + within(b) - 2 * float(kernel(a, b).mean())


# -- a classifier as a two-sample test --------------------------------------------------------------------------------

_EPOCHS, _BATCH = 20, 32

# Of the matched test: log-odds within which two readings are the same, the probability from 0 or 1 within which a
# reading is as sure as can be, and the pairs of a draw without which there is no number.
CALIPER, SURE, LEAST_PAIRS = 0.5, 0.02, 10


def two_sample_auc(
    photos: ByteArray,
    composites: ByteArray,
    people: ArrayLike,
    most: int | None = None,
    draws: int = 5,
    seed: int = 0,
    readings: tuple[ArrayLike, ArrayLike] | None = None,
) -> Estimate:
    """AUC with which a small network, trained for it, tells composites from photos: 0.5 if it cannot.

    photos, composites: (n, S, S, 3) uint8 RGB, row by row of the same photo, sides of 32 or more.  people: (n,) ids.
    most: people in a draw, all of them if None: the more a network learns from, the more it sees.
    readings: (n,) probabilities of an attribute, of the photos and of the composites. Composites are then held against
        photos of other people of whom the same is read, one to one, within ``CALIPER``; those without a match are left
        out. A set of composites differs from its photos by that reading alone, which this test does not count.
        With fewer than ``LEAST_PAIRS`` matches in a draw there is no number (NaN).
    draws: of people, halves and networks; the AUC is their mean, since one draw of some hundred faces may be 0.1 off.

    Every person is drawn to be a photo or a composite, and to be in one of two halves; a network trained on either
    half judges the other, so no one is in both classes, nor in training and test. Colour and position vary little
    while training (mirror, shifts of two pixels), for they may be what gives a composite away. The AUC is the mean of
    both halves', its interval over people, with these draws and networks. Near 0.5 means that this network saw no
    difference with this many photos; another one with more of them may.

    Source: Lopez-Paz & Oquab 2017, Revisiting classifier two-sample tests.
    """
    names, which = np.unique(np.asarray(people), return_inverse=True)
    trials = []
    for draw in range(draws):
        place = np.random.default_rng(seed + draw).permutation(len(names))[which]
        taken, fake, half = place < (most or len(names)), place % 2 == 1, place % 4 // 2
        if readings is not None:
            read = np.where(fake, np.asarray(readings[1]), np.asarray(readings[0]))
            taken, half = _matched(read, fake, taken, np.unique(which, return_index=True)[1])
            if taken.sum() < 2 * LEAST_PAIRS:
                return Estimate(np.nan, np.nan, np.nan)
        chips = np.where(fake[:, None, None, None], composites, photos)
        scores = np.zeros(len(chips))
        for index in (0, 1):
            train, test = taken & (half != index), taken & (half == index)
            scores[test] = _train_and_score(chips, fake, train, test, 2 * (seed + draw) + index)
            trials.append((test, fake, scores))

    def mean(rows: Rows) -> float:
        judged = ((rows[test[rows]], fake, scores) for test, fake, scores in trials)
        return float(np.nanmean([auc(fake[part], scores[part]) for part, fake, scores in judged]))

    return manipulation.interval(mean, len(photos), clusters=which)


def _matched(
    read: Floats, fake: NDArray[np.bool_], taken: NDArray[np.bool_], first: NDArray[np.intp]
) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Which rows have a match of the other class, (n,), and the half, 0 or 1, of each pair.

    read: (n,) probabilities.  fake: which are composites.  taken: which are in the draw.  first: one row a person.
    """
    odds = np.log(np.clip(read, SURE, 1 - SURE) / (1 - np.clip(read, SURE, 1 - SURE)))
    rows = first[taken[first]]
    one, other = rows[fake[rows]], rows[~fake[rows]]
    apart = np.abs(odds[one][:, None] - odds[other])
    pairs = np.stack(linear_sum_assignment(np.where(apart <= CALIPER, apart, 1e3)), 1)
    pairs = pairs[apart[pairs[:, 0], pairs[:, 1]] <= CALIPER]
    chosen, half = np.zeros(len(read), bool), np.zeros(len(read), np.intp)
    for index, (a, b) in enumerate(pairs):
        chosen[[one[a], other[b]]], half[[one[a], other[b]]] = True, index % 2
    return chosen, half


def _train_and_score(
    chips: ByteArray, fake: NDArray[np.bool_], train: NDArray[np.bool_], test: NDArray[np.bool_], seed: int
) -> Floats:
    """Logits of a network trained on the rows ``train`` for the rows ``test``."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Tagger(TaggerConfig(1, (16, 32, 64)))
        x, y = _tensor(chips[train]), torch.from_numpy(fake[train]).float()
        steps = _EPOCHS * -(-len(x) // _BATCH)
        optimiser = torch.optim.AdamW(network.parameters(), 2e-3, weight_decay=0.05)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=steps)
        network.train()
        for _ in range(_EPOCHS):
            for rows in torch.randperm(len(x)).split(_BATCH):
                optimiser.zero_grad()
                F.binary_cross_entropy_with_logits(network(_augmented(x[rows]))[:, 0], y[rows]).backward()
                optimiser.step()
                schedule.step()
        network.eval()
        with torch.no_grad():
            judged = _tensor(chips[test])
            logits = [(network(part) + network(part.flip(3)))[:, 0] for part in judged.split(_BATCH)]
    return torch.cat(logits).double().numpy()


def _tensor(chips: ByteArray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(chips.transpose(0, 3, 1, 2))).float() / 127.5 - 1


def _augmented(x: Tensor) -> Tensor:
    """Half of the chips mirrored, all of them shifted by up to two pixels."""
    mirrored = torch.where(torch.rand(len(x), 1, 1, 1) < 0.5, x.flip(3), x)
    down, right = torch.randint(0, 5, (2,)).tolist()
    padded = F.pad(mirrored, (2, 2, 2, 2), mode="reflect")
    return padded[:, :, down : down + x.shape[2], right : right + x.shape[3]]


# -- colours ----------------------------------------------------------------------------------------------------------

_BIN, _BINS = 4, 64


def colour_ratio(
    photos: ByteArray, composites: ByteArray, masks: FloatArray, rare: float = 0.01, seed: int = 0
) -> Estimate:
    """How many times more often composites have a colour that photos hardly have; 1 for no more often.

    photos, composites: (n, S, S, 3) uint8 RGB, row by row of the same photo.
    masks: (n, S, S) in [0, 1]; pixels of 0.5 and more count, those that the edit may change.
    rare: the share of the photos' pixels that lie in colours called rare.

    Colours are bins of 4 by 4 units of a* and b* (CIELAB, D65). Of one half of the photos, the rarest bins that hold
    ``rare`` of its pixels together, with all bins it has not, are the rare colours; on the other half their share is
    measured in photos and in composites; then the halves change places. The mean share in composites over the mean
    share in photos, with an interval over photos (the bins stay as they are).
    """
    counts = [_colours(chips, masks) for chips in (photos, composites)]  # each (n, bins) shares of a photo's pixels
    half = np.random.default_rng(seed).permutation(len(photos)) % 2
    shares = np.zeros((2, len(photos)))
    for index in (0, 1):
        whole = counts[0][half != index].sum(0)
        order = np.argsort(whole, kind="stable")
        hardly = order[np.cumsum(whole[order]) <= rare * whole.sum()]
        for row, count in enumerate(counts):
            shares[row, half == index] = count[half == index][:, hardly].sum(1)
    original, edited = shares

    def ratio(rows: Rows) -> float:
        below = float(original[rows].mean())
        return float(edited[rows].mean()) / below if below > 0 else np.nan

    return manipulation.interval(ratio, len(photos))


def _colours(chips: ByteArray, masks: FloatArray) -> Floats:
    """(n, bins): of each photo's masked pixels, the share in each bin; zeros where the mask is empty."""
    out = np.zeros((len(chips), _BINS * _BINS))
    for row, (chip, mask) in enumerate(zip(chips, masks, strict=True)):
        ab = np.floor((cielab(chip)[mask >= 0.5][:, 1:] + 128) / _BIN).clip(0, _BINS - 1).astype(np.intp)
        out[row] = np.bincount(ab[:, 0] * _BINS + ab[:, 1], minlength=_BINS * _BINS) / max(1, len(ab))
    return out


# -- the edge of the mask ---------------------------------------------------------------------------------------------


def edge_gradient(picture: ByteArray, weight: FloatArray) -> float:
    """Mean absolute slope of luminance across the edge of a mask, levels a pixel; NaN where the mask has no edge.

    picture: (h, w, 3) uint8 RGB, at full size.  weight: (h, w) in [0, 1], the blending mask in the same frame.

    The slope of each pixel along the mask's own gradient, weighted by that gradient's length: a seam runs along the
    edge, so that its step is across it.
    """
    gray = cv2.cvtColor(np.ascontiguousarray(picture), cv2.COLOR_RGB2GRAY).astype(np.float32)
    mask = np.ascontiguousarray(weight, np.float32)
    (gx, gy), (mx, my) = (
        [cv2.Sobel(a, cv2.CV_32F, *d, ksize=3, scale=1 / 8) for d in ((1, 0), (0, 1))] for a in (gray, mask)
    )
    length = np.hypot(mx, my)
    total = float(length.sum())
    return float(np.abs(gx * mx + gy * my).sum()) / total if total > 1e-6 else float("nan")


def seam(photos: ArrayLike, composites: ArrayLike) -> Estimate:
    """Mean ``edge_gradient`` of composites over that of their photos; 1 where the edge cannot be seen.

    photos, composites: (n,) edge gradients, row by row of the same photo. The interval is over photos.
    """
    before, after = (np.asarray(x, np.float64) for x in (photos, composites))
    known = np.isfinite(before) & np.isfinite(after)
    before, after = before[known], after[known]
    return manipulation.interval(lambda rows: float(after[rows].mean() / before[rows].mean()), len(before))
