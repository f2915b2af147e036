"""Pictures of others on their photo: kept, moved back, or dropped with a reason."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image, ImageCms

from gslopes.core.errors import ConfigError, PhotoError
from gslopes.core.geometry import similarity
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import ByteArray, Face, Photo
from gslopes.faces.components import model_records
from gslopes.faces.config import ComposeConfig
from gslopes.faces.edit.outside import FARTHEST, Fitted, fitted
from gslopes.faces.find import MtcnnFinder, choose
from gslopes.faces.zoo.framing import CHIP
from gslopes.photos.folder import photo_of
from gslopes.slopes.config import RunConfig
from training.drawn import render, sample

SIZE = 320
FRAME = 60
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def png(pixels: ByteArray, form: str = "PNG", **options: object) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, form, **options)
    return file.getvalue()


@cache
def scene(seed: int, **options: object) -> tuple[Photo, Face]:
    """A drawn face with something around it, and a little of a camera's noise."""
    drawn = render(sample(1, seed), SIZE - 2 * FRAME)
    framed = np.pad(drawn.pixels[0], [(FRAME, FRAME), (FRAME, FRAME), (0, 0)], "symmetric")
    noise = np.random.default_rng(seed).normal(0, 3, framed.shape)
    pixels = np.clip(framed + noise, 0, 255).astype(np.uint8)
    points = drawn.points[0] + np.float32(FRAME)
    matrix = similarity(points, CHIP * 128 - 0.5)
    assert matrix is not None
    face = Face(drawn.boxes[0] + np.float32(FRAME), points, 1.0, 1, matrix)
    return photo_of(png(pixels, **options), Path(f"{seed}.png")), face


def edited(photo: Photo, face: Face) -> ByteArray:
    """The photo with another face: smooth, and darker, over all of the box."""
    x0, y0, x1, y1 = face.box.round().astype(int)
    pixels = photo.pixels.copy()
    patch = pixels[y0:y1, x0:x1]
    patch[:] = cv2.GaussianBlur(patch, (0, 0), 4) * 0.9
    return pixels


def warped(
    pixels: ByteArray, x: float = 0, y: float = 0, turn: float = 0, zoom: float = 1
) -> ByteArray:
    height, width = pixels.shape[:2]
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), turn, zoom)
    matrix[:, 2] += (x, y)
    size = (width, height)
    return cv2.warpAffine(
        pixels, matrix, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )


def why(data: bytes, photo: Photo, face: Face) -> SkipReason:
    with pytest.raises(PhotoError) as caught:
        fitted(data, photo, face)
    assert isinstance(caught.value.reason, SkipReason)
    return caught.value.reason


def error(fit: Fitted, photo: Photo) -> float:
    """Mean difference from the photo away from its edges, which a warp makes up."""
    edge = round(0.1 * SIZE)
    inside = (slice(edge, -edge), slice(edge, -edge))
    return float(np.abs(fit.pixels.astype(float) - photo.pixels)[inside].mean())


@pytest.mark.parametrize("seed", range(3))
def test_a_picture_that_did_not_move_keeps_every_bit(seed: int) -> None:
    photo, face = scene(seed)
    for pixels in (photo.pixels, edited(photo, face)):
        fit = fitted(png(pixels), photo, face)
        np.testing.assert_array_equal(fit.pixels, pixels)
        assert (bool(fit.file), fit.moved, fit.background) == (True, 0, 0)


@pytest.mark.parametrize("seed", range(3))
def test_compression_and_light_are_no_motion(seed: int) -> None:
    photo, face = scene(seed)
    for data in (
        png(photo.pixels, "JPEG", quality=50),
        png((photo.pixels * 0.8).astype(np.uint8)),
        png(np.clip(photo.pixels * 1.2, 0, 255).astype(np.uint8)),
    ):
        fit = fitted(data, photo, face)
        assert fit.file
        np.testing.assert_array_equal(fit.pixels, photo_of(data, photo.path).pixels)
        assert 0.5 < fit.background < 50


@pytest.mark.parametrize(
    "motion",
    [
        {"x": 3},
        {"x": -4, "y": 2.5},
        {"turn": 1},
        {"zoom": 1.02},
        {"x": 2, "turn": -1, "zoom": 0.985},
    ],
)
def test_a_picture_that_moved_a_little_is_moved_back(motion: dict[str, float]) -> None:
    for seed in range(2):
        photo, face = scene(seed)
        fit = fitted(png(warped(edited(photo, face), **motion)), photo, face)
        assert not fit.file
        assert 0.002 < fit.moved <= FARTHEST
        before = fitted(png(edited(photo, face)), photo, face).pixels
        left = Fitted(warped(before, **motion), 0, 0, 0, b"")
        right = Photo("", photo.path, before)
        assert error(fit, right) < 0.6 * error(left, right)


@pytest.mark.parametrize("motion", [{"x": 30}, {"turn": 12}, {"zoom": 1.2}, {"turn": 90}])
def test_a_picture_that_moved_far_is_told_so(motion: dict[str, float]) -> None:
    photo, face = scene(1)
    assert why(png(warped(photo.pixels, **motion)), photo, face).reason is Reason.MOVED


def test_how_far_it_moved_is_told() -> None:
    photo, face = scene(1)
    reason = why(png(warped(photo.pixels, x=20)), photo, face)
    assert reason == "the editor moved the face (by 4.4% of the diagonal)"


@pytest.mark.parametrize("seed", range(3))
def test_a_mirrored_picture_is_told_so(seed: int) -> None:
    photo, face = scene(seed)
    for pixels in (photo.pixels, edited(photo, face)):
        assert why(png(pixels[:, ::-1], "JPEG"), photo, face).reason is Reason.MIRRORED


def test_another_picture_lies_nowhere() -> None:
    photo, face = scene(1)
    other, _ = scene(2)
    for pixels in (other.pixels, np.zeros_like(photo.pixels), np.full_like(photo.pixels, 255)):
        assert why(png(pixels), photo, face).reason is Reason.MOVED


def test_another_size_of_the_same_aspect_is_taken() -> None:
    photo, face = scene(3)
    for size in ((160, 160), (336, 320), (640, 608)):
        data = png(np.asarray(Image.fromarray(photo.pixels).resize(size, Image.Resampling.LANCZOS)))
        fit = fitted(data, photo, face)
        assert (fit.pixels.shape, fit.file) == (photo.pixels.shape, b"")
        assert error(fit, photo) < 6


def test_another_aspect_is_told_with_both_sizes() -> None:
    photo, face = scene(3)
    reason = why(png(photo.pixels[:240]), photo, face)
    assert reason == "the editor gave another size (320×240 for 320×320)"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", Reason.EMPTY_FILE),
        (b"<html><body>Sorry</body></html>", Reason.NOT_A_PICTURE),
        (b'{"error": "moderation"}', Reason.NOT_A_PICTURE),
        (png(np.zeros((99, 99, 3), np.uint8), "JPEG")[:500], Reason.TRUNCATED),
    ],
)
def test_what_is_no_picture_has_its_reason(data: bytes, reason: Reason) -> None:
    photo, face = scene(0)
    assert why(data, photo, face).reason is reason


def test_a_face_that_fills_the_photo_is_aligned_by_all_of_it() -> None:
    photo, face = scene(2)
    face = Face(np.array([0, 0, SIZE, SIZE], np.float32), face.points, 1.0, 1, face.matrix)
    fit = fitted(png(warped(photo.pixels, x=4)), photo, face)
    assert fit.moved == pytest.approx(4 / (SIZE * 2**0.5), rel=0.05)
    assert np.isnan(fit.background)
    assert np.isnan(fit.clothes)


def test_a_small_photo_of_nothing_is_not_moved() -> None:
    pixels = np.full((12, 9, 3), 80, np.uint8)
    photo = photo_of(png(pixels), Path("plain.png"))
    _, face = scene(0)
    assert fitted(png(pixels), photo, face).file


def test_what_changed_outside_of_the_face_is_told() -> None:
    photo, face = scene(1)
    pixels = photo.pixels.copy()
    pixels[:20] = np.minimum(pixels[:20], 155) + 100
    fit = fitted(png(pixels), photo, face)
    assert fit.background > 4
    assert fit.clothes == 0
    pixels = photo.pixels.copy()
    pixels[-20:] = 255 - pixels[-20:]
    fit = fitted(png(pixels), photo, face)
    assert fit.clothes > 4 * fit.background


def test_a_picture_in_other_colours_comes_into_the_photos() -> None:
    photo, face = scene(0, icc_profile=SRGB)
    assert photo.icc == SRGB
    wide = ImageCms.createProfile("sRGB")
    bare, _ = scene(0)
    for of in (photo, bare):
        for profile in (None, SRGB, ImageCms.ImageCmsProfile(wide).tobytes()):
            data = png(photo.pixels, **({"icc_profile": profile} if profile else {}))
            fit = fitted(data, of, face)
            assert np.abs(fit.pixels.astype(int) - photo.pixels).max() <= 2


def test_our_own_editors_keep_no_whole() -> None:
    with pytest.raises(ConfigError, match="Leave out blend=whole"):
        model_records(RunConfig(photos=Path(), compose=ComposeConfig(blend="whole")))


# --- real photos ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.evidence
def test_on_portraits_it_errs_by_less_than_a_pixel_and_drops_none(
    unpacked: Callable[[str], Path],
) -> None:
    folder = unpacked("london") / "neutral"
    finder = MtcnnFinder()
    rng = np.random.default_rng(0)
    for file in sorted(folder.glob("*.jpg"))[:30]:
        photo = photo_of(file.read_bytes(), file)
        height, width = photo.pixels.shape[:2]
        face = choose(finder([photo])[0], width, height, 32)
        assert isinstance(face, Face)
        pixels = edited(photo, face)
        for data in (png(pixels), png(pixels, "JPEG", quality=50)):
            assert fitted(data, photo, face).moved < 0.002
        x, y = rng.uniform(-0.015, 0.015, 2) * np.hypot(width, height)
        fit = fitted(png(warped(pixels, x, y), "JPEG", quality=80), photo, face)
        assert fit.moved * np.hypot(width, height) == pytest.approx(np.hypot(x, y), abs=1.5)
        assert why(png(pixels[:, ::-1], "JPEG"), photo, face).reason is Reason.MIRRORED
        for motion in ({"x": 0.06 * width}, {"turn": 8}, {"zoom": 1.15}):
            moved = png(warped(pixels, **motion))
            assert why(moved, photo, face).reason is Reason.MOVED
