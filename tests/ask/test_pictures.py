import io

import numpy as np
import pytest
from PIL import Image

from gslopes.ask.pictures import (
    batch_of,
    beside,
    decoded,
    fit_pictures,
    halves,
    normalise,
    png,
    prepare,
)
from gslopes.core.errors import PhotoError, Refused
from gslopes.core.traits import Limits


def test_the_middle_square_is_what_is_kept():
    wide = np.zeros((10, 30, 3), np.uint8)
    wide[:, 10:20] = 200
    assert (prepare(wide, 10) == 200).all()
    assert (prepare(wide.transpose(1, 0, 2), 5)[1:-1] == 200).all()
    for shape in ((1, 1), (1, 500), (500, 1)):
        assert (
            prepare(np.full((*shape, 3), 7, np.uint8), 16).tolist()
            == np.full((16, 16, 3), 7).tolist()
        )


def test_two_pictures_side_by_side_keep_every_pixel_and_are_the_same_file_each_time():
    left, right = np.random.default_rng(0).integers(0, 256, (2, 31, 23, 3), np.uint8)
    both = beside(png(left), png(right))
    assert both == beside(png(left), png(right)) != beside(png(right), png(left))
    assert np.array_equal(decoded([both])[0], np.hstack([left, right]))
    assert all(map(np.array_equal, decoded(halves(both)), (left, right)))
    wide = np.zeros(
        (400, 3000, 3), np.uint8
    )  # as large as models take them, and the other one as large
    assert [half.shape for half in decoded(halves(beside(png(wide), png(left))))] == [
        (205, 1536, 3)
    ] * 2
    with pytest.raises(PhotoError):
        beside(png(left), b"no picture")


def test_shrinking_averages_instead_of_skipping():
    board = (np.indices((256, 256)).sum(0) % 2 * 255).astype(np.uint8)
    small = prepare(np.stack([board] * 3, -1), 16)
    assert abs(small.astype(int) - 127).max() <= 2


def test_normalising_is_the_formula_and_the_layout():
    batch = np.random.default_rng(0).integers(0, 256, (2, 4, 4, 3), np.uint8)
    mean, std = (0.1, 0.2, 0.3), (0.5, 0.6, 0.7)
    expected = (batch / 255 - mean) / std
    np.testing.assert_allclose(normalise(batch, mean, std, layout="nhwc"), expected, atol=1e-6)
    np.testing.assert_allclose(
        normalise(batch, mean, std), expected.transpose(0, 3, 1, 2), atol=1e-6
    )
    whole = normalise(batch, (0, 0, 0), (1, 1, 1), white=255)
    assert whole.dtype == np.float32
    assert whole.shape == (2, 3, 4, 4)
    np.testing.assert_allclose(whole, batch.transpose(0, 3, 1, 2), atol=1e-4)


def test_bytes_that_are_no_picture_are_a_photo_error():
    with pytest.raises(PhotoError, match="not a picture"):
        batch_of([b"hello"], 8)


# -- files within a service's limits --


def noise(seed: int, size: tuple[int, int] = (240, 160), kind: str = "PNG") -> bytes:
    """A picture that compresses badly."""
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind)
    return buffer.getvalue()


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def test_what_fits_goes_as_it_is():
    pictures = [noise(0), noise(1)]
    limits = Limits(
        picture_bytes=max(map(len, pictures)), max_side=240, min_side=160, formats=("PNG",)
    )
    assert fit_pictures(pictures, limits) == (pictures, "")
    assert fit_pictures([b"no picture"], Limits()) == ([b"no picture"], "")


def test_one_that_is_too_heavy_has_all_of_its_photo_encoded_alike(picture):
    light, heavy = picture((9, 9, 9), (240, 160)), noise(1)
    fitted, how = fit_pictures([light, heavy], Limits(picture_bytes=60_000))
    assert how.startswith("JPEG of quality ")
    assert len(light) < 60_000 < len(heavy)
    assert [opened(data).format for data in fitted] == ["JPEG", "JPEG"]
    assert len({opened(data).size for data in fitted}) == 1
    assert max(map(len, fitted)) <= 60_000
    sides = [
        opened(fit_pictures([noise(0)], Limits(picture_bytes=limit))[0][0]).width
        for limit in (80_000, 3_000)
    ]
    assert sides[0] == 240 > sides[1]  # quality goes before size


def test_too_many_pixels_are_scaled_down_with_their_proportions():
    (fitted,), how = fit_pictures([noise(0)], Limits(max_side=120))
    assert opened(fitted).size == (120, 80)
    assert "longer side 120 pixels" in how
    (smaller,), _ = fit_pictures([noise(0, (480, 320))], Limits(max_pixels=50_000))
    width, height = opened(smaller).size
    assert 48_000 < width * height <= 50_000
    assert width / height == pytest.approx(1.5, abs=0.05)
    with pytest.raises(PhotoError):
        fit_pictures([noise(0)[:30]], Limits(max_side=10))


def test_a_format_that_the_service_does_not_take_becomes_jpeg():
    (fitted,), how = fit_pictures([noise(0, kind="BMP")], Limits(formats=("JPEG", "PNG")))
    assert (opened(fitted).format, opened(fitted).size) == ("JPEG", (240, 160))
    assert how


def test_too_small_is_refused_in_pixels_and_what_never_fits_as_well():
    with pytest.raises(Refused, match="240 x 49 pixels; the service needs sides of at least 50"):
        fit_pictures([noise(0), noise(1, (240, 49))], Limits(min_side=50))
    with pytest.raises(Refused, match="small enough"):
        fit_pictures([noise(0)], Limits(picture_bytes=100))
