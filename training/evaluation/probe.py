"""Has a latent forgotten the attribute? Probes that are trained afresh to read it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn
from torch.nn import functional as F

from gslopes.stats import agreement
from gslopes.stats.ridge_logistic import fit_ridge
from gslopes.validate.estimates import Estimate, Floats
from training.evaluation.calibration import discrimination

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
