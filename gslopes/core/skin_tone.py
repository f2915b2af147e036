"""How light skin is in a picture: the individual typology angle."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from gslopes.core.records import ByteArray


def typology_angle(lightness: float, yellow: float) -> float:
    """ITA in degrees from L* and b*: above 55 very light, below -30 dark.

    Source: Chardon, Cretois & Hourseau 1991, doi 10.1111/j.1467-2494.1991.tb00561.x; by atan2, so that b* may be 0.
    """
    return float(np.degrees(np.arctan2(lightness - 50, yellow)))


def typology_angle_of(chip: ByteArray, skin: NDArray[np.bool_]) -> float:
    """That of the median skin colour of a picture, -90 to 90; light and shade change it as much as skin does.

    chip: (S, S, 3) uint8 RGB.  skin: (S, S) bool; without any 0.
    """
    lab = cv2.cvtColor(np.ascontiguousarray(chip).astype(np.float32) / 255, cv2.COLOR_RGB2LAB)[skin]
    light, _, yellow = np.median(lab, 0) if len(lab) else (50.0, 0.0, 1.0)
    return typology_angle(float(light), max(float(yellow), 1e-3))
