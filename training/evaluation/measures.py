"""Measures on arrays: probabilities and truth, what a reconstruction loses, who is who, what a latent remembers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from gslopes.faces.gate.manipulation import Estimate, Floats, Groups
from gslopes.stats import agreement
from gslopes.stats.ridge_logistic import fit_ridge

# -- how well a reader tells yes from no -------------------------------------------------------------------------------


def discrimination(truth: ArrayLike, scores: ArrayLike, people: ArrayLike | None = None) -> Estimate:
    """The area under the ROC curve with its interval over photos, or over people (n,) where several photos show one."""
    yes, score = np.asarray(truth, bool), np.asarray(scores, np.float64)
    clusters = None if people is None else np.asarray(people)
    return manipulation.interval(lambda rows: agreement.auc(yes[rows], score[rows]), len(yes), clusters=clusters)


def discrimination_by_group(truth: ArrayLike, scores: ArrayLike, groups: ArrayLike, least: int = 20) -> Groups:
    """The area under the ROC curve in every group, and the gap between the groups of ``least`` photos or more."""
    yes, score = np.asarray(truth, bool), np.asarray(scores, np.float64)
    return manipulation.by_group(lambda rows: agreement.auc(yes[rows], score[rows]), groups, least)


def expected_calibration_error(truth: ArrayLike, probability: ArrayLike, bins: int = 15) -> Estimate:
    """Mean distance between what the probabilities say and how often it is so, over bins of equal mass.

    truth: (n,) bool.  probability: (n,) in [0, 1], of yes.

    A finite sample has an error above 0 even where the probabilities are right (about 1 / sqrt(n / bins) at most), and
    a resample a larger one: the interval leans upwards.

    Source: Naeini et al. 2015; bins of equal mass as in Nixon et al. 2019, Measuring calibration in deep learning.
    """
    yes, predicted = np.asarray(truth, np.float64), np.asarray(probability, np.float64)
    return manipulation.interval(lambda rows: _error(yes[rows], predicted[rows], bins), len(yes))


def error_by_group(
    truth: ArrayLike, probability: ArrayLike, groups: ArrayLike, bins: int = 15, least: int = 20
) -> Groups:
    """``expected_calibration_error`` in every group, and the gap between the groups of ``least`` photos or more."""
    yes, predicted = np.asarray(truth, np.float64), np.asarray(probability, np.float64)
    return manipulation.by_group(lambda rows: _error(yes[rows], predicted[rows], bins), groups, least)


def _error(yes: Floats, predicted: Floats, bins: int) -> float:
    order = np.argsort(predicted, kind="stable")
    ends = np.linspace(0, len(order), min(bins, len(order)) + 1).astype(np.intp)
    sums = np.add.reduceat((predicted - yes)[order], ends[:-1])
    return float(np.abs(sums).sum() / len(order))


# -- what is lost between encoder and decoder --------------------------------------------------------------------------


Features = Callable[[ByteArray], Sequence[NDArray[np.floating[Any]]]]

_BATCH = 64


def l1(a: ByteArray, b: ByteArray) -> Estimate:
    """Mean absolute difference of chips (n, S, S, 3) uint8, as a share of the full range: in [0, 1]."""
    return manipulation.mean(_per_photo(lambda d: np.abs(d), a, b) / 255)


def psnr(a: ByteArray, b: ByteArray) -> Estimate:
    """Mean over photos of each photo's peak signal-to-noise ratio, dB; equal photos count as 100 dB.

    a, b: (n, S, S, 3) uint8.
    """
    squared = _per_photo(lambda d: d**2, a, b)
    return manipulation.mean(np.minimum(100.0, 10 * np.log10(255**2 / np.maximum(squared, 1e-12))))


def perceptual(a: ByteArray, b: ByteArray, features: Features) -> Estimate:
    """LPIPS's distance on the given features: 0 for equal chips.

    a, b: (n, S, S, 3) uint8 RGB.
    features: chips (m, S, S, 3) uint8 RGB to a list of stages (m, C, h, w).

    At every position of a stage the channels are scaled to length 1; the squared distance of the two vectors is
    averaged over positions and summed over stages. All weights are 1, so values compare on the same features alone.

    Source: Zhang et al. 2018, The unreasonable effectiveness of deep features as a perceptual metric, eq. 1.
    """
    found = []
    for start in range(0, len(a), _BATCH):
        rows = slice(start, start + _BATCH)
        stages = zip(features(a[rows]), features(b[rows]), strict=True)
        found.append(sum(((_unit(x) - _unit(y)) ** 2).sum(1).mean((1, 2)) for x, y in stages))
    return manipulation.mean(np.concatenate(found) if found else [])


def _unit(stage: NDArray[np.floating[Any]]) -> Floats:
    wide = np.asarray(stage, np.float64)
    return wide / (np.sqrt((wide**2).sum(1, keepdims=True)) + 1e-10)


def _per_photo(measure: Callable[[Floats], Floats], a: ByteArray, b: ByteArray) -> Floats:
    """The mean of a measure of the difference, photo by photo: little memory at a time."""
    return np.array([measure(x.astype(np.float64) - y).mean() for x, y in zip(a, b, strict=True)])


# -- is it still the same person? --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Identity:
    """Cosines of edited faces with their own photo, next to those of two photos of one person and of two persons.

    nearer: share of edited faces whose cosine is nearer to the mean of ``same`` than to the mean of ``different``, or
        above the former; the two means are taken as they are, the interval is over the edited faces.
    """

    edited: Estimate
    same: Estimate
    different: Estimate
    nearer: Estimate


def cosine(a: ArrayLike, b: ArrayLike) -> Floats:
    """Cosine similarity of embeddings (n, D) row by row, (n,); the two broadcast."""
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    length = np.linalg.norm(x, axis=-1) * np.linalg.norm(y, axis=-1)
    return np.asarray((x * y).sum(-1) / np.maximum(length, 1e-12))


def nearer_same(edited_to_centre: ArrayLike, same_person: ArrayLike, different: ArrayLike) -> Identity:
    """Do edited faces look more like the same person than like somebody else?

    edited_to_centre: (n,) cosine of each edited face with the unedited one.
    same_person: (m,) of two photos of one person.  different: (k,) of photos of two persons.
    """
    edited = np.asarray(edited_to_centre, np.float64)
    same, other = manipulation.mean(same_person), manipulation.mean(different)
    nearer = (edited > (same.value + other.value) / 2).astype(np.float64)
    return Identity(manipulation.mean(edited), same, other, manipulation.mean(nearer))


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
_HINT = "pip install 'gslopes[train]'"


class FaceEmbedding:
    """dlib's face recogniser, an optional third party: it shares no weights with ours, nor, to our knowledge, photos.

    A ResNet of 29 layers on faces aligned to 150 pixels, 128 numbers a face. Two photos of one person are on average
    closer than those of two persons, but the embeddings have a common direction: on the London set the cosine of two
    persons is 0.84 on average, of one person neutral and smiling 0.99. Read values next to such pairs, never alone.

    Source: King 2017, http://blog.dlib.net/2017/02/high-quality-face-recognition-with-deep.html; weights in the public
    domain, from the package face_recognition_models.

    Raises: UsageError if the extra ``train`` is not installed; ModelError if its weights are damaged.
    """

    def __init__(self) -> None:
        try:
            dlib: Any = import_module("dlib")
        except ImportError as error:
            raise UsageError("Comparing identities needs dlib, which is not installed.", f"Run: {_HINT}.") from error
        # found, not imported: its __init__ wants a module that newer setuptools no longer have
        package = util.find_spec(_PACKAGE)
        if package is None or not package.submodule_search_locations:
            raise UsageError(f"Comparing identities needs {_PACKAGE}, which is not installed.", f"Run: {_HINT}.")
        file = Path(package.submodule_search_locations[0]) / _WEIGHTS
        try:
            self._network = dlib.face_recognition_model_v1(str(file))
        except RuntimeError as error:
            raise ModelError(f"{file.name} of {_PACKAGE} cannot be loaded: {error}.", f"Run: {_HINT}.") from error

    def __call__(self, photos: Sequence[ByteArray], points: ArrayLike) -> FloatArray:
        """Embeddings (n, 128) float32 of one face a photo; NaN where its points lie in one place.

        photos: n of (H, W, 3) uint8 RGB, of any sizes.
        points: (n, 5, 2), x y of left eye, right eye, nose tip and corners of the mouth, photo frame; for an edited
            photo those of the unedited one, so that both are aligned alike.
        """
        landmarks = np.asarray(points, np.float64)
        rows = [self._one(photo, place) for photo, place in zip(photos, landmarks, strict=True)]
        return np.array(rows, np.float32).reshape(len(rows), 128)

    def _one(self, photo: ByteArray, points: Floats) -> NDArray[np.float64]:
        matrix = similarity(points[:3], _TEMPLATE)
        if matrix is None:
            return np.full(128, np.nan)
        chip = np.ascontiguousarray(warp(photo, matrix, _SIZE))
        return np.array(self._network.compute_face_descriptor(chip))


# -- has a latent forgotten the attribute? -----------------------------------------------------------------------------


_PENALTIES = (1.0, 10.0, 100.0, 1000.0)  # of the probe's squared weights, on standardised components
_HIDDEN, _EPOCHS, _EARLY_STOPPING_EPOCHS = 32, 40, 6


@dataclass(frozen=True, slots=True)
class Probe:
    """Out-of-fold AUC of probes on a latent: a linear one, a small network, and the better of the two.

    The better one is chosen on the same photos, so ``best`` leans upwards: against a latent that has forgotten.
    """

    best: Estimate
    linear: Estimate
    network: Estimate


def folds_by_people(people: ArrayLike, folds: int = 5, seed: int = 0) -> NDArray[np.intp]:
    """The fold of each photo, (n,) from 0 to folds-1: all photos of a person in one.  people: (n,) ids."""
    names, which = np.unique(np.asarray(people), return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(names)) % folds
    return np.asarray(order[which], np.intp)


def probe_auc(
    latents: ArrayLike, truth: ArrayLike, folds: ArrayLike, *, people: ArrayLike | None = None, seed: int = 0
) -> Probe:
    """Can the attribute be read from the latent by a probe trained afresh? AUC 0.5 means that it cannot.

    latents: (n, D).  truth: (n,) bool.
    folds: (n,) integers, three kinds or more, as ``folds_by_people`` makes them: each fold is judged by probes trained
        on the others, of which one decides when to stop and how much to penalise.
    people: (n,) ids for the interval, which is over photos without them.

    Two probes: logistic regression with a squared penalty, and a network with one hidden layer, on the latent's
    principal components. The AUC is that of each photo's rank within its fold, as scores of different probes do not
    compare.

    Raises: ValueError with fewer than three folds.
    """
    x, yes, fold = np.asarray(latents, np.float32), np.asarray(truth, bool), np.asarray(folds)
    kinds = np.unique(fold)
    if len(kinds) < 3:
        raise ValueError("a probe needs three folds or more: to train, to validate, to test")
    scores = np.zeros((2, len(x)))
    for index, kind in enumerate(kinds):
        test, validation = fold == kind, fold == kinds[(index + 1) % len(kinds)]
        training = ~(test | validation)
        parts = _components(x, training)
        train_data, validation_data, test_data = ((parts[mask], yes[mask]) for mask in (training, validation, test))
        scores[0, test] = _linear(train_data, validation_data, test_data[0])
        scores[1, test] = _network(train_data, validation_data, test_data[0], seed + index)
    ranks = np.array([_within(row, fold) for row in scores])
    clusters = None if people is None else np.asarray(people)
    linear, network = (discrimination(yes, row, clusters) for row in ranks)
    return Probe(max(linear, network, key=lambda number: number.value), linear, network)


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


def _linear(train: Known, validation: Known, test: NDArray[np.float32]) -> Floats:
    x, yes = train[0].astype(np.float64), train[1].astype(np.float64)
    fitted = [fit_ridge(x, yes, np.ones((len(x), 1)), penalty)[:, 0] for penalty in sorted(_PENALTIES, reverse=True)]
    best = max(fitted, key=lambda beta: agreement.auc(validation[1], validation[0] @ beta[1:]))
    return np.asarray(test @ best[1:] + best[0])


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


def _within(scores: Floats, fold: NDArray[np.generic]) -> Floats:
    """Scores as ranks within their fold, in (0, 1), so that those of different probes may be pooled."""
    out = np.zeros(len(scores))
    for kind in np.unique(fold):
        rows = fold == kind
        out[rows] = (np.argsort(np.argsort(scores[rows])) + 0.5) / rows.sum()
    return out
