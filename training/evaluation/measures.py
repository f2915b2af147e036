"""Measures on arrays: probabilities and truth, who is who, what a latent remembers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module, util
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn
from torch.nn import functional as F

from gslopes.core.errors import ModelError, UsageError
from gslopes.core.geometry import similarity, warp
from gslopes.core.records import ByteArray, FloatArray
from gslopes.faces.gate import manipulation
from gslopes.faces.gate.manipulation import Estimate, Floats
from gslopes.stats import agreement
from gslopes.stats.resampling import Rows

# -- how well a reader tells yes from no -------------------------------------------------------------------------------


def discrimination(truth: ArrayLike, scores: ArrayLike, people: ArrayLike | None = None) -> Estimate:
    """The area under the ROC curve with its interval over photos, or over people (n,) where several photos show one."""
    yes, score = np.asarray(truth, bool), np.asarray(scores, np.float64)
    clusters = None if people is None else np.asarray(people)
    return manipulation.interval(lambda rows: agreement.auc(yes[rows], score[rows]), len(yes), clusters=clusters)


def expected_calibration_error(truth: ArrayLike, probability: ArrayLike, bins: int = 15) -> Estimate:
    """Mean distance between what the probabilities say and how often it is so, over bins of equal mass.

    truth: (n,) bool.  probability: (n,) in [0, 1], of yes.

    A finite sample has an error above 0 even where the probabilities are right (about 1 / sqrt(n / bins) at most), and
    a resample a larger one: the interval leans upwards.

    Source: Naeini et al. 2015; bins of equal mass as in Nixon et al. 2019, Measuring calibration in deep learning.
    """
    yes, predicted = np.asarray(truth, np.float64), np.asarray(probability, np.float64)

    def error(rows: Rows) -> float:
        order = rows[np.argsort(predicted[rows], kind="stable")]
        ends = np.linspace(0, len(order), min(bins, len(order)) + 1).astype(np.intp)
        sums = np.add.reduceat((predicted - yes)[order], ends[:-1])
        return float(np.abs(sums).sum() / len(order))

    return manipulation.interval(error, len(yes))


# -- is it still the same person? --------------------------------------------------------------------------------------


def cosine(a: ArrayLike, b: ArrayLike) -> Floats:
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


# -- has a latent forgotten the attribute? -----------------------------------------------------------------------------


_HIDDEN, _EPOCHS, _EARLY_STOPPING_EPOCHS = 32, 40, 6


def folds_by_people(people: ArrayLike, folds: int = 5, seed: int = 0) -> NDArray[np.intp]:
    """The fold of each photo, (n,) from 0 to folds-1: all photos of a person in one.  people: (n,) ids."""
    names, which = np.unique(np.asarray(people), return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(names)) % folds
    return np.asarray(order[which], np.intp)


def probe_auc(
    latents: ArrayLike, truth: ArrayLike, folds: ArrayLike, *, people: ArrayLike | None = None, seed: int = 0
) -> Estimate:
    """Can the attribute be read from the latent by a probe trained afresh? AUC 0.5 means that it cannot.

    latents: (n, D).  truth: (n,) bool.
    folds: (n,) integers, three kinds or more, as ``folds_by_people`` makes them: each fold is judged by probes trained
        on the others, of which one decides when to stop.
    people: (n,) ids for the interval, which is over photos without them.

    A network with one hidden layer, on the latent's principal components. The AUC is that of each photo's rank within
    its fold, as scores of different probes do not compare.

    Raises: ValueError with fewer than three folds.
    """
    x, yes, fold = np.asarray(latents, np.float32), np.asarray(truth, bool), np.asarray(folds)
    kinds = np.unique(fold)
    if len(kinds) < 3:
        raise ValueError("a probe needs three folds or more: to train, to validate, to test")
    ranks = np.zeros(len(x))
    for index, kind in enumerate(kinds):
        test, validation = fold == kind, fold == kinds[(index + 1) % len(kinds)]
        training = ~(test | validation)
        parts = _components(x, training)
        scores = _network(
            (parts[training], yes[training]), (parts[validation], yes[validation]), parts[test], seed + index
        )
        ranks[test] = (np.argsort(np.argsort(scores)) + 0.5) / test.sum()
    return discrimination(yes, ranks, people)


def _components(x: NDArray[np.float32], fit: NDArray[np.bool_]) -> NDArray[np.float32]:
    """All photos in the principal components of those to fit on, scaled by one factor: nothing of those is lost."""
    centre = x[fit].mean(0)
    spread = x[fit].std(0)
    standard = (x - centre) / np.where(spread > 1e-6, spread, 1)
    values, vectors = np.linalg.eigh(standard[fit] @ standard[fit].T)
    keep = values > 1e-4 * values[-1]
    base = (standard[fit].T @ vectors[:, keep]) / np.sqrt(values[keep])
    parts = standard @ base
    return np.asarray(parts / parts[fit].std(), np.float32)


Known = tuple[NDArray[np.float32], NDArray[np.bool_]]


def _network(train: Known, validation: Known, test: NDArray[np.float32], seed: int) -> Floats:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        x, y = torch.from_numpy(train[0]), torch.from_numpy(train[1]).float()
        probe = nn.Sequential(nn.Linear(x.shape[1], _HIDDEN), nn.ReLU(), nn.Dropout(0.5), nn.Linear(_HIDDEN, 1))
        optimiser = torch.optim.AdamW(probe.parameters(), 3e-3, weight_decay=0.1)
        best, waited, logits = -np.inf, 0, np.zeros(len(test))
        for _ in range(_EPOCHS):
            probe.train()
            for rows in torch.randperm(len(x)).split(32):
                optimiser.zero_grad()
                F.binary_cross_entropy_with_logits(probe(x[rows])[:, 0], y[rows]).backward()
                optimiser.step()
            probe.eval()
            with torch.no_grad():
                reached = agreement.auc(validation[1], probe(torch.from_numpy(validation[0]))[:, 0].numpy())
                if reached > best:
                    best, waited, logits = reached, 0, probe(torch.from_numpy(test))[:, 0].double().numpy()
                    continue
            waited += 1
            if waited == _EARLY_STOPPING_EPOCHS:
                break
    return logits
