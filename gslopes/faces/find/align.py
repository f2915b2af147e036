"""Choose the face that is edited and align it: five points onto one template by a similarity.

Source of the choice: Joo & Kärkkäinen 2020, §4.2, "we only manipulated the face closest to the center".
"""

from __future__ import annotations

from math import floor

import numpy as np

from gslopes.core.geometry import outside, similarity, warp
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import Detections, Face
from gslopes.faces.zoo.framing import CHIP

__all__ = ["CHIP_SIZE", "choose", "outside", "similarity", "warp"]

CHIP_SIZE = 128


def choose(detections: Detections, width: int, height: int, min_face: int, size: int = CHIP_SIZE) -> Face | SkipReason:
    """The face whose box centre is nearest the photo's centre, or why there is none.

    width, height: of the photo, pixels.  min_face: the least length of the box's shorter side, pixels.
    size: side of the chip, pixels.
    """
    if len(detections.scores) == 0:
        return SkipReason(Reason.NO_FACE)
    if detections.problem:
        return SkipReason(Reason.FACE_NOT_ALIGNED, detections.problem)
    boxes = detections.boxes.astype(np.float64)
    centres = (boxes[:, :2] + boxes[:, 2:]) / 2
    middle = np.array([(width - 1) / 2, (height - 1) / 2])
    index = int(np.argmin(((centres - middle) ** 2).sum(1)))
    side = float((boxes[index, 2:] - boxes[index, :2]).min())
    if not side >= min_face:
        return SkipReason(Reason.FACE_TOO_SMALL, f"{floor(side)} px, at least {min_face} wanted")
    matrix = similarity(detections.points[index], CHIP * size - 0.5)
    if matrix is None:
        return SkipReason(Reason.FACE_NOT_ALIGNED, "its five points do not span a plane")
    return Face(detections.boxes[index], detections.points[index], float(detections.scores[index]), len(boxes), matrix)
