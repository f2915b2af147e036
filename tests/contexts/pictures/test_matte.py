"""Measures of a cut-out's edge: they tell a good one from a bad one, drawn and of real portraits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from gslopes.contexts.pictures.cutout import Person, studio
from gslopes.contexts.pictures.matte import Matte, halo, matte
from tests.contexts.pictures.test_cutout import FACE, portrait


def edge_error(cut: Matte, person: Person) -> float:
    """Mean difference of alpha from a reference without any shape: the backdrop's own colour model, along the edge.

    The reference is the pixel's ΔE from the backdrop between 3 (none of the person) and 20 (all), within 15 pixels of
    the mask's edge, and only where the person is at least ΔE 25 away from the backdrop: hair, dark clothes, skin.
    """
    assert person.backdrop is not None
    within, beyond = (
        cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5) for mask in (person.mask, ~person.mask)
    )
    residual, sure = person.backdrop.residual, within > 5
    _, labels = cv2.distanceTransformWithLabels(
        (~sure).astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    table = np.zeros(int(labels.max()) + 1)
    table[labels[sure]] = residual[sure]
    use = (within < 15) & (beyond < 15) & (table[labels] > 25)
    return float(np.abs(cut.alpha - np.clip((residual - 3) / 17, 0, 1))[use].mean())


@pytest.fixture(scope="module")
def cut():
    pixels, _ = portrait(gradient=30)
    person = studio(pixels, FACE)
    return matte(pixels, person), person, pixels


def test_an_alpha_that_is_wrong_along_the_edge_is_farther_from_the_backdrops_own_colours(cut):
    good, person, _ = cut
    wide = np.asarray(cv2.dilate(person.mask.astype(np.float32), np.ones((9, 9))), np.float32)
    narrow = np.asarray(cv2.erode(person.mask.astype(np.float32), np.ones((9, 9))), np.float32)
    errors = [edge_error(Matte(alpha, good.colour), person) for alpha in (good.alpha, wide, narrow)]
    assert errors[0] < 0.03
    assert min(errors[1:]) > 3 * errors[0]


def test_backdrop_in_the_colours_of_the_edge_is_a_halo(cut):
    good, person, pixels = cut
    assert halo(good, person, 320) < 0.15
    # the photo's own colours under a mask that takes in a rim of the backdrop
    wide = np.asarray(cv2.dilate(person.mask.astype(np.uint8), np.ones((7, 7)))).astype(bool)
    assert halo(Matte(wide.astype(np.float32), pixels), replace(person, mask=wide), 320) > 0.5


def test_without_a_backdrop_nothing_is_measured(cut):
    good, person, _ = cut
    bare = replace(person, backdrop=None)
    assert np.isnan(halo(good, bare, 320))


@pytest.mark.slow
def test_real_portraits_keep_to_the_reference_and_have_no_halo(unpacked: Callable[[str], Path]):
    from gslopes.contexts.pictures.cutting import largest_face
    from gslopes.contexts.stimuli import mtcnn
    from gslopes.photos.folder import open_photo

    finder, numbers = mtcnn(40), []
    for path in sorted(unpacked("london").rglob("neutral*/**/*.jpg"))[:102:17]:
        photo = open_photo(path)
        face = largest_face(finder, photo)
        assert face is not None
        person = studio(photo.pixels, face, 1)
        cut = matte(photo.pixels, person)
        numbers.append((edge_error(cut, person), halo(cut, person, min(photo.pixels.shape[:2]))))
    edges, halos = np.array(numbers).T
    assert np.median(edges) < 0.06
    assert np.median(halos) < 0.2
    assert halos.max() < 0.35  # above it a cut-out is flagged
