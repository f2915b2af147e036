"""Measures of composites: is it the same person, and does it look like a photo?"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.records import Array, ByteArray
from gslopes.faces.gate import manipulation
from gslopes.faces.gate.manipulation import Interval
from gslopes.faces.networks.tagger import Tagger, TaggerConfig
from gslopes.faces.zoo.reader import cosine
from gslopes.stats.resampling import Rows
from training.ranking import auc

# -- is it still the same person? --------------------------------------------------------------------------------------


def nearest_itself(edited: ArrayLike, photos: ArrayLike) -> Interval:
    """Share of edited faces that are nearer, by cosine, to their own photo than to every other one.

    Rank-1 identification (Grother, Quinn, Phillips 2011, NIST IR 7709) with the unedited photos as the gallery: the
    more photos there are, the harder it is. A person who is there twice counts as somebody else; a face without an
    embedding (NaN) is not nearest to itself, and no one is nearer to it.

    edited, photos: (n, D) embeddings, row by row of the same person, two persons or more.
    """
    similarities = np.nan_to_num(
        cosine(np.asarray(edited)[:, None], np.asarray(photos)[None]), nan=-np.inf
    )
    to_self = np.diag(similarities).copy()
    np.fill_diagonal(similarities, -np.inf)
    return manipulation.mean((to_self > similarities.max(1)).astype(np.float64))


# -- does it look like a photo? A small network that learns to tell them apart, as a two-sample test -------------------


_EPOCHS = 20
_BATCH = 32


def two_sample_auc(
    photos: ByteArray, composites: ByteArray, most: int | None = None, draws: int = 5, seed: int = 0
) -> Interval:
    """AUC with which a small network, trained for it, tells composites from photos: 0.5 if it cannot.

    photos, composites: (n, S, S, 3) uint8 RGB, row by row of the same photo, sides of 32 or more.
    most: photos in a draw, all of them if None: the more a network learns from, the more it sees.
    draws: of photos, halves and networks; the AUC is their mean, since one draw of some hundred faces may be 0.1 off.

    Every row is drawn to be a photo or a composite, and to be in one of two halves; a network trained on either half
    judges the other, so no face is in both classes, nor in training and test. Colour and position vary little while
    training (mirror, shifts of two pixels), for they may be what gives a composite away. The AUC is the mean of both
    halves', its interval over photos, with these draws and networks. Near 0.5 means that this network saw no difference
    with this many photos; another one with more of them may.

    Source: Lopez-Paz & Oquab 2017, Revisiting classifier two-sample tests.
    """
    trials = []
    for draw in range(draws):
        order = np.random.default_rng(seed + draw).permutation(len(photos))
        taken = order < (most or len(photos))
        fake = order % 2 == 1
        half = order % 4 // 2
        chips = np.where(fake[:, None, None, None], composites, photos)
        scores = np.zeros(len(chips))
        for index in (0, 1):
            train = taken & (half != index)
            test = taken & (half == index)
            scores[test] = _train_and_score(chips, fake, train, test, 2 * (seed + draw) + index)
            trials.append((test, fake, scores))

    def mean(rows: Rows) -> float:
        judged = ((rows[test[rows]], fake, scores) for test, fake, scores in trials)
        return float(np.nanmean([auc(fake[part], scores[part]) for part, fake, scores in judged]))

    return manipulation.interval(mean, len(photos))


def _train_and_score(
    chips: ByteArray,
    fake: NDArray[np.bool_],
    train: NDArray[np.bool_],
    test: NDArray[np.bool_],
    seed: int,
) -> Array:
    """Logits of a network trained on the rows ``train`` for the rows ``test``."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Tagger(TaggerConfig(1, (16, 32, 64)))
        x = _tensor(chips[train])
        y = torch.from_numpy(fake[train]).float()
        steps = _EPOCHS * -(-len(x) // _BATCH)
        optimiser = torch.optim.AdamW(network.parameters(), 2e-3, weight_decay=0.05)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=steps)
        network.train()
        for _ in range(_EPOCHS):
            for rows in torch.randperm(len(x)).split(_BATCH):
                optimiser.zero_grad()
                F.binary_cross_entropy_with_logits(
                    network(_augmented(x[rows]))[:, 0], y[rows]
                ).backward()
                optimiser.step()
                schedule.step()
        network.eval()
        with torch.no_grad():
            judged = _tensor(chips[test])
            logits = [
                (network(part) + network(part.flip(3)))[:, 0] for part in judged.split(_BATCH)
            ]
    return torch.cat(logits).double().numpy()


def _tensor(chips: ByteArray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(chips.transpose(0, 3, 1, 2))).float() / 127.5 - 1


def _augmented(x: Tensor) -> Tensor:
    """Half of the chips mirrored, all of them shifted by up to two pixels."""
    mirrored = torch.where(torch.rand(len(x), 1, 1, 1) < 0.5, x.flip(3), x)
    down, right = torch.randint(0, 5, (2,)).tolist()
    padded = F.pad(mirrored, (2, 2, 2, 2), mode="reflect")
    return padded[:, :, down : down + x.shape[2], right : right + x.shape[3]]
