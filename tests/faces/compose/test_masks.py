import cv2
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from gslopes.core.records import Motion
from gslopes.faces.compose.masks import (
    CHEST,
    LEAST,
    MEAN,
    NEAR,
    Head,
    central_face,
    head_mask,
    mask_is_degenerate,
    padded,
    soft_mask,
)
from tests.faces.compose.conftest import compose

Y, X = np.mgrid[:128, :128].astype(np.float32)


def disc(x: float, y: float, radius: float) -> np.ndarray:
    return (np.hypot(X - x, Y - y) < radius).astype(np.float32)


FACE = disc(64, 64, 40)


def test_the_mask_is_whole_inside_and_nothing_outside_of_the_region() -> None:
    mask = soft_mask(FACE)
    assert (mask[FACE == 0] == 0).all()
    assert mask[64, 64] == 1
    assert (mask[disc(64, 64, 30) > 0] > 0.99).all()
    over = soft_mask(
        np.ones((128, 128), np.float32)
    )  # a region over the border comes down to zero before it
    assert over[20:-20, 20:-20].min() == 1
    assert np.abs(np.diff(over, axis=0)).max() < 0.13


def test_specks_go_and_pinholes_close_but_an_eye_stays_open() -> None:
    region = (FACE > 0) & (disc(50, 55, 1.5) == 0) & (disc(78, 55, 6) == 0)
    region |= disc(110, 15, 3) > 0
    clean = central_face(region)
    assert clean[55, 50]
    assert not clean[55, 78]
    assert not clean[15, 110]


def test_of_two_faces_the_one_at_the_centre_stays_even_if_smaller() -> None:
    beside = np.roll(disc(64, 64, 50), (-66, -66), (0, 1)) * (X < 60) * (Y < 60)
    region = (disc(80, 80, 16) > 0) | (beside > 0) & (disc(80, 80, 24) == 0)
    clean = central_face(region)
    assert clean[80, 80]
    assert not clean[5, 5]
    framed = (FACE > 0) & ~((Y > 50) & (Y < 54))  # spectacle frames do not part a face
    np.testing.assert_array_equal(central_face(framed), framed)


@settings(deadline=None, max_examples=40)
@given(arrays(np.float32, (32, 32), elements=st.floats(0, 1, width=32)))
def test_a_mask_is_in_range_zero_below_an_eighth_bit_and_on_the_border(likely: np.ndarray) -> None:
    mask = soft_mask(likely)
    assert mask.dtype == np.float32
    assert mask.min() >= 0
    assert mask.max() <= 1
    assert not ((mask > 0) & (mask < np.float32(LEAST))).any()
    assert mask[[0, -1]].max() == 0
    assert mask[:, [0, -1]].max() == 0


def test_no_face_and_no_numbers_are_degenerate_and_a_face_is_not() -> None:
    assert mask_is_degenerate(soft_mask(FACE)) is None
    for nothing in (
        np.zeros((128, 128), np.float32),
        np.full((128, 128), np.nan, np.float32),
        disc(64, 64, 3),
    ):
        assert "face region not found" in (mask_is_degenerate(soft_mask(nothing)) or "")


# --- A face's edit carried beyond the chip: what it carries, its end, what stays --------------------------------------


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
    return Head(head_mask(soft_mask(inside), bust()), soft_mask(oval(S)), oval(S))


def test_face_and_neck_are_one_region_without_a_seam_and_end_before_the_border(head: Head) -> None:
    middle = head.mask[:, BUST // 2]
    chin = round(0.9 * S)
    assert middle[chin : round(CHEST[0] * S)].min() > 0.9  # the chip's own border shows nowhere
    assert middle[round(CHEST[1] * S) :].max() == 0
    falling = middle[round(CHEST[0] * S) :]
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


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_layers_are_widened_to_the_bit_as_written_pixel_by_pixel(head: Head, channels) -> None:
    def blurred(plane: np.ndarray) -> np.ndarray:
        smooth = cv2.GaussianBlur(plane, (0, 0), NEAR * S, borderType=cv2.BORDER_CONSTANT)
        return smooth.reshape(plane.shape)

    layers = np.random.default_rng(1).normal(0, 1, (3, S, S, channels)).astype(np.float32)
    face = padded(head.face)[..., None]
    for layer, wide in zip(layers, head.widened(layers), strict=True):
        inner = padded(layer) * face
        mean = inner.sum((0, 1)) / float(head.face.sum())
        around = (blurred(inner) + MEAN * mean) / (blurred(face) + MEAN)
        np.testing.assert_array_equal(wide, inner + (1 - face) * around)


@pytest.mark.parametrize("blend", ["difference", "ratio"])
def test_in_a_photo_the_neck_follows_and_nothing_else_changes(head: Head, blend) -> None:
    pixels = np.full((BUST, BUST, 3), 160, np.uint8)
    matrix = np.array([(1.0, 0, -S / 4), (0, 1.0, 0)])
    neutral = np.full((S, S, 3), 160, np.float32)
    full = compose(pixels, False, neutral[None] - 80, neutral, head.face, matrix, blend, head=head)
    result = full.picture(0)
    assert abs(int(result[S + 3, BUST // 2, 0]) - 80) <= 2
    assert abs(int(result[S // 2, BUST // 2, 0]) - 80) <= 2
    np.testing.assert_array_equal(result[head.mask == 0], pixels[head.mask == 0])
    pasted = [compose(pixels, False, neutral[None] - 80, neutral, head.face, matrix, "paste", head=item).picture(0)
              for item in (head, None)]  # fmt: skip
    np.testing.assert_array_equal(*pasted)  # a picture stays within the chip


def test_nothing_moves_outside_of_the_face(head: Head) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (BUST, BUST, 3)).astype(np.uint8)
    matrix = np.array([(1.0, 0, -S / 4), (0, 1.0, 0)])
    neutral = np.full((S, S, 3), 128, np.float32)
    motion = Motion(np.full((S, S, 2), 3, np.float32), np.array([1.0], np.float32))
    moved = compose(
        pixels, False, neutral[None], neutral, head.face, matrix, motion=motion, head=head
    )
    outside = padded((head.face > 0).astype(np.float32)) == 0
    np.testing.assert_array_equal(moved.picture(0)[outside], pixels[outside])
    assert (moved.picture(0)[~outside] != pixels[~outside]).any()
