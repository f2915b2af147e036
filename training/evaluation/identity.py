"""Is it still the same person? Face-recognition embeddings of edited faces, next to those of real pairs of photos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module, util
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gslopes.core.errors import ModelError, UsageError
from gslopes.core.geometry import similarity, warp
from gslopes.core.records import ByteArray, FloatArray
from gslopes.validate import estimates
from gslopes.validate.estimates import Estimate, Floats


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
    same, other = estimates.mean(same_person), estimates.mean(different)
    nearer = (edited > (same.value + other.value) / 2).astype(np.float64)
    return Identity(estimates.mean(edited), same, other, estimates.mean(nearer))


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
    return estimates.mean((own > each.max(1)).astype(np.float64))


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
