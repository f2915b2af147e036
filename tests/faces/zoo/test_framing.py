"""Framings that follow from the editors' chip lie where their sources put them, to the last bit."""

import numpy as np

from gslopes.faces.zoo.framing import CHIP, FRAMES

# Corners of the eyes in dlib's mean shape of five points, to which FairFace's pictures are aligned with a padding of
# 0.25: the left corners of both eyes, then the right ones (dlib, image_transforms/interpolation.h).
CORNERS = np.array(
    [
        (0.1205750620789, 0.2137274526848),
        (0.6460604764104, 0.2289674387677),
        (0.3340850613712, 0.2290642403242),
        (0.8595674595992, 0.2134981538014),
    ]
)


def test_the_eyes_of_fairface_are_the_middles_of_dlibs_corners() -> None:
    eyes = (0.25 + (CORNERS[:2] + CORNERS[2:]) / 2) / 1.5
    wider = (eyes[1, 0] - eyes[0, 0]) / (CHIP[1, 0] - CHIP[0, 0])
    np.testing.assert_array_equal(FRAMES["fairface"], eyes[0] + (CHIP - CHIP[0]) * wider)


def test_the_square_of_celeba_hq_is_four_distances_between_the_eyes() -> None:
    side = 4 * (CHIP[1, 0] - CHIP[0, 0])
    centre = CHIP[:2].mean(0) + 0.1 * (CHIP[3:].mean(0) - CHIP[:2].mean(0))
    np.testing.assert_array_equal(FRAMES["celeba-hq"], (CHIP - centre) / side + 0.5)
