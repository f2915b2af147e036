"""Measures of composites: is it the same person, and does it look like a photo?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module, util
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.nn import functional as F

from gslopes.core.arrays import Array
from gslopes.core.errors import ModelError, UsageError
from gslopes.core.geometry import similarity, warp
from gslopes.core.records import ByteArray, FloatArray
from gslopes.faces.gate import manipulation
from gslopes.faces.gate.manipulation import Estimate
from gslopes.faces.networks.tagger import Tagger, TaggerConfig
from gslopes.stats.agreement import auc
from gslopes.stats.resampling import Rows

# -- is it still the same person? --------------------------------------------------------------------------------------


def cosine(a: ArrayLike, b: ArrayLike) -> Array:
    """Cosine similarity of embeddings (n, D) row by row, (n,); the two broadcast."""
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    length = np.linalg.norm(x, axis=-1) * np.linalg.norm(y, axis=-1)
    return np.asarray((x * y).sum(-1) / np.maximum(length, 1e-12))


def nearest_itself(edited: ArrayLike, photos: ArrayLike) -> Estimate:
    """Share of edited faces that are nearer, by cosine, to their own photo than to every other one.

    Rank-1 identification (Grother, Quinn, Phillips 2011, NIST IR 7709) with the unedited photos as the gallery: the
    more photos there are, the harder it is. A person who is there twice counts as somebody else; a face without an
    embedding (NaN) is not nearest to itself, and no one is nearer to it.

    edited, photos: (n, D) embeddings, row by row of the same person, two persons or more.
    """
    each = np.nan_to_num(cosine(np.asarray(edited)[:, None], np.asarray(photos)[None]), nan=-np.inf)
    own = np.diag(each).copy()
    np.fill_diagonal(each, -np.inf)
    return manipulation.mean((own > each.max(1)).astype(np.float64))


# dlib's chip: 150 pixels, the mean face's unit square in the middle with a quarter of it as margin. The eyes' centres
# and the tip of the nose are those of its 68 mean landmarks; corners of the mouth are left out, as a smile moves them.
_SIZE = 150
_FACE = np.array([(0.2255, 0.2160), (0.7548, 0.2160), (0.4901, 0.5156)])
_TEMPLATE = (_FACE + 0.25) / 1.5 * _SIZE - 0.5
_PACKAGE, _WEIGHTS = "face_recognition_models", "models/dlib_face_recognition_resnet_model_v1.dat"


def face_embedder() -> Callable[[Sequence[ByteArray], ArrayLike], FloatArray]:
    """Dlib's face recogniser, an optional third party: it shares no weights with ours, nor, to our knowledge, photos.

    Called with n photos, (H, W, 3) uint8 RGB of any sizes, and their points (n, 5, 2), x y of left eye, right eye, nose
    tip and corners of the mouth, photo frame, it gives embeddings (n, 128) float32; NaN where the points lie in one
    place. For an edited photo give the points of the unedited one, so that both are aligned alike.

    A ResNet of 29 layers on faces aligned to 150 pixels. Two photos of one person are on average closer than those of
    two persons, but the embeddings have a common direction: on the London set the cosine of two persons is 0.84 on
    average, of one person neutral and smiling 0.99. Read values next to such pairs, never alone.

    Source: King 2017, http://blog.dlib.net/2017/02/high-quality-face-recognition-with-deep.html; weights in the public
    domain, from the package face_recognition_models.

    Raises: UsageError if the extra ``train`` is not installed; ModelError if its weights are damaged.
    """
    # found, not imported: its __init__ wants a module that newer setuptools no longer have
    package = util.find_spec(_PACKAGE)
    if util.find_spec("dlib") is None or package is None or not package.submodule_search_locations:
        raise UsageError(f"Comparing identities needs dlib and {_PACKAGE}.", "Run: pip install 'gslopes[train]'.")
    file = Path(package.submodule_search_locations[0]) / _WEIGHTS
    try:
        network: Any = import_module("dlib").face_recognition_model_v1(str(file))
    except RuntimeError as error:
        raise ModelError(f"{file.name} of {_PACKAGE} cannot be loaded: {error}.", "Install it again.") from error

    def embedded(photos: Sequence[ByteArray], points: ArrayLike) -> FloatArray:
        rows = []
        for photo, place in zip(photos, np.asarray(points, np.float64), strict=True):
            matrix = similarity(place[:3], _TEMPLATE)
            chip = None if matrix is None else np.ascontiguousarray(warp(photo, matrix, _SIZE))
            rows.append(np.full(128, np.nan) if chip is None else np.array(network.compute_face_descriptor(chip)))
        return np.array(rows, np.float32).reshape(len(rows), 128)

    return embedded


# -- does it look like a photo? A small network that learns to tell them apart, as a two-sample test -------------------


_EPOCHS, _BATCH = 20, 32


def two_sample_auc(
    photos: ByteArray, composites: ByteArray, most: int | None = None, draws: int = 5, seed: int = 0
) -> Estimate:
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
        taken, fake, half = order < (most or len(photos)), order % 2 == 1, order % 4 // 2
        chips = np.where(fake[:, None, None, None], composites, photos)
        scores = np.zeros(len(chips))
        for index in (0, 1):
            train, test = taken & (half != index), taken & (half == index)
            scores[test] = _train_and_score(chips, fake, train, test, 2 * (seed + draw) + index)
            trials.append((test, fake, scores))

    def mean(rows: Rows) -> float:
        judged = ((rows[test[rows]], fake, scores) for test, fake, scores in trials)
        return float(np.nanmean([auc(fake[part], scores[part]) for part, fake, scores in judged]))

    return manipulation.interval(mean, len(photos))


def _train_and_score(
    chips: ByteArray, fake: NDArray[np.bool_], train: NDArray[np.bool_], test: NDArray[np.bool_], seed: int
) -> Array:
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
