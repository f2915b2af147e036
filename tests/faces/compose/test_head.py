"""Where the face's edit goes beyond the chip: what it carries, where it ends, what stays."""

from __future__ import annotations

import numpy as np
import pytest

from gslopes.core.records import Face, Motion, Photo
from gslopes.faces.compose.head import COLLAR, Head, bust_matrix, head_mask, heads_of, padded
from gslopes.faces.compose.masks import border_ramp, soft_mask
from gslopes.faces.compose.paste import compose
from gslopes.faces.compose.skin import ParserMasker
from gslopes.faces.zoo import load
from gslopes.photos.folder import list_photos, open_photo

S = 64
BUST = 96


def oval(size: int) -> np.ndarray:
    y, x = np.mgrid[:size, :size] / size
    return (np.hypot((x - 0.5) / 0.33, (y - 0.5) / 0.4) < 1).astype(np.float32)


def bust() -> np.ndarray:
    """A face, and a neck below it down to the end of the bust."""
    likely = padded(oval(S))
    likely[S // 2 :, BUST // 2 - 12 : BUST // 2 + 12] = 1
    return likely


@pytest.fixture
def head() -> Head:
    inside = bust()[:S, S // 4 : S // 4 + S]
    return Head(head_mask(soft_mask(inside), bust()), soft_mask(oval(S)))


def test_the_chip_lies_in_the_bust_where_the_matrix_says() -> None:
    matrix = np.array([(0.5, 0.1, 3.0), (-0.1, 0.5, 7.0)])
    point = np.array([31.0, 12.0, 1.0])
    chip = np.zeros((S, S), np.float32)
    chip[20, 10] = 1
    (row, column), *_ = np.argwhere(padded(chip))
    assert (column - 10, row - 20) == pytest.approx(bust_matrix(matrix, S) @ point - matrix @ point)


def test_face_and_neck_are_one_region_without_a_seam_and_end_before_the_border(head: Head) -> None:
    middle = head.mask[:, BUST // 2]
    chin = round(0.9 * S)
    assert middle[chin : round(COLLAR[0] * S)].min() > 0.9  # the chip's own border shows nowhere
    assert middle[round(COLLAR[1] * S) :].max() == 0
    falling = middle[round(COLLAR[0] * S) :]
    assert (np.diff(falling) <= 1e-6).all()
    assert np.abs(np.diff(falling)).max() < 0.1
    assert head.mask[: S // 2, : BUST // 4].max() == 0  # next to the face nothing


def test_the_neck_gets_the_edit_of_the_face_and_the_face_keeps_its_own(head: Head) -> None:
    rng = np.random.default_rng(0)
    tone = np.array((-60.0, -50.0, -40.0), np.float32)
    layers = (tone + rng.normal(0, 5, (2, S, S, 3))).astype(np.float32)
    wide = head.widened(layers)
    inside = padded(head.face) == 1
    np.testing.assert_array_equal(wide[0][inside], padded(layers[0])[inside])
    neck = wide[:, S : S + 10, BUST // 2 - 8 : BUST // 2 + 8]
    np.testing.assert_allclose(neck.mean((1, 2)), np.stack([tone, tone]), atol=1.5)
    assert neck.std((1, 2)).max() < 2  # smooth: the texture of the face is not drawn on the neck


@pytest.mark.parametrize("blend", ["difference", "ratio"])
def test_in_a_photo_the_neck_follows_and_nothing_else_changes(head: Head, blend) -> None:
    pixels = np.full((BUST, BUST, 3), 160, np.uint8)
    matrix = np.array([(1.0, 0, -S / 4), (0, 1.0, 0)])
    neutral = np.full((S, S, 3), 160, np.float32)
    whole = compose(pixels, False, neutral[None] - 80, neutral, head.face, matrix, blend, head=head)
    made = whole.picture(0)
    assert abs(int(made[S + 3, BUST // 2, 0]) - 80) <= 2
    assert abs(int(made[S // 2, BUST // 2, 0]) - 80) <= 2
    np.testing.assert_array_equal(made[head.mask == 0], pixels[head.mask == 0])


def test_nothing_moves_outside_of_the_face(head: Head) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (BUST, BUST, 3)).astype(np.uint8)
    matrix = np.array([(1.0, 0, -S / 4), (0, 1.0, 0)])
    neutral = np.full((S, S, 3), 128, np.float32)
    motion = Motion(np.full((S, S, 2), 3, np.float32), np.array([1.0], np.float32))
    moved = compose(pixels, False, neutral[None], neutral, head.face, matrix, motion=motion, head=head)
    outside = padded((head.face > 0).astype(np.float32)) == 0
    np.testing.assert_array_equal(moved.picture(0)[outside], pixels[outside])
    assert (moved.picture(0)[~outside] != pixels[~outside]).any()


def test_a_pasted_picture_stays_within_the_chip(head: Head) -> None:
    pixels = np.full((BUST, BUST, 3), 160, np.uint8)
    matrix = np.array([(1.0, 0, -S / 4), (0, 1.0, 0)])
    edited, neutral = np.full((1, S, S, 3), 20, np.float32), np.full((S, S, 3), 160, np.float32)
    with_head, without = (
        compose(pixels, False, edited, neutral, head.face, matrix, "paste", head=one).picture(0) for one in (head, None)
    )
    np.testing.assert_array_equal(with_head, without)


def test_a_masker_of_chips_alone_has_no_heads() -> None:
    def masker(photos, faces, chips, border=None):
        return border_ramp(S)[None]

    assert heads_of(masker, [None, None], [None, None], np.zeros((2, S, S, 3), np.uint8)) == [None, None]


def test_the_neck_of_a_portrait_is_found(unpacked) -> None:
    from gslopes.faces.find.align import choose, warp
    from gslopes.faces.find.detect import MtcnnFinder

    photo: Photo = open_photo(list_photos(unpacked("london") / "neutral")[0].path)
    height, width = photo.pixels.shape[:2]
    face = choose(MtcnnFinder()([photo])[0], width, height, 32, 128)
    assert isinstance(face, Face)
    chips = warp(photo.pixels, face.matrix, 128)[None]
    (head,) = ParserMasker(load("face-parser"), "face").heads([photo], [face], chips)
    assert head.mask[132, 96] > 0.9  # four pixels below the chip, below the chin
    assert head.mask[:30, :20].max() == 0  # the backdrop
    assert head.mask.sum() > 1.1 * head.face.sum()
