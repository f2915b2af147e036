import io

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image, ImageCms

from gslopes.faces.compose.encode import QUALITY, Variants, encode
from gslopes.faces.compose.masks import border_ramp
from gslopes.photos.decode import decode
from tests.faces.compose.conftest import compose

RNG = np.random.default_rng(5)
NOISE = RNG.integers(0, 256, (83, 91, 3), np.uint8)
GRAY = np.repeat(NOISE[..., :1], 3, 2)
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
GRAY_PROFILE = SRGB[:16] + b"GRAY" + SRGB[20:]


def opened(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


@pytest.mark.parametrize("gray", [False, True])
def test_jpeg_blocks_clear_of_the_mask_decode_bit_equal_and_png_pixels_are_exact(
    gray: bool,
) -> None:
    photo = GRAY if gray else NOISE
    edited = RNG.uniform(0, 255, (4, 32, 32, 3)).astype(np.float32)
    matrix = np.array([(0.9, 0.1, -20.0), (-0.1, 0.9, -17.0)])
    full = compose(photo, gray, edited, edited[0] * 0.5, border_ramp(32, 4), matrix, "paste")
    changed = np.zeros((88, 96), bool)
    x0, y0, x1, y1 = full.box
    changed[y0:y1, x0:x1] = full.weight > 0
    blocks = changed.reshape(11, 8, 12, 8).any((1, 3)).repeat(8, 0).repeat(8, 1)[:83, :91]
    assert 0.05 < blocks.mean() < 0.9
    reference = decode(encode(photo, gray, None), "x")[0]
    for k in range(4):
        jpeg = decode(encode(full.picture(k), gray, None), "x")[0]
        np.testing.assert_array_equal(jpeg[~blocks], reference[~blocks])
        png, is_gray, _ = decode(encode(full.picture(k), gray, None, "png"), "x")
        np.testing.assert_array_equal(png, full.picture(k))
        assert is_gray == gray


@pytest.mark.parametrize("kind", ["jpeg", "png"])
def test_the_profile_and_the_gray_channel_are_kept(kind: str) -> None:
    files = {(gray, icc): opened(encode(GRAY if gray else NOISE, gray, icc, kind))  # type: ignore[arg-type]
             for gray, icc in ((False, SRGB), (True, GRAY_PROFILE), (True, None), (False, None))}  # fmt: skip
    assert [file.mode for file in files.values()] == ["RGB", "L", "L", "RGB"]
    assert all(file.info.get("icc_profile") == icc for (_, icc), file in files.items())
    if kind == "jpeg":  # 4:4:4 at quality 95
        image, expected = files[False, None], io.BytesIO()
        assert [component[1:3] for component in image.layer] == [(1, 1)] * 3  # type: ignore[attr-defined]
        Image.fromarray(NOISE).save(expected, "JPEG", quality=95, subsampling=0)
        assert image.quantization == opened(expected.getvalue()).quantization  # type: ignore[attr-defined]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.tuples(st.integers(1, 90), st.integers(1, 90)),
    st.booleans(),
    st.sampled_from(["jpeg", "png"]),
    st.sampled_from([QUALITY, 91]),
)
def test_a_variant_of_a_photo_is_the_file_of_the_whole_picture_byte_for_byte(
    seed, size, gray, kind, quality
) -> None:
    rng = np.random.default_rng(seed)
    (y0, y1), (x0, x1) = (np.sort(rng.integers(0, side + 1, 2)).tolist() for side in size)
    photo, patch = (
        rng.integers(0, 256, (*shape, 3), np.uint8) for shape in (size, (y1 - y0, x1 - x0))
    )
    if gray:
        photo, patch = (np.repeat(pixels[..., :1], 3, 2) for pixels in (photo, patch))
    full = photo.copy()
    full[y0:y1, x0:x1] = patch
    files = Variants(photo, gray, SRGB, kind)
    for _ in range(2):  # what is kept from the first is as good for the second
        assert files.encode(patch, (x0, y0, x1, y1), quality) == encode(
            full, gray, SRGB, kind, quality
        )
