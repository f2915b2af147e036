"""Does a composite look like a photo? A small network that learns to tell them apart, as a two-sample test."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.records import ByteArray
from gslopes.faces.gate import manipulation
from gslopes.faces.gate.manipulation import Estimate, Floats
from gslopes.faces.networks.tagger import Tagger, TaggerConfig
from gslopes.stats.agreement import auc
from gslopes.stats.resampling import Rows

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
