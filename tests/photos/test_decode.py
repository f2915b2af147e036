import io
import struct
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import tifffile
from hypothesis import HealthCheck, given, settings, strategies as st
from PIL import Image, ImageCms, features

from gslopes.core.errors import PhotoError
from gslopes.core.reasons import Reason, listed
from gslopes.photos.decode import decode, kind_of
from gslopes.photos.folder import list_photos, open_photo

RNG = np.random.default_rng(7)
NOISE = RNG.integers(0, 256, (24, 32, 3), np.uint8)
SMOOTH = np.stack(
    [*np.meshgrid(np.linspace(40, 200, 32), np.linspace(60, 220, 24)), np.full((24, 32), 90.0)], -1
)
SMOOTH = SMOOTH.astype(np.uint8)
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
GRAY_PROFILE = SRGB[:16] + b"GRAY" + SRGB[20:]


def encoded(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def reason(data: bytes) -> str:
    with pytest.raises(PhotoError) as caught:
        decode(data, "photo.jpg")
    return caught.value.reason


# --- Modes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "BMP", "TIFF"])
def test_lossless_colour_comes_out_as_it_went_in(kind: str) -> None:
    options = {"WEBP": {"lossless": True}, "TIFF": {"compression": "tiff_lzw"}}.get(kind, {})
    pixels, gray, icc = decode(encoded(Image.fromarray(NOISE), kind, **options), "x")
    np.testing.assert_array_equal(pixels, NOISE)
    assert (gray, icc) == (False, None)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "BMP", "WEBP"])
def test_gray_has_three_equal_channels_and_says_so(kind: str) -> None:
    options = {"lossless": True} if kind == "WEBP" else {}
    pixels, gray, _ = decode(encoded(Image.fromarray(SMOOTH[..., 0]), kind, **options), "x")
    assert gray
    assert (pixels == pixels[..., :1]).all()
    assert np.abs(pixels[..., 0].astype(int) - SMOOTH[..., 0]).max() <= (3 if kind == "JPEG" else 0)


def test_colour_with_three_equal_channels_is_gray_and_one_coloured_pixel_ends_that() -> None:
    gray = np.repeat(SMOOTH[..., :1], 3, 2)
    assert decode(encoded(Image.fromarray(gray)), "x")[1]
    gray[-1, -1, 0] ^= 8
    assert not decode(encoded(Image.fromarray(gray)), "x")[1]


def test_transparent_pixels_lie_over_white() -> None:
    alpha = np.zeros((24, 32), np.uint8)
    alpha[:, 16:] = 255
    alpha[:, :8] = 128
    pixels, gray, _ = decode(encoded(Image.fromarray(np.dstack([NOISE, alpha]))), "x")
    assert not gray
    np.testing.assert_array_equal(pixels[:, 16:], NOISE[:, 16:])
    assert (pixels[:, 8:16] == 255).all()
    half = NOISE[:, :8] * (128 / 255) + 127
    assert np.abs(pixels[:, :8] - half).max() <= 1.5


def test_palettes_are_looked_up_with_and_without_transparency() -> None:
    image = Image.fromarray(NOISE).quantize(64)
    wanted = np.array(image.convert("RGB"))
    np.testing.assert_array_equal(decode(encoded(image), "x")[0], wanted)
    image.putpixel((0, 0), 3)
    pixels, _, _ = decode(encoded(image, transparency=3), "x")
    assert (pixels[0, 0] == 255).all()
    pixels, _, _ = decode(encoded(image, transparency=bytes(64)), "x")
    assert (pixels == 255).all()


def test_cmyk_becomes_colour_near_the_original() -> None:
    image = Image.fromarray(SMOOTH).convert("CMYK")
    pixels, gray, icc = decode(encoded(image, "JPEG", quality=95), "x")
    assert pixels.shape == SMOOTH.shape
    assert np.abs(pixels.astype(int) - SMOOTH).mean() < 4
    assert not gray
    assert icc is None


def test_lab_becomes_srgb() -> None:
    transform = ImageCms.buildTransform(
        ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), "RGB", "LAB"
    )
    lab = ImageCms.applyTransform(Image.fromarray(SMOOTH), transform)
    pixels, _, icc = decode(encoded(lab, "TIFF"), "x")
    assert np.abs(pixels.astype(int) - SMOOTH).mean() < 4
    assert icc is None


def test_the_first_frame_of_an_animation_is_taken() -> None:
    frames = [Image.fromarray(NOISE), Image.fromarray(255 - NOISE)]
    for kind, options in [("WEBP", {"lossless": True}), ("PNG", {}), ("TIFF", {})]:
        data = encoded(frames[0], kind, save_all=True, append_images=frames[1:], **options)
        np.testing.assert_array_equal(decode(data, "x")[0], NOISE)


# --- Orientation and colour space ------------------------------------------------------------------------------------

UPRIGHT = {
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.transpose(1, 0, 2),
    6: lambda a: np.rot90(a, 1),
    7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
    8: lambda a: np.rot90(a, -1),
}


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "TIFF", "JPEG"])
def test_every_orientation_is_turned_upright(kind: str) -> None:
    options = {"WEBP": {"lossless": True}, "JPEG": {"quality": 98, "subsampling": 0}}.get(kind, {})
    for orientation, turned in UPRIGHT.items():
        exif = Image.Exif()
        exif[0x0112] = orientation
        stored = Image.fromarray(np.ascontiguousarray(turned(SMOOTH)))
        pixels, _, _ = decode(encoded(stored, kind, exif=exif, **options), "x")
        assert np.abs(pixels.astype(int) - SMOOTH).max() <= (4 if kind == "JPEG" else 0)


@pytest.mark.parametrize(
    "exif",
    [b"Exif\0\0II*\0\xff\xff\xff\xff", b"Exif\0\0garbage", b"Exif\0\0MM\0*\0\0\0\x08\xff\xff"],
)
def test_damaged_exif_is_passed_over_without_a_warning(exif: bytes) -> None:
    pixels, _, _ = decode(encoded(Image.fromarray(SMOOTH), "JPEG", exif=exif), "x")
    assert pixels.shape == SMOOTH.shape


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_a_fitting_profile_is_kept(kind: str) -> None:
    assert decode(encoded(Image.fromarray(NOISE), kind, icc_profile=SRGB), "x")[2] == SRGB
    if kind != "WEBP":  # which has no gray mode
        assert (
            decode(encoded(Image.fromarray(SMOOTH[..., 0]), kind, icc_profile=GRAY_PROFILE), "x")[2]
            == GRAY_PROFILE
        )


def test_a_profile_that_does_not_fit_or_is_none_is_dropped() -> None:
    assert decode(encoded(Image.fromarray(NOISE), icc_profile=GRAY_PROFILE), "x")[2] is None
    assert decode(encoded(Image.fromarray(NOISE), icc_profile=b"short"), "x")[2] is None
    assert (
        decode(encoded(Image.fromarray(SMOOTH[..., 0]), "JPEG", icc_profile=SRGB), "x")[2] is None
    )


# --- Files that are not photos ---------------------------------------------------------------------------------------


def test_an_empty_file_and_a_text_say_what_they_are() -> None:
    assert reason(b"") == "unreadable: empty file"
    for text in (b"This is a letter, renamed to .jpg. " * 20, b"%PDF-1.7 " + bytes(100)):
        assert reason(text) == "unreadable: not a picture"


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "BMP", "TIFF"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_file_cut_short_is_truncated(kind: str, share: float) -> None:
    data = encoded(Image.fromarray(NOISE), kind)
    assert reason(data[: int(len(data) * share)]) == "unreadable: truncated"


def bomb(width: int, height: int) -> bytes:
    """A PNG's header that promises so many pixels, and none of them."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = (
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I", 13)
        + header
        + struct.pack(">I", zlib.crc32(header))
    )
    return data + struct.pack(">I", 0) + b"IDAT" + struct.pack(">I", zlib.crc32(b"IDAT"))


@pytest.mark.parametrize("size", [(20_000, 20_000), (10_001, 10_000), (200_000, 200_000)])
def test_a_decompression_bomb_is_refused_before_decoding(size: tuple[int, int]) -> None:
    assert (
        reason(bomb(*size))
        == f"unreadable: too large ({size[0]}×{size[1]} pixels, limit 100 million)"
    )


def test_a_photo_too_long_for_a_jpeg_is_refused_and_a_large_one_draws_no_warning_from_pillow() -> (
    None
):
    assert (
        reason(bomb(70_000, 100)) == "unreadable: too large (70000×100 pixels, limit 65500 a side)"
    )
    assert reason(bomb(10_000, 9_900)) == "unreadable: truncated"


def with_chunks(*chunks: tuple[bytes, bytes]) -> bytes:
    """A sound PNG with more chunks before its pixels."""
    data = encoded(Image.fromarray(NOISE), "PNG")
    packed = [
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    ]
    return data[:33] + b"".join(packed) + data[33:]


@pytest.mark.parametrize(
    "chunks",
    [
        [(b"zTXt", b"k\0\0" + zlib.compress(bytes(70_000_000)))],
        [(b"iTXt", b"k\0\1\0\0\0" + zlib.compress(bytes(70_000_000)))],
        [(b"iCCP", b"k\0\0" + zlib.compress(bytes(70_000_000)))],
        [(b"zTXt", b"k\0\0" + zlib.compress(bytes(900_000)))] * 80,
    ],
    ids=["text", "international text", "profile", "many texts"],
)
def test_a_bomb_beside_sound_pixels_is_named(chunks: list[tuple[bytes, bytes]]) -> None:
    why = "the text or colour profile packed beside its pixels"
    assert reason(with_chunks(*chunks)) == f"unreadable: too large ({why})"


def test_much_text_beside_sound_pixels_is_passed_over() -> None:
    many = [(b"tEXt", b"k%d\0text" % index) for index in range(2000)]
    assert (decode(with_chunks(*many), "x")[0] == NOISE).all()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(["JPEG", "PNG", "WEBP", "BMP", "TIFF", "GIF"]), st.data())
def test_any_damage_gives_pixels_or_a_reason(kind: str, data: st.DataObject) -> None:
    whole = bytearray(encoded(Image.fromarray(NOISE), kind))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    known, result = (
        (
            Reason.NOT_A_PICTURE,
            Reason.TRUNCATED,
            Reason.DAMAGED,
            Reason.TOO_LARGE,
            Reason.UNREAD_KIND,
        ),
        "",
    )
    try:
        pixels, _, _ = decode(bytes(whole), "x")
    except PhotoError as error:
        result = error.reason
    assert result.startswith(known) or (pixels.dtype, pixels.shape[2]) == (np.uint8, 3)


def test_threads_decode_alike_and_leave_the_filters_of_warnings_as_they_were() -> None:
    before = list(warnings.filters)
    exif = b"Exif\0\0MM\0*\0\0\0\x08\xff\xff"  # damaged: Pillow warns
    files = [encoded(Image.fromarray(np.roll(NOISE, i, 1)), "JPEG", exif=exif) for i in range(40)]
    alone = [decode(data, "x")[0] for data in files]
    with ThreadPoolExecutor(8) as pool:
        together = pool.map(lambda data: decode(data, "x")[0], files)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)
    assert list(warnings.filters) == before


# --- Every kind of TIFF is read as it looks, or refused by name; pictures of phones ---

Y, X = np.mgrid[0:24, 0:32]
GRAY = X / 62 + Y / 46
COLOUR = np.stack([X / 31, Y / 23, (X + Y) / 54], -1)


def scaled(shares: Any, dtype: str) -> Any:
    """Shares of white as samples."""
    kind = np.dtype(dtype)
    return (
        shares.astype(kind)
        if kind.kind == "f"
        else np.round(shares * np.iinfo(kind).max).astype(kind)
    )


def tiff(samples: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    tifffile.imwrite(file, samples, **options)
    return file.getvalue()


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "i1", "i2", "i4", "f2", "f4", "f8"])
@pytest.mark.parametrize("byteorder", ["<", ">"])
def test_a_tiff_is_read_as_it_looks_or_refused_by_name(dtype: str, byteorder: str):
    read = 0
    gray, full = np.repeat(GRAY[..., None], 3, -1), np.ones_like(GRAY)[..., None]
    cases = [
        (GRAY, gray, {"photometric": "minisblack"}),
        (1 - GRAY, gray, {"photometric": "miniswhite"}),
        (COLOUR, COLOUR, {"photometric": "rgb"}),
        (np.moveaxis(COLOUR, -1, 0), COLOUR, {"photometric": "rgb", "planarconfig": "separate"}),
        (
            np.concatenate([COLOUR, full], -1),
            COLOUR,
            {"photometric": "rgb", "extrasamples": ["unassalpha"]},
        ),
        (np.concatenate([1 - COLOUR, 0 * full], -1), COLOUR, {"photometric": "separated"}),
    ]
    for shares, look, options in cases:
        for compression in (None, "zlib"):
            data = tiff(
                scaled(shares, dtype), byteorder=byteorder, compression=compression, **options
            )
            try:
                pixels, _, _ = decode(data, "a.tif")
            except PhotoError as error:
                why = error.reason
            else:
                why, read = "", read + 1
                assert np.abs(pixels / 255 - look).max() < 0.02, options
            named = f"{Reason.UNREAD_KIND} (TIFF of {8 * np.dtype(dtype).itemsize}-bit"
            assert not why or why.startswith(named), options
    assert read == {"u1": 12, "u2": 10 if byteorder == "<" else 8}.get(dtype, 0)


def test_a_raw_file_and_its_preview_are_named():
    raw = tiff(scaled(COLOUR, "u1"), photometric="rgb", subfiletype=1)
    with pytest.raises(PhotoError, match="a camera's raw file"):
        decode(raw, "a.tif")
    bigtiff = tiff(scaled(COLOUR, "u1"), photometric="rgb", bigtiff=True)
    assert decode(bigtiff, "a.tif")[0].shape == (24, 32, 3)


def test_pictures_of_phones_are_read_turned():
    file = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(scaled(COLOUR, "u1")).save(file, "AVIF", quality=95, exif=exif)
    assert kind_of(file.getvalue()[:32]) == "AVIF"
    if features.check("avif"):
        pixels, _, _ = decode(file.getvalue(), "a.avif")
        assert np.abs(pixels / 255 - np.rot90(COLOUR, -1)).mean() < 0.05
    heif = pytest.importorskip(
        "pillow_heif", reason="pillow-heif is not installed: pip install 'gslopes[heif]'"
    )
    file = io.BytesIO()
    heif.from_pillow(Image.fromarray(scaled(COLOUR, "u1"))).save(file, quality=95)
    pixels, _, _ = decode(file.getvalue(), "a.heic")
    assert np.abs(pixels / 255 - COLOUR).mean() < 0.05


def test_photos_of_phones_that_cannot_be_read_are_named_with_the_remedy(tmp_path, monkeypatch):
    """Without pillow-heif: on every list of reasons, the terminal's and the page's."""
    head = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00heicmif1"
    monkeypatch.setattr("gslopes.photos.decode.formats", lambda: ("JPEG",))
    for name in ("a.heic", "b.HEIC", "c"):  # known by its bytes, whatever its name
        (tmp_path / name).write_bytes(head + bytes(200))
    for file in list_photos(tmp_path):
        with pytest.raises(PhotoError) as error:
            open_photo(file.path)
        reason = error.value.reason
        named = "unreadable: a kind of picture that is not read (HEIC: pip install 'gslopes[heif]')"
        assert [*listed([reason.reason], [reason.detail])] == [named]
