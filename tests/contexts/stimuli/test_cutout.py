"""Cut-outs of drawn people, whose masks are known."""

import cv2
import numpy as np
import pytest

from gslopes.contexts.stimuli.cutout import eraser, flaws, is_flat, matte, measure, studio

FACE = np.array([120, 70, 200, 180], np.float32)


WHITE = (250, 252, 255)


def portrait(
    gradient: float = 0.0, shirt: tuple[int, int, int] = (60, 80, 140), backdrop: float = 205
) -> tuple[np.ndarray, np.ndarray]:
    """(pixels (360, 320, 3), mask) of a head on shoulders before a backdrop that falls off by so many levels."""
    height, width = 360, 320
    y, x = np.mgrid[0:height, 0:width]
    mask = ((x - 160) / 52) ** 2 + ((y - 125) / 68) ** 2 < 1
    mask |= (np.abs(x - 160) < 30) & (y > 150)
    mask |= ((x - 160) / 125) ** 2 + ((y - 380) / 150) ** 2 < 1
    level = (
        backdrop - gradient * (((x - 160) / 160) ** 2 + ((y - 120) / 300) ** 2)[..., None] / 1.16
    )
    pixels = np.broadcast_to(level, (height, width, 3)).copy()
    pixels[mask] = (150, 105, 80)
    pixels[mask & (y > 240)] = shirt
    pixels[mask & (y < 85)] = (40, 30, 28)
    smooth = cv2.GaussianBlur(pixels, (0, 0), 0.7) if gradient else pixels
    return np.rint(smooth).astype(np.uint8), mask


def overlap(mask: np.ndarray, truth: np.ndarray) -> float:
    return float((mask & truth).sum() / (mask | truth).sum())


@pytest.mark.row("contexts-4.3-eraser")
def test_the_eraser_removes_a_flat_backdrop_and_nothing_else():
    pixels, mask = portrait()
    assert is_flat(pixels, FACE)
    assert overlap(eraser(pixels, FACE).mask, mask) > 0.999


def test_the_same_photo_gives_the_same_cutout():
    pixels, _ = portrait(gradient=40)
    first, again = (studio(pixels, FACE, seed=5).mask for _ in range(2))
    assert np.array_equal(first, again)


def test_a_backdrop_that_falls_off_by_40_levels_flags_the_eraser_and_is_none_to_the_studio():
    pixels, mask = portrait(
        gradient=90
    )  # brightest behind the head, 40 levels darker where the eraser starts than beside it
    erased, by_studio = eraser(pixels, FACE), studio(pixels, FACE)
    assert any(
        "of the person looks like the backdrop" in flaw for flaw in flaws(measure(erased, FACE))
    )
    assert flaws(measure(by_studio, FACE)) == []
    assert overlap(matte(pixels, by_studio)[1] >= 0.5, mask) >= 0.98
    assert not is_flat(pixels, FACE)  # so that auto does not try the eraser


@pytest.mark.parametrize("gradient", [0, 30])
def test_a_white_shirt_before_light_gray_stays_whole(gradient):
    pixels, mask = portrait(gradient=gradient, shirt=WHITE, backdrop=225)
    cutout = studio(pixels, FACE)
    assert overlap(cutout.mask, mask) >= 0.98
    assert flaws(measure(cutout, FACE)) == []
    assert matte(pixels, cutout)[1][300:, 120:200].min() > 0.99


def test_backdrop_inside_a_curl_is_taken_out_and_a_highlight_in_the_hair_is_not():
    pixels, _ = portrait()
    y, x = np.mgrid[0:360, 0:320]
    rings = np.hypot(x - 104, y - 120)
    pixels[(rings < 14) & (rings > 8)] = (40, 30, 28)  # a curl beside the head
    pixels[np.hypot(x - 160, y - 78) < 3] = (180, 175, 170)  # a highlight on its top
    _, alpha = matte(pixels, studio(pixels, FACE))
    assert alpha[118:123, 102:107].max() < 0.1
    assert alpha[120, 93] > 0.9
    assert alpha[78, 160] > 0.9


def test_nothing_of_the_backdrop_is_left_in_the_colours_of_the_edge():
    pixels, _ = portrait(gradient=30)
    colour, alpha = matte(pixels, studio(pixels, FACE))
    visible = colour[(alpha > 0.05) & (np.arange(360)[:, None] < 240)].astype(
        int
    )  # above the shirt
    assert len(visible) > 5000
    assert visible.max() < 170  # the backdrop is at 175 and more, skin and hair at most at 150


def test_a_head_without_its_body_is_flagged():
    pixels, mask = portrait()
    mask[230:] = False
    numbers = measure(eraser(np.where(mask[..., None], pixels, 205).astype(np.uint8), FACE), FACE)
    assert "the body under the face was lost" in flaws(numbers)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"share": 0.1}, "10% of the photo"),
        ({"share": 0.0}, "all of the picture"),
        ({"share": 1.0}, "no backdrop"),
        ({"bottom": 0.5}, "50% of the bottom row"),
        ({"holes": 0.05}, "holes of 5.0%"),
        ({"covered": 0.9}, "90.0% of the face"),
        ({"solidity": 0.4}, "solidity 0.40"),
        ({"left": 0.04}, "4% of the person looks like"),
    ],
)
@pytest.mark.row("contexts-4.3-checked")
def test_each_check_names_its_number(changed, message):
    good = {
        "share": 0.38,
        "bottom": 0.9,
        "holes": 0.0,
        "solidity": 0.75,
        "covered": 1.0,
        "left": 0.0,
    }
    assert flaws(good) == []
    (flaw,) = flaws({**good, **changed})
    assert message in flaw
