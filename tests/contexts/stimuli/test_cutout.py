"""Cut-outs of drawn people, whose masks are known, and of real portraits, of which nothing of a backdrop stays."""

import cv2
import numpy as np
import pytest

from gslopes.contexts.stimuli.composing import largest_face
from gslopes.contexts.stimuli.cutout import Person, eraser, flaws, measure, studio, unseen
from gslopes.contexts.stimuli.matting import opacity, own_colours
from gslopes.faces.find import MtcnnFinder
from gslopes.photos.folder import open_photo

FACE = np.array([120, 70, 200, 180], np.float32)


WHITE = (250, 252, 255)
PORTRAITS = ("neutral/001", "smiling/042")


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


def matted(pixels: np.ndarray, mask: np.ndarray, hair: bool, width: int = 4) -> np.ndarray:
    """Alpha by a trimap whose unknown band is so many pixels wide on both sides of the mask's edge."""
    square = np.ones((2 * width + 1,) * 2, np.uint8)
    sure = cv2.erode(mask.astype(np.uint8), square) > 0
    behind = cv2.dilate(mask.astype(np.uint8), square) == 0
    return opacity(pixels, sure, behind, np.full(mask.shape, hair))


@pytest.mark.row("contexts-4.3-eraser")
def test_the_eraser_removes_a_flat_backdrop_and_nothing_else():
    pixels, mask = portrait()
    assert overlap(eraser(pixels).mask, mask) > 0.999


def test_the_same_photo_gives_the_same_cutout():
    pixels, _ = portrait(gradient=40)
    first, again = (eraser(pixels).alpha for _ in range(2))
    assert np.array_equal(first, again)


def test_a_backdrop_that_falls_off_by_40_levels_flags_the_eraser():
    # brightest behind the head, 40 levels darker where the eraser starts than beside it
    pixels, _ = portrait(gradient=90)
    assert any(
        "of the person looks like the backdrop" in flaw
        for flaw in flaws(measure(pixels, eraser(pixels), FACE))
    )


@pytest.mark.parametrize("hair", [False, True])
@pytest.mark.parametrize("gradient", [0, 30, 90])
def test_a_matted_edge_is_where_it_was_drawn(gradient, hair):
    pixels, mask = portrait(gradient=gradient)
    alpha = matted(pixels, mask, hair)
    assert overlap(alpha >= 0.5, mask) > 0.99
    assert alpha[:200, :60].max() == 0
    assert alpha[120, 160] == 1


@pytest.mark.parametrize("gradient", [0, 30])
def test_a_white_shirt_before_light_gray_stays_whole(gradient):
    pixels, mask = portrait(gradient=gradient, shirt=WHITE, backdrop=225)
    alpha = matted(pixels, mask, hair=False)
    assert overlap(alpha >= 0.5, mask) >= 0.99
    assert alpha[300:, 120:200].min() > 0.99


def test_strands_of_hair_are_person_and_what_lies_between_them_is_not():
    pixels, mask = portrait()
    strands = np.zeros_like(mask)
    strands[100:190, 70:108:6] = strands[100:190, 71:108:6] = True
    pixels[strands & ~mask] = (40, 30, 28)
    alpha = matted(pixels, mask, hair=True, width=50)
    between = cv2.dilate((strands | mask).astype(np.uint8), np.ones((3, 3), np.uint8)) == 0
    beside = np.zeros_like(mask)
    beside[110:180, 72:104] = True
    assert alpha[beside & strands & ~mask].mean() > 0.7
    assert alpha[beside & between].mean() < 0.1


def test_nothing_of_the_backdrop_is_left_in_the_colours_of_the_edge():
    pixels, mask = portrait(gradient=30)
    alpha = matted(pixels, mask, hair=False)
    above = np.arange(360)[:, None] < 230  # the shirt
    visible = own_colours(pixels, alpha)[(alpha > 0.3) & above].astype(int)
    assert len(visible) > 5000
    assert np.mean(visible.max(1) > 170) < 0.002  # backdrop from 175, skin and hair to 150


def test_a_head_without_its_body_is_flagged():
    pixels, mask = portrait()
    mask[230:] = False
    bust = np.where(mask[..., None], pixels, 205).astype(np.uint8)
    assert "the body under the face was lost" in flaws(measure(bust, eraser(bust), FACE))


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
        ({"left": 0.04}, "4.0% of the person looks like"),
        ({"unseen": 0.2}, "the parser takes 20% of a face's size"),
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
        "unseen": 0.0,
    }
    assert flaws(good) == []
    (flaw,) = flaws({**good, **changed})
    assert message in flaw


# --- real portraits --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=PORTRAITS)
def real(request, unpacked):
    """(pixels, box, points) of a portrait of the London set, none of which any network of ours was trained on."""
    photo = open_photo(unpacked("london") / f"{request.param}.jpg")
    found = largest_face(MtcnnFinder(40), photo)
    assert not isinstance(found, str)
    return photo.pixels, *found


@pytest.mark.slow
@pytest.mark.row("contexts-4.3-checked")
def test_nothing_of_the_backdrop_stays_beside_jaw_and_neck(real):
    pixels, face, points = real
    person = studio(pixels, face, points)
    numbers = measure(pixels, person, face)
    numbers["unseen"] = unseen(own_colours(pixels, person.alpha), person, face, points)
    assert flaws(numbers) == []
    # by the photo's left margin alone, which neither the matting nor its checks look at
    lab = cv2.cvtColor(pixels / np.float32(255), cv2.COLOR_RGB2LAB)
    like = np.linalg.norm(lab - np.median(lab[:, :40], axis=1, keepdims=True), axis=2) < 6
    y, x = np.indices(like.shape)
    jaw = (y > (face[1] + face[3]) / 2) & (y < face[3]) & ((x < face[0]) | (x > face[2]))
    assert person.alpha[like & jaw].mean() < 0.01


@pytest.mark.slow
def test_both_checks_see_a_slab_of_backdrop_beside_the_jaw(real):
    pixels, face, points = real
    person = studio(pixels, face, points)
    alpha = person.alpha.copy()
    width = round(float(face[2] - face[0]))
    rows = slice(round(float(face[3])) - width // 3, round(float(face[3])))
    for row in range(rows.start, rows.stop):
        edge = int(np.argmax(alpha[row] > 0.5))
        alpha[row, edge - width // 8 : edge] = 1
    slab = Person(alpha, "studio")
    assert any("looks like the backdrop" in flaw for flaw in flaws(measure(pixels, slab, face)))
    before = unseen(own_colours(pixels, person.alpha), person, face, points)
    assert unseen(pixels, slab, face, points) > before + 0.01


@pytest.mark.slow
def test_a_person_before_a_busy_street_is_not_used_unless_the_checks_pass(unpacked):
    """Of four photos from the web: what is used has no more than a trace of the backdrop."""
    finder = MtcnnFinder(40)
    reasons = []
    for file in sorted((unpacked("celebamask-mini") / "celebamask-mini/images").iterdir())[:4]:
        photo = open_photo(file)
        found = largest_face(finder, photo)
        if isinstance(found, str):
            continue
        face, points = found
        person = studio(photo.pixels, face, points)
        numbers = measure(photo.pixels, person, face)
        numbers["unseen"] = unseen(own_colours(photo.pixels, person.alpha), person, face, points)
        reasons.append("; ".join(flaws(numbers)))
    assert sum(map(bool, reasons)) >= len(reasons) / 2
