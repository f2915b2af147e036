"""A colour is the same colour wherever pixels leave their file, whatever numbers it has in the file."""

import io

import numpy as np
import pytest
from PIL import Image, ImageCms

from gslopes.ask.pictures import batch_of, decoded
from gslopes.ask.scoring.trial import try_classifier
from gslopes.core.records import Answer
from gslopes.crops.asking import reader_of
from gslopes.crops.config import CropsConfig
from gslopes.photos.decode import decode, in_srgb
from gslopes.photos.folder import open_srgb
from gslopes.slopes.page.pictures import picture
from tests.profiles import GAMMA, cmyk_profile, gray_profile, rgb_profile, seen_in

# Skin, cloth, leaf, sky, grays: within every space below.
_HEX = "ebcdb9 c8967d 966450 5c4034 3c5a8c 5a8250 808080 f0f0f0 141414 aa5055"
PATCHES = np.array([list(bytes.fromhex(colour)) for colour in _HEX.split()], np.uint8)
SHEET = np.repeat(np.repeat(PATCHES[None], 64, 0), 32, 1)  # patches of 32 x 64 pixels
MIDDLES = slice(16, None, 32)


def png(pixels, icc=None, mode=None):
    buffer = io.BytesIO()
    Image.fromarray(pixels, mode).save(buffer, "PNG", icc_profile=icc)
    return buffer.getvalue()


def patches(pixels):
    """(10, 3) colours in the middles of the patches."""
    return pixels[pixels.shape[0] // 2, MIDDLES].astype(int)


@pytest.mark.parametrize("space", GAMMA)
def test_each_space_gives_the_colours_that_srgb_names(space):
    data = png(seen_in(space, SHEET), rgb_profile(space))
    (pixels,) = decoded([data])
    assert np.abs(patches(pixels) - PATCHES).max() <= 2
    raw, _, icc = decode(data, "x")  # the walk keeps the file's own numbers and its profile
    assert np.array_equal(raw, seen_in(space, SHEET))
    assert icc == rgb_profile(space)
    assert space == "srgb" or np.abs(patches(raw) - PATCHES).max() > 8


@pytest.mark.parametrize("gamma", [1.0, 1.8, 2.6])
def test_gray_profiles_are_obeyed(gamma):
    gray = np.repeat(np.arange(0, 256, 15, dtype=np.uint8)[None], 8, 0)
    (pixels,) = decoded([png(gray, gray_profile(gamma))])
    linear = (gray / 255) ** gamma
    expected = 255 * np.where(
        linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055
    )
    assert (
        np.abs(pixels - expected[..., None])[:, 1:].max() <= 2
    )  # a gamma of 1 has few levels near black


def test_inks_are_read_by_their_profile():
    inks = np.zeros((8, 40, 4), np.uint8)
    inks[:, 8:16, 0], inks[:, 16:24, 1], inks[:, 24:32, 2], inks[:, 32:, 3] = 255, 255, 255, 255
    buffer = io.BytesIO()
    Image.fromarray(inks, "CMYK").save(buffer, "TIFF", icc_profile=cmyk_profile())
    (pixels,) = decoded([buffer.getvalue()])
    white, cyan, magenta, yellow, black = pixels[4, 4::8].astype(int)
    assert (white > 250).all()
    assert (black < 5).all()
    assert (cyan[1], magenta[1], yellow[2]) == pytest.approx(
        (199, 92, 107), abs=3
    )  # 255, 0 and 0 by the formula


@pytest.mark.parametrize(
    "broken", [b"short", rgb_profile("adobe-rgb")[:300], bytes(500), gray_profile(1.8)]
)
def test_a_profile_that_cannot_be_used_changes_nothing(broken):
    (pixels,) = decoded([png(SHEET, broken)])
    assert np.array_equal(pixels, SHEET)


def test_transparent_pictures_and_palettes_are_converted_too():
    icc = rgb_profile("adobe-rgb")
    layer = np.dstack([seen_in("adobe-rgb", SHEET), np.full(SHEET.shape[:2], 255, np.uint8)])
    assert np.abs(patches(decoded([png(layer, icc)])[0]) - PATCHES).max() <= 2
    buffer = io.BytesIO()
    Image.fromarray(seen_in("adobe-rgb", SHEET)).quantize(16).save(buffer, "PNG", icc_profile=icc)
    assert np.abs(patches(decoded([buffer.getvalue()])[0]) - PATCHES).max() <= 4


@pytest.fixture
def wide_file(tmp_path):
    path = tmp_path / "run" / "p3.png"
    path.parent.mkdir()
    path.write_bytes(png(seen_in("display-p3", SHEET), rgb_profile("display-p3")))
    return path


def test_joined_pictures_hold_one_space(wide_file, tmp_path):
    plain = tmp_path / "plain.png"
    plain.write_bytes(png(SHEET))
    read = reader_of([wide_file, plain], [(320, 64)] * 2, CropsConfig())
    assert np.abs(read(0).astype(int) - read(1)).max() <= 2


def test_a_network_and_a_function_see_the_colours(wide_file, tmp_path):
    small = batch_of([wide_file.read_bytes()], 64)[0]
    assert np.abs(small.astype(int) - batch_of([png(SHEET)], 64)[0]).max() <= 2
    seen = []

    class Looks:
        name, version, batch = "looks", "", 4

        def ask(self, pictures):
            seen.extend(decoded(pictures))
            return [0.5] * len(pictures)

        def parse(self, raw):
            return Answer("answered", (("a", raw),))

    trial = try_classifier(Looks(), [wide_file], tmp_path / "sent.png")
    assert trial.failed == 0
    assert min(np.abs(patches(pixels) - PATCHES).max() for pixels in seen) <= 2  # one is mirrored


def test_thumbnails_on_the_page_show_the_colours(wide_file):
    box = (0.0, 0.0, 320.0, 64.0)
    shown = picture(wide_file, box, wide_file.parent, side=64)
    assert (
        np.abs(shown[32, 16].astype(int) - PATCHES[4]).max() <= 2
    )  # the middle square: the fifth patch and the sixth


def test_rooms_are_pasted_in_srgb(wide_file):
    assert np.abs(patches(open_srgb(wide_file)) - PATCHES).max() <= 2
    assert in_srgb(SHEET, None) is SHEET
    own = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    assert np.abs(in_srgb(SHEET, own).astype(int) - SHEET).max() <= 1
