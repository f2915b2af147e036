"""Estimators of scikit-learn as functions of a list of pictures.

It is given pictures as they are, for one whose first step makes features of them; if it takes none of these, but rows
of 3 S^2 numbers, pictures of S x S pixels, at last in rows: height, width, colour. The scale of these, 0 to 1 or 0 to
255, is the one that it learned from, if that can be told.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gslopes.ask.pictures import prepare
from gslopes.core import read_beside
from gslopes.core.records import ByteArray

_TOLD = read_beside(__file__, "estimator.toml")


class Estimator:
    """The probabilities of an estimator for a list of pictures.

    labels: of its classes.  notes: what it is given, if that is decided here.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self.__name__ = type(model).__name__
        self.labels = tuple(map(str, model.classes_))
        self.notes: list[str] = []
        steps = [step for _, step in getattr(model, "steps", [("", model)])]
        counts = [getattr(step, "n_features_in_", 0) for step in steps]
        self._side = next(filter(None, map(_side, counts)), 0)
        learned = (getattr(step, name, None) for step in steps for name in _TOLD["learned"])
        self._learned: Any = next((one for one in learned if one is not None), None)

    def __call__(self, images: Sequence[ByteArray]) -> Any:
        """(H, W, 3) uint8 RGB each, to a row of shares each."""
        side = self._side
        answer = self._model.predict_proba
        if any(np.shape(image) != (side, side, 3) for image in images):
            try:
                return answer(images)
            except ValueError:
                if not side:
                    raise
        guessed = self._learned is None
        white = 255 if guessed or np.max(self._learned) > 1 else 1
        facts = {"name": self.__name__, "side": side, "white": white}
        batch = np.stack([prepare(image, side) for image in images]) * (white / 255)
        self.notes[:] = [_TOLD["guessed" if guessed else "known"].format(**facts)]
        try:
            return answer(batch)
        except ValueError:
            return answer(batch.reshape(len(batch), -1))


def _side(count: int) -> int:
    """Of the square picture that has so many numbers; 0 if none does, or it is too small to be one."""
    side = math.isqrt(count // 3)
    return side * (side > 7 and side**2 * 3 == count)
